/*
 * The attention-only model as plain matrices against the definition of a head, entry by entry in
 * rational numbers; what cannot be exact; and what is refused.
 */
#include "../../cases/activation.h"
#include "../../cases/exact.h"
#include "../fixture.h"
#include "../plain_whole.h"
#include "../random_model.h"
#include "../unit.h"

#include <float.h>
#include <gmp.h>
#include <math.h>
#include <string.h>

#define SEED 20240731u

/* Rationals that terms are made in. */
typedef struct {
    mpq_t sum, magnitude, term, factor;
} Work;

static void work_init(Work *work)
{
    mpq_inits(work->sum, work->magnitude, work->term, work->factor, NULL);
}

static void work_clear(Work *work)
{
    mpq_clears(work->sum, work->magnitude, work->term, work->factor, NULL);
}

/* sum += a b c; magnitude += |a b c|. */
static void add_product(Work *work, double a, double b, double c)
{
    mpq_set_d(work->term, a);
    mpq_set_d(work->factor, b);
    mpq_mul(work->term, work->term, work->factor);
    mpq_set_d(work->factor, c);
    mpq_mul(work->term, work->term, work->factor);
    mpq_add(work->sum, work->sum, work->term);
    mpq_abs(work->term, work->term);
    mpq_add(work->magnitude, work->magnitude, work->term);
}

static void times(Work *work, long num, long den)
{
    mpq_set_si(work->factor, num, (unsigned long)den);
    mpq_canonicalize(work->factor);
    mpq_mul(work->sum, work->sum, work->factor);
    mpq_mul(work->magnitude, work->magnitude, work->factor);
}

static bool is_token(const Layout *layout, size_t column)
{
    size_t content = layout_content(layout);
    return column >= content && column - content != layout_bias_row(layout);
}

static bool within(Columns columns, size_t column)
{
    return column >= columns.first && column - columns.first < columns.count;
}

static double weight(const HeadWeight *w, size_t h, size_t r, size_t c)
{
    return w->data[h * w->head_stride + r * w->ld + c];
}

/* Entry of column c of a factor with a bias on the token positions. */
static double biased(const Layout *layout, Columns read, const HeadWeight *w, const double *bias,
                     size_t width, size_t h, size_t c, size_t k)
{
    if (within(read, c)) {
        return weight(w, h, c - read.first, k);
    }
    return is_token(layout, c) && bias != NULL ? bias[h * width + k] : 0;
}

static void define_gate(Work *work, const Layout *layout, const Score *s, size_t h, size_t a,
                        size_t b)
{
    double g = 0;
    if (!is_token(layout, b)) {
        return;
    }
    if (within(s->read, a)) {
        g = s->gate.data != NULL ? weight(&s->gate, h, a - s->read.first, 0)
                                 : (a - s->read.first == h ? s->gate_unit : 0);
    } else if (is_token(layout, a) && s->gate_bias != NULL) {
        g = s->gate_bias[h];
    }
    add_product(work, g, s->gate_scale, 1);
    if (is_token(layout, a) && s->gate_shift != NULL) {
        add_product(work, s->gate_shift[h], 1, 1);
    }
}

/* Of row i toward row j, as model.h defines it. */
static int position(const Layout *layout, const Score *s, size_t h, size_t i, size_t j)
{
    int extra = s->extra != NULL ? s->extra[h * s->extra_stride + i * layout_rows(layout) + j] : 0;
    return layout_position_score(layout, &s->position, i, j) + extra;
}

/* Q[a, b] as model.h defines it; a scale's square root must be an integer. */
static void define_q(Work *work, const Layout *layout, const Score *s, double omega, size_t h,
                     size_t a, size_t b)
{
    size_t content = layout_content(layout);
    mpq_set_ui(work->sum, 0, 1);
    mpq_set_ui(work->magnitude, 0, 1);
    if (s->kind == SCORE_GATE) {
        define_gate(work, layout, s, h, a, b);
    } else if (s->kind == SCORE_BILINEAR && s->d_head == 0) {
        if (within(s->read, a) && within(s->read, b)) {
            add_product(work, weight(&s->q, h, a - s->read.first, b - s->read.first), 1, 1);
        }
    }
    for (size_t k = 0; s->kind == SCORE_BILINEAR && k < s->d_head; k++) {
        add_product(work, biased(layout, s->read, &s->q, s->q_bias, s->d_head, h, a, k),
                    biased(layout, s->read, &s->k, s->k_bias, s->d_head, h, b, k), 1);
    }
    if (s->kind == SCORE_BILINEAR) {
        times(work, s->scale.num, s->scale.den * (long)sqrt((double)s->scale.sqrt_den));
    }
    if (a >= content && b >= content) {
        add_product(work, omega, position(layout, s, h, a - content, b - content), 1);
    }
}

/* V[a, b] as model.h defines it. */
static void define_v(Work *work, const Layout *layout, const Value *v, size_t h, size_t a, size_t b)
{
    size_t row = a - v->read.first, column = b - v->write.first;
    bool reads = value_width(v) > 0 && within(v->read, a), writes = within(v->write, b);
    mpq_set_ui(work->sum, 0, 1);
    mpq_set_ui(work->magnitude, 0, 1);
    if (v->unit != 0 && reads && writes && row == h && column == h) {
        add_product(work, v->unit, v->scale, 1);
    }
    if (v->d_head == 0 && v->v.data != NULL && reads && writes) {
        add_product(work, weight(&v->v, h, row, column), 1, 1);
    }
    for (size_t k = 0; v->d_head > 0 && writes && k < v->d_head; k++) {
        add_product(work, biased(layout, v->read, &v->v, v->inner_bias, v->d_head, h, a, k),
                    weight(&v->o, h, k, column), v->scale);
    }
    if (v->bias != NULL && h == 0 && writes && is_token(layout, a)) {
        add_product(work, v->bias[column], 1, 1);
    }
    if (reads && a == b) {
        add_product(work, v->diagonal, 1, 1);
    }
}

/* sum - the entry that the factors give: zero, or within roundings of the scale when inexact. */
static void check_entry(Work *work, const double *left, const double *right, size_t right_stride,
                        size_t rank, bool exact)
{
    mpq_t magnitude, bound;
    mpq_inits(magnitude, bound, NULL);
    mpq_set(magnitude, work->magnitude);
    for (size_t k = 0; k < rank; k++) {
        add_product(work, -left[k], right[k * right_stride], 1);
    }
    mpq_set_d(bound, exact ? 0 : 5 * DBL_EPSILON / 2); /* three of the scale, two of the entry */
    mpq_mul(bound, bound, magnitude);
    mpq_abs(work->sum, work->sum);
    assert_true(mpq_cmp(work->sum, bound) <= 0);
    mpq_clears(magnitude, bound, NULL);
}

static void check_head(const PlainModel *plain, size_t s, size_t at, const Bundle *bundle, size_t h)
{
    const PlainSublayer *p = &plain->sublayers[s];
    size_t width = plain->width, first = at * width * p->rank;
    Work work;
    work_init(&work);
    for (size_t a = 0; a < width; a++) {
        for (size_t b = 0; b < width; b++) {
            define_q(&work, &plain->layout, &bundle->score, plain->omega, h, a, b);
            check_entry(&work, p->w_q + first + a * p->rank, p->w_k + first + b * p->rank, 1,
                        p->rank, plain->inexact == NULL);
            define_v(&work, &plain->layout, &bundle->value, h, a, b);
            check_entry(&work, p->w_v + first + a * p->rank, p->w_o + first + b, width, p->rank,
                        true);
        }
    }
    work_clear(&work);
}

/* Heads from the own-th on, which are there for uniformity alone, have no entry. */
static void check_padding(const PlainSublayer *p, size_t width, size_t own)
{
    for (size_t e = own * p->rank * width; e < p->heads * p->rank * width; e++) {
        assert_true(p->w_q[e] == 0 && p->w_k[e] == 0 && p->w_v[e] == 0 && p->w_o[e] == 0);
    }
}

static void check_model(const PlainModel *plain, const Model *model)
{
    assert_int_equal(plain->sublayer_count, model->sublayer_count);
    for (size_t s = 0; s < model->sublayer_count; s++) {
        size_t at = 0;
        for (size_t b = 0; b < model->sublayers[s].bundle_count; b++) {
            const Bundle *bundle = &model->sublayers[s].bundles[b];
            assert_int_equal(plain->sublayers[s].causal, bundle->score.visible == VISIBLE_EARLIER);
            for (size_t h = 0; h < bundle->heads; h++) {
                check_head(plain, s, at++, bundle, h);
            }
        }
        assert_int_equal(plain_own_heads(plain, s), at);
        check_padding(&plain->sublayers[s], plain->width, at);
    }
}

static PlainModel build(const Model *model, double omega, const double *x)
{
    return plain_whole(&(Start){model, x, NULL, omega});
}

/* Scales of the scores, whether they are doubles, and whether they may stand in a random model. */
static const struct {
    Scale scale;
    bool exact;
} scales[] = {{{1, 1, 1}, true},  {{1, 1, 4}, true},  {{3, 4, 16}, true}, {{6, 3, 1}, true},
              {{1, 1, 9}, false}, {{2, 3, 1}, false}, {{5, 7, 64}, false}};

static void factors_are_the_definition(void **state)
{
    static RandomModel random;
    const double omegas[] = {3, 20, 50.7, 1000, 1e17};
    size_t heads_checked = 0;
    for (size_t i = 0; i < 600; i++) {
        random_start(&random, SEED + i);
        Layout layout = {1 + random_below(&random, 4), 2 + random_below(&random, 4),
                         random_below(&random, 3), i % 2 ? BIAS_ROW_FIRST : BIAS_ROW_LAST};
        Bundle two[2];
        bool exact = true, causal = i % 2 && random_below(&random, 2);
        size_t kind = random_below(&random, sizeof scales / sizeof *scales);
        for (size_t b = 0; b < 2; b++) {
            two[b] = random_bundle(&random, &layout, (ScoreShape)(i % SCORES_COUNT),
                                   (ValueShape)(i / SCORES_COUNT % VALUES_COUNT),
                                   1 + random_below(&random, 2), causal);
            if (random_below(&random, 3) == 0) {
                random_sight(&random, &layout, &two[b]); /* entries of Omega of their own */
            }
            two[b].score.visible = causal ? VISIBLE_EARLIER : VISIBLE_ALL;
            two[b].score.scale = scales[kind].scale;
            exact = exact && (two[b].score.kind != SCORE_BILINEAR || scales[kind].exact);
            heads_checked += two[b].heads;
        }
        size_t end = 1;
        Sublayer sublayer = {.bundles = two, .bundle_count = 2};
        Model model = {layout, &sublayer, 1, &end, 1, NULL};
        const double *x = random_numbers(&random, layout.n * layout_content(&layout));
        PlainModel plain = build(&model, omegas[i % 5], x);
        assert_int_equal(plain.inexact == NULL, exact);
        check_model(&plain, &model);
        plain_clear(&plain);
    }
    print_message("%zu heads; seed %u\n", heads_checked, SEED);
}

/* And all sublayers of one size: heads of a network beside few of attention. */
static void constructions_are_the_definition(void **state)
{
    for (int c = 0; c < CONSTRUCTION_MASKED; c++) {
        for (int variant = 0; variant < 6; variant++) {
            CaseSpec spec = {.construction = (Construction)c,
                             .n = 3,
                             .d = 3,
                             .d_ff = 5,
                             .heads = 2,
                             .d_head = variant & 2 ? 2 : 0,
                             .depth = 2,
                             .seed = SEED,
                             .bias = BIAS_RANDOM,
                             .mask = (Mask)(variant % 2),
                             .linear = (Linear)(variant % 3),
                             .activation = ACTIVATION_GELU,
                             .gelu = gelu_of_terms(3)};
            Pair pair = pair_make(&spec);
            PlainModel plain = build(&pair.converted, 50.7, pair.converted_x);
            assert_null(plain.inexact);
            check_model(&plain, &pair.converted);
            plain_clear(&plain);
            case_clear(&pair);
        }
    }
}

/* A numerator beyond 2^53 is refused even where it is a double. */
static void scales_that_are_doubles(void **state)
{
    static const struct {
        Scale scale;
        double value;
        bool exact;
    } cases[] = {
        {{1L << 53, 1, 1}, 0x1p53, true},           {{(1L << 53) + 1, 1, 1}, 0x1p53, false},
        {{(1L << 54) + 2, 2, 1}, 0x1p53, false},    {{1L << 54, 2, 1}, 0x1p53, true},
        {{1, 1L << 40, 1L << 20}, 0x1p-50, true},   {{9, 3, 1}, 3, true},
        {{1, 1, 2}, 0.70710678118654752440, false}, {{1, 3, 1}, 0.33333333333333333333, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double value;
        assert_int_equal(exact_scale(&value, cases[i].scale), cases[i].exact);
        assert_true(fabs(value - cases[i].value) <= 2 * DBL_EPSILON * cases[i].value);
    }
}

/* The ranks that docs and users count on, for d content and h hidden columns and n tokens. */
static void ranks_are_the_least(void **state)
{
    enum { N = 4, D = 3, H = 5 };
    const struct {
        Construction construction;
        size_t d_head, sublayer, heads, rank;
    } expected[] = {
        {CONSTRUCTION_ATTENTION, 2, 0, 2, 2 + 1}, {CONSTRUCTION_ATTENTION, 0, 0, 2, D + 1},
        {CONSTRUCTION_SILU, 0, 0, D, N + 1 + 1},  {CONSTRUCTION_FUSED, 0, 0, H + 1, N + 1 + 1},
        {CONSTRUCTION_FFN3, 0, 0, 1, N + 1},      {CONSTRUCTION_FFN3, 0, 1, H, N + 1 + 1},
        {CONSTRUCTION_FFN3, 0, 2, 1, H + 1},      {CONSTRUCTION_LINEAR, 0, 1, 1, N + 1}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        CaseSpec spec = {.construction = expected[i].construction,
                         .n = N,
                         .d = D,
                         .d_ff = H,
                         .heads = 2,
                         .d_head = expected[i].d_head,
                         .depth = 2,
                         .seed = 1,
                         .bias = BIAS_RANDOM,
                         .linear = LINEAR_BLOCK};
        Pair pair = pair_make(&spec);
        PlainModel plain = build(&pair.converted, 20, pair.converted_x);
        assert_int_equal(plain_own_heads(&plain, expected[i].sublayer), expected[i].heads);
        assert_int_equal(plain_own_rank(&plain, expected[i].sublayer), expected[i].rank);
        plain_clear(&plain);
        case_clear(&pair);
    }
}

/* A single linear head in place on one column, and one with a scaled factor. */
typedef struct {
    double w, v, o;
    BundleStack stack;
    Model model;
} Tiny;

static void tiny_make(Tiny *tiny, double w, double v, double o, double scale)
{
    *tiny = (Tiny){.w = w, .v = v, .o = o};
    Score score = {.kind = SCORE_NONE, .scale = {1, 1, 1}, .position = {2, 0, 0, 2, 0}};
    Columns one = {0, 1};
    tiny->stack.bundle[0] = (Bundle){
        1, score, {.read = one, .write = one, .v = {&tiny->w, 1, 1}, .scale = 1, .diagonal = -1}};
    tiny->stack.bundle[1] = (Bundle){1,
                                     score,
                                     {.read = one,
                                      .write = one,
                                      .d_head = 1,
                                      .v = {&tiny->v, 1, 1},
                                      .o = {&tiny->o, 1, 1},
                                      .scale = scale}};
    tiny->model = stack_model(&tiny->stack, (Layout){1, 1, 0, BIAS_ROW_LAST}, 2);
}

/* W - 1 takes a term more only where it is no double; a product likewise; and below 2^-1074 nothing
 * can help. */
static void terms_are_split_where_needed(void **state)
{
    const struct {
        double w, o, scale;
        size_t in_place, scaled; /* terms with an entry */
        bool exact;
    } cases[] = {{0.5, 0.3, 4, 1, 1, true},
                 {1e-8, 0.3, 1, 2, 1, true},
                 {0, 0.3, 1.702, 1, 2, true},
                 {-1e300, 0, 1.702, 2, 1, true},
                 {2, 0x1p-1074, 1.5, 1, 1, false},
                 {2, 0x1p-1074, 4, 1, 1, true},
                 {1, 1e-308, 2.95015679, 1, 1, false},
                 {1, 1e300, 1.702, 1, 2, true}};
    const double x = 1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Tiny tiny;
        tiny_make(&tiny, cases[i].w, 1, cases[i].o, cases[i].scale);
        PlainModel plain = build(&tiny.model, 20, &x);
        size_t used[2] = {0, 0};
        for (size_t s = 0; s < 2; s++) {
            for (size_t k = 0; k < plain.sublayers[s].rank; k++) {
                used[s] += plain.sublayers[s].w_v[k] != 0;
            }
        }
        assert_int_equal(plain.inexact == NULL, cases[i].exact);
        assert_int_equal(used[0], cases[i].in_place);
        if (cases[i].exact) {
            assert_int_equal(used[1], cases[i].scaled);
            check_model(&plain, &tiny.model);
        }
        plain_clear(&plain);
    }
}

static void expect_refused(const Model *model, double omega, const char *why)
{
    PlainModel plain;
    const char *reason;
    const double x = 1;
    assert_int_equal(plain_build(&plain, &reason, &(Start){model, &x, NULL, omega}, PLAIN_ROLLING),
                     PLAIN_REJECTED);
    assert_non_null(strstr(reason, why));
    assert_null(plain.memory);
    plain_clear(&plain);
}

static void what_has_no_plain_form_is_refused(void **state)
{
    Tiny tiny;
    tiny_make(&tiny, 1, 1, 1, 1);
    expect_refused(&tiny.model, INFINITY, "finite Omega");
    expect_refused(&tiny.model, 0, "finite Omega");
    expect_refused(&tiny.model, NAN, "finite Omega");
    tiny.model.layout.bias_row = BIAS_ROW_NONE;
    expect_refused(&tiny.model, 20, "bias row");
    tiny.model.layout.bias_row = BIAS_ROW_LAST;
    tiny.stack.bundle[0].score.visible = VISIBLE_EARLIER;
    expect_refused(&tiny.model, 20, "causal");
    tiny.model.layout.bias_row = BIAS_ROW_FIRST;
    tiny.stack.sublayer[0].bundle_count = 2;
    expect_refused(&tiny.model, 20, "different masks");
    tiny_make(&tiny, 1, 1, 1.5e308, 1.702);
    expect_refused(&tiny.model, 20, "beyond the doubles");
    tiny.stack.bundle[1].value.scale = 1;
    tiny.stack.bundle[0].score.position = (PositionScores){.token_bias = -2, .bias_self = 2};
    expect_refused(&tiny.model, 1e308, "beyond the doubles");
    tiny.stack.bundle[0].score.position = (PositionScores){.token_bias = -3, .bias_self = 7};
    expect_refused(&tiny.model, 0.3e308, "beyond the doubles");
    tiny_make(&tiny, 1, 1, 1, 1);
    const double gamma = 1;
    Sublayer *second = &tiny.stack.sublayer[1];
    second->bundle_count = 0;
    second->norm =
        (LayerNorm){.kind = NORMALIZATION_RMSNORM, .columns = {0, 1}, .gamma = &gamma, .eps = 1};
    second->direct = (Direct){.kind = DIRECT_NORM, .read = {0, 1}, .write = {0, 1}};
    tiny.stack.sublayer[0].norm = second->norm;
    expect_refused(&tiny.model, 20, "behind heads that have one");
}

/* Token rows, bias row and ones are where the layout has them. */
static void augmented_stream_is_laid_out(void **state)
{
    const double x[] = {1, 2, 3, 4, 5, 6}, bias[] = {7, 8, 9};
    const double first[] = {7, 8, 9, 1, 0, 0, 1, 2, 3, 0, 1, 0, 4, 5, 6, 0, 0, 1};
    const double last[] = {1, 2, 3, 1, 0, 0, 4, 5, 6, 0, 1, 0, 0, 0, 0, 0, 0, 1};
    Layout layout = {2, 2, 1, BIAS_ROW_FIRST};
    double stream[18];
    plain_augment(stream, &layout, x, bias);
    assert_memory_equal(stream, first, sizeof first);
    layout.bias_row = BIAS_ROW_LAST;
    plain_augment(stream, &layout, x, NULL);
    assert_memory_equal(stream, last, sizeof last);
}

SUBJECT(plain_exact)
{
    const struct CMUnitTest plain_exact[] = {
        cmocka_unit_test(factors_are_the_definition),
        cmocka_unit_test(constructions_are_the_definition),
        cmocka_unit_test(scales_that_are_doubles),
        cmocka_unit_test(ranks_are_the_least),
        cmocka_unit_test(terms_are_split_where_needed),
        cmocka_unit_test(what_has_no_plain_form_is_refused),
        cmocka_unit_test(augmented_stream_is_laid_out),
    };
    return cmocka_run_group_tests(plain_exact, NULL, NULL);
}
