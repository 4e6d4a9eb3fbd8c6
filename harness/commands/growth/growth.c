/*
 * The command `growth`: the laws by which errors grow along Omega, N, D and depth (docs/growth.md).
 */
#include "find.h"
#include "needed.h"
#include "row.h"

#include "../../base/csv_read.h"
#include "../../base/message.h"
#include "../../base/shown.h"
#include "../../base/text_stream.h"
#include "../../base/values.h"
#include "../../grid/point_axes.h"
#include "../../table/check_columns.h"
#include "../commands.h"
#include "../outcome.h"
#include "../plot/searched.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Along what errors grow. */
enum { AXES = 5 };
static const size_t axes[AXES] = {AXIS_OMEGA, AXIS_N, AXIS_D, AXIS_DEPTH, PLOT_LAYER};

/* The laws of one series, kept for what is held against them. */
typedef struct {
    Series series;
    Laws laws;
} Found;

/* tables [count]: fitted, and at their end, with --check, the one that is held against the laws;
 * fitted: rows of the others.  asked: with --predict, values of an axis.  found [found_count]: of
 * one norm. */
typedef struct {
    const Grid *grid;
    const RunOptions *run;
    Outcome outcome;
    Csv *tables;
    size_t count, fitted, asked_axis;
    ValueList asked;
    Found *found;
    size_t found_count, found_room;
    size_t series, without, held, lawless, silent;
    bool trying;                     /* laws are found, and not written */
    bool unsure[CONSTRUCTION_COUNT]; /* which have a law that is not sure */
    size_t evaluated;
} Growth;

/* Seeds of the first round, and rounds: each has as many seeds as all before it. */
enum { SEEDS_FIRST = 3, ROUNDS_MOST = 64 };

/* A law is not sure whose slope may be off by more than this, and than a tenth. */
#define UNSURE 0.05

static int find_laws(Growth *all, Norm norm) __attribute__((warn_unused_result));

/* ---- Tables ---------------------------------------------------------------------------------- */

/* Rows of a grid, as a command writes them, in memory. */
static int run_command(Growth *all, RunCommand *command, const Grid *grid)
{
    Csv *table = &all->tables[all->count++];
    char *text = NULL;
    size_t length = 0;
    RunOptions run = *all->run;
    run.output = NULL;
    run.file_only = true;
    run.stream = text_stream(&text, &length);
    if (run.stream == NULL) {
        return memory_fault();
    }
    int status = command(grid, &run);
    bool closed = fclose(run.stream) == 0;
    if (status > 1 || !closed) {
        free(text);
        return status > 1 ? status : memory_fault();
    }
    status = csv_take(table, "swept", text, length);
    return status == 2 ? 99 : status; /* the program wrote it */
}

static size_t count_rows(const Growth *all)
{
    size_t rows = 0;
    for (size_t i = 0; i < all->count; i++) {
        rows += all->tables[i].rows;
    }
    return rows;
}

/* How many seeds of the grid come before that one. */
static size_t seed_rank(const Grid *grid, uint64_t seed)
{
    size_t rank = 0;
    uint64_t last = grid->points[0].spec.seed;
    for (size_t i = 0; grid->points[i].spec.seed != seed; i++) {
        rank += i == 0 || grid->points[i].spec.seed != last;
        last = grid->points[i].spec.seed;
    }
    return rank;
}

/* Points of the grid whose seed is, in the order of seeds, the first-th or up to the end-th, of
 * constructions that are not sure; at most as many as are left. */
static int sweep_round(Growth *all, size_t first, size_t end)
{
    const Grid *grid = all->grid;
    Grid round = *grid;
    round.count = 0;
    round.points = calloc(grid->count + 1, sizeof *round.points);
    round.section = calloc(grid->count + 1, sizeof *round.section);
    int status = round.points == NULL || round.section == NULL ? memory_fault() : 0;
    for (size_t i = 0; i < grid->count && status == 0; i++) {
        const Point *point = &grid->points[i];
        size_t rank = seed_rank(grid, point->spec.seed);
        bool asked = rank >= first && rank < end && all->unsure[point->spec.construction];
        if (asked && all->evaluated < all->run->growth.evaluations) {
            all->evaluated++;
            round.section[round.count] = grid->section[i];
            round.points[round.count++] = *point;
        }
    }
    status = status == 0 && round.count > 0 ? run_command(all, command_sweep, &round) : status;
    free(round.points);
    free(round.section);
    return status;
}

/* The first seeds of all points, then twice as many of what is not sure, and so on. */
static int sweep_rounds(Growth *all)
{
    size_t before = 0, first = 0, end = SEEDS_FIRST;
    int status = 0;
    memset(all->unsure, 1, sizeof all->unsure);
    for (; status == 0 && (first == 0 || all->evaluated > before); first = end, end *= 2) {
        before = all->evaluated;
        status = sweep_round(all, first, end);
        memset(all->unsure, 0, sizeof all->unsure);
        all->trying = true;
        all->fitted = count_rows(all);
        status = status == 0 ? find_laws(all, NORM_REL) : status;
    }
    all->trying = false;
    all->series = all->without = 0;
    return status;
}

static int read_table(Csv *table, const char *path)
{
    int status = csv_read(table, path);
    return status != 0 || searched_is(table) ? status : check_cells(table);
}

static int read_tables(Growth *all)
{
    const Grid *grid = all->grid;
    const char *check = all->run->growth.check;
    int status = 0;
    all->tables = calloc(grid->table_count + ROUNDS_MOST + 2, sizeof *all->tables);
    if (all->tables == NULL) {
        return memory_fault();
    }
    for (size_t i = 0; i < grid->table_count && status == 0; i++) {
        status = read_table(&all->tables[all->count++], grid->tables[i]);
    }
    if (grid->table_count == 0) {
        status = all->run->growth.evaluations > 0 ? sweep_rounds(all)
                                                  : run_command(all, command_sweep, grid);
    }
    all->fitted = count_rows(all);
    return status == 0 && check != NULL ? read_table(&all->tables[all->count++], check) : status;
}

/* ---- Laws ------------------------------------------------------------------------------------ */

static int keep(Growth *all, const Series *series, const Laws *laws)
{
    if (all->found_count == all->found_room) {
        size_t room = 2 * all->found_room + 16;
        Found *longer = realloc(all->found, room * sizeof *longer);
        if (longer == NULL) {
            return memory_fault();
        }
        all->found = longer;
        all->found_room = room;
    }
    all->found[all->found_count] = (Found){*series, *laws};
    all->found[all->found_count++].series.points = NULL; /* which end with the call */
    return 0;
}

static void note_unsure(Growth *all, const Series *series, const Law *law)
{
    const Domain *domain = &axis_info(AXIS_CONSTRUCTION)->domain;
    const char *name = plot_text(series->data, series->row, AXIS_CONSTRUCTION);
    double error = fit_slope_error(&law->fit, law_noise(law), law->term);
    bool sure = !law_has_line(law) || error <= fmax(UNSURE, fabs(law->fit.slope[0]) / 10);
    for (size_t i = 0; i < domain->word_count; i++) {
        all->unsure[i] = all->unsure[i] || (!sure && strcmp(domain->words[i], name) == 0);
    }
}

static int take_series(void *context, const Series *series)
{
    Growth *all = context;
    Laws laws;
    Band band;
    int status = laws_find(&laws, series);
    all->series++;
    all->without += status == 0 && laws_predict(&band, &laws, series->points[0].x) == NULL;
    bool alone = all->run->growth.check == NULL && all->run->growth.predict == NULL;
    for (size_t i = 0; i < laws.count && status == 0; i++) {
        if (all->trying) {
            note_unsure(all, series, &laws.laws[i]);
        } else if (alone) {
            status = sink_put(&all->outcome.sink, &(LawRow){series, &laws.laws[i], NULL});
        }
    }
    return status != 0 ? status : keep(all, series, &laws);
}

/* ---- What is held against them --------------------------------------------------------------- */

/* One line of the table that is checked lies outside the band. */
static void say_outside(const Growth *all, const Found *found, const Held *held, size_t row)
{
    char measured[PLOT_SIZE_TEXT];
    const char *path = shown(all->run->growth.check).text;
    plot_cell_print(measured, *held->measured);
    fprintf(stderr, "%s:%zu: ", path, csv_line(row - all->fitted));
    growth_print_series(stderr, &found->series);
    fprintf(stderr, ": expected 10^%.3f to 10^%.3f by its law, and it is %s\n", held->band.low,
            held->band.high, measured);
}

/* The row against the laws of one series, which it is of. */
static int hold(Growth *all, const Found *found, size_t row)
{
    const PlotData *data = found->series.data;
    const PlotCell *cell = &data->cells[row][found->series.kind];
    Held held = {.x = series_number(data, row, found->series.axis),
                 .measured = cell,
                 .seed = plot_text(data, row, AXIS_SEED)};
    if (isnan(cell->log10)) {
        return 0;
    }
    const Law *law = laws_predict(&held.band, &found->laws, held.x);
    if (law == NULL) {
        all->lawless++;
        return 0;
    }
    if (data->silent[row]) { /* compares nothing, and so never passes */
        all->silent++;
        return 0;
    }
    all->held++;
    if (!held_fits(&held)) {
        all->outcome.failed++;
        say_outside(all, found, &held, row);
    }
    return sink_put(&all->outcome.sink, &(LawRow){&found->series, law, &held});
}

/* Every row of the table that is checked against every law that is about it. */
static int hold_all(Growth *all, const PlotData *data)
{
    int status = 0;
    for (size_t row = all->fitted; row < data->rows; row++) {
        for (size_t i = 0; i < all->found_count && status == 0; i++) {
            const Series *series = &all->found[i].series;
            uint64_t differ = series_free_axes(data, series->axis);
            SeriesRow one = {data, differ, row}, other = {data, differ, series->row};
            if (series_takes(data, row, series->axis) && series_compare_keys(&one, &other) == 0) {
                status = hold(all, &all->found[i], row);
            }
        }
    }
    return status;
}

/* ---- Searches ------------------------------------------------------------------------------- */

static int take_term(void *context, const Series *series, const Law *law)
{
    Growth *all = context;
    all->series++;
    all->without += law->kind == LAW_NONE;
    return sink_put(&all->outcome.sink, &(LawRow){series, law, NULL});
}

/* With a tolerance the Omega that a grid needs: its points without their own, each once. */
static int search_needed(Growth *all)
{
    const Grid *grid = all->grid;
    Grid asked = *grid;
    PlotData data = {0};
    size_t table = all->count;
    asked.count = 0;
    asked.points = calloc(grid->count + 1, sizeof *asked.points);
    int status = asked.points == NULL ? memory_fault() : 0;
    for (size_t i = 0; i < grid->count && status == 0; i++) {
        Point point = grid->points[i];
        size_t before = 0;
        point.omega = 0;
        point.asked &= ~((uint64_t)1 << AXIS_OMEGA);
        while (before < asked.count && point_compare(&asked.points[before], &point) != 0) {
            before++;
        }
        bool masked = construction_info(point.spec.construction)->masked; /* it has no Omega */
        if (before == asked.count && point.judged && !masked) {
            asked.points[asked.count++] = point;
        }
    }
    if (status == 0 && asked.count > 0) {
        status = run_command(all, command_min_omega, &asked);
        status = status == 0 ? plot_data_take(&data, &all->tables[table], 1, NORM_MAX) : status;
        status = status == 0 ? needed_each(&data, data.rows, take_term, all) : status;
    }
    plot_data_clear(&data);
    free(asked.points);
    return status;
}

/* ---- Predictions ----------------------------------------------------------------------------- */

/* What --predict asks: an axis, and its values.  0; 2 or 99 after a message. */
static int read_asked(Growth *all, const char *text)
{
    const Origin origin = {.flag = "predict"};
    const char *list = strchr(text, '=');
    size_t length = list != NULL ? (size_t)(list - text) : 0;
    Message message;
    all->asked_axis = PLOT_AXES;
    for (size_t i = 0; i < AXES; i++) {
        const char *name = plot_axis_name(axes[i]);
        if (strlen(name) == length && strncmp(name, text, length) == 0) {
            all->asked_axis = axes[i];
        }
    }
    if (all->asked_axis == PLOT_AXES) {
        return complain(origin, text, "expected omega, n, d, depth or layer, = and a list");
    }
    Axis like = all->asked_axis == PLOT_LAYER ? AXIS_DEPTH : (Axis)all->asked_axis;
    int status = values_read(&all->asked, &message, &axis_info(like)->domain, list + 1);
    if (status == 2) {
        complain_message(origin, &message);
    }
    return status == 99 ? memory_fault() : status;
}

/* What a series' laws say of the values asked. */
static int predict(Growth *all, const Series *series, const Laws *laws)
{
    int status = 0;
    for (size_t i = 0; i < all->asked.count && status == 0; i++) {
        AxisValue value = all->asked.values[i];
        Held held = {.x = value.form == FORM_INTEGER ? (double)value.integer : value.real,
                     .seed = ""};
        const Law *law = laws_predict(&held.band, laws, held.x);
        if (law != NULL && series->axis == all->asked_axis) {
            status = sink_put(&all->outcome.sink, &(LawRow){series, law, &held});
        }
    }
    return status;
}

/* ---- The run --------------------------------------------------------------------------------- */

/* The errors in one norm. */
static int find_laws(Growth *all, Norm norm)
{
    PlotData data = {0};
    int status = plot_data_take(&data, all->tables, all->count, norm);
    all->found_count = 0;
    if (status == 0 && data.searched && norm == NORM_MAX) {
        status = needed_each(&data, all->fitted, take_term, all);
    }
    for (size_t i = 0; i < AXES && status == 0 && !data.searched; i++) {
        status = series_each(&data, all->fitted, axes[i], take_series, all);
    }
    for (size_t i = 0; i < all->found_count && status == 0 && !all->trying; i++) {
        status = predict(all, &all->found[i].series, &all->found[i].laws);
    }
    if (status == 0 && all->run->growth.check != NULL && !all->trying) {
        status = hold_all(all, &data);
    }
    plot_data_clear(&data);
    return status;
}

/* The last words. */
static int conclude(const Growth *all)
{
    FILE *file = all->outcome.sink.text ? stdout : stderr;
    size_t failed = all->outcome.failed;
    if (all->series == 0) {
        return complain((Origin){.file = all->tables[0].path, .line = 1},
                        csv_name(&all->tables[0], 0),
                        "expected rows that differ in omega, n, d, depth or layer alone");
    }
    if (all->run->growth.check != NULL && all->held + all->silent == 0) {
        return complain((Origin){.flag = "check"}, all->run->growth.check,
                        "expected rows that some law is about");
    }
    if (all->run->growth.check != NULL) {
        fprintf(file, "verdict: %s: %zu of %zu errors outside their bands, %zu without a law",
                failed + all->silent > 0 ? "FAIL" : "PASS", failed, all->held, all->lawless);
        if (all->silent > 0) {
            fprintf(file, ", %zu of rows that say nothing (vacuous or error)", all->silent);
        }
        fputc('\n', file);
    } else if (!all->run->quiet) {
        fprintf(file, "%zu series, %zu of them without a law\n", all->series, all->without);
    }
    if (all->evaluated > 0 && !all->run->quiet) {
        fprintf(file, "%zu of %zu points evaluated\n", all->evaluated, all->grid->count);
    }
    return 0;
}

/* Tables are as they are: no axis can be asked of them. */
static int check_asked(const Grid *grid, const RunOptions *run)
{
    if (grid->table_count > 0 && run->growth.evaluations > 0) {
        return complain((Origin){.flag = "evaluations"}, grid->tables[0],
                        "expected it without tables, which are evaluated");
    }
    uint64_t others = ~((uint64_t)1 << AXIS_NORM);
    for (Axis axis = 0; axis < AXIS_COUNT && grid->table_count > 0; axis++) {
        if ((grid->points[0].asked & others) >> axis & 1) {
            return complain((Origin){.flag = axis_info(axis)->name}, grid->tables[0],
                            "expected a table, or axes, not both");
        }
    }
    return 0;
}

static void clear(Growth *all)
{
    for (size_t i = 0; all->tables != NULL && i < all->count; i++) {
        csv_clear(&all->tables[i]);
    }
    free(all->tables);
    free(all->found);
    values_clear(&all->asked);
}

static const OutcomeKind growth_outcome = {.table = {.bare = BARE_TEXT,
                                                     .write_header = growth_write_header,
                                                     .write_row = growth_write_row,
                                                     .print = growth_print,
                                                     .between = ""}};

int command_growth(const Grid *grid, const RunOptions *run)
{
    Growth all = {.grid = grid, .run = run};
    int status = check_asked(grid, run);
    status =
        status == 0 && run->growth.predict != NULL ? read_asked(&all, run->growth.predict) : status;
    if (status != 0) {
        clear(&all);
        return status;
    }
    status = outcome_open(&all.outcome, &growth_outcome, grid, run);
    status = status != 0 ? status : read_tables(&all);
    for (Norm norm = 0; norm < NORM_COUNT && status == 0; norm++) {
        Norm asked = run->growth.norm;
        if (asked == NORM_COUNT ? norm != NORM_RMS : norm == asked) {
            status = find_laws(&all, norm);
        }
    }
    status = status == 0 && grid->table_count == 0 ? search_needed(&all) : status;
    status = status != 0 ? status : conclude(&all);
    all.outcome.failed += all.silent;
    if (status == 0 && all.outcome.failed > 0) {
        (void)failure_say("errors are outside the bands of their laws", run->argc, run->argv);
    }
    status = outcome_end(&all.outcome, status);
    clear(&all);
    return status;
}
