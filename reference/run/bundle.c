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

static void scores(const Block *block)
{
    RefRun *run = block->run;
    if (block->write != NULL) {
        heads_scores(&block->heads, run->input, &run->scratch.work, block->write);
    }
    for (int i = 0; i < RUN_CHANGES; i++) {
        if (run_change(run, i) != NULL) {
            difference_scores(&block->heads, block->read, run_change(run, i));
        }
    }
}

/* Of the block's head b alone, with bilinear scores. */
static void pattern(const Block *block, size_t b)
{
    RefRun *run = block->run;
    if (block->write != NULL) {
        heads_pattern(&block->heads, b, block->write);
    }
    for (int i = 0; i < RUN_CHANGES; i++) {
        if (run_change(run, i) != NULL) {
            difference_pattern(&block->heads, block->read, b, run_change(run, i));
        }
    }
}

static void values(const Block *block, PartKind part)
{
    RefRun *run = block->run;
    if (block->write != NULL) {
        heads_values(&block->heads, run->input, &run->scratch.work, part, block->write);
    }
    for (int i = 0; i < RUN_CHANGES; i++) {
        if (run_change(run, i) != NULL) {
            difference_values(&block->heads, part, run_change(run, i));
        }
    }
}

static void mix(const Block *block, PartKind part, size_t b)
{
    RefRun *run = block->run;
    if (block->write != NULL) {
        heads_mix(&block->heads, part, b, block->write);
    }
    for (int i = 0; i < RUN_CHANGES; i++) {
        if (run_change(run, i) != NULL) {
            difference_mix(&block->heads, block->read, part, b, run_change(run, i));
        }
    }
}

static void write(const Block *block, PartKind part)
{
    RefRun *run = block->run;
    if (block->write != NULL) {
        heads_write(&block->heads, part, &block->read->part[record_part(block->read, part)].mixed,
                    &run->scratch.work.scaled, &run->scratch.delta);
    }
    for (int i = 0; i < RUN_CHANGES; i++) {
        if (run_change(run, i) != NULL) {
            difference_write(&block->heads, part, run_change(run, i));
        }
    }
}

/* Head 0's parts besides: the bias through its pattern, and the integer diagonal. */
static void extra_parts(const Block *block)
{
    static const PartKind extra[] = {BIAS_PART, DIAGONAL_PART};
    for (size_t i = 0; i < sizeof extra / sizeof *extra; i++) {
        if (heads_part_width(&block->heads.bundle->value, extra[i]) > 0) {
            values(block, extra[i]);
            mix(block, extra[i], 0);
            write(block, extra[i]);
        }
    }
}

static void block_add(const Block *block)
{
    const Bundle *bundle = block->heads.bundle;
    bool by_key = score_by_key(&bundle->score),
         has = heads_part_width(&bundle->value, HEADS_PART) > 0;
    size_t patterns = by_key ? block->heads.count : 1;
    scores(block);
    for (size_t b = 0; b < patterns; b++) {
        if (by_key) {
            pattern(block, b);
        }
        if (block->heads.first + b == 0) {
            extra_parts(block);
        }
        if (has && b == 0) {
            values(block, HEADS_PART);
        }
        if (has) {
            mix(block, HEADS_PART, b);
        }
    }
    if (has) {
        write(block, HEADS_PART);
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
