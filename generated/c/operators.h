/* The host functions of my_ops, one per operator in PyTorch's dispatcher. */
#ifndef MY_OPS_OPERATORS_H
#define MY_OPS_OPERATORS_H

#include "torch_abi.h"

BoxedKernel square_boxed;
BoxedKernel square_backward_boxed;
BoxedKernel rms_norm_boxed;
BoxedKernel rms_norm__saved_boxed;
BoxedKernel rms_norm_backward_boxed;
BoxedKernel add_rms_norm_boxed;
BoxedKernel add_rms_norm__saved_boxed;
BoxedKernel add_rms_norm__inplace_boxed;
BoxedKernel add_rms_norm_backward_boxed;
BoxedKernel layer_norm_boxed;
BoxedKernel layer_norm__saved_boxed;
BoxedKernel layer_norm_backward_boxed;
BoxedKernel softmax_boxed;
BoxedKernel softmax_backward_boxed;
BoxedKernel cross_entropy_boxed;
BoxedKernel cross_entropy__saved_boxed;
BoxedKernel cross_entropy_backward_boxed;
BoxedKernel cross_entropy_gradient__boxed;
BoxedKernel rope_boxed;
BoxedKernel rope__inplace_boxed;
BoxedKernel rope_backward_boxed;
BoxedKernel silu_mul_boxed;
BoxedKernel silu_mul_backward_boxed;
BoxedKernel silu_mul_backward_backward_boxed;
BoxedKernel gelu_mul_boxed;
BoxedKernel gelu_mul_backward_boxed;
BoxedKernel gelu_mul_backward_backward_boxed;
BoxedKernel quantize_per_token_boxed;
BoxedKernel rms_norm_quantize_boxed;
BoxedKernel gather_rows_boxed;
BoxedKernel adamw_step_boxed;
BoxedKernel global_norm_boxed;

#endif
