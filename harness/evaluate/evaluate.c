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
    bool reference;              /* r(T') is evaluated */
    Row *rows;                   /* [depth] */
    const RefBase *base;         /* NULL where nothing is compared with a reference */
    mpfr_prec_t bits;            /* of r(T') */
    RefRun *run;                 /* NULL without a reference, as the next */
    RefPropagation *propagation; /* NULL where it is not asked for */
    const ArithmeticInfo *machine;
    Kernel *kernel;                  /* NULL without an arithmetic */
    MachineView converted, original; /* after the layer evaluated last */
    /* Of the rows at these bits: every one passes; the bits that cells without a proof want more,
     * and those that a judged error wants more. */
    bool passed;
    double lacking, wanted;
} Evaluation;

/* With the precision that the point begins with, and the base of those that there are. */
static void evaluation_init(Evaluation *evaluation, const Shared *shared, const Point *point,
                            bool reference)
{
    size_t depth = shared->pair.converted.depth;
    *evaluation = (Evaluation){.shared = shared, .point = point, .reference = reference};
    evaluation->rows = need_zeros(depth, sizeof *evaluation->rows);
    for (size_t l = 0; l < depth; l++) {
        row_init(&evaluation->rows[l], point);
    }
    if (point_has_reference(point)) {
        evaluation->bits = reference ? shared_bits(shared, point) : ref_base_bits(shared->base);
        evaluation->base = shared_base_of(shared, evaluation->bits);
    }
}

static void evaluation_clear(Evaluation *evaluation)
{
    for (size_t l = 0; l < evaluation->shared->pair.converted.depth; l++) {
        row_clear(&evaluation->rows[l]);
    }
    free(evaluation->rows);
}

static RefRun *open_run(const Pair *pair, const Point *point, mpfr_prec_t bits, const RefBase *base)
{
    const Start start = pair_start(pair, point_omega(point));
    if (point->propagation) {
        return ref_propagation_run_open(pair, start.omega, bits, base);
    }
    return point->reference == REFERENCE_DIFFERENCE ? ref_difference_open(&start, bits, base)
                                                    : ref_run_open(&start, bits);
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
        evaluation->run = open_run(pair, point, evaluation->bits, evaluation->base);
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

static void evaluation_close(Evaluation *evaluation)
{
    ref_propagation_clear(evaluation->propagation);
    ref_run_clear(evaluation->run);
    if (evaluation->kernel != NULL) {
        evaluation->machine->functions->clear(evaluation->kernel);
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

/* The machine's next layer, and m(T)'s. */
static void machine_layer(Evaluation *evaluation, size_t layer)
{
    const Pair *pair = &evaluation->shared->pair;
    const double *original = shared_original(evaluation->shared, evaluation->point);
    KernelStream stream = evaluation->machine->functions->layer(evaluation->kernel);
    size_t content = layout_content(&pair->original.layout), n = pair->original.layout.n;
    size_t first_row = layout_token_row(&pair->converted.layout, 0);
    evaluation->converted = (MachineView){stream.data + first_row * stream.ld, stream.ld};
    evaluation->original = (MachineView){original + (layer - 1) * n * content, content};
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
        machine_layer(evaluation, layer);
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

/* Looks at a row whose layer was just evaluated, and adds to what is found.  false: no other layer
 * is wanted. */
typedef bool TakeRow(void *context, Evaluation *evaluation, Row *row);

static bool evaluate_layers(Evaluation *evaluation, TakeRow *take, void *context)
{
    size_t depth = evaluation->shared->pair.converted.depth;
    bool ok = true, more = true;
    evaluation->passed = true;
    evaluation->lacking = evaluation->wanted = 0;
    evaluation_open(evaluation);
    for (size_t layer = 1; ok && more && layer <= depth; layer++) {
        ok = evaluation_layer(evaluation, layer);
        more = ok && take(context, evaluation, &evaluation->rows[layer - 1]);
    }
    evaluation_close(evaluation);
    return ok;
}

/* Evaluates the rows, and once more from the first layer on while point_bits_next says so. */
static bool evaluate_rows(Evaluation *evaluation, TakeRow *take, void *context)
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
        ok = ok && evaluate_layers(evaluation, take, context);
        double more = fmax(evaluation->lacking, evaluation->wanted);
        bits = point_bits_next(point, bits, more, evaluation->shared->lost, raises++);
    } while (ok && bits > 0);
    ref_base_clear(own);
    return ok;
}

/* ---- All rows -------------------------------------------------------------------------------- */

/* Adds the verdict on a row that was just compared to those on the rows before it; behind the last
 * layer, shows the streams to the receiver that asked for them. */
static bool judge_row(void *context, Evaluation *evaluation, Row *row)
{
    const PointSink *sink = context;
    const Point *point = evaluation->point;
    const Pair *pair = &evaluation->shared->pair;
    row_finish(point, row);
    evaluation->passed = row_passes(point, row) && evaluation->passed;
    if (evaluation->base != NULL) {
        const RefCell *judged = &row->errors.error[point->judge][point->norm];
        evaluation->lacking = fmax(evaluation->lacking, all_lacking(evaluation, row));
        evaluation->wanted = fmax(evaluation->wanted, judged_wanted(evaluation, judged));
    }
    if (row->layer == pair->original.depth && sink->final != NULL) {
        const FinalStreams streams = {.shared = evaluation->shared,
                                      .point = point,
                                      .layer = {pair, evaluation->base, row->layer, evaluation->run,
                                                &evaluation->converted, &evaluation->original}};
        sink->final(sink->context, &streams);
    }
    return true;
}

bool point_evaluate(bool *passed, const Shared *shared, const Point *point, const PointSink *sink)
{
    Evaluation evaluation;
    PointSink own = *sink;
    evaluation_init(&evaluation, shared, point, point_has_reference(point));
    bool ok = evaluate_rows(&evaluation, judge_row, &own);
    for (size_t l = 0; ok && l < shared->pair.converted.depth; l++) {
        sink->row(sink->context, point, &evaluation.rows[l]);
    }
    *passed = ok && evaluation.passed;
    evaluation_clear(&evaluation);
    return ok;
}

/* ---- The worst of them ----------------------------------------------------------------------- */

bool cell_is_worse(const RefCell *cell, const RefCell *worst)
{
    bool nonfinite = cell->state == CELL_NONFINITE;
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

/* Of the layers so far. */
static bool take_layer(void *context, Evaluation *evaluation, Row *row)
{
    RefCell *worst = context;
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

bool point_worst_cell(RefCell *worst, const Shared *shared, const Point *point)
{
    ErrorKind judge = point->judge;
    bool reference = judge == ERROR_CONSTRUCTION || judge == ERROR_ROUNDING;
    bool converted = judge == ERROR_ROUNDING || judge == ERROR_TOTAL || judge == ERROR_OBSERVED;
    Evaluation evaluation;
    if (converted && point_overflows(point)) { /* as row_finish has it */
        worst->state = CELL_NONFINITE;
        mpfr_set_nan(worst->value);
        return true;
    }
    evaluation_init(&evaluation, shared, point, reference);
    bool ok = evaluate_rows(&evaluation, take_layer, worst);
    evaluation_clear(&evaluation);
    return ok;
}
