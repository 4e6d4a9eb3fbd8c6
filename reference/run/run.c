/*
 * One evaluation of one model in arbitrary precision, layer by layer:
 *     x = x + (the sum of its heads), or x = (a direct operation)(x),   sublayer after sublayer,
 * and beside the limit, where it is asked for, the difference e = r(T') - r(T_infinity).
 */
#include "run.h"

#include "../../memory/need.h"
#include "sublayer.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

_Static_assert(SEEN_BITS == REF_CELL_BITS, "the largest score is a cell");

/* Shapes that hold any block of the model's heads, and the columns of its direct operations. */
typedef struct {
    RecordShape block;
    size_t rows;
} Widest;

static void widen(void *context, const Bundle *bundle, size_t first, size_t heads)
{
    Widest *widest = context;
    RecordShape shape = record_shape(bundle, first, heads, widest->rows);
    record_shape_widen(&widest->block, &shape);
}

/* Shapes that hold all of a model's sublayers, one by one. */
typedef struct {
    RecordShape block;
    NormExtent norm;
} RunShape;

static RunShape run_shape(const Model *model, mpfr_prec_t bits)
{
    size_t rows = layout_rows(&model->layout);
    Widest widest = {{.rows = rows}, rows};
    heads_each_block(model, bits, model->sublayer_count, widen, &widest);
    for (size_t s = 0; s < model->sublayer_count; s++) {
        const Sublayer *sublayer = &model->sublayers[s];
        if (sublayer->bundle_count == 0) {
            RecordShape direct = {.part = {direct_columns(&sublayer->direct, rows, bits)}};
            record_shape_widen(&widest.block, &direct);
        }
    }
    return (RunShape){widest.block, norm_extent(model)};
}

static EvaluatorShape evaluator_shape(const RecordShape *block)
{
    size_t sum = block->head > block->head_query ? block->head : block->head_query;
    return (EvaluatorShape){.sum = sum, .row = block->pattern};
}

enum { RUN_MATS = 7 };

/* A run's own matrices; what its record, its evaluator and the rest have is theirs to say. */
static void run_list(RefRun *run, const Layout *layout, const RunShape *shape,
                     ApExtent list[RUN_MATS])
{
    size_t rows = layout_rows(layout), columns = layout_content(layout);
    list[0] = (ApExtent){&run->stream, rows, columns};
    list[1] = (ApExtent){&run->scratch.delta, rows, columns};
    list[2] = (ApExtent){&run->scratch.work.product, rows, shape->block.gate};
    list[3] = (ApExtent){&run->scratch.work.scaled, rows, shape->block.scaled};
    list[4] = (ApExtent){&run->scratch.normed, rows, shape->norm.copy};
    list[5] = (ApExtent){&run->scratch.work.mixed, rows, shape->block.mixed};
    list[6] = (ApExtent){&run->scratch.norm, rows, shape->norm.record};
}

static void run_clear_mats(RefRun *run)
{
    ApExtent list[RUN_MATS];
    run_list(run, &run->model->layout, &(RunShape){{0}, {0, 0}}, list);
    ap_clear_list(list, RUN_MATS);
}

/* X on the token rows, and the bias row's content. */
static void stream_load(RefRun *run, const double *x, const double *bias_row_content)
{
    const Layout *layout = &run->model->layout;
    size_t content = layout_content(layout), bias = layout_bias_row(layout);
    for (size_t i = 0; i < layout->n; i++) {
        for (size_t c = 0; c < content; c++) {
            limbs_set_d(ap_at(&run->stream, layout_token_row(layout, i), c), x[i * content + c]);
        }
    }
    for (size_t c = 0; bias != SIZE_MAX && bias_row_content != NULL && c < content; c++) {
        limbs_set_d(ap_at(&run->stream, bias, c), bias_row_content[c]);
    }
}

/* A change of x. */
static Difference *change_make(const RefRun *run, const RunShape *shape)
{
    const DifferenceSize size = {layout_content(&run->model->layout), shape->norm.copy,
                                 run->ev.bits};
    Difference *change = need_zeros(1, sizeof *change);
    difference_init(change, &shape->block, &size);
    return change;
}

/* All that the run has. */
static void run_init(RefRun *run, double omega, mpfr_prec_t bits, const RunOptions *options)
{
    const Layout *layout = &run->model->layout;
    RunShape shape = run_shape(run->model, bits), own = shape;
    ApExtent list[RUN_MATS];
    if (run->known != NULL) {
        /* x is not evaluated; radii read its norms */
        own = (RunShape){{.rows = shape.block.rows}, {.copy = shape.norm.copy}};
    }
    own.norm.record = run->kept == NULL ? own.norm.record : 0;
    run_list(run, layout, &own, list);
    evaluator_init(&run->ev, evaluator_shape(&shape.block), bits, omega);
    if (options->weights != NULL) {
        run->ev.weights = options->weights->packed;
        run->ev.norms = options->weights->norms;
    }
    run->ev.coarse = options->coarse;
    run->input = &run->stream;
    ap_init_list(list, RUN_MATS, bits);
    if (run->kept == NULL) {
        record_init(&run->scratch.record, &own.block, bits);
    }
    if (options->difference) {
        run->e = change_make(run, &shape);
    }
    if (options->inherited != NULL) {
        run->inherited = change_make(run, &shape);
    }
}

static bool has_direct(const Model *model)
{
    for (size_t s = 0; s < model->sublayer_count; s++) {
        const Sublayer *sublayer = &model->sublayers[s];
        if (sublayer->bundle_count == 0 && sublayer->direct.kind != DIRECT_NORM) {
            return true;
        }
    }
    return false;
}

RefRun *run_open(const Start *start, mpfr_prec_t bits, const RunOptions *options)
{
    const Model *model = start->model;
    double omega = start->omega;
    if ((options->difference || options->kept != NULL) && has_direct(model)) {
        fprintf(stderr, "headproof: bug: %s:%d: the change of a direct operation\n", __FILE__,
                __LINE__);
        abort();
    }
    RefRun *run = need_zeros(1, sizeof *run);
    run->model = model;
    run->limit = isinf(omega) || options->difference;
    run->bits = bits;
    run->kept = options->kept;
    run->known = options->known;
    run->cleared = options->inherited;
    run->reader = options->reader;
    run->context = options->context;
    run_init(run, omega, bits, options);
    stream_load(run, start->x, start->bias_row_content);
    if (run->e != NULL) {
        evaluator_add(&run->ev, &run->e->sum, &run->stream, &run->e->stream, 0,
                      run->stream.columns);
    }
    return run;
}

RefRun *ref_run_open(const Start *start, mpfr_prec_t bits)
{
    return run_open(start, bits, &(RunOptions){0});
}

void ref_run_clear(RefRun *run)
{
    if (run == NULL) {
        return;
    }
    radius_clear(run->radius);
    radius_clear(run->inherited_radius);
    run_clear_mats(run);
    record_clear(&run->scratch.record);
    evaluator_clear(&run->ev);
    for (int i = 0; i < run_changes(run); i++) {
        difference_clear(run_change(run, i));
    }
    free(run->e);
    free(run->inherited);
    free(run);
}

/* Radii of x and of a change of it; inherited: of what is inherited of e. */
static Radius *open_radius(const RefRun *run, const Difference *change, bool inherited)
{
    return radius_open(&(RadiusOfRun){.layout = &run->model->layout,
                                      .ev = (Evaluator *)&run->ev,
                                      .x = &run->stream,
                                      .e = change != NULL ? &change->stream : NULL,
                                      .sum = change != NULL ? &change->sum : NULL,
                                      .normed = &run->scratch.normed,
                                      .normed_e = change != NULL ? &change->normed : NULL,
                                      .limit = run->limit,
                                      .limit_change = inherited});
}

void ref_run_certify(RefRun *run)
{
    if (run->next.layer > 0) {
        fprintf(stderr, "headproof: bug: %s:%d: radii behind layer %zu\n", __FILE__, __LINE__,
                run->next.layer);
        abort();
    }
    if (run->inherited != NULL) {
        run->inherited_radius = open_radius(run, run->inherited, true);
    }
    run->radius = open_radius(run, run->e, false);
}

double ref_certify_bytes(const Pair *pair)
{
    double original, converted; /* a norm is found once, for both */
    double held = radius_bytes(&original, &pair->original);
    held += radius_bytes(&converted, &pair->converted);
    return held + fmax(original, converted);
}

void ref_run_radius(const RefRun *run, RadiusOf of, RefBlock block, RefRadii radii)
{
    const Radius *radius = of == RADIUS_INHERITED ? run->inherited_radius : run->radius;
    if (radius != NULL) {
        radius_read(radius, of, block, radii);
    } else {
        mpfr_set_inf(radii.most, 1);
        if (radii.squares != NULL) {
            mpfr_set_inf(radii.squares, 1);
        }
    }
}

void ref_run_score_radius(const RefRun *run, mpfr_ptr most)
{
    radius_read_score(run->radius, most);
}

double ref_run_bytes(const Pair *pair, mpfr_prec_t bits)
{
    const Layout *layout = &pair->converted.layout;
    RunShape shape = run_shape(&pair->converted, bits);
    RefRun run;
    ApExtent list[RUN_MATS];
    run_list(&run, layout, &shape, list);
    return ap_bytes_list(list, RUN_MATS, bits) + record_bytes(&shape.block, bits) +
           evaluator_bytes(evaluator_shape(&shape.block), bits);
}

double ref_difference_bytes(const Pair *pair, mpfr_prec_t bits)
{
    RunShape shape = run_shape(&pair->converted, bits);
    const DifferenceSize size = {layout_content(&pair->converted.layout), shape.norm.copy, bits};
    return difference_bytes(&shape.block, &size);
}

void run_spoil(ApMat *x)
{
    for (size_t i = 0; i < x->rows * x->columns; i++) {
        mpfr_set_nan(x->entry + i);
    }
}

static bool is_number(mpfr_srcptr x)
{
    return mpfr_regular_p(x) || mpfr_zero_p(x);
}

/* After a layer: where a number left MPFR's range, nothing of it is to be believed, in what is not
 * NaN neither. */
static void check_range(RefRun *run)
{
    bool left = ap_fatal_flags() != 0;
    for (size_t i = 0; i < run->stream.rows * run->stream.columns; i++) {
        left = left || !is_number(run->stream.entry + i);
        left = left || (run->e != NULL && !is_number(run->e->sum.entry + i));
    }
    run->left_range = run->left_range || left;
    if (left) {
        run_spoil(&run->stream);
    }
    if (left && run->e != NULL) {
        run_spoil(&run->e->stream);
        run_spoil(&run->e->sum);
    }
    mpfr_clear_flags();
}

static void copy_stream(ApMat *to, const ApMat *from)
{
    lanes_set(to->entry, from->entry, from->rows * from->columns);
}

bool run_hands_on(const Columns *cleared, size_t layer, size_t c)
{
    return layer == 0 || c - cleared[layer - 1].first >= cleared[layer - 1].count;
}

/* inherited = e where it is handed on, 0 elsewhere. */
static void begin_inherited(RefRun *run)
{
    const Layout *layout = &run->model->layout;
    ApMat *inherited = &run->inherited->stream;
    run->inherited->limit = true;
    ap_zero(inherited);
    for (size_t i = 0; i < layout->n; i++) {
        size_t row = layout_token_row(layout, i);
        for (size_t c = 0; c < inherited->columns; c++) {
            if (run_hands_on(run->cleared, run->next.layer, c)) {
                limbs_set(ap_at(inherited, row, c), ap_at(&run->e->stream, row, c));
            }
        }
    }
    if (run->inherited_radius != NULL && run->next.layer > 0) {
        radius_restart(run->inherited_radius, run->radius, BEGINS_CHANGE,
                       run->cleared[run->next.layer - 1]);
    }
}

static void radii_before(RefRun *run)
{
    for (int i = 0; i < RUN_CHANGES; i++) {
        if (run_radius(run, i) != NULL) {
            radius_before(run_radius(run, i));
        }
    }
}

static void radii_after(RefRun *run, const Sublayer *sublayer)
{
    for (int i = 0; i < RUN_CHANGES; i++) {
        Radius *radius = run_radius(run, i);
        if (radius != NULL) {
            radius_after(radius, sublayer, run_norm_record(run),
                         model_goes_on(run->model, run->next.sublayer));
        }
    }
}

void ref_run_layer(RefRun *run)
{
    const Model *model = run->model;
    if (run->next.layer >= model->depth) {
        fprintf(stderr, "headproof: bug: %s:%d: layer %zu of %zu\n", __FILE__, __LINE__,
                run->next.layer + 1, model->depth);
        abort();
    }
    mpfr_clear_flags();
    evaluator_forget_scores(&run->ev);
    if (run->radius != NULL) {
        radius_begin_layer(run->radius);
    }
    if (run->inherited != NULL) {
        begin_inherited(run);
    }
    for (; run->next.sublayer < model->layer_end[run->next.layer]; run->next.sublayer++) {
        const Sublayer *sublayer = &model->sublayers[run->next.sublayer];
        radii_before(run);
        run_sublayer(run, sublayer);
        if (run->kept != NULL) {
            copy_stream(&run->kept->stream[run->next.sublayer], &run->stream);
        } else if (run->known != NULL) {
            copy_stream(&run->stream, &run->known->stream[run->next.sublayer]);
        }
        radii_after(run, sublayer);
    }
    if (run->e != NULL) {
        evaluator_add(&run->ev, &run->e->sum, &run->stream, &run->e->stream, 0,
                      run->stream.columns);
    }
    check_range(run);
    run->next.layer++;
}

const ApMat *run_outcome(const RefRun *run)
{
    return run->e != NULL ? &run->e->sum : &run->stream;
}

mpfr_srcptr ref_run_entry(const RefRun *run, size_t row, size_t column)
{
    return ap_at(run_outcome(run), row, column);
}

mpfr_srcptr ref_run_difference(const RefRun *run, size_t row, size_t column)
{
    return ap_at(&run->e->stream, row, column);
}

mpfr_srcptr ref_run_score_max(const RefRun *run)
{
    return run->ev.score_max;
}

void ref_thread_setup(void)
{
    mpfr_set_emin(mpfr_get_emin_min());
    mpfr_set_emax(mpfr_get_emax_max());
}

void ref_thread_clear(void)
{
    ap_thread_clear();
}
