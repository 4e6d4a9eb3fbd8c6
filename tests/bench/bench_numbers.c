/*
 * Fresh random matrices for the benchmarks of reference/product/.
 */
#include "bench_numbers.h"

#include "../../cases/draw.h"

#include <math.h>

/* xorshift64*: data for timing, not for results. */
static uint64_t next(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 2685821657736338717ULL;
}

double numbers_normal(uint64_t *state)
{
    return draw_quantile((double)(next(state) >> 12 | 1) * 0x1p-52);
}

void numbers_fill(ApMat *m, NumbersForm form, uint64_t *state)
{
    for (size_t i = 0; i < m->rows * m->columns; i++) {
        mpfr_ptr x = m->entry + i;
        double y = numbers_normal(state);
        mpfr_set_d(x, form == NUMBERS_PATTERN ? exp(y) / (double)m->columns : y, MPFR_RNDN);
        for (size_t l = 0; l * 64 + 64 < (size_t)m->bits; l++) {
            ((mp_limb_t *)mpfr_custom_get_significand(x))[l] = next(state);
        }
    }
}
