#include "switched.cuh"

__device__ inline int switched_length(const char *text) {
    int length = 0;
    while (text != nullptr && text[length] != '\0') {
        length++;
    }
    return length;
}

// What the parameters say must be what the arguments say: anything else shows in the result.
template <typename T, int WIDTH, bool CAUSAL, int MODE, int K, int TWICE, bool EVEN>
__device__ void switched(const switched_args<T> &a) {
    static_assert(TWICE == 2 * WIDTH && EVEN == (MODE == switched_mode_double), "constants that follow from switches");
    float added = switched_length(a.label) + (a.note_given ? switched_length(a.note) : -1);
    for (int64_t i = 0; i < a.shifts_count; i++) {
        added += a.shifts[i];
    }
    for (int64_t i = 0; i < a.fs_count; i++) {
        added += a.fs[i];
    }
    added += (a.fs_given ? 1 : 0) + 100 * K + (a.causal ? 1000 : 0) + (MODE == switched_mode_double ? 5000 : 0);
    const bool right = CAUSAL == (K > 0 ? a.causal : a.n % 2 == 0);
    for (int64_t j = threadIdx.x; j < a.n; j += blockDim.x) {
        const int64_t i = blockIdx.x * a.n + j;
        a.y[i] = right ? a.x[i] * WIDTH + added : -1;
    }
}
