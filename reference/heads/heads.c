/*
 * The evaluation of a block of heads at a stream x, step by step, into its record:
 *     scores, patterns = softmax_rows(scores), values u = x V, mixtures = patterns u.
 * With bilinear scores patterns follow one another, head by head; else all are there with the
 * scores.
 */
#include "heads.h"

void heads_scores(const Heads *heads, const ApMat *x, HeadsWork *work, Record *record)
{
    if (score_by_key(&heads->bundle->score)) {
        heads_queries(heads, x, true, &record->query, &record->key);
    } else {
        groups_softmax(heads, x, &work->product, record);
    }
}

void heads_pattern(const Heads *heads, size_t b, Record *record)
{
    if (score_by_key(&heads->bundle->score)) {
        bilinear_softmax(heads, b, record);
    }
}

void heads_values(const Heads *heads, const ApMat *x, const HeadsWork *work, PartKind part,
                  Record *record)
{
    const Value *value = &heads->bundle->value;
    ApMat *u = &record->part[record_part(record, part)].value;
    size_t width = heads_part_width(value, part);
    heads_products(heads, x, &work->product, part, u);
    if (part == BIAS_PART) {
        heads_token_bias(heads, u, value->bias, width);
    } else if (part == HEADS_PART && value->inner_bias != NULL) {
        heads_token_bias(heads, u, value->inner_bias + heads->first * width, heads->count * width);
    }
}

void heads_mix(const Heads *heads, PartKind part, size_t b, Record *record)
{
    if (score_by_key(&heads->bundle->score)) {
        bilinear_mix(heads, part, b, record);
    } else {
        groups_mix(heads, part, record);
    }
}
