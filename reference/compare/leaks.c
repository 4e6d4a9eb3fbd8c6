/*
 * What T' leaves where there should be nothing.
 */
#include "leaks.h"

#include "cell.h"
#include "error_norms.h"

#include <math.h>

/* The position columns less what they began with, where the run stores them; else no head can
 * write them. */
static void compare_onehot(RefErrors *errors, const RefRun *run)
{
    const Layout *layout = &run->model->layout;
    size_t content = layout_content(layout), bias = layout_bias_row(layout);
    mpfr_t max, t;
    mpfr_inits2(REF_CELL_BITS, max, t, (mpfr_ptr)0);
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
    mpfr_clears(max, t, (mpfr_ptr)0);
}

/* Rows first, ..., first + count - 1 of T' in some columns, of which `proven` holds. */
typedef struct {
    size_t first, count;
    Columns columns;
    int proven;
} Block;

/* The cell of the largest entry of a block of r(T'). */
static void settle_leak(RefErrors *errors, RefScalar scalar, const Known *known, const Block *block)
{
    const RefRun *run = known->run;
    RefCell *cell = &errors->scalar[scalar];
    mpfr_t max, error, squares;
    mpfr_inits2(REF_CELL_BITS, max, error, squares, (mpfr_ptr)0);
    norms_block_max(max, run_outcome(run), block->first, block->count, block->columns);
    ref_run_radius(run, RADIUS_SUM, block->first, block->count, block->columns, error, squares);
    comparison_limit(error);
    if ((block->proven & PROVEN_ZERO) != 0) {
        errors->contradiction |= !cell_zero(cell, max, known->error);
    } else {
        if ((block->proven & PROVEN_GIVEN) != 0) {
            mpfr_set_zero(error, 1);
        }
        cell_settle(cell, max, error);
        bool hidden = run->e == NULL && cell->lacking == 0;
        double *most = hidden ? &errors->hidden : &errors->lacking;
        *most = fmax(*most, cell_lacks(cell, max, error));
    }
    mpfr_clears(max, error, squares, (mpfr_ptr)0);
}

void leaks_compare(RefErrors *errors, const Known *known)
{
    const Layout *layout = &known->pair->converted.layout;
    const size_t layer = known->layer;
    Columns cleared = known->pair->cleared[layer - 1], content = {0, layout_content(layout)};
    if (layout->bias_row != BIAS_ROW_NONE) {
        const Block bias = {layout_bias_row(layout), 1, content,
                            proof_bias_row(known->proof, layer)};
        settle_leak(errors, SCALAR_BIAS_ROW, known, &bias);
        compare_onehot(errors, known->run);
    }
    if (cleared.count > 0) {
        const Block hidden = {layout_token_row(layout, 0), layout->n, cleared,
                              proof_cleared(known->proof, layer)};
        settle_leak(errors, SCALAR_HIDDEN, known, &hidden);
    }
}
