/*
 * The command `guarantee`: an Omega that is proven for every input (docs/omega.md).
 */
#include "bound.h"

#include "../../base/decimal.h"
#include "../../base/message.h"
#include "../commands.h"
#include "../outcome.h"

#include <time.h>

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

static void print_command(FILE *file, const void *row, const RunOptions *run)
{
    const Proven *proven = row;
    bound_print_command(file, &proven->point, run);
}

static const OutcomeKind guarantee_outcome = {.table = {.bare = BARE_TEXT,
                                                        .write_header = guarantee_write_header,
                                                        .write_row = guarantee_write_rows,
                                                        .print = guarantee_print,
                                                        .between = "\n"},
                                              .command = "guarantee",
                                              .reason = "no such bound is proven",
                                              .column = "error",
                                              .write_header = guarantee_write_header,
                                              .print_command = print_command};

static void say_none(const Proven *proven)
{
    char from[GUARANTEE_FROM], tolerance[DECIMAL_TEXT];
    guarantee_from(from, proven);
    decimal_print(tolerance, proven->point.tolerance);
    fprintf(
        stderr,
        "headproof: no Omega up to the largest double is proven to keep every %s within %s: %s\n",
        proven->logits ? "logit" : "entry", tolerance,
        proven->tau_alone ? "tau alone takes more" : from);
}

static void say_refused(const Bound *bound, const RunOptions *run)
{
    fprintf(stderr, "headproof: guarantee: expected %s:\n  ", bound->why);
    bound_print_command(stderr, bound->point, run);
    fputc('\n', stderr);
}

/* bound: of the points so far, while they differ in Omega alone. */
static int run_point(Outcome *outcome, Bound *bound, const Point *given)
{
    Point point = asked(given);
    clock_t start = clock();
    int status = bound_move(bound, given, outcome->run);
    if (status == 2) {
        say_refused(bound, outcome->run);
    }
    if (status != 0) {
        return status;
    }
    const Proven proven = bound_at_tau(bound, &point);
    if (proven.refused) {
        outcome_fail(outcome, &proven);
    }
    if (proven.none && !outcome->sink.text) {
        say_none(&proven);
    }
    outcome_add(outcome, guarantee_write_rows, &proven, point.spec.depth,
                (double)(clock() - start) / CLOCKS_PER_SEC);
    return sink_put(&outcome->sink, &proven);
}

/* A tolerance to meet, or Omegas to look at, and nothing that the last point would refuse behind
 * the others' rows. */
static int check_asked(const Grid *grid, const RunOptions *run)
{
    for (size_t i = 0; i < grid->count; i++) {
        const Point *point = &grid->points[i];
        Bound bound;
        if (!point->judged && (point->asked >> AXIS_OMEGA & 1) == 0) {
            return complain((Origin){.flag = "tolerance"}, NULL,
                            "expected a tolerance to meet, or --omega with Omegas to look at");
        }
        int status = bound_ask(&bound, point, run);
        if (status == 2) {
            say_refused(&bound, run);
        }
        if (status != 0) {
            return status;
        }
    }
    return 0;
}

int command_guarantee(const Grid *grid, const RunOptions *run)
{
    Outcome outcome;
    Bound bound = {0};
    int status = check_asked(grid, run);
    if (status != 0) {
        return status;
    }
    status = outcome_open(&outcome, &guarantee_outcome, grid, run, NULL);
    for (size_t i = 0; i < grid->count && status == 0; i++) {
        status = run_point(&outcome, &bound, &grid->points[i]);
    }
    status = outcome_end(&outcome, status);
    bound_clear(&bound);
    ref_thread_clear();
    return status;
}
