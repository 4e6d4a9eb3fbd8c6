/*
 * Random weights and inputs: Philox counters, uniforms of 53 bits, normals by a rational
 * quantile; no library function, so the same bits everywhere.
 */
#include "draw.h"

#include <float.h>
#include <math.h>

/* Extended intermediate precision would change the bits of a draw. */
_Static_assert(FLT_EVAL_METHOD == 0, "draws need plain double arithmetic");

__extension__ typedef unsigned __int128 Wide;

/* Counters in registers: as arrays they would go through memory in every round. */
void draw_philox(uint64_t out[4], const uint64_t counter[4], const uint64_t key[2])
{
    uint64_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint64_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; round++) {
        Wide p0 = (Wide)UINT64_C(0xD2E7470EE14C6C93) * c0;
        Wide p1 = (Wide)UINT64_C(0xCA5A826395121157) * c2;
        c0 = (uint64_t)(p1 >> 64) ^ c1 ^ k0;
        c1 = (uint64_t)p1;
        c2 = (uint64_t)(p0 >> 64) ^ c3 ^ k1;
        c3 = (uint64_t)p0;
        k0 += UINT64_C(0x9E3779B97F4A7C15);
        k1 += UINT64_C(0xBB67AE8584CAA73B);
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

uint64_t draw_hash(const char *name)
{
    uint64_t hash = UINT64_C(0xCBF29CE484222325);
    for (const unsigned char *c = (const unsigned char *)name; *c != '\0'; c++) {
        hash = (hash ^ *c) * UINT64_C(0x100000001B3);
    }
    return hash;
}

double draw_uniform(uint64_t seed, uint64_t name_hash, size_t head, size_t row, size_t column)
{
    const uint64_t counter[4] = {row, column, head, 0};
    const uint64_t key[2] = {seed, name_hash};
    uint64_t block[4];
    draw_philox(block, counter, key);
    return ldexp((double)((block[0] >> 12 << 1) | 1), -53);
}

/* log of r in (0, 1/2]: 2 atanh s by its series, s = (m - 1)/(m + 1), m in [sqrt(1/2),
 * sqrt(2)), so s^2 < 0.0295 and the first term left out is below 2^-63. */
static double series_log(double r)
{
    int exponent;
    double m = frexp(r, &exponent);
    if (m < 0x1.6a09e667f3bcdp-1) {
        m = 2 * m;
        exponent -= 1;
    }
    double s = (m - 1) / (m + 1);
    double s2 = s * s, sum = 0;
    for (int k = 23; k >= 3; k -= 2) {
        sum = (sum + 1.0 / k) * s2;
    }
    const double ln2_high = 0x1.62e42fefa3800p-1, ln2_low = 0x1.ef35793c76730p-45;
    return exponent * ln2_high + (2 * s + (2 * s * sum + exponent * ln2_low));
}

/* Horner's rule, coefficients from the highest degree down. */
static double polynomial(const double coefficient[8], double x)
{
    double sum = coefficient[0];
    for (int i = 1; i < 8; i++) {
        sum = sum * x + coefficient[i];
    }
    return sum;
}

double draw_quantile(double p)
{
    static const double a[8] = {2.5090809287301226727e+3, 3.3430575583588128105e+4,
                                6.7265770927008700853e+4, 4.5921953931549871457e+4,
                                1.3731693765509461125e+4, 1.9715909503065514427e+3,
                                1.3314166789178437745e+2, 3.3871328727963666080e+0};
    static const double b[8] = {5.2264952788528545610e+3, 2.8729085735721942674e+4,
                                3.9307895800092710610e+4, 2.1213794301586595867e+4,
                                5.3941960214247511077e+3, 6.8718700749205790830e+2,
                                4.2313330701600911252e+1, 1.0};
    static const double c[8] = {7.74545014278341407640e-4, 2.27238449892691845833e-2,
                                2.41780725177450611770e-1, 1.27045825245236838258e+0,
                                3.64784832476320460504e+0, 5.76949722146069140550e+0,
                                4.63033784615654529590e+0, 1.42343711074968357734e+0};
    static const double d[8] = {1.05075007164441684324e-9, 5.47593808499534494600e-4,
                                1.51986665636164571966e-2, 1.48103976427480074590e-1,
                                6.89767334985100004550e-1, 1.67638483018380384940e+0,
                                2.05319162663775882187e+0, 1.0};
    static const double e[8] = {2.01033439929228813265e-7, 2.71155556874348757815e-5,
                                1.24266094738807843860e-3, 2.65321895265761230930e-2,
                                2.96560571828504891230e-1, 1.78482653991729133580e+0,
                                5.46378491116411436990e+0, 6.65790464350110377720e+0};
    static const double f[8] = {2.04426310338993978564e-15, 1.42151175831644588870e-7,
                                1.84631831751005468180e-5,  7.86869131145613259100e-4,
                                1.48753612908506148525e-2,  1.36929880922735805310e-1,
                                5.99832206555887937690e-1,  1.0};
    double q = p - 0.5;
    if (fabs(q) <= 0.425) {
        double r = 0.180625 - q * q;
        return q * polynomial(a, r) / polynomial(b, r);
    }
    double r = sqrt(-series_log(q < 0 ? p : 1 - p));
    double tail = r <= 5 ? polynomial(c, r - 1.6) / polynomial(d, r - 1.6)
                         : polynomial(e, r - 5) / polynomial(f, r - 5);
    return q < 0 ? -tail : tail;
}

double draw_normal(uint64_t seed, uint64_t name_hash, size_t head, size_t row, size_t column)
{
    return draw_quantile(draw_uniform(seed, name_hash, head, row, column));
}
