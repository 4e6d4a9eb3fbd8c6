/*
 * The limit's evaluation kept, so that differences at every Omega read it instead of repeating
 * it.
 */
#include "tape.h"

#include <stdlib.h>

/* Columns of a block's matrices. */
typedef struct {
    size_t gate, group, query, value, patterns;
} BlockColumns;

static BlockColumns block_columns(const Bundle *bundle, size_t heads)
{
    const Score *score = &bundle->score;
    bool bilinear = score->kind == SCORE_BILINEAR;
    size_t patterns = groups_share_pattern(score) ? 1 : heads;
    return (BlockColumns){
        .gate = patterns,
        .group = bilinear ? 0 : patterns * GROUPS,
        .query = bilinear ? heads * structured_query_width(score) : 0,
        .value =
            bundle->value.kind == VALUE_NONE ? 0 : heads * structured_value_width(&bundle->value),
        .patterns = bilinear ? heads : 0,
    };
}

typedef void BlockVisit(void *context, const Bundle *bundle, size_t first, size_t heads);

/* Calls visit for every block of heads of the first sublayers, in the order of evaluation. */
static void each_block(const Model *model, mpfr_prec_t bits, size_t sublayers, BlockVisit *visit,
                       void *context)
{
    size_t rows = layout_rows(&model->layout);
    for (size_t s = 0; s < sublayers; s++) {
        const Sublayer *sublayer = &model->sublayers[s];
        for (size_t b = 0; b < sublayer->bundle_count; b++) {
            const Bundle *bundle = &sublayer->bundles[b];
            size_t block = structured_block(bundle, rows, bits);
            for (size_t first = 0; first < bundle->heads; first += block) {
                size_t left = bundle->heads - first;
                visit(context, bundle, first, left < block ? left : block);
            }
        }
    }
}

static void count_block(void *context, const Bundle *bundle, size_t first, size_t heads)
{
    size_t *blocks = context;
    (void)bundle, (void)first, (void)heads;
    ++*blocks;
}

size_t tape_blocks(const Model *model, mpfr_prec_t bits, size_t sublayers)
{
    size_t blocks = 0;
    each_block(model, bits, sublayers, count_block, &blocks);
    return blocks;
}

RunTape *tape_open(const Model *model, mpfr_prec_t bits)
{
    RunTape *tape = calloc(1, sizeof *tape);
    if (tape == NULL) {
        return NULL;
    }
    tape->blocks = tape_blocks(model, bits, model->sublayer_count);
    tape->bits = bits;
    tape->depth = model->depth;
    tape->block = calloc(tape->blocks + 1, sizeof *tape->block);
    tape->stream = calloc(tape->depth, sizeof *tape->stream);
    if (tape->block == NULL || tape->stream == NULL) {
        tape_clear(tape);
        return NULL;
    }
    return tape;
}

static void block_clear(TapeBlock *block)
{
    RunScratch *s = &block->scratch;
    ApMat *const mats[] = {&s->score, &s->gate,  &s->group, &s->query,
                           &s->key,   &s->value, &s->mixed};
    for (size_t i = 0; i < sizeof mats / sizeof *mats; i++) {
        ap_clear(mats[i]);
    }
    for (size_t i = 0; i < block->patterns; i++) {
        ap_clear(&block->pattern[i]);
    }
    for (int which = 0; which < 2; which++) {
        ap_clear(&block->extra[which][0]);
        ap_clear(&block->extra[which][1]);
    }
    free(block->pattern);
}

void tape_clear(RunTape *tape)
{
    if (tape == NULL) {
        return;
    }
    for (size_t i = 0; tape->block != NULL && i < tape->blocks; i++) {
        block_clear(&tape->block[i]);
    }
    for (size_t l = 0; tape->stream != NULL && l < tape->depth; l++) {
        ap_clear(&tape->stream[l]);
    }
    free(tape->block);
    free(tape->stream);
    free(tape);
}

/* Context of add_bytes. */
typedef struct {
    double rows, bytes;
    mpfr_prec_t bits;
} Bytes;

static void add_bytes(void *context, const Bundle *bundle, size_t first, size_t heads)
{
    Bytes *sum = context;
    const Value *value = &bundle->value;
    BlockColumns columns = block_columns(bundle, heads);
    double extra = first > 0 ? 0
                             : (value->bias != NULL ? (double)value->write.count : 0) +
                                   (value->diagonal != 0 ? (double)value->read.count : 0);
    double all =
        (double)(2 * columns.gate + columns.group + 2 * columns.query + 2 * columns.value) +
        2 * extra + (double)columns.patterns * sum->rows;
    sum->bytes += ap_bytes(sum->rows, all, sum->bits);
}

double tape_bytes(const Model *model, mpfr_prec_t bits)
{
    double rows = (double)layout_rows(&model->layout);
    Bytes sum = {rows, 0, bits};
    each_block(model, bits, model->sublayer_count, add_bytes, &sum);
    return sum.bytes +
           (double)model->depth * ap_bytes(rows, (double)layout_content(&model->layout), bits);
}

/* to = the first columns of from. */
static void keep(RunTape *tape, ApMat *to, const ApMat *from, size_t columns)
{
    if (!ap_init(to, from->rows, columns, tape->bits)) {
        tape->failed = true;
        return;
    }
    for (size_t i = 0; i < from->rows; i++) {
        for (size_t c = 0; c < columns; c++) {
            mpfr_set(ap_at(to, i, c), ap_at(from, i, c), MPFR_RNDN);
        }
    }
}

void tape_keep_block(RefRun *run, const Bundle *bundle, const Heads *heads)
{
    RunTape *tape = run->record;
    if (tape == NULL) {
        return;
    }
    const RunScratch *s = &run->scratch;
    BlockColumns columns = block_columns(bundle, heads->count);
    RunScratch *to = &tape->block[run->block].scratch;
    keep(tape, &to->score, &s->score, columns.gate);
    keep(tape, &to->gate, &s->gate, columns.gate);
    keep(tape, &to->group, &s->group, columns.group);
    keep(tape, &to->query, &s->query, columns.query);
    keep(tape, &to->key, &s->key, columns.query);
    keep(tape, &to->value, &s->value, columns.value);
    keep(tape, &to->mixed, &s->mixed, columns.value);
}

void tape_keep_pattern(RefRun *run, const Heads *heads, size_t b)
{
    RunTape *tape = run->record;
    if (tape == NULL) {
        return;
    }
    TapeBlock *block = &tape->block[run->block];
    if (block->pattern == NULL) {
        block->pattern = calloc(heads->count, sizeof *block->pattern);
        block->patterns = block->pattern != NULL ? heads->count : 0;
    }
    if (block->pattern == NULL) {
        tape->failed = true;
        return;
    }
    keep(tape, &block->pattern[b], &run->scratch.pattern, run->scratch.pattern.columns);
}

void tape_keep_extra(RefRun *run, int which, size_t columns)
{
    RunTape *tape = run->record;
    if (tape != NULL) {
        ApMat *to = tape->block[run->block].extra[which];
        keep(tape, &to[0], &run->scratch.value, columns);
        keep(tape, &to[1], &run->scratch.mixed, columns);
    }
}

void tape_keep_stream(RefRun *run)
{
    if (run->record != NULL) {
        keep(run->record, &run->record->stream[run->layer], &run->stream, run->stream.columns);
    }
}

void tape_play_block(RefRun *run)
{
    if (run->tape != NULL) {
        ApMat temp = run->scratch.temp;
        run->scratch = run->tape->block[run->block].scratch;
        run->scratch.temp = temp;
    }
}

void tape_play_pattern(RefRun *run, size_t b)
{
    if (run->tape != NULL) {
        run->scratch.pattern = run->tape->block[run->block].pattern[b];
    }
}

void tape_play_extra(RefRun *run, int which)
{
    if (run->tape != NULL) {
        const ApMat *from = run->tape->block[run->block].extra[which];
        run->scratch.value = from[0];
        run->scratch.mixed = from[1];
    }
}

void tape_play_values(RefRun *run)
{
    if (run->tape != NULL) {
        run->scratch.value = run->tape->block[run->block].scratch.value;
        run->scratch.mixed = run->tape->block[run->block].scratch.mixed;
    }
}

void tape_play_stream(RefRun *run)
{
    const ApMat *from = run->tape != NULL ? &run->tape->stream[run->layer] : &run->stream;
    for (size_t i = 0; run->tape != NULL && i < from->rows * from->columns; i++) {
        mpfr_set(run->stream.entry + i, from->entry + i, MPFR_RNDN);
    }
}

void tape_leave(RefRun *run)
{
    if (run->tape != NULL) {
        run->scratch = (RunScratch){.temp = run->scratch.temp};
    }
}
