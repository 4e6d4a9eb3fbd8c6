/*
 * The rows of an input: what it came to at an Omega, in the columns of a table and some more that
 * are for nobody's eyes, as a journal has it.  They are joined to those of other inputs whether
 * this run evaluated it or one before it.
 */
#include "verify.h"

#include "../../../memory/need.h"
#include "../../base/text_stream.h"

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

/* Where its positions begin; of the input behind the last one where they end. */
static size_t first_position(const Verify *verify, size_t input)
{
    return verify->has_logits ? verify->logits.first[input] : 0;
}

static void write_positions(FILE *file, const Verify *verify, size_t input)
{
    for (size_t k = first_position(verify, input); k < first_position(verify, input + 1); k++) {
        VerifyRow row = {0};
        verify_row_position(&row, verify, &verify->logits.found[k]);
        verify_row_write(file, &row, VERIFY_KEPT);
    }
}

static void join_layer(Verify *verify, size_t l, const VerifyRow *row)
{
    pthread_mutex_lock(&verify->kept->lock);
    verify_row_join(&verify->layers[l], row);
    pthread_mutex_unlock(&verify->kept->lock);
}

/* Takes an input from its lines, which are cut, and writes them again.  false: there are not as
 * many, or cells of one are not. */
static bool read_input(FILE *again, Verify *verify, size_t input, char *text)
{
    VerifyCells cells;
    VerifyRow row;
    bool read = true;
    for (size_t l = 0; l < verify->model->depth && read; l++) {
        read = verify_row_cut(&row, cells, VERIFY_OPTIONS, VERIFY_KEPT, &text) &&
               verify_count(&row, VERIFY_PASSED) <= 1;
        if (read) {
            verify_row_write(again, &row, VERIFY_KEPT);
            join_layer(verify, l, &row);
        }
    }
    for (size_t k = first_position(verify, input); k < first_position(verify, input + 1) && read;
         k++) {
        read = verify_row_cut(&row, cells, VERIFY_OPTIONS, VERIFY_KEPT, &text);
        if (read) {
            position_read(&verify->logits.found[k], &row);
        }
    }
    write_positions(again, verify, input);
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
    for (size_t l = 0; l < verify->model->depth; l++) {
        VerifyRow row = {0};
        verify_row_layer(&row, inputs_number(&verify->inputs, input), point, &rows[l]);
        verify_row_write(file, &row, VERIFY_KEPT);
        join_layer(verify, l, &row);
    }
    write_positions(file, verify, input);
    added.rows = text_close(file, &text);
    added.seconds = clock_seconds() - start;
    pthread_mutex_lock(&kept->lock);
    bool written = kept_add(kept, &added, SYNC_SECONDS);
    pthread_mutex_unlock(&kept->lock);
    free(text);
    return written;
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
