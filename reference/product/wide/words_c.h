/*
 * The primitives of words.h in C, lane by lane: what they mean, for any machine.
 */
#ifndef HEADPROOF_REFERENCE_PRODUCT_WIDE_WORDS_C_H
#define HEADPROOF_REFERENCE_PRODUCT_WIDE_WORDS_C_H

enum { LANES = 2 };

typedef uint64_t Words __attribute__((vector_size(8 * LANES)));
typedef Words Mask; /* of all bits or of none */

/* y with y[lane] = an expression of `lane`. */
#define EACH_LANE(expression)                                                                      \
    Words y;                                                                                       \
    UNROLL                                                                                         \
    for (int lane = 0; lane < LANES; lane++) {                                                     \
        y[lane] = (expression);                                                                    \
    }                                                                                              \
    return y

INLINE Words all(uint64_t x)
{
    EACH_LANE(x);
}

INLINE Words load(const void *from)
{
    Words y;
    memcpy(&y, from, sizeof y);
    return y;
}

INLINE void store(void *to, Words x)
{
    memcpy(to, &x, sizeof x);
}

INLINE Words shift_left(Words x, Words by)
{
    EACH_LANE(by[lane] < 64 ? x[lane] << by[lane] : 0);
}

INLINE Words shift_right(Words x, Words by)
{
    EACH_LANE(by[lane] < 64 ? x[lane] >> by[lane] : 0);
}

INLINE Words shift_right_signed(Words x, unsigned by)
{
    EACH_LANE((uint64_t)((int64_t)x[lane] >> by));
}

INLINE Words leading_zeros(Words x)
{
    EACH_LANE(x[lane] == 0 ? 64 : (uint64_t)__builtin_clzll(x[lane]));
}

INLINE Mask mask_of(unsigned bits)
{
    EACH_LANE(-(uint64_t)(bits >> lane & 1));
}

INLINE unsigned bits_of(Mask m)
{
    unsigned bits = 0;
    for (int lane = 0; lane < LANES; lane++) {
        bits |= (unsigned)(m[lane] & 1) << lane;
    }
    return bits;
}

INLINE Mask not(Mask m)
{
    return ~m;
}

INLINE Mask equal(Words a, Words b)
{
    EACH_LANE(-(uint64_t)(a[lane] == b[lane]));
}

INLINE Mask is_zero(Words x)
{
    EACH_LANE(-(uint64_t)(x[lane] == 0));
}

INLINE Mask is_not_zero(Words x)
{
    EACH_LANE(-(uint64_t)(x[lane] != 0));
}

INLINE Mask less(Words a, Words b)
{
    EACH_LANE(-(uint64_t)((int64_t)a[lane] < (int64_t)b[lane]));
}

INLINE Mask below(Words a, Words b)
{
    EACH_LANE(-(uint64_t)(a[lane] < b[lane]));
}

INLINE Words select(Mask m, Words a, Words b)
{
    return (m & a) | (~m & b);
}

INLINE Words keep(Mask m, Words x)
{
    return m & x;
}

/* Word i of memory of any type. */
INLINE uint64_t memory_word(const void *from, uint64_t i)
{
    uint64_t word;
    memcpy(&word, (const char *)from + sizeof word * i, sizeof word);
    return word;
}

INLINE Words look_up(const void *table, Words index)
{
    EACH_LANE(memory_word(table, index[lane]));
}

INLINE Words load_some(const void *from, size_t lanes)
{
    EACH_LANE((size_t)lane < lanes ? memory_word(from, (uint64_t)lane) : 0);
}

INLINE Words load_part(const uint64_t *from, const int words, const int part, size_t lanes)
{
    EACH_LANE((size_t)lane < lanes ? memory_word(from, (uint64_t)(lane * words + part)) : 0);
}

INLINE void store_parts(uint64_t *to, const Words *x, const int words)
{
    for (int part = 0; part < words; part++) {
        for (int lane = 0; lane < LANES; lane++) {
            to[lane * words + part] = x[part][lane];
        }
    }
}

INLINE void load_middle(Words *x1, Words *x2, const uint64_t *from)
{
    *x1 = load_part(from, 4, 1, LANES);
    *x2 = load_part(from, 4, 2, LANES);
}

INLINE void store_middle(uint64_t *to, Words x1, Words x2)
{
    for (int lane = 0; lane < LANES; lane++) {
        uint64_t pair[2] = {x1[lane], x2[lane]};
        memcpy(to + 4 * lane + 1, pair, sizeof pair);
    }
}

INLINE void add_product(Words *high, Words *low, Words a, Words b)
{
    Words h = {0}, l = {0};
    UNROLL
    for (int lane = 0; lane < LANES; lane++) {
        Wide product = (Wide)a[lane] * b[lane];
        h[lane] = (uint64_t)(product >> DIGIT);
        l[lane] = (uint64_t)product & DIGIT_MASK;
    }
    if (high != NULL) {
        *high += h;
    }
    if (low != NULL) {
        *low += l;
    }
}

#endif
