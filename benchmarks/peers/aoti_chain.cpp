// Times packages of AOTInductor from C++: library, device, calls in a repeat, repeats, then the packages. Prints a line
// of seconds per call for each repeat, one number for each package; every second repeat runs them backwards.
#include <ATen/ops/randn.h>
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>

#include <chrono>
#include <cstdlib>
#include <dlfcn.h>
#include <iostream>
#include <memory>
#include <vector>

static double seconds(torch::inductor::AOTIModelPackageLoader &model, const at::Tensor &x, int calls) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; i++) {
        model.run({x});
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / calls;
}

int main(int count, char **arguments) {
    if (count < 6 || dlopen(arguments[1], RTLD_NOW) == nullptr) {
        std::cerr << (count < 6 ? "arguments are missing" : dlerror()) << '\n';
        return EXIT_FAILURE;
    }
    const int calls = std::atoi(arguments[3]), repeats = std::atoi(arguments[4]);
    const at::Tensor x = at::randn({4, 16}, at::TensorOptions().device(arguments[2]));
    std::vector<std::unique_ptr<torch::inductor::AOTIModelPackageLoader>> models;
    for (int i = 5; i < count; i++) {
        models.push_back(std::make_unique<torch::inductor::AOTIModelPackageLoader>(arguments[i]));
        seconds(*models.back(), x, calls);
    }
    for (int repeat = 0; repeat < repeats; repeat++) {
        std::vector<double> found(models.size());
        for (std::size_t k = 0; k < models.size(); k++) {
            const std::size_t i = repeat % 2 == 0 ? k : models.size() - 1 - k;
            found[i] = seconds(*models[i], x, calls);
        }
        for (const double one : found) {
            std::cout << one << ' ';
        }
        std::cout << '\n';
    }
    return EXIT_SUCCESS;
}
