/*
 * The points of a sweep: flags and case files read, expanded and checked.
 */
#include "grid.h"

#include "../../memory/need.h"
#include "distinct.h"
#include "expand.h"
#include "../point/point.h"
#include "preset.h"
#include "settings.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool run_is_over_tau(const RunOptions *run)
{
    return run->over != NULL && strcmp(run->over, "tau") == 0;
}

int run_threads(const RunOptions *run)
{
    return run->threads > 0 ? (int)run->threads : run->team ? 1 : omp_get_num_procs();
}

/* A command line being read: what its flags said, and what stands behind them, files [count]. */
typedef struct {
    const CommandInfo *command;
    RunOptions *run;
    Section flags;
    SectionList sections;
    char **files;
    size_t count;
} Line;

static int expand(Grid *grid, const Line *line)
{
    const CommandInfo *command = line->command;
    const RunOptions *run = line->run;
    /* A proof for every input is about models, so that these commands need no inputs then. */
    CommandInfo asked = *command;
    if (run->every_input && !command_has(command, SEARCHES_OMEGA) &&
        command_evaluates_points(command)) {
        asked.operands = OPERANDS_EITHER;
    }
    int status = 0;
    for (size_t i = 0; i < line->sections.count && status == 0; i++) {
        status = expand_section(grid, &line->sections.sections[i], &line->flags, &asked, run);
    }
    expand_deduplicate(grid);
    return status;
}

/* One that sets nothing, where no case file is. */
static void add_section(Line *line)
{
    sections_add(&line->sections, "", (Origin){0});
}

static int read_cases(Line *line)
{
    int status = 0;
    if (line->count == 0) {
        add_section(line);
    }
    for (size_t i = 0; i < line->count && status == 0; i++) {
        status = casefile_read(&line->sections, line->command, line->files[i]);
    }
    return status;
}

/* Reads a command's one model, as other commands read --weights. */
static int read_model(Line *line)
{
    char **files = line->files;
    const Setting *weights = &line->flags.settings[AXIS_WEIGHTS];
    if (line->count != 1 || weights->given) {
        return complain((Origin){0}, line->count > 1 ? files[1] : line->command->name,
                        "expected one MODEL.safetensors, and no --weights");
    }
    if (strchr(files[0], '/') == NULL && strstr(files[0], ".safetensors") == NULL &&
        access(files[0], F_OK) != 0) {
        return complain((Origin){0}, files[0],
                        "expected a safetensors file, or a folder that has one; there is nothing "
                        "of that name (python3 -m headproof save makes one of a model of "
                        "PyTorch's)");
    }
    int status = setting_read(&line->flags, AXIS_WEIGHTS, line->command, (Origin){0}, files[0]);
    if (status != 0) {
        return status;
    }
    if (weights->list.count != 1 || weights->list.values[0].form != FORM_PATH) {
        return complain((Origin){0}, files[0],
                        "expected the path of one safetensors file, without a comma");
    }
    add_section(line);
    return 0;
}

/* Reads sizes from a model or a preset; without either the flags have them all. */
static int read_sizes(Line *line)
{
    const char *name = line->run->preset;
    if (line->count > 1 || (line->count > 0 && name != NULL)) {
        return complain((Origin){0}, line->files[line->count - 1],
                        "expected at most one MODEL.safetensors or --preset");
    }
    if (line->count > 0) {
        return read_model(line);
    }
    const Preset *preset = name == NULL ? NULL : preset_find(name);
    if (name != NULL && preset == NULL) {
        return 2;
    }
    add_section(line);
    return preset != NULL
               ? preset_apply(&line->sections.sections[0], &line->flags, preset, line->command)
               : 0;
}

static int read_tables(Grid *grid, const Line *line)
{
    if (line->count == 0) {
        return complain((Origin){0}, line->command->name, "expected %s", line->command->usage);
    }
    grid->table_count = line->count;
    return 0;
}

/* Reads what stands behind the flags, whatever the command takes there. */
static int read_operands(Grid *grid, Line *line)
{
    switch (line->command->operands) {
    case OPERANDS_CASES: return read_cases(line);
    case OPERANDS_MODEL: return read_model(line);
    case OPERANDS_SIZES:
    case OPERANDS_EITHER: return read_sizes(line);
    case OPERANDS_TABLES: return read_tables(grid, line);
    }
    abort();
}

static bool is_table(const char *path)
{
    size_t length = strlen(path);
    return length > 4 && strcmp(path + length - 4, ".csv") == 0;
}

/* Tables in place of case files: all of the files, which then are none, or none; and the norm that
 * is asked of them.  They are as they are: no other axis can be. */
static int take_tables(Grid *grid, Line *line)
{
    RunOptions *run = line->run;
    const Setting *flags = line->flags.settings, *norm = &flags[AXIS_NORM];
    bool evaluates = run->dry_run || run->growth.evaluations > 0;
    size_t tables = 0;
    run->growth.norm = norm->given ? (Norm)norm->list.values[0].integer : NORM_COUNT;
    for (size_t i = 0; i < line->count; i++) {
        tables += is_table(line->files[i]);
    }
    if (tables > 0 && (tables < line->count || evaluates)) {
        return complain((Origin){0}, line->files[0], "expected tables, or case files%s",
                        evaluates ? ": nothing of a table is evaluated" : ", not both");
    }
    for (Axis axis = 0; axis < AXIS_COUNT && tables > 0; axis++) {
        if (axis != AXIS_NORM && flags[axis].given) {
            return complain(flags[axis].origin, line->files[0],
                            "expected a table, or axes, not both");
        }
    }
    grid->table_count = tables;
    line->count -= tables;
    return 0;
}

/* Gives the points what is asked of all: --propagation reads what the difference does, layer by
 * layer, and --certify counts what is proven of the reference. */
static int ask_points(Grid *grid, const RunOptions *run)
{
    for (size_t i = 0; i < grid->count; i++) {
        Point *point = &grid->points[i];
        if (run->propagation && !point_has_difference(point)) {
            return complain((Origin){.flag = "propagation"}, NULL,
                            "expected --reference difference");
        }
        if (run->certify && !point_has_reference(point)) {
            return complain((Origin){.flag = "certify"}, NULL,
                            "expected it without --reference none");
        }
        point->propagation = run->propagation;
        point->digits = (int)run->digits;
    }
    return 0;
}

/* Flags about weights files need one, and a tolerance for a witness needs a witness. */
static int check_model_flags(const Grid *grid, const RunOptions *run)
{
    const ModelFileFlags *model = &run->model;
    const struct {
        const char *flag;
        bool given;
    } flags[] = {{"ignore-extra", model->ignore_extra},
                 {"ignore-config", model->ignored != NULL},
                 {"position-embedding", model->positions != NULL},
                 {"blocks", model->blocks != NULL},
                 {"witness", model->witness != NULL},
                 {"witness-tolerance", model->witness_tolerance > 0}};
    bool witnessed = false;
    for (size_t i = 0; i < grid->sources.count; i++) {
        witnessed = witnessed || grid->sources.items[i]->file->witness.tokens != NULL;
    }
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        bool last = i + 1 == sizeof flags / sizeof *flags;
        if (flags[i].given && (grid->sources.count == 0 || (last && !witnessed))) {
            return complain((Origin){.flag = flags[i].flag}, NULL, "expected a weights file%s",
                            last ? " with a witness" : "");
        }
    }
    return 0;
}

static void note_listed(Grid *grid, const Line *line)
{
    for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
        bool listed = line->flags.settings[axis].given;
        for (size_t i = 0; i < line->sections.count && !listed; i++) {
            listed = line->sections.sections[i].settings[axis].given;
        }
        for (size_t i = 0; i < grid->count && !listed; i++) {
            listed = point_axis_tells(&grid->points[i], axis);
        }
        grid->listed |= listed ? AXIS_BIT(axis) : 0;
        bool idle = line->flags.settings[axis].given;
        for (size_t i = 0; i < grid->count && idle; i++) {
            idle = !point_axis_matters(&grid->points[i], axis);
        }
        grid->idle |= idle ? AXIS_BIT(axis) : 0;
    }
}

int grid_read(Grid *grid, RunOptions *run, const CommandInfo *command, int argc, char **argv)
{
    Line line = {.command = command, .run = run};
    *grid = (Grid){0};
    *run = (RunOptions){0};
    line.files = grid->tables = need_zeros((size_t)argc + 1, sizeof *line.files);
    int status = options_read(&line.flags, run, line.files, &line.count, command, argc, argv);
    size_t operands = line.count;
    status = status != 0 || !command_has(command, READS_TABLES) ? status : take_tables(grid, &line);
    status = status != 0 ? status : read_operands(grid, &line);
    bool twice = run->network != NULL && line.flags.settings[AXIS_CONSTRUCTION].given;
    if (status == 0 && twice) {
        status = complain((Origin){.flag = "network"}, run->network,
                          "expected --network or --construction");
    }
    status = status != 0 || !command_takes_axes(command) ? status : expand(grid, &line);
    note_listed(grid, &line);
    status = status != 0 ? status : check_model_flags(grid, run);
    status = status != 0 ? status : ask_points(grid, run);
    status = status != 0 ? status : distinct_check_run(grid, run, command, line.files, operands);
    sections_clear(&line.sections);
    section_clear(&line.flags);
    if (status != 0) {
        grid_clear(grid);
    }
    return status;
}

const Point *grid_first_judged(const Grid *grid)
{
    size_t i = 0;
    while (i < grid->count && !grid->points[i].judged) {
        i++;
    }
    return i < grid->count ? &grid->points[i] : NULL;
}

void grid_clear(Grid *grid)
{
    for (size_t i = 0; i < grid->count; i++) {
        free(grid->section[i]);
    }
    free(grid->points);
    free(grid->section);
    free(grid->tables);
    sources_clear(&grid->sources);
    *grid = (Grid){0};
}
