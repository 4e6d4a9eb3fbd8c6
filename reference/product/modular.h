/*
 * Products modulo primes (private to reference/product/).
 */
#ifndef HEADPROOF_REFERENCE_PRODUCT_MODULAR_H
#define HEADPROOF_REFERENCE_PRODUCT_MODULAR_H

#include "guard.h"

/* Can it hold numbers of that many fraction bits? */
bool modular_holds(mpfr_prec_t bits_a, mpfr_prec_t bits_b);

void modular_mul(const Plan *plan);

#endif
