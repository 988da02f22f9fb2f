/* my_ops::adamw_step(Tensor(a!)[] params, Tensor[] grads, Tensor(b!)[] exp_avgs, Tensor(c!)[] exp_avg_sqs, SymInt step, Tensor? grad_scale=None, *, float lr=0.001, float[2] betas=[0.9, 0.999], float eps=1e-08, float weight_decay=0.01, bool maximize=False) -> ()
 *
 * What the host function hands to the kernels of adamw_step.
 * Host C, CPU unit and CUDA unit read this one record, so that they cannot disagree. Tensors are contiguous but for
 * those whose strides stand here too; strides are in elements. Pointers are null for what is absent. Kernels own
 * nothing of it. */
#ifndef MY_OPS_ADAMW_STEP_CALL_H
#define MY_OPS_ADAMW_STEP_CALL_H

#include <stdbool.h>
#include <stdint.h>

typedef struct adamw_step_call {
    void **params; /* T[*s][]! */
    int64_t params_count;
    void **grads; /* T[*s][] */
    int64_t grads_count;
    void **exp_avgs; /* S[*s][]! */
    int64_t exp_avgs_count;
    void **exp_avg_sqs; /* S[*s][]! */
    int64_t exp_avg_sqs_count;
    const void *grad_scale; /* acc(T)[]?, null when absent */
    int64_t *s; /* of each of params */
    int64_t total;
    int64_t step;
    double lr;
    const double *betas;
    double betas_values[64];
    int64_t betas_count;
    double eps;
    double weight_decay;
    bool maximize;
} adamw_step_call;

#endif
