/*
 * What entries of a stream may be off by: as a plan has it, or radii.
 */
#include "entry_error.h"

#include "error_norms.h"

void entry_error_limit(mpfr_ptr error)
{
    if (!mpfr_number_p(error)) {
        mpfr_set_ui_2exp(error, 1, (mpfr_exp_t)0x1p40, MPFR_RNDU);
    }
}

void entry_error_planned(mpfr_ptr error, const Known *known, mpfr_prec_t bits)
{
    mpfr_set_ui_2exp(error, 1, ref_plan_error(known->plan, known->layer, bits), MPFR_RNDU);
}

/* error = what e's entries in a block may be off by, relative to the largest of them; false where
 * that is 0, or not known. */
static bool relative_error(mpfr_ptr error, const Known *known, RefBlock block)
{
    const Pair *pair = known->pair;
    const RefRun *run = known->run;
    const Layout *layout = &pair->converted.layout;
    const ApMat *e = &run->e->stream;
    mpfr_exp_t relative;
    if (block == BLOCK_BIAS_ROW) {
        norms_block_max(error, e, layout_bias_row(layout), 1, (Columns){0, layout_content(layout)});
    } else {
        norms_block_max(error, e, layout_token_row(layout, 0), layout->n,
                        block == BLOCK_COMPARED ? pair->compared[known->layer - 1]
                                                : pair->cleared[known->layer - 1]);
    }
    if (!ref_plan_difference_error(&relative, known->plan, known->layer, block, run->claimed.e) ||
        mpfr_zero_p(error)) {
        return false;
    }
    mpfr_mul_2si(error, error, (long)relative, MPFR_RNDU);
    return true;
}

void entry_error_difference(mpfr_ptr error, const Known *known, RefBlock block)
{
    if (!relative_error(error, known, block)) {
        RefBits bits = known->run->claimed;
        entry_error_planned(error, known, mpfr_zero_p(error) ? bits.x : bits.e);
    }
}

void entry_error_converted(mpfr_ptr error, const Known *known, RefBlock block)
{
    const RefRun *run = known->run;
    mpfr_t more;
    entry_error_planned(error, known, run->claimed.x);
    if (run->e != NULL && run->claimed.e < run->claimed.x) {
        mpfr_init2(more, REF_CELL_BITS);
        if (!relative_error(more, known, block) && !mpfr_zero_p(more)) {
            entry_error_planned(more, known, run->claimed.e);
        }
        mpfr_add(error, error, more, MPFR_RNDU);
        mpfr_clear(more);
    }
}
