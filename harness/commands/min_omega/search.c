/*
 * A search from its points in the grid to what it found.
 */
#include "search.h"

#include "../../../memory/need.h"
#include "../guarantee/bound.h"

#include "../../base/message.h"
#include "../../base/text_stream.h"
#include "../../evaluate/logits.h"
#include "../../evaluate/predict.h"
#include "../../point/point.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* The same but for the input, and for the seed where that is folded. */
static bool same_but_input(const Point *a, const Point *b, bool any_seed)
{
    Point c = *b;
    c.input = a->input;
    c.spec.seed = any_seed ? a->spec.seed : c.spec.seed;
    return point_compare(a, &c) == 0;
}

/* Same search: everything but the seed, and but the input where the grid has all inputs of the
 * weights file; those that were chosen have a search each. */
static bool same_search(const Point *a, const Point *b, bool all_inputs)
{
    return (all_inputs || a->input == b->input) && same_but_input(a, b, true);
}

/* "1:20", "3", "1;5;7", with that separator. */
static char *seeds_text(const Ensemble *ensemble, char separator)
{
    char *text = NULL;
    size_t length;
    FILE *file = text_stream(&text, &length);
    for (size_t i = 0; i < ensemble->count;) {
        uint64_t first = ensemble->points[i]->spec.seed, last = first;
        if (i > 0) {
            putc(separator, file);
        }
        /* A seed comes once for every input. */
        for (; i < ensemble->count && ensemble->points[i]->spec.seed - last <= 1; i++) {
            last = ensemble->points[i]->spec.seed;
        }
        fprintf(file, "%" PRIu64, first);
        if (last > first) {
            fprintf(file, ":%" PRIu64, last);
        }
    }
    return text_close(file, &text);
}

Search *search_make(const Grid *grid, bool *taken, size_t first)
{
    const Point *point = &grid->points[first];
    size_t count = 0, inputs = 0;
    for (size_t i = 0; point->input > 0 && i < grid->count; i++) {
        inputs += same_but_input(point, &grid->points[i], false);
    }
    bool all_inputs = inputs > 1 && inputs == model_source_inputs(point->source);
    for (size_t i = first; i < grid->count; i++) {
        count += !taken[i] && same_search(point, &grid->points[i], all_inputs);
    }
    Search *search = need_zeros(1, sizeof *search);
    search->first = first;
    found_init(&search->found);
    ensemble_init(&search->seeds, count, 1);
    for (size_t i = first; i < grid->count; i++) {
        if (!taken[i] && same_search(point, &grid->points[i], all_inputs)) {
            taken[i] = true;
            ensemble_add(&search->seeds, &grid->points[i]);
        }
    }
    search->seeds_cell = seeds_text(&search->seeds, ';');
    search->seeds_flag = seeds_text(&search->seeds, ',');
    return search;
}

void search_free(Search *search)
{
    if (search != NULL) {
        ensemble_clear(&search->seeds);
        found_clear(&search->found);
        positions_clear(&search->positions);
        free(search->seeds_cell);
        free(search->seeds_flag);
        free(search);
    }
}

int search_take_positions(Search *search, const RunOptions *run)
{
    const Point *point = search->seeds.points[0];
    char of[256] = "a point";
    if (point->judge_of == JUDGE_STREAMS) {
        return run->positions == NULL
                   ? 0
                   : complain((Origin){.flag = "positions"}, run->positions,
                              "expected it with --judge logits or kl: errors of streams are of all "
                              "positions");
    }
    snprintf(of, sizeof of, "an input of %s", point->source->path);
    search->looked_at = run->positions != NULL ? run->positions : "last";
    return positions_make(&search->positions, search->looked_at, point->spec.n, of);
}

/* Over the seeds; bound: of the model before. */
static int prove(Search *search, Bound *bound, const RunOptions *run)
{
    const Ensemble *seeds = &search->seeds;
    for (size_t i = 0; i < seeds->count; i++) {
        const Point *point = seeds->points[i];
        const char *misfit = point->over_tau ? "no --over tau: guarantee has --tau and --readout"
                                             : bound_misfit(point);
        int status = misfit != NULL ? 2 : bound_move(bound, point, run);
        if (status == 2) {
            return complain((Origin){.flag = "every-input"}, NULL, "expected %s",
                            misfit != NULL ? misfit : bound->why);
        }
        status = status != 0 ? status : bound_check_x(bound, point, run);
        if (status != 0) {
            return status;
        }
        const Proven proven = bound_at(bound, point);
        search->proven = fmax(search->proven, proven.none ? INFINITY : proven.point.omega);
    }
    return 0;
}

int search_prove_all(Search *const *searches, size_t count, const RunOptions *run)
{
    Bound bound = {0};
    int status = 0;
    for (size_t i = 0; i < count && status == 0; i++) {
        status = prove(searches[i], &bound, run);
    }
    bound_clear(&bound);
    return status;
}

/* The seconds that one seed of a search takes, and one evaluation's share of them. */
static double search_cost(const Point *point, double *evaluation)
{
    Point ahead = *point;
    ahead.omega = point->over_tau ? point->omega : omega_ahead(point->tolerance);
    PointCost cost = point_cost_parts(&ahead);
    bool anew = point->over_tau;
    bool reference = anew || !judge_needs_arithmetic(point->judge);
    *evaluation = cost.machine + (reference ? cost.reference : 0) + (anew ? cost.base : 0);
    return (anew ? 0 : cost.base) + ensemble_search_evaluations(point) * *evaluation;
}

double search_seconds(const Point *point)
{
    double evaluation;
    return search_cost(point, &evaluation);
}

bool search_run(Search *search, double memory, Progress *progress, pthread_mutex_t *lock)
{
    Ensemble *seeds = &search->seeds;
    const Point *point = seeds->points[0];
    const Inputs inputs = {.count = seeds->count, .n = point->spec.n};
    const bool of_logits = point->judge_of != JUDGE_STREAMS;
    double start = clock_seconds(), evaluation, cost = search_cost(point, &evaluation);
    Logits logits;
    if (of_logits) {
        logits_init(&logits, &inputs, point->source->file, &search->positions);
        logits.judged = point->judge_of;
        logits_judge(&logits, seeds);
        seeds->member_bytes = logits_kept_bytes(&logits);
    }
    seeds->progress = progress;
    seeds->progress_lock = lock;
    seeds->unit_cost = cost - ensemble_search_evaluations(point) * evaluation;
    bool ok = ensemble_size(seeds, omega_ahead(point->tolerance), memory) && ensemble_open(seeds);
    seeds->unit_cost = evaluation;
    if (of_logits) {
        logits_keep(&logits, seeds->kept);
    }
    ok = ok && ensemble_search(seeds, &search->found);
    if (of_logits) {
        logits_clear(&logits);
    }
    ensemble_close(seeds);
    search->seconds = clock_seconds() - start;
    return ok;
}
