/*
 * Tables of rotary positions against their formulas in long double.
 */
#include "../../reference/reference.h"
#include "../unit.h"

#include <math.h>

enum { WIDTH = 8, POSITIONS = 40 };

/* The frequency of pair p.  Llama 3 leaves waves that are shorter than length / high as they are,
 * and divides those longer than length / low. */
static long double frequency(const RotaryAngles *angles, size_t p)
{
    const RotaryScaling *s = &angles->scaling;
    long double f = powl(angles->theta, -2.0L * (long double)p / WIDTH);
    long double wave = 2 * acosl(-1) / f, share = 0;
    if (s->kind == SCALING_LINEAR) {
        return f / s->factor;
    }
    if (s->kind == SCALING_LLAMA3 && wave * s->high > s->length) {
        share = wave * s->low >= s->length ? 1 : (s->high - s->length / wave) / (s->high - s->low);
    }
    return f * (1 - share) + (share > 0 ? f * share / s->factor : 0);
}

/* Of Llama 3 one wave is short, two are between, and one is long. */
static void exact_tables_are_their_formulas(void **state)
{
    static const RotaryScaling scalings[] = {
        {.kind = SCALING_NONE},
        {.kind = SCALING_LINEAR, .factor = 2.5},
        {.kind = SCALING_LLAMA3, .factor = 8, .low = 1, .high = 4, .length = 64}};
    for (size_t k = 0; k < sizeof scalings / sizeof *scalings; k++) {
        const RotaryAngles angles = {
            .width = WIDTH, .positions = POSITIONS, .theta = 100, .scaling = scalings[k]};
        double cos[POSITIONS * WIDTH / 2], sin[POSITIONS * WIDTH / 2];
        ref_rotary_tables(cos, sin, &angles);
        for (size_t i = 0; i < POSITIONS * WIDTH / 2; i++) {
            size_t position = i / (WIDTH / 2), pair = i % (WIDTH / 2);
            long double angle = frequency(&angles, pair) * (long double)position;
            assert_true(fabsl(cos[i] - cosl(angle)) < 0x1p-53L);
            assert_true(fabsl(sin[i] - sinl(angle)) < 0x1p-53L);
        }
    }
}

SUBJECT(rotary)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(exact_tables_are_their_formulas)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
