// The order of kernels on a stream: programmatic dependent launch. From compute capability 9.0 on, the runtime lets a
// kernel of few blocks begin while the one before it ends: its blocks come up, and wait here until all that was on the
// stream is done and visible. csrc/runtime/cuda_launch.c asks each kernel for which capability it was compiled before
// it does so, and tells the kernel that it did: launch_dependents is not free. In each of 65,536 blocks of 32 threads,
// of which none could begin early, it took a fifth of the time (79.6 us instead of 65.1, H200).
#pragma once

// The first thing that every thread of a kernel does; nothing is read from memory or written to it before.
__device__ __forceinline__ void wait_for_earlier_kernels(bool early) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    if (early) {
        asm volatile("griddepcontrol.wait;" ::: "memory");
        // The next kernel's blocks may come up as soon as there is room for them.
        asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    }
#else
    (void)early;
#endif
}
