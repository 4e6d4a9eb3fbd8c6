/*
 * One template over all inputs: its Omegas, given or chosen, each evaluated and said; then the
 * searches.
 */
#include "every_input.h"
#include "print.h"
#include "run.h"

#include "../../../memory/need.h"
#include "../../base/memory.h"
#include "../../base/message.h"
#include "../../base/terminal.h"
#include "../../evaluate/predict.h"
#include "../../point/point.h"
#include "../commands.h"

#include <math.h>
#include <stdlib.h>

bool verify_same_template(const Point *a, const Point *b)
{
    Point c = *b;
    c.omega = a->omega;
    return point_compare(a, &c) == 0;
}

static int verify_omega(Verify *verify, EveryInput *every, double omega)
{
    if (verify->omega != omega && !verify_evaluate(verify, omega)) {
        return verify_fault(verify);
    }
    const Cases layers = {verify_cases_layers, verify, verify->template->spec.depth,
                          verify->seconds};
    outcome_add(verify->outcome, layers);
    verify_limit_take(verify);
    every_input_judge(every, verify);
    verify->keeping = verify->errors.changed == verify->errors.lost ? omega : verify->keeping;
    progress_clear(&verify->progress);
    int status = sink_put(&verify->outcome->sink, verify);
    if (status != 0 || verify->options->quiet) {
        return status;
    }
    Wrapped said;
    verify_print_omega(wrapped_open(&said, output_report(verify->options)), verify);
    wrapped_close(&said);
    return 0;
}

static int search_tolerance(Verify *verify)
{
    Wrapped said;
    bool ok = verify->sought || verify_search(verify, &verify->found);
    progress_clear(&verify->progress);
    if (!ok) {
        return verify_fault(verify);
    }
    verify->sought = true;
    verify_print_found(wrapped_open(&said, output_report(verify->options)), verify, &verify->found);
    wrapped_close(&said);
    return 0;
}

static int search_predictions(Verify *verify)
{
    Wrapped said;
    OmegaSearch found;
    omega_search_init(&found);
    bool ok = verify_search_predictions(verify, &found);
    int status = ok ? 0 : verify_fault(verify);
    progress_clear(&verify->progress);
    if (ok) {
        verify_print_keeping(wrapped_open(&said, output_report(verify->options)), verify, &found);
        wrapped_close(&said);
    }
    omega_search_clear(&found);
    return status;
}

/* The template's Omegas, and the largest that the reference has to resolve. */
static void collect_omegas(Verify *verify, const Grid *grid)
{
    const Point *template = verify->template;
    verify->omegas = need_zeros(grid->count, sizeof *verify->omegas);
    verify->most = fmax(verify->most, template->judged ? omega_ahead(template->tolerance) : 0);
    for (size_t i = 0; i < grid->count; i++) {
        if (verify_same_template(template, &grid->points[i])) {
            double omega = grid->points[i].omega;
            verify->omegas[verify->omega_count++] = omega;
            verify->most = verify->chosen == OMEGA_GIVEN ? fmax(verify->most, omega) : verify->most;
        }
    }
}

/* The grid has the Omega that was chosen, as if it had been given. */
static void note_omega(const Verify *verify, Grid *grid)
{
    const Point template = *verify->template;
    for (size_t i = 0; i < grid->count && verify->chosen != OMEGA_GIVEN; i++) {
        if (verify_same_template(&template, &grid->points[i])) {
            grid->points[i].omega = verify->omegas[0];
        }
    }
}

/* The verdict at the Omega at hand, for the points of the grid that are the template there. */
static void take_verdict(bool *passed, const Verify *verify, const Grid *grid)
{
    for (size_t i = 0; i < grid->count; i++) {
        if (verify_same_template(verify->template, &grid->points[i]) &&
            grid->points[i].omega == verify->omega) {
            passed[i] = verify->passed;
        }
    }
}

/* Those of the layers at the last Omega. */
static void count_bounds(Verify *verify)
{
    for (size_t l = 0; l < verify->template->spec.depth; l++) {
        verify->bounds += verify_bounds(&verify->layers[l]);
    }
}

/* Of the template, or of one shard of them. */
static int read_inputs(Verify *verify)
{
    const RunOptions *run = verify->options;
    int status = verify_inputs_read(verify);
    if (status != 0) {
        return status;
    }
    verify->digest = inputs_digest(&verify->inputs);
    return run->shards > 0
               ? inputs_take_shard(&verify->inputs, verify->model->d, run->shard, run->shards)
               : 0;
}

static int search(Verify *verify)
{
    const RunOptions *run = verify->options;
    bool judged = verify->template->judged, searched = judged || verify->has_logits;
    if (run->quiet || run->shards > 0 || !searched) {
        return 0;
    }
    int status = judged ? search_tolerance(verify) : 0;
    status = status != 0 || !verify->has_logits ? status : search_predictions(verify);
    if (status != 0) {
        return status;
    }
    Wrapped said;
    fprintf(wrapped_open(&said, output_report(run)), "%s\n", OMEGA_BETWEEN);
    wrapped_close(&said);
    return 0;
}

/* An input fits, and as many as are evaluated at once.  One alone has all threads. */
static int check_fits(const Verify *verify, int *threads)
{
    double room = memory_room(verify->options->memory);
    Point point = *verify->template;
    point.spec.n = verify->inputs.n;
    int status = point_fits(&point, room, NULL);
    if (status != 0 || verify->inputs.count == 1) {
        return status;
    }
    double each = verify_input_bytes(&point);
    while (*threads > 1 && verify_shared_bytes(&point, *threads) + *threads * each > room) {
        --*threads;
    }
    return 0;
}

/* The inputs, what is proven, and which Omegas there are, as far as that is known before anything
 * is evaluated. */
static int begin_template(Verify *verify, EveryInput *every, const Grid *grid, int threads)
{
    int status = read_inputs(verify);
    verify_choose_begin(verify);
    status = status != 0 ? status : check_fits(verify, &threads);
    status = status != 0 ? status : every_input_open(every, verify);
    if (status != 0) {
        return status;
    }
    verify_prepare(verify, threads);
    collect_omegas(verify, grid);
    return verify_choose_proven(verify, every);
}

/* The model, unless that is said already, and the Omega that came from there. */
static void say_before(const Verify *verify, const EveryInput *every, OmegaSource from)
{
    Wrapped said;
    if (verify->options->quiet) {
        return;
    }
    FILE *file = wrapped_open(&said, output_report(verify->options));
    if (from == OMEGA_PROVEN) {
        verify_print_model(file, verify);
    }
    verify_choose_say(file, verify, every, from);
    wrapped_close(&said);
}

/* The Omega that is chosen, if one is, and everything that Omegas share. */
static int open_template(Verify *verify, const EveryInput *every)
{
    say_before(verify, every, OMEGA_PROVEN);
    int status = verify_make_room(verify);
    if (status != 0) {
        return status;
    }
    bool ok = verify_open_inputs(verify) && verify_choose_found(verify);
    progress_clear(&verify->progress);
    if (!ok) {
        return verify_fault(verify);
    }
    say_before(verify, every, OMEGA_FOUND);
    return 0;
}

static void say_every_input(EveryInput *every, const Verify *verify)
{
    Wrapped said;
    every_input_say(wrapped_open(&said, output_report(verify->options)), every, verify);
    wrapped_close(&said);
}

int verify_template(Verdict *verdict, Verify *verify, Grid *grid, int threads)
{
    EveryInput *every = &verdict->every;
    int status = begin_template(verify, every, grid, threads);
    if (status != 0) {
        return status;
    }
    if (verify->options->dry_run) {
        verify_dry_run(verify);
        return 0;
    }
    status = open_template(verify, every);
    if (status != 0) {
        return status;
    }
    note_omega(verify, grid);
    for (size_t i = 0; i < verify->omega_count && status == 0; i++) {
        status = verify_omega(verify, every, verify->omegas[i]);
        take_verdict(verdict->record.passed, verify, grid);
        count_bounds(verify);
    }
    status = status != 0 ? status : search(verify);
    progress_clear(&verify->progress);
    if (status != 0) {
        return status;
    }
    if (verify->sought) {
        verify_limit_search(&verify->limit, &verify->found.search);
    }
    say_every_input(every, verify);
    return 0;
}
