/*
 * One template over all inputs: its Omegas, given or chosen, each evaluated and said; then the
 * searches.
 */
#include "verify.h"

#include "../../../memory/need.h"
#include "../../base/memory.h"
#include "../../base/terminal.h"
#include "../../evaluate/predict.h"

#include <math.h>

bool verify_same_template(const Point *a, const Point *b)
{
    Point c = *b;
    c.omega = a->omega;
    return point_compare(a, &c) == 0;
}

/* The template's Omegas, and the largest that the reference has to resolve. */
static void collect_omegas(Verify *verify, const Grid *grid)
{
    const Point *template = verify->template;
    verify->omegas = need_zeros(grid->count, sizeof *verify->omegas);
    verify->members = need_zeros(grid->count, sizeof *verify->members);
    verify->most = fmax(verify->most, template->judged ? omega_ahead(template->tolerance) : 0);
    for (size_t i = 0; i < grid->count; i++) {
        if (verify_same_template(template, &grid->points[i])) {
            double omega = grid->points[i].omega;
            verify->members[verify->omega_count] = i;
            verify->omegas[verify->omega_count++] = omega;
            verify->most = verify->chosen == OMEGA_GIVEN ? fmax(verify->most, omega) : verify->most;
        }
    }
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
static int begin(Verify *verify, EveryInput *every, const Grid *grid, int threads)
{
    verify_choose_begin(verify);
    int status = check_fits(verify, &threads);
    if (status != 0) {
        return status;
    }
    status = every_input_open(every, verify);
    if (status != 0) {
        return status;
    }
    verify_prepare(verify, threads);
    collect_omegas(verify, grid);
    return verify_choose_proven(verify, every);
}

/* How many of the layers' errors, and of their logarithms, are only bounds. */
static size_t count_bounds(const Verify *verify)
{
    size_t count = 0;
    for (size_t l = 0; l < verify->model->depth; l++) {
        for (size_t column = VERIFY_ERRORS; column < VERIFY_BOUNDS; column++) {
            count += verify->layers[l].cells[column].bound;
        }
    }
    return count;
}

static int evaluate_omega(Verify *verify, EveryInput *every, double omega)
{
    if (verify->omega != omega && !verify_evaluate(verify, omega)) {
        return verify_fault(verify);
    }
    outcome_add(verify->outcome, verify_cases_layers, verify, verify->template->spec.depth,
                verify->seconds);
    verify_limit_take(verify);
    every_input_judge(every, verify);
    verify->keeping = verify->errors.changed == verify->errors.lost ? omega : verify->keeping;
    progress_clear(&verify->kept->progress);
    int status = sink_put(&verify->outcome->sink, verify);
    if (status == 0 && !verify->options->quiet) {
        Wrapped said;
        verify_print_omega(wrapped_open(&said, output_report(verify->options)), verify);
        wrapped_close(&said);
    }
    return status;
}

/* For the tolerance, and for the Omegas that keep every prediction. */
static int search(Verify *verify)
{
    const RunOptions *run = verify->options;
    const bool judged = verify->template->judged;
    OmegaSearch keeping = {0};
    Wrapped said;
    if (run->quiet || run->shards > 0 || !(judged || verify->has_logits)) {
        return 0;
    }
    bool ok = !judged || verify->sought || verify_search(verify);
    progress_clear(&verify->kept->progress);
    if (!ok) {
        return verify_fault(verify);
    }
    if (judged) {
        verify_print_found(wrapped_open(&said, output_report(run)), verify);
        wrapped_close(&said);
    }
    ok = !verify->has_logits || verify_search_predictions(verify, &keeping);
    progress_clear(&verify->kept->progress);
    if (ok) {
        FILE *file = wrapped_open(&said, output_report(run));
        if (verify->has_logits) {
            verify_print_keeping(file, verify, &keeping);
        }
        fprintf(file, "%s\n", OMEGA_BETWEEN);
        wrapped_close(&said);
    }
    omega_search_clear(&keeping);
    return ok ? 0 : verify_fault(verify);
}

int verify_template(Verdict *verdict, Verify *verify, Grid *grid, int threads)
{
    const RunOptions *run = verify->options;
    EveryInput *every = &verdict->every;
    Wrapped said;
    int status = begin(verify, every, grid, threads);
    if (status != 0) {
        return status;
    }
    if (run->dry_run) {
        verify_dry_run(verify);
        return 0;
    }
    if (!run->quiet) {
        verify_print_model(wrapped_open(&said, output_report(run)), verify);
        wrapped_close(&said);
    }
    verify_choose_say(verify, every, OMEGA_PROVEN);
    status = verify_make_room(verify);
    if (status != 0) {
        return status;
    }
    bool ok = verify_open_inputs(verify) && verify_choose_found(verify);
    progress_clear(&verify->kept->progress);
    if (!ok) {
        return verify_fault(verify);
    }
    verify_choose_say(verify, every, OMEGA_FOUND);
    for (size_t i = 0; i < verify->omega_count && status == 0; i++) {
        grid->points[verify->members[i]].omega = verify->omegas[i]; /* as if it had been given */
        status = evaluate_omega(verify, every, verify->omegas[i]);
        verdict->record.passed[verify->members[i]] = verify->passed;
        verify->bounds += count_bounds(verify);
    }
    if (status == 0) {
        status = search(verify);
    }
    progress_clear(&verify->kept->progress);
    if (status != 0) {
        return status;
    }
    verify_limit_advise(verify);
    every_input_say(wrapped_open(&said, output_report(run)), every, verify);
    wrapped_close(&said);
    return 0;
}
