/*
 * e = r(T') - r(T_infinity) as it is evaluated, beside two evaluations that are subtracted.
 */
#include "subtracted.h"
#include "../unit.h"

#include <math.h>

Subtracted subtracted_open(const Model *model, const double *x, const double *content, double omega,
                           mpfr_prec_t subtract_bits, mpfr_prec_t bits)
{
    Subtracted runs = {&model->layout,
                       ref_run_open(&(Start){model, x, content, omega}, subtract_bits),
                       ref_run_open(&(Start){model, x, content, INFINITY}, subtract_bits),
                       ref_difference_open(&(Start){model, x, content, omega}, bits, NULL)};
    return runs;
}

void subtracted_layer(const Subtracted *runs)
{
    ref_run_layer(runs->converted);
    ref_run_layer(runs->limit);
    ref_run_layer(runs->difference);
}

void subtracted_clear(Subtracted *runs)
{
    ref_run_clear(runs->converted);
    ref_run_clear(runs->limit);
    ref_run_clear(runs->difference);
}

Agreement subtracted_rows(const Subtracted *runs, size_t first, size_t count)
{
    Agreement block = {real_of(0), real_of(0)};
    for (size_t row = first; row < first + count; row++) {
        for (size_t c = 0; c < layout_content(runs->layout); c++) {
            Real subtracted = real_difference(ref_run_entry(runs->converted, row, c),
                                              ref_run_entry(runs->limit, row, c));
            Real direct = real_of_mpfr(ref_run_difference(runs->difference, row, c));
            block.largest = real_max(block.largest, real_abs(subtracted));
            block.error = real_max(block.error, real_abs(real_sub(direct, subtracted)));
        }
    }
    return block;
}
