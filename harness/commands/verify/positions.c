/*
 * Rows of positions, means over them, and sentences about both.
 */
#include <stdio.h> /* before mpfr.h: declares mpfr_fprintf */

#include "verify.h"

#include "../../base/shown.h"
#include "../../table/columns.h"
#include "../../table/table.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

void position_means_init(PositionMeans *means)
{
    *means = (PositionMeans){0};
    for (int i = 0; i < POSITION_MEANS; i++) {
        mpfr_init2(means->mean[i].sum, REF_CELL_BITS);
        mpfr_set_zero(means->mean[i].sum, 1);
    }
}

void position_means_clear(PositionMeans *means)
{
    for (int i = 0; i < POSITION_MEANS; i++) {
        mpfr_clear(means->mean[i].sum);
    }
}

void position_means_add(PositionMeans *means, const Figure *figures)
{
    for (int i = 0; i < POSITION_MEANS; i++) {
        Mean *mean = &means->mean[i];
        if (figures[i].state != CELL_ABSENT) {
            mean->count++;
            mean->bound = mean->bound || figures[i].state == CELL_BOUND;
            figure_add(mean->sum, &figures[i]);
        }
    }
    for (int i = 0; i < AGAINST_COUNT; i++) {
        const Figure *kl = &figures[POSITION_KL + i];
        means->most[i] = figure_is_worse(kl, &means->most[i]) ? *kl : means->most[i];
    }
}

/* Absent where nothing counts. */
static void mean_cell(RefCell *cell, const Mean *mean)
{
    mpfr_set_zero(cell->value, 1);
    cell->state = CELL_ABSENT;
    if (mean->count > 0) {
        mpfr_div_ui(cell->value, mean->sum, mean->count, MPFR_RNDN);
        cell->state = !mpfr_number_p(cell->value) ? CELL_NONFINITE
                      : mpfr_zero_p(cell->value)  ? CELL_ZERO
                      : mean->bound               ? CELL_BOUND
                                                  : CELL_VALUE;
    }
}

void position_means_put(VerifyRow *row, const PositionMeans *means, bool listed)
{
    RefCell cell;
    ref_cell_init(&cell, REF_DIGITS);
    for (size_t i = 0; i < POSITION_MEANS && listed; i++) {
        mean_cell(&cell, &means->mean[i]);
        verify_row_cell(row, VERIFY_LOSS + i, &cell);
    }
    for (size_t i = 0; i < AGAINST_COUNT; i++) {
        figure_cell(&cell, &means->most[i]);
        verify_row_cell(row, VERIFY_KL_MAX + i, &cell);
    }
    ref_cell_clear(&cell);
}

void verify_means(PositionMeans *means, const Verify *verify)
{
    for (size_t k = 0; k < logits_count(&verify->logits); k++) {
        position_means_add(means, verify->logits.found[k].means);
    }
}

/* ---- Rows ------------------------------------------------------------------------------------ */

bool verify_logits_pass(const Verify *verify, const LogitErrors *errors)
{
    const Point *point = verify->template;
    mpfr_t worst;
    mpfr_init2(worst, REF_CELL_BITS);
    logit_errors_judged(worst, errors, point->judge_of);
    bool pass = mpfr_number_p(worst) && mpfr_cmp_d(worst, point->tolerance) <= 0;
    mpfr_clear(worst);
    return !point->judged || point->judge_of == JUDGE_STREAMS || pass;
}

/* The row's cells from a column on. */
static void put_figures(VerifyRow *row, size_t column, const Figure *figures, size_t count)
{
    RefCell cell;
    ref_cell_init(&cell, REF_DIGITS);
    for (size_t i = 0; i < count; i++) {
        figure_cell(&cell, &figures[i]);
        verify_row_cell(row, column + i, &cell);
    }
    ref_cell_clear(&cell);
}

void verify_row_position(VerifyRow *row, const Verify *verify, const Position *position)
{
    const Inputs *inputs = &verify->inputs;
    const LogitErrors own = {.error = position->error,
                             .kl = position->means[POSITION_KL + AGAINST_MACHINE]};
    Status status = !isfinite(position->error)         ? STATUS_OVERFLOW
                    : verify_logits_pass(verify, &own) ? STATUS_OK
                                                       : STATUS_FAIL;
    size_t i = position->input, p = position->index;
    verify_row_count(row, VERIFY_INPUTS, 1);
    verify_row_count(row, VERIFY_LAYER, verify->points[0].spec.depth);
    verify_row_count(row, VERIFY_INPUT, inputs_number(inputs, i));
    verify_row_count(row, VERIFY_POSITION, p + 1);
    if (inputs->tokens != NULL) {
        snprintf(row->cells[VERIFY_TOKEN].text, CELL_TEXT, "%" PRId64,
                 inputs->tokens[i * inputs->n + p]);
    }
    put_figures(row, VERIFY_ERRORS, position->errors, ERROR_KINDS);
    put_figures(row, VERIFY_LOGS, position->logs, ERROR_KINDS);
    verify_row_logits(row, position->error, position->margin, position->changed);
    verify_row_count(row, VERIFY_PREDICTION, position->predicted);
    verify_row_count(row, VERIFY_MACHINE_PREDICTION, position->machine);
    put_figures(row, VERIFY_LOSS, position->means, POSITION_MEANS);
    strcpy(row->cells[VERIFY_STATUS].text, status_name(status));
    verify_row_count(row, VERIFY_NATIVE_CHANGED, position->native_changed);
    verify_row_count(row, VERIFY_LOST, position->lost);
}

/* ---- Sentences ------------------------------------------------------------------------------- */

static const char *const names[LOSSES] = {"r(T)", "r(T')", "m(T')", "m(T)"};

static void print_figure(FILE *file, const RefCell *cell, int digits)
{
    if (cell->state == CELL_ZERO) {
        fputs(" 0", file);
    } else {
        mpfr_fprintf(file, cell->state == CELL_BOUND ? " <%.*RUg" : " %.*Rg", digits, cell->value);
    }
}

static void print_means(FILE *file, const PositionMeans *means, const char *omega)
{
    enum { SHOWN_DIGITS = 3, LOSS_DIGITS = 12 };
    RefCell cell;
    ref_cell_init(&cell, REF_DIGITS);
    fprintf(file, "omega %s, KL divergence from r(T) in nats, mean and largest:", omega);
    for (int i = 0; i < AGAINST_COUNT; i++) {
        fprintf(file, "%s %s", i > 0 ? ", " : "", names[1 + i]);
        mean_cell(&cell, &means->mean[POSITION_KL + i]);
        print_figure(file, &cell, SHOWN_DIGITS);
        figure_cell(&cell, &means->most[i]);
        print_figure(file, &cell, SHOWN_DIGITS);
    }
    fputc('\n', file);
    if (means->mean[0].count > 0) {
        fprintf(file, "omega %s, loss in nats a token, of %zu:", omega, means->mean[0].count);
        for (int i = 0; i < LOSSES; i++) {
            fprintf(file, "%s %s", i > 0 ? ", " : "", names[i]);
            mean_cell(&cell, &means->mean[i]);
            print_figure(file, &cell, LOSS_DIGITS);
        }
        fputc('\n', file);
    }
    ref_cell_clear(&cell);
}

static void print_first_change(FILE *file, const Verify *verify)
{
    const Position *position = verify->logits.found;
    const Position *end = position + logits_count(&verify->logits);
    while (position < end && !position->changed) {
        position++;
    }
    if (position == end) {
        return;
    }
    fprintf(file, "omega %s, the first change: input %zu, position %zu, from %zu to ",
            verify->omega_text, inputs_number(&verify->inputs, position->input),
            position->index + 1, position->predicted);
    if (isfinite(position->error)) {
        fprintf(file, "%zu\n", position->machine);
    } else {
        fputs("no number\n", file);
    }
}

void verify_print_positions(FILE *file, const Verify *verify)
{
    PositionMeans means;
    position_means_init(&means);
    verify_means(&means, verify);
    print_means(file, &means, verify->omega_text);
    position_means_clear(&means);
    print_first_change(file, verify);
}
