/*
 * Command lines.
 *
 * Input: the command and its arguments, a line or a NUL each.  They are refused in one line, or the
 * options lie in their ranges and the points' own command lines stand for them.  Operands are read:
 * a case file a.case and a model m.safetensors are there.  What the commands do is not called.
 */
#include "fuzz.h"

#include "../safetensors_samples.h"

#include "../../harness/grid/settings.h"

#include <math.h>
#include <string.h>

enum { TEXT_MOST = 4096, ARGUMENTS_MOST = 64, GRID_MOST = 200 };

static void prepare(Fuzz *fuzz)
{
    static const char text[] = "[a]\nconstruction = silu\nn = 2\nd = 1\nomega = 2,20\n";
    Sample sample;
    (void)fuzz;
    fuzz_write("a.case", text, sizeof text - 1);
    fuzz_need(sample_model(&sample, 0), "sample_model");
    fuzz_write("m.safetensors", sample.bytes, sample.size);
    sample_clear(&sample);
}

static bool find_command(Command *command, const char *name)
{
    for (*command = 0; *command < COMMAND_COUNT; (*command)++) {
        const CommandInfo *info = commands_get(*command);
        if (info->run != NULL && strcmp(name, info->name) == 0) {
            return true;
        }
    }
    return false;
}

static int cut(char **argv, char *text, size_t size)
{
    int count = 0;
    for (size_t i = 0; i < size && count < ARGUMENTS_MOST; count++) {
        argv[count] = text + i;
        while (i < size && text[i] != '\n' && text[i] != '\0') {
            i++;
        }
        text[i++] = '\0';
    }
    argv[count] = NULL;
    return count;
}

/* Points of the flags alone; what is refused here has none. */
static double count_points(Command command, int argc, char **argv)
{
    char *files[ARGUMENTS_MOST + 1];
    Section flags = {0};
    RunOptions options = {0};
    size_t count;
    double product = 1;
    if (options_read(&flags, &options, files, &count, commands_get(command), argc, argv) == 0) {
        for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
            product *= flags.settings[axis].given ? (double)flags.settings[axis].list.count : 1;
        }
    }
    section_clear(&flags);
    return product;
}

static const char *expect_options(Fuzz *fuzz, const RunOptions *options)
{
    bool shard = options->shards == 0 || (options->shard >= 1 && options->shard <= options->shards);
    bool fine = options->threads <= 1024 && isfinite(options->memory) && options->memory >= 0 &&
                isfinite(options->check.factor) && options->check.factor >= 0 &&
                !(options->quiet && options->verbose) &&
                (options->output == NULL || *options->output != '\0');
    return fine && shard ? NULL : fuzz_broken(fuzz, "an option outside its range");
}

/* Of these commands a point's command line is the point's. */
static bool is_reproduced(Command command)
{
    return command == COMMAND_SWEEP || command == COMMAND_DEPTH || command == COMMAND_CHECK ||
           command == COMMAND_MIN_OMEGA;
}

static const char *run(Fuzz *fuzz, const uint8_t *bytes, size_t size)
{
    char text[TEXT_MOST + 1], *argv[ARGUMENTS_MOST + 1];
    Command command;
    Grid grid;
    RunOptions options;
    if (size > TEXT_MOST) {
        return fuzz_skip(fuzz);
    }
    memcpy(text, bytes, size);
    text[size] = '\0';
    int argc = cut(argv, text, size);
    if (argc == 0 || !find_command(&command, argv[0])) {
        return fuzz_skip(fuzz);
    }
    fuzz_listen(fuzz);
    double points = count_points(command, argc, argv);
    fuzz_hear(fuzz);
    if (points > GRID_MOST) {
        return NULL;
    }
    fuzz_listen(fuzz);
    int status = grid_read(&grid, &options, commands_get(command), argc, argv);
    fuzz_hear(fuzz);
    if (status != 0) {
        return status == 2 ? fuzz_expect_refusal(fuzz, "")
                           : fuzz_broken(fuzz, "status %d: %s", status, fuzz->said);
    }
    bool lacks = grid.count == 0 && command_takes_axes(commands_get(command));
    const char *why = fuzz->said_length > 0 || lacks
                          ? fuzz_broken(fuzz, "%zu points, and said: %s", grid.count, fuzz->said)
                          : expect_options(fuzz, &options);
    if (why == NULL && is_reproduced(command)) {
        why = fuzz_expect_reproduced(fuzz, &grid);
    }
    grid_clear(&grid);
    return why;
}

const FuzzSubject fuzz_commands = {.name = "commands", .prepare = prepare, .run = run};
