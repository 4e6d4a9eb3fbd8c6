/*
 * Random weights and inputs: Philox counters, uniforms of 53 bits, normals by a rational
 * quantile; no library function, so the same bits everywhere.
 */
#include "draw.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

/* Extended intermediate precision would change the bits of a draw. */
_Static_assert(FLT_EVAL_METHOD == 0, "draws need plain double arithmetic");

__extension__ typedef unsigned __int128 Wide;

/* The multiplier of the first, and of the third counter; the steps of the keys. */
#define FIRST UINT64_C(0xD2E7470EE14C6C93)
#define THIRD UINT64_C(0xCA5A826395121157)
#define STEP_0 UINT64_C(0x9E3779B97F4A7C15)
#define STEP_1 UINT64_C(0xBB67AE8584CAA73B)

/* In registers: as an array it would go through memory in every round. */
typedef struct {
    uint64_t c0, c1, c2, c3;
} Counter;

static inline Counter philox_round(Counter x, uint64_t k0, uint64_t k1)
{
    Wide p0 = (Wide)FIRST * x.c0, p1 = (Wide)THIRD * x.c2;
    return (Counter){(uint64_t)(p1 >> 64) ^ x.c1 ^ k0, (uint64_t)p1,
                     (uint64_t)(p0 >> 64) ^ x.c3 ^ k1, (uint64_t)p0};
}

/* Unrolled, so that a compiler finds what the columns of a row have in common, which differ in c1
 * alone: a fifth of the multiplications. */
static inline Counter philox(Counter x, uint64_t k0, uint64_t k1)
{
#pragma GCC unroll 10
    for (uint64_t round = 0; round < 10; round++) {
        x = philox_round(x, k0 + round * STEP_0, k1 + round * STEP_1);
    }
    return x;
}

void draw_philox(uint64_t out[4], const uint64_t counter[4], const uint64_t key[2])
{
    const Counter first = {counter[0], counter[1], counter[2], counter[3]};
    const Counter x = philox(first, key[0], key[1]);
    out[0] = x.c0;
    out[1] = x.c1;
    out[2] = x.c2;
    out[3] = x.c3;
}

uint64_t draw_hash(const char *name)
{
    uint64_t hash = UINT64_C(0xCBF29CE484222325);
    for (const unsigned char *c = (const unsigned char *)name; *c != '\0'; c++) {
        hash = (hash ^ *c) * UINT64_C(0x100000001B3);
    }
    return hash;
}

static double uniform_of(uint64_t word)
{
    return (double)(int64_t)((word >> 12 << 1) | 1) * 0x1p-53;
}

static inline double uniform_at(DrawRow of, size_t column)
{
    const Counter first = {of.row, column, of.head, 0};
    return uniform_of(philox(first, of.seed, of.name_hash).c0);
}

double draw_uniform(uint64_t seed, uint64_t name_hash, size_t head, size_t row, size_t column)
{
    return uniform_at((DrawRow){seed, name_hash, head, row}, column);
}

/* r = m 2^exponent, m in [sqrt(1/2), sqrt(2)). */
static double split_exponent(double *exponent, double r)
{
    int power;
    double m = frexp(r, &power);
    bool low = m < 0x1.6a09e667f3bcdp-1;
    *exponent = low ? power - 1 : power;
    return low ? 2 * m : m;
}

/* Its log, r in (0, 1/2]: 2 atanh s by its series, s = (m - 1)/(m + 1), so s^2 < 0.0295 and the
 * first term left out is below 2^-63. */
static inline double series_log(double m, double exponent)
{
    double s = (m - 1) / (m + 1);
    double s2 = s * s, sum = 0;
    for (int k = 23; k >= 3; k -= 2) {
        sum = (sum + 1.0 / k) * s2;
    }
    const double ln2_high = 0x1.62e42fefa3800p-1, ln2_low = 0x1.ef35793c76730p-45;
    return exponent * ln2_high + (2 * s + (2 * s * sum + exponent * ln2_low));
}

/* Horner's rule, coefficients from the highest degree down; without a loop, so that loops around it
 * become vectors. */
static inline double polynomial(const double c[8], double x)
{
    double high = ((c[0] * x + c[1]) * x + c[2]) * x + c[3];
    return (((high * x + c[4]) * x + c[5]) * x + c[6]) * x + c[7];
}

/* Of the rational functions of three ranges. */
static const double middle_over[8] = {2.5090809287301226727e+3, 3.3430575583588128105e+4,
                                      6.7265770927008700853e+4, 4.5921953931549871457e+4,
                                      1.3731693765509461125e+4, 1.9715909503065514427e+3,
                                      1.3314166789178437745e+2, 3.3871328727963666080e+0};
static const double middle_under[8] = {5.2264952788528545610e+3, 2.8729085735721942674e+4,
                                       3.9307895800092710610e+4, 2.1213794301586595867e+4,
                                       5.3941960214247511077e+3, 6.8718700749205790830e+2,
                                       4.2313330701600911252e+1, 1.0};
static const double tail_over[8] = {7.74545014278341407640e-4, 2.27238449892691845833e-2,
                                    2.41780725177450611770e-1, 1.27045825245236838258e+0,
                                    3.64784832476320460504e+0, 5.76949722146069140550e+0,
                                    4.63033784615654529590e+0, 1.42343711074968357734e+0};
static const double tail_under[8] = {1.05075007164441684324e-9, 5.47593808499534494600e-4,
                                     1.51986665636164571966e-2, 1.48103976427480074590e-1,
                                     6.89767334985100004550e-1, 1.67638483018380384940e+0,
                                     2.05319162663775882187e+0, 1.0};
static const double far_over[8] = {2.01033439929228813265e-7, 2.71155556874348757815e-5,
                                   1.24266094738807843860e-3, 2.65321895265761230930e-2,
                                   2.96560571828504891230e-1, 1.78482653991729133580e+0,
                                   5.46378491116411436990e+0, 6.65790464350110377720e+0};
static const double far_under[8] = {2.04426310338993978564e-15, 1.42151175831644588870e-7,
                                    1.84631831751005468180e-5,  7.86869131145613259100e-4,
                                    1.48753612908506148525e-2,  1.36929880922735805310e-1,
                                    5.99832206555887937690e-1,  1.0};

/* |q| <= MIDDLE is the middle; of the tails r <= NEAR is the near one. */
#define MIDDLE 0.425
#define NEAR 5

static inline double middle(double q)
{
    double r = 0.180625 - q * q;
    return q * polynomial(middle_over, r) / polynomial(middle_under, r);
}

static inline double near_tail(double r)
{
    return polynomial(tail_over, r - 1.6) / polynomial(tail_under, r - 1.6);
}

static double far_tail(double r)
{
    return polynomial(far_over, r - 5) / polynomial(far_under, r - 5);
}

double draw_quantile(double p)
{
    double q = p - 0.5, exponent;
    if (fabs(q) <= MIDDLE) {
        return middle(q);
    }
    double m = split_exponent(&exponent, q < 0 ? p : 1 - p);
    double r = sqrt(-series_log(m, exponent));
    double tail = r <= NEAR ? near_tail(r) : far_tail(r);
    return q < 0 ? -tail : tail;
}

double draw_normal(uint64_t seed, uint64_t name_hash, size_t head, size_t row, size_t column)
{
    return draw_quantile(draw_uniform(seed, name_hash, head, row, column));
}

/* ---- Rows ------------------------------------------------------------------------------------ */

enum { AT_ONCE = 256 };

/* The q of some columns beyond the middle, one behind the other. */
typedef struct {
    double q[AT_ONCE], m[AT_ONCE], exponent[AT_ONCE], r[AT_ONCE];
    size_t column[AT_ONCE], count;
} Tails;

static void find_tails(Tails *tails, const double *q, size_t count)
{
    tails->count = 0;
    for (size_t i = 0; i < count; i++) {
        tails->column[tails->count] = i;
        tails->q[tails->count] = q[i];
        tails->count += fabs(q[i]) > MIDDLE;
    }
}

/* normal[column] of them; p = q + 1/2 and 1 - p are exact. */
static void draw_tails(double *normal, Tails *tails)
{
    for (size_t i = 0; i < tails->count; i++) {
        tails->m[i] = split_exponent(&tails->exponent[i], 0.5 - fabs(tails->q[i]));
    }
#pragma omp simd
    for (size_t i = 0; i < tails->count; i++) {
        tails->r[i] = -series_log(tails->m[i], tails->exponent[i]);
    }
    for (size_t i = 0; i < tails->count; i++) {
        tails->r[i] = sqrt(tails->r[i]);
    }
#pragma omp simd
    for (size_t i = 0; i < tails->count; i++) {
        tails->m[i] = near_tail(tails->r[i]);
    }
    for (size_t i = 0; i < tails->count; i++) {
        double tail = tails->r[i] <= NEAR ? tails->m[i] : far_tail(tails->r[i]);
        normal[tails->column[i]] = tails->q[i] < 0 ? -tail : tail;
    }
}

void draw_normals(double *normal, const DrawRow *of, size_t count)
{
    const DrawRow row = *of;
    double q[AT_ONCE];
    Tails tails;
    for (size_t first = 0; first < count; first += AT_ONCE) {
        size_t length = count - first < AT_ONCE ? count - first : AT_ONCE;
        for (size_t i = 0; i < length; i++) { /* q = p - 1/2 */
            q[i] = uniform_at(row, first + i) - 0.5;
        }
        find_tails(&tails, q, length);
#pragma omp simd
        for (size_t i = 0; i < length; i++) {
            normal[first + i] = middle(q[i]);
        }
        draw_tails(normal + first, &tails);
    }
}
