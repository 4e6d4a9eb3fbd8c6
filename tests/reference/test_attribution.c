/*
 * Logits as sums over heads and source tokens: the sums against the logits, and their bounds.
 * test_attribute has each term against its definition.
 */
#include "../../harness/commands/attribute/attribute.h"
#include "../../reference/attribution/attribution_internal.h"

#include "../../cases/activation.h"
#include "../../cases/case.h"
#include "../fixture.h"
#include "../unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N = 3, D = 4, CLASSES = 3, ROWS = N + 1 };

/* An unembedding that reads every column, every class differently. */
static const double w_u[D * CLASSES] = {0.5, -1, 2, 0.25, 3, -0.125, -2, 1, 0.75, 1, 1, -1};
static const double b_u[CLASSES] = {0.5, -0.25, 1};

/* A case, all its parts. */
typedef struct {
    Pair pair;
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
    case_clear(&m->pair);
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
static void sums_are_logits(void **state)
{
    static const Construction constructions[] = {CONSTRUCTION_TRANSFORMER,
                                                 CONSTRUCTION_TRANSFORMER3, CONSTRUCTION_LINEAR,
                                                 CONSTRUCTION_SILU};
    for (int i = 0; i < 16; i++) {
        CaseSpec spec = spec_of(constructions[i / 4], i % 4 < 2 ? MASK_NONE : MASK_CAUSAL,
                                i % 2 == 0 ? BIAS_NONE : BIAS_RANDOM);
        Made m = {0};
        make(&m, &spec, 2, 256);
        expect_sums(&m, construction_names[spec.construction]);
        unmake(&m);
    }
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
        cmocka_unit_test(sums_are_logits),
        cmocka_unit_test(the_bound_is_whole),
        cmocka_unit_test(terms_have_their_digits),
        SCRATCH_TEST(no_number_is_hidden),
    };
    return cmocka_run_group_tests(attribution, reference_set_up, reference_tear_down);
}
