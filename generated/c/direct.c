/* The operators of my_ops as the direct module calls them. */
#include "operators.h"

static const direct_argument square__arguments[] = {
    {.name = "x", .kind = DIRECT_TENSOR},
    {.name = "out", .kind = DIRECT_TENSOR, .optional = true, .written = true, .keyword = true, .default_text = "None"},
};

static const direct_argument square_backward__arguments[] = {
    {.name = "grad_y", .kind = DIRECT_TENSOR},
    {.name = "x", .kind = DIRECT_TENSOR},
    {.name = "out", .kind = DIRECT_TENSOR, .optional = true, .written = true, .keyword = true, .default_text = "None"},
};

static const direct_argument rms_norm__arguments[] = {
    {.name = "x", .kind = DIRECT_TENSOR},
    {.name = "weight", .kind = DIRECT_TENSOR, .optional = true, .default_text = "None"},
    {.name = "eps", .kind = DIRECT_FLOAT, .default_text = "1e-06"},
    {.name = "offset", .kind = DIRECT_FLOAT, .default_text = "0.0"},
    {.name = "out", .kind = DIRECT_TENSOR, .optional = true, .written = true, .keyword = true, .default_text = "None"},
};

static const direct_argument rms_norm_backward__arguments[] = {
    {.name = "grad_y", .kind = DIRECT_TENSOR},
    {.name = "x", .kind = DIRECT_TENSOR},
    {.name = "weight", .kind = DIRECT_TENSOR, .optional = true},
    {.name = "rstd", .kind = DIRECT_TENSOR},
    {.name = "offset", .kind = DIRECT_FLOAT},
    {.name = "grad_mask", .kind = DIRECT_BOOL, .list = true, .keyword = true, .default_text = "[True, True]"},
};

static const direct_argument add_rms_norm__arguments[] = {
    {.name = "x", .kind = DIRECT_TENSOR},
    {.name = "residual", .kind = DIRECT_TENSOR},
    {.name = "weight", .kind = DIRECT_TENSOR, .optional = true, .default_text = "None"},
    {.name = "eps", .kind = DIRECT_FLOAT, .default_text = "1e-06"},
    {.name = "offset", .kind = DIRECT_FLOAT, .default_text = "0.0"},
    {.name = "y", .kind = DIRECT_TENSOR, .optional = true, .written = true, .keyword = true, .default_text = "None"},
    {.name = "residual_out", .kind = DIRECT_TENSOR, .optional = true, .written = true, .keyword = true, .default_text = "None"},
};

static const direct_argument add_rms_norm___arguments[] = {
    {.name = "x", .kind = DIRECT_TENSOR, .written = true},
    {.name = "residual", .kind = DIRECT_TENSOR, .written = true},
    {.name = "weight", .kind = DIRECT_TENSOR, .optional = true, .default_text = "None"},
    {.name = "eps", .kind = DIRECT_FLOAT, .default_text = "1e-06"},
    {.name = "offset", .kind = DIRECT_FLOAT, .default_text = "0.0"},
};

static const direct_argument add_rms_norm_backward__arguments[] = {
    {.name = "grad_y", .kind = DIRECT_TENSOR},
    {.name = "grad_residual_out", .kind = DIRECT_TENSOR, .optional = true},
    {.name = "residual_out", .kind = DIRECT_TENSOR},
    {.name = "weight", .kind = DIRECT_TENSOR, .optional = true},
    {.name = "rstd", .kind = DIRECT_TENSOR},
    {.name = "offset", .kind = DIRECT_FLOAT},
    {.name = "grad_mask", .kind = DIRECT_BOOL, .list = true, .keyword = true, .default_text = "[True, True]"},
};

static const direct_argument layer_norm__arguments[] = {
    {.name = "x", .kind = DIRECT_TENSOR},
    {.name = "weight", .kind = DIRECT_TENSOR, .optional = true, .default_text = "None"},
    {.name = "bias", .kind = DIRECT_TENSOR, .optional = true, .default_text = "None"},
    {.name = "eps", .kind = DIRECT_FLOAT, .default_text = "1e-05"},
    {.name = "out", .kind = DIRECT_TENSOR, .optional = true, .written = true, .keyword = true, .default_text = "None"},
};

static const direct_argument layer_norm_backward__arguments[] = {
    {.name = "grad_y", .kind = DIRECT_TENSOR},
    {.name = "x", .kind = DIRECT_TENSOR},
    {.name = "weight", .kind = DIRECT_TENSOR, .optional = true},
    {.name = "bias", .kind = DIRECT_TENSOR, .optional = true},
    {.name = "mean", .kind = DIRECT_TENSOR},
    {.name = "rstd", .kind = DIRECT_TENSOR},
    {.name = "grad_mask", .kind = DIRECT_BOOL, .list = true, .keyword = true, .default_text = "[True, True, True]"},
};

static const direct_argument softmax__arguments[] = {
    {.name = "x", .kind = DIRECT_TENSOR},
    {.name = "bias", .kind = DIRECT_TENSOR, .optional = true, .default_text = "None"},
    {.name = "scale", .kind = DIRECT_FLOAT, .default_text = "1.0"},
    {.name = "causal", .kind = DIRECT_BOOL, .default_text = "False"},
    {.name = "out", .kind = DIRECT_TENSOR, .optional = true, .written = true, .keyword = true, .default_text = "None"},
};

static const direct_argument softmax_backward__arguments[] = {
    {.name = "grad_y", .kind = DIRECT_TENSOR},
    {.name = "y", .kind = DIRECT_TENSOR},
    {.name = "scale", .kind = DIRECT_FLOAT},
    {.name = "causal", .kind = DIRECT_BOOL},
    {.name = "grad_mask", .kind = DIRECT_BOOL, .list = true, .keyword = true, .default_text = "[True, True]"},
};

static const direct_argument softmax_triton__arguments[] = {
    {.name = "x", .kind = DIRECT_TENSOR},
    {.name = "out", .kind = DIRECT_TENSOR, .optional = true, .written = true, .keyword = true, .default_text = "None"},
};

static const direct_argument softmax_triton_backward__arguments[] = {
    {.name = "grad_y", .kind = DIRECT_TENSOR},
    {.name = "y", .kind = DIRECT_TENSOR},
    {.name = "out", .kind = DIRECT_TENSOR, .optional = true, .written = true, .keyword = true, .default_text = "None"},
};

static const direct_argument cross_entropy__arguments[] = {
    {.name = "logits", .kind = DIRECT_TENSOR},
    {.name = "target", .kind = DIRECT_TENSOR},
    {.name = "ignore_index", .kind = DIRECT_INT, .default_text = "-100"},
    {.name = "label_smoothing", .kind = DIRECT_FLOAT, .default_text = "0.0"},
    {.name = "z_loss", .kind = DIRECT_FLOAT, .default_text = "0.0"},
    {.name = "out", .kind = DIRECT_TENSOR, .optional = true, .written = true, .keyword = true, .default_text = "None"},
};

static const direct_argument cross_entropy_backward__arguments[] = {
    {.name = "grad_loss", .kind = DIRECT_TENSOR},
    {.name = "logits", .kind = DIRECT_TENSOR},
    {.name = "target", .kind = DIRECT_TENSOR},
    {.name = "lse", .kind = DIRECT_TENSOR},
    {.name = "ignore_index", .kind = DIRECT_INT},
    {.name = "label_smoothing", .kind = DIRECT_FLOAT},
    {.name = "z_loss", .kind = DIRECT_FLOAT},
    {.name = "out", .kind = DIRECT_TENSOR, .optional = true, .written = true, .keyword = true, .default_text = "None"},
};

static const direct_argument cross_entropy_gradient___arguments[] = {
    {.name = "logits", .kind = DIRECT_TENSOR, .written = true},
    {.name = "target", .kind = DIRECT_TENSOR},
    {.name = "grad_loss", .kind = DIRECT_TENSOR, .optional = true, .default_text = "None"},
    {.name = "ignore_index", .kind = DIRECT_INT, .default_text = "-100"},
    {.name = "label_smoothing", .kind = DIRECT_FLOAT, .default_text = "0.0"},
    {.name = "z_loss", .kind = DIRECT_FLOAT, .default_text = "0.0"},
};

static const direct_argument rope__arguments[] = {
    {.name = "q", .kind = DIRECT_TENSOR},
    {.name = "k", .kind = DIRECT_TENSOR},
    {.name = "cos", .kind = DIRECT_TENSOR},
    {.name = "sin", .kind = DIRECT_TENSOR},
    {.name = "interleaved", .kind = DIRECT_BOOL, .default_text = "False"},
    {.name = "q_out", .kind = DIRECT_TENSOR, .optional = true, .written = true, .keyword = true, .default_text = "None"},
    {.name = "k_out", .kind = DIRECT_TENSOR, .optional = true, .written = true, .keyword = true, .default_text = "None"},
};

static const direct_argument rope___arguments[] = {
    {.name = "q", .kind = DIRECT_TENSOR, .written = true},
    {.name = "k", .kind = DIRECT_TENSOR, .written = true},
    {.name = "cos", .kind = DIRECT_TENSOR},
    {.name = "sin", .kind = DIRECT_TENSOR},
    {.name = "interleaved", .kind = DIRECT_BOOL, .default_text = "False"},
};

static const direct_argument rope_backward__arguments[] = {
    {.name = "grad_q_out", .kind = DIRECT_TENSOR},
    {.name = "grad_k_out", .kind = DIRECT_TENSOR},
    {.name = "cos", .kind = DIRECT_TENSOR},
    {.name = "sin", .kind = DIRECT_TENSOR},
    {.name = "interleaved", .kind = DIRECT_BOOL},
    {.name = "grad_mask", .kind = DIRECT_BOOL, .list = true, .keyword = true, .default_text = "[True, True]"},
};

static const direct_argument silu_mul__arguments[] = {
    {.name = "gate", .kind = DIRECT_TENSOR},
    {.name = "up", .kind = DIRECT_TENSOR},
    {.name = "out", .kind = DIRECT_TENSOR, .optional = true, .written = true, .keyword = true, .default_text = "None"},
};

static const direct_argument silu_mul_backward__arguments[] = {
    {.name = "grad_y", .kind = DIRECT_TENSOR},
    {.name = "gate", .kind = DIRECT_TENSOR},
    {.name = "up", .kind = DIRECT_TENSOR},
    {.name = "grad_mask", .kind = DIRECT_BOOL, .list = true, .keyword = true, .default_text = "[True, True]"},
};

static const direct_argument silu_mul_backward_backward__arguments[] = {
    {.name = "grad_grad_gate", .kind = DIRECT_TENSOR},
    {.name = "grad_grad_up", .kind = DIRECT_TENSOR},
    {.name = "grad_y", .kind = DIRECT_TENSOR},
    {.name = "gate", .kind = DIRECT_TENSOR},
    {.name = "up", .kind = DIRECT_TENSOR},
    {.name = "grad_mask", .kind = DIRECT_BOOL, .list = true, .keyword = true, .default_text = "[True, True, True]"},
};

static const direct_argument gelu_mul__arguments[] = {
    {.name = "gate", .kind = DIRECT_TENSOR},
    {.name = "up", .kind = DIRECT_TENSOR},
    {.name = "approximate", .kind = DIRECT_TEXT, .default_text = "'none'"},
    {.name = "out", .kind = DIRECT_TENSOR, .optional = true, .written = true, .keyword = true, .default_text = "None"},
};

static const direct_argument gelu_mul_backward__arguments[] = {
    {.name = "grad_y", .kind = DIRECT_TENSOR},
    {.name = "gate", .kind = DIRECT_TENSOR},
    {.name = "up", .kind = DIRECT_TENSOR},
    {.name = "approximate", .kind = DIRECT_TEXT},
    {.name = "grad_mask", .kind = DIRECT_BOOL, .list = true, .keyword = true, .default_text = "[True, True]"},
};

static const direct_argument gelu_mul_backward_backward__arguments[] = {
    {.name = "grad_grad_gate", .kind = DIRECT_TENSOR},
    {.name = "grad_grad_up", .kind = DIRECT_TENSOR},
    {.name = "grad_y", .kind = DIRECT_TENSOR},
    {.name = "gate", .kind = DIRECT_TENSOR},
    {.name = "up", .kind = DIRECT_TENSOR},
    {.name = "approximate", .kind = DIRECT_TEXT},
    {.name = "grad_mask", .kind = DIRECT_BOOL, .list = true, .keyword = true, .default_text = "[True, True, True]"},
};

static const direct_argument quantize_per_token__arguments[] = {
    {.name = "x", .kind = DIRECT_TENSOR},
    {.name = "dtype", .kind = DIRECT_DTYPE, .keyword = true, .default_text = "'int8'"},
    {.name = "q", .kind = DIRECT_TENSOR, .optional = true, .written = true, .keyword = true, .default_text = "None"},
    {.name = "scale", .kind = DIRECT_TENSOR, .optional = true, .written = true, .keyword = true, .default_text = "None"},
};

static const direct_argument rms_norm_quantize__arguments[] = {
    {.name = "x", .kind = DIRECT_TENSOR},
    {.name = "weight", .kind = DIRECT_TENSOR, .optional = true, .default_text = "None"},
    {.name = "eps", .kind = DIRECT_FLOAT, .default_text = "1e-06"},
    {.name = "offset", .kind = DIRECT_FLOAT, .default_text = "0.0"},
    {.name = "dtype", .kind = DIRECT_DTYPE, .keyword = true, .default_text = "'int8'"},
    {.name = "q", .kind = DIRECT_TENSOR, .optional = true, .written = true, .keyword = true, .default_text = "None"},
    {.name = "scale", .kind = DIRECT_TENSOR, .optional = true, .written = true, .keyword = true, .default_text = "None"},
};

static const direct_argument gather_rows__arguments[] = {
    {.name = "table", .kind = DIRECT_TENSOR},
    {.name = "index", .kind = DIRECT_TENSOR},
    {.name = "out", .kind = DIRECT_TENSOR, .optional = true, .written = true, .keyword = true, .default_text = "None"},
};

static const direct_argument adamw_step__arguments[] = {
    {.name = "params", .kind = DIRECT_TENSOR, .list = true, .written = true},
    {.name = "grads", .kind = DIRECT_TENSOR, .list = true},
    {.name = "exp_avgs", .kind = DIRECT_TENSOR, .list = true, .written = true},
    {.name = "exp_avg_sqs", .kind = DIRECT_TENSOR, .list = true, .written = true},
    {.name = "step", .kind = DIRECT_INT},
    {.name = "grad_scale", .kind = DIRECT_TENSOR, .optional = true, .default_text = "None"},
    {.name = "lr", .kind = DIRECT_FLOAT, .keyword = true, .default_text = "0.001"},
    {.name = "betas", .kind = DIRECT_FLOAT, .list = true, .keyword = true, .default_text = "[0.9, 0.999]"},
    {.name = "eps", .kind = DIRECT_FLOAT, .keyword = true, .default_text = "1e-08"},
    {.name = "weight_decay", .kind = DIRECT_FLOAT, .keyword = true, .default_text = "0.01"},
    {.name = "maximize", .kind = DIRECT_BOOL, .keyword = true, .default_text = "False"},
};

static const direct_argument global_norm__arguments[] = {
    {.name = "xs", .kind = DIRECT_TENSOR, .list = true},
    {.name = "out", .kind = DIRECT_TENSOR, .optional = true, .written = true, .keyword = true, .default_text = "None"},
};

static const direct_function functions[] = {
    {
        .name = "square",
        .op = "my_ops::square",
        .signature = "(x, *, out=None)",
        .doc =
            "x * x, element by element.\n"
            "\n"
            "Records no gradient, and is not seen by torch.compile: square of torch.ops does and is."
        ,
        .arguments = square__arguments,
        .count = 1,
        .given = 1,
        .returns = "t",
        .call = square_direct,
        .call_given = square__out_direct,
    },
    {
        .name = "square_backward",
        .op = "my_ops::square_backward",
        .signature = "(grad_y, x, *, out=None)",
        .doc =
            "Gradient of square.\n"
            "\n"
            "Records no gradient, and is not seen by torch.compile: square_backward of torch.ops does and is."
        ,
        .arguments = square_backward__arguments,
        .count = 2,
        .given = 1,
        .returns = "t",
        .call = square_backward_direct,
        .call_given = square_backward__out_direct,
    },
    {
        .name = "rms_norm",
        .op = "my_ops::rms_norm",
        .signature = "(x, weight=None, eps=1e-06, offset=0.0, *, out=None)",
        .doc =
            "Root-mean-square normalisation over the last dimension, scaled by offset + weight, or by 1 without a weight.\n"
            "\n"
            "Records no gradient, and is not seen by torch.compile: rms_norm of torch.ops does and is."
        ,
        .arguments = rms_norm__arguments,
        .count = 4,
        .given = 1,
        .returns = "t",
        .call = rms_norm_direct,
        .call_given = rms_norm__out_direct,
    },
    {
        .name = "rms_norm_backward",
        .op = "my_ops::rms_norm_backward",
        .signature = "(grad_y, x, weight, rstd, offset, *, grad_mask=[True, True])",
        .doc =
            "Gradients of rms_norm. Each block sums a fixed set of rows; a second pass adds the partial sums in a fixed order.\n"
            "\n"
            "Records no gradient, and is not seen by torch.compile: rms_norm_backward of torch.ops does and is."
        ,
        .arguments = rms_norm_backward__arguments,
        .count = 6,
        .given = 0,
        .returns = "tt",
        .call = rms_norm_backward_direct,
    },
    {
        .name = "add_rms_norm",
        .op = "my_ops::add_rms_norm",
        .signature = "(x, residual, weight=None, eps=1e-06, offset=0.0, *, y=None, residual_out=None)",
        .doc =
            "rms_norm of x + residual, and that sum itself, rounded to the dtype of x, which is what is normalised.\n"
            "\n"
            "Records no gradient, and is not seen by torch.compile: add_rms_norm of torch.ops does and is."
        ,
        .arguments = add_rms_norm__arguments,
        .count = 5,
        .given = 2,
        .returns = "tt",
        .call = add_rms_norm_direct,
        .call_given = add_rms_norm__out_direct,
    },
    {
        .name = "add_rms_norm_",
        .op = "my_ops::add_rms_norm",
        .signature = "(x, residual, weight=None, eps=1e-06, offset=0.0)",
        .doc =
            "rms_norm of x + residual, and that sum itself, rounded to the dtype of x, which is what is normalised.\n"
            "\n"
            "Records no gradient, and is not seen by torch.compile: add_rms_norm of torch.ops does and is."
        ,
        .arguments = add_rms_norm___arguments,
        .count = 5,
        .given = 0,
        .returns = "",
        .call = add_rms_norm__inplace_direct,
    },
    {
        .name = "add_rms_norm_backward",
        .op = "my_ops::add_rms_norm_backward",
        .signature = "(grad_y, grad_residual_out, residual_out, weight, rstd, offset, *, grad_mask=[True, True])",
        .doc =
            "Gradients of add_rms_norm, that of x and residual through both results. Sums over rows run in a fixed order.\n"
            "\n"
            "Records no gradient, and is not seen by torch.compile: add_rms_norm_backward of torch.ops does and is."
        ,
        .arguments = add_rms_norm_backward__arguments,
        .count = 7,
        .given = 0,
        .returns = "tt",
        .call = add_rms_norm_backward_direct,
    },
    {
        .name = "layer_norm",
        .op = "my_ops::layer_norm",
        .signature = "(x, weight=None, bias=None, eps=1e-05, *, out=None)",
        .doc =
            "Layer normalisation over the last dimension, scaled by weight and shifted by bias, which may both be left out.\n"
            "\n"
            "Records no gradient, and is not seen by torch.compile: layer_norm of torch.ops does and is."
        ,
        .arguments = layer_norm__arguments,
        .count = 4,
        .given = 1,
        .returns = "t",
        .call = layer_norm_direct,
        .call_given = layer_norm__out_direct,
    },
    {
        .name = "layer_norm_backward",
        .op = "my_ops::layer_norm_backward",
        .signature = "(grad_y, x, weight, bias, mean, rstd, *, grad_mask=[True, True, True])",
        .doc =
            "Gradients of layer_norm. Sums over rows run in a fixed order.\n"
            "\n"
            "Records no gradient, and is not seen by torch.compile: layer_norm_backward of torch.ops does and is."
        ,
        .arguments = layer_norm_backward__arguments,
        .count = 7,
        .given = 0,
        .returns = "ttt",
        .call = layer_norm_backward_direct,
    },
    {
        .name = "softmax",
        .op = "my_ops::softmax",
        .signature = "(x, bias=None, scale=1.0, causal=False, *, out=None)",
        .doc =
            "Softmax of scale * x + bias over the last dimension. With `causal`, column j of row i of an m x n matrix is left out where j > i + n - m. Rows in which nothing is left, or everything is -infinity, are zeros.\n"
            "\n"
            "Records no gradient, and is not seen by torch.compile: softmax of torch.ops does and is."
        ,
        .arguments = softmax__arguments,
        .count = 4,
        .given = 1,
        .returns = "t",
        .call = softmax_direct,
        .call_given = softmax__out_direct,
    },
    {
        .name = "softmax_backward",
        .op = "my_ops::softmax_backward",
        .signature = "(grad_y, y, scale, causal, *, grad_mask=[True, True])",
        .doc =
            "Gradients of softmax, out of its result. Columns that `causal` leaves out get zeros.\n"
            "\n"
            "Records no gradient, and is not seen by torch.compile: softmax_backward of torch.ops does and is."
        ,
        .arguments = softmax_backward__arguments,
        .count = 5,
        .given = 0,
        .returns = "tt",
        .call = softmax_backward_direct,
    },
    {
        .name = "softmax_triton",
        .op = "my_ops::softmax_triton",
        .signature = "(x, *, out=None)",
        .doc =
            "Softmax over the last dimension, whose kernel for GPUs is written in Triton and compiled with the library.\n"
            "\n"
            "Records no gradient, and is not seen by torch.compile: softmax_triton of torch.ops does and is."
        ,
        .arguments = softmax_triton__arguments,
        .count = 1,
        .given = 1,
        .returns = "t",
        .call = softmax_triton_direct,
        .call_given = softmax_triton__out_direct,
    },
    {
        .name = "softmax_triton_backward",
        .op = "my_ops::softmax_triton_backward",
        .signature = "(grad_y, y, *, out=None)",
        .doc =
            "Gradient of softmax_triton, out of its result.\n"
            "\n"
            "Records no gradient, and is not seen by torch.compile: softmax_triton_backward of torch.ops does and is."
        ,
        .arguments = softmax_triton_backward__arguments,
        .count = 2,
        .given = 1,
        .returns = "t",
        .call = softmax_triton_backward_direct,
        .call_given = softmax_triton_backward__out_direct,
    },
    {
        .name = "cross_entropy",
        .op = "my_ops::cross_entropy",
        .signature = "(logits, target, ignore_index=-100, label_smoothing=0.0, z_loss=0.0, *, out=None)",
        .doc =
            "Cross entropy of the softmax of each row of logits against its target, one loss for each row, plus z_loss times the square of the row's log-sum-exp. Rows whose target is ignore_index have loss and gradient 0. On a GPU a target that is out of range makes both of its row NaN.\n"
            "\n"
            "Records no gradient, and is not seen by torch.compile: cross_entropy of torch.ops does and is."
        ,
        .arguments = cross_entropy__arguments,
        .count = 5,
        .given = 1,
        .returns = "t",
        .call = cross_entropy_direct,
        .call_given = cross_entropy__out_direct,
    },
    {
        .name = "cross_entropy_backward",
        .op = "my_ops::cross_entropy_backward",
        .signature = "(grad_loss, logits, target, lse, ignore_index, label_smoothing, z_loss, *, out=None)",
        .doc =
            "Gradient of cross_entropy, out of the logits and the log-sum-exp of each row.\n"
            "\n"
            "Records no gradient, and is not seen by torch.compile: cross_entropy_backward of torch.ops does and is."
        ,
        .arguments = cross_entropy_backward__arguments,
        .count = 7,
        .given = 1,
        .returns = "t",
        .call = cross_entropy_backward_direct,
        .call_given = cross_entropy_backward__out_direct,
    },
    {
        .name = "cross_entropy_gradient_",
        .op = "my_ops::cross_entropy_gradient_",
        .signature = "(logits, target, grad_loss=None, ignore_index=-100, label_smoothing=0.0, z_loss=0.0)",
        .doc =
            "The loss of cross_entropy, and its gradient in place of the logits, times grad_loss, which is 1 when it is left out: one read and one write for both.\n"
            "\n"
            "Records no gradient, and is not seen by torch.compile: cross_entropy_gradient_ of torch.ops does and is."
        ,
        .arguments = cross_entropy_gradient___arguments,
        .count = 6,
        .given = 0,
        .returns = "t",
        .call = cross_entropy_gradient__direct,
    },
    {
        .name = "rope",
        .op = "my_ops::rope",
        .signature = "(q, k, cos, sin, interleaved=False, *, q_out=None, k_out=None)",
        .doc =
            "Rotary position embedding. Turns each pair of columns (x1, x2) of the heads of q and k into (x1 * cos - x2 * sin, x2 * cos + x1 * sin). Pair j is columns j and j + r, or 2 * j and 2 * j + 1 where interleaved; columns from 2 * r on stay as they are. q and k may be views into one packed tensor.\n"
            "\n"
            "Records no gradient, and is not seen by torch.compile: rope of torch.ops does and is."
        ,
        .arguments = rope__arguments,
        .count = 5,
        .given = 2,
        .returns = "tt",
        .call = rope_direct,
        .call_given = rope__out_direct,
    },
    {
        .name = "rope_",
        .op = "my_ops::rope",
        .signature = "(q, k, cos, sin, interleaved=False)",
        .doc =
            "Rotary position embedding. Turns each pair of columns (x1, x2) of the heads of q and k into (x1 * cos - x2 * sin, x2 * cos + x1 * sin). Pair j is columns j and j + r, or 2 * j and 2 * j + 1 where interleaved; columns from 2 * r on stay as they are. q and k may be views into one packed tensor.\n"
            "\n"
            "Records no gradient, and is not seen by torch.compile: rope of torch.ops does and is."
        ,
        .arguments = rope___arguments,
        .count = 5,
        .given = 0,
        .returns = "",
        .call = rope__inplace_direct,
    },
    {
        .name = "rope_backward",
        .op = "my_ops::rope_backward",
        .signature = "(grad_q_out, grad_k_out, cos, sin, interleaved, *, grad_mask=[True, True])",
        .doc =
            "Gradients of rope, which turns them back.\n"
            "\n"
            "Records no gradient, and is not seen by torch.compile: rope_backward of torch.ops does and is."
        ,
        .arguments = rope_backward__arguments,
        .count = 6,
        .given = 0,
        .returns = "tt",
        .call = rope_backward_direct,
    },
    {
        .name = "silu_mul",
        .op = "my_ops::silu_mul",
        .signature = "(gate, up, *, out=None)",
        .doc =
            "silu(gate) * up, the gated activation of SwiGLU.\n"
            "\n"
            "Records no gradient, and is not seen by torch.compile: silu_mul of torch.ops does and is."
        ,
        .arguments = silu_mul__arguments,
        .count = 2,
        .given = 1,
        .returns = "t",
        .call = silu_mul_direct,
        .call_given = silu_mul__out_direct,
    },
    {
        .name = "silu_mul_backward",
        .op = "my_ops::silu_mul_backward",
        .signature = "(grad_y, gate, up, *, grad_mask=[True, True])",
        .doc =
            "Gradient of silu_mul, derived from its lines.\n"
            "\n"
            "Records no gradient, and is not seen by torch.compile: silu_mul_backward of torch.ops does and is."
        ,
        .arguments = silu_mul_backward__arguments,
        .count = 4,
        .given = 0,
        .returns = "tt",
        .call = silu_mul_backward_direct,
    },
    {
        .name = "silu_mul_backward_backward",
        .op = "my_ops::silu_mul_backward_backward",
        .signature = "(grad_grad_gate, grad_grad_up, grad_y, gate, up, *, grad_mask=[True, True, True])",
        .doc =
            "Gradient of silu_mul_backward, derived from its lines.\n"
            "\n"
            "Records no gradient, and is not seen by torch.compile: silu_mul_backward_backward of torch.ops does and is."
        ,
        .arguments = silu_mul_backward_backward__arguments,
        .count = 6,
        .given = 0,
        .returns = "ttt",
        .call = silu_mul_backward_backward_direct,
    },
    {
        .name = "gelu_mul",
        .op = "my_ops::gelu_mul",
        .signature = "(gate, up, approximate='none', *, out=None)",
        .doc =
            "gelu(gate) * up, the gated activation of GEGLU, with the error function or its approximation by tanh.\n"
            "\n"
            "Records no gradient, and is not seen by torch.compile: gelu_mul of torch.ops does and is."
        ,
        .arguments = gelu_mul__arguments,
        .count = 3,
        .given = 1,
        .returns = "t",
        .call = gelu_mul_direct,
        .call_given = gelu_mul__out_direct,
    },
    {
        .name = "gelu_mul_backward",
        .op = "my_ops::gelu_mul_backward",
        .signature = "(grad_y, gate, up, approximate, *, grad_mask=[True, True])",
        .doc =
            "Gradient of gelu_mul, derived from its lines.\n"
            "\n"
            "Records no gradient, and is not seen by torch.compile: gelu_mul_backward of torch.ops does and is."
        ,
        .arguments = gelu_mul_backward__arguments,
        .count = 5,
        .given = 0,
        .returns = "tt",
        .call = gelu_mul_backward_direct,
    },
    {
        .name = "gelu_mul_backward_backward",
        .op = "my_ops::gelu_mul_backward_backward",
        .signature = "(grad_grad_gate, grad_grad_up, grad_y, gate, up, approximate, *, grad_mask=[True, True, True])",
        .doc =
            "Gradient of gelu_mul_backward, derived from its lines.\n"
            "\n"
            "Records no gradient, and is not seen by torch.compile: gelu_mul_backward_backward of torch.ops does and is."
        ,
        .arguments = gelu_mul_backward_backward__arguments,
        .count = 7,
        .given = 0,
        .returns = "ttt",
        .call = gelu_mul_backward_backward_direct,
    },
    {
        .name = "quantize_per_token",
        .op = "my_ops::quantize_per_token",
        .signature = "(x, *, dtype='int8', q=None, scale=None)",
        .doc =
            "Each row of x in int8 or float8_e4m3fn, by a scale of its own: scale is max(abs(x)) / L with L = 127 or 448, and q is x * (L / max(abs(x))), rounded, all in float32. q * scale is x again, nearly.\n"
            "\n"
            "Records no gradient, and is not seen by torch.compile: quantize_per_token of torch.ops does and is."
        ,
        .arguments = quantize_per_token__arguments,
        .count = 2,
        .given = 2,
        .returns = "tt",
        .call = quantize_per_token_direct,
        .call_given = quantize_per_token__out_direct,
    },
    {
        .name = "rms_norm_quantize",
        .op = "my_ops::rms_norm_quantize",
        .signature = "(x, weight=None, eps=1e-06, offset=0.0, *, dtype='int8', q=None, scale=None)",
        .doc =
            "rms_norm of x, each row in int8 or float8_e4m3fn by a scale of its own, as in quantize_per_token; what is normalised is not rounded in between.\n"
            "\n"
            "Records no gradient, and is not seen by torch.compile: rms_norm_quantize of torch.ops does and is."
        ,
        .arguments = rms_norm_quantize__arguments,
        .count = 5,
        .given = 2,
        .returns = "tt",
        .call = rms_norm_quantize_direct,
        .call_given = rms_norm_quantize__out_direct,
    },
    {
        .name = "gather_rows",
        .op = "my_ops::gather_rows",
        .signature = "(table, index, *, out=None)",
        .doc =
            "Rows of table picked by index.\n"
            "\n"
            "Records no gradient, and is not seen by torch.compile: gather_rows of torch.ops does and is."
        ,
        .arguments = gather_rows__arguments,
        .count = 2,
        .given = 1,
        .returns = "t",
        .call = gather_rows_direct,
        .call_given = gather_rows__out_direct,
    },
    {
        .name = "adamw_step",
        .op = "my_ops::adamw_step",
        .signature = "(params, grads, exp_avgs, exp_avg_sqs, step, grad_scale=None, *, lr=0.001, betas=[0.9, 0.999], eps=1e-08, weight_decay=0.01, maximize=False)",
        .doc =
            "One step of AdamW, with decoupled weight decay, for all parameters at once and in place: what torch.optim.AdamW does, step being 1 at the first one. exp_avgs and exp_avg_sqs, which begin as zeros, are of the dtype of the parameters or float32. Gradients are multiplied by grad_scale, such as a factor that clips their norm.\n"
            "\n"
            "Records no gradient, and is not seen by torch.compile: adamw_step of torch.ops does and is."
        ,
        .arguments = adamw_step__arguments,
        .count = 11,
        .given = 0,
        .returns = "",
        .call = adamw_step_direct,
    },
    {
        .name = "global_norm",
        .op = "my_ops::global_norm",
        .signature = "(xs, *, out=None)",
        .doc =
            "The norm of all elements of a list of tensors together, the square root of the sum of their squares, as gradients are clipped by. Parts are summed and added in a fixed order.\n"
            "\n"
            "Records no gradient, and is not seen by torch.compile: global_norm of torch.ops does and is."
        ,
        .arguments = global_norm__arguments,
        .count = 1,
        .given = 1,
        .returns = "t",
        .call = global_norm_direct,
        .call_given = global_norm__out_direct,
    },
};

/* The name that this file exports, for the direct module to look up. */
__attribute__((visibility("default"))) const direct_library *my_ops_direct_library(void);

const direct_library *my_ops_direct_library(void) {
    static const direct_library library = {DIRECT_VERSION, 30, functions};
    return &library;
}
