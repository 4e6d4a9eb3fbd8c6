/*
 * The command `guarantee`: an Omega that is proven for every input (docs/guarantee.md).
 */
#include "bound.h"
#include "row.h"

#include "../../base/atomic_file.h"
#include "../../base/decimal.h"
#include "../../base/memory.h"
#include "../../base/message.h"
#include "../../table/output.h"
#include "../check/outcome.h"
#include "../commands.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

typedef struct {
    const Grid *grid;
    const RunOptions *run;
    Output *output;
    Outcome outcome;
    Bound bound; /* of the points so far, while they differ in Omega alone */
    bool terminal;
    size_t written, failed;
} Run;

static const OutcomeKind guarantee_outcome = {
    .command = "guarantee", .reason = "no such bound is proven", .column = "error"};

/* Without --omega, the smallest is found. */
static Point asked(const Point *point)
{
    Point own = *point;
    bool given = (point->asked >> AXIS_OMEGA & 1) != 0;
    own.omega = given ? point->omega : 0;
    own.kernel = (point->asked >> AXIS_KERNEL & 1) != 0 ? point->kernel : KERNEL_STRUCTURED;
    own.arithmetic =
        (point->asked >> AXIS_ARITHMETIC & 1) != 0 ? point->arithmetic : ARITHMETIC_NONE;
    own.reference = REFERENCE_NONE;
    own.judge = ERROR_OBSERVED; /* the default without both: no column says what is not judged */
    return own;
}

static int write_proven(Run *all, const Proven *proven, double seconds)
{
    FILE *file = output_file(all->output);
    int status = 0;
    if (all->terminal) {
        fputs(all->written > 0 ? "\n" : "", file);
        guarantee_print(file, proven);
    } else {
        status = all->written == 0 ? guarantee_write_header(file) : 0;
        status = status == 0 ? guarantee_write_rows(file, proven) : status;
    }
    all->written++;
    if (status != 0 || output_commit(all->output) != 0) {
        return output_failed(all->run->output);
    }
    if (all->outcome.file == NULL) {
        return 0;
    }
    status = guarantee_write_rows(all->outcome.file, proven);
    for (size_t l = 0; l < proven->depth && status == 0; l++) {
        status = outcome_case(&all->outcome, l == 0 ? seconds : 0,
                              bound_command(&proven->point, all->run));
    }
    return status;
}

static void say_none(const Proven *proven)
{
    char from[GUARANTEE_FROM], tolerance[DECIMAL_TEXT];
    guarantee_from(from, proven);
    decimal_print(tolerance, proven->point.tolerance);
    fprintf(stderr,
            "headproof: of no Omega up to the largest double is it proven that it keeps every %s "
            "within %s: %s\n",
            proven->logits ? "logit" : "entry", tolerance, from);
}

static void say_refused(const Bound *bound)
{
    fprintf(stderr, "headproof: guarantee: expected %s:\n  ", bound->why);
    point_print_command(stderr, bound->point);
    fputc('\n', stderr);
}

static int run_point(Run *all, const Point *given)
{
    Point point = asked(given);
    clock_t start = clock();
    Proven proven = {0};
    int status = 0;
    if (!bound_serves(&all->bound, given)) {
        bound_clear(&all->bound);
        status = bound_open(&all->bound, given, all->run);
        if (status == 2) {
            say_refused(&all->bound);
        }
    }
    status = status == 0 ? bound_at(&proven, &all->bound, &point) : status;
    if (status == 0) {
        all->failed += proven.refused;
        if (proven.none && !all->terminal) {
            say_none(&proven);
        }
        status = write_proven(all, &proven, (double)(clock() - start) / CLOCKS_PER_SEC);
    }
    proven_clear(&proven);
    return status;
}

/* A tolerance to meet, or Omegas to look at. */
static int check_asked(const Grid *grid)
{
    for (size_t i = 0; i < grid->count; i++) {
        const Point *point = &grid->points[i];
        if (!point->judged && (point->asked >> AXIS_OMEGA & 1) == 0) {
            complain((Origin){.flag = "tolerance"}, NULL,
                     "expected a tolerance to meet, or --omega with Omegas to look at");
            return 2;
        }
    }
    return 0;
}

int command_guarantee(const Grid *grid, const RunOptions *run)
{
    Run all = {.grid = grid, .run = run};
    bool judged = grid_first_judged(grid) != NULL;
    int status = check_asked(grid);
    ref_thread_setup();
    all.terminal =
        run->output == NULL && run->stream == NULL && !run->on_stdout && isatty(STDOUT_FILENO);
    if (status == 0) {
        status = run->stream != NULL ? output_open_stream(&all.output, run->stream)
                                     : output_open_run(&all.output, run);
    }
    status = status == 0 ? outcome_open(&all.outcome, &guarantee_outcome, run, judged) : status;
    if (status == 0 && all.outcome.file != NULL && guarantee_write_header(all.outcome.file) != 0) {
        status = memory_fault();
    }
    for (size_t i = 0; i < grid->count && status == 0; i++) {
        status = run_point(&all, &grid->points[i]);
    }
    if (status == 0) {
        status = output_finish(all.output,
                               &(RunRecord){.argc = run->argc, .argv = run->argv, .grid = grid});
    }
    if (status == 0) {
        status = outcome_finish(&all.outcome, all.failed == 0, NULL);
    }
    bound_clear(&all.bound);
    outcome_clear(&all.outcome);
    output_clear(all.output);
    ref_thread_clear();
    return status != 0 ? status : all.failed > 0;
}
