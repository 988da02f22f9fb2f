/* The float8 dtypes: one byte each, computed in float32. They pass through load and store only.
 *
 * Stores round to nearest even. What is too large becomes infinity where the format has one, else NaN, as casts in CUDA
 * do without saturation; PyTorch's own cast to e4m3fn saturates in some versions. A body that wants that clamps first.
 * The formats differ in the bits of the fraction, the bias of the exponent, and the codes of what is no number.
 */
#ifndef CSRC_CPU_FLOAT8_H
#define CSRC_CPU_FLOAT8_H

#include <stdint.h>
#include <string.h>

static inline float cpu_float8_of_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
static inline uint32_t cpu_float8_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* A code without its sign: exponent and fraction where float32 has them are too small by a power of two, denormals
 * included. */
static inline float cpu_float8_decode(uint32_t code, int fraction, int bias) {
    return cpu_float8_of_bits(code << (23 - fraction)) * cpu_float8_of_bits((uint32_t)(127 + 127 - bias) << 23);
}

/* The code of a number that is not negative and no NaN; it may be larger than any that the format has. */
static inline uint32_t cpu_float8_encode(uint32_t magnitude, int fraction, int bias) {
    const int dropped = 23 - fraction;
    const uint32_t smallest = (uint32_t)(127 + 1 - bias) << 23; /* the smallest normal number */
    if (magnitude < smallest) {
        /* Of a sum with this number the last bit is worth what the last bit of a denormal is; adding it rounds. */
        const uint32_t magic = smallest + ((uint32_t)dropped << 23);
        return cpu_float8_bits(cpu_float8_of_bits(magnitude) + cpu_float8_of_bits(magic)) - magic;
    }
    const uint32_t rounded = magnitude + ((1u << (dropped - 1)) - 1u) + ((magnitude >> dropped) & 1u);
    return (rounded >> dropped) - ((uint32_t)(127 - bias) << fraction);
}

#define CPU_FLOAT8(dtype, fraction, bias, is_nan, is_infinity, too_large, nan_code, minus_zero)                        \
    typedef struct {                                                                                                   \
        uint8_t bits;                                                                                                  \
    } cpu_##dtype##_t;                                                                                                 \
    typedef float cpu_##dtype##_acc_t;                                                                                 \
    static inline float cpu_load_##dtype(const cpu_##dtype##_t *p) {                                                   \
        const uint32_t bits = p->bits, code = bits & 0x7fu;                                                            \
        float value = cpu_float8_decode(code, fraction, bias);                                                         \
        value = (is_infinity) ? cpu_float8_of_bits(0x7f800000u) : value;                                               \
        value = (is_nan) ? cpu_float8_of_bits(0x7fc00000u) : value;                                                    \
        return (bits & 0x80u) != 0 ? -value : value;                                                                   \
    }                                                                                                                  \
    static inline void cpu_store_##dtype(cpu_##dtype##_t *p, float value) {                                            \
        const uint32_t bits = cpu_float8_bits(value), sign = bits >> 24 & 0x80u, magnitude = bits & 0x7fffffffu;       \
        const uint32_t code = cpu_float8_encode(magnitude, fraction, bias);                                            \
        const uint32_t kept = code >= (too_large) ? (too_large) : code;                                                \
        const uint32_t with_sign = kept == 0 && !(minus_zero) ? 0 : kept > 0x7fu ? kept : kept | sign;                 \
        p->bits = (uint8_t)(magnitude > 0x7f800000u ? (nan_code) : with_sign);                                         \
    }

CPU_FLOAT8(float8_e4m3fn, 3, 7, code == 0x7f, 0, 0x7fu, 0x7fu | sign, 1)
CPU_FLOAT8(float8_e5m2, 2, 15, code > 0x7c, code == 0x7c, 0x7cu, 0x7fu | sign, 1)
CPU_FLOAT8(float8_e4m3fnuz, 3, 8, bits == 0x80, 0, 0x80u, 0x80u, 0)
CPU_FLOAT8(float8_e5m2fnuz, 2, 16, bits == 0x80, 0, 0x80u, 0x80u, 0)

/* Powers of two, for scales: an exponent and nothing else. What is between two of them rounds to the nearer one, half
 * way up. */
typedef struct {
    uint8_t bits;
} cpu_float8_e8m0fnu_t;
typedef float cpu_float8_e8m0fnu_acc_t;
static inline float cpu_load_float8_e8m0fnu(const cpu_float8_e8m0fnu_t *p) {
    if (p->bits == 0xff) {
        return cpu_float8_of_bits(0x7fc00000u);
    }
    return cpu_float8_of_bits(p->bits == 0 ? 0x400000u : (uint32_t)p->bits << 23);
}
static inline void cpu_store_float8_e8m0fnu(cpu_float8_e8m0fnu_t *p, float value) {
    const uint32_t magnitude = cpu_float8_bits(value) & 0x7fffffffu, exponent = magnitude >> 23;
    /* A denormal has no leading one: its half way stays below. */
    const uint32_t up = (magnitude & 0x7fffffu) > (exponent > 0 ? 0x3fffffu : 0x400000u);
    p->bits = (uint8_t)(exponent == 0xff ? 0xff : exponent + up);
}

#endif
