/*
 * The rules by which a cell may differ from the baseline's (docs/ci.md, "The rules").
 */
#include <stdio.h>

#include "check.h"

#include "../../base/number.h"
#include "../../evaluate/ensemble.h"
#include "../../point/axes.h"
#include "../../table/check_columns.h"
#include "../../table/columns.h"
#include "../../table/table.h"

#include <math.h>
#include <string.h>

/* Bits that limits are computed with: rounding them is no matter for a factor. */
enum { LIMIT_BITS = 128 };

#define FACTOR 4

/* One row under judgement. */
typedef struct {
    Check *check;
    size_t row, other;    /* other: NO_ROW where there is none */
    Finding finding;      /* of the cell at hand */
    const Column *column; /* its column, or NULL */
    mpfr_t limit, ratio, value, scratch;
    size_t compared, before; /* before: findings of other rows */
} Judge;

/* Do two columns show one size of a row, in whatever unit? */
static bool same_size(const char *a, const char *b)
{
    const Column *left = column_find(a), *right = column_find(b);
    return strcmp(a, b) == 0 ||
           (left != NULL && right != NULL && column_is_size(left) && column_is_size(right) &&
            left->cell > 0 && left->cell == right->cell);
}

/* Adds the finding, unless the row has one about the same size. */
static void add(Judge *judge)
{
    Check *check = judge->check;
    for (size_t i = judge->before; i < check->finding_count; i++) {
        Finding *other = &check->findings[i];
        if (other->column != NULL && same_size(other->column, judge->finding.column)) {
            other->excess = fmax(other->excess, judge->finding.excess);
            return;
        }
    }
    check_find(check, judge->finding);
}

static void found(Judge *judge, const char *reason)
{
    judge->finding.reason = reason;
    judge->finding.excess = INFINITY;
    add(judge);
}

/* Finding with judge->limit, and value / limit for its excess. */
static void found_above(Judge *judge, const char *reason, mpfr_srcptr value)
{
    mpfr_div(judge->scratch, value, judge->limit, MPFR_RNDN);
    judge->finding.reason = reason;
    judge->finding.excess =
        mpfr_number_p(judge->scratch) ? mpfr_get_d(judge->scratch, MPFR_RNDN) : INFINITY;
    mpfr_snprintf(judge->finding.limit, CHECK_TEXT, "%.3Rg", judge->limit);
    add(judge);
}

static void set_ratio(Judge *judge, const Number *obtained, const Number *baseline)
{
    number_value(judge->ratio, obtained);
    number_value(judge->scratch, baseline);
    mpfr_div(judge->ratio, judge->ratio, judge->scratch, MPFR_RNDN);
    if (mpfr_number_p(judge->ratio)) {
        mpfr_snprintf(judge->finding.ratio, CHECK_TEXT, "%.4Rg", judge->ratio);
    }
}

/* The number of a row's cell; false when there is no such column, or it is none. */
static bool get_number(Number *number, const Csv *csv, size_t row, const char *name)
{
    size_t column = csv_find(csv, name);
    return column < csv->columns && number_read(number, csv_cell(csv, row, column));
}

/* The same of the obtained row; false when it is blank, zero or not finite. */
static bool get_positive(mpfr_ptr value, const Judge *judge, const char *name)
{
    Number number;
    if (!get_number(&number, &judge->check->obtained, judge->row, name) ||
        number.kind != NUMBER_FINITE) {
        return false;
    }
    number_value(value, &number);
    return mpfr_cmp_ui(value, 0) > 0;
}

/* Root mean square of r(T): an error's over its relative one; 0 when no error says. */
static void get_size(mpfr_ptr size, Judge *judge)
{
    static const ErrorKind kinds[] = {ERROR_TOTAL, ERROR_NATIVE, ERROR_ROUNDING, ERROR_OBSERVED};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (get_positive(size, judge, column_of_error(kinds[i], NORM_RMS)->name) &&
            get_positive(judge->scratch, judge, column_of_error(kinds[i], NORM_REL)->name)) {
            mpfr_div(size, size, judge->scratch, MPFR_RNDN);
            return;
        }
    }
    mpfr_set_zero(size, 1);
}

/* The rounding that any machine may lose: 4u of the result's root mean square, in the column's
 * unit; u, the unit roundoff, is 0 of a row without an arithmetic. */
static void set_floor(Judge *judge)
{
    ColumnUnit unit = judge->column->unit;
    Arithmetic arithmetic = judge->finding.point->arithmetic;
    if (unit == UNIT_ULP || unit == UNIT_RELATIVE) {
        mpfr_set_ui(judge->limit, 1, MPFR_RNDN);
    } else {
        get_size(judge->limit, judge);
    }
    if (unit != UNIT_ULP) {
        double u = arithmetic != ARITHMETIC_NONE
                       ? ldexp(1, -arithmetic_format(arithmetic_info(arithmetic))->digits)
                       : 0;
        mpfr_mul_d(judge->limit, judge->limit, 4 * u, MPFR_RNDN);
    }
}

static double factor_of(const Check *check)
{
    return check->run->check.factor > 0 ? check->run->check.factor : FACTOR;
}

static bool is_zero(const Number *number)
{
    return number->kind == NUMBER_ZERO || (number->kind == NUMBER_FINITE && number->digits == 0);
}

/* The reason for which a cell fails whatever its column, or NULL.  A logarithm of a machine's error
 * is blank where that is 0. */
static const char *fault_of(const Judge *judge, const Number *o, const Number *b)
{
    bool log = judge->column->kind == COLUMN_MACHINE && judge->column->unit == UNIT_LOG10;
    return o->kind == NUMBER_NONFINITE   ? "not a number"
           : b->kind == NUMBER_NONFINITE ? "not a number in the baseline"
           : log                         ? NULL
           : o->kind == NUMBER_BLANK     ? "blank, and not in the baseline"
           : b->kind == NUMBER_BLANK     ? "blank in the baseline"
           : (is_zero(o) && o->kind != NUMBER_ZERO) || (is_zero(b) && b->kind != NUMBER_ZERO)
               ? "a zero that is not proven"
               : NULL;
}

/* A 0 that is no error: of logarithms it is a number among others, of an error of 1. */
static bool is_no_error(const Judge *judge, const Number *number)
{
    return is_zero(number) && judge->column->unit != UNIT_LOG10;
}

/* Where the baseline has a bound alone, a value, a bound or a proven 0 within it says as much. */
static void judge_below_bound(Judge *judge, const Number *o, const Number *b, int digits)
{
    if (is_no_error(judge, o) || number_agrees(o, b, digits)) {
        return;
    }
    number_value(judge->limit, b);
    number_value(judge->ratio, o);
    if (!mpfr_lessequal_p(judge->ratio, judge->limit)) {
        found_above(judge, "above the baseline's bound", judge->ratio);
    }
}

/* Significant digits in which reference columns agree: 12, or with --exact all that both tables
 * have. */
static int digits_compared(const Check *check)
{
    int digits = check->run->check.exact ? NUMBER_DIGITS : REF_DIGITS;
    int obtained = point_digits(&check->grid->points[0]);
    int other = check->baseline_digits > 0 ? check->baseline_digits : digits;
    digits = obtained < digits ? obtained : digits;
    return other < digits ? other : digits;
}

/* Largest difference that passes, and the difference over it. */
static void judge_reference(Judge *judge, const Number *o, const Number *b)
{
    int digits = digits_compared(judge->check);
    set_ratio(judge, o, b);
    if (is_zero(o) && is_zero(b)) {
        return;
    }
    const Finding *finding = &judge->finding;
    if (finding->baseline_bound && !is_no_error(judge, b)) {
        judge_below_bound(judge, o, b, digits);
        return;
    }
    if (is_no_error(judge, o) || is_no_error(judge, b)) {
        found(judge, is_zero(o) ? "0 where the baseline has a value" : "not 0 any more");
        return;
    }
    if (finding->obtained_bound) {
        found(judge, "only a bound where the baseline has a value");
        return;
    }
    if (number_agrees(o, b, digits)) {
        return;
    }
    mpfr_set_si(judge->limit, b->exponent - digits + 1, MPFR_RNDN);
    mpfr_exp10(judge->limit, judge->limit, MPFR_RNDN);
    number_value(judge->value, o);
    number_value(judge->scratch, b);
    mpfr_sub(judge->value, judge->value, judge->scratch, MPFR_RNDN);
    mpfr_abs(judge->value, judge->value, MPFR_RNDN);
    found_above(judge, "differs", judge->value);
}

/* The error that a cell of the column says: of its logarithm ten to that, of a blank one 0. */
static void machine_value(mpfr_ptr value, const Judge *judge, const Number *number)
{
    bool log = judge->column->unit == UNIT_LOG10;
    if (log && number->kind == NUMBER_BLANK) {
        mpfr_set_zero(value, 1);
        return;
    }
    number_value(value, number);
    if (log) {
        mpfr_exp10(value, value, MPFR_RNDN);
    }
}

/* judge->value = the baseline's; of an observed error, at least what the original itself loses: two
 * streams that agree to the last bit on one machine do so on another only by chance. */
static void set_scale(Judge *judge, const Number *b)
{
    Number native;
    machine_value(judge->value, judge, b);
    if (judge->column->native != NULL &&
        get_number(&native, &judge->check->baseline, judge->other, judge->column->native) &&
        (native.kind == NUMBER_FINITE || native.kind == NUMBER_ZERO)) {
        machine_value(judge->scratch, judge, &native);
        mpfr_max(judge->value, judge->value, judge->scratch, MPFR_RNDN);
    }
}

static void judge_machine(Judge *judge, const Number *o, const Number *b)
{
    const Check *check = judge->check;
    double factor = factor_of(check);
    const Finding *finding = &judge->finding;
    bool alike = o->kind == b->kind && finding->obtained_bound == finding->baseline_bound;
    bool differ = check->baseline_digits > 0 &&
                  check->baseline_digits != point_digits(&check->grid->points[0]);
    if (alike && differ && number_agrees(o, b, digits_compared(check))) {
        return; /* the tables were printed with other digits: what those were nobody knows */
    }
    set_ratio(judge, o, b);
    set_floor(judge);
    machine_value(judge->scratch, judge, b);
    mpfr_div_d(judge->scratch, judge->scratch, factor, MPFR_RNDN);
    bool far = mpfr_cmp(judge->scratch, judge->limit) > 0;
    set_scale(judge, b);
    mpfr_mul_d(judge->scratch, judge->value, factor, MPFR_RNDN);
    mpfr_max(judge->limit, judge->limit, judge->scratch, MPFR_RNDN);
    machine_value(judge->value, judge, o);
    bool by_chance = check->other_machine && judge->column->native != NULL;
    bool nothing =
        mpfr_zero_p(judge->value) || (finding->obtained_bound && !finding->baseline_bound);
    bool vanished = nothing && far && !by_chance;
    if (vanished) {
        found(judge, "0 where the baseline was far above the machine's own rounding");
    } else if (!(mpfr_sgn(judge->value) >= 0 && mpfr_lessequal_p(judge->value, judge->limit))) {
        found_above(judge, "above its limit", judge->value);
    }
}

/* A share falls by the factor at most.  How many bits agree is one machine's own: on another
 * nothing follows from it. */
static void judge_share(Judge *judge, const Number *o, const Number *b)
{
    if (judge->check->other_machine) {
        judge->compared--;
        return;
    }
    set_ratio(judge, o, b);
    number_value(judge->limit, b);
    mpfr_div_d(judge->limit, judge->limit, factor_of(judge->check), MPFR_RNDN);
    number_value(judge->ratio, o);
    if (mpfr_greaterequal_p(judge->ratio, judge->limit)) {
        return;
    }
    mpfr_snprintf(judge->finding.limit, CHECK_TEXT, "%.3Rg", judge->limit);
    found(judge, "below its limit");
}

/* A number of the obtained row against the baseline's. */
static void judge_number(Judge *judge)
{
    Number o, b;
    if (!number_read(&o, judge->finding.obtained) || !number_read(&b, judge->finding.baseline)) {
        found(judge, "not a number");
        return;
    }
    if (o.kind == NUMBER_BLANK && b.kind == NUMBER_BLANK) {
        return;
    }
    judge->compared++;
    const char *fault = fault_of(judge, &o, &b);
    if (fault != NULL) {
        found(judge, fault);
        return;
    }
    switch (judge->column->kind) {
    case COLUMN_REFERENCE: judge_reference(judge, &o, &b); break;
    case COLUMN_MACHINE: judge_machine(judge, &o, &b); break;
    default: judge_share(judge, &o, &b);
    }
}

/* No status but ok and unresolved passes, whatever the baseline's is; and none that is worse. */
static void judge_status(Judge *judge)
{
    const char *now = judge->finding.obtained, *before = judge->finding.baseline;
    Status obtained = status_find(now, strlen(now));
    judge->compared++;
    if (obtained == STATUS_VACUOUS) {
        found(judge, "vacuous: the comparison says nothing");
    } else if (obtained != STATUS_OK && obtained != STATUS_UNRESOLVED) {
        found(judge, "failed by itself");
    } else if (before != NULL && obtained < status_find(before, strlen(before))) {
        found(judge, "worse than the baseline's");
    }
}

/* Sets the finding that the cell would be; its texts are the tables'. */
static void face_cell(Judge *judge, size_t column, size_t other)
{
    Check *check = judge->check;
    judge->finding = (Finding){.table = &check->obtained,
                               .row = judge->row,
                               .point = judge->finding.point,
                               .column = csv_name(&check->obtained, column),
                               .obtained = csv_cell(&check->obtained, judge->row, column)};
    Finding *finding = &judge->finding;
    judge->column = column_find(finding->column);
    finding->obtained_bound = csv_is_bound(&check->obtained, judge->row, finding->column);
    if (judge->other != NO_ROW && other != NO_ROW) {
        bool told = csv_find(&check->baseline, BOUNDS_COLUMN) < check->baseline.columns;
        finding->baseline = csv_cell(&check->baseline, judge->other, other);
        finding->baseline_bound =
            told ? csv_is_bound(&check->baseline, judge->other, finding->column)
                 : finding->obtained_bound;
    }
}

/* rounded = the value as a cell of the point's rows has it, which may be above the value itself. */
static void round_as_printed(mpfr_ptr rounded, mpfr_srcptr value, const Point *point, bool bound)
{
    char text[CELL_TEXT];
    mpfr_snprintf(text, sizeof text, "%.*R*e", point_digits(point) - 1,
                  bound ? MPFR_RNDU : MPFR_RNDN, value);
    mpfr_strtofr(rounded, text, NULL, 10, MPFR_RNDN);
}

/* The judged cell of a point with a tolerance: a number, and not above it. */
static void judge_tolerance(Judge *judge)
{
    const Point *point = judge->finding.point;
    const Csv *csv = &judge->check->obtained;
    if (!point->judged || judge->check->run->every_input) {
        judge->compared += point->judged; /* its status says whether it is met */
        return;
    }
    size_t column = csv_find(csv, column_of_error(point->judge, point->norm)->name);
    Number value;
    if (column == csv->columns) {
        found(judge, "no column for the tolerance");
        return;
    }
    face_cell(judge, column, NO_ROW);
    judge->compared++;
    if (!number_read(&value, judge->finding.obtained) || value.kind == NUMBER_BLANK ||
        value.kind == NUMBER_NONFINITE) {
        found(judge, "not a number, under a tolerance");
    } else if (is_zero(&value) && value.kind != NUMBER_ZERO) {
        found(judge, "a zero that is not proven");
    } else {
        number_value(judge->value, &value);
        mpfr_set_d(judge->limit, point->tolerance, MPFR_RNDN);
        round_as_printed(judge->scratch, judge->limit, point, judge->finding.obtained_bound);
        if (!mpfr_lessequal_p(judge->value, judge->scratch)) {
            found_above(judge, "above the tolerance", judge->value);
        }
    }
}

static void judge_cells(Judge *judge, const size_t *columns)
{
    const Csv *csv = &judge->check->obtained;
    const Finding *finding = &judge->finding;
    size_t status_column = csv_find(csv, column_name(COLUMN_STATUS));
    if (status_column < csv->columns) {
        face_cell(judge, status_column, columns[status_column]);
        judge_status(judge);
    }
    for (size_t column = 0; column < csv->columns; column++) {
        ColumnKind kind = column_kind(csv_name(csv, column));
        bool number = kind == COLUMN_REFERENCE || kind == COLUMN_MACHINE || kind == COLUMN_SHARE;
        face_cell(judge, column, columns[column]);
        if (finding->baseline == NULL) {
            continue;
        }
        if (kind == COLUMN_UNKNOWN) {
            found(judge, "a column without a rule");
        } else if (kind == COLUMN_WORD) {
            judge->compared += *finding->obtained != '\0' || *finding->baseline != '\0';
            if (strcmp(finding->obtained, finding->baseline) != 0) {
                found(judge, "another word");
            }
        } else if (number) {
            judge_number(judge);
        }
    }
}

/* Of a column that both tables have. */
static void find_both(Judge *judge, const char *name, const size_t *columns, const char *reason)
{
    const Csv *csv = &judge->check->obtained;
    size_t column = csv_find(csv, name);
    Number o, b;
    if (column == csv->columns || columns[column] == NO_ROW) {
        return;
    }
    face_cell(judge, column, columns[column]);
    bool is_size = judge->column != NULL;
    if (!is_size && strcmp(judge->finding.obtained, judge->finding.baseline) == 0) {
        return;
    }
    if (is_size && number_read(&o, judge->finding.obtained) &&
        number_read(&b, judge->finding.baseline)) {
        set_ratio(judge, &o, &b);
    }
    found(judge, reason);
}

/* What was edited between the row and its pair. */
static void judge_pair(Judge *judge, const size_t *columns)
{
    const Point *point = judge->finding.point;
    for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
        const char *column = axis_info(axis)->column;
        if (column != NULL) {
            find_both(judge, column, columns, "was edited");
        }
    }
    bool machine = point->arithmetic != ARITHMETIC_NONE || !judge_needs_arithmetic(point->judge);
    ErrorKind kind = machine ? point->judge : ERROR_CONSTRUCTION;
    find_both(judge, column_of_error(kind, point->norm)->name, columns, "under the edit");
}

void check_row(Check *check, size_t row, const Point *point, size_t other, size_t pair,
               const size_t *columns)
{
    Judge judge = {.check = check,
                   .row = row,
                   .other = pair,
                   .finding.point = point,
                   .before = check->finding_count};
    mpfr_inits2(LIMIT_BITS, judge.limit, judge.ratio, judge.value, judge.scratch, (mpfr_ptr)0);
    if (pair != NO_ROW) {
        judge_pair(&judge, columns);
    }
    judge.other = other;
    judge.before = check->finding_count;
    judge_cells(&judge, columns);
    judge_tolerance(&judge);
    /* A status alone compares nothing; a row that the baseline lacks is named already. */
    bool known = !check->has_baseline || other != NO_ROW;
    if (known && judge.compared < 2) {
        face_cell(&judge, csv_find(&check->obtained, LAYER_COLUMN), NO_ROW);
        found(&judge, "nothing to compare");
    }
    check->cells += judge.compared;
    mpfr_clears(judge.limit, judge.ratio, judge.value, judge.scratch, (mpfr_ptr)0);
}
