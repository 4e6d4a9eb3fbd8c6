/*
 * Rows at one precision after another, while they lack bits.
 */
#include "evaluation.h"

#include "mode.h"

#include "../table/columns.h"

#include <math.h>

/* So often at most is the precision raised; and so many bits lack where nothing is known. */
enum { PRECISION_RAISES = 3 };
#define UNKNOWN 0x1p30

double precision_proof_lacking(const Evaluation *evaluation, const Row *row)
{
    const RefErrors *errors = &row->errors;
    const Point *point = evaluation->point;
    bool seen = point_bits(point).hidden <= (double)point->max_bits;
    double lacking = seen ? fmax(errors->lacking, errors->hidden) : errors->lacking;
    return lacking < UNKNOWN ? lacking : (double)evaluation->bits;
}

double precision_lacking(const Evaluation *evaluation, const Row *row)
{
    const Point *point = evaluation->point;
    double most = precision_proof_lacking(evaluation, row);
    RefCell size;
    ref_cell_init(&size, point_digits(point));
    for (size_t i = 0; column_at(i) != NULL; i++) {
        const Column *column = column_at(i);
        if (column_is_size(column)) {
            column_value(&size, column, point, row);
            most = size.state == CELL_BOUND ? fmax(most, size.lacking) : most;
        }
    }
    ref_cell_clear(&size);
    return most;
}

double precision_wanted(const Evaluation *evaluation, const RefCell *cell)
{
    const Point *point = evaluation->point;
    const double out_of_reach = 0x1p32; /* nothing is known */
    int exponent;
    if (!point_judges_rows(point) || cell->state != CELL_BOUND ||
        mpfr_cmp_d(cell->value, point->tolerance) <= 0) {
        return 0;
    }
    (void)frexp(point->tolerance, &exponent);
    double excess = (double)mpfr_get_exp(cell->value) - exponent;
    return excess < out_of_reach ? excess + 2 : 0;
}

bool precision_next(mpfr_prec_t *next, const Evaluation *evaluation, const RowsFound *found,
                    int raises)
{
    const Point *point = evaluation->point;
    bool hopeless = evaluation->shared->lost == INFINITY && point->precision == 0;
    double bits = (double)evaluation->bits, more = fmax(found->lacking, found->wanted);
    if (raises == PRECISION_RAISES || hopeless) {
        return false;
    }
    double raised = more > 0 ? fmin(bits + 64 * ceil(more / 64), (double)point->max_bits) : 0;
    *next = raised > bits ? (mpfr_prec_t)raised : evaluation->bits;
    return raised > bits;
}

static bool evaluate_layers(RowsFound *found, Evaluation *evaluation, TakeRow *take, void *context)
{
    size_t depth = evaluation->shared->pair.converted.depth;
    bool ok = true, more = true;
    *found = (RowsFound){.passed = true};
    evaluation_open(evaluation);
    for (size_t layer = 1; ok && more && layer <= depth; layer++) {
        ok = evaluation_layer(evaluation, layer);
        more = ok && take(context, found, evaluation, &evaluation->rows[layer - 1]);
    }
    evaluation_close(evaluation);
    return ok;
}

EvaluateStatus precision_rows(RowsFound *found, Evaluation *evaluation, TakeRow *take,
                              void *context)
{
    /* A base of the point's own at the evaluation's bits.  That of a group has the most bits that
     * its points are known to take beforehand: a point of more lacks some; and radii are smaller
     * with more, and with them bounds, where what is proven is to depend on the point alone. */
    RefBase *own = NULL;
    const Point *point = evaluation->point;
    bool difference = point->reference == REFERENCE_DIFFERENCE;
    bool streams = !difference || point->judge == ERROR_APPROXIMATION;
    const RefLimit limit = streams ? REF_LIMIT_STREAMS : REF_LIMIT_NONE;
    mpfr_prec_t bits = evaluation->bits;
    bool ok = true;
    int raises = 0;
    do {
        evaluation->bits = bits;
        if (evaluation->base != NULL && ref_base_bits(evaluation->base) != bits) {
            ref_base_clear(own);
            own = shared_base(evaluation->shared, bits, limit);
            evaluation->base = own;
            ok = own != NULL;
        }
        ok = ok && evaluate_layers(found, evaluation, take, context);
    } while (ok && precision_next(&bits, evaluation, found, raises++));
    ref_base_clear(own);
    return ok ? EVALUATE_OK : EVALUATE_NO_LAYER;
}
