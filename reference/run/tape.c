/*
 * The limit's evaluation kept: a record for every block of heads, as wide as the block needs.
 */
#include "tape.h"

#include <stdlib.h>

/* Context of add_record. */
typedef struct {
    Tape *tape;
    size_t rows;
    bool ok;
} Making;

static void add_record(void *context, const Bundle *bundle, size_t first, size_t heads)
{
    Making *making = context;
    Tape *tape = making->tape;
    RecordShape shape = record_shape(bundle, first, heads, making->rows);
    making->ok = making->ok && record_init(&tape->record[tape->blocks++], &shape, tape->bits);
}

static size_t norm_columns(const Sublayer *sublayer)
{
    return sublayer->norm.kind != NORMALIZATION_NONE ? sublayer->norm.columns.count : 0;
}

static bool tape_init(Tape *tape, const Model *model)
{
    size_t rows = layout_rows(&model->layout), columns = layout_content(&model->layout);
    Making making = {tape, rows,
                     tape->record != NULL && tape->norm != NULL && tape->stream != NULL &&
                         tape->own != NULL};
    if (making.ok) {
        heads_each_block(model, tape->bits, model->sublayer_count, add_record, &making);
    }
    for (size_t i = 0; making.ok && i < tape->sublayers; i++) {
        making.ok = norm_record_init(&tape->norm[i], rows, norm_columns(&model->sublayers[i]),
                                     tape->bits) &&
                    ap_init(&tape->stream[i], rows, columns, tape->bits);
    }
    return making.ok;
}

Tape *tape_open(const Model *model, mpfr_prec_t bits)
{
    Tape *tape = calloc(1, sizeof *tape);
    if (tape == NULL) {
        return NULL;
    }
    size_t blocks = heads_blocks(model, bits, model->sublayer_count);
    tape->bits = bits;
    tape->record = calloc(blocks + 1, sizeof *tape->record);
    tape->sublayers = model->sublayer_count;
    tape->norm = calloc(tape->sublayers, sizeof *tape->norm);
    tape->stream = calloc(tape->sublayers, sizeof *tape->stream);
    tape->own = calloc(tape->sublayers * layout_rows(&model->layout) + 1, sizeof *tape->own);
    if (!tape_init(tape, model)) {
        tape_clear(tape);
        return NULL;
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
    for (size_t i = 0; tape->norm != NULL && i < tape->sublayers; i++) {
        norm_record_clear(&tape->norm[i]);
    }
    for (size_t i = 0; tape->stream != NULL && i < tape->sublayers; i++) {
        ap_clear(&tape->stream[i]);
    }
    free(tape->record);
    free(tape->norm);
    free(tape->stream);
    free(tape->own);
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
        sum.bytes += norm_record_bytes(rows, norm_columns(&model->sublayers[i]), bits);
    }
    return sum.bytes +
           (double)model->sublayer_count *
               (ap_bytes((double)rows, (double)columns, bits) + (double)rows * sizeof(double));
}
