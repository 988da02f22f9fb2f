// Operators of my_ops in a program without Python: they are registered when the library is loaded, before main.
#include <ATen/TensorOperators.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/rsqrt.h>

#include <cstdlib>
#include <iostream>
#include <optional>

int main() {
    const auto rms_norm = c10::Dispatcher::singleton()
                              .findSchemaOrThrow("my_ops::rms_norm", "")
                              .typed<at::Tensor(const at::Tensor &, const std::optional<at::Tensor> &, double, double)>();
    const at::Tensor x = at::randn({8, 4096}), weight = at::ones({4096});
    const at::Tensor y = rms_norm.call(x, weight, 1e-6, 0.0);
    const at::Tensor expected = x * at::rsqrt((x * x).mean(-1, true) + 1e-6);
    const bool right = at::allclose(y, expected, 1e-5, 1e-6);
    std::cout << rms_norm.schema() << (right ? "\nright\n" : "\nwrong\n");
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
