/* C shims of my_ops: its operators as packages of AOTInductor call them, without the dispatcher. */
#include "shim.h"

#include "operators.h"

#define SHIM__EXPORTED __attribute__((visibility("default")))

SHIM__EXPORTED AOTITorchError aoti_torch_my_ops_square(
    AtenTensorHandle in_x,
    AtenTensorHandle *ret0) {
    shim s;
    shim_begin(&s, "my_ops::square");
    if (shim_tensor(&s, "x", in_x)) {
        square_direct(&s.e, s.stack);
        shim_give(&s, 0, ret0);
    } else {
        shim_drop(&s);
    }
    return shim_end(&s);
}

SHIM__EXPORTED AOTITorchError aoti_torch_my_ops_square_backward(
    AtenTensorHandle in_grad_y,
    AtenTensorHandle in_x,
    AtenTensorHandle *ret0) {
    shim s;
    shim_begin(&s, "my_ops::square_backward");
    if (shim_tensor(&s, "grad_y", in_grad_y) &&
        shim_tensor(&s, "x", in_x)) {
        square_backward_direct(&s.e, s.stack);
        shim_give(&s, 0, ret0);
    } else {
        shim_drop(&s);
    }
    return shim_end(&s);
}

SHIM__EXPORTED AOTITorchError aoti_torch_my_ops_rms_norm(
    AtenTensorHandle in_x,
    const AtenTensorHandle *in_weight,
    double in_eps,
    double in_offset,
    AtenTensorHandle *ret0) {
    shim s;
    shim_begin(&s, "my_ops::rms_norm");
    if (shim_tensor(&s, "x", in_x) &&
        (in_weight == NULL ? shim_none(&s) : shim_tensor(&s, "weight", *in_weight) && shim_box(&s)) &&
        shim_float(&s, in_eps) &&
        shim_float(&s, in_offset)) {
        rms_norm_direct(&s.e, s.stack);
        shim_give(&s, 0, ret0);
    } else {
        shim_drop(&s);
    }
    return shim_end(&s);
}

SHIM__EXPORTED AOTITorchError aoti_torch_my_ops_rms_norm__saved(
    AtenTensorHandle in_x,
    const AtenTensorHandle *in_weight,
    double in_eps,
    double in_offset,
    AtenTensorHandle *ret0,
    AtenTensorHandle *ret1) {
    shim s;
    shim_begin(&s, "my_ops::rms_norm");
    if (shim_tensor(&s, "x", in_x) &&
        (in_weight == NULL ? shim_none(&s) : shim_tensor(&s, "weight", *in_weight) && shim_box(&s)) &&
        shim_float(&s, in_eps) &&
        shim_float(&s, in_offset)) {
        rms_norm__saved_direct(&s.e, s.stack);
        shim_give(&s, 0, ret0);
        shim_give(&s, 1, ret1);
    } else {
        shim_drop(&s);
    }
    return shim_end(&s);
}

SHIM__EXPORTED AOTITorchError aoti_torch_my_ops_rms_norm_backward(
    AtenTensorHandle in_grad_y,
    AtenTensorHandle in_x,
    const AtenTensorHandle *in_weight,
    AtenTensorHandle in_rstd,
    double in_offset,
    const int32_t *in_grad_mask,
    int64_t count_grad_mask,
    AtenTensorHandle *ret0,
    AtenTensorHandle *ret1) {
    shim s;
    shim_begin(&s, "my_ops::rms_norm_backward");
    if (shim_tensor(&s, "grad_y", in_grad_y) &&
        shim_tensor(&s, "x", in_x) &&
        (in_weight == NULL ? shim_none(&s) : shim_tensor(&s, "weight", *in_weight) && shim_box(&s)) &&
        shim_tensor(&s, "rstd", in_rstd) &&
        shim_float(&s, in_offset) &&
        shim_bools(&s, in_grad_mask, count_grad_mask)) {
        rms_norm_backward_direct(&s.e, s.stack);
        shim_give(&s, 0, ret0);
        shim_give(&s, 1, ret1);
    } else {
        shim_drop(&s);
    }
    return shim_end(&s);
}

SHIM__EXPORTED AOTITorchError aoti_torch_my_ops_add_rms_norm(
    AtenTensorHandle in_x,
    AtenTensorHandle in_residual,
    const AtenTensorHandle *in_weight,
    double in_eps,
    double in_offset,
    AtenTensorHandle *ret0,
    AtenTensorHandle *ret1) {
    shim s;
    shim_begin(&s, "my_ops::add_rms_norm");
    if (shim_tensor(&s, "x", in_x) &&
        shim_tensor(&s, "residual", in_residual) &&
        (in_weight == NULL ? shim_none(&s) : shim_tensor(&s, "weight", *in_weight) && shim_box(&s)) &&
        shim_float(&s, in_eps) &&
        shim_float(&s, in_offset)) {
        add_rms_norm_direct(&s.e, s.stack);
        shim_give(&s, 0, ret0);
        shim_give(&s, 1, ret1);
    } else {
        shim_drop(&s);
    }
    return shim_end(&s);
}

SHIM__EXPORTED AOTITorchError aoti_torch_my_ops_add_rms_norm__saved(
    AtenTensorHandle in_x,
    AtenTensorHandle in_residual,
    const AtenTensorHandle *in_weight,
    double in_eps,
    double in_offset,
    AtenTensorHandle *ret0,
    AtenTensorHandle *ret1,
    AtenTensorHandle *ret2) {
    shim s;
    shim_begin(&s, "my_ops::add_rms_norm");
    if (shim_tensor(&s, "x", in_x) &&
        shim_tensor(&s, "residual", in_residual) &&
        (in_weight == NULL ? shim_none(&s) : shim_tensor(&s, "weight", *in_weight) && shim_box(&s)) &&
        shim_float(&s, in_eps) &&
        shim_float(&s, in_offset)) {
        add_rms_norm__saved_direct(&s.e, s.stack);
        shim_give(&s, 0, ret0);
        shim_give(&s, 1, ret1);
        shim_give(&s, 2, ret2);
    } else {
        shim_drop(&s);
    }
    return shim_end(&s);
}

SHIM__EXPORTED AOTITorchError aoti_torch_my_ops_add_rms_norm__inplace(
    AtenTensorHandle in_x,
    AtenTensorHandle in_residual,
    const AtenTensorHandle *in_weight,
    double in_eps,
    double in_offset) {
    shim s;
    shim_begin(&s, "my_ops::add_rms_norm");
    if (shim_written(&s, "x", in_x) &&
        shim_written(&s, "residual", in_residual) &&
        (in_weight == NULL ? shim_none(&s) : shim_tensor(&s, "weight", *in_weight) && shim_box(&s)) &&
        shim_float(&s, in_eps) &&
        shim_float(&s, in_offset)) {
        add_rms_norm__inplace_direct(&s.e, s.stack);
    } else {
        shim_drop(&s);
    }
    return shim_end(&s);
}

SHIM__EXPORTED AOTITorchError aoti_torch_my_ops_add_rms_norm_backward(
    AtenTensorHandle in_grad_y,
    const AtenTensorHandle *in_grad_residual_out,
    AtenTensorHandle in_residual_out,
    const AtenTensorHandle *in_weight,
    AtenTensorHandle in_rstd,
    double in_offset,
    const int32_t *in_grad_mask,
    int64_t count_grad_mask,
    AtenTensorHandle *ret0,
    AtenTensorHandle *ret1) {
    shim s;
    shim_begin(&s, "my_ops::add_rms_norm_backward");
    if (shim_tensor(&s, "grad_y", in_grad_y) &&
        (in_grad_residual_out == NULL ? shim_none(&s) : shim_tensor(&s, "grad_residual_out", *in_grad_residual_out) && shim_box(&s)) &&
        shim_tensor(&s, "residual_out", in_residual_out) &&
        (in_weight == NULL ? shim_none(&s) : shim_tensor(&s, "weight", *in_weight) && shim_box(&s)) &&
        shim_tensor(&s, "rstd", in_rstd) &&
        shim_float(&s, in_offset) &&
        shim_bools(&s, in_grad_mask, count_grad_mask)) {
        add_rms_norm_backward_direct(&s.e, s.stack);
        shim_give(&s, 0, ret0);
        shim_give(&s, 1, ret1);
    } else {
        shim_drop(&s);
    }
    return shim_end(&s);
}

SHIM__EXPORTED AOTITorchError aoti_torch_my_ops_layer_norm(
    AtenTensorHandle in_x,
    const AtenTensorHandle *in_weight,
    const AtenTensorHandle *in_bias,
    double in_eps,
    AtenTensorHandle *ret0) {
    shim s;
    shim_begin(&s, "my_ops::layer_norm");
    if (shim_tensor(&s, "x", in_x) &&
        (in_weight == NULL ? shim_none(&s) : shim_tensor(&s, "weight", *in_weight) && shim_box(&s)) &&
        (in_bias == NULL ? shim_none(&s) : shim_tensor(&s, "bias", *in_bias) && shim_box(&s)) &&
        shim_float(&s, in_eps)) {
        layer_norm_direct(&s.e, s.stack);
        shim_give(&s, 0, ret0);
    } else {
        shim_drop(&s);
    }
    return shim_end(&s);
}

SHIM__EXPORTED AOTITorchError aoti_torch_my_ops_layer_norm__saved(
    AtenTensorHandle in_x,
    const AtenTensorHandle *in_weight,
    const AtenTensorHandle *in_bias,
    double in_eps,
    AtenTensorHandle *ret0,
    AtenTensorHandle *ret1,
    AtenTensorHandle *ret2) {
    shim s;
    shim_begin(&s, "my_ops::layer_norm");
    if (shim_tensor(&s, "x", in_x) &&
        (in_weight == NULL ? shim_none(&s) : shim_tensor(&s, "weight", *in_weight) && shim_box(&s)) &&
        (in_bias == NULL ? shim_none(&s) : shim_tensor(&s, "bias", *in_bias) && shim_box(&s)) &&
        shim_float(&s, in_eps)) {
        layer_norm__saved_direct(&s.e, s.stack);
        shim_give(&s, 0, ret0);
        shim_give(&s, 1, ret1);
        shim_give(&s, 2, ret2);
    } else {
        shim_drop(&s);
    }
    return shim_end(&s);
}

SHIM__EXPORTED AOTITorchError aoti_torch_my_ops_layer_norm_backward(
    AtenTensorHandle in_grad_y,
    AtenTensorHandle in_x,
    const AtenTensorHandle *in_weight,
    const AtenTensorHandle *in_bias,
    AtenTensorHandle in_mean,
    AtenTensorHandle in_rstd,
    const int32_t *in_grad_mask,
    int64_t count_grad_mask,
    AtenTensorHandle *ret0,
    AtenTensorHandle *ret1,
    AtenTensorHandle *ret2) {
    shim s;
    shim_begin(&s, "my_ops::layer_norm_backward");
    if (shim_tensor(&s, "grad_y", in_grad_y) &&
        shim_tensor(&s, "x", in_x) &&
        (in_weight == NULL ? shim_none(&s) : shim_tensor(&s, "weight", *in_weight) && shim_box(&s)) &&
        (in_bias == NULL ? shim_none(&s) : shim_tensor(&s, "bias", *in_bias) && shim_box(&s)) &&
        shim_tensor(&s, "mean", in_mean) &&
        shim_tensor(&s, "rstd", in_rstd) &&
        shim_bools(&s, in_grad_mask, count_grad_mask)) {
        layer_norm_backward_direct(&s.e, s.stack);
        shim_give(&s, 0, ret0);
        shim_give(&s, 1, ret1);
        shim_give(&s, 2, ret2);
    } else {
        shim_drop(&s);
    }
    return shim_end(&s);
}

SHIM__EXPORTED AOTITorchError aoti_torch_my_ops_softmax(
    AtenTensorHandle in_x,
    const AtenTensorHandle *in_bias,
    double in_scale,
    int32_t in_causal,
    AtenTensorHandle *ret0) {
    shim s;
    shim_begin(&s, "my_ops::softmax");
    if (shim_tensor(&s, "x", in_x) &&
        (in_bias == NULL ? shim_none(&s) : shim_tensor(&s, "bias", *in_bias) && shim_box(&s)) &&
        shim_float(&s, in_scale) &&
        shim_bool(&s, in_causal)) {
        softmax_direct(&s.e, s.stack);
        shim_give(&s, 0, ret0);
    } else {
        shim_drop(&s);
    }
    return shim_end(&s);
}

SHIM__EXPORTED AOTITorchError aoti_torch_my_ops_softmax_backward(
    AtenTensorHandle in_grad_y,
    AtenTensorHandle in_y,
    double in_scale,
    int32_t in_causal,
    const int32_t *in_grad_mask,
    int64_t count_grad_mask,
    AtenTensorHandle *ret0,
    AtenTensorHandle *ret1) {
    shim s;
    shim_begin(&s, "my_ops::softmax_backward");
    if (shim_tensor(&s, "grad_y", in_grad_y) &&
        shim_tensor(&s, "y", in_y) &&
        shim_float(&s, in_scale) &&
        shim_bool(&s, in_causal) &&
        shim_bools(&s, in_grad_mask, count_grad_mask)) {
        softmax_backward_direct(&s.e, s.stack);
        shim_give(&s, 0, ret0);
        shim_give(&s, 1, ret1);
    } else {
        shim_drop(&s);
    }
    return shim_end(&s);
}

SHIM__EXPORTED AOTITorchError aoti_torch_my_ops_softmax_triton(
    AtenTensorHandle in_x,
    AtenTensorHandle *ret0) {
    shim s;
    shim_begin(&s, "my_ops::softmax_triton");
    if (shim_tensor(&s, "x", in_x)) {
        softmax_triton_direct(&s.e, s.stack);
        shim_give(&s, 0, ret0);
    } else {
        shim_drop(&s);
    }
    return shim_end(&s);
}

SHIM__EXPORTED AOTITorchError aoti_torch_my_ops_softmax_triton_backward(
    AtenTensorHandle in_grad_y,
    AtenTensorHandle in_y,
    AtenTensorHandle *ret0) {
    shim s;
    shim_begin(&s, "my_ops::softmax_triton_backward");
    if (shim_tensor(&s, "grad_y", in_grad_y) &&
        shim_tensor(&s, "y", in_y)) {
        softmax_triton_backward_direct(&s.e, s.stack);
        shim_give(&s, 0, ret0);
    } else {
        shim_drop(&s);
    }
    return shim_end(&s);
}

SHIM__EXPORTED AOTITorchError aoti_torch_my_ops_cross_entropy(
    AtenTensorHandle in_logits,
    AtenTensorHandle in_target,
    int64_t in_ignore_index,
    double in_label_smoothing,
    double in_z_loss,
    AtenTensorHandle *ret0) {
    shim s;
    shim_begin(&s, "my_ops::cross_entropy");
    if (shim_tensor(&s, "logits", in_logits) &&
        shim_tensor(&s, "target", in_target) &&
        shim_int(&s, in_ignore_index) &&
        shim_float(&s, in_label_smoothing) &&
        shim_float(&s, in_z_loss)) {
        cross_entropy_direct(&s.e, s.stack);
        shim_give(&s, 0, ret0);
    } else {
        shim_drop(&s);
    }
    return shim_end(&s);
}

SHIM__EXPORTED AOTITorchError aoti_torch_my_ops_cross_entropy__saved(
    AtenTensorHandle in_logits,
    AtenTensorHandle in_target,
    int64_t in_ignore_index,
    double in_label_smoothing,
    double in_z_loss,
    AtenTensorHandle *ret0,
    AtenTensorHandle *ret1) {
    shim s;
    shim_begin(&s, "my_ops::cross_entropy");
    if (shim_tensor(&s, "logits", in_logits) &&
        shim_tensor(&s, "target", in_target) &&
        shim_int(&s, in_ignore_index) &&
        shim_float(&s, in_label_smoothing) &&
        shim_float(&s, in_z_loss)) {
        cross_entropy__saved_direct(&s.e, s.stack);
        shim_give(&s, 0, ret0);
        shim_give(&s, 1, ret1);
    } else {
        shim_drop(&s);
    }
    return shim_end(&s);
}

SHIM__EXPORTED AOTITorchError aoti_torch_my_ops_cross_entropy_backward(
    AtenTensorHandle in_grad_loss,
    AtenTensorHandle in_logits,
    AtenTensorHandle in_target,
    AtenTensorHandle in_lse,
    int64_t in_ignore_index,
    double in_label_smoothing,
    double in_z_loss,
    AtenTensorHandle *ret0) {
    shim s;
    shim_begin(&s, "my_ops::cross_entropy_backward");
    if (shim_tensor(&s, "grad_loss", in_grad_loss) &&
        shim_tensor(&s, "logits", in_logits) &&
        shim_tensor(&s, "target", in_target) &&
        shim_tensor(&s, "lse", in_lse) &&
        shim_int(&s, in_ignore_index) &&
        shim_float(&s, in_label_smoothing) &&
        shim_float(&s, in_z_loss)) {
        cross_entropy_backward_direct(&s.e, s.stack);
        shim_give(&s, 0, ret0);
    } else {
        shim_drop(&s);
    }
    return shim_end(&s);
}

SHIM__EXPORTED AOTITorchError aoti_torch_my_ops_cross_entropy_gradient_(
    AtenTensorHandle in_logits,
    AtenTensorHandle in_target,
    const AtenTensorHandle *in_grad_loss,
    int64_t in_ignore_index,
    double in_label_smoothing,
    double in_z_loss,
    AtenTensorHandle *ret0) {
    shim s;
    shim_begin(&s, "my_ops::cross_entropy_gradient_");
    if (shim_written(&s, "logits", in_logits) &&
        shim_tensor(&s, "target", in_target) &&
        (in_grad_loss == NULL ? shim_none(&s) : shim_tensor(&s, "grad_loss", *in_grad_loss) && shim_box(&s)) &&
        shim_int(&s, in_ignore_index) &&
        shim_float(&s, in_label_smoothing) &&
        shim_float(&s, in_z_loss)) {
        cross_entropy_gradient__direct(&s.e, s.stack);
        shim_give(&s, 0, ret0);
    } else {
        shim_drop(&s);
    }
    return shim_end(&s);
}

SHIM__EXPORTED AOTITorchError aoti_torch_my_ops_rope(
    AtenTensorHandle in_q,
    AtenTensorHandle in_k,
    AtenTensorHandle in_cos,
    AtenTensorHandle in_sin,
    int32_t in_interleaved,
    AtenTensorHandle *ret0,
    AtenTensorHandle *ret1) {
    shim s;
    shim_begin(&s, "my_ops::rope");
    if (shim_tensor(&s, "q", in_q) &&
        shim_tensor(&s, "k", in_k) &&
        shim_tensor(&s, "cos", in_cos) &&
        shim_tensor(&s, "sin", in_sin) &&
        shim_bool(&s, in_interleaved)) {
        rope_direct(&s.e, s.stack);
        shim_give(&s, 0, ret0);
        shim_give(&s, 1, ret1);
    } else {
        shim_drop(&s);
    }
    return shim_end(&s);
}

SHIM__EXPORTED AOTITorchError aoti_torch_my_ops_rope__inplace(
    AtenTensorHandle in_q,
    AtenTensorHandle in_k,
    AtenTensorHandle in_cos,
    AtenTensorHandle in_sin,
    int32_t in_interleaved) {
    shim s;
    shim_begin(&s, "my_ops::rope");
    if (shim_written(&s, "q", in_q) &&
        shim_written(&s, "k", in_k) &&
        shim_tensor(&s, "cos", in_cos) &&
        shim_tensor(&s, "sin", in_sin) &&
        shim_bool(&s, in_interleaved)) {
        rope__inplace_direct(&s.e, s.stack);
    } else {
        shim_drop(&s);
    }
    return shim_end(&s);
}

SHIM__EXPORTED AOTITorchError aoti_torch_my_ops_rope_backward(
    AtenTensorHandle in_grad_q_out,
    AtenTensorHandle in_grad_k_out,
    AtenTensorHandle in_cos,
    AtenTensorHandle in_sin,
    int32_t in_interleaved,
    const int32_t *in_grad_mask,
    int64_t count_grad_mask,
    AtenTensorHandle *ret0,
    AtenTensorHandle *ret1) {
    shim s;
    shim_begin(&s, "my_ops::rope_backward");
    if (shim_tensor(&s, "grad_q_out", in_grad_q_out) &&
        shim_tensor(&s, "grad_k_out", in_grad_k_out) &&
        shim_tensor(&s, "cos", in_cos) &&
        shim_tensor(&s, "sin", in_sin) &&
        shim_bool(&s, in_interleaved) &&
        shim_bools(&s, in_grad_mask, count_grad_mask)) {
        rope_backward_direct(&s.e, s.stack);
        shim_give(&s, 0, ret0);
        shim_give(&s, 1, ret1);
    } else {
        shim_drop(&s);
    }
    return shim_end(&s);
}

SHIM__EXPORTED AOTITorchError aoti_torch_my_ops_silu_mul(
    AtenTensorHandle in_gate,
    AtenTensorHandle in_up,
    AtenTensorHandle *ret0) {
    shim s;
    shim_begin(&s, "my_ops::silu_mul");
    if (shim_tensor(&s, "gate", in_gate) &&
        shim_tensor(&s, "up", in_up)) {
        silu_mul_direct(&s.e, s.stack);
        shim_give(&s, 0, ret0);
    } else {
        shim_drop(&s);
    }
    return shim_end(&s);
}

SHIM__EXPORTED AOTITorchError aoti_torch_my_ops_silu_mul_backward(
    AtenTensorHandle in_grad_y,
    AtenTensorHandle in_gate,
    AtenTensorHandle in_up,
    const int32_t *in_grad_mask,
    int64_t count_grad_mask,
    AtenTensorHandle *ret0,
    AtenTensorHandle *ret1) {
    shim s;
    shim_begin(&s, "my_ops::silu_mul_backward");
    if (shim_tensor(&s, "grad_y", in_grad_y) &&
        shim_tensor(&s, "gate", in_gate) &&
        shim_tensor(&s, "up", in_up) &&
        shim_bools(&s, in_grad_mask, count_grad_mask)) {
        silu_mul_backward_direct(&s.e, s.stack);
        shim_give(&s, 0, ret0);
        shim_give(&s, 1, ret1);
    } else {
        shim_drop(&s);
    }
    return shim_end(&s);
}

SHIM__EXPORTED AOTITorchError aoti_torch_my_ops_silu_mul_backward_backward(
    AtenTensorHandle in_grad_grad_gate,
    AtenTensorHandle in_grad_grad_up,
    AtenTensorHandle in_grad_y,
    AtenTensorHandle in_gate,
    AtenTensorHandle in_up,
    const int32_t *in_grad_mask,
    int64_t count_grad_mask,
    AtenTensorHandle *ret0,
    AtenTensorHandle *ret1,
    AtenTensorHandle *ret2) {
    shim s;
    shim_begin(&s, "my_ops::silu_mul_backward_backward");
    if (shim_tensor(&s, "grad_grad_gate", in_grad_grad_gate) &&
        shim_tensor(&s, "grad_grad_up", in_grad_grad_up) &&
        shim_tensor(&s, "grad_y", in_grad_y) &&
        shim_tensor(&s, "gate", in_gate) &&
        shim_tensor(&s, "up", in_up) &&
        shim_bools(&s, in_grad_mask, count_grad_mask)) {
        silu_mul_backward_backward_direct(&s.e, s.stack);
        shim_give(&s, 0, ret0);
        shim_give(&s, 1, ret1);
        shim_give(&s, 2, ret2);
    } else {
        shim_drop(&s);
    }
    return shim_end(&s);
}

SHIM__EXPORTED AOTITorchError aoti_torch_my_ops_gelu_mul(
    AtenTensorHandle in_gate,
    AtenTensorHandle in_up,
    const char *in_approximate,
    AtenTensorHandle *ret0) {
    shim s;
    shim_begin(&s, "my_ops::gelu_mul");
    if (shim_tensor(&s, "gate", in_gate) &&
        shim_tensor(&s, "up", in_up) &&
        shim_text(&s, in_approximate)) {
        gelu_mul_direct(&s.e, s.stack);
        shim_give(&s, 0, ret0);
    } else {
        shim_drop(&s);
    }
    return shim_end(&s);
}

SHIM__EXPORTED AOTITorchError aoti_torch_my_ops_gelu_mul_backward(
    AtenTensorHandle in_grad_y,
    AtenTensorHandle in_gate,
    AtenTensorHandle in_up,
    const char *in_approximate,
    const int32_t *in_grad_mask,
    int64_t count_grad_mask,
    AtenTensorHandle *ret0,
    AtenTensorHandle *ret1) {
    shim s;
    shim_begin(&s, "my_ops::gelu_mul_backward");
    if (shim_tensor(&s, "grad_y", in_grad_y) &&
        shim_tensor(&s, "gate", in_gate) &&
        shim_tensor(&s, "up", in_up) &&
        shim_text(&s, in_approximate) &&
        shim_bools(&s, in_grad_mask, count_grad_mask)) {
        gelu_mul_backward_direct(&s.e, s.stack);
        shim_give(&s, 0, ret0);
        shim_give(&s, 1, ret1);
    } else {
        shim_drop(&s);
    }
    return shim_end(&s);
}

SHIM__EXPORTED AOTITorchError aoti_torch_my_ops_gelu_mul_backward_backward(
    AtenTensorHandle in_grad_grad_gate,
    AtenTensorHandle in_grad_grad_up,
    AtenTensorHandle in_grad_y,
    AtenTensorHandle in_gate,
    AtenTensorHandle in_up,
    const char *in_approximate,
    const int32_t *in_grad_mask,
    int64_t count_grad_mask,
    AtenTensorHandle *ret0,
    AtenTensorHandle *ret1,
    AtenTensorHandle *ret2) {
    shim s;
    shim_begin(&s, "my_ops::gelu_mul_backward_backward");
    if (shim_tensor(&s, "grad_grad_gate", in_grad_grad_gate) &&
        shim_tensor(&s, "grad_grad_up", in_grad_grad_up) &&
        shim_tensor(&s, "grad_y", in_grad_y) &&
        shim_tensor(&s, "gate", in_gate) &&
        shim_tensor(&s, "up", in_up) &&
        shim_text(&s, in_approximate) &&
        shim_bools(&s, in_grad_mask, count_grad_mask)) {
        gelu_mul_backward_backward_direct(&s.e, s.stack);
        shim_give(&s, 0, ret0);
        shim_give(&s, 1, ret1);
        shim_give(&s, 2, ret2);
    } else {
        shim_drop(&s);
    }
    return shim_end(&s);
}

SHIM__EXPORTED AOTITorchError aoti_torch_my_ops_quantize_per_token(
    AtenTensorHandle in_x,
    int32_t in_dtype,
    AtenTensorHandle *ret0,
    AtenTensorHandle *ret1) {
    shim s;
    shim_begin(&s, "my_ops::quantize_per_token");
    if (shim_tensor(&s, "x", in_x) &&
        shim_dtype(&s, in_dtype)) {
        quantize_per_token_direct(&s.e, s.stack);
        shim_give(&s, 0, ret0);
        shim_give(&s, 1, ret1);
    } else {
        shim_drop(&s);
    }
    return shim_end(&s);
}

SHIM__EXPORTED AOTITorchError aoti_torch_my_ops_rms_norm_quantize(
    AtenTensorHandle in_x,
    const AtenTensorHandle *in_weight,
    double in_eps,
    double in_offset,
    int32_t in_dtype,
    AtenTensorHandle *ret0,
    AtenTensorHandle *ret1) {
    shim s;
    shim_begin(&s, "my_ops::rms_norm_quantize");
    if (shim_tensor(&s, "x", in_x) &&
        (in_weight == NULL ? shim_none(&s) : shim_tensor(&s, "weight", *in_weight) && shim_box(&s)) &&
        shim_float(&s, in_eps) &&
        shim_float(&s, in_offset) &&
        shim_dtype(&s, in_dtype)) {
        rms_norm_quantize_direct(&s.e, s.stack);
        shim_give(&s, 0, ret0);
        shim_give(&s, 1, ret1);
    } else {
        shim_drop(&s);
    }
    return shim_end(&s);
}

SHIM__EXPORTED AOTITorchError aoti_torch_my_ops_gather_rows(
    AtenTensorHandle in_table,
    AtenTensorHandle in_index,
    AtenTensorHandle *ret0) {
    shim s;
    shim_begin(&s, "my_ops::gather_rows");
    if (shim_tensor(&s, "table", in_table) &&
        shim_tensor(&s, "index", in_index)) {
        gather_rows_direct(&s.e, s.stack);
        shim_give(&s, 0, ret0);
    } else {
        shim_drop(&s);
    }
    return shim_end(&s);
}

SHIM__EXPORTED AOTITorchError aoti_torch_my_ops_adamw_step(
    const AtenTensorHandle *in_params,
    int64_t count_params,
    const AtenTensorHandle *in_grads,
    int64_t count_grads,
    const AtenTensorHandle *in_exp_avgs,
    int64_t count_exp_avgs,
    const AtenTensorHandle *in_exp_avg_sqs,
    int64_t count_exp_avg_sqs,
    int64_t in_step,
    const AtenTensorHandle *in_grad_scale,
    double in_lr,
    const double *in_betas,
    int64_t count_betas,
    double in_eps,
    double in_weight_decay,
    int32_t in_maximize) {
    shim s;
    shim_begin(&s, "my_ops::adamw_step");
    if (shim_written_tensors(&s, "params", in_params, count_params) &&
        shim_tensors(&s, "grads", in_grads, count_grads) &&
        shim_written_tensors(&s, "exp_avgs", in_exp_avgs, count_exp_avgs) &&
        shim_written_tensors(&s, "exp_avg_sqs", in_exp_avg_sqs, count_exp_avg_sqs) &&
        shim_int(&s, in_step) &&
        (in_grad_scale == NULL ? shim_none(&s) : shim_tensor(&s, "grad_scale", *in_grad_scale) && shim_box(&s)) &&
        shim_float(&s, in_lr) &&
        shim_floats(&s, in_betas, count_betas) &&
        shim_float(&s, in_eps) &&
        shim_float(&s, in_weight_decay) &&
        shim_bool(&s, in_maximize)) {
        adamw_step_direct(&s.e, s.stack);
    } else {
        shim_drop(&s);
    }
    return shim_end(&s);
}

SHIM__EXPORTED AOTITorchError aoti_torch_my_ops_global_norm(
    const AtenTensorHandle *in_xs,
    int64_t count_xs,
    AtenTensorHandle *ret0) {
    shim s;
    shim_begin(&s, "my_ops::global_norm");
    if (shim_tensors(&s, "xs", in_xs, count_xs)) {
        global_norm_direct(&s.e, s.stack);
        shim_give(&s, 0, ret0);
    } else {
        shim_drop(&s);
    }
    return shim_end(&s);
}

static const shim_entry entries[] = {
    {"my_ops::square",
     "square(Tensor x) -> Tensor",
     (shim_function *)aoti_torch_my_ops_square},
    {"my_ops::square_backward",
     "square_backward(Tensor grad_y, Tensor x) -> Tensor",
     (shim_function *)aoti_torch_my_ops_square_backward},
    {"my_ops::rms_norm",
     "rms_norm(Tensor x, Tensor\? weight=None, float eps=1e-06, float offset=0.0) -> Tensor",
     (shim_function *)aoti_torch_my_ops_rms_norm},
    {"my_ops::rms_norm",
     "_rms_norm_saved(Tensor x, Tensor\? weight=None, float eps=1e-06, float offset=0.0) -> (Tensor, Tensor)",
     (shim_function *)aoti_torch_my_ops_rms_norm__saved},
    {"my_ops::rms_norm_backward",
     "rms_norm_backward(Tensor grad_y, Tensor x, Tensor\? weight, Tensor rstd, float offset, *, bool[2] grad_mask=[True, True]) -> (Tensor, Tensor)",
     (shim_function *)aoti_torch_my_ops_rms_norm_backward},
    {"my_ops::add_rms_norm",
     "add_rms_norm(Tensor x, Tensor residual, Tensor\? weight=None, float eps=1e-06, float offset=0.0) -> (Tensor, Tensor)",
     (shim_function *)aoti_torch_my_ops_add_rms_norm},
    {"my_ops::add_rms_norm",
     "_add_rms_norm_saved(Tensor x, Tensor residual, Tensor\? weight=None, float eps=1e-06, float offset=0.0) -> (Tensor, Tensor, Tensor)",
     (shim_function *)aoti_torch_my_ops_add_rms_norm__saved},
    {"my_ops::add_rms_norm",
     "add_rms_norm_(Tensor(a!) x, Tensor(b!) residual, Tensor\? weight=None, float eps=1e-06, float offset=0.0) -> ()",
     (shim_function *)aoti_torch_my_ops_add_rms_norm__inplace},
    {"my_ops::add_rms_norm_backward",
     "add_rms_norm_backward(Tensor grad_y, Tensor\? grad_residual_out, Tensor residual_out, Tensor\? weight, Tensor rstd, float offset, *, bool[2] grad_mask=[True, True]) -> (Tensor, Tensor)",
     (shim_function *)aoti_torch_my_ops_add_rms_norm_backward},
    {"my_ops::layer_norm",
     "layer_norm(Tensor x, Tensor\? weight=None, Tensor\? bias=None, float eps=1e-05) -> Tensor",
     (shim_function *)aoti_torch_my_ops_layer_norm},
    {"my_ops::layer_norm",
     "_layer_norm_saved(Tensor x, Tensor\? weight=None, Tensor\? bias=None, float eps=1e-05) -> (Tensor, Tensor, Tensor)",
     (shim_function *)aoti_torch_my_ops_layer_norm__saved},
    {"my_ops::layer_norm_backward",
     "layer_norm_backward(Tensor grad_y, Tensor x, Tensor\? weight, Tensor\? bias, Tensor mean, Tensor rstd, *, bool[3] grad_mask=[True, True, True]) -> (Tensor, Tensor, Tensor)",
     (shim_function *)aoti_torch_my_ops_layer_norm_backward},
    {"my_ops::softmax",
     "softmax(Tensor x, Tensor\? bias=None, float scale=1.0, bool causal=False) -> Tensor",
     (shim_function *)aoti_torch_my_ops_softmax},
    {"my_ops::softmax_backward",
     "softmax_backward(Tensor grad_y, Tensor y, float scale, bool causal, *, bool[2] grad_mask=[True, True]) -> (Tensor, Tensor)",
     (shim_function *)aoti_torch_my_ops_softmax_backward},
    {"my_ops::softmax_triton",
     "softmax_triton(Tensor x) -> Tensor",
     (shim_function *)aoti_torch_my_ops_softmax_triton},
    {"my_ops::softmax_triton_backward",
     "softmax_triton_backward(Tensor grad_y, Tensor y) -> Tensor",
     (shim_function *)aoti_torch_my_ops_softmax_triton_backward},
    {"my_ops::cross_entropy",
     "cross_entropy(Tensor logits, Tensor target, int ignore_index=-100, float label_smoothing=0.0, float z_loss=0.0) -> Tensor",
     (shim_function *)aoti_torch_my_ops_cross_entropy},
    {"my_ops::cross_entropy",
     "_cross_entropy_saved(Tensor logits, Tensor target, int ignore_index=-100, float label_smoothing=0.0, float z_loss=0.0) -> (Tensor, Tensor)",
     (shim_function *)aoti_torch_my_ops_cross_entropy__saved},
    {"my_ops::cross_entropy_backward",
     "cross_entropy_backward(Tensor grad_loss, Tensor logits, Tensor target, Tensor lse, int ignore_index, float label_smoothing, float z_loss) -> Tensor",
     (shim_function *)aoti_torch_my_ops_cross_entropy_backward},
    {"my_ops::cross_entropy_gradient_",
     "cross_entropy_gradient_(Tensor(a!) logits, Tensor target, Tensor\? grad_loss=None, int ignore_index=-100, float label_smoothing=0.0, float z_loss=0.0) -> Tensor",
     (shim_function *)aoti_torch_my_ops_cross_entropy_gradient_},
    {"my_ops::rope",
     "rope(Tensor q, Tensor k, Tensor cos, Tensor sin, bool interleaved=False) -> (Tensor, Tensor)",
     (shim_function *)aoti_torch_my_ops_rope},
    {"my_ops::rope",
     "rope_(Tensor(a!) q, Tensor(b!) k, Tensor cos, Tensor sin, bool interleaved=False) -> ()",
     (shim_function *)aoti_torch_my_ops_rope__inplace},
    {"my_ops::rope_backward",
     "rope_backward(Tensor grad_q_out, Tensor grad_k_out, Tensor cos, Tensor sin, bool interleaved, *, bool[2] grad_mask=[True, True]) -> (Tensor, Tensor)",
     (shim_function *)aoti_torch_my_ops_rope_backward},
    {"my_ops::silu_mul",
     "silu_mul(Tensor gate, Tensor up) -> Tensor",
     (shim_function *)aoti_torch_my_ops_silu_mul},
    {"my_ops::silu_mul_backward",
     "silu_mul_backward(Tensor grad_y, Tensor gate, Tensor up, *, bool[2] grad_mask=[True, True]) -> (Tensor, Tensor)",
     (shim_function *)aoti_torch_my_ops_silu_mul_backward},
    {"my_ops::silu_mul_backward_backward",
     "silu_mul_backward_backward(Tensor grad_grad_gate, Tensor grad_grad_up, Tensor grad_y, Tensor gate, Tensor up, *, bool[3] grad_mask=[True, True, True]) -> (Tensor, Tensor, Tensor)",
     (shim_function *)aoti_torch_my_ops_silu_mul_backward_backward},
    {"my_ops::gelu_mul",
     "gelu_mul(Tensor gate, Tensor up, str approximate=\"none\") -> Tensor",
     (shim_function *)aoti_torch_my_ops_gelu_mul},
    {"my_ops::gelu_mul_backward",
     "gelu_mul_backward(Tensor grad_y, Tensor gate, Tensor up, str approximate, *, bool[2] grad_mask=[True, True]) -> (Tensor, Tensor)",
     (shim_function *)aoti_torch_my_ops_gelu_mul_backward},
    {"my_ops::gelu_mul_backward_backward",
     "gelu_mul_backward_backward(Tensor grad_grad_gate, Tensor grad_grad_up, Tensor grad_y, Tensor gate, Tensor up, str approximate, *, bool[3] grad_mask=[True, True, True]) -> (Tensor, Tensor, Tensor)",
     (shim_function *)aoti_torch_my_ops_gelu_mul_backward_backward},
    {"my_ops::quantize_per_token",
     "quantize_per_token(Tensor x, *, ScalarType dtype=int8) -> (Tensor, Tensor)",
     (shim_function *)aoti_torch_my_ops_quantize_per_token},
    {"my_ops::rms_norm_quantize",
     "rms_norm_quantize(Tensor x, Tensor\? weight=None, float eps=1e-06, float offset=0.0, *, ScalarType dtype=int8) -> (Tensor, Tensor)",
     (shim_function *)aoti_torch_my_ops_rms_norm_quantize},
    {"my_ops::gather_rows",
     "gather_rows(Tensor table, Tensor index) -> Tensor",
     (shim_function *)aoti_torch_my_ops_gather_rows},
    {"my_ops::adamw_step",
     "adamw_step(Tensor(a!)[] params, Tensor[] grads, Tensor(b!)[] exp_avgs, Tensor(c!)[] exp_avg_sqs, SymInt step, Tensor\? grad_scale=None, *, float lr=0.001, float[2] betas=[0.9, 0.999], float eps=1e-08, float weight_decay=0.01, bool maximize=False) -> ()",
     (shim_function *)aoti_torch_my_ops_adamw_step},
    {"my_ops::global_norm",
     "global_norm(Tensor[] xs) -> Tensor",
     (shim_function *)aoti_torch_my_ops_global_norm},
    {"", "", NULL},
};

/* What else this file exports: the function for a schema, null where there is none, and then, or after a call that
 * returned 1, the text of this thread's error. */
SHIM__EXPORTED shim_function *my_ops_find_shim(const char *op, const char *schema);
SHIM__EXPORTED const char *my_ops_shim_error(void);
SHIM__EXPORTED const char *my_ops_load_error(void); /* of library.c */

shim_function *my_ops_find_shim(const char *op, const char *schema) {
    const size_t count = sizeof entries / sizeof entries[0] - 1;
    return shim_find(entries, count, op, schema, my_ops_load_error());
}

const char *my_ops_shim_error(void) { return shim_error(); }
