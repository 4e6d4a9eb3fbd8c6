/*
 * The journal of a table of verify: inputs that an interrupted run left, and those that this one
 * adds.  What an input came to at an Omega is a text with every number exactly, so that an input
 * that was read back is as one that was evaluated.
 */
#include <stdio.h> /* before mpfr.h: declares mpfr_fprintf */

#include "verify.h"

#include "../../../memory/need.h"
#include "../../base/message.h"
#include "../../base/text_stream.h"

#include <errno.h>
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
    position->known = position->taken = true;
    take_figures(record, position->means, POSITION_MEANS);
    take_figures(record, position->errors, ERROR_KINDS);
    take_figures(record, position->logs, ERROR_KINDS);
}

/* A line for whether it passed, for each layer and for each position. */
static void take_rows(Record *record, InputRows *rows)
{
    const Verify *verify = rows->verify;
    const Logits *logits = &verify->logits;
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
    for (size_t k = verify->has_logits ? logits->first[rows->input] : 0;
         verify->has_logits && k < logits->first[rows->input + 1]; k++) {
        end_line(record);
        take_position(record, &logits->found[k]);
    }
    end_line(record);
}

/* The key of all that are of the Omega at hand. */
static void record_write_key(FILE *file, const Verify *verify)
{
    const Point point = verify_point(verify);
    verify_write_key(file, &point);
    fputc('\n', file);
}

/* ---- The journal ----------------------------------------------------------------------------- */

/* What took less is synced with what comes behind it. */
#define SYNC_SECONDS 0.5

static void say_kept(const Kept *kept)
{
    char text[64];
    if (sink_keeps(kept->sink)) {
        (void)!journal_sync(kept->sink->journal); /* what is not on disk then is lost by a crash */
    }
    snprintf(text, sizeof text, "%zu input%s", kept->all, kept->all == 1 ? " is" : "s are");
    sink_say_kept(kept->sink, text);
}

static void say_interrupted(void *context, bool locked)
{
    Kept *kept = context;
    if (locked) {
        progress_clear(&kept->progress);
    }
    if (!sink_keeps(kept->sink)) {
        fputs("headproof: interrupted before the first input\n", stderr);
    }
    say_kept(kept);
    if (locked) {
        sink_clear(kept->sink);
    }
}

int keep_open(Kept *kept, Sink *sink, const RunRecord *run)
{
    JournalPoint point;
    bool broken;
    if (sink->journal == NULL) {
        return 0;
    }
    kept->sink = sink;
    while (journal_next(sink->journal, &point, &broken)) {
        kept->points = need_more(kept->points, kept->count + 1, sizeof *kept->points);
        kept->points[kept->count++] = point;
    }
    kept->all = kept->count;
    if (broken) {
        return sink_refuse(sink, NULL, JOURNAL_ALTERED);
    }
    if (kept->count > 0 && !sink->run->quiet) {
        fprintf(stderr, "headproof: %zu input%s there already\n", kept->count,
                kept->count == 1 ? " is" : "s are");
    }
    int status = journal_begin(sink->journal, run);
    if (status == 0) {
        kept->interrupt = interrupt_open(&kept->lock, say_interrupted, kept);
    }
    return status;
}

void keep_close(Kept *kept, int status)
{
    interrupt_close(kept->interrupt);
    if (status != 0 && kept->interrupt != NULL) {
        say_kept(kept);
    }
    free(kept->points);
    pthread_mutex_destroy(&kept->lock);
}

int keep_fault(const Kept *kept)
{
    errno = kept->error;
    return kept->error != 0 ? sink_failed(kept->sink) : kept->refused ? 2 : 0;
}

bool keep_add(Kept *kept, InputRows *rows, double seconds)
{
    JournalPoint point = {.index = rows->input, .seconds = seconds};
    if (kept->sink == NULL) {
        return true;
    }
    char *text = NULL;
    Record record = {.file = text_stream(&text, &point.length), .ok = true};
    record_write_key(record.file, rows->verify);
    take_rows(&record, rows);
    point.rows = text_close(record.file, &text);
    pthread_mutex_lock(&kept->lock);
    Journal *journal = kept->sink->journal;
    kept->unsynced += seconds;
    bool now = kept->unsynced >= SYNC_SECONDS;
    bool written = kept->error == 0 && journal_append(journal, &point) == 0 &&
                   (!now || journal_sync(journal) == 0);
    kept->unsynced = now ? 0 : kept->unsynced;
    if (!written && kept->error == 0) {
        kept->error = errno != 0 ? errno : EIO;
    }
    kept->all += written;
    pthread_mutex_unlock(&kept->lock);
    free(text);
    return written;
}

/* One that is there.  false: the text is none of that input. */
static bool restore(Verify *verify, const JournalPoint *point)
{
    if (point->index >= verify->inputs.count || verify->done[point->index]) {
        return false;
    }
    const char *line = memchr(point->rows, '\n', point->length);
    Record record = {.next = line + 1, .ok = true};
    InputRows rows;
    input_rows_init(&rows, verify, point->index);
    take_rows(&record, &rows);
    for (size_t l = 0; l < verify->model->depth; l++) {
        rows.layers[l].inputs = 1;
        rows.layers[l].worst_input = inputs_number(&verify->inputs, point->index);
        layer_judge(&rows.layers[l], verify->template->judge);
    }
    bool read = record.ok && record.next == point->rows + point->length;
    if (read) {
        input_rows_join(&rows);
        verify->done[point->index] = true;
    }
    input_rows_clear(&rows);
    return read;
}

bool keep_restore(Verify *verify)
{
    Kept *kept = verify->kept;
    char *key = NULL;
    size_t length;
    FILE *file = text_stream(&key, &length);
    record_write_key(file, verify);
    (void)text_close(file, &key);
    for (size_t i = 0; i < kept->count && !kept->refused; i++) {
        const JournalPoint *point = &kept->points[i];
        bool its = point->length > length && memcmp(point->rows, key, length) == 0;
        if (its && !restore(verify, point)) {
            (void)sink_refuse(kept->sink, point->rows - 1, JOURNAL_UNEXPECTED);
            kept->refused = true;
        }
    }
    free(key);
    return !kept->refused;
}
