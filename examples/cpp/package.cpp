// Runs a package of AOTInductor with operators of my_ops in a program without Python. compile.py makes the package:
//   package model.pt2 [cuda]
#include <ATen/TensorOperators.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/linspace.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/sigmoid.h>
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>

#include <cstdlib>
#include <iostream>

int main(int count, char **arguments) {
    if (count < 2) {
        std::cerr << "usage: package model.pt2 [cuda]\n";
        return EXIT_FAILURE;
    }
    const auto options = at::TensorOptions().device(count > 2 ? arguments[2] : "cpu");
    torch::inductor::AOTIModelPackageLoader model(arguments[1]);
    const at::Tensor x = at::randn({5, 256}, options), weight = at::linspace(0.5, 1.5, 256, options);
    const at::Tensor y = model.run({x}).at(0);
    const at::Tensor norm = x * at::rsqrt((x * x).mean(-1, true) + 1e-6) * weight;
    const bool right = at::allclose(y, norm * at::sigmoid(norm) * 2 * x, 1e-4, 1e-5);
    std::cout << (right ? "right\n" : "wrong\n");
    try {
        model.run({x.narrow(1, 0, 255)}); // the weight has 256 elements
    } catch (const std::exception &error) {
        std::cout << error.what() << '\n';
    }
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
