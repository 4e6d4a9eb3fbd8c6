/*
 * T' with penalties (--penalty negative): the same but for scores, of which each row has its
 * largest coefficient of Omega at 0 (docs/mathematics.md, section 1).
 */
#include "../fixture.h"

#include "../../cases/case.h"
#include "../unit.h"

static CaseSpec spec_of(Construction construction, Mask mask, size_t n)
{
    return (CaseSpec){.construction = construction,
                      .n = n,
                      .d = 4,
                      .d_ff = 6,
                      .heads = 2,
                      .depth = 2,
                      .seed = 3,
                      .bias = BIAS_RANDOM,
                      .band = 2,
                      .mask = mask,
                      .activation = ACTIVATION_GELU,
                      .gelu = GELU_TWO};
}

/* By the definition, row by row: each coefficient less the largest that the row sees. */
static void expect_less_largest(const Layout *layout, const Bundle *of, const Bundle *to)
{
    size_t rows = layout_rows(layout);
    for (size_t i = 0; i < rows; i++) {
        int largest = -100;
        for (size_t j = 0; j < rows; j++) {
            int coefficient = score_position(layout, &of->score, 0, i, j);
            largest = score_sees(layout, &of->score, i, j) && coefficient > largest ? coefficient
                                                                                    : largest;
        }
        for (size_t j = 0; j < rows; j++) {
            assert_true(score_sees(layout, &of->score, i, j) ==
                        score_sees(layout, &to->score, i, j));
            /* A coefficient of two parts is one of no rounding only where no part is its own. */
            int extra = to->score.extra == NULL ? 0 : to->score.extra[i * rows + j];
            int own = score_position(layout, &of->score, 0, i, j) - largest;
            assert_int_equal(score_position(layout, &to->score, 0, i, j), own);
            assert_true(own != 0 || extra == 0);
        }
    }
}

/* Of every construction, mask, context and kind of bias row content. */
static void every_row_has_its_largest_at_zero(void **state)
{
    for (int k = 0; k < (int)CONSTRUCTION_COUNT * MASK_COUNT * 4; k++) {
        CaseSpec spec = spec_of((Construction)(k / 4 / MASK_COUNT), (Mask)(k / 4 % MASK_COUNT),
                                k % 2 == 0 ? 1 : 4);
        spec.bias_row_content = k % 4 < 2 ? CONTENT_NONE : CONTENT_RANDOM;
        Pair pair = pair_make(&spec);
        const Model *from = &pair.converted, *made = &pair.negative;
        assert_int_equal(from->sublayer_count, made->sublayer_count);
        for (size_t s = 0; s < from->sublayer_count; s++) {
            const Sublayer *of = &from->sublayers[s], *to = &made->sublayers[s];
            assert_int_equal(of->bundle_count, to->bundle_count);
            for (size_t b = 0; b < of->bundle_count; b++) {
                expect_less_largest(&from->layout, &of->bundles[b], &to->bundles[b]);
            }
        }
        case_clear(&pair);
    }
}

/* A T' that has lost entries has no such form, and says so. */
static void losses_have_one_form(void **state)
{
    for (int k = 0; k < 2; k++) {
        CaseSpec spec = spec_of(CONSTRUCTION_TRANSFORMER, MASK_NONE, 3);
        spec.dropout = k == 0 ? 0.5 : 0;
        spec.drop_entry = k == 0 ? 0 : 1;
        Pair pair = pair_make(&spec);
        assert_null(pair.negative.sublayers);
        case_clear(&pair);
    }
}

SUBJECT(penalty)
{
    const struct CMUnitTest penalty[] = {
        cmocka_unit_test(every_row_has_its_largest_at_zero),
        cmocka_unit_test(losses_have_one_form),
    };
    return cmocka_run_group_tests(penalty, NULL, NULL);
}
