/*
 * The command `growth`: the laws by which errors grow along Omega, N, D and depth (docs/growth.md).
 */
#include "row.h"

#include "../../base/csv_read.h"
#include "../../base/message.h"
#include "../../base/shown.h"
#include "../../base/text_stream.h"
#include "../../base/values.h"
#include "../../grid/point.h"
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

/* Tables of one kind [count]: fitted, so many rows, and with --check at their end one that is held
 * against the laws. */
typedef struct {
    Csv *tables;
    size_t count, fitted;
} Tables;

/* swept, searched: tables.  asked: with --predict, values of an axis. */
typedef struct {
    const Grid *grid;
    const RunOptions *run;
    Outcome outcome;
    Tables swept, searched;
    size_t asked_axis;
    ValueList asked;
    size_t series, without, held, lawless, silent, evaluated;
    bool trying;                     /* laws are found, and not written */
    bool unsure[CONSTRUCTION_COUNT]; /* which have a law that is not sure */
} Growth;

/* Seeds of the first round. */
enum { SEEDS_FIRST = 3 };

/* A law is not sure whose slope may be off by more than this, and than a tenth. */
#define UNSURE 0.05

/* ---- What is held against a law -------------------------------------------------------------- */

/* One line of the table that is checked lies outside the band. */
static void say_outside(const Growth *all, const LawRow *row)
{
    char measured[PLOT_SIZE_TEXT];
    plot_cell_print(measured, *row->measured);
    fprintf(stderr, "%s:%zu: ", shown(all->run->growth.check).text,
            csv_line(row->row - row->series->fitted_rows));
    growth_print_series(stderr, row);
    fprintf(stderr, ": expected 10^%.3f to 10^%.3f by its law, and it is %s\n", row->band.low,
            row->band.high, measured);
}

/* What the laws say there, and whether what is measured is within it. */
static int hold(Growth *all, const Laws *laws, LawRow row)
{
    row.law = laws_predict(&row.band, laws, row.x);
    if (row.measured != NULL) {
        bool silent = row.series->data->silent[row.row] || isnan(row.measured->log10);
        *(row.law == NULL ? &all->lawless : silent ? &all->silent : &all->held) += 1;
        if (silent) { /* it compares nothing, and so never passes */
            return 0;
        }
    }
    if (row.law != NULL && !row_fits(&row)) {
        all->outcome.failed++;
        say_outside(all, &row);
    }
    return row.law != NULL ? sink_put(&all->outcome.sink, &row) : 0;
}

/* Every other row of the series; but for cells that are not there. */
static int check(Growth *all, const Laws *laws, const Series *series)
{
    bool needed = series->data->searched && series->kind == SEARCH_MIN; /* blank: none was found */
    int status = 0;
    size_t term = 0;
    while (term + 1 < series->terms && !laws->laws[0].told[term]) {
        term++;
    }
    for (size_t i = 0; i < series->held && status == 0; i++) {
        size_t row = series->rows[series->fitted + i].row;
        const PlotCell *cell = &series->data->cells[row][series->kind];
        double x[FIT_MOST];
        for (size_t k = 0; k < series->terms; k++) {
            x[k] = series_number(series->data, row, series->axes[k]);
        }
        if ((needed || !isnan(cell->log10)) && series_has(series, row)) {
            LawRow held = {.series = series, .term = term, .row = row, .x = x, .measured = cell};
            status = hold(all, laws, held);
        }
    }
    return status;
}

/* What is asked of one axis, beside all other sizes that there are. */
static int predict(Growth *all, const Laws *laws, const Series *series)
{
    int status = 0;
    size_t term = 0;
    while (term < series->terms && series->axes[term] != all->asked_axis) {
        term++;
    }
    for (size_t i = 0; i < series->count && term < series->terms; i++) {
        GrowthPoint point = series->points[i];
        bool first = point.x[term] == series->points[0].x[term];
        for (size_t k = 0; k < all->asked.count && first && status == 0; k++) {
            AxisValue value = all->asked.values[k];
            point.x[term] = value.form == FORM_INTEGER ? (double)value.integer : value.real;
            LawRow row = {.series = series, .term = term, .row = point.row, .x = point.x};
            status = hold(all, laws, row);
        }
    }
    return status;
}

/* ---- Laws ------------------------------------------------------------------------------------ */

static void note_unsure(Growth *all, const Series *series, const Law *law)
{
    const char *name = plot_text(series->data, series->rows[0].row, AXIS_CONSTRUCTION);
    double most = fmax(UNSURE, fabs(law->fit.slope[0]) / 10);
    bool sure = !law_has_line(law) || fit_slope_error(&law->fit, 0) <= most;
    for (size_t i = 0; i < CONSTRUCTION_COUNT && !sure; i++) {
        all->unsure[i] = all->unsure[i] || strcmp(construction_names[i], name) == 0;
    }
}

static int take_series(void *context, const Series *series)
{
    Growth *all = context;
    const GrowthOptions *asked = &all->run->growth;
    Laws laws;
    Band band;
    int status = laws_find(&laws, series);
    for (size_t i = 0; i < laws.count && all->trying; i++) {
        note_unsure(all, series, &laws.laws[i]);
    }
    if (status != 0 || all->trying) {
        return status;
    }
    bool says = laws_predict(&band, &laws, series->points[0].x) != NULL;
    bool alone = asked->check == NULL && asked->predict == NULL;
    all->series += series->terms;
    for (size_t k = 0; k < series->terms; k++) {
        all->without += !says || (series->data->searched && !laws.laws[0].told[k]);
    }
    for (size_t i = 0; i < laws.count * series->terms && alone && status == 0; i++) {
        const Law *law = &laws.laws[i / series->terms];
        LawRow row = {.series = series, .law = law, .term = i % series->terms};
        status = sink_put(&all->outcome.sink, &row);
    }
    status = status == 0 && asked->predict != NULL ? predict(all, &laws, series) : status;
    return status == 0 && asked->check != NULL ? check(all, &laws, series) : status;
}

/* Of all tables of a kind, the errors in one norm. */
static int find_laws(Growth *all, const Tables *of, Norm norm)
{
    PlotData data = {0};
    int status = of->count > 0 ? plot_data_take(&data, of->tables, of->count, norm) : 0;
    for (size_t i = 0; i < AXES && status == 0; i++) {
        bool taken = !data.searched || axes[i] == AXIS_N; /* searches are, once */
        status = taken ? series_each(&data, of->fitted, axes[i], take_series, all) : 0;
    }
    plot_data_clear(&data);
    return status;
}

/* ---- Tables ---------------------------------------------------------------------------------- */

/* Adds a table, which was read with that status; laws are fitted to it, or held against it. */
static int add_table(Growth *all, Csv table, int status, bool fitted)
{
    Tables *to = status == 0 && searched_is(&table) ? &all->searched : &all->swept;
    status = status == 0 && to == &all->swept ? check_cells(&table) : status;
    Csv *longer = status == 0 ? realloc(to->tables, (to->count + 1) * sizeof *longer) : NULL;
    if (longer == NULL) {
        csv_clear(&table);
        return status == 0 ? memory_fault() : status;
    }
    to->tables = longer;
    to->tables[to->count++] = table;
    to->fitted += fitted ? table.rows : 0;
    return 0;
}

static int read_table(Growth *all, const char *path, bool fitted)
{
    Csv table = {0};
    int status = csv_read(&table, path);
    return add_table(all, table, status, fitted);
}

/* Rows of a grid, as a command writes them, in memory. */
static int run_command(Growth *all, RunCommand *command, const Grid *grid)
{
    Csv table = {0};
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
    status = csv_take(&table, "swept", text, length);
    return add_table(all, table, status == 2 ? 99 : status, true); /* the program wrote it */
}

/* Points of the grid whose seed is, in the order of its section, the first-th or up to the end-th,
 * of constructions that are not sure; at most as many as are left. */
static int sweep_round(Growth *all, size_t first, size_t end)
{
    const Grid *grid = all->grid;
    Grid round = *grid;
    size_t rank = 0, section = 0;
    round.count = 0;
    round.points = calloc(grid->count + 1, sizeof *round.points);
    round.section = calloc(grid->count + 1, sizeof *round.section);
    int status = round.points == NULL || round.section == NULL ? memory_fault() : 0;
    for (size_t i = 0; i < grid->count && status == 0; i++) {
        const Point *point = &grid->points[i];
        section = strcmp(grid->section[section], grid->section[i]) == 0 ? section : i;
        bool begins = point->spec.seed == grid->points[section].spec.seed;
        rank = begins ? 0 : rank + (point->spec.seed != point[-1].spec.seed);
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
    memset(all->unsure, true, sizeof all->unsure);
    all->trying = true;
    for (; status == 0 && (first == 0 || all->evaluated > before); first = end, end *= 2) {
        before = all->evaluated;
        status = sweep_round(all, first, end);
        memset(all->unsure, false, sizeof all->unsure);
        status = status == 0 ? find_laws(all, &all->swept, NORM_REL) : status;
    }
    all->trying = false;
    return status;
}

/* With a tolerance the Omega that a grid needs: its points without their own, each once. */
static int search_needed(Growth *all)
{
    const Grid *grid = all->grid;
    Grid asked = *grid;
    asked.count = 0;
    asked.points = calloc(grid->count + 1, sizeof *asked.points);
    int status = asked.points == NULL ? memory_fault() : 0;
    for (size_t i = 0; i < grid->count && status == 0; i++) {
        Point *point = &asked.points[asked.count];
        size_t before = 0;
        *point = grid->points[i];
        point->omega = 0;
        point->asked &= ~((uint64_t)1 << AXIS_OMEGA);
        while (before < asked.count && point_compare(&asked.points[before], point) != 0) {
            before++;
        }
        bool masked = construction_info(point->spec.construction)->masked; /* it has no Omega */
        asked.count += before == asked.count && point->judged && !masked;
    }
    status = status == 0 && asked.count > 0 ? run_command(all, command_min_omega, &asked) : status;
    free(asked.points);
    return status;
}

/* Rows of every table, or of the grid. */
static int take_tables(Growth *all)
{
    const Grid *grid = all->grid;
    const GrowthOptions *asked = &all->run->growth;
    int status = 0;
    for (size_t i = 0; i < grid->table_count && status == 0; i++) {
        status = read_table(all, grid->tables[i], true);
    }
    if (grid->table_count == 0) {
        status = asked->evaluations > 0 ? sweep_rounds(all) : run_command(all, command_sweep, grid);
        status = status == 0 ? search_needed(all) : status;
    }
    return status == 0 && asked->check != NULL ? read_table(all, asked->check, false) : status;
}

/* ---- The run --------------------------------------------------------------------------------- */

/* Tables are as they are: no axis can be asked of them, and nothing evaluated. */
static int check_asked(const Grid *grid, const RunOptions *run)
{
    uint64_t others = ~((uint64_t)1 << AXIS_NORM);
    if (grid->table_count > 0 && run->growth.evaluations > 0) {
        return complain((Origin){.flag = "evaluations"}, grid->tables[0],
                        "expected it without tables, which are evaluated");
    }
    for (Axis axis = 0; axis < AXIS_COUNT && grid->table_count > 0; axis++) {
        if ((grid->points[0].asked & others) >> axis & 1) {
            return complain((Origin){.flag = axis_info(axis)->name}, grid->tables[0],
                            "expected a table, or axes, not both");
        }
    }
    return 0;
}

/* What --predict asks: an axis, and its values.  0; 2 or 99 after a message. */
static int read_asked(Growth *all, const char *text)
{
    const Origin origin = {.flag = "predict"};
    size_t length = strcspn(text, "=");
    Message message;
    all->asked_axis = PLOT_AXES;
    for (size_t i = 0; i < AXES && text[length] == '='; i++) {
        const char *name = plot_axis_name(axes[i]);
        if (strlen(name) == length && strncmp(name, text, length) == 0) {
            all->asked_axis = axes[i];
        }
    }
    if (all->asked_axis == PLOT_AXES) {
        return complain(origin, text, "expected omega, n, d, depth or layer, = and a list");
    }
    Axis like = all->asked_axis == PLOT_LAYER ? AXIS_DEPTH : (Axis)all->asked_axis;
    int status = values_read(&all->asked, &message, &axis_info(like)->domain, text + length + 1);
    if (status == 2) {
        complain_message(origin, &message);
    }
    return status == 99 ? memory_fault() : status;
}

/* The last words. */
static int conclude(const Growth *all)
{
    FILE *file = all->outcome.sink.text ? stdout : stderr;
    const char *check = all->run->growth.check;
    size_t failed = all->outcome.failed;
    if (all->series == 0 && all->grid->table_count == 0) {
        return complain((Origin){0}, NULL,
                        "growth: expected two values or more, for a law three, of --omega, --n, "
                        "--d or --depth, of points that have errors");
    }
    if (all->series == 0) {
        const Csv *first = all->swept.count > 0 ? all->swept.tables : all->searched.tables;
        return complain((Origin){.file = first->path, .line = 1}, csv_name(first, 0),
                        "expected rows that differ in omega, n, d, depth or layer alone");
    }
    if (check != NULL && all->held + all->silent == 0) {
        return complain((Origin){.flag = "check"}, check, "expected rows that some law is about");
    }
    if (check != NULL) {
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

static void clear(Growth *all)
{
    Tables *const kinds[] = {&all->swept, &all->searched};
    for (size_t kind = 0; kind < 2; kind++) {
        for (size_t i = 0; i < kinds[kind]->count; i++) {
            csv_clear(&kinds[kind]->tables[i]);
        }
        free(kinds[kind]->tables);
    }
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
    const GrowthOptions *asked = &run->growth;
    int status = check_asked(grid, run);
    status = status == 0 && asked->predict != NULL ? read_asked(&all, asked->predict) : status;
    if (status != 0) {
        clear(&all);
        return status;
    }
    status = outcome_open(&all.outcome, &growth_outcome, grid, run);
    status = status != 0 ? status : take_tables(&all);
    for (Norm norm = 0; norm < NORM_COUNT && status == 0; norm++) {
        if (asked->norm == NORM_COUNT ? norm != NORM_RMS : norm == asked->norm) {
            status = find_laws(&all, &all.swept, norm);
        }
    }
    status = status != 0 ? status : find_laws(&all, &all.searched, NORM_MAX);
    status = status != 0 ? status : conclude(&all);
    all.outcome.failed += all.silent;
    if (status == 0 && all.outcome.failed > 0) {
        (void)failure_say("errors are outside the bands of their laws", run->argc, run->argv);
    }
    status = outcome_end(&all.outcome, status);
    clear(&all);
    return status;
}
