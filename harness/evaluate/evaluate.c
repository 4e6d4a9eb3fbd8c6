/*
 * The rows of one point: layer after layer of both models, compared; once more with more bits while
 * they lack some; each judged, or the worst of them found.
 */
#include "evaluate.h"

#include "../../memory/need.h"
#include "../../reference/compare/propagation.h"
#include "../table/columns.h"
#include "mode.h"
#include "verdict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* r(T') and m(T') side by side. */
typedef struct {
    const Shared *shared;
    const Point *point;
    bool reference;   /* r(T') is evaluated */
    FinalSink *final; /* shown the streams behind the last layer; or NULL */
    void *context;
    RefCell *worst;      /* becomes the worst judged error of the rows; NULL: each is judged */
    Row *rows;           /* [depth] */
    const RefBase *base; /* NULL where nothing is compared with a reference */
    mpfr_prec_t bits;    /* of r(T') */
    RefRun *run;         /* NULL without a reference, as the next */
    RefPropagation *propagation; /* NULL where it is not asked for */
    const ArithmeticInfo *machine;
    Kernel *kernel;                  /* NULL without an arithmetic */
    MachineView converted, original; /* after the layer evaluated last */
    /* Bits more, of the rows at these bits: that cells without a proof want, and judged errors. */
    double lacking, wanted;
} Evaluation;

void point_rows_free(Row *rows, const Point *point)
{
    for (size_t l = 0; rows != NULL && l < point->spec.depth; l++) {
        row_clear(&rows[l]);
    }
    free(rows);
}

/* Opens r(T'), where it is evaluated, and m(T'), where the point has an arithmetic. */
static void evaluation_open(Evaluation *evaluation)
{
    const Pair *pair = &evaluation->shared->pair;
    const Point *point = evaluation->point;
    bool machine = point->arithmetic != ARITHMETIC_NONE;
    const Start start = case_start(pair, point->penalty, point_omega(point));
    evaluation->run = NULL;
    evaluation->propagation = NULL;
    evaluation->kernel = NULL;
    if (evaluation->reference) {
        const Start reference = pair_start(pair, point_omega(point));
        const RefBase *base = evaluation->base;
        evaluation->run = point->propagation ? ref_propagation_run_open(pair, reference.omega,
                                                                        evaluation->bits, base)
                          : point->reference == REFERENCE_DIFFERENCE
                              ? ref_difference_open(&reference, evaluation->bits, base)
                              : ref_run_open(&reference, evaluation->bits);
        ref_run_certify(evaluation->run);
    }
    if (evaluation->reference && point->propagation) {
        evaluation->propagation = ref_propagation_open(pair, evaluation->base, evaluation->run,
                                                       point_omega(point), machine);
    }
    if (machine) {
        evaluation->machine = arithmetic_info(point->arithmetic);
        evaluation->kernel =
            arithmetic_open(evaluation->machine, &start, point->kernel, point_threads(point));
    }
}

/* The tokens that a point compares. */
static RefRows rows_of(const Point *point)
{
    return point->row > 0 ? (RefRows){point->row - 1, 1} : (RefRows){0, point->spec.n};
}

/* Share of bit-equal entries of the two machine streams in the compared rows and columns. */
static double identical_share(const MachineView *a, const MachineView *b, RefRows rows,
                              Columns columns)
{
    size_t equal = 0;
    for (size_t i = rows.first; i < rows.first + rows.count; i++) {
        for (size_t c = columns.first; c < columns.first + columns.count; c++) {
            equal += memcmp(&a->data[i * a->ld + c], &b->data[i * b->ld + c], sizeof(double)) == 0;
        }
    }
    return (double)equal / (double)(rows.count * columns.count);
}

static void compare_layer(Evaluation *evaluation, Row *row)
{
    const Pair *pair = &evaluation->shared->pair;
    RefRows rows = rows_of(evaluation->point);
    bool machine = evaluation->kernel != NULL;
    const MachineView *converted = machine ? &evaluation->converted : NULL;
    const MachineView *original = machine ? &evaluation->original : NULL;
    const RefLayer at = {pair, evaluation->base, row->layer, evaluation->run, converted, original};
    if (!point_has_reference(evaluation->point)) {
        ref_compare_machines(&row->errors, &at, rows);
    } else {
        ref_compare_rows(&row->errors, &at, rows);
    }
    if (evaluation->propagation != NULL) {
        ref_propagation_compare(&row->errors, evaluation->propagation, rows, converted);
    }
    if (machine) {
        row->identical = identical_share(converted, original, rows, pair->compared[row->layer - 1]);
    }
}

/* Evaluates one layer (from 1) into its row: errors (and identical).  false: it cannot be had. */
static bool evaluation_layer(Evaluation *evaluation, size_t layer)
{
    const Model *model = &evaluation->shared->pair.converted;
    bool difference = evaluation->point->reference == REFERENCE_DIFFERENCE;
    Row *row = &evaluation->rows[layer - 1];
    if (!model_enter(model, layer - 1)) {
        return false;
    }
    row->layer = layer;
    row->has_identical = evaluation->kernel != NULL;
    row->precision_bits = (long)evaluation->bits;
    row->difference_bits = difference ? (long)evaluation->bits : 0;
    if (evaluation->propagation != NULL) {
        ref_propagation_begin(evaluation->propagation, rows_of(evaluation->point));
    }
    if (evaluation->run != NULL) {
        ref_run_layer(evaluation->run);
    }
    if (evaluation->kernel != NULL) {
        const Layout *layout = &evaluation->shared->pair.original.layout;
        const double *original = shared_original(evaluation->shared, evaluation->point);
        KernelStream stream = evaluation->machine->functions->layer(evaluation->kernel);
        size_t content = layout_content(layout), first_row = layout_token_row(&model->layout, 0);
        evaluation->converted = (MachineView){stream.data + first_row * stream.ld, stream.ld};
        evaluation->original = (MachineView){original + (layer - 1) * layout->n * content, content};
    }
    compare_layer(evaluation, row);
    model_leave(model, layer - 1);
    return true;
}

/* ---- Precision ------------------------------------------------------------------------------- */

/* So many bits lack where nothing is known. */
#define UNKNOWN 0x1p30

/* Bits more that a row's cells lack, as many as there are where that is not known. */
static double proof_lacking(const Evaluation *evaluation, const Row *row)
{
    const RefErrors *errors = &row->errors;
    const Point *point = evaluation->point;
    bool seen = point_bits(point).hidden <= (double)point->max_bits;
    double lacking = seen ? fmax(errors->lacking, errors->hidden) : errors->lacking;
    return lacking < UNKNOWN ? lacking : (double)evaluation->bits;
}

/* The same of what is worked out from them, too. */
static double all_lacking(const Evaluation *evaluation, const Row *row)
{
    const Point *point = evaluation->point;
    double most = proof_lacking(evaluation, row);
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

/* Bits more at which a judged error that is only a bound comes within the tolerance, as a bound
 * falls by half for every bit; 0 where it is none or within, and where no precision helps. */
static double judged_wanted(const Evaluation *evaluation, const RefCell *cell)
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

/* ---- Rows ------------------------------------------------------------------------------------ */

/* The verdict on a row that was just compared; behind the last layer, shows the streams to the
 * receiver that asked for them. */
static void judge_row(Evaluation *evaluation, Row *row)
{
    const Point *point = evaluation->point;
    const Pair *pair = &evaluation->shared->pair;
    row_finish(point, row);
    if (evaluation->base != NULL) {
        const RefCell *judged = &row->errors.error[point->judge][point->norm];
        evaluation->lacking = fmax(evaluation->lacking, all_lacking(evaluation, row));
        evaluation->wanted = fmax(evaluation->wanted, judged_wanted(evaluation, judged));
    }
    if (row->layer == pair->original.depth && evaluation->final != NULL) {
        const RefLayer last = {pair,
                               evaluation->base,
                               row->layer,
                               evaluation->run,
                               &evaluation->converted,
                               &evaluation->original};
        evaluation->final(evaluation->context, point, &last);
    }
}

bool cell_is_worse(const RefCell *cell, const RefCell *worst)
{
    bool nonfinite = cell->state == CELL_NONFINITE;
    if (cell->state == CELL_ABSENT || worst->state == CELL_ABSENT) {
        return cell->state != CELL_ABSENT;
    }
    if (nonfinite != (worst->state == CELL_NONFINITE)) {
        return nonfinite;
    }
    if (nonfinite) {
        return mpfr_nan_p(cell->value) && !mpfr_nan_p(worst->value);
    }
    if (cell->state == CELL_ZERO || worst->state == CELL_ZERO) {
        return cell->state != CELL_ZERO;
    }
    return mpfr_greater_p(cell->value, worst->value) ||
           (mpfr_equal_p(cell->value, worst->value) && cell->state > worst->state);
}

/* *worst becomes the cell if that is worse.  false: it is no number, and so is *worst. */
static bool worsen(RefCell *worst, const RefCell *cell, bool contradiction)
{
    bool number = cell->state == CELL_ZERO || mpfr_number_p(cell->value);
    if (cell->state == CELL_ABSENT || !number || contradiction) {
        worst->state = CELL_NONFINITE;
        mpfr_set_nan(worst->value);
        return false;
    }
    if (cell_is_worse(cell, worst)) {
        ref_cell_set(worst, cell);
    }
    return true;
}

/* Of the layers so far.  false: no other is wanted. */
static bool take_worst(Evaluation *evaluation, const Row *row)
{
    RefCell *worst = evaluation->worst;
    const RefCell *cell = &row->errors.error[evaluation->point->judge][evaluation->point->norm];
    if (row->layer == 1) {
        worst->state = CELL_ZERO;
        mpfr_set_zero(worst->value, 1);
    }
    bool number = worsen(worst, cell, row->errors.contradiction);
    evaluation->wanted = fmax(evaluation->wanted, number ? judged_wanted(evaluation, cell) : 0);
    if (cell->state == CELL_BOUND) {
        evaluation->lacking = fmax(evaluation->lacking, proof_lacking(evaluation, row));
    }
    return number;
}

static bool evaluate_layers(Evaluation *evaluation)
{
    size_t depth = evaluation->shared->pair.converted.depth;
    bool ok = true, more = true;
    evaluation->lacking = evaluation->wanted = 0;
    evaluation_open(evaluation);
    for (size_t layer = 1; ok && more && layer <= depth; layer++) {
        Row *row = &evaluation->rows[layer - 1];
        ok = evaluation_layer(evaluation, layer);
        if (ok && evaluation->worst != NULL) {
            more = take_worst(evaluation, row);
        } else if (ok) {
            judge_row(evaluation, row);
        }
    }
    ref_propagation_clear(evaluation->propagation);
    ref_run_clear(evaluation->run);
    if (evaluation->kernel != NULL) {
        evaluation->machine->functions->clear(evaluation->kernel);
    }
    return ok;
}

/* Evaluates the rows with the precision that the point begins with, and once more from the first
 * layer on while point_bits_next says so.  NULL: a layer cannot be had. */
static Row *evaluate_rows(Evaluation *evaluation)
{
    /* A base of the point's own at the evaluation's bits, where the shared ones have others.  That
     * of a group has the most bits that its points are known to take beforehand: a point of more
     * lacks some; and radii are smaller with more, and with them bounds, where what is proven is to
     * depend on the point alone. */
    RefBase *own = NULL;
    const Point *point = evaluation->point;
    const Shared *shared = evaluation->shared;
    mpfr_prec_t bits = 0;
    bool ok = true;
    int raises = 0;
    evaluation->rows = need_zeros(point->spec.depth, sizeof *evaluation->rows);
    for (size_t l = 0; l < point->spec.depth; l++) {
        row_init(&evaluation->rows[l], point);
    }
    if (point_has_reference(point)) {
        bits = evaluation->reference ? shared_bits(shared, point) : ref_base_bits(shared->base);
        evaluation->base = shared_base_of(shared, bits);
    }
    do {
        evaluation->bits = bits;
        if (evaluation->base != NULL && ref_base_bits(evaluation->base) != bits) {
            ref_base_clear(own);
            own = shared_base(shared, bits, point_limit(point));
            evaluation->base = own;
            ok = own != NULL;
        }
        ok = ok && evaluate_layers(evaluation);
        double more = fmax(evaluation->lacking, evaluation->wanted);
        bits = point_bits_next(point, bits, more, shared->lost, raises++);
    } while (ok && bits > 0);
    ref_base_clear(own);
    if (!ok) {
        point_rows_free(evaluation->rows, point);
    }
    return ok ? evaluation->rows : NULL;
}

Row *point_evaluate(const Shared *shared, const Point *point, FinalSink *final, void *context)
{
    Evaluation evaluation = {.shared = shared,
                             .point = point,
                             .reference = point_has_reference(point),
                             .final = final,
                             .context = context};
    return evaluate_rows(&evaluation);
}

bool point_worst_cell(RefCell *worst, const Shared *shared, const Point *point)
{
    ErrorKind judge = point->judge;
    bool reference = judge == ERROR_CONSTRUCTION || judge == ERROR_ROUNDING;
    bool converted = judge == ERROR_ROUNDING || judge == ERROR_TOTAL || judge == ERROR_OBSERVED;
    if (converted && point_overflows(point)) { /* as row_finish has it */
        worst->state = CELL_NONFINITE;
        mpfr_set_nan(worst->value);
        return true;
    }
    Evaluation evaluation = {
        .shared = shared, .point = point, .reference = reference, .worst = worst};
    Row *rows = evaluate_rows(&evaluation);
    point_rows_free(rows, point);
    return rows != NULL;
}
