/*
 * The cost of a point as lines for a reader.
 */
#include <stdio.h>

#include "print.h"

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
    if (info->bias && cost->point->source == NULL) {
        fprintf(file, ", %s", spec->bias == BIAS_NONE ? "no biases" : "biases b1 and b2");
    }
    fputs("\n\n", file);
}

static void print_layer(FILE *file, const Cost *cost)
{
    const ModelCost *a = &cost->original, *b = &cost->converted;
    fprintf(file, "%-26s %18s %18s\n", "a layer", "original", "attention only");
    fprintf(file, "%-26s %18zu %18zu\n", "  sublayers", a->sublayer_count, b->sublayer_count);
    fprintf(file, "%-26s %18zu %18zu\n", "  rows of the stream", a->rows, b->rows);
    fprintf(file, "%-26s %18zu %18zu  x %.4g\n", "  its width", a->width, b->width,
            (double)b->width / (double)a->width);
    fprintf(file, "%-26s %18zu %18zu\n", "  heads", a->external, b->external + b->internal);
    for (size_t s = 0; s < b->sublayer_count; s++) {
        const SublayerCost *sublayer = &b->sublayers[s];
        char name[48];
        snprintf(name, sizeof name, "    sublayer %zu, %s", s + 1,
                 sublayer->external ? "external" : "internal");
        fprintf(file, "%-45s %18zu  Q of rank %zu, V of rank %zu\n", name, sublayer->heads,
                sublayer->score_rank, sublayer->value_rank);
    }
    if (b->external > 0 && b->internal > 0) {
        double all = (double)b->external + (double)b->internal;
        fprintf(file, "%-45s %18.4g  external %.3g %%, internal %.3g %%\n",
                "    internal for each external", (double)b->internal / (double)b->external,
                100 * (double)b->external / all, 100 * (double)b->internal / all);
    }
}

/* The end of a line on some of the layers' parameters. */
static void print_share_of_all(FILE *file, const Cost *cost, double part)
{
    const ModelCost *a = &cost->original;
    double norms = mpz_get_d(a->norms), embedding = mpz_get_d(cost->embedding);
    double all = mpz_get_d(a->attention) + mpz_get_d(a->network) + norms + embedding;
    if (norms > 0 || embedding > 0) {
        fprintf(file, "; %.3g %% with %s%s%s", 100 * part / all, norms > 0 ? "norms" : "",
                norms > 0 && embedding > 0 ? " and " : "", embedding > 0 ? "embeddings" : "");
    }
    putc('\n', file);
}

static void print_parameters(FILE *file, const Cost *cost)
{
    const ModelCost *a = &cost->original;
    double attention = mpz_get_d(a->attention), network = mpz_get_d(a->network);
    double norms = mpz_get_d(a->norms), embedding = mpz_get_d(cost->embedding);
    double layers = attention + network;
    fprintf(file, "\n%-26s %18s %18s\n", "all layers", "original", "attention only");
    if (layers > 0) {
        fprintf(file, "%-26s %18.4g %18s  as matrices Q and V: %.4g\n", "  parameters", layers,
                "the same", mpz_get_d(cost->converted.full));
        fprintf(file, "%-26s %18.4g %18s  %.3g %%", "    of attention", attention, "",
                100 * attention / layers);
        print_share_of_all(file, cost, attention);
        fprintf(file, "%-26s %18.4g %18s  %.3g %%", "    of networks", network, "",
                100 * network / layers);
        print_share_of_all(file, cost, network);
    }
    if (norms > 0) {
        fprintf(file, "%-26s %18.4g %18s\n", "  norms", norms, "the same");
    }
    if (embedding > 0) {
        fprintf(file, "%-26s %18.4g %18s\n", "  embeddings", embedding, "the same");
    }
}

static void print_pair(FILE *file, const char *name, const mpz_t a, const mpz_t b, double times)
{
    double original = times * mpz_get_d(a), converted = times * mpz_get_d(b);
    fprintf(file, "%-26s %18.4g %18.4g", name, original, converted);
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
    print_pair(file, "    FLOPs of products", a->multiply_adds[form], b->multiply_adds[form], 2);
    print_pair(file, "    exponentials", a->exponentials[form], b->exponentials[form], 1);
    if (times->timed) {
        fprintf(file, "%-26s %18.3g %18.3g  x %.3g\n", "    seconds, measured", times->original,
                times->converted, times->converted / times->original);
    }
}

void cost_print(FILE *file, const void *row)
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
