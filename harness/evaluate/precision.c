/*
 * The bits that rows at one precision still lack, and the precision to try next.
 */
#include "precision.h"

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

static mpfr_prec_t bits_more(mpfr_prec_t bits, double more, double most)
{
    double next = more > 0 ? fmin((double)bits + 64 * ceil(more / 64), most) : 0;
    return next > (double)bits ? (mpfr_prec_t)next : bits;
}

bool precision_next(mpfr_prec_t *next, const Evaluation *evaluation, const RowsFound *found,
                    int raises)
{
    const Point *point = evaluation->point;
    bool hopeless = evaluation->shared->lost == INFINITY && point->precision == 0;
    double more = fmax(found->lacking, found->wanted);
    if (raises == PRECISION_RAISES || hopeless) {
        return false;
    }
    *next = bits_more(evaluation->bits, more, (double)point->max_bits);
    return *next > evaluation->bits;
}
