/*
 * The program: what every run begins and ends with.
 */
#include <stdio.h>

#include "commands.h"

#include "../../kernels/blas.h"
#include "../../memory/need.h"
#include "../../reference/numbers/tier.h"
#include "../../reference/reference.h"
#include "../base/exhausted.h"
#include "../base/info.h"
#include "../base/message.h"
#include "../base/progress.h"
#include "../base/shown.h"
#include "../base/streams.h"
#include "../base/team.h"
#include "../base/terminal.h"
#include "../evaluate/predict.h"
#include "../evaluate/witness.h"
#include "../table/format.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The threads that may call BLAS at once. */
static int reserve_blas(const CommandInfo *command, const Grid *grid, const RunOptions *run)
{
    bool witnessed = false;
    for (size_t i = 0; i < grid->sources.count; i++) {
        witnessed = witnessed || grid->sources.items[i]->file->witness.tokens != NULL;
    }
    bool measures = command_has(command, BLAS_TO_MEASURE);
    if (measures && !run->measure && !witnessed) {
        return 0;
    }
    if (!blas_reserve(measures ? 1 : (size_t)run_threads(run))) {
        fprintf(stderr,
                "headproof: memory is short for OpenBLAS, which takes %zu MiB of addresses a "
                "thread: choose fewer --threads, or a larger limit\n",
                (size_t)BLAS_THREAD_BYTES >> 20);
        return 99;
    }
    return 0;
}

/* Reads a command line, and what of it the grid does not know: which formats there are. */
static int read_line(Grid *grid, RunOptions *run, const CommandInfo *command, int argc, char **argv)
{
    int status = grid_read(grid, run, command, argc - 1, argv + 1);
    run->file_only = getenv("HEADPROOF_ROWS") != NULL; /* who asks for rows has said the rest */
    run->argc = argc;
    run->argv = argv;
    status = status != 0 ? status : format_check(run);
    if (status != 0) {
        grid_clear(grid);
    }
    return status;
}

/* Rank 0 of an MPI job reads first: what is wrong with a command line is said once.  Then the
 * others read, and what only they find is said by them. */
static int read_shared(Grid *grid, RunOptions *run, const CommandInfo *command, int argc,
                       char **argv)
{
    bool first = team_rank() == 0;
    int status = team_largest(first ? read_line(grid, run, command, argc, argv) : 0);
    if (status != 0) {
        return status;
    }
    status = first ? 0 : read_line(grid, run, command, argc, argv);
    bool read = status == 0;
    status = team_largest(status);
    if (read && status != 0) {
        grid_clear(grid);
    }
    run->team = true;
    run->verbose = run->verbose && first;
    return status;
}

/* What is said of every weights file is under; --quiet leaves out that nothing was let through. */
static void say_conditions(const SourceList *sources, bool quiet)
{
    (void)fflush(stdout); /* streams_finish tells */
    for (size_t i = 0; i < sources->count; i++) {
        if (!quiet || model_file_lets_through(sources->items[i]->file)) {
            char *text = model_source_conditions(sources->items[i]);
            Wrapped said;
            FILE *file = isatty(STDERR_FILENO) ? wrapped_open(&said, stderr) : stderr;
            shown_write(file, SHOWN_TERMINAL, text);
            fputc('\n', file);
            if (file != stderr) {
                wrapped_close(&said);
            }
            free(text);
        }
    }
}

/* Scores that hold 2 Omega beside tau y round y by half an ulp of 2 Omega over tau. */
static void warn_of_absorbed(const Grid *grid)
{
    double most = 0;
    for (size_t i = 0; i < grid->count; i++) {
        const Point *point = &grid->points[i];
        if (point->penalty == PENALTY_POSITIVE && point->arithmetic != ARITHMETIC_NONE &&
            case_reads_out(&point->spec) && point->omega > 0) {
            Formats formats = arithmetic_info(point->arithmetic)->formats;
            int unit = ilogb(2 * point_omega(point)) - format_info(formats.score)->digits;
            most = fmax(most, ldexp(1 / point->spec.tau, unit));
        }
    }
    if (most > 0) {
        fprintf(stderr,
                "headproof: warning: --penalty positive: scores hold 2 omega beside tau y, "
                "which rounds a product y that is read out by up to %.2g; negative does not\n",
                most);
    }
}

/* The norm is that of a table's columns, too. */
static void say_idle(const Grid *grid, const CommandInfo *command)
{
    for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
        bool read = axis == AXIS_NORM && command_has(command, READS_TABLES);
        if ((grid->idle & AXIS_BIT(axis)) != 0 && !read) {
            fprintf(stderr, "headproof: --%s changes nothing: no point has what it sets\n",
                    axis_info(axis)->name);
        }
    }
}

/* A command about a model begins with the model's own answers, and ends with what its figures are
 * under, unless it has said so beside its verdict. */
static int run_witnessed(const CommandInfo *command, const Grid *grid, const RunOptions *run)
{
    bool first = team_rank() == 0;
    if (run->file_only) {
        return command->run(grid, run);
    }
    int status = first ? witness_check(grid, run) : 0;
    status = run->team ? team_largest(status) : status;
    if (status != 0) {
        return status;
    }
    if (first) {
        warn_of_absorbed(grid);
    }
    if (first && !run->quiet) {
        say_idle(grid, command);
    }
    status = command->run(grid, run);
    bool said = command == commands_get(COMMAND_VERIFY) ||
                (command == commands_get(COMMAND_CHECK) && !run->quiet);
    if (first && status <= 1 && !said) {
        say_conditions(&grid->sources, run->quiet);
    }
    return status;
}

static int run_evaluating(const CommandInfo *command, int argc, char **argv)
{
    Grid grid;
    RunOptions run;
    bool shared = team_size() > 1 && command_has(command, SHARES_POINTS);
    int status = (shared ? read_shared : read_line)(&grid, &run, command, argc, argv);
    if (status != 0) {
        return status;
    }
    if (run.threads > 0) { /* also where what evaluations share is made */
        omp_set_num_threads((int)run.threads);
    }
    double start = clock_seconds();
    if (run.dry_run && !command_evaluates_points(command)) {
        status = command->run(&grid, &run); /* its inputs are its own */
    } else if (run.dry_run) {
        status = team_rank() == 0 ? dry_run(command, &grid, &run) : 0;
    } else {
        status = reserve_blas(command, &grid, &run);
        status = status != 0 ? status : run_witnessed(command, &grid, &run);
    }
    if (run.verbose && !run.file_only) {
        fprintf(stderr, "headproof: %s: %.3f s in all\n", command->name, clock_seconds() - start);
    }
    grid_clear(&grid);
    return status;
}

static int run_command(int argc, char **argv)
{
    const CommandInfo *command = commands_find(argv[1]);
    bool shared = command != NULL && command_has(command, SHARES_POINTS), asks = false;
    for (int i = 2; i < argc && strcmp(argv[i], "--") != 0; i++) {
        asks = asks || strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0;
    }
    if (team_rank() > 0 && (!shared || asks)) {
        return 0; /* of an MPI job, one process does it */
    }
    if (command == NULL) {
        return commands_unknown(argv[1]);
    }
    if (asks) {
        commands_print_help(command, false);
        return 0;
    }
    return command->run != NULL ? run_evaluating(command, argc, argv)
                                : command->run_words(argc, argv);
}

/* Of an MPI job the other ranks would wait for this one. */
static void give_up(void *nothing)
{
    (void)nothing;
    if (team_size() > 1) {
        team_abort(99);
    }
}

static int run_line(int argc, char **argv)
{
    if (argc < 2) {
        return commands_unknown("");
    }
    bool version = strcmp(argv[1], "--version") == 0;
    if (version || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        if (argc > 2) {
            return complain((Origin){0}, argv[2], "expected nothing after %s", argv[1]);
        }
        if (version) {
            printf("headproof %s\n", info_version());
        } else {
            commands_print_help(commands_get(COMMAND_HELP), false);
        }
        return streams_finish(0);
    }
    const char *tier = getenv("HEADPROOF_CPU"), *why = tier_word(tier);
    if (why != NULL) {
        return complain((Origin){0}, tier, "in HEADPROOF_CPU: %s", why);
    }
    blas_setup(argv);
    ref_thread_setup(); /* before any number is read, too */
    if (team_join() != 0) {
        return 99;
    }
    NeedLast others = {.act = give_up};
    need_add_last(&others);
    int status = streams_finish(run_command(argc, argv));
    need_take_last(&others);
    team_leave();
    return status;
}

int main(int argc, char **argv)
{
    if (streams_open() != 0) {
        return 99;
    }
    exhausted_setup();
    int status = run_line(argc, argv);
    exhausted_over();
    streams_end();
    return status;
}
