#include "internal.h"

#include <math.h>

double cost_loop_entry(const Plan *plan)
{
    return (double)plan->k * 1e-9 * (60 + 0.11 * (double)plan->precision);
}

double cost_product(const Plan *plan, ProductBackend backend, mpfr_prec_t bits)
{
    double m = (double)plan->m, n = (double)plan->n;
    if (backend == PRODUCT_LOOP) {
        return m * n * cost_loop_entry(plan);
    }
    return (double)plan->k * m * n * 1e-9 * (double)bits / 256 *
           (backend == PRODUCT_IFMA      ? 1
            : backend == PRODUCT_MODULAR ? 2
                                         : 8);
}
