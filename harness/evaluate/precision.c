/*
 * What rows at one precision leave to be wished, and the precision to try next.
 */
#include "precision.h"

#include "mode.h"

#include "../table/columns.h"

#include <math.h>

/* So often at most is the precision raised. */
enum { PRECISION_RAISES = 3 };

/* Did the plan promise this layer's construction error at these bits? */
static bool construction_promised(const Evaluation *evaluation, size_t layer)
{
    const RefPlan *plan = evaluation->plan;
    const Point *point = evaluation->point;
    int digits = point_digits(point);
    double omega = point_omega(point);
    return point->reference == REFERENCE_DIFFERENCE
               ? ref_plan_difference_bits(plan, digits, omega, layer) <= (double)evaluation->bits.e
               : ref_plan_bits(plan, digits, omega, layer) <= (double)evaluation->bits.x;
}

bool precision_promise_broken(const Evaluation *evaluation, const Row *row)
{
    bool bound = false;
    for (int norm = 0; norm < NORM_COUNT; norm++) {
        bound = bound || row->errors.error[ERROR_CONSTRUCTION][norm].state == CELL_BOUND;
    }
    return bound && construction_promised(evaluation, row->layer);
}

double precision_proof_lacking(const Evaluation *evaluation, const Row *row)
{
    const RefErrors *errors = &row->errors;
    const Point *point = evaluation->point;
    double all = point->certify ? fmax(errors->lacking, errors->noise) : errors->lacking;
    bool seen = point->certify || point->precision > 0 ||
                point_bits(point).hidden <= (double)point->max_bits;
    return fmin(seen ? fmax(all, errors->hidden) : all, (double)evaluation->bits.x);
}

double precision_lacking(const Evaluation *evaluation, const Row *row)
{
    const Point *point = evaluation->point;
    bool certify = evaluation->certified;
    bool difference = certify || construction_promised(evaluation, row->layer);
    bool streams = certify || ref_plan_bits(evaluation->plan, point_digits(point), 0, row->layer) <=
                                  (double)evaluation->bits.x;
    double most = certify ? precision_proof_lacking(evaluation, row) : 0;
    RefCell size;
    ref_cell_init(&size, point_digits(point));
    for (size_t i = 0; column_at(i) != NULL; i++) {
        const Column *column = column_at(i);
        if (column_is_size(column)) {
            bool promised = column_of_difference(column) ? difference : streams;
            column_value(&size, column, point, row);
            most = promised && size.state == CELL_BOUND ? fmax(most, size.lacking) : most;
        }
    }
    ref_cell_clear(&size);
    return most;
}

double precision_wanted(const Evaluation *evaluation, const RefCell *cell)
{
    const Point *point = evaluation->point;
    const double out_of_reach = 0x1p32; /* a stream that no precision follows: ref_plan_error */
    int exponent;
    if (!point_judges_rows(point) || cell->state != CELL_BOUND ||
        mpfr_cmp_d(cell->value, point->tolerance) <= 0) {
        return 0;
    }
    (void)frexp(point->tolerance, &exponent);
    double excess = (double)mpfr_get_exp(cell->value) - exponent;
    return excess < out_of_reach ? excess + 2 : 0;
}

static mpfr_prec_t bits_more(mpfr_prec_t bits, double more, double most)
{
    double next = more > 0 ? fmin((double)bits + 64 * ceil(more / 64), most) : 0;
    return next > (double)bits ? (mpfr_prec_t)next : bits;
}

bool precision_wants_plan(const Evaluation *evaluation, const RowsFound *found)
{
    bool given = evaluation->point->precision > 0; /* no bits more are to be had */
    return evaluation->certified && !evaluation->point->certify &&
           found->lacking >= (given ? 1 : (double)evaluation->bits.x);
}

bool precision_next(RefBits *next, const Evaluation *evaluation, const RowsFound *found, int raises)
{
    const Point *point = evaluation->point;
    RefBits bits = evaluation->bits;
    double most = (double)point->max_bits, more = fmax(found->lacking, found->wanted);
    bool nothing = precision_wants_plan(evaluation, found);
    if (point->precision != 0 || raises == PRECISION_RAISES || (raises > 0 && nothing)) {
        return false;
    }
    *next = (RefBits){bits_more(bits.x, more, most), bits_more(bits.e, more, most)};
    if (found->broken && 2 * (double)bits.e <= most && 2 * bits.e > next->e) {
        next->e = 2 * bits.e;
    }
    next->x = next->x < next->e ? next->e : next->x;
    return next->x > bits.x || next->e > bits.e;
}
