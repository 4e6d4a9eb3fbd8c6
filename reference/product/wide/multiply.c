/*
 * Products of fractions of 52-bit digits.
 *
 * A scaled entry x in (-1, 1) is kept as alpha = x / 2 + 1/2 in [0, 1), cut off after D digits.
 * With eta = 1/2 for an operand that fits, and 1/2 - 2^(-52 D) / 2 for one that is cut off, so that
 * its error is centred, x is 2 (alpha - eta), and
 *
 *     sum_l x_l y_l = 4 (sum alpha beta - eta_b sum alpha - eta_a sum beta + k eta_a eta_b):
 *
 * signs cost one sum a line.
 */
#include "../internal.h"
#include "../weights.h"
#include "pack.h"
#include "tile_store.h"
#include "wide.h"

#include "../../../memory/need.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS_AT_ONCE = 16 };

/* pack.digit: groups of lanes, each [k][digits_b][LANES]; pack.correction: groups, each
 * [columns][LANES], eta_a sum beta - k eta_a eta_b. */
typedef struct {
    size_t digits_a, digits_b, kept, depth; /* as in DigitsWork */
    size_t columns;                         /* kept ones and column 0 */
    Pack pack;
} Shape;

/* to[w] += sign 2^(-52 shift) from / 2 for columns w < columns; from has 1 + digits of them. */
static void add_half(int64_t *to, size_t columns, const int64_t *from, size_t digits, size_t shift,
                     int sign)
{
    for (size_t w = 0; w <= digits && w + shift < columns; w++) {
        to[w + shift] += sign * (from[w] >> 1);
        if (w + shift + 1 < columns) {
            to[w + shift + 1] += sign * ((from[w] & 1) << (DIGIT - 1));
        }
    }
}

/* eta times a sum of the other operand's fractions. */
static void correct(int64_t *to, const Shape *shape, const int64_t *sum, size_t digits,
                    size_t eta_digits, bool fits)
{
    memset(to, 0, shape->columns * sizeof *to);
    add_half(to, shape->columns, sum, digits, 0, 1);
    if (!fits) {
        add_half(to, shape->columns, sum, digits, eta_digits, -1);
    }
}

/* to -= k eta_a eta_b = k (1 - [a is cut] 2^-52Da) (1 - [b is cut] 2^-52Db) / 4. */
static void add_constant(int64_t *to, const Shape *shape, const Plan *plan)
{
    const int64_t quarter[2] = {(int64_t)(plan->k >> 2), (int64_t)(plan->k & 3) << (DIGIT - 2)};
    for (int term = 0; term < 4; term++) {
        bool cut_a = term & 1, cut_b = term & 2;
        if ((cut_a && plan->short_a) || (cut_b && plan->short_b)) {
            continue;
        }
        size_t shift = (cut_a ? shape->digits_a : 0) + (cut_b ? shape->digits_b : 0);
        for (size_t w = 0; w < 2 && w + shift < shape->columns; w++) {
            to[w + shift] -= (cut_a == cut_b ? 1 : -1) * quarter[w];
        }
    }
}

static size_t lane_groups(const Plan *plan)
{
    return (plan->n + LANES - 1) / LANES;
}

static Shape shape_of(const Plan *plan)
{
    DigitsWork work = digits_work(plan, plan->bits);
    return (Shape){
        .digits_a = work.digits_a,
        .digits_b = work.digits_b,
        .kept = work.kept,
        .depth = work.depth,
        .columns = work.kept + 1,
        .pack.key = {work.digits_a, work.digits_b, work.kept, plan->short_a, plan->short_b}};
}

static void pack_b(const Shape *shape, const Pack *pack, const Plan *plan, size_t group)
{
    int64_t sum[LANES][TILE_COLUMNS], correction[TILE_COLUMNS];
    Packing packing = {&plan->b, group * LANES, LANES, shape->digits_b, true, plan->short_b};
    pack_lines(pack->digit + group * plan->k * shape->digits_b * LANES, sum, &packing);
    int64_t *to = pack->correction + group * shape->columns * LANES;
    for (size_t lane = 0; lane < LANES; lane++) {
        correct(correction, shape, sum[lane], shape->digits_b, shape->digits_a, plan->short_a);
        add_constant(correction, shape, plan);
        for (size_t w = 0; w < shape->columns; w++) {
            to[w * LANES + lane] = correction[w];
        }
    }
}

/* tile = sum over l of alpha beta, carried. */
static void multiply_tile(Tile *tile, const Shape *shape, const uint64_t *a, const uint64_t *b,
                          size_t k)
{
    tile_clear(tile, shape->digits_a + shape->digits_b + 1);
    for (size_t l = 0; l < k; l += shape->depth) {
        size_t depth = k - l < shape->depth ? k - l : shape->depth;
        for (size_t i = 0; i * BLOCK < shape->digits_a; i++) {
            Digits da = digits_block(a + l * shape->digits_a * TILE_ROWS, shape->digits_a, i);
            for (size_t j = 0; j * BLOCK < shape->digits_b; j++) {
                Digits db = digits_block(b + l * shape->digits_b * LANES, shape->digits_b, j);
                if (da.first + db.first < shape->kept) {
                    tile_multiply(tile, da, db, depth, shape->kept - da.first - db.first);
                }
            }
        }
        tile_carry(tile, shape->digits_a + shape->digits_b + 1);
    }
}

/* A block of rows times every column. */
static void multiply_rows(const Plan *plan, const void *shared, size_t first, size_t count)
{
    const Shape *shape = shared;
    size_t tiles = (count + TILE_ROWS - 1) / TILE_ROWS,
           step = plan->k * shape->digits_a * TILE_ROWS;
    uint64_t *a = array_alloc(tiles * step, sizeof *a);
    TileWorkspace work;
    int64_t correction[ROWS_AT_ONCE][TILE_COLUMNS], sum[TILE_ROWS][TILE_COLUMNS];
    for (size_t t = 0; t < tiles; t++) {
        Packing packing = {&plan->a, first + t * TILE_ROWS, TILE_ROWS, shape->digits_a,
                           false,    plan->short_a};
        pack_lines(a + t * step, sum, &packing);
        for (size_t r = 0; r < TILE_ROWS; r++) {
            correct(correction[t * TILE_ROWS + r], shape, sum[r], shape->digits_a, shape->digits_b,
                    plan->short_b);
        }
    }
    for (size_t group = 0; group * LANES < plan->n; group++) {
        const uint64_t *b = shape->pack.digit + group * plan->k * shape->digits_b * LANES;
        for (size_t t = 0; t < tiles; t++) {
            const TilePlace at = {plan,
                                  store_range(),
                                  first + t * TILE_ROWS,
                                  group * LANES,
                                  shape->columns,
                                  (const int64_t(*)[TILE_COLUMNS])correction + t * TILE_ROWS,
                                  shape->pack.correction + group * shape->columns * LANES};
            tile_fetch(&at);
            unsigned mode = products_begin();
            multiply_tile(&work.tile, shape, a + t * step, b, plan->k);
            products_end(mode);
            tile_store(&work, &at);
        }
    }
    free(a);
}

/* B packed: a PackMaker. */
static void make_pack(Pack *pack, const void *context)
{
    const Plan *plan = context;
    const Shape shape = shape_of(plan);
    size_t groups = lane_groups(plan), group = plan->k * shape.digits_b * LANES;
    size_t corrections = groups * shape.columns * LANES;
    if (groups > SIZE_MAX / (group + 1)) {
        need_is_short();
    }
    pack->digit = array_alloc(groups * group, sizeof *pack->digit);
    pack->correction = array_alloc(corrections, sizeof *pack->correction);
    pack->bytes = (double)(groups * group + corrections) * sizeof *pack->digit;
    if (plan->threads <= 1) {
        for (size_t g = 0; g < groups; g++) {
            pack_b(&shape, pack, plan, g);
        }
        return;
    }
#pragma omp parallel for num_threads(plan->threads)
    for (size_t g = 0; g < groups; g++) {
        pack_b(&shape, pack, plan, g);
    }
}

void wide_multiply(const Plan *plan)
{
    Shape shape = shape_of(plan);
    kept_pack(&shape.pack, &plan->b, make_pack, plan);
    store_each(plan, &shape, plan->m, ROWS_AT_ONCE, multiply_rows);
    pack_clear(&shape.pack);
}
