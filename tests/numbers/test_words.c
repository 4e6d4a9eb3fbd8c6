/*
 * The primitives of vectors, in every tier that the processor has, against C written here: lane by
 * lane and bit by bit, at the ends of ranges, and up to the ends of memory.
 */
#include "../../reference/numbers/limbs_number.h"
#include "../fixture.h"
#include "tiered_words.h"
#include "../unit.h"

#include <fenv.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LANES_MOST = 8, CORNERS = 3 * 64 + 2, DIGIT = 52, SUM_MOST = 4095, LIMBS = 12 };

/* A check of one tier. */
typedef void Check(const TieredWords *words);

static void each_tier(Check *check)
{
    for (int tier = 0; tier < TIERS; tier++) {
        if (tier_has((Tier)tier)) {
            print_message("%s\n", tier_name((Tier)tier));
            check(tiered_words_of[tier]);
        } else {
            print_message("not here: %s\n", tier_name((Tier)tier));
        }
    }
}

static void expect(const char *what, const uint64_t *found, const uint64_t *expected, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (found[i] != expected[i]) {
            print_error("%s: word %zu is %#llx, not %#llx\n", what, i, (unsigned long long)found[i],
                        (unsigned long long)expected[i]);
            fail();
        }
    }
}

/* 0 and 2^64 - 1, all powers of two and their neighbours. */
static uint64_t corner(size_t i)
{
    i %= CORNERS;
    return i < CORNERS - 2    ? ((uint64_t)1 << i / 3) + (uint64_t)(i % 3) - 1
           : i == CORNERS - 2 ? 0
                              : UINT64_MAX;
}

static uint64_t zeros_before(uint64_t x)
{
    uint64_t zeros = 0;
    while (zeros < 64 && (x >> (63 - zeros) & 1) == 0) {
        zeros++;
    }
    return zeros;
}

static uint64_t bits_of_double(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* What a lane of each operation is, in C. */
#define DEFINE(name, vectors, lane)                                                                \
    static uint64_t lane_##name(uint64_t a, uint64_t b, unsigned m, unsigned by, uint64_t word)    \
    {                                                                                              \
        (void)a, (void)b, (void)m, (void)by, (void)word;                                           \
        return (uint64_t)(lane);                                                                   \
    }
WORD_OPERATIONS(DEFINE)

typedef uint64_t Lane(uint64_t a, uint64_t b, unsigned m, unsigned by, uint64_t word);

/* One corner with every other, and with every count from 0 to 64 and beyond. */
static void check_operation(const TieredWords *words, size_t operation, const char *name,
                            Lane *lane_of)
{
    for (size_t i = 0; i < CORNERS; i++) {
        for (size_t j = 0; j < CORNERS + 70; j++) {
            uint64_t a[LANES_MOST], b[LANES_MOST], found[LANES_MOST], expected[LANES_MOST];
            const WordOperands x = {a, b, (unsigned)(i ^ j) % (1U << words->lanes),
                                    (unsigned)j % 64, corner(i + j)};
            for (size_t lane = 0; lane < words->lanes; lane++) {
                a[lane] = corner(i + 5 * lane);
                b[lane] = j < CORNERS ? corner(j + 7 * lane) : j - CORNERS + lane;
                expected[lane] = lane_of(a[lane], b[lane], x.m >> lane & 1, x.by, x.word);
            }
            words->operation[operation](found, &x);
            expect(name, found, expected, words->lanes);
        }
    }
}

static void check_operations(const TieredWords *words)
{
#define NAMED(name, vectors, lane) #name,
#define LANE(name, vectors, lane) lane_##name,
    static const char *const names[] = {WORD_OPERATIONS(NAMED)};
    static Lane *const lanes[] = {WORD_OPERATIONS(LANE)};
    for (size_t i = 0; i < sizeof lanes / sizeof *lanes; i++) {
        check_operation(words, i, names[i], lanes[i]);
    }
}

static void check_masks(const TieredWords *words)
{
    const unsigned all = (1U << words->lanes) - 1;
    for (unsigned bits = 0; bits <= all; bits++) {
        unsigned any = bits != 0, every = bits == all;
        assert_int_equal(words->mask(bits),
                         bits | any << words->lanes | every << (words->lanes + 1));
    }
    for (size_t lanes = 0; lanes < 40; lanes++) {
        unsigned first = lanes < words->lanes ? (1U << lanes) - 1 : all;
        assert_int_equal(words->first_lanes(lanes), first);
    }
}

/* Some words of memory, with nothing that could be read before them, or behind them. */
typedef struct {
    char *pages;
    size_t page;
    uint64_t *first, *end;
} Room;

static Room room_make(void)
{
    Room room = {.page = (size_t)sysconf(_SC_PAGESIZE)};
    void *pages = NULL;
    assert_int_equal(posix_memalign(&pages, room.page, 3 * room.page), 0);
    room.pages = pages;
    room.first = (uint64_t *)(void *)(room.pages + room.page);
    room.end = (uint64_t *)(void *)(room.pages + 2 * room.page);
    assert_int_equal(mprotect(room.pages, room.page, PROT_NONE), 0);
    assert_int_equal(mprotect(room.end, room.page, PROT_NONE), 0);
    return room;
}

static void room_clear(Room *room)
{
    assert_int_equal(mprotect(room->pages, 3 * room->page, PROT_READ | PROT_WRITE), 0);
    free(room->pages);
}

/* So many words, up to the end of the room: 1000, 1001, ... */
static uint64_t *words_at_end(const Room *room, size_t count)
{
    uint64_t *x = room->end - count;
    for (size_t i = 0; i < count; i++) {
        x[i] = 1000 + i;
    }
    return x;
}

/* Structures of so many words, `lanes` of them. */
static void check_parts(const TieredWords *words, const Room *room, int of, size_t lanes)
{
    uint64_t found[LANES_MOST], expected[LANES_MOST];
    const size_t step = (size_t)of;
    const uint64_t *from = words_at_end(room, step * lanes);
    for (size_t part = 0; part < step; part++) {
        for (size_t lane = 0; lane < words->lanes; lane++) {
            expected[lane] = lane < lanes ? from[step * lane + part] : 0;
        }
        words->load_part(found, from, of, (int)part, lanes);
        expect("load_part", found, expected, words->lanes);
    }
}

static void check_stored_parts(const TieredWords *words, const Room *room, int of)
{
    const size_t step = (size_t)of, count = step * words->lanes;
    uint64_t x[4 * LANES_MOST], expected[4 * LANES_MOST + 1];
    uint64_t *to = words_at_end(room, count + 1);
    expected[0] = to[0];
    for (size_t part = 0; part < step; part++) {
        for (size_t lane = 0; lane < words->lanes; lane++) {
            x[part * words->lanes + lane] = 10 * part + lane;
            expected[1 + step * lane + part] = 10 * part + lane;
        }
    }
    words->store_parts(to + 1, x, of);
    expect("store_parts", to, expected, count + 1);
}

static void check_some(const TieredWords *words, const Room *room, size_t lanes)
{
    uint64_t found[LANES_MOST], expected[LANES_MOST], x[LANES_MOST];
    uint64_t *memory = words_at_end(room, lanes);
    for (size_t lane = 0; lane < words->lanes; lane++) {
        expected[lane] = lane < lanes ? memory[lane] : 0;
        x[lane] = lane;
    }
    words->load_some(found, memory, lanes);
    expect("load_some", found, expected, words->lanes);
    if (words->store_some == NULL) {
        return;
    }
    words->store_some(memory, x, lanes);
    expect("store_some", memory, x, lanes);
    memory = words_at_end(room, LANES_MOST);
    words->store_some(memory, x, lanes);
    for (size_t lane = 0; lane < LANES_MOST; lane++) {
        expected[lane] = lane < lanes ? x[lane] : 1000 + lane;
    }
    expect("store_some", memory, expected, LANES_MOST);
}

/* Headers of four words. */
static void check_middle(const TieredWords *words, const Room *room)
{
    const size_t lanes = words->lanes;
    uint64_t found[2 * LANES_MOST], x[2 * LANES_MOST] = {0}, expected[4 * LANES_MOST];
    uint64_t *memory = words_at_end(room, 4 * lanes);
    for (size_t lane = 0; lane < lanes; lane++) {
        for (size_t word = 0; word < 4; word++) {
            bool middle = word == 1 || word == 2;
            expected[4 * lane + word] = middle ? 50 * word + lane : memory[4 * lane + word];
        }
        x[lane] = 50 + lane;
        x[lanes + lane] = 100 + lane;
    }
    words->store_middle(memory, x);
    expect("store_middle", memory, expected, 4 * lanes);
    words->load_middle(found, memory);
    expect("load_middle", found, x, 2 * lanes);
}

static void check_turn(const TieredWords *words)
{
    uint64_t x[LANES_MOST * LANES_MOST], expected[LANES_MOST * LANES_MOST];
    for (size_t i = 0; i < words->lanes; i++) {
        for (size_t j = 0; j < words->lanes; j++) {
            x[i * words->lanes + j] = expected[j * words->lanes + i] = 10 * i + j;
        }
    }
    words->turn(x);
    expect("turn", x, expected, words->lanes * words->lanes);
}

static void check_look_up(const TieredWords *words, const Room *room)
{
    const uint64_t *table = words_at_end(room, 256);
    uint64_t found[LANES_MOST], index[LANES_MOST], expected[LANES_MOST];
    for (size_t i = 0; i < 256; i++) {
        for (size_t lane = 0; lane < words->lanes; lane++) {
            index[lane] = (i + 101 * lane) % 256;
            expected[lane] = table[index[lane]];
        }
        words->look_up(found, table, index);
        expect("look_up", found, expected, words->lanes);
    }
}

static void check_memory(const TieredWords *words)
{
    Room room = room_make();
    for (size_t lanes = 0; lanes <= words->lanes; lanes++) {
        check_some(words, &room, lanes);
        for (int of = 1; of <= 4; of++) {
            check_parts(words, &room, of, lanes);
        }
    }
    for (int of = 1; of <= 4; of++) {
        check_stored_parts(words, &room, of);
    }
    check_middle(words, &room);
    if (words->turn != NULL) {
        check_turn(words);
    }
    check_look_up(words, &room);
    room_clear(&room);
}

/* Bit by bit. */
static uint64_t digit_of(const uint64_t *limb, size_t count, long lowest)
{
    uint64_t digit = 0;
    for (long bit = 0; bit < DIGIT; bit++) {
        long at = lowest + bit;
        if (at >= 0 && at < 64 * (long)count) {
            digit |= (limb[at / 64] >> at % 64 & 1) << bit;
        }
    }
    return digit;
}

static void check_digits_at(const TieredWords *words, const uint64_t *limb, size_t count,
                            long lowest)
{
    uint64_t found[LANES_MOST], expected[LANES_MOST];
    for (size_t lane = 0; lane < words->lanes; lane++) {
        expected[lane] = digit_of(limb, count, lowest + DIGIT * (long)(words->lanes - 1 - lane));
    }
    words->load_digits(found, limb, count, lowest);
    expect("load_digits", found, expected, words->lanes);
}

/* Below the limbs, within them, beyond them and far away. */
static void check_digits(const TieredWords *words)
{
    if (words->load_digits == NULL) {
        return;
    }
    Room room = room_make();
    gmp_randstate_t random;
    gmp_randinit_default(random);
    for (size_t count = 0; count <= LIMBS; count++) {
        uint64_t *ends[] = {room.first, room.end - count};
        for (size_t end = 0; end < 2; end++) {
            uint64_t *limb = ends[end];
            for (size_t i = 0; i < count; i++) {
                limb[i] = gmp_urandomb_ui(random, 64);
            }
            const long reach = DIGIT * (long)LANES_MOST + 70;
            for (long lowest = -reach; lowest < 64 * (long)count + reach; lowest++) {
                check_digits_at(words, limb, count, lowest);
            }
            for (int far = 10; far < 62; far++) {
                check_digits_at(words, limb, count, 1L << far);
                check_digits_at(words, limb, count, -(1L << far));
            }
        }
    }
    gmp_randclear(random);
    room_clear(&room);
}

/* b with a b = low modulo 2^52, for odd a. */
static uint64_t quotient(uint64_t low, uint64_t a)
{
    uint64_t inverse = a; /* right in 3 bits; each step doubles them */
    for (int i = 0; i < 5; i++) {
        inverse *= 2 - a * inverse;
    }
    return low * inverse & DIGITS_ONES;
}

/* Two digits: corners, any, and such that the low half of their product is at an end. */
static void draw_digits(uint64_t *a, uint64_t *b, gmp_randstate_t random)
{
    const uint64_t corners[] = {0,
                                1,
                                2,
                                3,
                                DIGITS_ONES,
                                DIGITS_ONES - 1,
                                (uint64_t)1 << 51,
                                ((uint64_t)1 << 51) - 1,
                                ((uint64_t)1 << 51) + 1,
                                1 << 26};
    const unsigned long count = sizeof corners / sizeof *corners;
    const unsigned long form = gmp_urandomm_ui(random, 8), zeros = gmp_urandomm_ui(random, DIGIT);
    *a = form < 3 ? corners[gmp_urandomm_ui(random, count)] : gmp_urandomb_ui(random, DIGIT);
    *b = form < 2 ? corners[gmp_urandomm_ui(random, count)] : gmp_urandomb_ui(random, DIGIT);
    if (form == 5) { /* the low half is 0 */
        *a = *a << zeros & DIGITS_ONES;
        *b = *b << (DIGIT - zeros) & DIGITS_ONES;
    } else if (form >= 6) { /* 2^52 - 1; next to the middle */
        *a |= 1;
        *b = quotient(
            form == 6 ? DIGITS_ONES : ((uint64_t)1 << 51) + gmp_urandomm_ui(random, 3) - 1, *a);
    }
}

/* What is 1 in which way of rounding. */
typedef struct {
    double up, down, third;
} Rounded;

static Rounded rounded(void)
{
    volatile double one = 1, tiny = 0x1p-60, three = 3;
    return (Rounded){one + tiny, -one - tiny, one / three};
}

static void check_sum(const TieredWords *words, size_t count, Halves halves, gmp_randstate_t random)
{
    static uint64_t a[SUM_MOST * LANES_MOST], b[SUM_MOST * LANES_MOST];
    const size_t lanes = words->lanes;
    uint64_t found[2 * LANES_MOST], expected[2 * LANES_MOST];
    for (size_t i = 0; i < 2 * lanes; i++) {
        found[i] = expected[i] = corner(gmp_urandomm_ui(random, CORNERS));
    }
    for (size_t i = 0; i < count * lanes; i++) {
        draw_digits(&a[i], &b[i], random);
        Wide product = (Wide)a[i] * b[i];
        uint64_t *low = expected + i % lanes + (halves == HALVES_TOGETHER ? 0 : lanes);
        expected[i % lanes] += halves == HALVES_LOW ? 0 : (uint64_t)(product >> DIGIT);
        *low += halves == HALVES_HIGH ? 0 : (uint64_t)product & DIGITS_ONES;
    }
    Rounded before = rounded();
    words->products(found, a, b, count, halves);
    Rounded after = rounded();
    expect("add_product", found, expected, 2 * lanes);
    assert_memory_equal(&before, &after, sizeof before);
}

/* Sums of one product, of a few and of as many as fit; whatever way of rounding they come from,
 * they give back. */
static void check_products(const TieredWords *words)
{
    static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    const size_t pairs = SMALL_GRIDS ? 100000 : 1000000;
    gmp_randstate_t random;
    gmp_randinit_default(random);
    size_t sum = 0;
    for (size_t done = 0; done < pairs; sum++) {
        const Halves halves = (Halves)(sum % HALVES);
        size_t most = halves == HALVES_TOGETHER ? SUM_MOST / 2 : SUM_MOST;
        size_t count = sum % 64 == 0 ? most - sum / 64 % 2 : 1 + gmp_urandomm_ui(random, 16);
        assert_int_equal(fesetround(modes[sum / HALVES % 4]), 0);
        check_sum(words, count, halves, random);
        done += count * words->lanes;
    }
    assert_int_equal(fesetround(FE_TONEAREST), 0);
    assert_true(sum > 64);
    gmp_randclear(random);
}

#define IN_EACH_TIER(name)                                                                         \
    static void name##_are_right(void **state)                                                     \
    {                                                                                              \
        each_tier(check_##name);                                                                   \
    }
IN_EACH_TIER(operations)
IN_EACH_TIER(masks)
IN_EACH_TIER(memory)
IN_EACH_TIER(digits)
IN_EACH_TIER(products)

SUBJECT(words)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_are_right), cmocka_unit_test(masks_are_right),
        cmocka_unit_test(memory_are_right),     cmocka_unit_test(digits_are_right),
        cmocka_unit_test(products_are_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
