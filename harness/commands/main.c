/*
 * The program: its commands, and what every run begins and ends with.
 */
#include <stdio.h>

#include "../base/clock.h"
#include "commands.h"
#include "../base/exhausted.h"
#include "../grid/help.h"
#include "../base/info.h"
#include "../base/message.h"
#include "../table/output.h"
#include "../grid/shard.h"
#include "../base/streams.h"
#include "../base/team.h"

#include "../../kernels/blas.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

typedef int RunCommand(const Grid *grid, const RunOptions *run, int argc, char **argv);

enum { EVALUATING = 9, MERGE = EVALUATING, COMMANDS = 12 };

static const CommandInfo commands[COMMANDS] = {
    {"sweep", "errors at every point of a grid, one CSV row a layer"},
    {"depth", "sweep with 96 layers: error against depth"},
    {"min-omega", "an interval of Omegas that met a tolerance wherever evaluated, and the best"},
    {"check", "the verdict against a baseline or tolerances, for CI"},
    {"export", "a point's weights, input and results as a safetensors file"},
    {"verify", "a trained model through all of it, with a verdict"},
    {"convert", "the attention-only model itself, as a safetensors file"},
    {"cost", "heads, widths, parameters and arithmetic, before and after"},
    {"attribute", "a model's logits as exact sums over heads and source tokens"},
    {"merge", "the shards of a sweep as one file: SHARD.csv... -o FILE.csv"},
    {"info", "the build, the machine and the libraries"},
    {"help", "this, or the flags of a command: headproof help COMMAND"},
};

/* The first of the commands, in order, take a grid. */
static const struct {
    Command command;
    RunCommand *run;
} evaluating[EVALUATING] = {
    {COMMAND_SWEEP, command_sweep},         {COMMAND_DEPTH, command_sweep},
    {COMMAND_MIN_OMEGA, command_min_omega}, {COMMAND_CHECK, command_check},
    {COMMAND_EXPORT, command_export},       {COMMAND_VERIFY, command_verify},
    {COMMAND_CONVERT, command_convert},     {COMMAND_COST, command_cost},
    {COMMAND_ATTRIBUTE, command_attribute},
};

static size_t find_command(const char *name)
{
    size_t found = 0;
    while (found < COMMANDS && strcmp(commands[found].name, name) != 0) {
        found++;
    }
    return found;
}

static int unknown_command(const char *name)
{
    const char *names[COMMANDS];
    char list[128] = "";
    size_t used = 0;
    for (size_t i = 0; i < COMMANDS; i++) {
        names[i] = commands[i].name;
        used +=
            (size_t)snprintf(list + used, sizeof list - used, "%s%s", i == 0 ? "" : ", ", names[i]);
    }
    const char *nearest = nearest_name(name, names, COMMANDS);
    complain((Origin){0}, name, "expected a command, one of %s%s%s%s", list,
             nearest ? " (did you mean " : "", nearest ? nearest : "", nearest ? "?)" : "");
    return 2;
}

static int print_help(size_t command)
{
    if (command < EVALUATING) {
        help_print_command(stdout, evaluating[command].command, &commands[command]);
    } else if (command < COMMANDS - 1) {
        printf("usage: headproof %s%s\n\n%s\n", commands[command].name,
               command == MERGE ? " SHARD.csv... -o FILE.csv" : "", commands[command].summary);
    } else {
        help_print_overview(stdout, commands, COMMANDS);
    }
    return 0;
}

static int dry_run(const Grid *grid, const RunOptions *run)
{
    size_t count, *points = calloc(grid->count + 1, sizeof *points);
    bool sharded = run->shards > 0;
    if (points == NULL ||
        !shard_points(points, &count, grid, sharded ? run->shard : 1, sharded ? run->shards : 1)) {
        free(points);
        return memory_fault();
    }
    for (size_t i = 0; i < count; i++) {
        point_print_command(stdout, &grid->points[points[i]]);
        putchar('\n');
    }
    free(points);
    return 0;
}

/* The threads that may call BLAS at once. */
static int reserve_blas(Command command, const RunOptions *run)
{
    int threads = run->team ? 1 : run->threads > 0 ? run->threads : omp_get_num_procs();
    if (command == COMMAND_CONVERT || (command == COMMAND_COST && !run->measure)) {
        return 0;
    }
    if (!blas_reserve(command == COMMAND_COST ? 1 : (size_t)threads)) {
        fprintf(stderr,
                "headproof: memory is short for OpenBLAS, which takes %zu MiB of addresses a "
                "thread: choose fewer --threads, or a larger limit\n",
                (size_t)BLAS_THREAD_BYTES >> 20);
        return 99;
    }
    return 0;
}

/* The commands whose points the ranks of an MPI job share. */
static bool is_shared(size_t command)
{
    return command < EVALUATING && (evaluating[command].command == COMMAND_SWEEP ||
                                    evaluating[command].command == COMMAND_DEPTH);
}

/* Rank 0 of an MPI job reads first: what is wrong with a command line is said once.  Then the
 * others read, and what only they find is said by them. */
static int read_shared(Grid *grid, RunOptions *run, Command command, int argc, char **argv)
{
    bool first = team_rank() == 0;
    int status = team_first(first ? grid_read(grid, run, command, argc, argv) : 0);
    if (status != 0) {
        return status;
    }
    status = first ? 0 : grid_read(grid, run, command, argc, argv);
    bool read = status == 0;
    status = team_largest(status);
    if (read && status != 0) {
        grid_clear(grid);
    }
    run->team = true;
    run->verbose = run->verbose && first;
    return status;
}

static int run_evaluating(size_t command, int argc, char **argv)
{
    Grid grid;
    RunOptions run;
    bool shared = team_size() > 1 && is_shared(command);
    int status = (shared ? read_shared : grid_read)(&grid, &run, evaluating[command].command,
                                                    argc - 1, argv + 1);
    if (status == 0) {
        double start = clock_seconds();
        if (!run.dry_run) {
            status = reserve_blas(evaluating[command].command, &run);
            status = status != 0 ? status : evaluating[command].run(&grid, &run, argc, argv);
        } else if (team_rank() == 0) {
            status = dry_run(&grid, &run);
        }
        if (run.verbose) {
            fprintf(stderr, "headproof: %s: %.3f s in all\n", commands[command].name,
                    clock_seconds() - start);
        }
        grid_clear(&grid);
    }
    return status;
}

static bool asks_for_help(int argc, char **argv)
{
    for (int i = 2; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            return true;
        }
    }
    return false;
}

static int run_command(int argc, char **argv)
{
    size_t command = find_command(argv[1]);
    if (team_rank() > 0 && (!is_shared(command) || asks_for_help(argc, argv))) {
        return 0; /* of an MPI job, one process does it */
    }
    if (command == COMMANDS) {
        return unknown_command(argv[1]);
    }
    if (asks_for_help(argc, argv)) {
        return print_help(command);
    }
    if (command == COMMANDS - 1) {
        size_t subject = argc > 2 ? find_command(argv[2]) : command;
        return subject == COMMANDS ? unknown_command(argv[2]) : print_help(subject);
    }
    if (command < EVALUATING) {
        return run_evaluating(command, argc, argv);
    }
    if (command == MERGE) {
        return command_merge(argc, argv);
    }
    if (argc > 2) {
        complain((Origin){0}, argv[2], "expected nothing after info");
        return 2;
    }
    return info_print(stdout);
}

static int run_line(int argc, char **argv)
{
    if (argc < 2) {
        return unknown_command("");
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("headproof %s\n", info_version());
        return streams_finish(0);
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        return streams_finish(print_help(COMMANDS - 1));
    }
    blas_setup(argv);
    if (team_join() != 0) {
        return 99;
    }
    int status = streams_finish(run_command(argc, argv));
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
