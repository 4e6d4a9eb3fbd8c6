/*
 * The row that an unembedding reads through the final norm, how far it may be off, and logits
 * as sums with the norm's scale frozen.
 */
#include "../../cases/case.h"
#include "../../reference/attribution/attribution.h"
#include "../drawn_numbers.h"
#include "../fixture.h"
#include "norm_cases.h"
#include "../real.h"
#include "../unit.h"

#include <math.h>
#include <stdlib.h>

enum { D = 5, CLASSES = 3, BITS = 192 };

static const double gains[D] = {1.5, -0.25, 0.75, 2, 1}, beta[D] = {0.5, 0, -1, 0.125, 3};

static LayerNorm norm_of(bool rms, double eps)
{
    return (LayerNorm){rms ? NORMALIZATION_RMSNORM : NORMALIZATION_LAYERNORM,
                       {0, D},
                       gains,
                       rms ? NULL : beta,
                       eps,
                       false};
}

/* y = norm(x), by the formula. */
static void expected_row(Real y[D], const LayerNorm *norm, const Real x[D])
{
    Real mean = real_of(0), squares = real_of(0), d = real_of(D);
    for (size_t c = 0; c < D && norm->kind == NORMALIZATION_LAYERNORM; c++) {
        real_accumulate(&mean, real_div(x[c], d));
    }
    for (size_t c = 0; c < D; c++) {
        Real centred = real_sub(x[c], mean);
        real_accumulate(&squares, real_div(real_mul(centred, centred), d));
    }
    Real root = real_sqrt(real_add(squares, real_of(norm->eps)));
    for (size_t c = 0; c < D; c++) {
        y[c] = real_div(real_mul(real_of(norm->gamma[c]), real_sub(x[c], mean)), root);
        y[c] = real_add(y[c], real_of(norm->beta != NULL ? norm->beta[c] : 0));
    }
}

static Real distance(const Real *a, const Real *b)
{
    Real squares = real_of(0);
    for (size_t c = 0; c < D; c++) {
        Real d = real_sub(a[c], b[c]);
        real_accumulate(&squares, real_mul(d, d));
    }
    return real_sqrt(squares);
}

/* A row and its change as numbers of so many bits, as doubles of sizes x and e. */
typedef struct {
    mpfr_t x[D], e[D], y[D], change[D], x_off, e_off, radius;
} Row;

static void row_init(Row *row, mpfr_prec_t bits)
{
    for (size_t c = 0; c < D; c++) {
        mpfr_inits2(bits, row->x[c], row->e[c], row->y[c], row->change[c], (mpfr_ptr)0);
    }
    mpfr_inits2(REF_CELL_BITS, row->x_off, row->e_off, row->radius, (mpfr_ptr)0);
}

static void row_clear(Row *row)
{
    for (size_t c = 0; c < D; c++) {
        mpfr_clears(row->x[c], row->e[c], row->y[c], row->change[c], (mpfr_ptr)0);
    }
    mpfr_clears(row->x_off, row->e_off, row->radius, (mpfr_ptr)0);
}

/* Real x and e of a row, and of one whose entries are off by up to so much; the 2-norms of that go
 * into the row. */
typedef struct {
    Real x[D], e[D], moved[D];
} Exact;

/* Sizes of a row's entries and of its change's, and what they may be off by. */
typedef struct {
    double x, e, x_off, e_off;
} Drawing;

static Exact draw_row(Row *row, Drawing of)
{
    Exact exact;
    Real near_x[D], near_e[D];
    for (size_t c = 0; c < D; c++) {
        mpfr_set_d(row->x[c], of.x * drawn_uniform(), MPFR_RNDN);
        mpfr_set_d(row->e[c], of.e * drawn_uniform(), MPFR_RNDN);
        near_x[c] = real_of_mpfr(row->x[c]);
        near_e[c] = real_of_mpfr(row->e[c]);
        exact.x[c] = real_add(near_x[c], real_of(of.x_off * drawn_uniform()));
        exact.e[c] = real_add(near_e[c], real_of(of.e_off * drawn_uniform()));
        exact.moved[c] = real_add(exact.x[c], exact.e[c]);
    }
    mpfr_set_d(row->x_off, real_double(distance(near_x, exact.x)) * (1 + 0x1p-40), MPFR_RNDU);
    mpfr_set_d(row->e_off, real_double(distance(near_e, exact.e)) * (1 + 0x1p-40), MPFR_RNDU);
    return exact;
}

/* Value and change against the formula: within their radii.  ratio: the largest so far. */
static void check_row(const LayerNorm *norm, Drawing of, double ratio[2])
{
    Row row;
    Real y[D], before[D], after[D], change[D], expected[D];
    row_init(&row, of.x_off + of.e_off > 0 ? BITS : 64);
    Exact exact = draw_row(&row, of);
    expected_row(before, norm, exact.x);
    expected_row(after, norm, exact.moved);
    ref_norm_row(row.y[0], row.change[0], norm, row.x[0], row.e[0]);
    for (size_t c = 0; c < D; c++) {
        y[c] = real_of_mpfr(row.y[c]);
        change[c] = real_of_mpfr(row.change[c]);
        expected[c] = real_sub(after[c], before[c]);
    }
    mpfr_prec_t bits = mpfr_get_prec(row.y[0]);
    ref_norm_row_radius(row.radius, norm, row.x[0], row.x_off, bits);
    ratio[0] = fmax(ratio[0], real_double(real_div(distance(y, before), real_of_mpfr(row.radius))));
    const RefNormInput input = {row.x[0], row.x_off, row.e[0], row.e_off};
    ref_norm_change_radius(row.radius, norm, &input, bits);
    Real off_by = distance(change, expected);
    ratio[1] = fmax(ratio[1], real_double(real_div(off_by, real_of_mpfr(row.radius))));
    assert_true(ratio[0] <= 1 && ratio[1] <= 1);
    row_clear(&row);
}

static void rows_lie_within_their_radii(void **state)
{
    static const double eps[] = {1e-5, 1e-12, 1}, sizes[] = {1e-40, 1e-8, 0.1, 3},
                        offs[] = {0, 0x1p-60, 0x1p-20, 0x1p-4};
    double ratio[2] = {0, 0};
    drawn_numbers = 1;
    for (int i = 0; i < 2 * 3 * 4 * 4 * 40; i++) {
        LayerNorm norm = norm_of(i % 2 == 0, eps[i / 2 % 3]);
        double e = sizes[i / 6 % 4], off = offs[i / 24 % 4];
        check_row(&norm, (Drawing){2, e, 2 * off, e * off}, ratio);
    }
    print_message("of their radii: values up to %.3g, changes up to %.3g\n", ratio[0], ratio[1]);
    assert_true(ratio[0] > 0.5 && ratio[1] > 0.1);
}

/* Each term of what a change may be off by, where it is alone: the worst that is found is no less
 * than such a part of it. */
static void terms_of_changes_are_attained(void **state)
{
    static const struct {
        const char *what;
        bool rms;
        Drawing of;
        double least;
    } terms[] = {{"e is off", true, {0.1, 0, 0, 0x1p-60}, 0.5},
                 {"e is off, beside one", false, {0.1, 0.1, 0, 0x1p-60}, 0.5},
                 {"x is off, beside an e", true, {0.1, 0.01, 0x1p-60, 0}, 0.15},
                 {"x is off, beside a large e", false, {0.01, 1, 0x1p-60, 0}, 0.5}};
    drawn_numbers = 1;
    for (size_t t = 0; t < sizeof terms / sizeof *terms; t++) {
        LayerNorm norm = norm_of(terms[t].rms, 0.01);
        double ratio[2] = {0, 0};
        for (int i = 0; i < 100; i++) {
            check_row(&norm, terms[t].of, ratio);
        }
        print_message("%s: %.3g\n", terms[t].what, ratio[1]);
        assert_true(ratio[1] >= terms[t].least);
    }
}

/* What does not change is known to be 0 behind the norm, too. */
static void no_change_is_zero(void **state)
{
    LayerNorm norm = norm_of(false, 1e-5);
    Row row;
    row_init(&row, BITS);
    (void)draw_row(&row, (Drawing){2, 0, 0x1p-60, 0});
    const RefNormInput input = {row.x[0], row.x_off, row.e[0], row.e_off};
    ref_norm_change_radius(row.radius, &norm, &input, BITS);
    assert_true(mpfr_zero_p(row.radius));
    row_clear(&row);
}

/* ---- Logits as sums -------------------------------------------------------------------------- */

static const double w_u[D * CLASSES] = {1, -0.5, 0.25, 2,    0, -1, 0.125, 1.5,
                                        3, -2,   1,    0.75, 1, -1, 0.5},
                            b_u[CLASSES] = {0.5, -1, 2};

/* The embedding's term of logit v, by the formula: x_last at first, u_v and s. */
static Real embedding_term(const Pair *pair, const Real last[D], size_t v)
{
    const LayerNorm *norm = &pair->final_norm;
    Real mean = real_of(0), mean_w = real_of(0), s = real_of(norm->eps), sum = real_of(0);
    bool rms = norm->kind == NORMALIZATION_RMSNORM;
    for (size_t c = 0; c < D && !rms; c++) {
        Real w = real_mul(real_of(norm->gamma[c]), real_of(w_u[c * CLASSES + v]));
        real_accumulate(&mean, real_div(last[c], real_of(D)));
        real_accumulate(&mean_w, real_div(w, real_of(D)));
    }
    for (size_t c = 0; c < D; c++) {
        Real centred = real_sub(last[c], mean);
        Real w = real_mul(real_of(norm->gamma[c]), real_of(w_u[c * CLASSES + v]));
        real_accumulate(&s, real_div(real_mul(centred, centred), real_of(D)));
        real_accumulate(&sum,
                        real_mul(real_of(pair->original_x[(pair->original.layout.n - 1) * D + c]),
                                 real_sub(w, mean_w)));
    }
    return real_div(sum, real_sqrt(s));
}

/* r(T')'s logit v, its final norm by the formula. */
static Real expected_logit(const Pair *pair, const Real last[D], size_t v)
{
    Real sum = real_of(b_u[v]), y[D];
    expected_row(y, &pair->final_norm, last);
    for (size_t c = 0; c < D; c++) {
        real_accumulate(&sum, real_mul(y[c], real_of(w_u[c * CLASSES + v])));
    }
    return sum;
}

/* The parts of an attribution of one case. */
typedef struct {
    Pair pair;
    RefPaths *paths;
    RefWrites *writes;
    RefReadout *readout;
    Real last[D]; /* of r(T') */
} Parts;

static void parts_make(Parts *p, const CaseSpec *spec, double omega)
{
    static const size_t every[CLASSES] = {0, 1, 2};
    p->pair = pair_make(spec);
    const RefUnembedding u = {w_u, b_u, D, CLASSES, p->pair.final_norm, false};
    const Model *model = &p->pair.converted;
    size_t row = layout_token_row(&model->layout, spec->n - 1);
    RefRun *run = run_layers(model, p->pair.converted_x, NULL, omega, 2 * BITS, spec->depth);
    p->paths = ref_paths_make(model, &u);
    assert_non_null(p->paths);
    const Start start = pair_start(&p->pair, omega);
    p->writes = ref_writes_make(p->paths, &start, BITS);
    p->readout = ref_readout_make(p->paths, every, CLASSES, BITS);
    assert_true(p->writes != NULL && p->readout != NULL);
    for (size_t c = 0; c < D; c++) {
        p->last[c] = real_of_mpfr(ref_run_entry(run, row, c));
    }
    ref_run_clear(run);
}

static void parts_clear(Parts *p)
{
    ref_readout_clear(p->readout);
    ref_writes_clear(p->writes);
    ref_paths_clear(p->paths);
    case_clear(&p->pair);
}

/* |a - b| <= most */
static void expect_within(Real a, Real b, Real most, const char *what)
{
    Real off = real_abs(real_sub(a, b));
    if (real_compare(off, most) > 0) {
        fail_msg("%s: off by %.3g, at most %.3g", what, real_double(off), real_double(most));
    }
}

/* All terms sum to the logit of r(T') within the bound, and the embedding's is what the formula
 * says. */
static void check_logit(const Parts *p, size_t v)
{
    mpfr_t term, centred, bound;
    Real sum = real_of(0), direct = real_of(0);
    size_t rows = layout_rows(&p->pair.converted.layout);
    mpfr_inits2(2 * BITS, term, centred, bound, (mpfr_ptr)0);
    for (size_t path = 0; path < ref_paths_count(p->paths); path++) {
        for (size_t j = 0; j < rows; j++) {
            ref_term(term, centred, p->writes, p->readout, path, j, v);
            real_accumulate(&sum, real_of_mpfr(term));
            if (ref_path(p->paths, path)->kind == PATH_DIRECT) {
                real_accumulate(&direct, real_of_mpfr(term));
            }
        }
    }
    ref_attribution_bound(bound, p->writes, p->readout, v);
    Real most = real_of_mpfr(bound);
    assert_true(real_compare(most, real_of(1e-30)) < 0);
    expect_within(sum, expected_logit(&p->pair, p->last, v), most, "sum of terms");
    ref_writes_logit(term, p->writes, v);
    expect_within(real_of_mpfr(term), expected_logit(&p->pair, p->last, v), most, "logit");
    expect_within(direct, embedding_term(&p->pair, p->last, v), most, "embedding");
    mpfr_clears(term, centred, bound, (mpfr_ptr)0);
}

static void terms_sum_to_logits(void **state)
{
    static const Construction constructions[] = {CONSTRUCTION_TRANSFORMER,
                                                 CONSTRUCTION_TRANSFORMER3, CONSTRUCTION_ATTENTION,
                                                 CONSTRUCTION_LINEAR};
    for (int i = 0; i < 16; i++) {
        CaseSpec spec =
            norm_case(constructions[i / 4],
                      i % 2 == 0 ? NORMALIZATION_LAYERNORM : NORMALIZATION_RMSNORM, NORM_PRE, 2);
        Parts parts;
        spec.mask = (Mask)(i / 2 % 2);
        parts_make(&parts, &spec, i % 3 == 0 ? 3 : 20);
        for (size_t v = 0; v < CLASSES; v++) {
            check_logit(&parts, v);
        }
        parts_clear(&parts);
    }
}

SUBJECT(norms_read)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_lie_within_their_radii),
        cmocka_unit_test(terms_of_changes_are_attained),
        cmocka_unit_test(no_change_is_zero),
        cmocka_unit_test(terms_sum_to_logits),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
