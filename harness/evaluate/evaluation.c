/*
 * One evaluation in progress, and its precisions.
 */
#include "evaluation.h"

#include "mode.h"

#include <string.h>

void evaluation_begin(Evaluation *evaluation)
{
    evaluation->bits = shared_bits(evaluation->shared, evaluation->point);
    evaluation->base = shared_base_of(evaluation->shared, evaluation->bits);
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

/* How much the base of one point alone keeps of r(T_infinity). */
static RefLimit own_limit(const Point *point)
{
    bool difference = point->reference == REFERENCE_DIFFERENCE;
    return difference && point->judge != ERROR_APPROXIMATION ? REF_LIMIT_NONE : REF_LIMIT_STREAMS;
}

bool evaluation_needs_base(const Evaluation *evaluation)
{
    return ref_base_bits(evaluation->base) != evaluation->bits;
}

RefBase *evaluation_own_base(const Evaluation *evaluation)
{
    const Point *point = evaluation->point;
    const SharedBase wanted = {.bits = evaluation->bits, .limit = own_limit(point)};
    return shared_base(evaluation->shared, &wanted);
}

void evaluation_open(Evaluation *evaluation, bool reference)
{
    const Pair *pair = &evaluation->shared->pair;
    const Point *point = evaluation->point;
    bool machine = point->arithmetic != ARITHMETIC_NONE;
    bool propagation = reference && point->propagation;
    const Start start = case_start(pair, point->penalty, point_omega(point));
    evaluation->run = NULL;
    evaluation->propagation = NULL;
    evaluation->kernel = NULL;
    if (reference) {
        evaluation->run = open_run(pair, point, evaluation->bits, evaluation->base);
        ref_run_certify(evaluation->run);
    }
    if (propagation) {
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

/* The reference's next layer. */
static void reference_layer(Evaluation *evaluation)
{
    if (evaluation->propagation != NULL) {
        ref_propagation_begin(evaluation->propagation, rows_of(evaluation->point));
    }
    if (evaluation->run != NULL) {
        ref_run_layer(evaluation->run);
    }
}

/* converted, original: NULL without an arithmetic. */
static void compare_layer(Evaluation *evaluation, Row *row, const MachineView *converted,
                          const MachineView *original)
{
    RefRows rows = rows_of(evaluation->point);
    const RefLayer at = {&evaluation->shared->pair, evaluation->base, row->layer,
                         evaluation->run,           converted,        original};
    if (!point_has_reference(evaluation->point)) {
        ref_compare_machines(&row->errors, &at, rows);
        return;
    }
    ref_compare_rows(&row->errors, &at, rows);
    if (evaluation->propagation != NULL) {
        ref_propagation_compare(&row->errors, evaluation->propagation, rows, converted);
    }
}

/* The layer, whose weights are there. */
static void evaluate_layer(Evaluation *evaluation, size_t layer, Row *row)
{
    const Shared *shared = evaluation->shared;
    const Pair *pair = &shared->pair;
    const Layout *layout = &pair->converted.layout;
    MachineView converted, original;
    row->layer = layer;
    row->has_identical = evaluation->kernel != NULL;
    row->precision_bits = (long)evaluation->bits;
    row->difference_bits =
        evaluation->point->reference == REFERENCE_DIFFERENCE ? (long)evaluation->bits : 0;
    reference_layer(evaluation);
    if (evaluation->kernel == NULL) {
        compare_layer(evaluation, row, NULL, NULL);
        return;
    }
    KernelStream stream = evaluation->machine->functions->layer(evaluation->kernel);
    size_t content = layout_content(&pair->original.layout), n = layout->n;
    size_t first_row = layout_token_row(layout, 0);
    converted = (MachineView){stream.data + first_row * stream.ld, stream.ld};
    original = (MachineView){shared_original(shared, evaluation->point) + (layer - 1) * n * content,
                             content};
    compare_layer(evaluation, row, &converted, &original);
    evaluation->converted = converted;
    evaluation->original = original;
    row->identical = identical_share(&converted, &original, rows_of(evaluation->point),
                                     pair->compared[layer - 1]);
}

bool evaluation_layer(Evaluation *evaluation, size_t layer, Row *row)
{
    const Model *model = &evaluation->shared->pair.converted;
    if (!model_enter(model, layer - 1)) {
        return false;
    }
    evaluate_layer(evaluation, layer, row);
    model_leave(model, layer - 1);
    return true;
}
