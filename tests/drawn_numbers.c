/*
 * Numbers that are drawn: doubles, and numbers of all precisions.
 */
#include "drawn_numbers.h"

uint64_t drawn_numbers = 27;

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
