/*
 * A row of a tile of C: carried, its signs taken, rounded and stored, in registers all
 * the way.
 *
 * What tile_finish and round_integers do to any tile is done here for numbers of a few whole limbs
 * and sums of a few columns, with counts that are constants.
 */
#include "tile_row.h"

#include "add.h"

#include <string.h>

_Static_assert((int)ROW_LIMBS == (int)LIMBS_MOST, "Lanes hold what is stored");

typedef int16_t Guards __attribute__((vector_size(2 * LANES)));
typedef int64_t Integers __attribute__((vector_size(8 * LANES)));

/* Sums of digits less the corrections, carried: digits below 2^52 of the magnitude, column 0 above
 * them; returns the lanes that are negative.  Columns beyond the tile's are 0. */
INLINE Mask magnitudes(Words *x, const TileRow *sum, const TilePlace *row, const int columns)
{
    const Words mask = all(DIGIT_MASK);
    UNROLL
    for (int w = 0; w < columns; w++) {
        x[w] = zero();
        if ((size_t)w < row->columns) {
            x[w] = load(sum[w]) - load(row->b_correction + w * LANES);
            x[w] = x[w] - all((uint64_t)(*row->a_correction)[w]);
        }
    }
    UNROLL
    for (int w = columns - 1; w > 0; w--) {
        x[w - 1] = x[w - 1] + shift_right_signed(x[w], DIGIT);
        x[w] = x[w] & mask;
    }
    Mask negative = less(x[0], zero()), carry = negative;
    UNROLL
    for (int w = columns - 1; w > 0; w--) { /* -x = ~x + 1, which goes up as long as x is 0 */
        Mask none = is_zero(x[w]);
        x[w] = select(negative, x[w] ^ mask, x[w]);
        x[w] = select(carry, x[w] + all(1), x[w]) & mask;
        carry &= none;
    }
    x[0] = select(negative, x[0] ^ all(UINT64_MAX), x[0]);
    x[0] = select(carry, x[0] + all(1), x[0]);
    return negative;
}

/* Bits [64 i, 64 i + 64) of a string of digits. */
INLINE Words word_at(const Words *x, const int columns, const int i)
{
    Words word = zero();
    UNROLL
    for (int w = 0; w < columns; w++) {
        const int up = 64 * (i + 1) - DIGIT * (w + 1); /* of the digit's lowest bit */
        if (up >= 0 && up < 64) {
            word = word | (x[w] << ((unsigned)up));
        } else if (up < 0 && up > -DIGIT) {
            word = word | (x[w] >> ((unsigned)-up));
        }
    }
    return word;
}

/* Not 0 where any bit below bit `first` of the string is set. */
INLINE Words left_below(const Words *x, const int columns, const int first)
{
    Words rest = zero();
    UNROLL
    for (int w = 0; w < columns; w++) {
        const int left = DIGIT * (w + 1) - first; /* bits of the digit below it */
        if (left >= DIGIT) {
            rest = rest | x[w];
        } else if (left > 0) {
            rest = rest | (x[w] << ((unsigned)(64 - left)));
        }
    }
    return rest;
}

/* Moves digits up by one where the highest is 0; returns by how many bits the highest one then is
 * below 2^52, and in *exponent that of the bit before it in 0.x 2^52. */
INLINE Words move_up(Words *x, const int columns, Words *exponent)
{
    Mask moves = is_zero(x[0]);
    if (any(moves)) {
        UNROLL
        for (int w = 0; w < columns; w++) {
            x[w] = select(moves, w + 1 < columns ? x[w + 1] : zero(), x[w]);
        }
    }
    Words up = leading_zeros(x[0]) - all(64 - DIGIT);
    *exponent = all(DIGIT) - up;
    *exponent = select(moves, (*exponent) - all(DIGIT), *exponent);
    return up;
}

/* limb = the first `size` words of the string shifted to the left by `up`, the least significant
 * first; returns the word behind them, which is not. */
INLINE Words first_words(Words *limb, const Words *x, const int columns, Words up, const int size)
{
    const Words down = all(64) - up; /* a shift by 64 gives 0 */
    Words next = word_at(x, columns, 0);
    UNROLL
    for (int i = 0; i < size; i++) {
        Words word = next;
        next = word_at(x, columns, i + 1);
        limb[size - 1 - i] = (shift_left(word, up) | shift_right(next, down));
    }
    return next;
}

/* y = 0.x 2^52 rounded to n limbs; returns the lanes whose two highest digits are not both 0. */
INLINE Mask round_digits(Lanes *y, Words *x, const int columns, const int n)
{
    Words up = move_up(x, columns, &y->exponent);
    Words next = first_words(y->limb, x, columns, up, n), after = word_at(x, columns, n + 1);
    Words rest = shift_left(next, up) | shift_right(after, all(64) - up);
    Words lost = shift_left(after, up) | left_below(x, columns, 64 * (n + 2));
    Mask carry = round_words(y->limb, n, all(1), rest, lost);
    y->exponent = select(carry, y->exponent + all(1), y->exponent);
    return is_not_zero(x[0]);
}

/* Limbs that hold so many digits, and all of the string that they are. */
#define WHOLE(columns) (((columns)*DIGIT + 63) / 64)

/* limb = 0.x 2^52, all of it, the least significant limb first; returns the same lanes. */
INLINE Mask whole_digits(Words *limb, Words *exponent, Words *x, const int columns)
{
    Words up = move_up(x, columns, exponent);
    (void)first_words(limb, x, columns, up, WHOLE(columns));
    return is_not_zero(x[0]);
}

/* Entries that the plan leaves to the loop. */
INLINE Mask by_loop(const Plan *plan, size_t i, size_t j)
{
    if (plan->guard != NULL && plan->n - j >= LANES) {
        Guards guard;
        memcpy(&guard, plan->guard + i * plan->n + j, sizeof guard);
        Words bits = (Words) __builtin_convertvector(guard, Integers);
        return less(all((uint64_t)plan->level), bits);
    }
    unsigned loops = 0;
    for (size_t lane = 0; j + lane < plan->n && lane < LANES; lane++) {
        loops |= (unsigned)plan_by_loop(plan, i, j + lane) << lane;
    }
    return mask_of(loops);
}

/* Exponents that are not near an end of MPFR's range. */
INLINE Mask inside(const TilePlace *row, Words exponent)
{
    Mask there = less(all((uint64_t)row->range.emin), exponent);
    return there & less(exponent, all((uint64_t)row->range.emax));
}

/* Takes the lines' exponents in, and those of the scale of alpha; returns the lanes that can be
 * stored as they are. */
INLINE Mask scale(Words *exponent, const TilePlace *row, size_t lanes)
{
    const Plan *plan = row->plan;
    if (plan->a.exponent[row->i] == LINE_ZERO) {
        return all_lanes(false);
    }
    Words b = load_some(plan->b.exponent + row->j, lanes);
    Mask there = first_lanes(lanes) & not(equal(b, all((uint64_t)LINE_ZERO)));
    *exponent = (*exponent) + b;
    *exponent = (*exponent) + all((uint64_t)(plan->a.exponent[row->i] + 2));
    return there & inside(row, *exponent) & not(by_loop(plan, row->i, row->j));
}

/* Are LANES numbers neighbours in memory, headers and limbs? */
INLINE bool are_beside(const Plan *plan, size_t j, mpfr_srcptr first, const int n)
{
    return plan->column_at[j + LANES - 1] - plan->column_at[j] == LANES - 1 &&
           every(have_limbs_beside(first, LANES, n));
}

/* Lanes alone. */
INLINE void store_lanes(const TilePlace *row, const Lanes *y, Mask done, const int n)
{
    uint64_t limb[LIMBS_MOST][LANES];
    int64_t exponent[LANES];
    store(exponent, y->exponent);
    UNROLL
    for (int i = 0; i < n; i++) {
        store(limb[i], y->limb[i]);
    }
    for (size_t lane = 0; lane < LANES; lane++) {
        if ((bits_of(done) >> lane & 1) != 0) {
            mpfr_ptr c = plan_entry(row->plan, row->i, row->j + lane);
            for (int i = 0; i < n; i++) {
                ((mp_limb_t *)mpfr_custom_get_significand(c))[i] = limb[i][lane];
            }
            put(c, (bits_of(y->negative) >> lane & 1) != 0, exponent[lane]);
        }
    }
}

INLINE unsigned store_row(const TileRow *sum, const TilePlace *row, const int columns, const int n)
{
    size_t left = row->plan->n - row->j;
    Words x[ROW_COLUMNS];
    Lanes y;
    y.negative = magnitudes(x, sum, row, columns);
    Mask done = round_digits(&y, x, columns, n);
    done &= scale(&y.exponent, row, left < LANES ? left : LANES);
    mpfr_ptr first = plan_entry(row->plan, row->i, row->j);
    if (every(done) && are_beside(row->plan, row->j, first, n)) {
        store_numbers(first, &y, n);
    } else {
        store_lanes(row, &y, done, n);
    }
    return bits_of(done);
}

/* Adds to eight entries that are plain numbers, all of them or none. */
INLINE unsigned add_row(const TileRow *sum, const TilePlace *row, const int columns, const int n)
{
    const int size = WHOLE(columns);
    mpfr_ptr first = plan_entry(row->plan, row->i, row->j);
    Words x[ROW_COLUMNS], limb[ADDEND_LIMBS], old[ADDEND_LIMBS];
    Lanes c, whole;
    if (row->plan->n - row->j < LANES || !are_beside(row->plan, row->j, first, n) ||
        !every(load_row(&c, first, n, n)) || any(are_zero(&c))) {
        return 0;
    }
    Addend y = {.limb = limb, .negative = magnitudes(x, sum, row, columns)};
    Mask done = whole_digits(limb, &y.exponent, x, columns);
    done &= scale(&y.exponent, row, LANES);
    UNROLL
    for (int i = 0; i < size; i++) {
        old[i] = i < size - n ? zero() : c.limb[i - (size - n)];
    }
    add_numbers(&whole, (Addend){c.exponent, old, c.negative}, y, size, n);
    if (!every(done & (inside(row, whole.exponent) | are_zero(&whole)))) {
        return 0;
    }
    store_numbers(first, &whole, n);
    return (1U << LANES) - 1;
}

/* Each with constants: a count of columns, rounded up, and one of limbs. */
#define ROW_OF(name, columns, n)                                                                   \
    static unsigned name##_##columns##_##n(const TileRow *sum, const TilePlace *row)               \
    {                                                                                              \
        return name##_row(sum, row, columns, n);                                                   \
    }
#define ROWS_OF(name, columns)                                                                     \
    ROW_OF(name, columns, 1)                                                                       \
    ROW_OF(name, columns, 2)                                                                       \
    ROW_OF(name, columns, 3)                                                                       \
    ROW_OF(name, columns, 4)
ROWS_OF(store, 4)
ROWS_OF(store, 6)
ROWS_OF(store, 8)
ROWS_OF(store, 10)
ROWS_OF(add, 4)
ROWS_OF(add, 6)
ROWS_OF(add, 8)

typedef unsigned StoreRow(const TileRow *sum, const TilePlace *row);

unsigned tile_store_row(const TileRow *sum, const TilePlace *row, bool add)
{
#define FORMS(name, columns)                                                                       \
    {                                                                                              \
        name##_##columns##_1, name##_##columns##_2, name##_##columns##_3, name##_##columns##_4     \
    }
    static StoreRow *const rows[][LIMBS_MOST] = {FORMS(store, 4), FORMS(store, 6), FORMS(store, 8),
                                                 FORMS(store, 10)};
    static StoreRow *const sums[][LIMBS_MOST] = {FORMS(add, 4), FORMS(add, 6), FORMS(add, 8)};
#undef FORMS
    if (!digits_store_rows(row->plan, row->columns, add)) {
        return 0;
    }
    size_t half = (row->columns + 1) / 2, limbs = (size_t)mpfr_get_prec(row->plan->c.entry) / 64;
    return (add ? sums : rows)[half < 2 ? 0 : half - 2][limbs - 1](sum, row);
}
