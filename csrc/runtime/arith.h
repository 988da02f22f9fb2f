/* The integer operators of the expression language: exact 64-bit numbers, Python's meaning of // and %.
 *
 * A result that does not fit, or a division by zero, sets *overflow and yields 0; the caller looks at the flag before
 * it uses the number. The flag is never cleared here, so one look covers a whole expression. */
#ifndef RUNTIME_ARITH_H
#define RUNTIME_ARITH_H

#include <float.h>
#include <stdbool.h>
#include <stdint.h>

_Static_assert(LDBL_MANT_DIG >= 64, "integers are compared with floats as long double, which must hold them");

static inline int64_t add_i64(bool *overflow, int64_t a, int64_t b) {
    int64_t r;
    if (__builtin_add_overflow(a, b, &r)) {
        *overflow = true;
        return 0;
    }
    return r;
}

static inline int64_t sub_i64(bool *overflow, int64_t a, int64_t b) {
    int64_t r;
    if (__builtin_sub_overflow(a, b, &r)) {
        *overflow = true;
        return 0;
    }
    return r;
}

static inline int64_t mul_i64(bool *overflow, int64_t a, int64_t b) {
    int64_t r;
    if (__builtin_mul_overflow(a, b, &r)) {
        *overflow = true;
        return 0;
    }
    return r;
}

static inline int64_t neg_i64(bool *overflow, int64_t a) { return sub_i64(overflow, 0, a); }

static inline int64_t abs_i64(bool *overflow, int64_t a) { return a < 0 ? neg_i64(overflow, a) : a; }

/* Rounds towards minus infinity. */
static inline int64_t floordiv_i64(bool *overflow, int64_t a, int64_t b) {
    if (b == 0 || (a == INT64_MIN && b == -1)) {
        *overflow = true;
        return 0;
    }
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

/* Has the sign of b. */
static inline int64_t mod_i64(bool *overflow, int64_t a, int64_t b) {
    if (b == 0) {
        *overflow = true;
        return 0;
    }
    if (b == -1) {
        return 0; /* INT64_MIN % -1 traps */
    }
    const int64_t r = a % b;
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

static inline int64_t pow_i64(bool *overflow, int64_t a, int64_t b) {
    if (b < 0) {
        *overflow = true;
        return 0;
    }
    int64_t r = 1;
    for (; b > 0; b /= 2) {
        if (b % 2 == 1) {
            r = mul_i64(overflow, r, a);
        }
        if (b > 1) {
            a = mul_i64(overflow, a, a);
        }
    }
    return r;
}

static inline int64_t min_i64(int64_t a, int64_t b) { return a < b ? a : b; }

static inline int64_t max_i64(int64_t a, int64_t b) { return a > b ? a : b; }

/* Rounds towards plus infinity. */
static inline int64_t ceil_div_i64(bool *overflow, int64_t a, int64_t b) {
    if (b == 0 || (a == INT64_MIN && b == -1)) {
        *overflow = true;
        return 0;
    }
    return a / b + (a % b != 0 && (a < 0) == (b < 0));
}

static inline int64_t round_up_i64(bool *overflow, int64_t a, int64_t b) {
    return mul_i64(overflow, ceil_div_i64(overflow, a, b), b);
}

/* The smallest power of two that is at least a; 1 for a <= 1. */
static inline int64_t next_pow2_i64(bool *overflow, int64_t a) {
    if (a > INT64_C(1) << 62) {
        *overflow = true;
        return 0;
    }
    return a <= 1 ? 1 : INT64_C(1) << (64 - __builtin_clzll((unsigned long long)a - 1));
}

/* Product of sizes; 0 when any of them is, even if the others overflow. */
static inline int64_t product_i64(bool *overflow, const int64_t *sizes, int64_t count) {
    bool exceeds = false;
    int64_t r = 1;
    for (int64_t i = 0; i < count; i++) {
        if (sizes[i] == 0) {
            return 0;
        }
        r = exceeds ? 1 : mul_i64(&exceeds, r, sizes[i]);
    }
    *overflow |= exceeds;
    return exceeds ? 0 : r;
}

#endif
