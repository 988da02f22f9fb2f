// my_ops::adamw_step(Tensor(a!)[] params, Tensor[] grads, Tensor(b!)[] exp_avgs, Tensor(c!)[] exp_avg_sqs, SymInt step, Tensor? grad_scale=None, *, float lr=0.001, float[2] betas=[0.9, 0.999], float eps=1e-08, float weight_decay=0.01, bool maximize=False) -> ()
//
// What the device functions of adamw_step see.
// These are the fields of the call record under the types of one choice of dtypes.
#pragma once

#include "dtype.cuh"
#include "adamw_step_call.h"

template <typename T, typename S>
struct adamw_step_args {
    T *const *params;
    int64_t params_count;
    const T *const *grads;
    int64_t grads_count;
    S *const *exp_avgs;
    int64_t exp_avgs_count;
    S *const *exp_avg_sqs;
    int64_t exp_avg_sqs_count;
    const acc_t<T> *grad_scale;
    const int64_t *s;
    int64_t total;
    int64_t step;
    acc_t<T> lr;
    const double *betas;
    int64_t betas_count;
    acc_t<T> eps;
    acc_t<T> weight_decay;
    bool maximize;

    __device__ explicit adamw_step_args(const adamw_step_call &call)
        : params(reinterpret_cast<T *const *>(call.params))
        , params_count(call.params_count)
        , grads(reinterpret_cast<const T *const *>(call.grads))
        , grads_count(call.grads_count)
        , exp_avgs(reinterpret_cast<S *const *>(call.exp_avgs))
        , exp_avgs_count(call.exp_avgs_count)
        , exp_avg_sqs(reinterpret_cast<S *const *>(call.exp_avg_sqs))
        , exp_avg_sqs_count(call.exp_avg_sqs_count)
        , grad_scale(static_cast<const acc_t<T> *>(call.grad_scale))
        , s(call.s)
        , total(call.total)
        , step(call.step)
        , lr(static_cast<acc_t<T>>(call.lr))
        , betas(call.betas_values)
        , betas_count(call.betas_count)
        , eps(static_cast<acc_t<T>>(call.eps))
        , weight_decay(static_cast<acc_t<T>>(call.weight_decay))
        , maximize(call.maximize)
    {}
};
