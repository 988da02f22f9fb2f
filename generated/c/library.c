/* Registers the operators of my_ops with PyTorch when the library is loaded. */
#include "library.h"

#include "operators.h"

static const operator_entry entries[] = {
    {"square(Tensor x) -> Tensor",
     "square", square_boxed, square_boxed, NULL, NULL, 0},
    {"_square_no_grad(Tensor x) -> Tensor",
     "_square_no_grad", square_boxed, square_boxed, NULL, NULL, 0},
    {"square_backward(Tensor grad_y, Tensor x) -> Tensor",
     "square_backward", square_backward_boxed, square_backward_boxed, NULL, NULL, 0},
    {"_square_backward_no_grad(Tensor grad_y, Tensor x) -> Tensor",
     "_square_backward_no_grad", square_backward_boxed, square_backward_boxed, NULL, NULL, 0},
    {"rms_norm(Tensor x, Tensor weight, float eps=1e-06) -> Tensor",
     "rms_norm", rms_norm_boxed, rms_norm_boxed, NULL, NULL, 0},
    {"_rms_norm_no_grad(Tensor x, Tensor weight, float eps=1e-06) -> Tensor",
     "_rms_norm_no_grad", rms_norm_boxed, rms_norm_boxed, NULL, NULL, 0},
    {"_rms_norm_saved(Tensor x, Tensor weight, float eps=1e-06) -> (Tensor, Tensor)",
     "_rms_norm_saved", rms_norm__saved_boxed, rms_norm__saved_boxed, NULL, NULL, 0},
    {"rms_norm_backward(Tensor grad_y, Tensor x, Tensor weight, Tensor rstd, *, bool[2] grad_mask=[True, True]) -> (Tensor, Tensor)",
     "rms_norm_backward", rms_norm_backward_boxed, rms_norm_backward_boxed, NULL, NULL, 0},
    {"_rms_norm_backward_no_grad(Tensor grad_y, Tensor x, Tensor weight, Tensor rstd, *, bool[2] grad_mask=[True, True]) -> (Tensor, Tensor)",
     "_rms_norm_backward_no_grad", rms_norm_backward_boxed, rms_norm_backward_boxed, NULL, NULL, 0},
    {"softmax(Tensor x, Tensor\? bias=None, float scale=1.0, bool causal=False) -> Tensor",
     "softmax", softmax_boxed, softmax_boxed, NULL, NULL, 0},
    {"_softmax_no_grad(Tensor x, Tensor\? bias=None, float scale=1.0, bool causal=False) -> Tensor",
     "_softmax_no_grad", softmax_boxed, softmax_boxed, NULL, NULL, 0},
    {"softmax_backward(Tensor grad_y, Tensor y, float scale, bool causal, *, bool[2] grad_mask=[True, True]) -> (Tensor, Tensor)",
     "softmax_backward", softmax_backward_boxed, softmax_backward_boxed, NULL, NULL, 0},
    {"_softmax_backward_no_grad(Tensor grad_y, Tensor y, float scale, bool causal, *, bool[2] grad_mask=[True, True]) -> (Tensor, Tensor)",
     "_softmax_backward_no_grad", softmax_backward_boxed, softmax_backward_boxed, NULL, NULL, 0},
    {"cross_entropy(Tensor logits, Tensor target, int ignore_index=-100, float label_smoothing=0.0, float z_loss=0.0) -> Tensor",
     "cross_entropy", cross_entropy_boxed, cross_entropy_boxed, NULL, NULL, 0},
    {"_cross_entropy_no_grad(Tensor logits, Tensor target, int ignore_index=-100, float label_smoothing=0.0, float z_loss=0.0) -> Tensor",
     "_cross_entropy_no_grad", cross_entropy_boxed, cross_entropy_boxed, NULL, NULL, 0},
    {"_cross_entropy_saved(Tensor logits, Tensor target, int ignore_index=-100, float label_smoothing=0.0, float z_loss=0.0) -> (Tensor, Tensor)",
     "_cross_entropy_saved", cross_entropy__saved_boxed, cross_entropy__saved_boxed, NULL, NULL, 0},
    {"cross_entropy_backward(Tensor grad_loss, Tensor logits, Tensor target, Tensor lse, int ignore_index, float label_smoothing, float z_loss) -> Tensor",
     "cross_entropy_backward", cross_entropy_backward_boxed, cross_entropy_backward_boxed, NULL, NULL, 0},
    {"_cross_entropy_backward_no_grad(Tensor grad_loss, Tensor logits, Tensor target, Tensor lse, int ignore_index, float label_smoothing, float z_loss) -> Tensor",
     "_cross_entropy_backward_no_grad", cross_entropy_backward_boxed, cross_entropy_backward_boxed, NULL, NULL, 0},
    {"cross_entropy_gradient_(Tensor(a!) logits, Tensor target, Tensor\? grad_loss=None, int ignore_index=-100, float label_smoothing=0.0, float z_loss=0.0) -> Tensor",
     "cross_entropy_gradient_", cross_entropy_gradient__boxed, cross_entropy_gradient__boxed, NULL, NULL, 0},
    {"_cross_entropy_gradient__no_grad(Tensor(a!) logits, Tensor target, Tensor\? grad_loss=None, int ignore_index=-100, float label_smoothing=0.0, float z_loss=0.0) -> Tensor",
     "_cross_entropy_gradient__no_grad", cross_entropy_gradient__boxed, cross_entropy_gradient__boxed, NULL, NULL, 0},
    {"rope(Tensor q, Tensor k, Tensor cos, Tensor sin, bool interleaved=False) -> (Tensor, Tensor)",
     "rope", rope_boxed, rope_boxed, NULL, NULL, 0},
    {"_rope_no_grad(Tensor q, Tensor k, Tensor cos, Tensor sin, bool interleaved=False) -> (Tensor, Tensor)",
     "_rope_no_grad", rope_boxed, rope_boxed, NULL, NULL, 0},
    {"rope_(Tensor(a!) q, Tensor(b!) k, Tensor cos, Tensor sin, bool interleaved=False) -> ()",
     "rope_", rope__inplace_boxed, rope__inplace_boxed, NULL, NULL, 0},
    {"_rope__no_grad(Tensor(a!) q, Tensor(b!) k, Tensor cos, Tensor sin, bool interleaved=False) -> ()",
     "_rope__no_grad", rope__inplace_boxed, rope__inplace_boxed, NULL, NULL, 0},
    {"rope_backward(Tensor grad_q_out, Tensor grad_k_out, Tensor cos, Tensor sin, bool interleaved, *, bool[2] grad_mask=[True, True]) -> (Tensor, Tensor)",
     "rope_backward", rope_backward_boxed, rope_backward_boxed, NULL, NULL, 0},
    {"_rope_backward_no_grad(Tensor grad_q_out, Tensor grad_k_out, Tensor cos, Tensor sin, bool interleaved, *, bool[2] grad_mask=[True, True]) -> (Tensor, Tensor)",
     "_rope_backward_no_grad", rope_backward_boxed, rope_backward_boxed, NULL, NULL, 0},
    {"silu_mul(Tensor gate, Tensor up) -> Tensor",
     "silu_mul", silu_mul_boxed, silu_mul_boxed, NULL, NULL, 0},
    {"_silu_mul_no_grad(Tensor gate, Tensor up) -> Tensor",
     "_silu_mul_no_grad", silu_mul_boxed, silu_mul_boxed, NULL, NULL, 0},
    {"silu_mul_backward(Tensor grad_y, Tensor gate, Tensor up, *, bool[2] grad_mask=[True, True]) -> (Tensor, Tensor)",
     "silu_mul_backward", silu_mul_backward_boxed, silu_mul_backward_boxed, NULL, NULL, 0},
    {"_silu_mul_backward_no_grad(Tensor grad_y, Tensor gate, Tensor up, *, bool[2] grad_mask=[True, True]) -> (Tensor, Tensor)",
     "_silu_mul_backward_no_grad", silu_mul_backward_boxed, silu_mul_backward_boxed, NULL, NULL, 0},
    {"silu_mul_backward_backward(Tensor grad_grad_gate, Tensor grad_grad_up, Tensor grad_y, Tensor gate, Tensor up, *, bool[3] grad_mask=[True, True, True]) -> (Tensor, Tensor, Tensor)",
     "silu_mul_backward_backward", silu_mul_backward_backward_boxed, silu_mul_backward_backward_boxed, NULL, NULL, 0},
    {"_silu_mul_backward_backward_no_grad(Tensor grad_grad_gate, Tensor grad_grad_up, Tensor grad_y, Tensor gate, Tensor up, *, bool[3] grad_mask=[True, True, True]) -> (Tensor, Tensor, Tensor)",
     "_silu_mul_backward_backward_no_grad", silu_mul_backward_backward_boxed, silu_mul_backward_backward_boxed, NULL, NULL, 0},
    {"gelu_mul(Tensor gate, Tensor up, str approximate=\"none\") -> Tensor",
     "gelu_mul", gelu_mul_boxed, gelu_mul_boxed, NULL, NULL, 0},
    {"_gelu_mul_no_grad(Tensor gate, Tensor up, str approximate=\"none\") -> Tensor",
     "_gelu_mul_no_grad", gelu_mul_boxed, gelu_mul_boxed, NULL, NULL, 0},
    {"gelu_mul_backward(Tensor grad_y, Tensor gate, Tensor up, str approximate, *, bool[2] grad_mask=[True, True]) -> (Tensor, Tensor)",
     "gelu_mul_backward", gelu_mul_backward_boxed, gelu_mul_backward_boxed, NULL, NULL, 0},
    {"_gelu_mul_backward_no_grad(Tensor grad_y, Tensor gate, Tensor up, str approximate, *, bool[2] grad_mask=[True, True]) -> (Tensor, Tensor)",
     "_gelu_mul_backward_no_grad", gelu_mul_backward_boxed, gelu_mul_backward_boxed, NULL, NULL, 0},
    {"gelu_mul_backward_backward(Tensor grad_grad_gate, Tensor grad_grad_up, Tensor grad_y, Tensor gate, Tensor up, str approximate, *, bool[3] grad_mask=[True, True, True]) -> (Tensor, Tensor, Tensor)",
     "gelu_mul_backward_backward", gelu_mul_backward_backward_boxed, gelu_mul_backward_backward_boxed, NULL, NULL, 0},
    {"_gelu_mul_backward_backward_no_grad(Tensor grad_grad_gate, Tensor grad_grad_up, Tensor grad_y, Tensor gate, Tensor up, str approximate, *, bool[3] grad_mask=[True, True, True]) -> (Tensor, Tensor, Tensor)",
     "_gelu_mul_backward_backward_no_grad", gelu_mul_backward_backward_boxed, gelu_mul_backward_backward_boxed, NULL, NULL, 0},
    {"gather_rows(Tensor table, Tensor index) -> Tensor",
     "gather_rows", gather_rows_boxed, gather_rows_boxed, NULL, NULL, 0},
    {"_gather_rows_no_grad(Tensor table, Tensor index) -> Tensor",
     "_gather_rows_no_grad", gather_rows_boxed, gather_rows_boxed, NULL, NULL, 0},
};

static const char *load_error;

/* Null when the operators are registered, else what is wrong, for the package's import to raise. The only name that
 * this library exports. */
__attribute__((visibility("default"))) const char *my_ops_load_error(void);

const char *my_ops_load_error(void) { return load_error; }

__attribute__((constructor)) static void load(void) {
    load_error = library_register("my_ops", entries, sizeof entries / sizeof entries[0]);
}
