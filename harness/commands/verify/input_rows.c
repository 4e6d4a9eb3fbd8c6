/*
 * The rows of an input: what it came to at an Omega, in the columns of a table and some more that
 * are for nobody's eyes, as a journal has it.  Whoever evaluated it, this run or one before it, it
 * is read from there.
 */
#include <stdio.h> /* before mpfr.h: declares mpfr_fprintf */

#include "verify.h"

#include "../../../memory/need.h"
#include "../../base/message.h"
#include "../../base/text_stream.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- An input's rows ------------------------------------------------------------------------- */

/* The key of all that are of the Omega at hand. */
static void write_key(FILE *file, const Verify *verify)
{
    const Point point = verify_point(verify);
    verify_write_key(file, &point);
    fputc('\n', file);
}

/* file: or NULL. */
static void write_layer(FILE *file, size_t number, const LayerWorst *layer)
{
    VerifyRow row = {0};
    if (file != NULL) {
        verify_row_layer(&row, number, layer);
        verify_row_write(file, &row, VERIFY_KEPT);
    }
}

static void write_position(FILE *file, const Verify *verify, const Position *position)
{
    VerifyRow row = {0};
    if (file != NULL) {
        verify_row_position(&row, verify, position);
        verify_row_write(file, &row, VERIFY_KEPT);
    }
}

/* Where its positions begin; of the input behind the last one where they end. */
static size_t first_position(const Verify *verify, size_t input)
{
    return verify->has_logits ? verify->logits.first[input] : 0;
}

/* The layers of the evaluated rows, and the positions. */
static void write_input(FILE *file, const Verify *verify, size_t input, const Point *point,
                        const Row *rows)
{
    LayerWorst layer;
    layer_init(&layer);
    for (size_t l = 0; l < verify->model->depth; l++) {
        layer_take(&layer, inputs_number(&verify->inputs, input), point, &rows[l]);
        write_layer(file, l + 1, &layer);
    }
    layer_clear(&layer);
    for (size_t k = first_position(verify, input); k < first_position(verify, input + 1); k++) {
        write_position(file, verify, &verify->logits.found[k]);
    }
}

/* The same from a text, whose lines are cut: to the layers of the Omega at hand, and the positions.
 * again: gets what was read as it is written, or NULL.  false: there are not as many lines or
 * cells. */
static bool read_input(FILE *again, Verify *verify, size_t input, char *text)
{
    VerifyCells cells;
    LayerWorst layer;
    bool read = true;
    layer_init(&layer);
    for (size_t l = 0; l < verify->model->depth && read; l++) {
        read = verify_read_row(cells, VERIFY_OPTIONS, VERIFY_KEPT, &text);
        if (read) {
            layer_read(&layer, cells);
            write_layer(again, l + 1, &layer);
            pthread_mutex_lock(&verify->kept->lock);
            layer_join(&verify->layers[l], &layer);
            pthread_mutex_unlock(&verify->kept->lock);
        }
    }
    layer_clear(&layer);
    for (size_t k = first_position(verify, input); k < first_position(verify, input + 1) && read;
         k++) {
        read = verify_read_row(cells, VERIFY_OPTIONS, VERIFY_KEPT, &text);
        if (read) {
            position_read(&verify->logits.found[k], cells);
            write_position(again, verify, &verify->logits.found[k]);
        }
    }
    return read;
}

/* Takes the rows [length] that an interrupted run left of an input.  false: they are not as they
 * are written. */
static bool restore(Verify *verify, size_t input, const char *rows, size_t length)
{
    char *text = need_copy_of(rows, length), *written = NULL;
    size_t size;
    FILE *again = text_stream(&written, &size);
    bool read = read_input(again, verify, input, text);
    (void)text_close(again, &written);
    read = read && size == length && memcmp(rows, written, length) == 0;
    verify->done[input] = true;
    free(text);
    free(written);
    return read;
}

/* ---- The journal ----------------------------------------------------------------------------- */

/* What took less is synced with what comes behind it. */
#define SYNC_SECONDS 0.5

bool input_rows_add(Verify *verify, size_t input, const Point *point, const Row *rows, double start)
{
    Kept *kept = verify->kept;
    JournalPoint added = {.index = input};
    char *text = NULL;
    FILE *file = text_stream(&text, &added.length);
    write_key(file, verify);
    (void)fflush(file);
    size_t key = added.length;
    write_input(file, verify, input, point, rows);
    added.rows = text_close(file, &text);
    added.seconds = clock_seconds() - start;
    pthread_mutex_lock(&kept->lock);
    bool written = kept_add(kept, &added, SYNC_SECONDS);
    pthread_mutex_unlock(&kept->lock);
    bool read = read_input(NULL, verify, input, text + key);
    assert(read);
    free(text);
    return written && read;
}

bool input_rows_restore(Verify *verify)
{
    Kept *kept = verify->kept;
    char *key = NULL;
    size_t length;
    FILE *file = text_stream(&key, &length);
    write_key(file, verify);
    (void)text_close(file, &key);
    bool fits = true;
    for (size_t i = 0; i < kept->count && fits; i++) {
        const JournalPoint *point = &kept->points[i];
        bool its = point->length > length && memcmp(point->rows, key, length) == 0;
        bool once = point->index < verify->inputs.count && !verify->done[point->index];
        fits = !its || (once && restore(verify, point->index, point->rows + length,
                                        point->length - length));
        if (!fits) {
            (void)kept_refuse(kept, point);
        }
    }
    free(key);
    return fits;
}
