/*
 * Rows from tables, from a sweep, and from searches.
 */
#include "gather.h"

#include "law.h"

#include "../../../memory/need.h"
#include "../../base/message.h"
#include "../../base/text_stream.h"
#include "../../table/check_columns.h"
#include "../commands.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Seeds of the first round. */
enum { SEEDS_FIRST = 3 };

/* A law is not sure whose slope may be off by more than this, and than a tenth. */
#define UNSURE 0.05

/* ---- Tables ---------------------------------------------------------------------------------- */

/* Adds a table, the file of that name or, if there is one, a text, which becomes its own. */
static int add_table(Gathered *all, const char *path, char *text, size_t length, bool fitted)
{
    Csv table = {0};
    int status = text != NULL ? csv_take(&table, path, text, length) : csv_read(&table, path);
    const bool searched = status == 0 && searched_is(&table);
    status = status == 0 && !searched ? check_cells(&table) : status;
    if (status != 0) {
        csv_clear(&table);
        return status;
    }
    all->tables[searched] =
        need_more(all->tables[searched], all->count[searched] + 1, sizeof table);
    all->tables[searched][all->count[searched]++] = table;
    all->fitted[searched] += fitted ? table.rows : 0;
    return 0;
}

int gathered_each(const Gathered *all, bool searched, Norm norm, TakeSeries *take, void *context)
{
    const Csv *tables = all->tables[searched];
    Measures data = {0};
    int status = tables == NULL ? 0 : measures_take(&data, tables, all->count[searched], norm);
    for (size_t i = 0; i < (searched ? 1 : SERIES_AXES) && status == 0; i++) {
        status = series_each(&data, all->fitted[searched], series_axes[i], take, context);
    }
    measures_clear(&data);
    return status;
}

void gathered_clear(Gathered *all)
{
    for (size_t kind = 0; kind < 2; kind++) {
        for (size_t i = 0; i < all->count[kind]; i++) {
            csv_clear(&all->tables[kind][i]);
        }
        free(all->tables[kind]);
    }
}

/* ---- A grid ---------------------------------------------------------------------------------- */

/* Is the point asked that stands behind those of some, the i-th of the grid? */
typedef bool Asks(Gathered *all, Grid *some, size_t i);

/* Rows of those points, as a command writes them, in memory. */
static int run_command(Gathered *all, RunCommand *command, Asks *asks)
{
    char *text = NULL;
    size_t length = 0;
    Grid some = *all->grid; /* sections are for a file's sidecar */
    RunOptions run = *all->run;
    some.count = 0;
    some.points = need_zeros(all->grid->count + 1, sizeof *some.points);
    int status = 0;
    for (size_t i = 0; i < all->grid->count && status == 0; i++) {
        some.points[some.count] = all->grid->points[i];
        some.count += asks(all, &some, i);
    }
    if (status == 0 && some.count > 0) {
        run.output = NULL;
        run.file_only = true;
        run.stream = text_stream(&text, &length);
        status = command(&some, &run);
        (void)text_close(run.stream, &text);
        if (status > 1) {
            free(text);
        } else {
            status = add_table(all, "swept", text, length, true);
            status = status == 2 ? 99 : status; /* the program wrote it */
        }
    }
    free(some.points);
    return status;
}

/* Of a round, as many as are left of those that may be evaluated. */
static bool asks_round(Gathered *all, Grid *some, size_t i)
{
    const Grid *grid = all->grid;
    const Point *point = &grid->points[i];
    bool begun = i > 0 && strcmp(grid->section[i], grid->section[i - 1]) == 0;
    all->section = begun ? all->section : i;
    bool begins = point->spec.seed == grid->points[all->section].spec.seed;
    all->rank = begins ? 0 : all->rank + (point->spec.seed != point[-1].spec.seed);
    bool asked = all->rank >= all->first && all->rank < all->end &&
                 all->unsure[point->spec.construction] && all->evaluated < all->most;
    all->evaluated += asked;
    (void)some;
    return asked;
}

/* A search for each tolerance: without an Omega of its own, and once. */
static bool asks_search(Gathered *all, Grid *some, size_t i)
{
    Point *point = &some->points[some->count];
    size_t before = 0;
    point->omega = 0;
    point->asked &= ~((uint64_t)1 << AXIS_OMEGA);
    while (before < some->count && point_compare(&some->points[before], point) != 0) {
        before++;
    }
    (void)all, (void)i;
    return before == some->count && point->judged &&
           !construction_info(point->spec.construction)->masked; /* which has no Omega */
}

/* Which constructions have a law that is not sure? */
static int note_unsure(void *context, const Series *series)
{
    bool *unsure = context;
    Laws laws;
    laws_find(&laws, series);
    for (size_t i = 0; i < laws.count; i++) {
        const Fit *fit = &laws.laws[i].fit;
        bool sure = laws.laws[i].kind <= LAW_ZERO ||
                    fit_slope_error(fit, 0) <= fmax(UNSURE, fabs(fit->slope[0]) / 10);
        for (size_t k = 0; k < CONSTRUCTION_COUNT && !sure; k++) {
            unsure[k] |= strcmp(series_text(series, AXIS_CONSTRUCTION), construction_names[k]) == 0;
        }
    }
    return 0;
}

/* With --evaluations the first seeds of all points, then twice as many of what is not sure, and so
 * on; else all of them.  Then the searches. */
static int evaluate(Gathered *all)
{
    const size_t most = all->run->growth.evaluations;
    size_t before;
    int status;
    all->most = most > 0 ? most : SIZE_MAX;
    all->end = most > 0 ? SEEDS_FIRST : SIZE_MAX;
    memset(all->unsure, true, sizeof all->unsure);
    do {
        before = all->evaluated;
        status = run_command(all, command_sweep, asks_round);
        memset(all->unsure, false, sizeof all->unsure);
        status = status != 0 || most == 0
                     ? status
                     : gathered_each(all, false, NORM_REL, note_unsure, all->unsure);
        all->first = all->end;
        all->end *= 2;
    } while (status == 0 && most > 0 && all->evaluated > before);
    return status == 0 ? run_command(all, command_min_omega, asks_search) : status;
}

int gather(Gathered *all)
{
    const Grid *grid = all->grid;
    const char *check = all->run->growth.check;
    int status = grid->table_count == 0 ? evaluate(all) : 0;
    for (size_t i = 0; i < grid->table_count && status == 0; i++) {
        status = add_table(all, grid->tables[i], NULL, 0, true);
    }
    return status != 0 || check == NULL ? status : add_table(all, check, NULL, 0, false);
}
