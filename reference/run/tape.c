/*
 * The limit's evaluation kept: a record for every block of heads, as wide as the block needs.
 */
#include "tape.h"

#include "../../memory/need.h"

#include <stdlib.h>

/* Context of add_record. */
typedef struct {
    Tape *tape;
    size_t rows;
} Making;

static void add_record(void *context, const Bundle *bundle, size_t first, size_t heads)
{
    Making *making = context;
    Tape *tape = making->tape;
    RecordShape shape = record_shape(bundle, first, heads, making->rows);
    record_init(&tape->record[tape->blocks++], &shape, tape->bits);
}

Tape *tape_open(const Model *model, mpfr_prec_t bits)
{
    Tape *tape = need_zeros(1, sizeof *tape);
    size_t rows = layout_rows(&model->layout), columns = layout_content(&model->layout);
    size_t blocks = heads_blocks(model, bits, model->sublayer_count);
    Making making = {tape, rows};
    tape->bits = bits;
    tape->record = need_zeros(blocks + 1, sizeof *tape->record);
    tape->sublayers = model->sublayer_count;
    tape->norm = need_zeros(tape->sublayers, sizeof *tape->norm);
    tape->stream = need_zeros(tape->sublayers, sizeof *tape->stream);
    heads_each_block(model, bits, model->sublayer_count, add_record, &making);
    for (size_t i = 0; i < tape->sublayers; i++) {
        ap_init(&tape->norm[i], rows, norm_record_columns(&model->sublayers[i].norm), bits);
        ap_init(&tape->stream[i], rows, columns, bits);
    }
    return tape;
}

void tape_clear(Tape *tape)
{
    if (tape == NULL) {
        return;
    }
    for (size_t i = 0; i < tape->blocks; i++) {
        record_clear(&tape->record[i]);
    }
    for (size_t i = 0; i < tape->sublayers; i++) {
        ap_clear(&tape->norm[i]);
        ap_clear(&tape->stream[i]);
    }
    free(tape->record);
    free(tape->norm);
    free(tape->stream);
    free(tape);
}

/* Context of add_bytes. */
typedef struct {
    size_t rows;
    mpfr_prec_t bits;
    double bytes;
} Bytes;

static void add_bytes(void *context, const Bundle *bundle, size_t first, size_t heads)
{
    Bytes *sum = context;
    RecordShape shape = record_shape(bundle, first, heads, sum->rows);
    sum->bytes += record_bytes(&shape, sum->bits);
}

double tape_bytes(const Model *model, mpfr_prec_t bits)
{
    size_t rows = layout_rows(&model->layout), columns = layout_content(&model->layout);
    Bytes sum = {rows, bits, 0};
    heads_each_block(model, bits, model->sublayer_count, add_bytes, &sum);
    for (size_t i = 0; i < model->sublayer_count; i++) {
        size_t of_norm = norm_record_columns(&model->sublayers[i].norm);
        sum.bytes += ap_bytes((double)rows, (double)of_norm, bits);
    }
    return sum.bytes +
           (double)model->sublayer_count * ap_bytes((double)rows, (double)columns, bits);
}
