/*
 * The command `cost`: heads, parameters and arithmetic of a model and of its rewrite.
 */
#include <stdio.h>

#include "cost.h"

#include "../../base/shown.h"
#include "../../grid/preset.h"
#include "../commands.h"
#include "../outcome.h"

/* ---- For a reader ---------------------------------------------------------------------------- */

static void print_heading(FILE *file, const Cost *cost)
{
    const CaseSpec *spec = &cost->point->spec;
    const ConstructionInfo *info = construction_info(spec->construction);
    const char *source = cost->point->source != NULL ? cost->point->source->path : cost->preset;
    fprintf(file, "%s%s%s, %zu layer%s: N = %zu, D = %zu", source != NULL ? source : "",
            source != NULL ? ": " : "", construction_names[spec->construction], spec->depth,
            spec->depth == 1 ? "" : "s", spec->n, spec->d);
    if (case_uses_d_ff(spec)) {
        fprintf(file, ", H = %zu", spec->d_ff);
    }
    if (info->heads && spec->d_head > 0) {
        fprintf(file, ", %zu heads of %zu", spec->heads, spec->d_head);
    } else if (info->heads) {
        fprintf(file, ", %zu heads with dense Q and V", spec->heads);
    }
    if ((info->linear || info->d_ff) && cost->point->source == NULL) {
        fprintf(file, ", %s", spec->bias == BIAS_NONE ? "no biases" : "biases b1 and b2");
    }
    fputs("\n\n", file);
}

static void print_layer(FILE *file, const Cost *cost)
{
    const ModelCost *a = &cost->original, *b = &cost->converted;
    fprintf(file, "%-25s %11s %15s\n", "a layer", "original", "attention only");
    fprintf(file, "%-25s %11zu %15zu\n", "  sublayers", a->sublayer_count, b->sublayer_count);
    fprintf(file, "%-25s %11zu %15zu\n", "  rows of the stream", a->rows, b->rows);
    fprintf(file, "%-25s %11zu %15zu  x %.4g\n", "  its width", a->width, b->width,
            (double)b->width / (double)a->width);
    fprintf(file, "%-25s %11zu %15zu\n", "  heads", a->external, b->external + b->internal);
    for (size_t s = 0; s < b->sublayer_count; s++) {
        const SublayerCost *sublayer = &b->sublayers[s];
        char name[48];
        snprintf(name, sizeof name, "    sublayer %zu, %s", s + 1,
                 sublayer->external ? "external" : "internal");
        fprintf(file, "%-37s %15zu  ranks: Q %zu, V %zu\n", name, sublayer->heads,
                sublayer->score_rank, sublayer->value_rank);
    }
    if (b->external > 0 && b->internal > 0) {
        double external = (double)b->external, internal = (double)b->internal;
        fprintf(file, "%-37s %15.4g  %.3g %% are external\n", "    internal for each external",
                internal / external, 100 * external / (external + internal));
    }
}

/* A part of the layers' parameters, and of all that there are. */
static void print_share(FILE *file, const char *name, double part, double layers, double all)
{
    fprintf(file, "%-25s %11.4g %15s  %.3g %%", name, part, "", 100 * part / layers);
    if (all > layers) {
        fprintf(file, "; %.3g %% of all", 100 * part / all);
    }
    putc('\n', file);
}

static void print_parameters(FILE *file, const Cost *cost)
{
    const ModelCost *a = &cost->original;
    double attention = mpz_get_d(a->counts[COST_ATTENTION]),
           network = mpz_get_d(a->counts[COST_NETWORK]);
    double norms = mpz_get_d(a->counts[COST_NORMS]),
           embedding = mpz_get_d(a->counts[COST_EMBEDDING]);
    double layers = attention + network, all = layers + norms + embedding;
    fprintf(file, "\n%-25s %11s %15s\n", "all layers", "original", "attention only");
    if (layers > 0) {
        fprintf(file, "%-25s %11.4g %15s  as Q and V: %.4g\n", "  parameters", layers, "the same",
                mpz_get_d(cost->converted.counts[COST_FULL]));
        print_share(file, "    of attention", attention, layers, all);
        print_share(file, "    of networks", network, layers, all);
    }
    if (norms > 0) {
        fprintf(file, "%-25s %11.4g %15s\n", "  norms", norms, "the same");
    }
    if (embedding > 0) {
        fprintf(file, "%-25s %11.4g %15s\n", "  embeddings", embedding, "the same");
    }
}

static void print_pair(FILE *file, const char *name, const mpz_t a, const mpz_t b, double times)
{
    double original = times * mpz_get_d(a), converted = times * mpz_get_d(b);
    fprintf(file, "%-25s %11.4g %15.4g", name, original, converted);
    if (original > 0) {
        fprintf(file, "  x %.4g", converted / original);
    }
    putc('\n', file);
}

static void print_form(FILE *file, const Cost *cost, KernelForm form, const char *name)
{
    const ModelCost *a = &cost->original, *b = &cost->converted;
    const CostTimes *times = &cost->times[form];
    fprintf(file, "  %s\n", name);
    print_pair(file, "    FLOPs of products", a->counts[COST_MULTIPLY_ADDS + form],
               b->counts[COST_MULTIPLY_ADDS + form], 2);
    print_pair(file, "    exponentials", a->counts[COST_EXPONENTIALS + form],
               b->counts[COST_EXPONENTIALS + form], 1);
    if (times->timed) {
        fprintf(file, "%-25s %11.3g %15.3g  x %.3g\n", "    seconds, measured", times->original,
                times->converted, times->converted / times->original);
    }
}

/* A Cost for a terminal (outcome.h). */
static void cost_print(FILE *file, const void *row)
{
    const Cost *cost = row;
    const CaseSpec *spec = &cost->point->spec;
    print_heading(file, cost);
    print_layer(file, cost);
    print_parameters(file, cost);
    print_form(file, cost, KERNEL_STRUCTURED, "using the heads' structure, one pass");
    print_form(file, cost, KERNEL_DENSE, "with full matrices Q and V, one pass");
    fputs("\nexternal heads compare tokens; internal ones stand for a part of a network", file);
    if (construction_info(spec->construction)->heads && spec->d_head > 0) {
        fprintf(file, ".\nA V of a rank above %zu is split over several heads; no split lowers Q's",
                spec->d_head);
    }
    fputs(".\n\n", file);
}

/* ---- The command ----------------------------------------------------------------------------- */

/* Layers that take turns: what two of them cost, any number does. */
enum { LAYERS_UNLIKE = 2 };

/* A preset's model unembeds with the matrix it embeds with; a file says what it has. */
static void count_embedding(Cost *cost, const Preset *preset)
{
    ModelCost *all = &cost->original;
    size_t d = cost->point->spec.d;
    if (cost->point->source != NULL) {
        const ModelFile *file = cost->point->source->file;
        cost_add(all, COST_EMBEDDING, file->W_E != NULL ? file->vocabulary : 0, d, 1, 1);
        cost_add(all, COST_EMBEDDING, file->W_pos != NULL ? file->context : 0, d, 1, 1);
        cost_add(all, COST_EMBEDDING, file->W_U != NULL ? file->classes : 0, d, 1, 1);
        cost_add(all, COST_EMBEDDING, file->b_U != NULL ? file->classes : 0, 1, 1, 1);
    } else if (preset != NULL) {
        cost_add(all, COST_EMBEDDING, preset->vocabulary, d, 1, 1);
        cost_add(all, COST_EMBEDDING, cost->point->spec.n, d, 1, 1);
    }
}

static int count(Cost *cost, const Preset *preset)
{
    const Point *point = cost->point;
    CaseSpec spec = point->spec;
    Pair pair;
    const char *reason;
    spec.depth = spec.depth < LAYERS_UNLIKE ? spec.depth : LAYERS_UNLIKE;
    if (case_outline(&pair, &reason, &spec) != CASE_OK) {
        fprintf(stderr, "headproof: %s: ", reason);
        point_print_command(stderr, point);
        fputc('\n', stderr);
        return 2;
    }
    size_t depth = point->spec.depth, limit = point->spec.d_head;
    model_cost_count(&cost->original, &pair.original, depth, limit);
    model_cost_count(&cost->converted, &pair.converted, depth, limit);
    model_cost_add_norm(&cost->original, &pair.final_norm);
    count_embedding(cost, preset);
    case_clear(&pair);
    return 0;
}

static const OutcomeKind cost_outcome = {.table = {.bare = BARE_TEXT,
                                                   .write_header = cost_write_header,
                                                   .write_row = cost_write_row,
                                                   .print = cost_print,
                                                   .between = ""}};

int command_cost(const Grid *grid, const RunOptions *run)
{
    Outcome outcome;
    const Preset *preset = run->preset != NULL ? preset_find(run->preset) : NULL;
    int status = outcome_open(&outcome, &cost_outcome, grid, run, NULL);
    for (size_t i = 0; i < grid->count && status == 0; i++) {
        Cost cost = {.point = &grid->points[i], .preset = preset != NULL ? preset->name : NULL};
        model_cost_init(&cost.original);
        model_cost_init(&cost.converted);
        status = count(&cost, preset);
        if (status == 0 && run->measure) {
            status = cost_measure(&cost);
        }
        if (status == 0) {
            status = sink_put(&outcome.sink, &cost);
        }
        model_cost_clear(&cost.original);
        model_cost_clear(&cost.converted);
    }
    return outcome_end(&outcome, status);
}
