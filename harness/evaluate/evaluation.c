/*
 * One evaluation in progress: layer after layer of both models, compared.
 */
#include "evaluation.h"

#include "../../memory/need.h"
#include "mode.h"

#include <stdlib.h>
#include <string.h>

void evaluation_init(Evaluation *evaluation, const Shared *shared, const Point *point,
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

void evaluation_clear(Evaluation *evaluation)
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

void evaluation_open(Evaluation *evaluation)
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

void evaluation_close(Evaluation *evaluation)
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

bool evaluation_layer(Evaluation *evaluation, size_t layer)
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
