/*
 * What an input came to at an Omega, as a journal has it: every number exactly, so that an input
 * that was read back is as one that was evaluated.
 */
#include <stdio.h> /* before mpfr.h: declares mpfr_fprintf */

#include "verify.h"

#include "../../base/text_stream.h"

#include <stdlib.h>
#include <string.h>

/* The figures of a position, in turn. */
#define FIGURE_LISTS(position)                                                                     \
    {                                                                                              \
        {(position)->loss, LOSSES}, {(position)->kl, AGAINST_COUNT},                               \
            {(position)->errors, ERROR_KINDS}, {(position)->logs, ERROR_KINDS},                    \
    }
enum { LISTS = 4 };
typedef struct {
    Figure *figures;
    size_t count;
} FigureList;

/* ---- Written --------------------------------------------------------------------------------- */

static void write_cell(FILE *file, const RefCell *cell)
{
    fprintf(file, " %d", (int)cell->state);
    if (cell->state != CELL_ABSENT) {
        mpfr_fprintf(file, " %ld %Ra", (long)cell->error, cell->value);
    }
}

static void write_layer(FILE *file, const LayerWorst *layer)
{
    fprintf(file, "%d %a", (int)layer->status, layer->score);
    for (int kind = 0; kind < ERROR_KINDS; kind++) {
        write_cell(file, &layer->worst[kind]);
        write_cell(file, &layer->judged[kind]);
    }
    fputc('\n', file);
}

static void write_position(FILE *file, Position *position)
{
    const FigureList lists[LISTS] = FIGURE_LISTS(position);
    fprintf(file, "%zu %zu %a %a %d %d %d", position->predicted, position->machine, position->error,
            position->margin, position->changed, position->native_changed, position->lost);
    for (int list = 0; list < LISTS; list++) {
        for (size_t i = 0; i < lists[list].count; i++) {
            const Figure *figure = &lists[list].figures[i];
            fprintf(file, " %d %a %ld", (int)figure->state, figure->mantissa, figure->exponent);
        }
    }
    fputc('\n', file);
}

char *record_write(size_t *length, const InputRows *rows)
{
    const Verify *verify = rows->verify;
    Position *position;
    LogitsBlock at = {.i = rows->input};
    char *text = NULL;
    FILE *file = text_stream(&text, length);
    record_write_key(file, verify);
    fprintf(file, "%d\n", rows->passed);
    for (size_t l = 0; l < verify->model->depth; l++) {
        write_layer(file, &rows->layers[l]);
    }
    while (verify->has_logits && (position = logits_next(&at, &verify->logits)) != NULL &&
           at.i == rows->input) {
        write_position(file, position);
    }
    return text_close(file, &text);
}

void record_write_key(FILE *file, const Verify *verify)
{
    const Point point = verify_point(verify);
    verify_write_key(file, &point);
    fputc('\n', file);
}

/* ---- Read ------------------------------------------------------------------------------------ */

typedef struct {
    const char *next;
    bool ok;
} Words;

static double take(Words *words)
{
    char *end;
    double number = strtod(words->next, &end);
    words->ok = words->ok && end > words->next;
    words->next = end;
    return number;
}

/* A whole number from 0 to most. */
static long take_up_to(Words *words, long most)
{
    double number = take(words);
    words->ok = words->ok && number >= 0 && number <= (double)most;
    return words->ok ? (long)number : 0;
}

static long take_exponent(Words *words)
{
    char *end;
    long exponent = strtol(words->next, &end, 10);
    words->ok = words->ok && end > words->next;
    words->next = end;
    return exponent;
}

static void take_cell(Words *words, RefCell *cell)
{
    char *end;
    cell->state = (CellState)take_up_to(words, CELL_NONFINITE);
    if (cell->state != CELL_ABSENT) {
        cell->error = take_exponent(words);
        (void)mpfr_strtofr(cell->value, words->next, &end, 0, MPFR_RNDN);
        words->ok = words->ok && end > words->next;
        words->next = end;
    }
}

static void take_layer(Words *words, LayerWorst *layer, size_t number, ErrorKind judge)
{
    layer->status = (Status)take_up_to(words, STATUS_OK);
    layer->score = take(words);
    for (int kind = 0; kind < ERROR_KINDS; kind++) {
        take_cell(words, &layer->worst[kind]);
        take_cell(words, &layer->judged[kind]);
    }
    layer->inputs = 1;
    layer->worst_input = number;
    layer_judge(layer, judge);
}

static void take_position(Words *words, Position *position)
{
    const FigureList lists[LISTS] = FIGURE_LISTS(position);
    position->predicted = (size_t)take_up_to(words, LONG_MAX);
    position->machine = (size_t)take_up_to(words, LONG_MAX);
    position->error = take(words);
    position->margin = take(words);
    position->changed = take_up_to(words, 1) != 0;
    position->native_changed = take_up_to(words, 1) != 0;
    position->lost = take_up_to(words, 1) != 0;
    position->known = true;
    for (int list = 0; list < LISTS; list++) {
        for (size_t i = 0; i < lists[list].count; i++) {
            Figure *figure = &lists[list].figures[i];
            figure->state = (CellState)take_up_to(words, CELL_NONFINITE);
            figure->mantissa = take(words);
            figure->exponent = take_exponent(words);
        }
    }
}

bool record_read(InputRows *rows, const char *text, size_t length)
{
    const Verify *verify = rows->verify;
    Position *position;
    LogitsBlock at = {.i = rows->input};
    Words words = {memchr(text, '\n', length), true};
    rows->passed = take_up_to(&words, 1) != 0;
    for (size_t l = 0; l < verify->model->depth; l++) {
        take_layer(&words, &rows->layers[l], inputs_number(&verify->inputs, rows->input),
                   verify->template->judge);
    }
    while (verify->has_logits && (position = logits_next(&at, &verify->logits)) != NULL &&
           at.i == rows->input) {
        take_position(&words, position);
    }
    return words.ok && words.next + 1 == text + length;
}
