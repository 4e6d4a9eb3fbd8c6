/*
 * A row of a tile of C on AVX-512: carried, its signs taken, rounded and stored, in registers all
 * the way.
 *
 * What ifma_finish and ifma_round do to any tile is done here for numbers of a few whole limbs and
 * sums of a few columns, with counts that are constants.
 */
#include "ifma_row.h"

#ifdef __x86_64__

#include "lanes_add.h"

enum { DIGIT = 52 };
_Static_assert((int)IFMA_ROW_LIMBS == (int)LIMBS_MOST, "an Eight holds what is stored");

/* Entries (i, j) to (i, j + 7) of C, those that there are. */
typedef struct {
    const Plan *plan;
    Range range;
    size_t i, j;
    const uint64_t (*sum)[IFMA_LANES];
    const int64_t *a_correction, *b_correction;
    size_t columns;
} Row;

/* Sums of digits less the corrections, carried: digits below 2^52 of the magnitude, column 0 above
 * them; returns the lanes that are negative.  Columns beyond the tile's are 0. */
EIGHT __mmask8 magnitudes(__m512i *x, const Row *row, const int columns)
{
    const __m512i mask = all(IFMA_MASK);
    UNROLL
    for (int w = 0; w < columns; w++) {
        x[w] = zero();
        if ((size_t)w < row->columns) {
            x[w] = _mm512_sub_epi64(_mm512_load_si512(row->sum[w]),
                                    _mm512_loadu_si512(row->b_correction + w * LANES));
            x[w] = _mm512_sub_epi64(x[w], all((uint64_t)row->a_correction[w]));
        }
    }
    UNROLL
    for (int w = columns - 1; w > 0; w--) {
        x[w - 1] = _mm512_add_epi64(x[w - 1], _mm512_srai_epi64(x[w], DIGIT));
        x[w] = _mm512_and_si512(x[w], mask);
    }
    __mmask8 negative = _mm512_cmplt_epi64_mask(x[0], zero()), carry = negative;
    UNROLL
    for (int w = columns - 1; w > 0; w--) { /* -x = ~x + 1, which goes up as long as x is 0 */
        __mmask8 none = _mm512_testn_epi64_mask(x[w], x[w]);
        x[w] = _mm512_mask_xor_epi64(x[w], negative, x[w], mask);
        x[w] = _mm512_and_si512(_mm512_mask_add_epi64(x[w], carry, x[w], all(1)), mask);
        carry &= none;
    }
    x[0] = _mm512_mask_xor_epi64(x[0], negative, x[0], all(UINT64_MAX));
    x[0] = _mm512_mask_add_epi64(x[0], carry, x[0], all(1));
    return negative;
}

/* Bits [64 i, 64 i + 64) of a string of digits. */
EIGHT __m512i word_at(const __m512i *x, const int columns, const int i)
{
    __m512i word = zero();
    UNROLL
    for (int w = 0; w < columns; w++) {
        const int up = 64 * (i + 1) - DIGIT * (w + 1); /* of the digit's lowest bit */
        if (up >= 0 && up < 64) {
            word = _mm512_or_si512(word, _mm512_slli_epi64(x[w], (unsigned)up));
        } else if (up < 0 && up > -DIGIT) {
            word = _mm512_or_si512(word, _mm512_srli_epi64(x[w], (unsigned)-up));
        }
    }
    return word;
}

/* What lies below bit `first` of the string: not 0 where anything does. */
EIGHT __m512i below(const __m512i *x, const int columns, const int first)
{
    __m512i rest = zero();
    UNROLL
    for (int w = 0; w < columns; w++) {
        const int left = DIGIT * (w + 1) - first; /* bits of the digit below it */
        if (left >= DIGIT) {
            rest = _mm512_or_si512(rest, x[w]);
        } else if (left > 0) {
            rest = _mm512_or_si512(rest, _mm512_slli_epi64(x[w], (unsigned)(64 - left)));
        }
    }
    return rest;
}

/* Moves digits up by one where the highest is 0; returns by how many bits the highest one then is
 * below 2^52, and in *exponent that of the bit before it in 0.x 2^52. */
EIGHT __m512i move_up(__m512i *x, const int columns, __m512i *exponent)
{
    __mmask8 moves = _mm512_testn_epi64_mask(x[0], x[0]);
    if (moves != 0) {
        UNROLL
        for (int w = 0; w < columns; w++) {
            x[w] = _mm512_mask_mov_epi64(x[w], moves, w + 1 < columns ? x[w + 1] : zero());
        }
    }
    __m512i up = _mm512_sub_epi64(_mm512_lzcnt_epi64(x[0]), all(64 - DIGIT));
    *exponent = _mm512_sub_epi64(all(DIGIT), up);
    *exponent = _mm512_mask_sub_epi64(*exponent, moves, *exponent, all(DIGIT));
    return up;
}

/* y = 0.x 2^52 rounded to n limbs; returns the lanes whose two highest digits are not both 0. */
EIGHT __mmask8 round_digits(Eight *y, __m512i *x, const int columns, const int n)
{
    const __m512i half = all((uint64_t)1 << 63);
    __m512i up = move_up(x, columns, &y->exponent);
    __m512i down = _mm512_sub_epi64(all(64), up), next = word_at(x, columns, 0);
    UNROLL
    for (int i = 0; i < n; i++) { /* a shift by 64 gives 0 */
        __m512i word = next;
        next = word_at(x, columns, i + 1);
        y->limb[n - 1 - i] =
            _mm512_or_si512(_mm512_sllv_epi64(word, up), _mm512_srlv_epi64(next, down));
    }
    __m512i after = word_at(x, columns, n + 1);
    __m512i rest = _mm512_or_si512(_mm512_sllv_epi64(next, up), _mm512_srlv_epi64(after, down));
    __m512i lost = _mm512_or_si512(_mm512_sllv_epi64(after, up), below(x, columns, 64 * (n + 2)));
    __mmask8 carry = _mm512_cmpgt_epu64_mask(rest, half);
    carry |= _mm512_cmpeq_epi64_mask(rest, half) &
             (_mm512_test_epi64_mask(lost, lost) | _mm512_test_epi64_mask(y->limb[0], all(1)));
    UNROLL
    for (int i = 0; i < n; i++) {
        y->limb[i] = _mm512_mask_add_epi64(y->limb[i], carry, y->limb[i], all(1));
        carry &= _mm512_testn_epi64_mask(y->limb[i], y->limb[i]);
    }
    y->limb[n - 1] = _mm512_mask_mov_epi64(y->limb[n - 1], carry, half);
    y->exponent = _mm512_mask_add_epi64(y->exponent, carry, y->exponent, all(1));
    return _mm512_test_epi64_mask(x[0], x[0]);
}

/* Limbs that hold so many digits, and all of the string that they are. */
#define WHOLE(columns) (((columns)*DIGIT + 63) / 64)

/* limb = 0.x 2^52, all of it, the least significant limb first; returns the same lanes. */
EIGHT __mmask8 whole_digits(__m512i *limb, __m512i *exponent, __m512i *x, const int columns)
{
    const int size = WHOLE(columns);
    __m512i up = move_up(x, columns, exponent), down = _mm512_sub_epi64(all(64), up);
    __m512i next = word_at(x, columns, 0);
    UNROLL
    for (int i = 0; i < size; i++) {
        __m512i word = next;
        next = word_at(x, columns, i + 1);
        limb[size - 1 - i] =
            _mm512_or_si512(_mm512_sllv_epi64(word, up), _mm512_srlv_epi64(next, down));
    }
    return _mm512_test_epi64_mask(x[0], x[0]);
}

/* Entries that the plan leaves to the loop. */
EIGHT __mmask8 by_loop(const Plan *plan, size_t i, size_t j)
{
    if (plan->guard != NULL && plan->n - j >= LANES) {
        __m128i guard = _mm_loadu_si128((const __m128i_u *)(plan->guard + i * plan->n + j));
        return _mm512_cmpgt_epi64_mask(_mm512_cvtepi16_epi64(guard), all((uint64_t)plan->level));
    }
    unsigned loops = 0;
    for (size_t lane = 0; j + lane < plan->n && lane < LANES; lane++) {
        loops |= (unsigned)plan_by_loop(plan, i, j + lane) << lane;
    }
    return (__mmask8)loops;
}

/* Exponents that are not near an end of MPFR's range. */
EIGHT __mmask8 inside(const Row *row, __m512i exponent)
{
    __mmask8 there = _mm512_cmpgt_epi64_mask(exponent, all((uint64_t)row->range.emin));
    return there & _mm512_cmplt_epi64_mask(exponent, all((uint64_t)row->range.emax));
}

/* Takes the lines' exponents in, and those of the scale of alpha; returns the lanes that can be
 * stored as they are. */
EIGHT __mmask8 scale(__m512i *exponent, const Row *row, __mmask8 there)
{
    const Plan *plan = row->plan;
    if (plan->a.exponent[row->i] == LINE_ZERO) {
        return 0;
    }
    __m512i b = _mm512_maskz_loadu_epi64(there, plan->b.exponent + row->j);
    there &= _mm512_cmpneq_epi64_mask(b, all((uint64_t)LINE_ZERO));
    *exponent = _mm512_add_epi64(*exponent, b);
    *exponent = _mm512_add_epi64(*exponent, all((uint64_t)(plan->a.exponent[row->i] + 2)));
    return there & inside(row, *exponent) & (__mmask8)~by_loop(plan, row->i, row->j);
}

/* Are eight numbers neighbours in memory, headers and limbs? */
EIGHT bool are_beside(const Plan *plan, size_t j, mpfr_srcptr first, const int n)
{
    enum { LIMBS = 0x88 };
    const long long bytes = n * (long long)sizeof(mp_limb_t);
    const __m512i step = _mm512_set_epi64(2 * bytes, 0, 0, 0, 2 * bytes, 0, 0, 0);
    long long limbs = (long long)(uintptr_t)mpfr_custom_get_significand(first);
    __m512i wanted = _mm512_set_epi64(limbs + bytes, 0, 0, 0, limbs, 0, 0, 0);
    unsigned same = LIMBS;
    if (plan->column_at[j + LANES - 1] - plan->column_at[j] != LANES - 1) {
        return false;
    }
    UNROLL
    for (int k = 0; k < HEADER; k++) {
        same &= _mm512_cmpeq_epi64_mask(_mm512_loadu_si512((const char *)first + 64 * k), wanted);
        wanted = _mm512_add_epi64(wanted, step);
    }
    return same == LIMBS;
}

/* Lanes alone. */
EIGHT void store_some(const Row *row, const Eight *y, __mmask8 done, const int n)
{
    uint64_t limb[LIMBS_MOST][LANES];
    int64_t exponent[LANES];
    _mm512_storeu_si512(exponent, y->exponent);
    UNROLL
    for (int i = 0; i < n; i++) {
        _mm512_storeu_si512(limb[i], y->limb[i]);
    }
    for (size_t lane = 0; lane < LANES; lane++) {
        if ((done >> lane & 1) != 0) {
            mpfr_ptr c = plan_entry(row->plan, row->i, row->j + lane);
            mp_limb_t *to = mpfr_custom_get_significand(c);
            for (int i = 0; i < n; i++) {
                to[i] = limb[i][lane];
            }
            mpfr_custom_init_set(
                c, (y->negative >> lane & 1) != 0 ? -MPFR_REGULAR_KIND : MPFR_REGULAR_KIND,
                exponent[lane], mpfr_get_prec(c), to);
        }
    }
}

EIGHT unsigned store_row(const Row *row, const int columns, const int n)
{
    size_t left = row->plan->n - row->j;
    __m512i x[IFMA_ROW_COLUMNS];
    Eight y;
    y.negative = magnitudes(x, row, columns);
    __mmask8 done = round_digits(&y, x, columns, n);
    done &= scale(&y.exponent, row, (__mmask8)(left < LANES ? (1U << left) - 1 : ALL));
    mpfr_ptr first = plan_entry(row->plan, row->i, row->j);
    if (done == ALL && are_beside(row->plan, row->j, first, n)) {
        store(first, &y, n);
    } else {
        store_some(row, &y, done, n);
    }
    return done;
}

/* Adds to eight entries that are plain numbers, all of them or none. */
EIGHT unsigned add_row(const Row *row, const int columns, const int n)
{
    const int size = WHOLE(columns);
    mpfr_ptr first = plan_entry(row->plan, row->i, row->j);
    __m512i x[IFMA_ROW_COLUMNS], limb[ADDEND_LIMBS], old[ADDEND_LIMBS];
    Eight c, sum;
    if (row->plan->n - row->j < LANES || !are_beside(row->plan, row->j, first, n) ||
        load_row(&c, first, n, n) != ALL || are_zero(&c) != 0) {
        return 0;
    }
    Addend y = {.limb = limb, .negative = magnitudes(x, row, columns)};
    __mmask8 done = whole_digits(limb, &y.exponent, x, columns);
    done &= scale(&y.exponent, row, ALL);
    UNROLL
    for (int i = 0; i < size; i++) {
        old[i] = i < size - n ? zero() : c.limb[i - (size - n)];
    }
    add_numbers(&sum, (Addend){c.exponent, old, c.negative}, y, size, n);
    if ((done & (inside(row, sum.exponent) | are_zero(&sum))) != ALL) {
        return 0;
    }
    store(first, &sum, n);
    return ALL;
}

/* Each with constants: a count of columns, rounded up, and one of limbs. */
#define ROW_OF(name, columns, n)                                                                   \
    EIGHTS static unsigned name##_##columns##_##n(const Row *row)                                  \
    {                                                                                              \
        return name##_row(row, columns, n);                                                        \
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

typedef unsigned StoreRow(const Row *row);

unsigned ifma_store_row(const Store *store, const IfmaTile *tile, const IfmaPlace *at, size_t r,
                        bool add)
{
#define FORMS(name, columns)                                                                       \
    {                                                                                              \
        name##_##columns##_1, name##_##columns##_2, name##_##columns##_3, name##_##columns##_4     \
    }
    static StoreRow *const rows[][LIMBS_MOST] = {FORMS(store, 4), FORMS(store, 6), FORMS(store, 8),
                                                 FORMS(store, 10)};
    static StoreRow *const sums[][LIMBS_MOST] = {FORMS(add, 4), FORMS(add, 6), FORMS(add, 8)};
#undef FORMS
    if (!ifma_stores_rows(at->plan, at->columns, add)) {
        return 0;
    }
    size_t half = (at->columns + 1) / 2, limbs = (size_t)mpfr_get_prec(at->plan->c.entry) / 64;
    Row row = {at->plan,     store->range,        at->i + r,        at->j,
               tile->sum[r], at->a_correction[r], at->b_correction, at->columns};
    return (add ? sums : rows)[half < 2 ? 0 : half - 2][limbs - 1](&row);
}

#endif
