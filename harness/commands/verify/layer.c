/*
 * A layer's errors at one input, and the worst of many: of a run's inputs, or of a table's shards.
 */
#include <stdio.h> /* before mpfr.h: declares mpfr_fprintf */

#include "columns.h"

#include "../../evaluate/evaluate.h"

#include <math.h>
#include <stdint.h>

void layer_init(LayerWorst *layer)
{
    for (int kind = 0; kind < ERROR_KINDS; kind++) {
        ref_cell_init(&layer->worst[kind], REF_DIGITS);
        ref_cell_init(&layer->logs[kind], REF_DIGITS);
        ref_cell_init(&layer->judged[kind], REF_DIGITS);
    }
    layer_reset(layer);
}

void layer_reset(LayerWorst *layer)
{
    for (int kind = 0; kind < ERROR_KINDS; kind++) {
        layer->worst[kind].state = CELL_ABSENT;
        layer->logs[kind].state = CELL_ABSENT;
        layer->judged[kind].state = CELL_ABSENT;
    }
    layer->score = 0;
    layer->log2_judged = -INFINITY;
    layer->inputs = 0;
    layer->worst_input = SIZE_MAX;
    layer->judged_bound = false;
    layer->status = STATUS_OK;
}

void layer_clear(LayerWorst *layer)
{
    for (int kind = 0; kind < ERROR_KINDS; kind++) {
        ref_cell_clear(&layer->worst[kind]);
        ref_cell_clear(&layer->logs[kind]);
        ref_cell_clear(&layer->judged[kind]);
    }
}

double layer_log2(const RefCell *cell)
{
    long exponent;
    mpfr_t printed; /* not what rounding left behind its digits, so that shards agree */
    if (cell->state == CELL_NONFINITE) {
        return INFINITY;
    }
    if (cell->state == CELL_ABSENT || cell->state == CELL_ZERO) {
        return -INFINITY;
    }
    mpfr_init2(printed, REF_CELL_BITS);
    ref_cell_printed(printed, cell);
    double mantissa = mpfr_get_d_2exp(&exponent, printed, MPFR_RNDN);
    mpfr_clear(printed);
    return log2(mantissa) + (double)exponent;
}

void layer_judge(LayerWorst *layer, ErrorKind judge)
{
    layer->log2_judged = layer_log2(&layer->judged[judge]);
    layer->judged_bound = layer->judged[judge].state == CELL_BOUND;
}

void layer_take(LayerWorst *layer, size_t number, const Point *point, const Row *row)
{
    const RefCell *score = &row->errors.scalar[SCALAR_SCORE];
    for (int kind = 0; kind < ERROR_KINDS; kind++) {
        ref_cell_set(&layer->worst[kind], &row->errors.error[kind][NORM_MAX]);
        ref_cell_set(&layer->judged[kind], &row->errors.error[kind][point->norm]);
    }
    layer->score = score->state == CELL_VALUE ? mpfr_get_d(score->value, MPFR_RNDN) : 0;
    layer->inputs = 1;
    layer->worst_input = number;
    layer->status = row->status;
    layer_judge(layer, point->judge);
}

static bool is_worse(const RefCell *cell, const RefCell *worst)
{
    return cell->state != CELL_ABSENT &&
           (worst->state == CELL_ABSENT || cell_is_worse(cell, worst));
}

void layer_join(LayerWorst *all, const LayerWorst *one)
{
    for (int kind = 0; kind < ERROR_KINDS; kind++) {
        if (is_worse(&one->worst[kind], &all->worst[kind])) {
            ref_cell_set(&all->worst[kind], &one->worst[kind]);
            ref_cell_set(&all->logs[kind], &one->logs[kind]);
        }
        if (is_worse(&one->judged[kind], &all->judged[kind])) {
            ref_cell_set(&all->judged[kind], &one->judged[kind]);
        }
    }
    const bool more = one->log2_judged > all->log2_judged;
    const bool equal = one->log2_judged == all->log2_judged;
    if (more || equal) { /* of equals a bound, as with worst */
        all->judged_bound = one->judged_bound || (equal && all->judged_bound);
    }
    if (more || (equal && one->worst_input < all->worst_input)) {
        all->log2_judged = one->log2_judged;
        all->worst_input = one->worst_input;
    }
    all->score = fmax(all->score, one->score);
    all->inputs += one->inputs;
    all->status = one->status < all->status ? one->status : all->status;
}
