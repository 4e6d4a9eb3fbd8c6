/*
 * The command `cost`: heads, parameters and arithmetic of a model and of its rewrite.
 */
#include <stdio.h>

#include "cost.h"

#include "measure.h"
#include "print.h"
#include "row.h"

#include "../../base/shown.h"
#include "../../grid/preset.h"
#include "../commands.h"
#include "../outcome.h"

/* Layers that take turns: what two of them cost, any number does. */
enum { LAYERS_UNLIKE = 2 };

static void cost_init(Cost *cost)
{
    *cost = (Cost){0};
    model_cost_init(&cost->original);
    model_cost_init(&cost->converted);
    mpz_init(cost->embedding);
}

static void cost_clear(Cost *cost)
{
    model_cost_clear(&cost->original);
    model_cost_clear(&cost->converted);
    mpz_clear(cost->embedding);
}

int cost_write_header(FILE *file, const RunOptions *run)
{
    Cost cost;
    cost_init(&cost);
    cost.measured = run->measure;
    int status = cost_write_names(file, &cost);
    cost_clear(&cost);
    return status;
}

static void add_product(mpz_t sum, size_t a, size_t b)
{
    mpz_t product;
    mpz_init_set_ui(product, a);
    mpz_mul_ui(product, product, b);
    mpz_add(sum, sum, product);
    mpz_clear(product);
}

/* A preset's model unembeds with the matrix it embeds with; a file says what it has. */
static void count_embedding(Cost *cost, const Preset *preset)
{
    size_t d = cost->point->spec.d;
    if (cost->point->source != NULL) {
        const ModelFile *file = cost->point->source->file;
        add_product(cost->embedding, file->W_E != NULL ? file->vocabulary : 0, d);
        add_product(cost->embedding, file->W_pos != NULL ? file->context : 0, d);
        add_product(cost->embedding, file->W_U != NULL ? file->classes : 0, d);
        add_product(cost->embedding, file->b_U != NULL ? file->classes : 0, 1);
    } else if (preset != NULL) {
        add_product(cost->embedding, preset->vocabulary, d);
        add_product(cost->embedding, cost->point->spec.n, d);
    }
}

static int count(Cost *cost, const Point *point, const Preset *preset)
{
    CaseSpec spec = point->spec;
    Pair pair;
    const char *reason;
    spec.depth = spec.depth < LAYERS_UNLIKE ? spec.depth : LAYERS_UNLIKE;
    CaseStatus status = case_outline(&pair, &reason, &spec);
    if (status != CASE_OK) {
        fprintf(stderr, "headproof: %s: ", reason);
        point_print_command(stderr, point);
        fputc('\n', stderr);
        return status == CASE_REJECTED ? 2 : 99;
    }
    size_t depth = point->spec.depth, limit = point->spec.d_head;
    cost->point = point;
    cost->preset = preset != NULL ? preset->name : NULL;
    model_cost_count(&cost->original, &pair.original, depth, limit);
    model_cost_count(&cost->converted, &pair.converted, depth, limit);
    model_cost_add_norm(&cost->original, &pair.final_norm, 1);
    count_embedding(cost, preset);
    case_clear(&pair);
    return 0;
}

static const OutcomeKind cost_outcome = {.table = {.bare = BARE_TEXT,
                                                   .write_header = cost_write_header,
                                                   .write_row = cost_write_row,
                                                   .print = cost_print,
                                                   .between = ""}};

static int run_point(Outcome *outcome, const Point *point)
{
    const RunOptions *run = outcome->run;
    Cost cost;
    cost_init(&cost);
    int status = count(&cost, point, run->preset != NULL ? preset_find(run->preset) : NULL);
    status = status == 0 && run->measure ? cost_measure(&cost) : status;
    status = status != 0 ? status : sink_put(&outcome->sink, &cost);
    cost_clear(&cost);
    return status;
}

int command_cost(const Grid *grid, const RunOptions *run)
{
    Outcome outcome;
    int status = outcome_open(&outcome, &cost_outcome, grid, run);
    for (size_t i = 0; i < grid->count && status == 0; i++) {
        status = run_point(&outcome, &grid->points[i]);
    }
    return outcome_end(&outcome, status);
}
