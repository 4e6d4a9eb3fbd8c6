/*
 * Logits as sums over heads and source tokens: each term against patterns by their definition, in
 * long double, times the plain matrices W_V W_O of `convert`; the sums against the logits.
 */
#include "../../harness/commands/attribute/attribute.h"
#include "../../reference/attribution/attribution_internal.h"

#include "../../cases/activation.h"
#include "../../cases/case.h"
#include "../fixture.h"
#include "../naive.h"
#include "../plain_whole.h"
#include "../unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 3, D = 4, CLASSES = 3, ROWS = N + 1 };

/* An unembedding that reads every column, every class differently. */
static const double w_u[D * CLASSES] = {0.5, -1, 2, 0.25, 3, -0.125, -2, 1, 0.75, 1, 1, -1};
static const double b_u[CLASSES] = {0.5, -0.25, 1};

/* The sums of all terms of logit v by source, over the paths of a sublayer that are of a head
 * (head < SIZE_MAX) or all of them. */
typedef struct {
    long double at[ROWS];
} Sources;

static long double round_long(mpfr_srcptr x)
{
    return mpfr_get_ld(x, MPFR_RNDN);
}

static Sources attributed(const RefPaths *paths, const RefWrites *writes, const RefReadout *readout,
                          RefPath of, size_t v)
{
    Sources sources = {{0}};
    mpfr_t term, centred;
    mpfr_inits2(256, term, centred, (mpfr_ptr)NULL);
    for (size_t p = 0; p < ref_paths_count(paths); p++) {
        const RefPath *path = ref_path(paths, p);
        if (path->layer != of.layer || path->sublayer != of.sublayer ||
            (of.head < SIZE_MAX && path->head != of.head)) {
            continue;
        }
        for (size_t j = 0; j < ROWS; j++) {
            ref_term(term, centred, writes, readout, p, j, v);
            sources.at[j] += round_long(term);
        }
    }
    mpfr_clears(term, centred, (mpfr_ptr)NULL);
    return sources;
}

/* p(last, j) x_j W_V W_O w_v of one plain head. */
static void add_plain(Sources *sources, const PlainModel *plain, size_t s, size_t head,
                      const NaiveMatrix *pattern, const NaiveMatrix *x, size_t v)
{
    const PlainSublayer *p = &plain->sublayers[s];
    size_t last = layout_token_row(&plain->layout, N - 1);
    for (size_t j = 0; j < ROWS; j++) {
        long double sum = 0;
        for (size_t r = 0; r < p->rank; r++) {
            long double inner = 0, outer = 0;
            for (size_t c = 0; c < plain->width; c++) {
                inner += x->value[j][c] * p->w_v[(head * plain->width + c) * p->rank + r];
            }
            for (size_t c = 0; c < D; c++) {
                outer += (long double)p->w_o[(head * p->rank + r) * plain->width + c] *
                         w_u[c * CLASSES + v];
            }
            sum += inner * outer;
        }
        sources->at[j] += pattern->value[last][j] * sum;
    }
}

/* A case, all its parts. */
typedef struct {
    Pair pair;
    PlainModel plain;
    RefPaths *paths;
    RefWrites *writes;
    RefReadout *readout;
} Made;

static const size_t every[CLASSES] = {0, 1, 2};

static void make(Made *m, const CaseSpec *spec, double omega, mpfr_prec_t bits)
{
    const RefUnembedding u = {w_u, b_u, D, CLASSES, {.kind = NORMALIZATION_NONE}, false};
    m->pair = pair_make(spec);
    const Start start = pair_start(&m->pair, omega);
    m->plain = plain_whole(&start);
    m->paths = ref_paths_make(&m->pair.converted, &u);
    assert_non_null(m->paths);
    m->writes = ref_writes_make(m->paths, &start, bits);
    m->readout = ref_readout_make(m->paths, every, CLASSES, bits);
    assert_true(m->writes != NULL && m->readout != NULL);
}

static void unmake(Made *m)
{
    ref_readout_clear(m->readout);
    ref_writes_clear(m->writes);
    ref_paths_clear(m->paths);
    plain_clear(&m->plain);
    case_clear(&m->pair);
}

/* Long doubles lose a few hundred units of 2^-64 here; what is held is 2^-50 of the largest. */
static void expect_near(const Sources *got, const Sources *expected, const char *what, size_t s,
                        size_t head)
{
    long double size = 1;
    for (size_t j = 0; j < ROWS; j++) {
        size = fmaxl(size, fabsl(expected->at[j]));
    }
    for (size_t j = 0; j < ROWS; j++) {
        if (!(fabsl(got->at[j] - expected->at[j]) <= 0x1p-50L * size)) {
            fail_msg("%s: sublayer %zu, head %zu, row %zu: %.17Lg, expected %.17Lg", what, s, head,
                     j, got->at[j], expected->at[j]);
        }
    }
}

/* A sublayer of a model's, what it reads, and how attribution counts it. */
typedef struct {
    const Made *made;
    double omega;
    bool by_head;
    const char *what;
    const NaiveMatrix *x;
    size_t index; /* of the model's sublayers */
    RefPath of;
} Compared;

/* The terms of one class of logits, all heads together, and head by head where that is asked. */
static void compare_class(const Compared *at, NaiveMatrix *pattern, size_t v)
{
    const Made *m = at->made;
    const Sublayer *sublayer = &m->pair.converted.sublayers[at->index];
    Sources whole = {{0}};
    RefPath of = at->of;
    of.head = 0;
    for (size_t b = 0; b < sublayer->bundle_count; b++) {
        const Bundle *bundle = &sublayer->bundles[b];
        for (size_t h = 0; h < bundle->heads; h++, of.head++) {
            Sources own = {{0}};
            naive_pattern(pattern, at->x, &m->pair.converted.layout, bundle, h, at->omega);
            add_plain(&own, &m->plain, at->index, of.head, pattern, at->x, v);
            for (size_t j = 0; j < ROWS; j++) {
                whole.at[j] += own.at[j];
            }
            Sources got = attributed(m->paths, m->writes, m->readout, of, v);
            if (at->by_head) {
                expect_near(&got, &own, at->what, at->index, of.head);
            }
        }
    }
    of.head = SIZE_MAX;
    Sources got = attributed(m->paths, m->writes, m->readout, of, v);
    expect_near(&got, &whole, at->what, at->index, SIZE_MAX);
}

/* Every sublayer, from the streams by their definition: head by head where heads have no biases. */
static void compare(const Made *m, double omega, bool by_head, const char *what)
{
    const Model *model = &m->pair.converted;
    const Layout *layout = &model->layout;
    size_t width = layout_width(layout), first = 0, layer = 0;
    double stream[ROWS * NAIVE_WIDTH];
    NaiveMatrix *x = calloc(1, sizeof *x), *next = calloc(1, sizeof *next);
    NaiveMatrix *pattern = calloc(1, sizeof *pattern);
    assert_true(x != NULL && next != NULL && pattern != NULL && width <= NAIVE_WIDTH);
    plain_augment(stream, layout, m->pair.converted_x, m->pair.bias_row_content);
    for (size_t i = 0; i < ROWS * width; i++) {
        x->value[i / width][i % width] = stream[i];
    }
    for (size_t s = 0; s < model->sublayer_count; s++) {
        if (s == model->layer_end[layer]) {
            first = s;
            layer++;
        }
        const RefPath of = {.layer = layer + 1, .sublayer = s - first + 1};
        const Compared at = {m, omega, by_head, what, x, s, of};
        for (size_t v = 0; v < CLASSES; v++) {
            compare_class(&at, pattern, v);
        }
        naive_sublayer(next, x, layout, &model->sublayers[s], omega);
        NaiveMatrix *old = x;
        x = next;
        next = old;
    }
    free(x);
    free(next);
    free(pattern);
}

/* All terms together, against the logit of the structured evaluation: within the bound, which is
 * far below a double's last place. */
static void expect_sums(const Made *m, const char *what)
{
    mpfr_t sum, term, centred, logit, bound;
    mpfr_inits2(512, sum, term, centred, logit, bound, (mpfr_ptr)NULL);
    for (size_t v = 0; v < CLASSES; v++) {
        mpfr_set_zero(sum, 1);
        for (size_t p = 0; p < ref_paths_count(m->paths); p++) {
            for (size_t j = 0; j < ROWS; j++) {
                ref_term(term, centred, m->writes, m->readout, p, j, v);
                mpfr_add(sum, sum, term, MPFR_RNDN);
            }
        }
        ref_writes_logit(logit, m->writes, v);
        ref_attribution_bound(bound, m->writes, m->readout, v);
        mpfr_sub(sum, sum, logit, MPFR_RNDN);
        if (!mpfr_number_p(sum) || mpfr_cmpabs(sum, bound) > 0) {
            mpfr_printf("%s: logit %zu: off by %.3Re, bound %.3Re\n", what, v, sum, bound);
            fail();
        }
        assert_true(mpfr_cmp_d(bound, 1e-40) < 0 && mpfr_sgn(bound) > 0);
    }
    mpfr_clears(sum, term, centred, logit, bound, (mpfr_ptr)NULL);
}

static CaseSpec spec_of(Construction construction, Mask mask, Bias bias)
{
    return (CaseSpec){.construction = construction,
                      .n = N,
                      .d = D,
                      .d_ff = 5,
                      .heads = 2,
                      .d_head = mask == MASK_CAUSAL ? 2 : 0,
                      .depth = 2,
                      .seed = 7,
                      .mask = mask,
                      .bias = bias,
                      .linear = LINEAR_IN_PLACE,
                      .activation = bias == BIAS_RANDOM ? ACTIVATION_GELU : ACTIVATION_SILU,
                      .slope = 1,
                      .gelu = gelu_of_terms(3),
                      .bias_row_content = mask == MASK_NONE ? CONTENT_RANDOM : CONTENT_NONE};
}

/* At Omega = 2 every head attends every row it sees, and what leaks is as visible as the rest. */
static void terms_are_patterns_times_circuits(void **state)
{
    static const Construction constructions[] = {CONSTRUCTION_TRANSFORMER,
                                                 CONSTRUCTION_TRANSFORMER3, CONSTRUCTION_LINEAR,
                                                 CONSTRUCTION_SILU};
    for (size_t c = 0; c < sizeof constructions / sizeof *constructions; c++) {
        for (int mask = MASK_NONE; mask <= MASK_CAUSAL; mask++) {
            for (int bias = BIAS_NONE; bias <= BIAS_RANDOM; bias++) {
                CaseSpec spec = spec_of(constructions[c], (Mask)mask, (Bias)bias);
                char what[64];
                Made m = {0};
                snprintf(what, sizeof what, "%s, mask %d, bias %d",
                         construction_names[spec.construction], mask, bias);
                make(&m, &spec, 2, 256);
                compare(&m, 2, bias == BIAS_NONE, what);
                expect_sums(&m, what);
                unmake(&m);
            }
        }
    }
}

/* Attention as a file gives it, with biases on queries and keys: those are the tokens' own, and the
 * bias row, which every token attends at Omega = 2, has none.  Values have no bias, so that heads
 * can be told apart. */
static void biases_of_keys_are_of_tokens(void **state)
{
    static const double w[2 * D * 2] = {0.5, -1, 0.25, 2, -0.5, 1,  0.75, -2,
                                        1,   1,  -1.5, 3, 0.25, -1, 2,    -0.75};
    static const double b_q[4] = {1, -0.5, 0.25, 2}, b_k[4] = {-1, 1.5, 0.5, -0.75};
    static const GivenLayer layers[2] = {
        {.w_q = w, .w_k = w, .w_v = w, .w_o = w, .b_q = b_q, .b_k = b_k},
        {.w_q = w, .w_k = w, .w_v = w, .w_o = w, .b_q = b_k, .b_k = b_q}};
    static const GivenWeights given = {.layers = layers, .scale = {1, 1, 1}};
    CaseSpec spec = spec_of(CONSTRUCTION_ATTENTION, MASK_NONE, BIAS_NONE);
    Made m = {0};
    spec.d_head = 2;
    spec.given = &given;
    make(&m, &spec, 2, 256);
    compare(&m, 2, true, "biases of queries and keys");
    expect_sums(&m, "biases of queries and keys");
    unmake(&m);
}

/* The two terms of a bound, as exact as 4096 bits are: bound = |w_v|_1 times what the last token's
 * row is off by in all; rounding = (products + 16) 2^-bits times the sum of the absolute
 * products. */
static void exact_bound(mpfr_ptr bound, mpfr_ptr rounding, const Made *m, mpfr_prec_t bits,
                        size_t v)
{
    size_t width = m->paths->width, count = ROWS * width;
    mpfr_t t;
    mpfr_init2(t, 4096);
    mpfr_set_zero(bound, 1);
    for (size_t c = 0; c < D; c++) {
        mpfr_set_d(t, fabs(w_u[c * CLASSES + v]), MPFR_RNDN);
        mpfr_add(bound, bound, t, MPFR_RNDN);
    }
    mpfr_mul(bound, bound, m->writes->off, MPFR_RNDN);
    mpfr_set_zero(rounding, 1);
    for (size_t i = 0; i < count; i++) {
        mpfr_mul(t, m->writes->value.entry + i, ap_at(&m->readout->reading, v, i % width),
                 MPFR_RNDN);
        mpfr_abs(t, t, MPFR_RNDN);
        mpfr_add(rounding, rounding, t, MPFR_RNDN);
    }
    mpfr_mul_ui(rounding, rounding, count + 16, MPFR_RNDN);
    mpfr_mul_2si(rounding, rounding, -(long)bits, MPFR_RNDN);
    mpfr_clear(t);
}

/* Both terms of the bound as reference/attribution/attribution.h states it, whichever of them is
 * the larger: no less, and no more than 64 bits round. */
static void the_bound_is_whole(void **state)
{
    static const mpfr_prec_t bits[][2] = {{256, 256}, {256, 192}, {256, 320}, {192, 256}};
    CaseSpec spec = spec_of(CONSTRUCTION_TRANSFORMER, MASK_CAUSAL, BIAS_RANDOM);
    mpfr_t bound, plan, rounding, least, most;
    mpfr_inits2(4096, bound, plan, rounding, least, most, (mpfr_ptr)NULL);
    for (size_t i = 0; i < sizeof bits / sizeof *bits; i++) {
        Made m = {0};
        make(&m, &spec, 20, bits[i][0]);
        ref_readout_clear(m.readout);
        m.readout = ref_readout_make(m.paths, every, CLASSES, bits[i][1]);
        assert_non_null(m.readout);
        for (size_t v = 0; v < CLASSES; v++) {
            ref_attribution_bound(bound, m.writes, m.readout, v);
            exact_bound(plan, rounding, &m, bits[i][0] < bits[i][1] ? bits[i][0] : bits[i][1], v);
            assert_true(mpfr_sgn(plan) > 0 && mpfr_sgn(rounding) > 0);
            mpfr_add(least, plan, rounding, MPFR_RNDN);
            mpfr_mul_2si(most, least, -50, MPFR_RNDN);
            mpfr_add(most, least, most, MPFR_RNDN);
            if (mpfr_cmp(bound, least) < 0 || mpfr_cmp(bound, most) > 0) {
                mpfr_printf("bits %ld and %ld, logit %zu: bound %.10Re, stated %.10Re + %.10Re\n",
                            (long)bits[i][0], (long)bits[i][1], v, bound, plan, rounding);
                fail();
            }
        }
        unmake(&m);
    }
    mpfr_clears(bound, plan, rounding, least, most, (mpfr_ptr)NULL);
}

/* As many digits as are written: 256 bits more change none of 17. */
static void terms_have_their_digits(void **state)
{
    CaseSpec spec = spec_of(CONSTRUCTION_TRANSFORMER, MASK_CAUSAL, BIAS_RANDOM);
    Made few = {0}, many = {0};
    mpfr_t a, b, centred;
    make(&few, &spec, 1000, 256);
    make(&many, &spec, 1000, 512);
    mpfr_inits2(256, a, b, centred, (mpfr_ptr)NULL);
    size_t tiny = 0;
    for (size_t p = 0; p < ref_paths_count(few.paths); p++) {
        for (size_t j = 0; j < ROWS; j++) {
            ref_term(a, centred, few.writes, few.readout, p, j, 1);
            ref_term(b, centred, many.writes, many.readout, p, j, 1);
            tiny += mpfr_regular_p(b) && mpfr_get_exp(b) < -2800;
            mpfr_sub(a, a, b, MPFR_RNDN);
            assert_true(mpfr_zero_p(a) || mpfr_get_exp(a) < mpfr_get_exp(b) - 120);
        }
    }
    assert_true(tiny > 0); /* e^(-2000) is a number, not 0 */
    mpfr_clears(a, b, centred, (mpfr_ptr)NULL);
    unmake(&few);
    unmake(&many);
}

/* What is not a number is the largest, wherever it stands among the inputs. */
static void no_number_is_hidden(void **state)
{
    enum { INPUTS = 3 };
    static char text[SCRATCH_TEXT];
    for (size_t bad = 0; bad < INPUTS; bad++) {
        InputSummary said[INPUTS] = {{.residual = 1e-20, .bound = 2e-20, .within = true},
                                     {.residual = 3e-20, .bound = 4e-20, .within = true},
                                     {.residual = 1e-21, .bound = 1e-20, .within = true}};
        RunOptions options = {.on_stdout = true};
        Attribution a = {.options = &options, .inputs = {.count = INPUTS}, .inputs_said = said};
        for (int both = 0; both < 2; both++) {
            said[bad].bound = NAN;
            said[bad].residual = both ? NAN : said[bad].residual;
            stderr_hold(*state);
            attribute_print_summary(&a);
            stderr_take(text, *state);
            assert_non_null(strstr(text, "largest bound nan"));
            assert_true((strstr(text, "largest difference nan") != NULL) == (both == 1));
        }
    }
}

SUBJECT(attribution)
{
    const struct CMUnitTest attribution[] = {
        cmocka_unit_test(terms_are_patterns_times_circuits),
        cmocka_unit_test(biases_of_keys_are_of_tokens),
        cmocka_unit_test(the_bound_is_whole),
        cmocka_unit_test(terms_have_their_digits),
        SCRATCH_TEST(no_number_is_hidden),
    };
    return cmocka_run_group_tests(attribution, reference_set_up, reference_tear_down);
}
