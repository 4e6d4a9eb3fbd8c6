/*
 * What an input came to at an Omega, as a journal has it: every number exactly, so that an input
 * that was read back is as one that was evaluated.
 */
#include <stdio.h> /* before mpfr.h: declares mpfr_fprintf */

#include "verify.h"

#include "../../base/text_stream.h"

#include <stdlib.h>
#include <string.h>

/* On its way to a file, or, where that is NULL, from a text.  ok: all was there so far. */
typedef struct {
    FILE *file;
    const char *next;
    bool ok;
} Record;

/* A blank and a number, as it is or from now on. */
static double number(Record *record, double value)
{
    if (record->file != NULL) {
        fprintf(record->file, " %a", value);
        return value;
    }
    char *end;
    value = strtod(record->next, &end);
    record->ok = record->ok && end > record->next;
    record->next = end;
    return value;
}

/* The same of a whole number, up to most, which a double holds. */
static size_t count(Record *record, size_t value, double most)
{
    double there = number(record, (double)value);
    record->ok = record->ok && there >= 0 && there <= most;
    return record->ok ? (size_t)there : 0;
}

/* The same of an exponent, which may be MPFR's. */
static long exponent(Record *record, long value)
{
    if (record->file != NULL) {
        fprintf(record->file, " %ld", value);
        return value;
    }
    char *end;
    value = strtol(record->next, &end, 10);
    record->ok = record->ok && end > record->next;
    record->next = end;
    return value;
}

/* Where one of them ends, strictly. */
static void end_line(Record *record)
{
    if (record->file != NULL) {
        fputc('\n', record->file);
    } else if (record->ok && *record->next == '\n') {
        record->next++;
    } else {
        record->ok = false;
    }
}

static void take_cell(Record *record, RefCell *cell)
{
    cell->state = (CellState)count(record, cell->state, CELL_NONFINITE);
    if (cell->state == CELL_ABSENT) {
        return;
    }
    cell->error = exponent(record, cell->error);
    if (record->file != NULL) {
        mpfr_fprintf(record->file, " %Ra", cell->value);
        return;
    }
    char *end;
    (void)mpfr_strtofr(cell->value, record->next, &end, 0, MPFR_RNDN);
    record->ok = record->ok && end > record->next;
    record->next = end;
}

static void take_figures(Record *record, Figure *figures, size_t many)
{
    for (size_t i = 0; i < many; i++) {
        figures[i].state = (CellState)count(record, figures[i].state, CELL_NONFINITE);
        figures[i].mantissa = number(record, figures[i].mantissa);
        figures[i].exponent = exponent(record, figures[i].exponent);
    }
}

static void take_position(Record *record, Position *position)
{
    position->predicted = count(record, position->predicted, 0x1p53);
    position->machine = count(record, position->machine, 0x1p53);
    position->error = number(record, position->error);
    position->margin = number(record, position->margin);
    position->changed = count(record, position->changed, 1) != 0;
    position->native_changed = count(record, position->native_changed, 1) != 0;
    position->lost = count(record, position->lost, 1) != 0;
    position->known = true;
    take_figures(record, position->means, POSITION_MEANS);
    take_figures(record, position->errors, ERROR_KINDS);
    take_figures(record, position->logs, ERROR_KINDS);
}

/* A line for whether it passed, for each layer and for each position. */
static void take_rows(Record *record, InputRows *rows)
{
    const Verify *verify = rows->verify;
    LogitsBlock at = {.i = rows->input};
    Position *position;
    rows->passed = count(record, rows->passed, 1) != 0;
    for (size_t l = 0; l < verify->model->depth; l++) {
        end_line(record);
        LayerWorst *layer = &rows->layers[l];
        layer->status = (Status)count(record, layer->status, STATUS_OK);
        layer->score = number(record, layer->score);
        for (int kind = 0; kind < ERROR_KINDS; kind++) {
            take_cell(record, &layer->worst[kind]);
            take_cell(record, &layer->judged[kind]);
        }
    }
    while (verify->has_logits && (position = logits_next(&at, &verify->logits)) != NULL &&
           at.i == rows->input) {
        end_line(record);
        take_position(record, position);
    }
    end_line(record);
}

void record_write_key(FILE *file, const Verify *verify)
{
    const Point point = verify_point(verify);
    verify_write_key(file, &point);
    fputc('\n', file);
}

char *record_write(size_t *length, InputRows *rows)
{
    char *text = NULL;
    Record record = {.file = text_stream(&text, length), .ok = true};
    record_write_key(record.file, rows->verify);
    take_rows(&record, rows);
    return text_close(record.file, &text);
}

bool record_read(InputRows *rows, const char *text, size_t length)
{
    const Verify *verify = rows->verify;
    const char *line = memchr(text, '\n', length);
    Record record = {.next = line + 1, .ok = true};
    take_rows(&record, rows);
    for (size_t l = 0; l < verify->model->depth; l++) {
        rows->layers[l].inputs = 1;
        rows->layers[l].worst_input = inputs_number(&verify->inputs, rows->input);
        layer_judge(&rows->layers[l], verify->template->judge);
    }
    return record.ok && record.next == text + length;
}
