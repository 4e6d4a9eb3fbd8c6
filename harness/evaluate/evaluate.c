/*
 * The rows of one point: precision planned, layers evaluated and compared, precision raised
 * where a promise was broken.
 */
#include "evaluate.h"

#include "../../reference/propagation.h"
#include "../table/columns.h"
#include "verdict.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* One evaluation in progress: r(T') and m(T') side by side. */
typedef struct {
    const Shared *shared;
    const Point *point;
    const RefPlan *plan; /* the shared one, the family's, or own */
    RefPlan *own;
    bool borrowed;  /* the plan is of other inputs: this one has to keep to it */
    bool beside;    /* own is measured beside the run */
    bool certified; /* there are radii */
    bool proven;    /* and no plan */
    const RefBase *base;
    RefRun *run;                 /* NULL where no judged error needs r(T') */
    RefPropagation *propagation; /* NULL where it is not asked for */
    const ArithmeticInfo *machine;
    Kernel *kernel; /* NULL without an arithmetic */
    RefBits bits;   /* of a run by itself x's alone */
    const RefKeeper *keeper;
    FinalSink *final;                /* or NULL */
    void *context;                   /* for that */
    MachineView converted, original; /* after the layer evaluated last */
} Evaluation;

/* A plan and precision of the point's own.  false: memory is short. */
static bool evaluation_own_plan(Evaluation *evaluation)
{
    const Point *point = evaluation->point;
    ref_plan_clear(evaluation->own);
    evaluation->own =
        ref_plan_make_kept(&evaluation->shared->pair, point_omega(point), evaluation->keeper);
    evaluation->plan = evaluation->own;
    evaluation->borrowed = false;
    if (evaluation->own == NULL) {
        return false;
    }
    evaluation->bits = shared_bits(evaluation->own, point);
    return true;
}

/* The plan and the precision for a point; with difference true its plan serves the difference. */
static bool evaluation_plan(Evaluation *evaluation, bool difference)
{
    const Shared *shared = evaluation->shared;
    const Point *point = evaluation->point;
    evaluation->plan = shared->plan;
    evaluation->certified = point->certify;
    if (difference && shared->proven) {
        evaluation->certified = evaluation->proven = true;
        evaluation->plan = NULL;
        evaluation->bits = shared_bits(NULL, point);
        evaluation->bits.e = evaluation->bits.x; /* a radius is of x and e at once */
        return true;
    }
    if (difference && shared->beside) {
        evaluation->beside = true;
        evaluation->own = ref_plan_beside(&shared->pair, point_omega(point));
        evaluation->plan = evaluation->own;
        evaluation->bits = shared_bits(NULL, point);
        return evaluation->own != NULL;
    }
    if (difference && !ref_plan_serves(shared->plan, point_omega(point))) {
        if (!shared_family_plan(&evaluation->plan, shared, point_omega(point))) {
            return false;
        }
        if (evaluation->plan == NULL) {
            return evaluation_own_plan(evaluation);
        }
    }
    evaluation->borrowed = difference && shared->family != NULL && shared->own == NULL;
    evaluation->bits = shared_bits(evaluation->plan, point);
    return true;
}

static RefRun *open_run(const Pair *pair, const Point *point, RefBits bits, const RefBase *base)
{
    const double *x = pair->converted_x, *content = pair->bias_row_content;
    double omega = point_omega(point);
    if (point->propagation) {
        return ref_propagation_run_open(pair, omega, bits.x, base);
    }
    return point->reference == REFERENCE_DIFFERENCE
               ? ref_difference_open_at(&pair->converted, x, content, omega, bits, base)
               : ref_run_open(&pair->converted, x, content, omega, bits.x, point->form);
}

/* What the base of one point alone keeps of r(T_infinity). */
static RefLimit own_limit(const Point *point)
{
    return point->reference == REFERENCE_DIFFERENCE ? REF_LIMIT_NONE : REF_LIMIT_STREAMS;
}

static bool evaluation_open(Evaluation *evaluation, bool reference)
{
    const Pair *pair = &evaluation->shared->pair;
    const Point *point = evaluation->point;
    bool machine = point->arithmetic != ARITHMETIC_NONE;
    bool propagation = reference && point->propagation;
    evaluation->run = NULL;
    evaluation->propagation = NULL;
    evaluation->kernel = NULL;
    if (reference) {
        evaluation->run = open_run(pair, point, evaluation->bits, evaluation->base);
    }
    if (evaluation->run != NULL && evaluation->certified && !ref_run_certify(evaluation->run)) {
        return false;
    }
    if (propagation && evaluation->run != NULL) {
        evaluation->propagation = ref_propagation_open(
            pair, evaluation->plan, evaluation->base, evaluation->run, point_omega(point), machine);
    }
    if (machine) {
        evaluation->machine = arithmetic_info(point->arithmetic);
        evaluation->kernel =
            arithmetic_open(evaluation->machine, case_converted(pair, point->penalty),
                            pair->converted_x, pair->bias_row_content, point_omega(point),
                            point->kernel, shared_kernel_threads(point));
    }
    return (!reference || evaluation->run != NULL) &&
           (!propagation || evaluation->propagation != NULL) &&
           (!machine || evaluation->kernel != NULL);
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

/* The reference's next layer, and the plan's beside it.  false: memory is short. */
static bool reference_layer(Evaluation *evaluation)
{
    if (evaluation->run == NULL) {
        return true;
    }
    if (evaluation->propagation != NULL &&
        !ref_propagation_begin(evaluation->propagation, rows_of(evaluation->point))) {
        return false;
    }
    ref_run_layer(evaluation->run);
    return !ref_run_failed(evaluation->run) &&
           (!evaluation->beside || ref_plan_follow(evaluation->own, evaluation->run));
}

/* converted, original: NULL without an arithmetic. */
static void compare_layer(Evaluation *evaluation, Row *row, const MachineView *converted,
                          const MachineView *original)
{
    RefRows rows = rows_of(evaluation->point);
    if (!point_has_reference(evaluation->point)) {
        ref_compare_machines(&row->errors, &evaluation->shared->pair, row->layer, rows, converted,
                             original);
        return;
    }
    ref_compare_rows(&row->errors, &evaluation->shared->pair, evaluation->plan, evaluation->base,
                     row->layer, rows, evaluation->run, converted, original);
    if (evaluation->propagation != NULL) {
        ref_propagation_compare(&row->errors, evaluation->propagation, rows, converted);
    }
}

/* Evaluates one layer and fills in errors (and identical).  false: memory is short. */
static bool evaluation_layer(Evaluation *evaluation, size_t layer, Row *row)
{
    const Shared *shared = evaluation->shared;
    const Pair *pair = &shared->pair;
    const Layout *layout = &pair->converted.layout;
    MachineView converted, original;
    row->layer = layer;
    row->has_identical = evaluation->kernel != NULL;
    row->precision_bits = (long)evaluation->bits.x;
    row->difference_bits =
        evaluation->point->reference == REFERENCE_DIFFERENCE ? (long)evaluation->bits.e : 0;
    if (!reference_layer(evaluation)) {
        return false;
    }
    if (evaluation->kernel == NULL) {
        compare_layer(evaluation, row, NULL, NULL);
        return true;
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
    return true;
}

/* Whoever looks at the streams after the last layer.  false: memory is short. */
static bool show_final(const Evaluation *evaluation)
{
    const FinalStreams streams = {.shared = evaluation->shared,
                                  .point = evaluation->point,
                                  .plan = evaluation->plan,
                                  .base = evaluation->base,
                                  .run = evaluation->run,
                                  .converted = evaluation->converted,
                                  .original = evaluation->original};
    return evaluation->final == NULL || evaluation->final(evaluation->context, &streams);
}

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

/* And it did not come out? */
static bool promise_broken(const Evaluation *evaluation, const Row *row)
{
    bool bound = false;
    for (int norm = 0; norm < NORM_COUNT; norm++) {
        bound = bound || row->errors.error[ERROR_CONSTRUCTION][norm].state == CELL_BOUND;
    }
    return bound && construction_promised(evaluation, row->layer);
}

/* Bits more that a certified row's cells lack, at most as many as there are. */
static double proof_lacking(const Evaluation *evaluation, const Row *row)
{
    return fmin(row->errors.lacking, (double)evaluation->bits.x);
}

/* Bits more that make values of what the plan promised and is only a bound, though more than noise:
 * a value that lies where its digits change, or an error far smaller than errors are.  A proof is
 * asked for all.  0: none. */
static double bits_lacking(const Evaluation *evaluation, const Row *row)
{
    const Point *point = evaluation->point;
    bool certify = evaluation->certified;
    bool difference = certify || construction_promised(evaluation, row->layer);
    bool streams = certify || ref_plan_bits(evaluation->plan, point_digits(point), 0, row->layer) <=
                                  (double)evaluation->bits.x;
    double most = certify ? proof_lacking(evaluation, row) : 0;
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

/* Bits more at which a judged error that is only a bound comes within the tolerance, as a bound
 * falls by half for every bit; 0 where it is none or within, and where no precision helps. */
static double bits_wanted(const Evaluation *evaluation, const RefCell *cell)
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

/* What rows at one precision came to.  passed: every row; broken: a promise that the construction
 * error comes out; strayed: it does not keep to a plan of other inputs; lacking, wanted: bits more
 * that other promises, or what is not proven, and a judged error ask for. */
typedef struct {
    bool passed, broken, strayed;
    double lacking, wanted;
} RowsFound;

static mpfr_prec_t bits_more(mpfr_prec_t bits, double more, double most)
{
    double next = more > 0 ? fmin((double)bits + 64 * ceil(more / 64), most) : 0;
    return next > (double)bits ? (mpfr_prec_t)next : bits;
}

/* The bits to try next: of the difference twice as many for a broken promise; of both at least 64
 * more for what else is asked.  false: none are, or none may be had. */
static bool bits_next(RefBits *next, const Evaluation *evaluation, const RowsFound *found)
{
    const Point *point = evaluation->point;
    RefBits bits = evaluation->bits;
    double most = (double)point->max_bits, more = fmax(found->lacking, found->wanted);
    if (point->precision != 0) {
        return false;
    }
    *next = (RefBits){bits_more(bits.x, more, most), bits_more(bits.e, more, most)};
    if (found->broken && 2 * (double)bits.e <= most && 2 * bits.e > next->e) {
        next->e = 2 * bits.e;
    }
    next->x = next->x < next->e ? next->e : next->x;
    return next->x > bits.x || next->e > bits.e;
}

/* After a layer: is this input's plan to be its own? */
static bool strays(const Evaluation *evaluation)
{
    return evaluation->borrowed && evaluation->run != NULL &&
           !ref_plan_covers(evaluation->plan, &evaluation->shared->pair, evaluation->run);
}

/* An evaluation's rows so far: both models are behind layer `done`. */
typedef struct {
    Evaluation *evaluation;
    Row *rows;
    size_t done;
    RowsFound found;
} RowsMade;

static void rows_visit(RefArchive *archive, void *state)
{
    RowsMade *made = state;
    Evaluation *evaluation = made->evaluation;
    made->done = ref_archive_count(archive, made->done, evaluation->point->spec.depth);
    made->found.passed = ref_archive_flag(archive, made->found.passed);
    made->found.broken = ref_archive_flag(archive, made->found.broken);
    ref_archive_doubles(archive, &made->found.lacking, 1, 0, INFINITY);
    ref_archive_doubles(archive, &made->found.wanted, 1, 0, INFINITY);
    ref_run_visit(archive, evaluation->run);
    ref_archive_expect(archive, ref_run_layers(evaluation->run) == made->done);
    if (evaluation->beside) {
        ref_plan_visit(archive, evaluation->own);
        ref_archive_expect(archive, ref_plan_layers(evaluation->own) == made->done);
    }
    if (evaluation->kernel != NULL) {
        size_t count;
        double *stream = evaluation->machine->functions->state(evaluation->kernel, &count);
        ref_archive_bytes(archive, stream, count * sizeof *stream);
        evaluation->machine->functions->go_on(evaluation->kernel, made->done);
    }
    if (evaluation->propagation != NULL) {
        ref_propagation_visit(archive, evaluation->propagation);
    }
    for (size_t l = 0; l < made->done && !archive->failed; l++) {
        row_visit(archive, &made->rows[l]);
        if (evaluation->propagation != NULL) {
            row_visit_propagation(archive, &made->rows[l]);
        }
        ref_archive_expect(archive, made->rows[l].layer == l + 1);
    }
}

/* The name of an evaluation's state. */
static const char *state_name(const Evaluation *evaluation)
{
    if (evaluation->point->propagation) {
        return evaluation->beside ? "propagation-and-plan" : "propagation";
    }
    return evaluation->certified ? "rows-and-radii" : evaluation->beside ? "rows-and-plan" : "rows";
}

/* Radii that nobody asked for did not suffice. */
static bool is_unproven(const Evaluation *evaluation, const RowsFound *found)
{
    return evaluation->proven && !evaluation->point->certify && found->lacking > 0;
}

/* All layers at one precision, or until they are not proven where they need not be. */
static EvaluateStatus evaluate_at(Evaluation *evaluation, RowsFound *found, Row *rows, size_t depth)
{
    RowsMade made = {.evaluation = evaluation, .rows = rows, .found = {.passed = true}};
    RowsFound *all = &made.found;
    const RefKeeper *keeper = evaluation->keeper;
    const Point *point = evaluation->point;
    const char *what = state_name(evaluation);
    if (!evaluation_open(evaluation, true)) {
        evaluation_close(evaluation);
        return EVALUATE_NO_MEMORY;
    }
    (void)ref_keeper_restore(keeper, what, evaluation->bits.x, rows_visit, &made);
    while (made.done < depth && !is_unproven(evaluation, all)) {
        Row *row = &rows[made.done++];
        if (!evaluation_layer(evaluation, made.done, row)) {
            evaluation_close(evaluation);
            return EVALUATE_NO_MEMORY;
        }
        all->strayed = strays(evaluation) || all->strayed;
        row_finish(point, row);
        all->passed = row_passes(point, row) && all->passed;
        all->broken = (!evaluation->certified && promise_broken(evaluation, row)) || all->broken;
        all->lacking = fmax(all->lacking, bits_lacking(evaluation, row));
        all->wanted = fmax(all->wanted,
                           bits_wanted(evaluation, &row->errors.error[point->judge][point->norm]));
        ref_keeper_offer(keeper, what, evaluation->bits.x, rows_visit, &made);
    }
    *found = *all;
    bool ok = is_unproven(evaluation, all) || show_final(evaluation);
    evaluation_close(evaluation);
    return ok ? EVALUATE_OK : EVALUATE_NO_MEMORY;
}

/* Once more with other bits and a base of its own. */
static EvaluateStatus evaluate_again(Evaluation *evaluation, RefBits bits, RowsFound *found,
                                     Row *rows, size_t depth)
{
    RefBase *base = shared_base(evaluation->shared, evaluation->point, evaluation->certified,
                                bits.x, own_limit(evaluation->point), evaluation->keeper);
    if (base == NULL) {
        return EVALUATE_NO_MEMORY;
    }
    evaluation->bits = bits;
    evaluation->base = base;
    EvaluateStatus status = evaluate_at(evaluation, found, rows, depth);
    ref_base_clear(base);
    return status;
}

/* From the start, with a plan of its own made before, and radii only where they are asked for. */
static EvaluateStatus evaluate_with_plan(Evaluation *evaluation, RowsFound *found, Row *rows,
                                         size_t depth)
{
    evaluation->certified = evaluation->point->certify;
    evaluation->proven = false;
    return evaluation_own_plan(evaluation)
               ? evaluate_again(evaluation, evaluation->bits, found, rows, depth)
               : EVALUATE_NO_MEMORY;
}

/* Where a plan beside the evaluation lost its way, or asks for more bits. */
static EvaluateStatus evaluate_planned(Evaluation *evaluation, RowsFound *found, Row *rows,
                                       size_t depth)
{
    const Point *point = evaluation->point;
    RefBits bits = shared_bits(evaluation->own, point), have = evaluation->bits;
    evaluation->beside = false; /* it is measured: what follows only asks it */
    if (ref_plan_follows(evaluation->own) && bits.x <= have.x && bits.e <= have.e) {
        return EVALUATE_OK;
    }
    return evaluate_with_plan(evaluation, found, rows, depth);
}

/* Of a group whose points differ in bits, the base has the most: its radii are smaller than the
 * point's own, and with them bounds.  What is proven is to depend on the point alone. */
static bool base_is_shared(const Evaluation *evaluation)
{
    return evaluation->certified && ref_base_bits(evaluation->base) != evaluation->bits.x;
}

/* An error that is zero without a proof never comes out. */
enum { RAISES = 3 };

/* At the planned precision, and at more while a promise is broken or digits are not proven, RAISES
 * times at most, or a judged error is a bound above the tolerance. */
static EvaluateStatus evaluate_rows(Evaluation *evaluation, bool *passed, Row *rows, size_t depth)
{
    RowsFound found;
    EvaluateStatus status = base_is_shared(evaluation)
                                ? evaluate_again(evaluation, evaluation->bits, &found, rows, depth)
                                : evaluate_at(evaluation, &found, rows, depth);
    if (status == EVALUATE_OK && evaluation->beside) {
        status = evaluate_planned(evaluation, &found, rows, depth);
    } else if (status == EVALUATE_OK && (found.strayed || is_unproven(evaluation, &found))) {
        status = evaluate_with_plan(evaluation, &found, rows, depth);
    }
    for (int raises = 0; status == EVALUATE_OK; raises++) {
        RefBits bits;
        found.broken = found.broken && raises < RAISES;
        found.lacking = raises < RAISES ? found.lacking : 0;
        if (!bits_next(&bits, evaluation, &found)) {
            break;
        }
        status = evaluate_again(evaluation, bits, &found, rows, depth);
    }
    *passed = status == EVALUATE_OK && found.passed;
    return status;
}

/* m(T') alone. */
static EvaluateStatus evaluate_machine(bool *passed, const Shared *shared, const Point *point,
                                       Row *rows, size_t depth)
{
    Evaluation evaluation = {.shared = shared, .point = point};
    EvaluateStatus status = evaluation_open(&evaluation, false) ? EVALUATE_OK : EVALUATE_NO_MEMORY;
    *passed = status == EVALUATE_OK;
    for (size_t l = 0; l < depth && status == EVALUATE_OK; l++) {
        if (!evaluation_layer(&evaluation, l + 1, &rows[l])) {
            status = EVALUATE_NO_MEMORY;
        }
        row_finish(point, &rows[l]);
        *passed = row_passes(point, &rows[l]) && *passed;
    }
    evaluation_close(&evaluation);
    return status;
}

/* The plan, then the rows. */
static EvaluateStatus evaluate_point(bool *passed, const Shared *shared, const Point *point,
                                     Row *rows, size_t depth, FinalSink *final, void *context)
{
    Checkpoint checkpoint;
    EvaluateStatus status = EVALUATE_NO_MEMORY;
    if (checkpoint_init(&checkpoint, shared->checkpoints, point, false)) {
        Evaluation evaluation = {.shared = shared,
                                 .point = point,
                                 .base = shared->base,
                                 .keeper = point->certify ? NULL : checkpoint_keeper(&checkpoint),
                                 .final = final,
                                 .context = context};
        if (evaluation_plan(&evaluation, point->reference == REFERENCE_DIFFERENCE)) {
            status = evaluate_rows(&evaluation, passed, rows, depth);
        }
        ref_plan_clear(evaluation.own);
    }
    checkpoint_clear(&checkpoint);
    return status;
}

EvaluateStatus point_evaluate(bool *passed, const Shared *shared, const Point *point, RowSink *sink,
                              void *context)
{
    return point_evaluate_final(passed, shared, point, sink, NULL, context);
}

EvaluateStatus point_evaluate_final(bool *passed, const Shared *shared, const Point *point,
                                    RowSink *sink, FinalSink *final, void *context)
{
    size_t depth = shared->pair.converted.depth;
    Row *rows = calloc(depth, sizeof *rows);
    if (rows == NULL) {
        return EVALUATE_NO_MEMORY;
    }
    for (size_t l = 0; l < depth; l++) {
        row_init(&rows[l], point);
    }
    EvaluateStatus status = point_has_reference(point)
                                ? evaluate_point(passed, shared, point, rows, depth, final, context)
                                : evaluate_machine(passed, shared, point, rows, depth);
    for (size_t l = 0; status == EVALUATE_OK && l < depth; l++) {
        if (!sink(context, point, &rows[l])) {
            status = EVALUATE_NO_MEMORY;
        }
    }
    for (size_t l = 0; l < depth; l++) {
        row_clear(&rows[l]);
    }
    free(rows);
    return status;
}

/* *worst becomes the cell if that is larger; of equals a bound before a value.  false: it is no
 * number, and so is *worst. */
static bool worsen(RefCell *worst, const RefCell *cell, bool contradiction)
{
    bool number = cell->state == CELL_ZERO || mpfr_number_p(cell->value);
    if (cell->state == CELL_ABSENT || !number || contradiction) {
        worst->state = CELL_NONFINITE;
        mpfr_set_nan(worst->value);
        return false;
    }
    if (cell->state != CELL_ZERO &&
        (worst->state == CELL_ZERO || mpfr_greater_p(cell->value, worst->value) ||
         (mpfr_equal_p(cell->value, worst->value) && cell->state > worst->state))) {
        ref_cell_set(worst, cell);
    }
    return true;
}

/* The worst over all layers at one precision; r(T') where `reference`. */
static EvaluateStatus worst_at(RefCell *worst, RowsFound *found, Evaluation *evaluation,
                               bool reference)
{
    const Point *point = evaluation->point;
    size_t depth = evaluation->shared->pair.converted.depth;
    EvaluateStatus status = EVALUATE_OK;
    bool number = true;
    Row row;
    worst->state = CELL_ZERO;
    mpfr_set_zero(worst->value, 1);
    if (!evaluation_open(evaluation, reference)) {
        evaluation_close(evaluation);
        return EVALUATE_NO_MEMORY;
    }
    row_init(&row, point);
    for (size_t l = 0; l < depth && number; l++) {
        if (!evaluation_layer(evaluation, l + 1, &row)) {
            status = EVALUATE_NO_MEMORY;
            break;
        }
        found->strayed = strays(evaluation) || found->strayed;
        const RefCell *cell = &row.errors.error[point->judge][point->norm];
        number = worsen(worst, cell, row.errors.contradiction);
        found->wanted = fmax(found->wanted, number ? bits_wanted(evaluation, cell) : 0);
        if (point->certify && cell->state == CELL_BOUND) {
            found->lacking = fmax(found->lacking, proof_lacking(evaluation, &row));
        }
    }
    row_clear(&row);
    evaluation_close(evaluation);
    return status;
}

/* Is the judged error one of the machine's T'? */
static bool judges_converted(const Point *point)
{
    return point->judge == ERROR_ROUNDING || point->judge == ERROR_TOTAL ||
           point->judge == ERROR_OBSERVED;
}

EvaluateStatus point_worst_cell(RefCell *worst, const Shared *shared, const Point *point)
{
    bool reference = point->judge == ERROR_CONSTRUCTION || point->judge == ERROR_ROUNDING;
    Evaluation evaluation = {.shared = shared, .point = point, .base = shared->base};
    RefBase *base = NULL;
    RefBits next;
    if (judges_converted(point) && point_overflows(point)) { /* as row_finish has it */
        worst->state = CELL_NONFINITE;
        mpfr_set_nan(worst->value);
        return EVALUATE_OK;
    }
    bool ok = evaluation_plan(&evaluation, reference && point->reference == REFERENCE_DIFFERENCE);
    if (ok && !reference) {
        evaluation.bits = (RefBits){ref_base_bits(shared->base), ref_base_bits(shared->base)};
    }
    for (int raises = 0; ok; raises++) {
        RowsFound found = {0};
        if (evaluation.bits.x > ref_base_bits(evaluation.base)) {
            ref_base_clear(base);
            base = shared_base(shared, point, evaluation.certified, evaluation.bits.x,
                               own_limit(point), NULL);
            evaluation.base = base;
        }
        ok = evaluation.base != NULL &&
             worst_at(worst, &found, &evaluation, reference) == EVALUATE_OK;
        found.lacking = raises < RAISES ? found.lacking : 0;
        if (ok && found.strayed) {
            ok = evaluation_own_plan(&evaluation);
            continue;
        }
        if (!ok || !bits_next(&next, &evaluation, &found)) {
            break;
        }
        evaluation.bits = next;
    }
    ref_base_clear(base);
    ref_plan_clear(evaluation.own);
    return ok ? EVALUATE_OK : EVALUATE_NO_MEMORY;
}

EvaluateStatus point_worst_error(mpfr_ptr worst, const Shared *shared, const Point *point)
{
    RefCell cell;
    ref_cell_init(&cell, point_digits(point));
    EvaluateStatus status = point_worst_cell(&cell, shared, point);
    if (status == EVALUATE_OK) {
        mpfr_set(worst, cell.value, MPFR_RNDU);
    }
    ref_cell_clear(&cell);
    return status;
}

EvaluateStatus point_final_rows(double *x, RefRows rows, const Shared *shared, const Point *point)
{
    const Model *model = &shared->pair.converted;
    Evaluation evaluation = {.shared = shared, .point = point};
    if (point->arithmetic == ARITHMETIC_NONE || !evaluation_open(&evaluation, false)) {
        evaluation_close(&evaluation);
        return EVALUATE_NO_MEMORY;
    }
    KernelStream stream = {0};
    for (size_t l = 0; l < model->depth; l++) {
        stream = evaluation.machine->functions->layer(evaluation.kernel);
    }
    for (size_t i = 0; i < rows.count; i++) {
        size_t row = layout_token_row(&model->layout, rows.first + i), d = model->layout.d;
        memcpy(x + i * d, stream.data + row * stream.ld, d * sizeof *x);
    }
    evaluation_close(&evaluation);
    return EVALUATE_OK;
}
