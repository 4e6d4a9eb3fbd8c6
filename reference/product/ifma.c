/*
 * Products of fractions of 52-bit digits by AVX-512 IFMA.
 *
 * A scaled entry x in (-1, 1) is kept as alpha = x / 2 + 1/2 in [0, 1), cut off after D digits.
 * With eta = 1/2 for an operand that fits, and 1/2 - 2^(-52 D) / 2 for one that is cut off, so that
 * its error is centred, x is 2 (alpha - eta), and
 *
 *     sum_l x_l y_l = 4 (sum alpha beta - eta_b sum alpha - eta_a sum beta + k eta_a eta_b):
 *
 * signs cost one sum a line.  Of the product's columns those beyond K are not computed: halves of
 * products of digits, at most 2 min(D_a, D_b) a term in column K + 1 and each below 2^(-52 K), so
 * that less than 8 min(D_a, D_b) k 2^(-52 K) (1 + 2^-40) is lost of sum_l x_l y_l.
 */
#include "ifma.h"

#include "ifma_block.h"
#include "ifma_pack.h"
#include "ifma_store.h"
#include "internal.h"
#include "weights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DIGIT = 52, ROWS_AT_ONCE = 16 };

/* Digits that hold alpha for so many fraction bits of x. */
static size_t digits_for(mpfr_prec_t bits)
{
    return (size_t)bits / DIGIT + 1;
}

bool ifma_holds(mpfr_prec_t bits_a, mpfr_prec_t bits_b)
{
    return bits_a < DIGIT * IFMA_DIGITS && bits_b < DIGIT * IFMA_DIGITS;
}

/* Equal blocks of at most IFMA_BLOCK digits: [first, first + count) of block number i. */
static IfmaDigits digits_block(const uint64_t *digit, size_t digits, size_t i)
{
    size_t blocks = (digits - 1) / IFMA_BLOCK + 1, first = digits * i / blocks;
    return (IfmaDigits){digit, digits, first, digits * (i + 1) / blocks - first};
}

/* Instructions of ifma_block, a term and row; fewer in a corner of two columns, which the measured
 * nanoseconds do not know. */
static size_t block_multiplies(size_t na, size_t nb, size_t kept)
{
    size_t columns = ifma_block_columns(na, nb, kept), count = 0;
    for (size_t i = 0; i < na; i++) {
        for (size_t j = 0; j < nb; j++) {
            count += (size_t)(i + j < columns) + (i + j + 1 < columns);
        }
    }
    return count;
}

/* The columns that P bits need.  Operands may be off by 2^-(P + 1) and are, cut off after D digits,
 * by 2^(-52 D): where that is half as much, and what is lost beyond column D no more than the other
 * half, 2^-(P + 2) N_ij, D columns will do.  Else one more, of which less than 2^-12 is lost, as
 * min(D_a, D_b) is at most 24 and k below 2^32. */
static size_t columns_for(const Plan *plan, size_t fewer, mpfr_prec_t bits)
{
    size_t digits = digits_for(bits);
    long up = (long)bits + 2 - DIGIT * (long)digits;
    double lost = ldexp(8.5 * (double)fewer * (double)plan->k, (int)up);
    return up <= 0 && lost <= plan->least ? digits : digits + 1;
}

IfmaWork ifma_work(const Plan *plan, mpfr_prec_t bits_a, mpfr_prec_t bits_b, mpfr_prec_t bits)
{
    IfmaWork work = {.digits_a = digits_for(bits_a), .digits_b = digits_for(bits_b)};
    size_t full = work.digits_a + work.digits_b;
    size_t fewer = work.digits_a < work.digits_b ? work.digits_a : work.digits_b;
    bool exact = plan->short_a && plan->short_b;
    size_t columns = exact ? full : columns_for(plan, fewer, bits);
    work.kept = columns < full ? columns : full;
    /* A column takes two halves of each pair of digits on its diagonal; 4096 fill 64 bits. */
    work.depth = 2000 / fewer;
    for (size_t i = 0; i * IFMA_BLOCK < work.digits_a; i++) {
        IfmaDigits a = digits_block(NULL, work.digits_a, i);
        for (size_t j = 0; j * IFMA_BLOCK < work.digits_b; j++) {
            IfmaDigits b = digits_block(NULL, work.digits_b, j);
            if (a.first + b.first < work.kept) {
                work.blocks++;
                work.multiplies +=
                    block_multiplies(a.count, b.count, work.kept - a.first - b.first);
            }
        }
    }
    return work;
}

#ifdef __x86_64__

/* pack.digit: groups of lanes, each [k][digits_b][IFMA_LANES]; pack.correction: groups, each
 * [columns][IFMA_LANES], eta_a sum beta - k eta_a eta_b. */
typedef struct {
    size_t digits_a, digits_b, kept, depth; /* as in IfmaWork */
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
    memset(to, 0, IFMA_COLUMNS * sizeof *to);
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
    return (plan->n + IFMA_LANES - 1) / IFMA_LANES;
}

static Shape shape_of(const Plan *plan)
{
    IfmaWork work = ifma_work(plan, plan_bits_a(plan), plan_bits_b(plan), plan->bits);
    return (Shape){.digits_a = work.digits_a,
                   .digits_b = work.digits_b,
                   .kept = work.kept,
                   .depth = work.depth,
                   .columns = work.kept + 1,
                   .pack = {{work.digits_a, work.digits_b, work.kept, plan->short_a, plan->short_b},
                            NULL,
                            NULL,
                            0,
                            false}};
}

static void pack_b(const Shape *shape, const Pack *pack, const Plan *plan, size_t group)
{
    int64_t sum[IFMA_LANES][IFMA_COLUMNS], correction[IFMA_COLUMNS];
    IfmaPacking packing = {&plan->b, group * IFMA_LANES, IFMA_LANES, shape->digits_b,
                           true,     plan->short_b};
    ifma_pack(pack->digit + group * plan->k * shape->digits_b * IFMA_LANES, sum, &packing);
    int64_t *to = pack->correction + group * shape->columns * IFMA_LANES;
    for (size_t lane = 0; lane < IFMA_LANES; lane++) {
        correct(correction, shape, sum[lane], shape->digits_b, shape->digits_a, plan->short_a);
        add_constant(correction, shape, plan);
        for (size_t w = 0; w < shape->columns; w++) {
            to[w * IFMA_LANES + lane] = correction[w];
        }
    }
}

/* tile = sum over l of alpha beta, carried. */
static void multiply_tile(IfmaTile *tile, const Shape *shape, const uint64_t *a, const uint64_t *b,
                          size_t k)
{
    ifma_clear(tile, shape->digits_a + shape->digits_b + 1);
    for (size_t l = 0; l < k; l += shape->depth) {
        size_t depth = k - l < shape->depth ? k - l : shape->depth;
        for (size_t i = 0; i * IFMA_BLOCK < shape->digits_a; i++) {
            IfmaDigits da = digits_block(a + l * shape->digits_a * IFMA_ROWS, shape->digits_a, i);
            for (size_t j = 0; j * IFMA_BLOCK < shape->digits_b; j++) {
                IfmaDigits db =
                    digits_block(b + l * shape->digits_b * IFMA_LANES, shape->digits_b, j);
                if (da.first + db.first < shape->kept) {
                    ifma_block(tile, da, db, depth, shape->kept - da.first - db.first);
                }
            }
        }
        ifma_carry(tile, shape->digits_a + shape->digits_b + 1);
    }
}

/* A block of rows times every column. */
static bool multiply_rows(const Plan *plan, const void *shared, size_t first, size_t count)
{
    const Shape *shape = shared;
    size_t tiles = (count + IFMA_ROWS - 1) / IFMA_ROWS,
           step = plan->k * shape->digits_a * IFMA_ROWS;
    uint64_t *a = array_alloc(tiles * step, sizeof *a);
    IfmaWorkspace *work = array_alloc(1, sizeof *work);
    int64_t correction[ROWS_AT_ONCE][IFMA_COLUMNS], sum[IFMA_ROWS][IFMA_COLUMNS];
    if (a == NULL || work == NULL) {
        free(a);
        free(work);
        return false;
    }
    Store store;
    store_open(&store, plan);
    for (size_t t = 0; t < tiles; t++) {
        IfmaPacking packing = {&plan->a, first + t * IFMA_ROWS, IFMA_ROWS, shape->digits_a,
                               false,    plan->short_a};
        ifma_pack(a + t * step, sum, &packing);
        for (size_t r = 0; r < IFMA_ROWS; r++) {
            correct(correction[t * IFMA_ROWS + r], shape, sum[r], shape->digits_a, shape->digits_b,
                    plan->short_b);
        }
    }
    for (size_t group = 0; group * IFMA_LANES < plan->n; group++) {
        const uint64_t *b = shape->pack.digit + group * plan->k * shape->digits_b * IFMA_LANES;
        for (size_t t = 0; t < tiles; t++) {
            const IfmaPlace at = {plan,
                                  first + t * IFMA_ROWS,
                                  group * IFMA_LANES,
                                  shape->columns,
                                  (const int64_t(*)[IFMA_COLUMNS])correction + t * IFMA_ROWS,
                                  shape->pack.correction + group * shape->columns * IFMA_LANES};
            ifma_fetch_tile(&at);
            multiply_tile(&work->tile, shape, a + t * step, b, plan->k);
            ifma_store_tile(&store, work, &at);
        }
    }
    store_close(&store);
    free(a);
    free(work);
    return true;
}

/* B packed: a PackMaker. */
static bool make_pack(Pack *pack, const void *context)
{
    const Plan *plan = context;
    const Shape shape = shape_of(plan);
    size_t groups = lane_groups(plan), group = plan->k * shape.digits_b * IFMA_LANES;
    size_t corrections = groups * shape.columns * IFMA_LANES;
    if (groups > SIZE_MAX / (group + 1)) {
        return false;
    }
    pack->digit = array_alloc(groups * group, sizeof *pack->digit);
    pack->correction = array_alloc(corrections, sizeof *pack->correction);
    pack->bytes = (double)(groups * group + corrections) * sizeof *pack->digit;
    if (pack->digit == NULL || pack->correction == NULL) {
        return false;
    }
#pragma omp parallel for num_threads(plan->threads) if (plan->threads > 1)
    for (size_t g = 0; g < groups; g++) {
        pack_b(&shape, pack, plan, g);
    }
    return true;
}

bool ifma_mul(const Plan *plan)
{
    Shape shape = shape_of(plan);
    bool ok = kept_pack(&shape.pack, &plan->b, make_pack, plan) &&
              store_each_rows(plan, &shape, ROWS_AT_ONCE, multiply_rows);
    pack_clear(&shape.pack);
    return ok;
}

#else

bool ifma_mul(const Plan *plan)
{
    (void)plan;
    PRODUCT_CHECK(!"built for another CPU");
    return false;
}

#endif
