/*
 * The command `growth`: the laws by which errors grow along Omega, N, D and depth (docs/growth.md).
 */
#include "gather.h"
#include "law.h"

#include "../../base/message.h"
#include "../../base/shown.h"
#include "../../base/values.h"
#include "../../table/bounds.h"
#include "../../table/columns.h"
#include "../commands.h"
#include "../outcome.h"

#include <math.h>
#include <string.h>

/* asked: with --predict, values of an axis.  parts: laws of the errors that were met of the rows of
 * a series.  Counted are series, and those without a law; of rows that are checked those that are
 * held against a law, that have none, and that say nothing. */
typedef struct {
    Gathered gathered;
    Outcome outcome;
    size_t asked_axis;
    ValueList asked;
    Laws parts[ERROR_KINDS];
    size_t series, without, held, lawless, silent;
} Growth;

/* ---- Rows ------------------------------------------------------------------------------------ */

/* A row of the table: the law, what its series share, theory, and with --check or --predict what it
 * says of one size.  term: whose axis the row is about.  x: sizes that the law is held against, in
 * `band`, NULL: the law alone; row: of the table, which is of these sizes but that on the term's
 * axis; measured: what it has, or NULL. */
typedef struct {
    const Series *series;
    const Law *law;
    size_t term, row;
    const double *x;
    const Measure *measured;
    Band band;
} LawRow;

static const char tail[] =
    ",norm,kind,axis,law,why,from,to,points,seeds,censored,constant,slope,slope_error,end_slope,"
    "residual,residual_max,other_residual,seeds_below,seeds_above,theory_least,theory_most,theory,"
    "at,seed,low_log10,predicted_log10,high_log10,measured_log10," BOUNDS_COLUMN ",status\n";

static const char *const names[LAW_COUNT] = {"none",      "zero",        "floor",
                                             "power",     "exponential", "arm-left",
                                             "arm-right", "logarithm",   "linear"};

/* The kind of law along the row's axis: of a formula all terms but the last are logarithms, and of
 * two sizes none can be told. */
static LawKind kind_of(const LawRow *row)
{
    const Law *law = row->law;
    bool line = law->kind > LAW_ZERO, first = row->term + 1 < law->terms;
    return line && !law->told[row->term] ? LAW_NONE : line && first ? LAW_LOGARITHM : law->kind;
}

/* Is what was measured within the band, or a bound that may be?  Nothing always is. */
static bool is_within(const LawRow *row)
{
    const Measure *cell = row->measured;
    return cell == NULL ||
           (cell->log10 >= row->band.low && (cell->log10 <= row->band.high || cell->bound));
}

/* The value of an axis that all its rows share: "" where they differ in it, or may, unless it is
 * about a size that one search has. */
static const char *shared(const LawRow *row, size_t axis)
{
    const Series *series = row->series;
    bool own = row->x != NULL && series->data->searched && axis != series->axes[row->term];
    size_t from = own ? row->row : series->rows[0].row;
    return own || !series_differs(series, axis) ? measures_text(series->data, from, axis) : "";
}

/* NULL: the names of the columns. */
static void write_key(FILE *file, const LawRow *row)
{
    const char *between = "";
    for (size_t axis = 0; axis < AXIS_COUNT; axis++) {
        const char *column = axis_info((Axis)axis)->column;
        if (column != NULL && axis != AXIS_SEED) {
            fprintf(file, "%s,", row == NULL ? column : shared(row, axis));
        }
    }
    for (size_t axis = 0; axis < AXIS_COUNT && row != NULL; axis++) {
        char standard[VALUE_TEXT];
        const AxisInfo *info = axis_info((Axis)axis);
        const char *text = shared(row, axis);
        value_print(standard, &info->domain, info->standard);
        if (info->column == NULL && *text != '\0' && strcmp(text, standard) != 0) {
            fprintf(file, "%s%s=%s", between, info->name, text);
            between = ";";
        }
    }
}

void growth_write_header(FILE *file, const RunOptions *run)
{
    (void)run; /* whatever is asked */
    write_key(file, NULL);
    fputs(OPTIONS_COLUMN, file);
    fputs(tail, file);
}

/* The word for what grows: an error, or the Omega that searches found. */
static const char *what_grows(const Series *series)
{
    const char *omega = series->kind == SEARCH_MIN ? "omega_min" : "omega_proven";
    return series->data->searched ? omega : axis_info(AXIS_JUDGE)->domain.words[series->kind];
}

static const char *norm_of(const Series *series)
{
    return series->data->searched ? "" : axis_info(AXIS_NORM)->domain.words[series->data->norm];
}

/* Blank: NAN, or all of them where there are none. */
static void write_numbers(FILE *file, bool there, size_t count, const double *numbers)
{
    for (size_t i = 0; i < count; i++) {
        fputc(',', file);
        if (there && !isnan(numbers[i])) {
            fprintf(file, "%.12g", numbers[i]);
        }
    }
}

static void write_law(FILE *file, const LawRow *row)
{
    const Law *law = row->law;
    const Fit *fit = &law->fit;
    const size_t term = row->term;
    const bool searched = row->series->data->searched; /* of searches as blank as those without */
    const double points[] = {law->from[term], law->to[term], (double)law->points,
                             searched ? NAN : (double)law->seeds, (double)row->series->censored};
    const double end = searched ? NAN : law->ends[term].slope[term];
    const double line[] = {fit->constant, fit->slope[term], fit_slope_error(fit, term),
                           end,           fit->residual,    fit->worst,
                           law->other,    law->below,       law->above};
    const LawKind kind = kind_of(row);
    const bool few = kind == LAW_NONE && law->kind > LAW_ZERO;
    fprintf(file, ",%s,%s", names[kind], few ? "few-points" : law->why);
    write_numbers(file, true, 5, points);
    write_numbers(file, kind > LAW_ZERO, 9, line);
}

static void write_row(FILE *file, const void *row)
{
    const LawRow *own = row;
    const Series *series = own->series;
    const Measure *cell = own->measured;
    const double at = own->x != NULL ? own->x[own->term] : NAN;
    const double held[] = {own->band.low, own->band.middle, own->band.high,
                           cell != NULL ? cell->log10 : NAN};
    const char *status = kind_of(own) == LAW_NONE ? "none" : "ok";
    const Theory theory = law_theory(series, own->law, own->term);
    write_key(file, own);
    fprintf(file, ",%s,%s,%s", norm_of(series), what_grows(series),
            measure_axis_name(series->axes[own->term]));
    write_law(file, own);
    write_numbers(file, true, 2, (const double[]){theory.least, theory.most});
    fprintf(file, ",%s", theory.word);
    write_numbers(file, true, 1, &at);
    fprintf(file, ",%s", cell != NULL ? measures_text(series->data, own->row, AXIS_SEED) : "");
    write_numbers(file, own->x != NULL, 4, held);
    fprintf(file, ",%s,%s\n", cell != NULL && cell->bound ? "measured_log10" : "",
            is_within(own) ? status : "fail");
}

/* ---- What is held against a law -------------------------------------------------------------- */

/* The band that an error's law predicts.  total = construction + rounding, and observed has the
 * former in it: where a part's law says more, the sum cannot stay below, and the band has both. */
static void find_band(LawRow *row, const Growth *all, const Laws *laws)
{
    static const size_t parts[ERROR_KINDS] = {[ERROR_TOTAL] = 2, [ERROR_OBSERVED] = 1};
    row->law = laws_predict(&row->band, laws, row->x);
    for (size_t k = 0; k < parts[row->series->kind] && row->law != NULL; k++) {
        Band part, own = row->band;
        const Law *law = laws_predict(&part, &all->parts[ERROR_CONSTRUCTION + k], row->x);
        if (law != NULL && part.middle > own.middle) {
            row->law = law;
            row->band = (Band){fmin(own.low, part.low), part.middle, fmax(own.high, part.high)};
        }
    }
}

/* Finds the band that the laws predict at a place, and whether a value measured there is within. */
static int hold(Growth *all, const Laws *laws, LawRow row)
{
    char measured[MEASURE_TEXT];
    find_band(&row, all, laws);
    if (row.measured != NULL) {
        bool silent = row.series->data->silent[row.row] || isnan(row.measured->log10);
        *(row.law == NULL ? &all->lawless : silent ? &all->silent : &all->held) += 1;
        if (silent) { /* it compares nothing, and so never passes */
            return 0;
        }
    }
    if (row.law != NULL && !is_within(&row)) {
        all->outcome.failed++;
        measure_print(measured, *row.measured);
        fprintf(
            stderr, "%s:%zu: %s: %s%s%s along %s: expected 10^%.3f to 10^%.3f by its law, not %s\n",
            shown(all->gathered.run->growth.check).text,
            csv_line(row.row - row.series->fitted_rows), series_text(row.series, AXIS_CONSTRUCTION),
            what_grows(row.series), row.series->data->searched ? "" : " ", norm_of(row.series),
            measure_axis_name(row.series->axes[row.term]), row.band.low, row.band.high, measured);
    }
    return row.law != NULL ? sink_put(&all->outcome.sink, &row) : 0;
}

/* Every other row of the series; but for cells that are not there. */
static int check(Growth *all, const Laws *laws, const Series *series)
{
    bool needed = series->data->searched && series->kind == SEARCH_MIN; /* blank: none was found */
    double x[FIT_MOST];
    LawRow row = {.series = series, .x = x};
    int status = 0;
    while (row.term + 1 < series->terms && !laws->laws[0].told[row.term]) {
        row.term++;
    }
    for (size_t i = 0; i < series->held && status == 0; i++) {
        row.row = series->rows[series->fitted + i].row;
        row.measured = &series->data->cells[row.row][series->kind];
        series_place(x, series, row.row);
        bool there = (needed || !isnan(row.measured->log10)) && series_has(series, row.row);
        status = there ? hold(all, laws, row) : 0;
    }
    return status;
}

/* Rows of --predict for one series: the values asked for, each beside all other sizes there are. */
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

static int take_series(void *context, const Series *series)
{
    Growth *all = context;
    const GrowthOptions *asked = &all->gathered.run->growth;
    const bool alone = asked->check == NULL && asked->predict == NULL;
    Laws laws;
    int status = 0;
    laws_find(&laws, series);
    memset(all->parts, 0, series->first ? sizeof all->parts : 0);
    all->parts[series->kind] = laws;
    all->series++;
    all->without += laws.count == 1 && laws.laws[0].kind == LAW_NONE;
    status = asked->predict != NULL ? predict(all, &laws, series) : status;
    status = status == 0 && asked->check != NULL ? check(all, &laws, series) : status;
    for (size_t i = 0; i < laws.count * series->terms && alone && status == 0; i++) {
        const Law *law = &laws.laws[i / series->terms];
        LawRow row = {.series = series, .law = law, .term = i % series->terms};
        status = sink_put(&all->outcome.sink, &row);
    }
    return status;
}

/* ---- The run --------------------------------------------------------------------------------- */

/* Reads --predict: an axis, and its values.  0; 2 or 99 after a message. */
static int read_asked(Growth *all, const char *text)
{
    const Origin origin = {.flag = "predict"};
    const size_t length = strcspn(text, "=");
    Message message;
    size_t i = 0;
    while (i < SERIES_AXES && (strncmp(measure_axis_name(series_axes[i]), text, length) != 0 ||
                               measure_axis_name(series_axes[i])[length] != '\0')) {
        i++;
    }
    if (i == SERIES_AXES || text[length] == '\0') {
        return complain(origin, text, "expected omega, n, d, depth or layer, = and a list");
    }
    all->asked_axis = series_axes[i];
    Axis like = all->asked_axis == MEASURE_LAYER ? AXIS_DEPTH : (Axis)all->asked_axis;
    int status = values_read(&all->asked, &message, &axis_info(like)->domain, text + length + 1);
    return status == 2 ? complain_message(origin, &message) : 0;
}

/* Is there anything to say?  0; 2 after a message. */
static int check_found(const Growth *all)
{
    const GrowthOptions *asked = &all->gathered.run->growth;
    const char *text = asked->check != NULL ? asked->check : asked->predict;
    if (all->series == 0) {
        return complain((Origin){0}, all->gathered.grid->tables[0],
                        "growth: expected errors at two sizes or more, for a law three, of omega, "
                        "n, d, depth or layer, all else being equal");
    }
    return text == NULL || all->outcome.sink.put + all->silent > 0
               ? 0
               : complain((Origin){.flag = asked->check != NULL ? "check" : "predict"}, text,
                          "expected sizes that some law is about");
}

/* The last words. */
static void conclude(const Growth *all)
{
    const RunOptions *run = all->gathered.run;
    if (run->growth.check != NULL) {
        fprintf(stderr,
                "verdict: %s: %zu of %zu errors outside their bands, %zu without a law, "
                "%zu of rows that say nothing (vacuous or error)\n",
                all->outcome.failed > 0 ? "FAIL" : "PASS", all->outcome.failed - all->silent,
                all->held, all->lawless, all->silent);
    } else if (!run->quiet) {
        fprintf(stderr, "%zu series, %zu of them without a law; %zu points evaluated\n",
                all->series, all->without, all->gathered.evaluated);
    }
    if (all->outcome.failed > 0) {
        (void)failure_say("errors are outside the bands of their laws", run->argc, run->argv);
    }
}

static const OutcomeKind growth_outcome = {
    .table = {BARE_EYES, .write_header = growth_write_header, .write_row = write_row}};

int command_growth(const Grid *grid, const RunOptions *run)
{
    Growth all = {.gathered = {.grid = grid, .run = run}};
    const GrowthOptions *asked = &run->growth;
    int status = outcome_open(&all.outcome, &growth_outcome, grid, run);
    all.outcome.record.grid = NULL; /* rows are of laws, and no point's */
    status = status != 0 || asked->predict == NULL ? status : read_asked(&all, asked->predict);
    status = status != 0 ? status : gather(&all.gathered);
    for (Norm norm = 0; norm < NORM_COUNT && status == 0; norm++) {
        bool wanted = asked->norm == NORM_COUNT ? norm != NORM_RMS : norm == asked->norm;
        status = wanted ? gathered_each(&all.gathered, false, norm, take_series, &all) : 0;
    }
    status = status != 0 ? status : gathered_each(&all.gathered, true, NORM_MAX, take_series, &all);
    status = status != 0 ? status : check_found(&all);
    all.outcome.failed += all.silent;
    status = outcome_end(&all.outcome, status);
    if (status <= 1) {
        conclude(&all);
    }
    gathered_clear(&all.gathered);
    values_clear(&all.asked);
    return status;
}
