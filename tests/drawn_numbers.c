/*
 * Numbers drawn for operations that are to agree with MPFR's at all precisions.
 */
#include "drawn_numbers.h"

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
