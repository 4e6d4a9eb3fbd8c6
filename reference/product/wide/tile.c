/*
 * The innermost loops: blocks of multiply-adds of 52-bit digits, carries, joins.
 */
#include "tile.h"

/* The two factors: digits of a and of b, in products of so many terms. */
typedef struct {
    Digits a, b;
    size_t depth;
} Factors;

/* `rows` rows, na x nb digits, the first `kept` columns.  Called with constants alone, so that the
 * loops over rows and digits unroll and the sums stay in registers. */
INLINE void multiply(Tile *tile, const Factors *of, size_t row, const int rows, const int na,
                     const int nb, const int kept)
{
    const Digits *a = &of->a, *b = &of->b;
    const size_t depth = of->depth;
    Words sum[TILE_ROWS][2 * BLOCK];
    const size_t base = a->first + b->first + 1;
    const uint64_t *pa = a->digit + row * a->digits + a->first;
    const uint64_t *pb = b->digit + b->first * LANES;
#pragma GCC unroll 4
    for (int r = 0; r < rows; r++) {
#pragma GCC unroll 10
        for (int w = 0; w < kept; w++) {
            sum[r][w] = load(tile->sum[row + (size_t)r][base + (size_t)w]) +
                        sum_start(depth * pairs_of(w, na, nb), depth * pairs_of(w - 1, na, nb));
        }
    }
    for (size_t l = 0; l < depth; l++) {
        Words digit[BLOCK];
#pragma GCC unroll 5
        for (int j = 0; j < nb; j++) {
            digit[j] = load(pb + j * LANES);
        }
#pragma GCC unroll 5
        for (int i = 0; i < na; i++) {
#pragma GCC unroll 4
            for (int r = 0; r < rows; r++) {
                Words x = all(pa[(size_t)r * a->digits + (size_t)i]);
#pragma GCC unroll 5
                for (int j = 0; j < nb; j++) {
                    const int w = i + j;
                    if (w < kept) {
                        Words *low = w + 1 < kept ? &sum[r][w + 1] : NULL;
                        add_product(&sum[r][w], low, x, digit[j]);
                    }
                }
            }
        }
        pa += TILE_ROWS * a->digits;
        pb += LANES * b->digits;
    }
#pragma GCC unroll 4
    for (int r = 0; r < rows; r++) {
#pragma GCC unroll 10
        for (int w = 0; w < kept; w++) {
            store(tile->sum[row + (size_t)r][base + (size_t)w], sum[r][w]);
        }
    }
}

/* All rows at once while their sums fit the registers, else two, or each. */
INLINE void multiply_rows(Tile *tile, const Factors *of, const int na, const int nb, const int kept)
{
    const int left = REGISTERS - 2 - nb;
    const int rows = TILE_ROWS * kept <= left              ? TILE_ROWS
                     : REGISTERS >= 32 || 2 * kept <= left ? 2
                                                           : 1;
    for (size_t row = 0; row < TILE_ROWS; row += (size_t)rows) {
        multiply(tile, of, row, rows, na, nb, kept);
    }
}

/* The block's columns, as digits_block_columns counts them. */
INLINE void multiply_cut(Tile *tile, const Factors *of, const int na, const int nb, size_t kept)
{
    const int most = na > nb ? na : nb;
    size_t columns = digits_block_columns((size_t)na, (size_t)nb, kept);
    if (columns == (size_t)most) {
        multiply_rows(tile, of, na, nb, most);
    } else if (columns == (size_t)most + 1) {
        multiply_rows(tile, of, na, nb, most + 1);
    } else {
        multiply_rows(tile, of, na, nb, na + nb);
    }
}

/* One function for each count of a's digits. */
#define BLOCK_OF(na)                                                                               \
    static void block_##na(Tile *tile, const Factors *of, size_t kept)                             \
    {                                                                                              \
        switch (of->b.count) {                                                                     \
        case 1: multiply_cut(tile, of, na, 1, kept); break;                                        \
        case 2: multiply_cut(tile, of, na, 2, kept); break;                                        \
        case 3: multiply_cut(tile, of, na, 3, kept); break;                                        \
        case 4: multiply_cut(tile, of, na, 4, kept); break;                                        \
        default: multiply_cut(tile, of, na, 5, kept); break;                                       \
        }                                                                                          \
    }
BLOCK_OF(1)
BLOCK_OF(2)
BLOCK_OF(3)
BLOCK_OF(4)
BLOCK_OF(5)

/* The corner of a product cut off: two columns are left of it, at most. */
static void block_corner(Tile *tile, const Factors *of)
{
    multiply_rows(tile, of, 2, 2, 2);
}

void tile_multiply(Tile *tile, Digits a, Digits b, size_t depth, size_t kept)
{
    const Factors of = {a, b, depth};
    if (kept <= 2 && a.count >= 2 && b.count >= 2) {
        block_corner(tile, &of);
        return;
    }
    switch (a.count) {
    case 1: block_1(tile, &of, kept); break;
    case 2: block_2(tile, &of, kept); break;
    case 3: block_3(tile, &of, kept); break;
    case 4: block_4(tile, &of, kept); break;
    default: block_5(tile, &of, kept); break;
    }
}

/* Few, so that a call of memset, which compilers make of such a loop where they can, would take
 * longer. */
void tile_clear(Tile *tile, size_t columns)
{
    for (size_t r = 0; r < TILE_ROWS; r++) {
        for (size_t w = 0; w < columns; w++) {
            store(tile->sum[r][w], zero());
            __asm__("" : : : "memory");
        }
    }
}

/* One row's sums; shift(x) is the part of x above its digit. */
INLINE Words carry_row(uint64_t (*sum)[LANES], size_t columns, const bool has_sign)
{
    const Words mask = all(DIGIT_MASK);
    Words carry = zero();
    for (size_t w = columns; w-- > 1;) {
        Words x = load(sum[w]) + carry;
        carry = has_sign ? shift_right_signed(x, DIGIT) : x >> DIGIT;
        store(sum[w], x & mask);
    }
    Words top = load(sum[0]) + carry;
    store(sum[0], top);
    return top;
}

void tile_carry(Tile *tile, size_t columns)
{
    for (size_t r = 0; r < TILE_ROWS; r++) {
        carry_row(tile->sum[r], columns, false);
    }
}

/* Digits below 2^52, the most significant first, to limbs. */
INLINE void join_row(uint64_t (*limb)[LANES], uint64_t (*sum)[LANES], size_t columns)
{
    Words word = zero();
    size_t at = 0;
    unsigned filled = 0;
    for (size_t w = columns; w-- > 0;) {
        Words digit = load(sum[w]);
        word = word | (digit << filled);
        filled += DIGIT;
        if (filled >= 64) {
            filled -= 64;
            store(limb[at++], word);
            word = digit >> (DIGIT - filled);
        }
    }
    store(limb[at], word);
}

void tile_finish(TileResult *result, Tile *tile, size_t columns,
                 const int64_t (*a_correction)[TILE_COLUMNS], const int64_t *b_correction)
{
    for (size_t r = 0; r < TILE_ROWS; r++) {
        uint64_t(*sum)[LANES] = tile->sum[r];
        for (size_t w = 0; w < columns; w++) {
            Words x = load(sum[w]) - load(b_correction + w * LANES);
            x = x - all((uint64_t)a_correction[r][w]);
            store(sum[w], x);
        }
        Words top = carry_row(sum, columns, true);
        const Mask negative = less(top, zero());
        result->negative[r] = bits_of(negative);
        for (size_t w = 0; w < columns; w++) {
            Words x = load(sum[w]);
            store(sum[w], select(negative, zero() - x, x));
        }
        carry_row(sum, columns, true);
        join_row(result->limb[r], sum, columns);
    }
}
