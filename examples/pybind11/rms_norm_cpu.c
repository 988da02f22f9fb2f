/* csrc/rms_norm.c for float32, by the unit that the library compiles too. */
#define T_DTYPE float32
#define CPU_SYMBOL(kernel) kernel##__float32
#include "rms_norm.cpu.c"
