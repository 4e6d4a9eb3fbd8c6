/*
 * Numbers that are drawn: doubles, and numbers of all precisions.
 */
#include "drawn_numbers.h"

uint64_t drawn_numbers = 27;

uint64_t drawn_word(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

double drawn_uniform(void)
{
    drawn_numbers = drawn_numbers * 6364136223846793005 + 1442695040888963407;
    return (double)(int64_t)(drawn_numbers & ~(uint64_t)2047) * 0x1p-63;
}

size_t drawn_below(size_t limit)
{
    return (size_t)((drawn_uniform() + 1) / 2 * (double)limit) % limit;
}

void draw_number(mpfr_ptr x, gmp_randstate_t random, bool runs)
{
    mpz_t z;
    mpz_init(z);
    if (runs) {
        mpz_rrandomb(z, random, 1 + gmp_urandomm_ui(random, (unsigned long)mpfr_get_prec(x)));
    } else {
        mpz_urandomb(z, random, (mp_bitcnt_t)mpfr_get_prec(x));
    }
    mpz_setbit(z, 0);
    mpfr_set_z(x, z, MPFR_RNDN);
    mpfr_mul_2si(x, x, -mpfr_get_exp(x), MPFR_RNDN);
    mpfr_setsign(x, x, (int)gmp_urandomb_ui(random, 1), MPFR_RNDN);
    mpz_clear(z);
}

void draw_special(mpfr_ptr x, size_t i)
{
    switch (i % 5) {
    case 0: mpfr_set_zero(x, i % 2 == 0 ? 1 : -1); break;
    case 1: mpfr_set_inf(x, i % 2 == 0 ? 1 : -1); break;
    case 2: mpfr_set_nan(x); break;
    case 3: mpfr_set_si_2exp(x, 3, (mpfr_exp_t)1 << 60, MPFR_RNDN); break;
    default: mpfr_set_si_2exp(x, -3, -((mpfr_exp_t)1 << 60), MPFR_RNDN); break;
    }
}

/* a = b times what lies in the middle of two numbers of a's precision, rounded: a / b is next to
 * that. */
static void draw_near_tie(mpfr_ptr a, mpfr_srcptr b, gmp_randstate_t random)
{
    mpfr_t middle;
    mpfr_init2(middle, mpfr_get_prec(a) + 1);
    draw_number(middle, random, false); /* an odd mantissa */
    mpfr_mul(a, middle, b, MPFR_RNDN);
    mpfr_clear(middle);
}

static void move_to_ends(mpfr_ptr a, mpfr_ptr b, size_t round, size_t i)
{
    if (round % 8 == 3) { /* as far as plain numbers go */
        const long far = 1L << 59;
        mpfr_mul_2si(a, a, i % 5 < 2 ? far : -far, MPFR_RNDN);
        mpfr_mul_2si(b, b,
                     round % 3 == 0 ? i % 5 < 2 ? far : -far
                     : i % 2 == 0   ? far
                                    : -far,
                     MPFR_RNDN);
    }
    if (round % 11 == 10) { /* a product, or a quotient, that leaves MPFR's range */
        mpfr_mul_2si(a, a, 1L << 61, MPFR_RNDN);
        mpfr_mul_2si(b, b, i % 2 == 0 ? 1L << 61 : -(1L << 61), MPFR_RNDN);
    }
}

void draw_pair(mpfr_ptr a, mpfr_ptr b, gmp_randstate_t random, size_t round, size_t i)
{
    const unsigned long reach[] = {0, 2, 70, 300, 600};
    draw_number(a, random, (i + round) % 3 != 0);
    draw_number(b, random, (i + round) % 3 != 1);
    if (round % 4 == 1) {
        mpfr_set(b, a, MPFR_RNDN);
        mpfr_setsign(b, b, i % 3 == 0, MPFR_RNDN);
        for (size_t k = gmp_urandomm_ui(random, 4); k > 0; k--) {
            mpfr_nextabove(b);
        }
    } else {
        long apart = (long)reach[round % 5];
        mpfr_mul_2si(b, b, (long)gmp_urandomm_ui(random, 2 * (unsigned long)apart + 1) - apart,
                     MPFR_RNDN);
    }
    if (round % 7 == 2) {
        mpfr_set_ui_2exp(b, 1, mpfr_get_exp(a) - (long)(i % 5) * 64, MPFR_RNDN);
    }
    if (round % 9 == 4) {
        draw_near_tie(a, b, random);
    }
    move_to_ends(a, b, round, i);
    if (round % 10 == 6 && i % 3 != 1) {
        mpfr_set_zero(i % 2 == 0 ? a : b, i % 5 == 0 ? -1 : 1);
    }
    if (round % 6 == 5 && i % 11 == 3) {
        draw_special(i % 2 == 0 ? a : b, i + round);
    }
}

bool same_number(mpfr_srcptr a, mpfr_srcptr b)
{
    bool numbers = mpfr_equal_p(a, b) && mpfr_signbit(a) == mpfr_signbit(b);
    return numbers || (mpfr_nan_p(a) && mpfr_nan_p(b));
}

void each_precisions(PrecisionsCheck *check, const mpfr_prec_t *precisions, size_t count)
{
    gmp_randstate_t random;
    gmp_randinit_default(random);
    gmp_randseed_ui(random, 1);
    for (size_t i = 0; i < count * count * count; i++) {
        const mpfr_prec_t bits[] = {precisions[i % count], precisions[i / count % count],
                                    precisions[i / count / count]};
        check(random, bits);
    }
    gmp_randclear(random);
}
