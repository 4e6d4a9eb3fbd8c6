/*
 * Predicted seconds of a product (private to reference/product/).
 */
#ifndef HEADPROOF_REFERENCE_PRODUCT_COST_H
#define HEADPROOF_REFERENCE_PRODUCT_COST_H

#include "guard.h"

/* Seconds of a product by a backend if `bits` fraction bits are kept; of one entry by the loop. */
double cost_product(const Plan *plan, ProductBackend backend, mpfr_prec_t bits);
double cost_loop_entry(const Plan *plan);

/* Seconds below which a product by a backend never comes. */
double cost_least(ProductBackend backend);

/* Seconds of what every backend but the loop and dot products does first. */
double cost_measuring(const Plan *plan);

#endif
