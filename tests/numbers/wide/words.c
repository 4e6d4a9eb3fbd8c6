/*
 * The primitives of a tier as functions of arrays.
 */
#include "../../../reference/product/wide/words.h"

#include "../tiered_words.h"

/* A vector of words in memory that is aligned as words are. */
static Words get(const uint64_t *x, size_t vector)
{
    return load(x + vector * LANES);
}

INLINE Words ones(Mask m)
{
    return keep(m, all(1));
}

#define DEFINE(name, vectors, lane)                                                                \
    static void do_##name(uint64_t *to, const WordOperands *x)                                     \
    {                                                                                              \
        const Words a = get(x->a, 0), b = get(x->b, 0);                                            \
        const Mask m = mask_of(x->m);                                                              \
        const unsigned by = x->by;                                                                 \
        const uint64_t word = x->word;                                                             \
        (void)a, (void)b, (void)m, (void)by, (void)word;                                           \
        store(to, vectors);                                                                        \
    }
WORD_OPERATIONS(DEFINE)

#define NAMED(name, vectors, lane) do_##name,
static WordOperation *const operations[] = {WORD_OPERATIONS(NAMED)};

static unsigned do_mask(unsigned bits)
{
    Mask m = mask_of(bits);
    return bits_of(m) | (unsigned)any(m) << LANES | (unsigned)every(m) << (LANES + 1);
}

static unsigned do_first_lanes(size_t lanes)
{
    return bits_of(first_lanes(lanes));
}

static void do_load_some(uint64_t *y, const uint64_t *from, size_t lanes)
{
    store(y, load_some(from, lanes));
}

/* With counts that are constants, as everywhere. */
static void do_load_part(uint64_t *y, const uint64_t *from, int words, int part, size_t lanes)
{
    Words x = zero();
#define PART(words, part)                                                                          \
    case 4 * (words) + (part):                                                                     \
        x = lanes < LANES ? load_part(from, words, part, lanes)                                    \
                          : load_part(from, words, part, LANES);                                   \
        break;
    switch (4 * words + part) {
        PART(1, 0)
        PART(2, 0)
        PART(2, 1)
        PART(3, 0)
        PART(3, 1)
        PART(3, 2)
        PART(4, 0)
        PART(4, 1)
        PART(4, 2)
        PART(4, 3)
    default: break;
    }
#undef PART
    store(y, x);
}

static void do_store_parts(uint64_t *to, const uint64_t *from, int words)
{
    Words x[4];
    for (int part = 0; part < words; part++) {
        x[part] = get(from, (size_t)part);
    }
    switch (words) {
    case 1: store_parts(to, x, 1); break;
    case 2: store_parts(to, x, 2); break;
    case 3: store_parts(to, x, 3); break;
    default: store_parts(to, x, 4); break;
    }
}

static void do_load_middle(uint64_t *y, const uint64_t *from)
{
    Words x1, x2;
    load_middle(&x1, &x2, from);
    store(y, x1);
    store(y + LANES, x2);
}

static void do_store_middle(uint64_t *to, const uint64_t *x)
{
    store_middle(to, get(x, 0), get(x, 1));
}

static void do_look_up(uint64_t *y, const uint64_t *table, const uint64_t *index)
{
    store(y, look_up(table, get(index, 0)));
}

#if !PORTABLE
static void do_store_some(uint64_t *to, const uint64_t *x, size_t lanes)
{
    store_some(to, get(x, 0), lanes);
}

static void do_turn(uint64_t *x)
{
    Words words[LANES];
    for (size_t i = 0; i < LANES; i++) {
        words[i] = get(x, i);
    }
    turn(words);
    for (size_t i = 0; i < LANES; i++) {
        store(x + i * LANES, words[i]);
    }
}

static void do_load_digits(uint64_t *y, const uint64_t *limb, size_t count, long lowest)
{
    store(y, load_digits(limb, count, lowest));
}
#endif

/* Not inline, so that all of it stays between products_begin and products_end. */
static __attribute__((noinline)) void multiply(uint64_t *sums, const uint64_t *a, const uint64_t *b,
                                               size_t count, Halves halves)
{
    const bool together = halves == HALVES_TOGETHER;
    const size_t highs = halves == HALVES_LOW ? 0 : count, lows = halves == HALVES_HIGH ? 0 : count;
    Words high = get(sums, 0) + sum_start(highs, together ? lows : 0);
    Words low = get(sums, 1) + sum_start(0, together ? 0 : lows);
    for (size_t i = 0; i < count; i++) {
        add_product(highs > 0 ? &high : NULL,
                    together   ? &high
                    : lows > 0 ? &low
                               : NULL,
                    factor_of(get(a, i)), factor_of(get(b, i)));
    }
    store(sums, high);
    store(sums + LANES, low);
}

static void do_products(uint64_t *sums, const uint64_t *a, const uint64_t *b, size_t count,
                        Halves halves)
{
    unsigned mode = products_begin();
    multiply(sums, a, b, count, halves);
    products_end(mode);
}

const TieredWords TIER(tiered_words) = {
    .lanes = LANES,
    .operation = operations,
    .mask = do_mask,
    .first_lanes = do_first_lanes,
    .load_some = do_load_some,
    .load_part = do_load_part,
    .store_parts = do_store_parts,
    .load_middle = do_load_middle,
    .store_middle = do_store_middle,
    .look_up = do_look_up,
    .products = do_products,
#if !PORTABLE
    .store_some = do_store_some,
    .turn = do_turn,
    .load_digits = do_load_digits,
#endif
};
