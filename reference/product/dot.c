/*
 * Dot products of limbs, entry by entry, each rounded once.
 *
 * The terms of an entry of C are multiplied exactly and added in a window of W limbs, a number in
 * two's complement.  With 2^E above the largest term, the window's top holds any sum of k terms
 * below 2^E and a sign; what lies below its lowest bit is cut off each term's magnitude.  Nothing
 * is measured, packed or scaled beforehand, and no spread of magnitudes needs another way.  The
 * bound is in docs/certify.md.
 */
#include "dot.h"

#include "../../memory/need.h"
#include "entry.h"
#include "store.h"

#include <stdlib.h>

/* FEW: limbs of an operand that have a form of their own. */
enum { LINES_AT_ONCE = 16, FEW = 4 };

/* A zero's exponent: below that of any product of numbers, and two of them fit a long. */
#define ZERO_EXPONENT (-(1L << 62))

/* Bits above 2^E: k terms and a sign. */
static unsigned head_bits(size_t k)
{
    return k == 0 ? 1 : 65 - (unsigned)__builtin_clzl(k);
}

size_t dot_limbs(const Plan *plan)
{
    return ((size_t)plan->precision + 3 + head_bits(plan->k) + 63) / 64;
}

/* An operand's lines, decoded: entry[line][position].  most: limbs of the longest entry; count: of
 * every entry but zeros, or 0 where they differ. */
typedef struct {
    Entry *entry;
    size_t most, count;
} Lines;

static void lines_open(Lines *lines, const Operand *o)
{
    size_t entries = 0;
    if (__builtin_mul_overflow(o->lines, o->depth, &entries)) {
        need_is_short();
    }
    lines->entry = need_room(entries, sizeof *lines->entry);
}

/* Lengths of entries that are not 0, the shortest and the longest. */
typedef struct {
    size_t least, most;
} Lengths;

/* false: not finite, or its exponent is too large. */
static inline bool decode_entry(Lines *lines, Lengths *lengths, const Operand *o, size_t i,
                                size_t l)
{
    Entry *to = lines->entry + i * o->depth + l;
    bool finite = entry_load(to, o, o->line_at[i] + o->depth_at[l]);
    if (to->count == 0) {
        to->exponent = ZERO_EXPONENT;
        return finite;
    }
    lengths->least = to->count < lengths->least ? to->count : lengths->least;
    lengths->most = to->count > lengths->most ? to->count : lengths->most;
    return finite && labs(to->exponent) < EXPONENT_LIMIT;
}

/* Some lines, in the order of memory; false: an entry cannot be summed here. */
static bool decode_lines(Lines *lines, Lengths *lengths, const Operand *o, size_t first, size_t end)
{
    bool done = true;
    for (size_t i = first; done && !o->depth_major && i < end; i++) {
        for (size_t l = 0; done && l < o->depth; l++) {
            done = decode_entry(lines, lengths, o, i, l);
        }
    }
    for (size_t l = 0; done && o->depth_major && l < o->depth; l++) {
        for (size_t i = first; done && i < end; i++) {
            done = decode_entry(lines, lengths, o, i, l);
        }
    }
    return done;
}

static bool decode(Lines *lines, const Operand *o, int threads)
{
    const size_t blocks = (o->lines + LINES_AT_ONCE - 1) / LINES_AT_ONCE;
    size_t least = SIZE_MAX, most = 0;
    bool done = true;
    if (threads <= 1 || blocks == 1) { /* a region of one thread takes as long as a small product */
        Lengths all = {SIZE_MAX, 0};
        done = decode_lines(lines, &all, o, 0, o->lines);
        least = all.least, most = all.most;
    } else {
#pragma omp parallel for num_threads(threads) reduction(&& : done) reduction(min : least)          \
    reduction(max : most)
        for (size_t b = 0; b < blocks; b++) {
            size_t first = b * LINES_AT_ONCE, left = o->lines - first;
            Lengths own = {SIZE_MAX, 0};
            done = decode_lines(lines, &own, o, first,
                                first + (left < LINES_AT_ONCE ? left : LINES_AT_ONCE)) &&
                   done;
            least = own.least < least ? own.least : least;
            most = own.most > most ? own.most : most;
        }
    }
    lines->most = most;
    lines->count = least == most ? most : 0;
    return done;
}

/* A thread's scratch. */
typedef struct {
    mp_limb_t *sum;     /* [limbs] the window, the least significant limb first */
    mp_limb_t *product; /* zeros, a term's limbs, zeros: `limbs` of them on either side, and 1 */
    size_t limbs;
    size_t length; /* limbs of a term for which the zeros stand */
    unsigned head;
    Range range; /* MPFR's */
} Window;

static inline void multiply(mp_limb_t *to, const Entry *a, const Entry *b)
{
    if (a->count >= b->count) {
        mpn_mul(to, a->limb, (mp_size_t)a->count, b->limb, (mp_size_t)b->count);
    } else {
        mpn_mul(to, b->limb, (mp_size_t)b->count, a->limb, (mp_size_t)a->count);
    }
}

/* sum += (-1)^negative of words from[i] shifted down by so many bits, less than 64. */
INLINE void add_words(mp_limb_t *sum, const mp_limb_t *from, unsigned shift, bool negative,
                      const size_t limbs)
{
    const mp_limb_t flip = -(mp_limb_t)negative;
    mp_limb_t carry = negative;
    UNROLL
    for (size_t i = 0; i < limbs; i++) {
        mp_limb_t word = from[i] >> shift | from[i + 1] << 1 << (63 - shift);
        Wide x = (Wide)sum[i] + (word ^ flip) + carry;
        sum[i] = (mp_limb_t)x;
        carry = (mp_limb_t)(x >> 64);
    }
}

static void clear_around(Window *w, size_t length)
{
    memset(w->product, 0, (2 * w->limbs + length + 1) * sizeof *w->product);
    w->length = length;
}

/* The largest exponent of a term. */
static mpfr_exp_t top_exponent(const Entry *a, const Entry *b, size_t k)
{
    mpfr_exp_t top = LONG_MIN;
    for (size_t l = 0; l < k; l++) {
        mpfr_exp_t exponent = a[l].exponent + b[l].exponent;
        top = exponent > top ? exponent : top;
    }
    return top;
}

/* A term of na and nb limbs, its top `down` < 64 bits below the window's: all in registers. */
INLINE void add_near(mp_limb_t *sum, const Entry *a, const Entry *b, unsigned down, const size_t na,
                     const size_t nb, const size_t limbs)
{
    mp_limb_t product[2 * FEW], from[2 * FEW + 1];
    multiply_few(product, a->limb, b->limb, na, nb);
    UNROLL
    for (size_t i = 0; i <= limbs; i++) { /* limb `limbs - 1` is the highest */
        bool there = i + na + nb >= limbs && i < limbs;
        from[i] = there ? product[there ? i + na + nb - limbs : 0] : 0;
    }
    add_words(sum, from, down, a->negative != b->negative, limbs);
}

/* The terms a[l] b[l] of an entry of C, none of whose exponents is above top. */
typedef struct {
    const Entry *a, *b;
    size_t k;
    mpfr_exp_t top;
} Terms;

/* The window's sum; na, nb, limbs: constants, or 0 for any. */
INLINE void sum_terms(Window *w, const Terms *terms, const size_t na, const size_t nb,
                      const size_t limbs)
{
    const Entry *a = terms->a, *b = terms->b;
    const size_t k = terms->k;
    const mpfr_exp_t top = terms->top;
    const size_t size = limbs != 0 ? limbs : w->limbs;
    mp_limb_t few[FEW + 1] = {0}, *sum = limbs != 0 ? few : w->sum;
    for (size_t l = 0; l < k; l++) {
        unsigned long down =
            w->head + (unsigned long)top - (unsigned long)(a[l].exponent + b[l].exponent);
        if (limbs != 0 && down < 64) {
            add_near(sum, a + l, b + l, (unsigned)down, na, nb, limbs);
            continue;
        }
        if (down >= 64 * size) {
            continue; /* zero, or below the window */
        }
        size_t length = a[l].count + b[l].count;
        if (length != w->length) {
            clear_around(w, length);
        }
        multiply(w->product + size, a + l, b + l);
        add_words(sum, w->product + length + down / 64, (unsigned)(down % 64),
                  a[l].negative != b[l].negative, size);
    }
    if (limbs != 0) {
        memcpy(w->sum, few, limbs * sizeof *few);
    }
}

typedef struct {
    Lines a, b; /* rows of A, columns of B */
    bool by_columns;
} Dot;

/* sum_terms for the counts of limbs that common precisions have. */
static void sum_any(Window *w, const Dot *dot, const Terms *terms)
{
#define CASE(na, nb, limbs)                                                                        \
    case COUNTS(na, nb, limbs): sum_terms(w, terms, na, nb, limbs); break
    bool few = dot->a.count < 10 && dot->b.count < 10 && w->limbs < 10;
    switch (few ? COUNTS(dot->a.count, dot->b.count, w->limbs) : 0) {
        CASE(1, 1, 2);
        CASE(2, 1, 3);
        CASE(1, 2, 3);
        CASE(2, 2, 3);
        CASE(3, 3, 4);
        CASE(4, 1, 5);
        CASE(1, 4, 5);
        CASE(4, 4, 5);
    default: memset(w->sum, 0, w->limbs * sizeof *w->sum); sum_terms(w, terms, 0, 0, 0);
    }
#undef CASE
}

static void sum_entry(Window *w, const Plan *plan, const Dot *dot, size_t i, size_t j)
{
    const Entry *a = dot->a.entry + i * plan->k, *b = dot->b.entry + j * plan->k;
    const Terms terms = {a, b, plan->k, top_exponent(a, b, plan->k)};
    if (terms.top < ZERO_EXPONENT / 2) { /* zeros */
        store_scaled(w->range, plan, i, j, (ScaledInteger){0});
        return;
    }
    sum_any(w, dot, &terms);
    bool negative = w->sum[w->limbs - 1] >> 63 != 0;
    if (negative) {
        mpn_neg(w->sum, w->sum, (mp_size_t)w->limbs);
    }
    mpfr_exp_t unit = terms.top + w->head - 64 * (mpfr_exp_t)w->limbs;
    store_scaled(w->range, plan, i, j, (ScaledInteger){w->sum, w->limbs, negative, unit});
}

/* Rows [first, first + count) of C, or columns. */
static void multiply_lines(const Plan *plan, const void *shared, size_t first, size_t count)
{
    const Dot *dot = shared;
    size_t limbs = dot_limbs(plan), length = dot->a.most + dot->b.most;
    size_t rows = dot->by_columns ? plan->m : count, columns = dot->by_columns ? count : plan->n;
    mp_limb_t *room = need_room(3 * limbs + length + 1, sizeof *room);
    Window w = {.sum = room,
                .product = room + limbs,
                .limbs = limbs,
                .head = head_bits(plan->k),
                .range = store_range()};
    clear_around(&w, length);
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < columns; j++) {
            sum_entry(&w, plan, dot, dot->by_columns ? i : first + i,
                      dot->by_columns ? first + j : j);
        }
    }
    free(room);
}

bool dot_mul(const Plan *plan)
{
    Dot dot = {.by_columns = plan->m < plan->n};
    lines_open(&dot.a, &plan->a);
    lines_open(&dot.b, &plan->b);
    bool done = decode(&dot.a, &plan->a, plan->threads) && decode(&dot.b, &plan->b, plan->threads);
    if (done) {
        store_each(plan, &dot, dot.by_columns ? plan->n : plan->m, LINES_AT_ONCE, multiply_lines);
    }
    free(dot.a.entry);
    free(dot.b.entry);
    return done;
}
