// RMSNorm as one would write it in C++ against PyTorch: the operator that the C++ peers share. The checks are those of
// my_ops::rms_norm. Backward computes the reciprocal root again instead of saving it, which allocates one tensor less.
#pragma once
#include <ATen/OpMathType.h>
#include <torch/extension.h>

#include <cmath>
#include <optional>
#include <tuple>
#include <vector>

namespace peer {

inline void check(const at::Tensor& x, const at::Tensor& weight, double eps) {
    TORCH_CHECK(x.dim() >= 1, "x: expected at least 1 dimension, got ", x.dim());
    TORCH_CHECK(weight.dim() == 1, "weight: expected 1 dimension, got ", weight.dim());
    TORCH_CHECK(at::isFloatingType(x.scalar_type()), "x: expected a floating dtype, got ", x.scalar_type());
    TORCH_CHECK(weight.scalar_type() == x.scalar_type(), "weight: expected dtype ", x.scalar_type());
    TORCH_CHECK(weight.device() == x.device(), "weight: expected device ", x.device());
    TORCH_CHECK(weight.size(0) == x.size(-1), "weight: expected shape [", x.size(-1), "], got [", weight.size(0), "]");
    TORCH_CHECK(x.size(-1) > 0, "expected n > 0");
    TORCH_CHECK(eps >= 0, "expected eps >= 0, got eps = ", eps);
}

template <typename T>
at::opmath_type<T> reciprocal_root(const T* x, int64_t n, double eps) {
    using A = at::opmath_type<T>;
    A sum = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += static_cast<A>(x[i]) * static_cast<A>(x[i]);
    }
    return A(1) / std::sqrt(sum / static_cast<A>(n) + static_cast<A>(eps));
}

inline at::Tensor rms_norm(const at::Tensor& x_given, const at::Tensor& weight_given, double eps) {
    check(x_given, weight_given, eps);
    const at::Tensor x = x_given.contiguous();
    const at::Tensor weight = weight_given.contiguous();
    at::Tensor y = at::empty(x.sizes(), x.options());
    const int64_t n = x.size(-1);
    const int64_t rows = x.numel() / n;
    AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "rms_norm", [&] {
        using A = at::opmath_type<scalar_t>;
        const scalar_t* from = x.const_data_ptr<scalar_t>();
        const scalar_t* w = weight.const_data_ptr<scalar_t>();
        scalar_t* to = y.mutable_data_ptr<scalar_t>();
        for (int64_t row = 0; row < rows; row++, from += n, to += n) {
            const A rstd = reciprocal_root(from, n, eps);
            for (int64_t i = 0; i < n; i++) {
                to[i] = static_cast<scalar_t>(static_cast<A>(from[i]) * rstd * static_cast<A>(w[i]));
            }
        }
    });
    return y;
}

// The whole signature of my_ops::rms_norm.
inline at::Tensor rms_norm_scaled(const at::Tensor& x, const std::optional<at::Tensor>& weight, double eps,
                                  double offset) {
    if (!weight.has_value()) {
        return rms_norm(x, at::ones({x.size(-1)}, x.options()), eps);
    }
    return rms_norm(x, offset == 0 ? *weight : *weight + offset, eps);
}

inline std::tuple<at::Tensor, at::Tensor> rms_norm_backward(const at::Tensor& grad_given, const at::Tensor& x_given,
                                                            const at::Tensor& weight_given, double eps) {
    check(x_given, weight_given, eps);
    TORCH_CHECK(grad_given.sizes() == x_given.sizes(), "grad_y: expected the shape of x");
    TORCH_CHECK(grad_given.scalar_type() == x_given.scalar_type(), "grad_y: expected dtype ", x_given.scalar_type());
    const at::Tensor grad = grad_given.contiguous();
    const at::Tensor x = x_given.contiguous();
    const at::Tensor weight = weight_given.contiguous();
    at::Tensor grad_x = at::empty(x.sizes(), x.options());
    at::Tensor grad_weight = at::empty(weight.sizes(), weight.options());
    const int64_t n = x.size(-1);
    const int64_t rows = x.numel() / n;
    AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "rms_norm_backward", [&] {
        using A = at::opmath_type<scalar_t>;
        const scalar_t* from = x.const_data_ptr<scalar_t>();
        const scalar_t* up = grad.const_data_ptr<scalar_t>();
        const scalar_t* w = weight.const_data_ptr<scalar_t>();
        scalar_t* to = grad_x.mutable_data_ptr<scalar_t>();
        std::vector<A> sums(n, A(0));
        for (int64_t row = 0; row < rows; row++, from += n, up += n, to += n) {
            const A rstd = reciprocal_root(from, n, eps);
            A dot = 0;
            for (int64_t i = 0; i < n; i++) {
                dot += static_cast<A>(up[i]) * static_cast<A>(w[i]) * static_cast<A>(from[i]);
                sums[i] += static_cast<A>(up[i]) * static_cast<A>(from[i]) * rstd;
            }
            const A scale = dot * rstd * rstd / static_cast<A>(n);
            for (int64_t i = 0; i < n; i++) {
                const A g = static_cast<A>(up[i]) * static_cast<A>(w[i]);
                to[i] = static_cast<scalar_t>(rstd * (g - static_cast<A>(from[i]) * scale));
            }
        }
        scalar_t* total = grad_weight.mutable_data_ptr<scalar_t>();
        for (int64_t i = 0; i < n; i++) {
            total[i] = static_cast<scalar_t>(sums[i]);
        }
    });
    return {grad_x, grad_weight};
}

}  // namespace peer
