"""AOTInductor packages that call the operators of my_ops as C functions, and not through the dispatcher.

    torch._inductor.aoti_compile_and_package(
        program, inductor_configs={"aot_inductor.custom_ops_to_c_shims": my_ops.aoti.c_shims()}
    )

The package is not linked with the library: when it first calls an operator, it finds the one that its process has
loaded.
"""

import functools
import re
from collections.abc import Mapping
from pathlib import Path
from string import Template
from typing import NamedTuple

import torch

from . import _runtime as _runtime  # loads the library

__all__ = ["c_shims"]

# What all declarations of a model share.
_FIND = r"""
#ifndef MY_OPS_SHIMS
#define MY_OPS_SHIMS
#include <dlfcn.h>
#include <link.h>
#include <stdexcept>
#include <string>
#include <vector>
// How this model finds the C shims of my_ops in the library that the process has loaded, however that was done.
namespace my_ops_shims {
using function = void();
using find_function = function *(const char *, const char *);
using error_function = const char *();

static int add_name(dl_phdr_info *info, size_t, void *names) {
    static_cast<std::vector<std::string> *>(names)->push_back(info->dlpi_name);
    return 0;
}

// Looked for when the operator is called first; after an error again at the next call.
template <typename F> struct shim {
    F *call = nullptr;
    error_function *error = nullptr;

    shim(const char *op, const char *schema) {
        std::string why = std::string(op) + ": the library of this operator, my_ops.so, is not loaded: import "
                          "my_ops, or torch.ops.load_library() it, or link the program with it";
        std::vector<std::string> names;
        dl_iterate_phdr(add_name, &names);
        for (const std::string &name : names) {
            void *const file = dlopen(name.empty() ? nullptr : name.c_str(), RTLD_LAZY | RTLD_NOLOAD);
            if (file == nullptr) {
                continue;
            }
            auto *const find = reinterpret_cast<find_function *>(dlsym(file, "my_ops_find_shim"));
            error = reinterpret_cast<error_function *>(dlsym(file, "my_ops_shim_error"));
            if (find != nullptr && error != nullptr) {
                call = reinterpret_cast<F *>(find(op, schema));
                if (call != nullptr) {
                    return; // the library stays
                }
                why = error();
            }
            dlclose(file);
        }
        throw std::runtime_error(why);
    }

    void check(AOTITorchError code) const {
        if (code != 0) {
            throw std::runtime_error(error());
        }
    }
};
} // namespace my_ops_shims
#endif
"""

# PyTorch writes a declaration behind `extern `, and calls `aoti_torch_<device>_<operator>`, without a namespace.
_DECLARATION = Template(
    r""""C++" {
$find
extern "C" AOTITorchError $symbol($parameters);
$functions
}"""
)
# Where nothing is returned, PyTorch passes a null pointer for it.
_FUNCTION = Template(
    r"""
static inline AOTITorchError $name($taken) {
    static const my_ops_shims::shim<decltype($symbol)> shim("$op", "$schema");
    shim.check(shim.call($arguments));
    return AOTI_TORCH_SUCCESS;
}
"""
)


class _Shim(NamedTuple):
    """A shim: what it is in C, and for which operator and schema."""

    name: str
    devices: str
    op: str
    symbol: str
    schema: str
    parameters: str
    arguments: str

    @property
    def operator(self) -> str:
        """The name of the operator, without the overload."""
        return self.name.partition(".")[0]

    @property
    def functions(self) -> list[str]:
        """What PyTorch calls it."""
        return [f"aoti_torch_{device}_{self.operator}" for device in self.devices.split()]

    @property
    def overload(self) -> torch._ops.OpOverload:
        """What PyTorch looks for."""
        packet = getattr(torch.ops.my_ops, self.operator)
        found = getattr(packet, self.name.partition(".")[2] or "default")
        assert isinstance(found, torch._ops.OpOverload)
        return found

    @property
    def declaration(self) -> str:
        """The functions that a model calls, in C++."""
        nothing = "" if "*ret0" in self.parameters else "AtenTensorHandle *"
        taken = ", ".join(part for part in (self.parameters, nothing) if part)
        facts = {**self._asdict(), "taken": taken}
        functions = "".join(_FUNCTION.substitute(facts, name=name) for name in self.functions)
        return _DECLARATION.substitute(facts, find=_FIND.strip(), functions=functions.strip())


_SHIMS = (
    _Shim(
        "square",
        "cpu cuda",
        "my_ops::square",
        "aoti_torch_my_ops_square",
        "square(Tensor x) -> Tensor",
        "AtenTensorHandle in_x, AtenTensorHandle *ret0",
        "in_x, ret0",
    ),
    _Shim(
        "square_backward",
        "cpu cuda",
        "my_ops::square_backward",
        "aoti_torch_my_ops_square_backward",
        "square_backward(Tensor grad_y, Tensor x) -> Tensor",
        "AtenTensorHandle in_grad_y, AtenTensorHandle in_x, AtenTensorHandle *ret0",
        "in_grad_y, in_x, ret0",
    ),
    _Shim(
        "rms_norm",
        "cpu cuda",
        "my_ops::rms_norm",
        "aoti_torch_my_ops_rms_norm",
        "rms_norm(Tensor x, Tensor\\? weight=None, float eps=1e-06, float offset=0.0) -> Tensor",
        "AtenTensorHandle in_x, const AtenTensorHandle *in_weight, double in_eps, double in_offset, AtenTensorHandle *ret0",
        "in_x, in_weight, in_eps, in_offset, ret0",
    ),
    _Shim(
        "_rms_norm_saved",
        "cpu cuda",
        "my_ops::rms_norm",
        "aoti_torch_my_ops_rms_norm__saved",
        "_rms_norm_saved(Tensor x, Tensor\\? weight=None, float eps=1e-06, float offset=0.0) -> (Tensor, Tensor)",
        "AtenTensorHandle in_x, const AtenTensorHandle *in_weight, double in_eps, double in_offset, AtenTensorHandle *ret0, AtenTensorHandle *ret1",
        "in_x, in_weight, in_eps, in_offset, ret0, ret1",
    ),
    _Shim(
        "rms_norm_backward",
        "cpu cuda",
        "my_ops::rms_norm_backward",
        "aoti_torch_my_ops_rms_norm_backward",
        "rms_norm_backward(Tensor grad_y, Tensor x, Tensor\\? weight, Tensor rstd, float offset, *, bool[2] grad_mask=[True, True]) -> (Tensor, Tensor)",
        "AtenTensorHandle in_grad_y, AtenTensorHandle in_x, const AtenTensorHandle *in_weight, AtenTensorHandle in_rstd, double in_offset, const int32_t *in_grad_mask, int64_t count_grad_mask, AtenTensorHandle *ret0, AtenTensorHandle *ret1",
        "in_grad_y, in_x, in_weight, in_rstd, in_offset, in_grad_mask, count_grad_mask, ret0, ret1",
    ),
    _Shim(
        "add_rms_norm",
        "cpu cuda",
        "my_ops::add_rms_norm",
        "aoti_torch_my_ops_add_rms_norm",
        "add_rms_norm(Tensor x, Tensor residual, Tensor\\? weight=None, float eps=1e-06, float offset=0.0) -> (Tensor, Tensor)",
        "AtenTensorHandle in_x, AtenTensorHandle in_residual, const AtenTensorHandle *in_weight, double in_eps, double in_offset, AtenTensorHandle *ret0, AtenTensorHandle *ret1",
        "in_x, in_residual, in_weight, in_eps, in_offset, ret0, ret1",
    ),
    _Shim(
        "_add_rms_norm_saved",
        "cpu cuda",
        "my_ops::add_rms_norm",
        "aoti_torch_my_ops_add_rms_norm__saved",
        "_add_rms_norm_saved(Tensor x, Tensor residual, Tensor\\? weight=None, float eps=1e-06, float offset=0.0) -> (Tensor, Tensor, Tensor)",
        "AtenTensorHandle in_x, AtenTensorHandle in_residual, const AtenTensorHandle *in_weight, double in_eps, double in_offset, AtenTensorHandle *ret0, AtenTensorHandle *ret1, AtenTensorHandle *ret2",
        "in_x, in_residual, in_weight, in_eps, in_offset, ret0, ret1, ret2",
    ),
    _Shim(
        "add_rms_norm_",
        "cpu cuda",
        "my_ops::add_rms_norm",
        "aoti_torch_my_ops_add_rms_norm__inplace",
        "add_rms_norm_(Tensor(a!) x, Tensor(b!) residual, Tensor\\? weight=None, float eps=1e-06, float offset=0.0) -> ()",
        "AtenTensorHandle in_x, AtenTensorHandle in_residual, const AtenTensorHandle *in_weight, double in_eps, double in_offset",
        "in_x, in_residual, in_weight, in_eps, in_offset",
    ),
    _Shim(
        "add_rms_norm_backward",
        "cpu cuda",
        "my_ops::add_rms_norm_backward",
        "aoti_torch_my_ops_add_rms_norm_backward",
        "add_rms_norm_backward(Tensor grad_y, Tensor\\? grad_residual_out, Tensor residual_out, Tensor\\? weight, Tensor rstd, float offset, *, bool[2] grad_mask=[True, True]) -> (Tensor, Tensor)",
        "AtenTensorHandle in_grad_y, const AtenTensorHandle *in_grad_residual_out, AtenTensorHandle in_residual_out, const AtenTensorHandle *in_weight, AtenTensorHandle in_rstd, double in_offset, const int32_t *in_grad_mask, int64_t count_grad_mask, AtenTensorHandle *ret0, AtenTensorHandle *ret1",
        "in_grad_y, in_grad_residual_out, in_residual_out, in_weight, in_rstd, in_offset, in_grad_mask, count_grad_mask, ret0, ret1",
    ),
    _Shim(
        "layer_norm",
        "cpu cuda",
        "my_ops::layer_norm",
        "aoti_torch_my_ops_layer_norm",
        "layer_norm(Tensor x, Tensor\\? weight=None, Tensor\\? bias=None, float eps=1e-05) -> Tensor",
        "AtenTensorHandle in_x, const AtenTensorHandle *in_weight, const AtenTensorHandle *in_bias, double in_eps, AtenTensorHandle *ret0",
        "in_x, in_weight, in_bias, in_eps, ret0",
    ),
    _Shim(
        "_layer_norm_saved",
        "cpu cuda",
        "my_ops::layer_norm",
        "aoti_torch_my_ops_layer_norm__saved",
        "_layer_norm_saved(Tensor x, Tensor\\? weight=None, Tensor\\? bias=None, float eps=1e-05) -> (Tensor, Tensor, Tensor)",
        "AtenTensorHandle in_x, const AtenTensorHandle *in_weight, const AtenTensorHandle *in_bias, double in_eps, AtenTensorHandle *ret0, AtenTensorHandle *ret1, AtenTensorHandle *ret2",
        "in_x, in_weight, in_bias, in_eps, ret0, ret1, ret2",
    ),
    _Shim(
        "layer_norm_backward",
        "cpu cuda",
        "my_ops::layer_norm_backward",
        "aoti_torch_my_ops_layer_norm_backward",
        "layer_norm_backward(Tensor grad_y, Tensor x, Tensor\\? weight, Tensor\\? bias, Tensor mean, Tensor rstd, *, bool[3] grad_mask=[True, True, True]) -> (Tensor, Tensor, Tensor)",
        "AtenTensorHandle in_grad_y, AtenTensorHandle in_x, const AtenTensorHandle *in_weight, const AtenTensorHandle *in_bias, AtenTensorHandle in_mean, AtenTensorHandle in_rstd, const int32_t *in_grad_mask, int64_t count_grad_mask, AtenTensorHandle *ret0, AtenTensorHandle *ret1, AtenTensorHandle *ret2",
        "in_grad_y, in_x, in_weight, in_bias, in_mean, in_rstd, in_grad_mask, count_grad_mask, ret0, ret1, ret2",
    ),
    _Shim(
        "softmax",
        "cpu cuda",
        "my_ops::softmax",
        "aoti_torch_my_ops_softmax",
        "softmax(Tensor x, Tensor\\? bias=None, float scale=1.0, bool causal=False) -> Tensor",
        "AtenTensorHandle in_x, const AtenTensorHandle *in_bias, double in_scale, int32_t in_causal, AtenTensorHandle *ret0",
        "in_x, in_bias, in_scale, in_causal, ret0",
    ),
    _Shim(
        "softmax_backward",
        "cpu cuda",
        "my_ops::softmax_backward",
        "aoti_torch_my_ops_softmax_backward",
        "softmax_backward(Tensor grad_y, Tensor y, float scale, bool causal, *, bool[2] grad_mask=[True, True]) -> (Tensor, Tensor)",
        "AtenTensorHandle in_grad_y, AtenTensorHandle in_y, double in_scale, int32_t in_causal, const int32_t *in_grad_mask, int64_t count_grad_mask, AtenTensorHandle *ret0, AtenTensorHandle *ret1",
        "in_grad_y, in_y, in_scale, in_causal, in_grad_mask, count_grad_mask, ret0, ret1",
    ),
    _Shim(
        "softmax_triton",
        "cpu cuda",
        "my_ops::softmax_triton",
        "aoti_torch_my_ops_softmax_triton",
        "softmax_triton(Tensor x) -> Tensor",
        "AtenTensorHandle in_x, AtenTensorHandle *ret0",
        "in_x, ret0",
    ),
    _Shim(
        "softmax_triton_backward",
        "cpu cuda",
        "my_ops::softmax_triton_backward",
        "aoti_torch_my_ops_softmax_triton_backward",
        "softmax_triton_backward(Tensor grad_y, Tensor y) -> Tensor",
        "AtenTensorHandle in_grad_y, AtenTensorHandle in_y, AtenTensorHandle *ret0",
        "in_grad_y, in_y, ret0",
    ),
    _Shim(
        "cross_entropy",
        "cpu cuda",
        "my_ops::cross_entropy",
        "aoti_torch_my_ops_cross_entropy",
        "cross_entropy(Tensor logits, Tensor target, int ignore_index=-100, float label_smoothing=0.0, float z_loss=0.0) -> Tensor",
        "AtenTensorHandle in_logits, AtenTensorHandle in_target, int64_t in_ignore_index, double in_label_smoothing, double in_z_loss, AtenTensorHandle *ret0",
        "in_logits, in_target, in_ignore_index, in_label_smoothing, in_z_loss, ret0",
    ),
    _Shim(
        "_cross_entropy_saved",
        "cpu cuda",
        "my_ops::cross_entropy",
        "aoti_torch_my_ops_cross_entropy__saved",
        "_cross_entropy_saved(Tensor logits, Tensor target, int ignore_index=-100, float label_smoothing=0.0, float z_loss=0.0) -> (Tensor, Tensor)",
        "AtenTensorHandle in_logits, AtenTensorHandle in_target, int64_t in_ignore_index, double in_label_smoothing, double in_z_loss, AtenTensorHandle *ret0, AtenTensorHandle *ret1",
        "in_logits, in_target, in_ignore_index, in_label_smoothing, in_z_loss, ret0, ret1",
    ),
    _Shim(
        "cross_entropy_backward",
        "cpu cuda",
        "my_ops::cross_entropy_backward",
        "aoti_torch_my_ops_cross_entropy_backward",
        "cross_entropy_backward(Tensor grad_loss, Tensor logits, Tensor target, Tensor lse, int ignore_index, float label_smoothing, float z_loss) -> Tensor",
        "AtenTensorHandle in_grad_loss, AtenTensorHandle in_logits, AtenTensorHandle in_target, AtenTensorHandle in_lse, int64_t in_ignore_index, double in_label_smoothing, double in_z_loss, AtenTensorHandle *ret0",
        "in_grad_loss, in_logits, in_target, in_lse, in_ignore_index, in_label_smoothing, in_z_loss, ret0",
    ),
    _Shim(
        "cross_entropy_gradient_",
        "cpu cuda",
        "my_ops::cross_entropy_gradient_",
        "aoti_torch_my_ops_cross_entropy_gradient_",
        "cross_entropy_gradient_(Tensor(a!) logits, Tensor target, Tensor\\? grad_loss=None, int ignore_index=-100, float label_smoothing=0.0, float z_loss=0.0) -> Tensor",
        "AtenTensorHandle in_logits, AtenTensorHandle in_target, const AtenTensorHandle *in_grad_loss, int64_t in_ignore_index, double in_label_smoothing, double in_z_loss, AtenTensorHandle *ret0",
        "in_logits, in_target, in_grad_loss, in_ignore_index, in_label_smoothing, in_z_loss, ret0",
    ),
    _Shim(
        "rope",
        "cpu cuda",
        "my_ops::rope",
        "aoti_torch_my_ops_rope",
        "rope(Tensor q, Tensor k, Tensor cos, Tensor sin, bool interleaved=False) -> (Tensor, Tensor)",
        "AtenTensorHandle in_q, AtenTensorHandle in_k, AtenTensorHandle in_cos, AtenTensorHandle in_sin, int32_t in_interleaved, AtenTensorHandle *ret0, AtenTensorHandle *ret1",
        "in_q, in_k, in_cos, in_sin, in_interleaved, ret0, ret1",
    ),
    _Shim(
        "rope_",
        "cpu cuda",
        "my_ops::rope",
        "aoti_torch_my_ops_rope__inplace",
        "rope_(Tensor(a!) q, Tensor(b!) k, Tensor cos, Tensor sin, bool interleaved=False) -> ()",
        "AtenTensorHandle in_q, AtenTensorHandle in_k, AtenTensorHandle in_cos, AtenTensorHandle in_sin, int32_t in_interleaved",
        "in_q, in_k, in_cos, in_sin, in_interleaved",
    ),
    _Shim(
        "rope_backward",
        "cpu cuda",
        "my_ops::rope_backward",
        "aoti_torch_my_ops_rope_backward",
        "rope_backward(Tensor grad_q_out, Tensor grad_k_out, Tensor cos, Tensor sin, bool interleaved, *, bool[2] grad_mask=[True, True]) -> (Tensor, Tensor)",
        "AtenTensorHandle in_grad_q_out, AtenTensorHandle in_grad_k_out, AtenTensorHandle in_cos, AtenTensorHandle in_sin, int32_t in_interleaved, const int32_t *in_grad_mask, int64_t count_grad_mask, AtenTensorHandle *ret0, AtenTensorHandle *ret1",
        "in_grad_q_out, in_grad_k_out, in_cos, in_sin, in_interleaved, in_grad_mask, count_grad_mask, ret0, ret1",
    ),
    _Shim(
        "silu_mul",
        "cpu cuda",
        "my_ops::silu_mul",
        "aoti_torch_my_ops_silu_mul",
        "silu_mul(Tensor gate, Tensor up) -> Tensor",
        "AtenTensorHandle in_gate, AtenTensorHandle in_up, AtenTensorHandle *ret0",
        "in_gate, in_up, ret0",
    ),
    _Shim(
        "silu_mul_backward",
        "cpu cuda",
        "my_ops::silu_mul_backward",
        "aoti_torch_my_ops_silu_mul_backward",
        "silu_mul_backward(Tensor grad_y, Tensor gate, Tensor up, *, bool[2] grad_mask=[True, True]) -> (Tensor, Tensor)",
        "AtenTensorHandle in_grad_y, AtenTensorHandle in_gate, AtenTensorHandle in_up, const int32_t *in_grad_mask, int64_t count_grad_mask, AtenTensorHandle *ret0, AtenTensorHandle *ret1",
        "in_grad_y, in_gate, in_up, in_grad_mask, count_grad_mask, ret0, ret1",
    ),
    _Shim(
        "silu_mul_backward_backward",
        "cpu cuda",
        "my_ops::silu_mul_backward_backward",
        "aoti_torch_my_ops_silu_mul_backward_backward",
        "silu_mul_backward_backward(Tensor grad_grad_gate, Tensor grad_grad_up, Tensor grad_y, Tensor gate, Tensor up, *, bool[3] grad_mask=[True, True, True]) -> (Tensor, Tensor, Tensor)",
        "AtenTensorHandle in_grad_grad_gate, AtenTensorHandle in_grad_grad_up, AtenTensorHandle in_grad_y, AtenTensorHandle in_gate, AtenTensorHandle in_up, const int32_t *in_grad_mask, int64_t count_grad_mask, AtenTensorHandle *ret0, AtenTensorHandle *ret1, AtenTensorHandle *ret2",
        "in_grad_grad_gate, in_grad_grad_up, in_grad_y, in_gate, in_up, in_grad_mask, count_grad_mask, ret0, ret1, ret2",
    ),
    _Shim(
        "gelu_mul",
        "cpu cuda",
        "my_ops::gelu_mul",
        "aoti_torch_my_ops_gelu_mul",
        'gelu_mul(Tensor gate, Tensor up, str approximate=\\"none\\") -> Tensor',
        "AtenTensorHandle in_gate, AtenTensorHandle in_up, const char *in_approximate, AtenTensorHandle *ret0",
        "in_gate, in_up, in_approximate, ret0",
    ),
    _Shim(
        "gelu_mul_backward",
        "cpu cuda",
        "my_ops::gelu_mul_backward",
        "aoti_torch_my_ops_gelu_mul_backward",
        "gelu_mul_backward(Tensor grad_y, Tensor gate, Tensor up, str approximate, *, bool[2] grad_mask=[True, True]) -> (Tensor, Tensor)",
        "AtenTensorHandle in_grad_y, AtenTensorHandle in_gate, AtenTensorHandle in_up, const char *in_approximate, const int32_t *in_grad_mask, int64_t count_grad_mask, AtenTensorHandle *ret0, AtenTensorHandle *ret1",
        "in_grad_y, in_gate, in_up, in_approximate, in_grad_mask, count_grad_mask, ret0, ret1",
    ),
    _Shim(
        "gelu_mul_backward_backward",
        "cpu cuda",
        "my_ops::gelu_mul_backward_backward",
        "aoti_torch_my_ops_gelu_mul_backward_backward",
        "gelu_mul_backward_backward(Tensor grad_grad_gate, Tensor grad_grad_up, Tensor grad_y, Tensor gate, Tensor up, str approximate, *, bool[3] grad_mask=[True, True, True]) -> (Tensor, Tensor, Tensor)",
        "AtenTensorHandle in_grad_grad_gate, AtenTensorHandle in_grad_grad_up, AtenTensorHandle in_grad_y, AtenTensorHandle in_gate, AtenTensorHandle in_up, const char *in_approximate, const int32_t *in_grad_mask, int64_t count_grad_mask, AtenTensorHandle *ret0, AtenTensorHandle *ret1, AtenTensorHandle *ret2",
        "in_grad_grad_gate, in_grad_grad_up, in_grad_y, in_gate, in_up, in_approximate, in_grad_mask, count_grad_mask, ret0, ret1, ret2",
    ),
    _Shim(
        "quantize_per_token",
        "cpu cuda",
        "my_ops::quantize_per_token",
        "aoti_torch_my_ops_quantize_per_token",
        "quantize_per_token(Tensor x, *, ScalarType dtype=int8) -> (Tensor, Tensor)",
        "AtenTensorHandle in_x, int32_t in_dtype, AtenTensorHandle *ret0, AtenTensorHandle *ret1",
        "in_x, in_dtype, ret0, ret1",
    ),
    _Shim(
        "rms_norm_quantize",
        "cpu cuda",
        "my_ops::rms_norm_quantize",
        "aoti_torch_my_ops_rms_norm_quantize",
        "rms_norm_quantize(Tensor x, Tensor\\? weight=None, float eps=1e-06, float offset=0.0, *, ScalarType dtype=int8) -> (Tensor, Tensor)",
        "AtenTensorHandle in_x, const AtenTensorHandle *in_weight, double in_eps, double in_offset, int32_t in_dtype, AtenTensorHandle *ret0, AtenTensorHandle *ret1",
        "in_x, in_weight, in_eps, in_offset, in_dtype, ret0, ret1",
    ),
    _Shim(
        "gather_rows",
        "cpu cuda",
        "my_ops::gather_rows",
        "aoti_torch_my_ops_gather_rows",
        "gather_rows(Tensor table, Tensor index) -> Tensor",
        "AtenTensorHandle in_table, AtenTensorHandle in_index, AtenTensorHandle *ret0",
        "in_table, in_index, ret0",
    ),
    _Shim(
        "adamw_step",
        "cpu cuda",
        "my_ops::adamw_step",
        "aoti_torch_my_ops_adamw_step",
        "adamw_step(Tensor(a!)[] params, Tensor[] grads, Tensor(b!)[] exp_avgs, Tensor(c!)[] exp_avg_sqs, SymInt step, Tensor\\? grad_scale=None, *, float lr=0.001, float[2] betas=[0.9, 0.999], float eps=1e-08, float weight_decay=0.01, bool maximize=False) -> ()",
        "const AtenTensorHandle *in_params, int64_t count_params, const AtenTensorHandle *in_grads, int64_t count_grads, const AtenTensorHandle *in_exp_avgs, int64_t count_exp_avgs, const AtenTensorHandle *in_exp_avg_sqs, int64_t count_exp_avg_sqs, int64_t in_step, const AtenTensorHandle *in_grad_scale, double in_lr, const double *in_betas, int64_t count_betas, double in_eps, double in_weight_decay, int32_t in_maximize",
        "in_params, count_params, in_grads, count_grads, in_exp_avgs, count_exp_avgs, in_exp_avg_sqs, count_exp_avg_sqs, in_step, in_grad_scale, in_lr, in_betas, count_betas, in_eps, in_weight_decay, in_maximize",
    ),
    _Shim(
        "global_norm",
        "cpu cuda",
        "my_ops::global_norm",
        "aoti_torch_my_ops_global_norm",
        "global_norm(Tensor[] xs) -> Tensor",
        "const AtenTensorHandle *in_xs, int64_t count_xs, AtenTensorHandle *ret0",
        "in_xs, count_xs, ret0",
    ),
)


@functools.cache
def _of_pytorch() -> frozenset[str]:
    """The names that PyTorch's own C shims have taken."""
    folder = Path(torch.__file__).parent / "include" / "torch" / "csrc" / "inductor" / "aoti_torch"
    texts = (header.read_text(encoding="utf-8", errors="replace") for header in folder.rglob("*.h"))
    return frozenset(name for text in texts for name in re.findall(r"\baoti_torch_(?:cpu|cuda)_\w+", text))


def c_shims(
    *operators: str, beside: Mapping[torch._ops.OpOverload, list[str]] | None = None
) -> dict[torch._ops.OpOverload, list[str]]:
    """What `aot_inductor.custom_ops_to_c_shims` is to be: of these operators, or of all.

    PyTorch calls a C shim without the namespace of its operator. An operator that is called like one of PyTorch's has
    none, and of those that are called alike in `beside`, the shims of another package, the ones in `beside` are kept.
    Operators without a C shim are called through the dispatcher.
    """
    known = {shim.operator for shim in _SHIMS}
    unknown = [name for name in operators if name not in known]
    if unknown:
        raise ValueError(f"my_ops.aoti: no operator with a C shim is called {unknown[0]!r}; there are {sorted(known)}")
    found = dict(beside or {})
    names = _of_pytorch() | {name for texts in found.values() for text in texts for name in _named(text)}
    for shim in _SHIMS:
        if (not operators or shim.operator in operators) and names.isdisjoint(shim.functions):
            found[shim.overload] = [shim.declaration]
    return found


def _named(declaration: str) -> list[str]:
    """The functions that a declaration gives the names of."""
    return re.findall(r"\baoti_torch_(?:cpu|cuda)_\w+(?=\()", declaration)
