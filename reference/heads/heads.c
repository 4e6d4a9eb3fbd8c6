/*
 * The evaluation of a block of heads at a stream x, step by step, into its record:
 *     scores, patterns = softmax_rows(scores), values u = x V, mixtures = patterns u.
 * With bilinear scores patterns follow one another, head by head; else all are there with the
 * scores.
 */
#include "heads.h"

void heads_limit_score(Worker *worker, const Heads *heads, const Record *record, size_t b,
                       size_t row, size_t j, mpfr_ptr s)
{
    if (j == row) {
        limbs_set(s, ap_at(&record->group, row, b));
    } else if (j == layout_bias_row(heads->layout)) {
        limbs_set(s, ap_at(&record->group, row, heads->count + b));
    } else {
        heads_mixed_score(worker, s, &heads->bundle->score, heads->first + b,
                          ap_at(&record->query, row, 0), ap_at(&record->key, j, 0));
    }
}

void heads_scores(const Heads *heads, const ApMat *x, HeadsWork *work, Record *record)
{
    if (score_by_key(&heads->bundle->score)) {
        heads_queries(heads, x, true, &record->query, &record->key);
        if (heads_score_alone(heads)) {
            const MixedTerms scores = {&record->query, &record->key};
            heads_limit_scores(heads, &scores, 1, &work->mixed, &record->group);
        }
    } else {
        groups_softmax(heads, x, &work->product, record);
    }
}

void heads_pattern(const Heads *heads, size_t b, HeadsWork *work, Record *record)
{
    if (score_by_key(&heads->bundle->score)) {
        bilinear_softmax(heads, b, work, record);
    }
}

/* The bias on token rows, and the bias row's own. */
static void add_bias(const Heads *heads, ApMat *u, size_t width)
{
    const Value *value = &heads->bundle->value;
    size_t bias = layout_bias_row(heads->layout);
    if (value->bias != NULL) {
        heads_token_bias(heads, u, value->bias, width);
    }
    for (size_t c = 0; value->bias_row != 0 && c < width; c++) {
        mpfr_set_d(ap_at(u, bias, c), value->bias_row, MPFR_RNDN);
    }
}

/* 1 on token rows, and -1 on the bias row. */
static void set_signs(const Heads *heads, ApMat *u)
{
    size_t bias = layout_bias_row(heads->layout);
    for (size_t i = 0; i < u->rows; i++) {
        for (size_t b = 0; b < heads->count; b++) {
            mpfr_set_si(ap_at(u, i, b), i == bias ? -1 : 1, MPFR_RNDN);
        }
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
        add_bias(heads, u, width);
    } else if (part == HEADS_PART && value_is_sign(value)) {
        set_signs(heads, u);
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
