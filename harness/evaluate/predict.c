/*
 * Memory and time that points will take, from the shapes of their models.
 */
#include "predict.h"

#include "mode.h"
#include "shared.h"

#include "../../reference/compare/propagation.h"
#include "../../reference/numbers/tier.h"
#include "../base/memory.h"
#include "../base/message.h"
#include "../point/model_source.h"

#include <math.h>

/* m(T') alone. */
static double machine_bytes(const Pair *pair, const Point *point, size_t threads)
{
    const ArithmeticInfo *machine = arithmetic_info(point->arithmetic);
    return machine->functions->bytes(&machine->formats, &pair->converted, point->kernel, threads);
}

double point_pass_bytes(const Point *point)
{
    Pair pair;
    const char *reason;
    if (case_outline(&pair, &reason, &point->spec) != CASE_OK) {
        return INFINITY;
    }
    double bytes = case_bytes(&point->spec) + machine_bytes(&pair, point, 1);
    case_clear(&pair);
    return bytes;
}

double point_model_bytes(const Point *point)
{
    const ModelFile *file = point->source != NULL ? point->source->file : NULL;
    double rows = 0; /* of a file's ends: embeddings and unembedding */
    if (file != NULL) {
        rows = (double)file->vocabulary + (double)file->context;
        rows += file->tied ? 0 : (double)file->classes;
    }
    return case_bytes(&point->spec) + (file != NULL ? rows * (double)file->d * sizeof(double) : 0);
}

CaseStatus point_predict(PointBytes *bytes, const char **reason, const Point *point)
{
    Pair pair;
    *bytes = (PointBytes){.base = point_model_bytes(point)};
    CaseStatus status = case_outline(&pair, reason, &point->spec);
    if (status != CASE_OK) {
        return status;
    }
    mpfr_prec_t bits = (mpfr_prec_t)point_bits(point).most;
    if (point->arithmetic != ARITHMETIC_NONE) {
        bytes->kernel = machine_bytes(&pair, point, point_threads(point));
        bytes->base += shared_original_bytes(&pair.original);
    }
    if (point_has_reference(point)) {
        bytes->base += ref_base_bytes(&pair, bits, point_limit(point));
        bytes->run = 2 * ref_run_bytes(&pair, bits) + ref_certify_bytes(&pair);
    }
    if (point->reference == REFERENCE_DIFFERENCE) {
        bytes->tape = ref_base_bytes(&pair, bits, REF_LIMIT_TAPE);
        bytes->run += ref_difference_bytes(&pair, bits);
    }
    if (point->propagation) {
        bytes->run += ref_propagation_bytes(&pair, bits);
    }
    if (point->spec.held > 0 && point->spec.depth > 1) {
        bytes->layer = case_layer_bytes(&point->spec);
    }
    case_clear(&pair);
    return CASE_OK;
}

static int refuse(const Point *point, const char *reason)
{
    fprintf(stderr, "headproof: %s: ", reason);
    point_print_command(stderr, point);
    fputc('\n', stderr);
    return 2;
}

int point_fits(const Point *point, double memory, int *threads)
{
    const double gib = 1024.0 * 1024 * 1024;
    const char *reason;
    PointBytes bytes;
    CaseStatus status = point_predict(&bytes, &reason, point);
    double all = bytes.base + bytes.kernel + bytes.run + bytes.layer;
    if (status == CASE_REJECTED) {
        return refuse(point, reason);
    }
    if (all > memory) {
        bool dense = point->arithmetic != ARITHMETIC_NONE && point->kernel == KERNEL_DENSE &&
                     bytes.kernel > all / 2;
        char text[128];
        snprintf(text, sizeof text, "a point needs %.3g GiB, %.3g GiB may be used%s", all / gib,
                 memory / gib, dense ? " (--kernel structured needs less)" : "");
        return refuse(point, text);
    }
    while (threads != NULL && *threads > 1 && all * *threads > memory) {
        --*threads;
    }
    return 0;
}

int grid_predict(const Grid *grid, double memory, int *threads)
{
    int status = 0;
    for (size_t i = 0; i < grid->count && status == 0; i++) {
        status = point_fits(&grid->points[i], memory_room(memory), threads);
    }
    return status;
}

/* The operations of an evaluation. */
typedef struct {
    double products; /* multiply-adds of matrix products */
    double exponentials;
    double entries; /* numbers that are handled one by one */
    double bundles; /* or direct operations */
} Operations;

/* With the structure of the heads: every row's content score and value, then the pattern. */
static Operations bundle_work(const Layout *layout, const Bundle *bundle)
{
    const Score *score = &bundle->score;
    const Value *value = &bundle->value;
    double rows = (double)layout_rows(layout), read = (double)value->read.count;
    double write = (double)value->write.count, query = (double)score->read.count;
    bool mixed = score_is_mixed(score); /* queries and keys are made once for all heads */
    bool factored = value->o.data != NULL, matrix = value->v.data != NULL;
    double rank = score->d_head > 0 ? (double)score->d_head : query;
    double width = factored ? (double)value->d_head : write;
    double content = !matrix    ? 1
                     : factored ? (read + write) * width
                                : read * (value->d_head > 0 ? 1 : write);
    double heads = (double)bundle->heads;
    double mixed_width = (double)value_width(value);
    Operations work = {rows * content, 0, rows * (1 + mixed_width), 1};
    if (score_by_key(score)) {
        double projected = (mixed && score->q.data == NULL ? 1 : 2) * rows * query * rank;
        work.products += projected / (mixed ? heads : 1) + rows * rows * (rank + mixed_width);
        work.exponentials += rows * rows;
        /* What mixed heads take of an entry of all their queries is a multiplication. */
        work.entries = rows * (rows + (mixed ? 0.25 : 1) * rank + mixed_width);
    } else if (score_by_gate(score)) {
        work.products += rows * (score->gate.data != NULL ? query : 1);
        work.exponentials += rows;
    }
    double single = (value_has_bias(value) ? write : 0) + (value->diagonal != 0 ? read : 0);
    return (Operations){heads * work.products, heads * work.exponentials,
                        heads * work.entries + rows * single, 1};
}

/* With full matrices: X Q, (X Q) X^T, X V and the pattern times X V of every head. */
static Operations bundle_dense_work(const Layout *layout, const Bundle *bundle)
{
    double rows = (double)layout_rows(layout), width = (double)layout_width(layout);
    double heads = (double)bundle->heads;
    return (Operations){heads * 2 * rows * width * (rows + width), heads * rows * rows,
                        heads * rows * (rows + width), heads};
}

static Operations direct_work(const Layout *layout, const Direct *direct)
{
    double n = (double)layout->n, hidden = (double)direct->hidden;
    double read = (double)direct->read.count, write = (double)direct->write.count;
    switch (direct->kind) {
    case DIRECT_FFN:
        return (Operations){n * hidden * ((direct->w3 != NULL ? 2 : 1) * read + write), n * hidden,
                            n * (hidden + write), 1};
    case DIRECT_LINEAR: return (Operations){n * read * write, 0, n * write, 1};
    case DIRECT_NORM: return (Operations){0, 0, 0, 0};
    default: return (Operations){n * write, n * write, n * write, 1};
    }
}

/* A mean, a variance and what they make of each entry. */
static Operations norm_work(const Layout *layout, const LayerNorm *norm)
{
    double entries = (double)layout_rows(layout) * (double)norm->columns.count;
    return norm->kind == NORMALIZATION_NONE ? (Operations){0, 0, 0, 0}
                                            : (Operations){4 * entries, 0, entries, 1};
}

static Operations sum(Operations a, Operations b)
{
    return (Operations){a.products + b.products, a.exponentials + b.exponentials,
                        a.entries + b.entries, a.bundles + b.bundles};
}

static Operations model_work(const Model *model, bool dense)
{
    const Layout *layout = &model->layout;
    Operations work = {0, 0, 0, 0};
    for (size_t s = 0; s < model->sublayer_count; s++) {
        const Sublayer *sublayer = &model->sublayers[s];
        work = sum(work, norm_work(layout, &sublayer->norm));
        if (sublayer->bundle_count == 0) {
            work = sum(work, direct_work(layout, &sublayer->direct));
        }
        for (size_t b = 0, end = 0; b < sublayer->bundle_count; b++) {
            const Bundle *bundle = &sublayer->bundles[b];
            Operations own =
                dense ? bundle_dense_work(layout, bundle) : bundle_work(layout, bundle);
            own.products *= dense || b == end;
            end += b == end ? bundles_alike(bundle, sublayer->bundle_count - b) : 0;
            work = sum(work, own);
        }
    }
    return work;
}

/* Prices in ns, as predict.h has them.  They were fitted to stacks of GPT-2's widths, with one and
 * with six inputs, and to a layer of 113 million weights; the price of a bundle to points of 0.4 ms
 * to 0.4 s, those of tests/program/test_predict.c. */
static double reference_seconds(Operations work, double bits)
{
    static const double products[TIERS] = {1.6, 0.55, 0.15};
    double size = bits / 256, product = products[tier_in_use()] * pow(size, 1.3);
    return 1e-9 * (work.products * product + work.exponentials * 140 * pow(size, 1.5) +
                   work.entries * 120 * pow(size, 0.7) + work.bundles * 40000);
}

/* The work that is done once a weight, however few rows there are: reading or drawing, packing,
 * norms, and the machine's copy. */
static double weights_seconds(const Point *point)
{
    const CaseSpec *spec = &point->spec;
    double weights = (double)spec->depth * case_layer_bytes(spec) / sizeof(double);
    double copy = point->arithmetic != ARITHMETIC_NONE ? 20 : 0;
    return 1e-9 * weights * ((point_tries_coarse(point) ? 65 : 220) + copy);
}

static double machine_seconds(const ArithmeticInfo *machine, Operations work)
{
    return work.products * machine->multiply_add + work.exponentials * machine->exponential;
}

/* Bits that radii lose in a layer with layer norms, as in stacks of GPT-2's shapes. */
#define LOST_A_LAYER 5.5

/* Where more bits are needed than were guessed, time grows by this power of their ratio, besides
 * what products take: r(T) is evaluated again. */
#define MORE_THAN_GUESSED 0.3

/* Bits that a stack ends with, where its radii lose more than is guessed. */
static double bits_in_the_end(const Point *point)
{
    double lost = LOST_A_LAYER * (double)point->spec.depth, machine = point_bits(point).machine;
    bool norms = point->spec.norm != NORMALIZATION_NONE && point->precision == 0;
    return norms ? fmin(64 * ceil((machine + lost) / 64), (double)point->max_bits) : 0;
}

PointCost point_cost_parts(const Point *point)
{
    Pair pair;
    const char *reason;
    PointCost cost = {0, 0, 0, 0};
    if (case_outline(&pair, &reason, &point->spec) != CASE_OK) {
        return cost;
    }
    bool full = point->kernel == KERNEL_DENSE;
    double least = bits_in_the_end(point), bits = fmax(point_bits(point).likely, least);
    bool difference = point->reference == REFERENCE_DIFFERENCE;
    Operations work = model_work(&pair.converted, false);
    double converted = reference_seconds(work, bits);
    /* A difference takes the limit model along, and about twice as much for itself. */
    cost.reference = converted;
    if (difference) {
        double own = fmax(point_bits(point).difference, least);
        cost.reference += 2 * reference_seconds(work, own);
    }
    if (point->propagation) { /* another change, and T_infinity's layer and T''s once more */
        cost.reference += (point->arithmetic != ARITHMETIC_NONE ? 4 : 3) * converted;
    }
    cost.base = reference_seconds(model_work(&pair.original, false), bits) +
                (difference ? 0 : converted) +
                4 * reference_seconds(model_work(&pair.converted, false), 128);
    cost.weights = weights_seconds(point);
    double more = pow(fmax(1, least / point_bits(point).likely), MORE_THAN_GUESSED);
    cost.reference *= point_has_reference(point) ? more : 0;
    cost.base *= point_has_reference(point) ? more : 0;
    cost.weights *= point_has_reference(point) ? more : 0;
    cost.base += cost.weights;
    if (point->arithmetic != ARITHMETIC_NONE) {
        const ArithmeticInfo *machine = arithmetic_info(point->arithmetic);
        cost.base += machine_seconds(machine, model_work(&pair.original, full));
        cost.machine = machine_seconds(machine, model_work(&pair.converted, full));
    }
    case_clear(&pair);
    return cost;
}

double point_cost(const Point *point)
{
    PointCost cost = point_cost_parts(point);
    return 1e-6 + cost.base + cost.reference + cost.machine;
}
