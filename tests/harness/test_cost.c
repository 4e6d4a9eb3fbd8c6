/*
 * The cost of a rewrite: the figures that the seed texts state, those that the models' authors
 * published, counts made elsewhere, and ranks by elimination on the matrices themselves.
 */
#include "../../harness/commands/cost/cost.h"
#include "../fixture.h"
#include "../plain_whole.h"
#include "../program.h"
#include "../random_model.h"
#include "../rational.h"
#include "../written_model.h"
#include "../unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The cells of the line that `cost ARGUMENTS` prints. */
typedef struct {
    const char *column, *text;
} Cell;

static void expect(const char *arguments, const Cell *cells, size_t count)
{
    Output output = expect_run(0, "cost %s", arguments);
    bool witnessed = strstr(output.text, "witness") != NULL; /* a line of its own */
    assert_int_equal(lines(&output), 2 + witnessed);
    for (size_t i = 0; i < count; i++) {
        print_message("%s: %s\n", arguments, cells[i].column);
        expect_cell(&output, 1, cells[i].column, cells[i].text);
    }
}

#define EXPECT(arguments, ...)                                                                     \
    do {                                                                                           \
        const Cell cells[] = {__VA_ARGS__};                                                        \
        expect(arguments, cells, sizeof cells / sizeof *cells);                                    \
    } while (0)

static double figure(const char *arguments, const char *column)
{
    Output output = expect_run(0, "cost %s", arguments);
    double value = number(&output, 1, column);
    return value;
}

/* The two numbers of a line: of the original, and of attention alone. */
static void expect_pair(const char *text, const char *name, double original, double attention)
{
    const char *at = strstr(text, name);
    double a, b;
    assert_non_null(at);
    assert_int_equal(sscanf(at + strlen(name), "%lf %lf", &a, &b), 2);
    assert_true(a == original && b == attention);
}

/* For a reader: the figures of GPT-3 that the seed texts state, and a construction measured. */
static void a_terminal_gets_lines(void **state)
{
    static char text[8192];
    run_on_terminal(text, sizeof text, "cost --preset gpt3", 0);
    expect_pair(text, "\n  heads ", 96, 96 + 49152);
    expect_pair(text, "\n  rows of the stream ", 2048, 2049);
    expect_pair(text, "\n  its width ", 12288, 14337);
    assert_non_null(strstr(text, "96 heads of 128,\r\n  no biases\r\n"));
    assert_non_null(strstr(text, "  x 1.167\r\n"));
    assert_non_null(strstr(text, "  0.195 % are external\r\n"));
    assert_non_null(strstr(text, "  as Q and V: "));
    /* Of 96 (4 D^2 + 8 D^2) and (50257 + 2048) D numbers, D = 12288. */
    assert_non_null(strstr(text, "33.3 %; 33.2 % of all\r\n"));
    assert_non_null(strstr(text, "66.7 %; 66.4 % of all\r\n"));
    run_on_terminal(text, sizeof text, "cost --construction fused --n 4 --d 5 --measure", 0);
    expect_pair(text, "\n  rows of the stream ", 4, 5);
    assert_non_null(strstr(text, "    seconds, measured "));
}

/* Weights as counted in the published files, less 8 D a layer and 2 D for the layer norms and the
 * attention's biases, which drawn models do not have. */
static void gpt2_has_its_published_parameters(void **state)
{
    static const struct {
        const char *name;
        double d, layers, published;
    } models[] = {{"gpt2-small", 768, 12, 124439808},
                  {"gpt2-medium", 1024, 24, 354823168},
                  {"gpt2-large", 1280, 36, 774030080},
                  {"gpt2-xl", 1600, 48, 1557611200}};
    for (size_t i = 0; i < 4; i++) {
        char arguments[64];
        snprintf(arguments, sizeof arguments, "--preset %s --bias random", models[i].name);
        double counted = figure(arguments, "attention_parameters") +
                         figure(arguments, "network_parameters") +
                         figure(arguments, "embedding_parameters");
        double others = models[i].d * (8 * models[i].layers + 2);
        assert_true(counted + others == models[i].published);
    }
}

/* Those of the norms are 4 D a layer and 2 D for the last one; none of them is a sublayer of heads,
 * before a part of a layer or behind it. */
static void norms_are_counted(void **state)
{
    EXPECT("--preset gpt2-small --normalization layernorm", {"norm_parameters", "38400"},
           {"original_sublayers", "2"}, {"converted_sublayers", "2"},
           {"sublayer_heads", "12;3072"});
    EXPECT("--preset gpt2-small --normalization rmsnorm", {"norm_parameters", "19200"});
    EXPECT("--preset gpt2-small --normalization layernorm --normalization-place post "
           "--construction transformer3",
           {"norm_parameters", "36864"}, {"original_sublayers", "2"}, {"converted_sublayers", "4"});
    EXPECT("--preset gpt2-small", {"norm_parameters", "0"});
    assert_true(figure("--preset gpt2-small --normalization layernorm", "network_parameters") ==
                figure("--preset gpt2-small", "network_parameters"));
    double all = 28311552 + 56623104 + 38400 + 39383808;
    double share = figure("--preset gpt2-small --normalization layernorm", "network_share_of_all");
    assert_true(fabs(share - 56623104 / all) < 1e-15);
}

/* 227256 bytes, of which the numbers are 4 each (cases/models/README.md). */
static void a_file_has_its_parameters(void **state)
{
    static const char model[] = "cases/models/modadd53-silu.safetensors";
    double counted = figure(model, "attention_parameters") + figure(model, "network_parameters") +
                     figure(model, "embedding_parameters");
    assert_true(4 * counted == 226048);
    EXPECT(model, {"n", "3"}, {"sublayer_heads", "4;257"}, {"converted_width", "68"});
}

/* As many as are written: four matrices of 6, three biases of 2 and one of 3. */
static void every_bias_is_counted(void **state)
{
    static const char *const tensors[] = {TENSOR("blocks.0.attn.W_Q", "[1,3,2]", "0", "48"),
                                          TENSOR("blocks.0.attn.W_K", "[1,3,2]", "48", "96"),
                                          TENSOR("blocks.0.attn.W_V", "[1,3,2]", "96", "144"),
                                          TENSOR("blocks.0.attn.W_O", "[1,2,3]", "144", "192"),
                                          TENSOR("blocks.0.attn.b_Q", "[1,2]", "192", "208"),
                                          TENSOR("blocks.0.attn.b_K", "[1,2]", "208", "224"),
                                          TENSOR("blocks.0.attn.b_V", "[1,2]", "224", "240"),
                                          TENSOR("blocks.0.attn.b_O", "[3]", "240", "264")};
    static const double data[33] = {1, 2, 3};
    const Scratch *scratch = *state;
    char arguments[2 * SCRATCH_PATH], all[1024] = "";
    for (size_t i = 0; i < sizeof tensors / sizeof *tensors; i++) {
        strcat(strcat(all, i == 0 ? "" : ","), tensors[i]);
    }
    written_model(scratch, "m.safetensors", all, data, 33);
    snprintf(arguments, sizeof arguments,
             "--construction attention --n 4 --weights %s/m.safetensors", scratch->directory);
    assert_true(figure(arguments, "attention_parameters") == 33);
}

/* Counted by hand and by other programs. */
static void work_is_counted(void **state)
{
    EXPECT("--construction fused --n 20 --d 30 --d-ff 120", {"dense_converted_flops", "37013760"},
           {"dense_converted_exponentials", "52920"}, {"structured_original_flops", "288000"},
           {"structured_converted_flops", "317520"});
    EXPECT("--construction linear --n 20 --d 30", {"structured_converted_flops", "45360"},
           {"structured_converted_exponentials", "63"});
    EXPECT("--construction attention --n 5 --d 3 --heads 2", {"dense_original_flops", "960"},
           {"structured_original_flops", "960"}, {"structured_original_exponentials", "50"});
    assert_true(fabs(figure("--preset gpt2-small", "structured_original_flops") / 2.12e11 - 1) <
                0.005);
    assert_true(fabs(figure("--preset gpt2-small", "dense_converted_flops") / 7.66e14 - 1) < 0.005);
    EXPECT("--preset gpt2-small --depth 3 --construction linear --linear block --d-ff 5",
           {"structured_original_flops", "23592960"});
}

static size_t product_rank(const double *left, const double *right, size_t width, size_t rank,
                           bool transposed)
{
    Rat a = rat_of(left, width, rank, rank);
    Rat b = transposed ? rat_transpose(rat_of(right, width, rank, rank))
                       : rat_of(right, rank, width, width);
    return rat_rank(rat_mul(a, b));
}

static void check_ranks(const CaseSpec *spec)
{
    Pair pair = pair_make(spec);
    PlainModel plain = plain_whole(&(Start){&pair.converted, pair.converted_x, NULL, 3});
    ModelCost cost;
    assert_null(plain.inexact);
    model_cost_init(&cost);
    model_cost_count(&cost, &pair.converted, 1, 0);
    assert_int_equal(cost.sublayer_count, plain.sublayer_count);
    for (size_t s = 0; s < plain.sublayer_count; s++) {
        const PlainSublayer *sub = &plain.sublayers[s];
        size_t score = 0, value = 0, stride = plain.width * sub->rank;
        for (size_t h = 0; h < sub->heads; h++) {
            size_t q = product_rank(sub->w_q + h * stride, sub->w_k + h * stride, plain.width,
                                    sub->rank, true);
            size_t v = product_rank(sub->w_v + h * stride, sub->w_o + h * stride, plain.width,
                                    sub->rank, false);
            score = q > score ? q : score;
            value = v > value ? v : value;
        }
        if (score != cost.sublayers[s].score_rank || value != cost.sublayers[s].value_rank) {
            print_message("%s, n %zu, d %zu, d_head %zu, bias %d, sublayer %zu\n",
                          construction_names[spec->construction], spec->n, spec->d, spec->d_head,
                          (int)spec->bias, s);
        }
        assert_int_equal(score, cost.sublayers[s].score_rank);
        assert_int_equal(value, cost.sublayers[s].value_rank);
    }
    model_cost_clear(&cost);
    plain_clear(&plain);
    case_clear(&pair);
    rat_release_all();
}

static void ranks_are_by_elimination(void **state)
{
    size_t checked = 0;
    for (int c = 0; c < CONSTRUCTION_COUNT; c++) {
        /* A head that takes an explicit mask has no plain form. */
        int variants = construction_info((Construction)c)->masked ? 0 : 24;
        for (int variant = 0; variant < variants; variant++) {
            CaseSpec spec = {.construction = (Construction)c,
                             .n = 1 + (size_t)variant % 3,
                             .d = 4,
                             .d_ff = variant % 2 == 0 ? 3 : 6,
                             .heads = 2,
                             .d_head = variant / 12 == 0 ? 2 : 0,
                             .depth = 1,
                             .seed = 1,
                             .bias = variant % 4 < 2 ? BIAS_NONE : BIAS_RANDOM,
                             .linear = (Linear)(variant / 4 % LINEAR_COUNT)};
            check_ranks(&spec);
            checked++;
        }
    }
    print_message("%zu models\n", checked);
}

/* The rank of the matrix of the coefficients of Omega, whatever they are. */
static void position_ranks_are_by_elimination(void **state)
{
    enum { VALUES = 4, ALL = VALUES * VALUES * VALUES * VALUES * VALUES, ROWS_MOST = 4 };
    for (size_t n = 1; n < ROWS_MOST; n++) {
        for (int i = 0; i < ALL; i++) {
            const PositionScores position = {i % VALUES - 1, i / 4 % VALUES - 1,
                                             i / 16 % VALUES - 1, i / 64 % VALUES - 1, i / 256 - 1};
            Layout layout = {.n = n, .d = 1, .bias_row = BIAS_ROW_FIRST};
            BundleStack stack = {.bundle = {{.heads = 1, .score = {.position = position}}}};
            Model model = stack_model(&stack, layout, 1);
            double scores[ROWS_MOST * ROWS_MOST];
            ModelCost cost;
            for (size_t k = 0; k < (n + 1) * (n + 1); k++) {
                scores[k] = layout_position_score(&layout, &position, k / (n + 1), k % (n + 1));
            }
            model_cost_init(&cost);
            model_cost_count(&cost, &model, 1, 0);
            assert_int_equal(cost.sublayers[0].score_rank,
                             rat_rank(rat_of(scores, n + 1, n + 1, n + 1)));
            model_cost_clear(&cost);
            rat_release_all();
        }
    }
}

SUBJECT(cost)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_terminal_gets_lines),
        cmocka_unit_test(gpt2_has_its_published_parameters),
        cmocka_unit_test(norms_are_counted),
        cmocka_unit_test(a_file_has_its_parameters),
        SCRATCH_TEST(every_bias_is_counted),
        cmocka_unit_test(work_is_counted),
        cmocka_unit_test(ranks_are_by_elimination),
        cmocka_unit_test(position_ranks_are_by_elimination),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
