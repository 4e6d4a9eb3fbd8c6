/*
 * The identities that the seed texts rest on (docs/seeds.md), where patterns are held fixed: such a
 * model is linear, a sum of paths through virtual heads, in rational numbers, where equality is
 * demanded.
 */
#include "../../cases/case.h"
#include "../fixture.h"
#include "../frozen.h"
#include "../unit.h"

#include <math.h>

#define OMEGA 1000.0 /* linear heads' patterns are the identity, bit for bit */

static CaseSpec small_spec(Construction construction, size_t heads, size_t depth)
{
    return (CaseSpec){.construction = construction,
                      .n = 4,
                      .d = 3,
                      .d_ff = 4,
                      .heads = heads,
                      .depth = depth,
                      .seed = 1,
                      .weights = WEIGHTS_STABLE};
}

/* The models of heads alone that are small enough: T and T' of every construction. */
typedef struct {
    Pair pair;
    const Model *model;
    const double *x;
    Frozen frozen;
} Given;

enum { GIVEN_COUNT = 6 };

static Given given(size_t which)
{
    static const struct {
        Construction construction;
        size_t depth, heads, d_head;
        Mask mask;
        bool converted;
    } table[GIVEN_COUNT] = {
        {CONSTRUCTION_ATTENTION, 2, 3, 0, MASK_NONE, false},
        {CONSTRUCTION_ATTENTION, 2, 3, 2, MASK_CAUSAL, false},
        {CONSTRUCTION_ATTENTION, 2, 3, 2, MASK_NONE, true},
        {CONSTRUCTION_FFN3, 1, 1, 0, MASK_NONE, true},
        {CONSTRUCTION_FUSED, 2, 1, 0, MASK_CAUSAL, true},
        {CONSTRUCTION_TRANSFORMER, 1, 2, 2, MASK_NONE, true},
    };
    CaseSpec spec = small_spec(table[which].construction, table[which].heads, table[which].depth);
    spec.d_head = table[which].d_head;
    spec.mask = table[which].mask;
    Given made = {.pair = pair_make(&spec)};
    bool converted = table[which].converted;
    made.model = converted ? &made.pair.converted : &made.pair.original;
    made.x = converted ? made.pair.converted_x : made.pair.original_x;
    made.frozen = frozen_make(made.model, made.x, OMEGA);
    return made;
}

/* The frozen model is the model: on the stream it was frozen on, it yields what the kernel does, up
 * to that one's rounding. */
static void frozen_is_the_evaluation(void **state)
{
    for (size_t g = 0; g < GIVEN_COUNT; g++) {
        Given made = given(g);
        Rat end = frozen_apply(&made.frozen, made.frozen.start);
        double error = rat_largest(rat_sub(end, made.frozen.end)), size = rat_largest(end);
        print_message("model %zu: %.2g of %.2g\n", g, error, size);
        assert_true(error <= 64 * 0x1p-53 * size);
        assert_true(rat_largest(rat_sub(end, made.frozen.start)) > 0.01);
        case_clear(&made.pair);
        rat_release_all();
    }
}

static void frozen_is_linear(void **state)
{
    for (size_t g = 0; g < GIVEN_COUNT; g++) {
        Given made = given(g);
        Rat x = made.frozen.start, y = rat_zero(x.rows, x.columns);
        for (size_t r = 0; r < x.rows; r++) {
            rat_put(y, r, 0, rat_rows(x, (r + 1) % x.rows, 1));
        }
        Rat z = rat_add(rat_scale(x, 22, 7), rat_scale(y, -3, 11));
        Rat apart = rat_add(rat_scale(frozen_apply(&made.frozen, x), 22, 7),
                            rat_scale(frozen_apply(&made.frozen, y), -3, 11));
        assert_true(rat_equal(frozen_apply(&made.frozen, z), apart));
        case_clear(&made.pair);
        rat_release_all();
    }
}

/* A path picks the residual connection or one head in every sublayer; choice [sublayers] counts
 * through them, 0 the residual.  false after the last. */
static bool next_path(size_t *choice, const Frozen *frozen)
{
    for (size_t s = 0; s < frozen->sublayers; s++) {
        if (++choice[s] <= frozen->sublayer[s].heads) {
            return true;
        }
        choice[s] = 0;
    }
    return false;
}

/* The path's virtual head: patterns multiplied with the later ones on the left (as_printed: on the
 * right), values with the later ones on the right. */
static Rat path(const Frozen *frozen, const size_t *choice, Rat x, bool as_printed)
{
    Rat pattern = rat_identity(x.rows), value = rat_identity(x.columns);
    for (size_t s = 0; s < frozen->sublayers; s++) {
        if (choice[s] > 0) {
            Rat own = frozen->sublayer[s].pattern[choice[s] - 1];
            pattern = as_printed ? rat_mul(pattern, own) : rat_mul(own, pattern);
            value = rat_mul(value, frozen->sublayer[s].value[choice[s] - 1]);
        }
    }
    return rat_mul(rat_mul(pattern, x), value);
}

static Rat all_paths(const Frozen *frozen, Rat x, bool as_printed, size_t *count)
{
    size_t choice[FROZEN_SUBLAYERS] = {0};
    Rat sum = rat_zero(x.rows, x.columns);
    *count = 0;
    do {
        sum = rat_add(sum, path(frozen, choice, x, as_printed));
        ++*count;
    } while (next_path(choice, frozen));
    return sum;
}

/* Two layers of three heads: (1 + 3)^2 paths. */
static void paths_add_up(void **state)
{
    static const size_t expected[GIVEN_COUNT] = {16, 16, 16, 2 * 5 * 2, 25, 3 * 5};
    for (size_t g = 0; g < GIVEN_COUNT; g++) {
        Given made = given(g);
        size_t count;
        Rat x = made.frozen.start, end = frozen_apply(&made.frozen, x);
        assert_true(rat_equal(all_paths(&made.frozen, x, false, &count), end));
        assert_int_equal(count, expected[g]);
        case_clear(&made.pair);
        rat_release_all();
    }
}

/* A head that reads another's output is one head with the pattern A2 A1.  The order that one seed
 * prints, A1 A2, is wrong wherever patterns do not commute. */
static void virtual_heads_have_the_later_pattern_first(void **state)
{
    for (size_t g = 0; g < 3; g++) {
        Given made = given(g);
        const FrozenSublayer *one = &made.frozen.sublayer[0], *two = &made.frozen.sublayer[1];
        Rat x = made.frozen.start;
        for (size_t pair = 0; pair < 9; pair++) {
            size_t choice[FROZEN_SUBLAYERS] = {1 + pair / 3, 1 + pair % 3};
            Rat a1 = one->pattern[pair / 3], a2 = two->pattern[pair % 3];
            Rat inner = rat_mul(rat_mul(a1, x), one->value[pair / 3]);
            Rat outer = rat_mul(rat_mul(a2, inner), two->value[pair % 3]);
            assert_true(rat_equal(path(&made.frozen, choice, x, false), outer));
            assert_false(rat_equal(path(&made.frozen, choice, x, true), outer));
        }
        size_t count;
        assert_false(
            rat_equal(all_paths(&made.frozen, x, true, &count), frozen_apply(&made.frozen, x)));
        case_clear(&made.pair);
        rat_release_all();
    }
}

/* linear, SiLU, linear: A1 = A3 = I bit for bit, so both orders agree, and the three are the
 * virtual head A2 (x) -W1 E_k W2.  The fused head of the same unit has the same value without the
 * sign, and the pattern's other half: 1 - sigma against sigma. */
static void ffn3_is_one_virtual_head_a_unit(void **state)
{
    Given three = given(3);
    CaseSpec spec = small_spec(CONSTRUCTION_FUSED, 1, 1);
    Pair fused = pair_make(&spec);
    Frozen one = frozen_make(&fused.converted, fused.converted_x, OMEGA);
    const FrozenSublayer *units = &three.frozen.sublayer[1];
    const Direct *ffn = &three.pair.original.sublayers[0].direct;
    Rat x = three.frozen.start;
    assert_true(rat_equal(three.frozen.sublayer[0].pattern[0], rat_identity(5)));
    assert_true(rat_equal(three.frozen.sublayer[2].pattern[0], rat_identity(5)));
    for (size_t k = 0; k < 4; k++) {
        size_t choice[FROZEN_SUBLAYERS] = {1, 1 + k, 1};
        Rat w1 = rat_of(ffn->w1 + k, 3, 1, 4), w2 = rat_of(ffn->w2 + k * 3, 1, 3, 3);
        Rat product = rat_mul(w1, w2), value = rat_zero(7, 7);
        rat_put(value, 0, 0, rat_scale(product, -1, 1));
        /* The third head also clears: column k of the hidden ones. */
        rat_put(value, 0, 3 + k, w1);
        Rat virtual = rat_mul(rat_mul(units->pattern[k], x), value);
        assert_true(rat_equal(path(&three.frozen, choice, x, false), virtual));
        assert_true(rat_equal(path(&three.frozen, choice, x, true), virtual));
        assert_true(rat_equal(one.sublayer[0].value[k], product));
        for (size_t i = 0; i < 4; i++) {
            double rest = rat_double(units->pattern[k], i, i);
            double sigma = rat_double(one.sublayer[0].pattern[k], i, i);
            assert_true(fabs(rest + sigma - 1) <= 1e-12 && rest > 0 && sigma > 0);
        }
    }
    case_clear(&fused);
    case_clear(&three.pair);
    rat_release_all();
}

SUBJECT(frozen)
{
    const struct CMUnitTest frozen[] = {
        cmocka_unit_test(frozen_is_the_evaluation),
        cmocka_unit_test(frozen_is_linear),
        cmocka_unit_test(paths_add_up),
        cmocka_unit_test(virtual_heads_have_the_later_pattern_first),
        cmocka_unit_test(ffn3_is_one_virtual_head_a_unit),
    };
    return cmocka_run_group_tests(frozen, NULL, NULL);
}
