#include "verify.h"

#include "commands.h"
#include "groups.h"
#include "message.h"
#include "predict.h"

#include <errno.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

static int verify_omega(Verify *verify, double omega)
{
    LogitErrors logits;
    if (!verify_evaluate(verify, omega, &logits)) {
        return memory_fault();
    }
    if (verify->options->output != NULL &&
        (verify_write_rows(verify, omega, &logits) != 0 || output_commit(verify->output) != 0)) {
        progress_clear(&verify->progress);
        fprintf(stderr, "headproof: %s: cannot write: %s\n", verify->options->output,
                strerror(errno));
        return 99;
    }
    if (!verify->options->quiet) {
        progress_clear(&verify->progress);
        verify_print_omega(verify, omega, &logits);
        fflush(stdout);
    }
    return 0;
}

static bool search_tolerance(Verify *verify)
{
    Found found;
    found_init(&found);
    bool ok = verify_search(verify, &found);
    progress_clear(&verify->progress);
    if (ok) {
        verify_print_found(verify, &found);
        fflush(stdout);
    }
    found_clear(&found);
    return ok;
}

static bool search_predictions(Verify *verify)
{
    double omega;
    bool ok = verify_keeping_omega(verify, &omega);
    progress_clear(&verify->progress);
    if (ok) {
        verify_print_keeping(omega);
    }
    return ok;
}

static bool same_template(const Point *a, const Point *b)
{
    return points_share_base(a, b) && a->shrink == b->shrink && a->arithmetic == b->arithmetic &&
           a->kernel == b->kernel && a->precision == b->precision && a->max_bits == b->max_bits;
}

/* The template's Omegas, and the largest that the reference has to resolve. */
static bool collect_omegas(Verify *verify, const Grid *grid)
{
    const Point *template = verify->template;
    verify->omegas = calloc(grid->count, sizeof *verify->omegas);
    verify->most = template->judged ? omega_ahead(template->tolerance) : 0;
    for (size_t i = 0; verify->omegas != NULL && i < grid->count; i++) {
        if (same_template(template, &grid->points[i])) {
            double omega = grid->points[i].omega;
            verify->omegas[verify->omega_count++] = omega;
            verify->most = fmax(verify->most, omega);
        }
    }
    return verify->omegas != NULL;
}

/* Every Omega that the grid has for the template, then the searches. */
static int run_template(Verify *verify, const Grid *grid, int threads)
{
    bool quiet = verify->options->quiet;
    int status = inputs_make(&verify->inputs, verify->model, verify->template->source->path,
                             verify->options->tokens);
    if (status != 0) {
        return status;
    }
    if (!verify_prepare(verify, threads) || !collect_omegas(verify, grid)) {
        return memory_fault();
    }
    if (!quiet) {
        verify_print_model(verify);
        fflush(stdout);
    }
    status = verify_predict(verify);
    if (status != 0) {
        return status;
    }
    bool ok = verify_open_inputs(verify);
    for (size_t i = 0; ok && i < verify->omega_count && status == 0; i++) {
        status = verify_omega(verify, verify->omegas[i]);
    }
    if (ok && status == 0 && !quiet) {
        ok = (!verify->template->judged || search_tolerance(verify)) &&
             (!verify->has_logits || search_predictions(verify));
    }
    progress_clear(&verify->progress);
    return ok ? status : memory_fault();
}

static bool is_first_of_template(const Grid *grid, size_t i)
{
    for (size_t j = 0; j < i; j++) {
        if (same_template(&grid->points[j], &grid->points[i])) {
            return false;
        }
    }
    return true;
}

static int run_templates(const Grid *grid, const RunOptions *run, Output *output, int threads)
{
    bool passed = true;
    int status = 0;
    for (size_t i = 0; i < grid->count && status == 0; i++) {
        if (!is_first_of_template(grid, i)) {
            continue;
        }
        const Point *template = &grid->points[i];
        Verify verify = {.options = run,
                         .template = template,
                         .model = template->source->file,
                         .passed = true,
                         .output = output};
        pthread_mutex_init(&verify.lock, NULL);
        status = run_template(&verify, grid, threads);
        pthread_mutex_destroy(&verify.lock);
        passed = passed && verify.passed;
        verify_clear(&verify);
    }
    if (status == 0 && !run->quiet) {
        verify_print_verdict(grid, passed);
    }
    return status != 0 ? status : !passed;
}

/* A verdict is about a machine. */
static int check_arithmetic(const Grid *grid)
{
    for (size_t i = 0; i < grid->count; i++) {
        if (grid->points[i].arithmetic == ARITHMETIC_NONE) {
            complain((Origin){.flag = "arithmetic"}, "none",
                     "expected f64: verify judges a machine's arithmetic");
            return 2;
        }
    }
    return 0;
}

int command_verify(const Grid *grid, const RunOptions *run, int argc, char **argv)
{
    int threads = run->threads > 0 ? run->threads : omp_get_num_procs();
    Output *output = NULL;
    ref_thread_setup();
    double *seconds = calloc(grid->count + 1, sizeof *seconds);
    int status = check_arithmetic(grid);
    if (status == 0) {
        status = seconds == NULL ? 99 : grid_predict(grid, run->memory, &threads);
    }
    if (status == 0 && run->output != NULL) {
        status = output_open(&output, run->output);
        if (status == 0 && verify_write_header(output_file(output)) != 0) {
            status = 99;
        }
    }
    if (status == 0) {
        status = run_templates(grid, run, output, threads);
    }
    if (status <= 1 && output != NULL) {
        int finished = output_finish(output, argc, argv, grid, seconds);
        status = finished != 0 ? finished : status;
    }
    output_clear(output);
    free(seconds);
    ref_thread_clear();
    return status;
}
