/*
 * A bundle of heads by its structure, at the cost of the original's products:
 *     delta += sum over heads of softmax_rows(X Q X^T) X V,
 * block of heads after block, and in a block step after step.  Each step evaluates x into the
 * block's record, unless a tape has that record already; and then, where e is carried beside x,
 * lets the difference read it.  With bilinear scores patterns follow one another, so that one
 * pattern at a time is in memory where no tape keeps them.  Bundles that are alike,
 * as those of a GELU, go through a block one behind the other: x g is formed once, and what they
 * write is added up before the second factors.
 */
#include "sublayer.h"

/* A block of heads; write: its record, to be evaluated, or NULL; read: the same record. */
typedef struct {
    RefRun *run;
    Heads heads;
    Record *write;
    const Record *read;
} Block;

/* number: in the order of heads_each_block. */
static Block block_open(RefRun *run, Heads heads, size_t number)
{
    Block block = {.run = run, .heads = heads};
    if (run->known != NULL) {
        block.read = &run->known->record[number];
    } else {
        block.write = run->kept != NULL ? &run->kept->record[number] : &run->scratch.record;
        block.read = block.write;
    }
    return block;
}

/* What is done with a block, in this order. */
typedef enum { SCORES, PATTERN, VALUES, MIX, WRITE } Step;

/* Of x, into the record: of a part of values; of the block's head b alone, with bilinear scores. */
static void evaluate(const Block *block, Step step, PartKind part, size_t b)
{
    RefRun *run = block->run;
    const Heads *heads = &block->heads;
    HeadsWork *work = &run->scratch.work;
    switch (step) {
    case SCORES: heads_scores(heads, run->input, work, block->write); break;
    case PATTERN: heads_pattern(heads, b, work, block->write); break;
    case VALUES: heads_values(heads, run->input, work, part, block->write); break;
    case MIX:
        heads_mix(heads, part, b, block->write);
        if (run->reader != NULL) {
            run->reader(run->context, heads, block->read, part, b);
        }
        break;
    case WRITE:
        heads_write(heads, part, &block->read->part[record_part(block->read, part)].mixed,
                    &work->scaled, &run->scratch.delta);
        break;
    }
}

/* Of a change of x, from the record. */
static void change(const Block *block, Difference *e, Step step, PartKind part, size_t b)
{
    const Heads *heads = &block->heads;
    switch (step) {
    case SCORES: difference_scores(heads, block->read, e); break;
    case PATTERN: difference_pattern(heads, block->read, b, e); break;
    case VALUES: heads_products(heads, e->input, &e->product, part, &e->value); break;
    case MIX: difference_mix(heads, block->read, part, b, e); break;
    case WRITE: heads_write(heads, part, &e->mixed, &e->scaled, &e->delta); break;
    }
}

static void take_step(const Block *block, Step step, PartKind part, size_t b)
{
    if (block->write != NULL) {
        evaluate(block, step, part, b);
    }
    for (int i = 0; i < run_changes(block->run); i++) {
        change(block, run_change(block->run, i), step, part, b);
    }
}

/* Head 0's parts besides: the bias through its pattern, and the integer diagonal. */
static void extra_parts(const Block *block)
{
    static const PartKind extra[] = {BIAS_PART, DIAGONAL_PART};
    for (size_t i = 0; i < sizeof extra / sizeof *extra; i++) {
        if (heads_part_width(&block->heads.bundle->value, extra[i]) > 0) {
            for (Step step = VALUES; step <= WRITE; step++) {
                take_step(block, step, extra[i], 0);
            }
        }
    }
}

static void block_add(const Block *block)
{
    const Bundle *bundle = block->heads.bundle;
    bool by_key = score_by_key(&bundle->score),
         has = heads_part_width(&bundle->value, HEADS_PART) > 0;
    size_t patterns = by_key ? block->heads.count : 1;
    take_step(block, SCORES, HEADS_PART, 0);
    for (size_t b = 0; b < patterns; b++) {
        if (by_key) {
            take_step(block, PATTERN, HEADS_PART, b);
        }
        if (block->heads.first + b == 0) {
            extra_parts(block);
        }
        if (has && b == 0) {
            take_step(block, VALUES, HEADS_PART, 0);
        }
        if (has) {
            take_step(block, MIX, HEADS_PART, b);
        }
    }
    if (has) {
        take_step(block, WRITE, HEADS_PART, 0);
    }
}

size_t run_bundles(RefRun *run, const Bundle *bundles, size_t count)
{
    size_t most = heads_block(bundles, run->stream.rows, run->ev.bits), heads = bundles->heads;
    size_t blocks = (heads + most - 1) / most, alike = bundles_alike(bundles, count);
    for (size_t i = 0; i < blocks; i++) {
        size_t first = i * most, left = heads - first;
        for (size_t b = 0; b < alike; b++) {
            const Heads some = {.ev = &run->ev,
                                .layout = &run->model->layout,
                                .bundle = bundles + b,
                                .first = first,
                                .count = left < most ? left : most,
                                .limit = run->limit,
                                .again = b > 0,
                                .more = b + 1 < alike};
            Block block = block_open(run, some, run->next.block + b * blocks + i);
            block_add(&block);
        }
    }
    run->next.block += alike * blocks;
    return alike;
}
