/*
 * The difference e = r(T') - r(T_infinity) carried through a layer beside the limit: the steps of a
 * block of heads, and
 *     e += what the sublayer's heads at x + e write and those at x do not.
 */
#include "difference.h"

enum { DIFFERENCE_MATS = 19 };

static void difference_list(Difference *e, const RecordShape *shape, const DifferenceSize *size,
                            ApExtent list[DIFFERENCE_MATS])
{
    size_t rows = shape->rows, gate = shape->gate, value = shape->part[HEADS_PART];
    size_t content = size->content;
    const ApExtent all[DIFFERENCE_MATS] = {
        {&e->stream, rows, content},
        {&e->delta, rows, content},
        {&e->product, rows, gate},
        {&e->score, rows, gate},
        {&e->gate, rows, gate},
        {&e->grown, rows, gate},
        {&e->value, rows, value},
        {&e->mixed, rows, value},
        {&e->query, rows, shape->query},
        {&e->key, rows, shape->query},
        {&e->both_queries, rows, 2 * shape->head_query},
        {&e->group, rows, shape->group},
        {&e->pattern, rows, shape->pattern},
        {&e->leak, rows, shape->pattern},
        {&e->normed, rows, size->normed},
        {&e->both_keys, rows, 2 * shape->head_query},
        {&e->moved, rows, value},
        {&e->scaled, rows, shape->scaled},
        {&e->sum, rows, content},
    };
    for (size_t i = 0; i < DIFFERENCE_MATS; i++) {
        list[i] = all[i];
    }
}

void difference_init(Difference *e, const RecordShape *shape, const DifferenceSize *size)
{
    ApExtent list[DIFFERENCE_MATS];
    *e = (Difference){0};
    difference_list(e, shape, size, list);
    e->input = &e->stream;
    ap_init_list(list, DIFFERENCE_MATS, size->bits);
}

void difference_clear(Difference *e)
{
    ApExtent list[DIFFERENCE_MATS];
    difference_list(e, &(RecordShape){0}, &(DifferenceSize){0}, list);
    ap_clear_list(list, DIFFERENCE_MATS);
}

double difference_bytes(const RecordShape *shape, const DifferenceSize *size)
{
    Difference e;
    ApExtent list[DIFFERENCE_MATS];
    difference_list(&e, shape, size, list);
    return ap_bytes_list(list, DIFFERENCE_MATS, size->bits);
}

void difference_scores(const Heads *heads, const Record *record, Difference *e)
{
    if (score_by_key(&heads->bundle->score)) {
        difference_queries(heads, record, e);
    } else {
        difference_group_weights(heads, record, e);
    }
}

void difference_pattern(const Heads *heads, const Record *record, size_t b, Difference *e)
{
    if (score_by_key(&heads->bundle->score)) {
        difference_keys(heads, record, b, e);
    }
}

void difference_mix(const Heads *heads, const Record *record, PartKind part, size_t b,
                    Difference *e)
{
    Evaluator *ev = heads->ev;
    const ApMat *value = &record->part[record_part(record, part)].value;
    size_t width = heads_part_width(&heads->bundle->value, part);
    if (score_by_key(&heads->bundle->score)) {
        evaluator_add(ev, &e->moved, value, &e->value, b * width, width);
        difference_key_mix(heads, record, part, b, e);
    } else {
        evaluator_add(ev, &e->moved, value, &e->value, 0, heads_of_part(heads, part).count * width);
        difference_group_mix(heads, record, part, e);
    }
}
