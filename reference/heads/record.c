/*
 * The shapes of records, and the blocks of heads that a model is evaluated by.
 */
#include "heads.h"

#include "../../memory/need.h"

#include <stdlib.h>

size_t heads_part_width(const Value *value, PartKind part)
{
    switch (part) {
    case BIAS_PART: return value_has_bias(value) ? value->write.count : 0;
    case DIAGONAL_PART: return value->diagonal != 0 ? value->read.count : 0;
    default: return value_width(value);
    }
}

bool heads_share_pattern(const Score *score)
{
    return !score_by_key(score) && !score_by_gate(score) && score->extra == NULL;
}

size_t heads_block(const Bundle *bundle, size_t rows, mpfr_prec_t bits)
{
    size_t width = value_width(&bundle->value), query = score_query_width(&bundle->score);
    if (score_by_key(&bundle->score) && !score_is_mixed(&bundle->score) && query > width) {
        width = query;
    }
    size_t columns = evaluator_block_columns(rows, bits);
    size_t most = width > 0 && width < columns ? columns / width : 1;
    size_t blocks = (bundle->heads + most - 1) / most; /* all of nearly the same size */
    return blocks > 0 ? (bundle->heads + blocks - 1) / blocks : 1;
}

void heads_each_block(const Model *model, mpfr_prec_t bits, size_t sublayers, BlockVisit *visit,
                      void *context)
{
    size_t rows = layout_rows(&model->layout);
    for (size_t s = 0; s < sublayers; s++) {
        const Sublayer *sublayer = &model->sublayers[s];
        for (size_t b = 0; b < sublayer->bundle_count; b++) {
            const Bundle *bundle = &sublayer->bundles[b];
            size_t block = heads_block(bundle, rows, bits);
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

size_t heads_blocks(const Model *model, mpfr_prec_t bits, size_t sublayers)
{
    size_t blocks = 0;
    heads_each_block(model, bits, sublayers, count_block, &blocks);
    return blocks;
}

RecordShape record_shape(const Bundle *bundle, size_t first, size_t heads, size_t rows)
{
    const Score *score = &bundle->score;
    const Value *value = &bundle->value;
    bool by_key = score_by_key(score), mixed = score_is_mixed(score);
    RecordShape shape = {.rows = rows};
    shape.gate = heads_share_pattern(score) ? 1 : heads;
    shape.group = mixed ? 2 * heads : by_key ? 0 : shape.gate * GROUPS;
    shape.head_query = by_key ? score_query_width(score) : 0;
    shape.query = mixed ? shape.head_query : heads * shape.head_query;
    shape.mixed = mixed ? shape.head_query : 0;
    shape.pattern = by_key ? rows : 0;
    shape.patterns = by_key ? heads : 0;
    for (PartKind part = 0; part < PARTS; part++) {
        size_t width = heads_part_width(value, part), count = part == HEADS_PART ? heads : 1;
        if (part == HEADS_PART || first == 0) {
            shape.part[part] = count * width;
            shape.head = width > shape.head ? width : shape.head;
        }
    }
    bool scaled = value->d_head > 0 && value->scale != 1;
    shape.scaled = scaled ? shape.part[HEADS_PART] : 0;
    return shape;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

void record_shape_widen(RecordShape *most, const RecordShape *shape)
{
    most->rows = larger(most->rows, shape->rows);
    most->gate = larger(most->gate, shape->gate);
    most->group = larger(most->group, shape->group);
    most->query = larger(most->query, shape->query);
    most->head_query = larger(most->head_query, shape->head_query);
    most->mixed = larger(most->mixed, shape->mixed);
    most->pattern = larger(most->pattern, shape->pattern);
    most->patterns = most->pattern > 0;
    for (PartKind part = 0; part < PARTS; part++) {
        most->part[HEADS_PART] = larger(most->part[HEADS_PART], shape->part[part]);
    }
    most->head = larger(most->head, shape->head);
    most->scaled = larger(most->scaled, shape->scaled);
}

/* All matrices but the patterns, whose number depends on the block. */
enum { RECORD_MATS = 5 + 2 * PARTS };

static void record_list(Record *record, const RecordShape *shape, ApExtent list[RECORD_MATS])
{
    size_t rows = shape->rows, at = 0;
    list[at++] = (ApExtent){&record->score, rows, shape->gate};
    list[at++] = (ApExtent){&record->gate, rows, shape->gate};
    list[at++] = (ApExtent){&record->group, rows, shape->group};
    list[at++] = (ApExtent){&record->query, rows, shape->query};
    list[at++] = (ApExtent){&record->key, rows, shape->query};
    for (PartKind part = 0; part < PARTS; part++) {
        list[at++] = (ApExtent){&record->part[part].value, rows, shape->part[part]};
        list[at++] = (ApExtent){&record->part[part].mixed, rows, shape->part[part]};
    }
}

void record_init(Record *record, const RecordShape *shape, mpfr_prec_t bits)
{
    ApExtent list[RECORD_MATS];
    *record = (Record){.pattern = need_zeros(shape->patterns + 1, sizeof *record->pattern),
                       .patterns = shape->patterns};
    record_list(record, shape, list);
    ap_init_list(list, RECORD_MATS, bits);
    for (size_t b = 0; b < record->patterns; b++) {
        ap_init(&record->pattern[b], shape->rows, shape->pattern, bits);
    }
}

void record_clear(Record *record)
{
    ApExtent list[RECORD_MATS];
    record_list(record, &(RecordShape){0}, list);
    ap_clear_list(list, RECORD_MATS);
    for (size_t b = 0; b < record->patterns; b++) {
        ap_clear(&record->pattern[b]);
    }
    free(record->pattern);
}

double record_bytes(const RecordShape *shape, mpfr_prec_t bits)
{
    Record record;
    ApExtent list[RECORD_MATS];
    record_list(&record, shape, list);
    return ap_bytes_list(list, RECORD_MATS, bits) +
           (double)shape->patterns * ap_bytes((double)shape->rows, (double)shape->pattern, bits);
}
