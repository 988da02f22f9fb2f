// The operator of rms_norm.h twice: as TORCH_LIBRARY operators, and as plain functions of a pybind11 module.
#include "rms_norm.h"

TORCH_LIBRARY(my_ops_peer, m) {
    m.def("rms_norm(Tensor x, Tensor? weight=None, float eps=1e-06, float offset=0.0) -> Tensor");
    // This one gets register_autograd in Python.
    m.def("rms_norm_trained(Tensor x, Tensor? weight=None, float eps=1e-06, float offset=0.0) -> Tensor");
    m.def("rms_norm_backward(Tensor grad_y, Tensor x, Tensor weight, float eps) -> (Tensor, Tensor)");
}

TORCH_LIBRARY_IMPL(my_ops_peer, CPU, m) {
    m.impl("rms_norm", peer::rms_norm_scaled);
    m.impl("rms_norm_trained", peer::rms_norm_scaled);
    m.impl("rms_norm_backward", peer::rms_norm_backward);
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("rms_norm", &peer::rms_norm);
    m.def("rms_norm_backward", &peer::rms_norm_backward);
}
