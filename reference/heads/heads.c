/*
 * The evaluation of a block of heads at a stream x, step by step, into its record:
 *     scores, patterns = softmax_rows(scores), values u = x V, mixtures = patterns u.
 * With bilinear scores patterns follow one another, head by head; else all are there with the
 * scores.
 */
#include "heads.h"

void heads_scores(Evaluator *ev, const Heads *heads, const ApMat *x, HeadsWork *work,
                  Record *record)
{
    if (heads_by_key(heads->bundle)) {
        heads_queries(ev, heads, x, true, &record->query, &record->key);
    } else {
        groups_softmax(ev, heads, x, &work->product, record);
    }
}

void heads_pattern(Evaluator *ev, const Heads *heads, size_t b, Record *record)
{
    if (heads_by_key(heads->bundle)) {
        bilinear_softmax(ev, heads, b, record);
    }
}

void heads_values(Evaluator *ev, const Heads *heads, const ApMat *x, const HeadsWork *work,
                  PartKind part, Record *record)
{
    const Value *value = &heads->bundle->value;
    ApMat *u = &record->part[record_part(record, part)].value;
    size_t width = heads_part_width(value, part);
    heads_products(ev, heads, x, &work->product, part, u);
    if (part == BIAS_PART) {
        heads_token_bias(ev, heads->layout, u, value->bias, width);
    } else if (part == HEADS_PART && value->inner_bias != NULL) {
        heads_token_bias(ev, heads->layout, u, value->inner_bias + heads->first * width,
                         heads->count * width);
    }
}

void heads_mix(Evaluator *ev, const Heads *heads, PartKind part, size_t b, Record *record)
{
    if (heads_by_key(heads->bundle)) {
        bilinear_mix(ev, heads, part, b, record);
    } else {
        groups_mix(ev, heads, part, record);
    }
}
