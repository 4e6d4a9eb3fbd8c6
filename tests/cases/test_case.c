/*
 * Models as data: what model_fault refuses, in its words; memory that a pair takes; heads of a
 * limited rank, which add up to the map that they are made from.
 */
#include "../../cases/arena.h"
#include "../../cases/case.h"
#include "../fixture.h"
#include "../unit.h"

#include <string.h>

enum { N = 2, D = 3 };

static const double numbers[32];
static const unsigned char sees_all[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
static const unsigned char blind[9] = {1, 1, 1, 0, 0, 0, 1, 1, 1};

/* A model of one head that is well formed under a bias row that is last. */
static Bundle good_head(void)
{
    HeadWeight square = {numbers, D, D * D};
    return (Bundle){.heads = 1,
                    .score = {.kind = SCORE_BILINEAR,
                              .read = {0, D},
                              .q = square,
                              .scale = {1, 1, 1},
                              .position = {.bias_self = 2}},
                    .value = {.read = {0, D}, .write = {0, D}, .v = square, .scale = 1}};
}

static const char *fault_of(const Bundle *bundle, BiasRow bias_row)
{
    const Sublayer sublayer = {.bundles = bundle, .bundle_count = 1};
    const size_t end = 1;
    Model model = {{N, D, 0, bias_row}, &sublayer, 1, &end, 1, NULL};
    return model_fault(&model);
}

static void expect_fault(const Bundle *bundle, BiasRow bias_row, const char *says)
{
    const char *fault = fault_of(bundle, bias_row);
    if (fault == NULL || strstr(fault, says) == NULL) {
        fail_msg("%s: expected %s", fault == NULL ? "no fault" : fault, says);
    }
}

static void values_are_refused(void **state)
{
    Bundle bundle = good_head();
    assert_null(fault_of(&bundle, BIAS_ROW_LAST));
    bundle.value.diagonal = -1;
    assert_null(fault_of(&bundle, BIAS_ROW_LAST));
    bundle.heads = 2;
    expect_fault(&bundle, BIAS_ROW_LAST, "a diagonal belongs to a single dense head");
    bundle = good_head();
    bundle.value.v.data = NULL;
    bundle.value.unit = 1;
    bundle.heads = 2;
    assert_null(fault_of(&bundle, BIAS_ROW_LAST));
    bundle.value.write.count = 1;
    expect_fault(&bundle, BIAS_ROW_LAST, "more unit values than columns");
    bundle.value.write = (Columns){1, D};
    expect_fault(&bundle, BIAS_ROW_LAST, "writes columns outside the stream's content");
    bundle.value = good_head().value;
    bundle.value.read.first = 1;
    expect_fault(&bundle, BIAS_ROW_LAST, "reads columns outside the stream's content");
    bundle.value = good_head().value;
    bundle.value.d_head = 2;
    bundle.value.o = bundle.value.v;
    bundle.value.v.data = NULL;
    expect_fault(&bundle, BIAS_ROW_LAST, "a head's value without its weights");
    bundle.value = good_head().value;
    bundle.value.inner_bias = numbers;
    expect_fault(&bundle, BIAS_ROW_LAST, "an inner bias without factors");
    bundle.heads = 0;
    expect_fault(&bundle, BIAS_ROW_LAST, "a bundle without heads");
}

/* What is there of a score or value says how it is written: in one way. */
static void what_is_of_another_kind_is_refused(void **state)
{
    Bundle bundle = good_head();
    bundle.value.unit = 1;
    expect_fault(&bundle, BIAS_ROW_LAST, "a head's value without its weights, or with others");
    bundle.value = good_head().value;
    bundle.value.d_head = 2;
    expect_fault(&bundle, BIAS_ROW_LAST, "a head's value without its weights, or with others");
    bundle.value.d_head = 0;
    bundle.value.o = bundle.value.v;
    expect_fault(&bundle, BIAS_ROW_LAST, "a head's value without its weights, or with others");
    bundle.value = good_head().value;
    bundle.value.scale = 2;
    expect_fault(&bundle, BIAS_ROW_LAST, "that of a matrix not 1");
    bundle = good_head();
    bundle.score.gate_unit = 1;
    expect_fault(&bundle, BIAS_ROW_LAST, "what is of a gate, without one");
}

static void scores_are_refused(void **state)
{
    Bundle bundle = good_head();
    bundle.score.visible = VISIBLE_LISTED;
    expect_fault(&bundle, BIAS_ROW_LAST, "leaves no row without a key");
    bundle.score.listed = sees_all;
    assert_null(fault_of(&bundle, BIAS_ROW_LAST));
    bundle.score.listed = blind;
    expect_fault(&bundle, BIAS_ROW_LAST, "leaves no row without a key");
    bundle.score.visible = VISIBLE_EARLIER;
    assert_null(fault_of(&bundle, BIAS_ROW_FIRST));
    expect_fault(&bundle, BIAS_ROW_LAST, "the bias row must come first");
    bundle = good_head();
    expect_fault(&bundle, BIAS_ROW_MASKED, "position scores without position columns");
    bundle.score.q_bias = numbers;
    expect_fault(&bundle, BIAS_ROW_LAST, "query and key biases without factors");
    bundle = good_head();
    bundle.score.scale.den = 0;
    expect_fault(&bundle, BIAS_ROW_LAST, "a score's scale is not positive");
    bundle = good_head();
    bundle.score.kind = SCORE_GATE;
    bundle.score.gate_scale = 1;
    expect_fault(&bundle, BIAS_ROW_NONE, "a gated head needs a bias row");
    bundle.heads = D + 1;
    expect_fault(&bundle, BIAS_ROW_LAST, "more unit gates than columns");
}

/* A pair is not larger than what was said before it was made, and where all of it is damaged or
 * none not much smaller: a term of an activation has heads, and copies, of its own. */
static void pairs_take_what_is_predicted(void **state)
{
    for (Construction c = 0; c < CONSTRUCTION_COUNT; c++) {
        for (int damage = 0; damage < 16; damage++) {
            CaseSpec spec = {.construction = c,
                             .n = 9,
                             .d = damage == 7 ? 48 : 12, /* wide: bundles weigh little there */
                             .d_ff = 40,
                             .heads = 3,
                             .d_head = damage % 4 == 3 ? 4 : 0,
                             .activation = damage % 8 < 4 ? ACTIVATION_SILU : ACTIVATION_GELU,
                             .gelu = damage % 8 < 6 ? GELU_TWO : GELU_SHIFTED_8,
                             .depth = 2,
                             .head_rank = damage % 8 == 6 ? 1 : 0,
                             .bias = BIAS_RANDOM,
                             .weight_noise = damage & 1 ? 0.01 : 0,
                             .dropout = damage % 4 == 2 ? 0.1 : 0,
                             .score_scale = damage % 4 == 1 ? 3 : 0,
                             .norm = damage < 8 ? NORMALIZATION_NONE : NORMALIZATION_LAYERNORM,
                             .norm_place = NORM_POST,
                             .norm_eps = 1};
            Pair pair = pair_make(&spec);
            double predicted = case_bytes(&spec);
            bool lost = spec.dropout > 0; /* of every head that a construction may have */
            if ((double)pair.bytes > predicted || (!lost && predicted > 8 * (double)pair.bytes)) {
                fail_msg("%s, damage %d: %zu bytes, predicted %.0f", construction_names[c], damage,
                         pair.bytes, predicted);
            }
            case_clear(&pair);
        }
    }
}

/* A row's coefficients all at once are those of its keys, one by one. */
static void positions_of_a_row_are_those_of_its_keys(void **state)
{
    enum { ROWS = N + 1 };
    static const unsigned char listed[ROWS * ROWS] = {1, 0, 1, 0, 1, 1, 1, 1, 0};
    static const signed char extra[2 * ROWS * ROWS] = {0, 5, -2, 1, 0, 0, 3, 0, -4, 7, 0, 0, 1};
    const BiasRow bias_rows[] = {BIAS_ROW_NONE, BIAS_ROW_FIRST, BIAS_ROW_LAST, BIAS_ROW_MASKED};
    for (int visible = VISIBLE_ALL; visible <= VISIBLE_LISTED; visible++) {
        for (size_t b = 0; b < 4 * 2; b++) {
            Layout layout = {.n = bias_rows[b / 2] == BIAS_ROW_NONE ? ROWS : N,
                             .d = D,
                             .bias_row = bias_rows[b / 2]};
            Score score = {.visible = (Visible)visible,
                           .position = {1, 2, 3, 4, 5},
                           .listed = listed,
                           .extra = b % 2 == 0 ? NULL : extra,
                           .extra_stride = ROWS * ROWS};
            for (size_t at = 0; at < 2 * ROWS * ROWS; at++) {
                size_t h = at / (ROWS * ROWS), i = at / ROWS % ROWS, j = at % ROWS;
                int row[ROWS];
                score_positions(&layout, &score, h, i, row);
                assert_int_equal(row[j], score_sees(&layout, &score, i, j)
                                             ? score_position(&layout, &score, h, i, j)
                                             : KEY_HIDDEN);
            }
        }
    }
}

SUBJECT(case)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(positions_of_a_row_are_those_of_its_keys),
        cmocka_unit_test(values_are_refused),
        cmocka_unit_test(what_is_of_another_kind_is_refused),
        cmocka_unit_test(scores_are_refused),
        cmocka_unit_test(pairs_take_what_is_predicted),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
