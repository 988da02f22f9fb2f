# What the build compiles for each operator of my_ops.
set(OPS_NAMESPACE my_ops)
set(OPS_OPERATORS square square_backward rms_norm rms_norm_backward add_rms_norm add_rms_norm_backward layer_norm layer_norm_backward softmax softmax_backward softmax_triton softmax_triton_backward cross_entropy cross_entropy_backward cross_entropy_gradient_ rope rope_backward silu_mul silu_mul_backward silu_mul_backward_backward gelu_mul gelu_mul_backward gelu_mul_backward_backward quantize_per_token rms_norm_quantize gather_rows adamw_step global_norm)

cpu_unit(square "square"
    "T=float64"
    "T=float32"
    "T=float16"
    "T=bfloat16"
)
cuda_unit(square)

cpu_unit(square_backward "square_backward"
    "T=float64"
    "T=float32"
    "T=float16"
    "T=bfloat16"
)
cuda_unit(square_backward)

cpu_unit(rms_norm "rms_norm"
    "T=float64"
    "T=float32"
    "T=float16"
    "T=bfloat16"
)
cuda_unit(rms_norm)

cpu_unit(rms_norm_backward "rms_norm_backward_rows rms_norm_backward_columns"
    "T=float64"
    "T=float32"
    "T=float16"
    "T=bfloat16"
)
cuda_unit(rms_norm_backward)

cpu_unit(add_rms_norm "add_rms_norm"
    "T=float64"
    "T=float32"
    "T=float16"
    "T=bfloat16"
)
cuda_unit(add_rms_norm)

cpu_unit(add_rms_norm_backward "add_rms_norm_backward_rows add_rms_norm_backward_columns"
    "T=float64"
    "T=float32"
    "T=float16"
    "T=bfloat16"
)
cuda_unit(add_rms_norm_backward)

cpu_unit(layer_norm "layer_norm"
    "T=float64"
    "T=float32"
    "T=float16"
    "T=bfloat16"
)
cuda_unit(layer_norm)

cpu_unit(layer_norm_backward "layer_norm_backward_rows layer_norm_backward_columns"
    "T=float64"
    "T=float32"
    "T=float16"
    "T=bfloat16"
)
cuda_unit(layer_norm_backward)

cpu_unit(softmax "softmax"
    "T=float64"
    "T=float32"
    "T=float16"
    "T=bfloat16"
)
cuda_unit(softmax)

cpu_unit(softmax_backward "softmax_backward"
    "T=float64"
    "T=float32"
    "T=float16"
    "T=bfloat16"
)
cuda_unit(softmax_backward)

cpu_unit(softmax_triton "softmax_triton"
    "T=float32"
    "T=float16"
    "T=bfloat16"
)
triton_unit(softmax_triton)

cpu_unit(softmax_triton_backward "softmax_triton_backward"
    "T=float32"
    "T=float16"
    "T=bfloat16"
)
triton_unit(softmax_triton_backward)

cpu_unit(cross_entropy "cross_entropy"
    "T=float64"
    "T=float32"
    "T=float16"
    "T=bfloat16"
)
cuda_unit(cross_entropy)

cpu_unit(cross_entropy_backward "cross_entropy_backward"
    "T=float64"
    "T=float32"
    "T=float16"
    "T=bfloat16"
)
cuda_unit(cross_entropy_backward)

cpu_unit(cross_entropy_gradient_ "cross_entropy_gradient_"
    "T=float64"
    "T=float32"
    "T=float16"
    "T=bfloat16"
)
cuda_unit(cross_entropy_gradient_)

cpu_unit(rope "rope"
    "T=float64 C=float64"
    "T=float64 C=float32"
    "T=float32 C=float32"
    "T=float16 C=float32"
    "T=float16 C=float16"
    "T=bfloat16 C=float32"
    "T=bfloat16 C=bfloat16"
)
cuda_unit(rope)

cpu_unit(rope_backward "rope_backward"
    "T=float64 C=float64"
    "T=float64 C=float32"
    "T=float32 C=float32"
    "T=float16 C=float32"
    "T=float16 C=float16"
    "T=bfloat16 C=float32"
    "T=bfloat16 C=bfloat16"
)
cuda_unit(rope_backward)

cpu_unit(silu_mul "silu_mul"
    "T=float64"
    "T=float32"
    "T=float16"
    "T=bfloat16"
)
cuda_unit(silu_mul)

cpu_unit(silu_mul_backward "silu_mul_backward"
    "T=float64"
    "T=float32"
    "T=float16"
    "T=bfloat16"
)
cuda_unit(silu_mul_backward)

cpu_unit(silu_mul_backward_backward "silu_mul_backward_backward"
    "T=float64"
    "T=float32"
    "T=float16"
    "T=bfloat16"
)
cuda_unit(silu_mul_backward_backward)

cpu_unit(gelu_mul "gelu_mul"
    "T=float64"
    "T=float32"
    "T=float16"
    "T=bfloat16"
)
cuda_unit(gelu_mul)

cpu_unit(gelu_mul_backward "gelu_mul_backward"
    "T=float64"
    "T=float32"
    "T=float16"
    "T=bfloat16"
)
cuda_unit(gelu_mul_backward)

cpu_unit(gelu_mul_backward_backward "gelu_mul_backward_backward"
    "T=float64"
    "T=float32"
    "T=float16"
    "T=bfloat16"
)
cuda_unit(gelu_mul_backward_backward)

cpu_unit(quantize_per_token "quantize_per_token"
    "T=float32 Q=int8"
    "T=float32 Q=float8_e4m3fn"
    "T=float16 Q=int8"
    "T=float16 Q=float8_e4m3fn"
    "T=bfloat16 Q=int8"
    "T=bfloat16 Q=float8_e4m3fn"
)
cuda_unit(quantize_per_token)

cpu_unit(rms_norm_quantize "rms_norm_quantize"
    "T=float32 Q=int8"
    "T=float32 Q=float8_e4m3fn"
    "T=float16 Q=int8"
    "T=float16 Q=float8_e4m3fn"
    "T=bfloat16 Q=int8"
    "T=bfloat16 Q=float8_e4m3fn"
)
cuda_unit(rms_norm_quantize)

cpu_unit(gather_rows "gather_rows"
    "T=float64 I=int32"
    "T=float64 I=int64"
    "T=float32 I=int32"
    "T=float32 I=int64"
    "T=float16 I=int32"
    "T=float16 I=int64"
    "T=bfloat16 I=int32"
    "T=bfloat16 I=int64"
    "T=uint8 I=int32"
    "T=uint8 I=int64"
    "T=int8 I=int32"
    "T=int8 I=int64"
    "T=int16 I=int32"
    "T=int16 I=int64"
    "T=int32 I=int32"
    "T=int32 I=int64"
    "T=int64 I=int32"
    "T=int64 I=int64"
    "T=bool I=int32"
    "T=bool I=int64"
    "T=complex64 I=int32"
    "T=complex64 I=int64"
    "T=complex128 I=int32"
    "T=complex128 I=int64"
)
cuda_unit(gather_rows)

cpu_unit(adamw_step "adamw_step"
    "T=float64 S=float64"
    "T=float64 S=float32"
    "T=float32 S=float32"
    "T=float16 S=float32"
    "T=float16 S=float16"
    "T=bfloat16 S=float32"
    "T=bfloat16 S=bfloat16"
)
cuda_unit(adamw_step)

cpu_unit(global_norm "global_norm_parts global_norm_total"
    "T=float64"
    "T=float32"
    "T=float16"
    "T=bfloat16"
)
cuda_unit(global_norm)
