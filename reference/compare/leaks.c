/*
 * What T' leaves where there should be nothing.
 */
#include "leaks.h"

#include "cell.h"
#include "error_norms.h"

#include <math.h>

/* The position columns less what they began with, where the run stores them; else no head can
 * write them. */
static void compare_onehot(RefErrors *errors, const RefRun *run, mpfr_ptr t)
{
    const Layout *layout = &run->model->layout;
    size_t content = layout_content(layout), bias = layout_bias_row(layout);
    mpfr_t max;
    mpfr_init2(max, REF_CELL_BITS);
    mpfr_set_zero(max, 1);
    for (size_t i = 0; i < run->stream.rows; i++) {
        for (size_t c = content; c < run->stream.columns; c++) {
            bool one = layout->bias_row == BIAS_ROW_MASKED ? i != bias : c - content == i;
            mpfr_sub_ui(t, ref_run_entry(run, i, c), one, MPFR_RNDA);
            if (mpfr_nan_p(t) || mpfr_cmpabs(t, max) > 0) {
                mpfr_abs(max, t, MPFR_RNDA);
            }
        }
    }
    mpfr_set_zero(t, 1);
    cell_settle(&errors->scalar[SCALAR_ONEHOT], max, t);
    mpfr_clear(max);
}

/* error = the radius of x + e in a block: what its largest entry may be off by. */
static void leak_radius(mpfr_ptr error, const Known *known, RefBlock block)
{
    const Layout *layout = &known->pair->converted.layout;
    mpfr_t squares;
    mpfr_init2(squares, REF_CELL_BITS);
    if (block == BLOCK_BIAS_ROW) {
        ref_run_radius(known->run, RADIUS_SUM, layout_bias_row(layout), 1,
                       (Columns){0, layout_content(layout)}, error, squares);
    } else {
        ref_run_radius(known->run, RADIUS_SUM, layout_token_row(layout, 0), layout->n,
                       known->pair->cleared[known->layer - 1], error, squares);
    }
    entry_error_limit(error);
    mpfr_clear(squares);
}

/* The cell of a block of T' with a largest entry of max, of which `proven` holds.  Where T_infinity
 * has zeros, what is there is e, with e's error. */
static void settle_leak(RefErrors *errors, RefCell *cell, const Known *known, mpfr_srcptr max,
                        RefBlock block, int proven)
{
    mpfr_t error;
    if ((proven & PROVEN_ZERO) != 0) {
        errors->contradiction |= !cell_zero(cell, max, known->error);
        return;
    }
    mpfr_init2(error, REF_CELL_BITS);
    if (known->certified) {
        leak_radius(error, known, block);
    } else {
        entry_error_converted(error, known, block);
    }
    if ((proven & PROVEN_GIVEN) != 0) {
        mpfr_set_zero(error, 1);
    } else if (!known->certified && known->run->e != NULL &&
               ref_plan_limit_is_zero(known->plan, known->layer, block)) {
        entry_error_difference(error, known, block);
    }
    cell_settle(cell, max, error);
    if (known->certified) {
        bool hidden = known->run->e == NULL && cell->lacking == 0;
        double *most = hidden ? &errors->hidden : &errors->lacking;
        *most = fmax(*most, cell_lacks(cell, max, error));
    }
    mpfr_clear(error);
}

void leaks_compare(RefErrors *errors, const Known *known)
{
    const Pair *pair = known->pair;
    const Layout *layout = &pair->converted.layout;
    const ApMat *outcome = run_outcome(known->run);
    Columns cleared = pair->cleared[known->layer - 1], content = {0, layout_content(layout)};
    size_t bias = layout_bias_row(layout), token = layout_token_row(layout, 0);
    mpfr_t max;
    mpfr_init2(max, REF_CELL_BITS);
    if (layout->bias_row != BIAS_ROW_NONE) {
        norms_block_max(max, outcome, bias, 1, content);
        settle_leak(errors, &errors->scalar[SCALAR_BIAS_ROW], known, max, BLOCK_BIAS_ROW,
                    proof_bias_row(known->proof, known->layer));
        compare_onehot(errors, known->run, max);
    }
    if (cleared.count > 0) {
        norms_block_max(max, outcome, token, layout->n, cleared);
        settle_leak(errors, &errors->scalar[SCALAR_HIDDEN], known, max, BLOCK_CLEARED,
                    proof_cleared(known->proof, known->layer));
    }
    mpfr_clear(max);
}
