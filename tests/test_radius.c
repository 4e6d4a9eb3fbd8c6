/*
 * Radii (docs/certify.md): what is proven of an evaluation must hold of one with more than twice
 * the bits, of a stream that was moved by as much, and of the closed forms.
 *
 * A ratio is |difference of a row| / (its radius, of both evaluations), in the 2-norm of a bank.
 */
#include "../kernels/blas.h"
#include "../reference/compare/propagation.h"
#include "../reference/radius/internal.h"
#include "../reference/radius/jacobian.h"
#include "../reference/radius/norm.h"
#include "../reference/run/run.h"
#include "closed_forms.h"
#include "difference_cases.h"
#include "fixture.h"
#include "norm_cases.h"
#include "radii.h"
#include "random_model.h"
#include "real.h"
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BITS = 128, NIGHTLY_ROWS = 10000 };

/* Of rows: how many, of how many nothing is known, the largest ratio as a logarithm to base 2, and
 * where it was. */
typedef struct {
    size_t rows, unknown;
    double log2_ratio;
    char where[PLACE];
} Tally;

static const Tally nothing = {0, 0, -INFINITY, ""};

static double log2_of(mpfr_srcptr x)
{
    long exponent;
    if (mpfr_zero_p(x)) {
        return -INFINITY;
    }
    double m = mpfr_get_d_2exp(&exponent, x, MPFR_RNDN);
    return log2(fabs(m)) + (double)exponent;
}

static void report(const char *what, const Tally *tally)
{
    print_message("%s: %zu rows, %zu unknown, worst ratio 2^%.1f (%s)\n", what, tally->rows,
                  tally->unknown, tally->log2_ratio, tally->where);
    assert_true(tally->rows > 0);
    assert_true(tally->log2_ratio <= 0);
}

/* error is the norm of a row's difference, radius what it may be. */
static void take_row(Tally *tally, mpfr_srcptr error, mpfr_srcptr radius, const char *what)
{
    tally->rows++;
    if (!mpfr_number_p(radius)) {
        tally->unknown++;
        return;
    }
    double ratio = mpfr_number_p(error) ? log2_of(error) - log2_of(radius) : INFINITY;
    if (!mpfr_zero_p(error) && !(ratio <= tally->log2_ratio)) {
        tally->log2_ratio = ratio;
        snprintf(tally->where, PLACE, "%s", what);
    }
}

static mpfr_srcptr entry(const RefRun *run, RadiusOf of, size_t row, size_t column)
{
    return of == RADIUS_DIFFERENCE  ? ref_run_difference(run, row, column)
           : of == RADIUS_INHERITED ? ref_run_inherited(run, row, column)
                                    : ref_run_entry(run, row, column);
}

/* norm = that of the difference of two runs' rows. */
static void row_distance(mpfr_ptr norm, const RefRun *a, const RefRun *b, RadiusOf of, size_t row,
                         Columns columns)
{
    mpfr_t d;
    mpfr_init2(d, 4096);
    mpfr_set_zero(norm, 1);
    for (size_t c = columns.first; c < columns.first + columns.count; c++) {
        mpfr_sub(d, entry(a, of, row, c), entry(b, of, row, c), MPFR_RNDN);
        mpfr_hypot(norm, norm, d, MPFR_RNDN);
    }
    mpfr_clear(d);
}

static void compare_row(Tally *tally, const RefRun *a, const RefRun *b, RadiusOf of, size_t row,
                        Columns columns, const char *what)
{
    mpfr_t norm, radius, other;
    mpfr_inits2(REF_CELL_BITS, norm, radius, other, (mpfr_ptr)0);
    row_distance(norm, a, b, of, row, columns);
    ref_run_radius(a, of, (RefBlock){row, 1, columns}, (RefRadii){radius, NULL});
    ref_run_radius(b, of, (RefBlock){row, 1, columns}, (RefRadii){other, NULL});
    mpfr_add(radius, radius, other, MPFR_RNDU);
    take_row(tally, norm, radius, what);
    mpfr_clears(norm, radius, other, (mpfr_ptr)0);
}

static void compare_runs(Tally *tally, const RefRun *a, const RefRun *b, const char *what)
{
    const Layout *layout = &a->model->layout;
    Columns banks[] = {{0, layout->d}, {layout->d, layout->hidden}};
    for (size_t row = 0; row < layout_rows(layout); row++) {
        for (size_t k = 0; k < 2 && banks[k].count > 0; k++) {
            compare_row(tally, a, b, RADIUS_SUM, row, banks[k], what);
            if (a->e != NULL) {
                compare_row(tally, a, b, RADIUS_DIFFERENCE, row, banks[k], what);
            }
        }
    }
}

/* What is evaluated: omega INFINITY: the limit; difference: it, and e for omega. */
typedef struct {
    const Model *model;
    const double *x, *content;
    double omega;
    bool difference;
} Evaluated;

static RefRun *open_certified(const Evaluated *e, const double *x, mpfr_prec_t bits)
{
    RefRun *run = e->difference
                      ? ref_difference_open(e->model, x, e->content, e->omega, bits, NULL)
                      : ref_run_open(e->model, x, e->content, e->omega, bits, REF_STRUCTURED);
    assert_true(run != NULL && ref_run_certify(run));
    return run;
}

/* An evaluation against one of more than twice the bits, layer by layer. */
static void compare_precisions(Tally *tally, const Evaluated *e, mpfr_prec_t bits, const char *what)
{
    RefRun *a = open_certified(e, e->x, bits), *b = open_certified(e, e->x, 2 * bits + 64);
    for (size_t l = 0; l < e->model->depth; l++) {
        ref_run_layer(a);
        ref_run_layer(b);
        compare_runs(tally, a, b, what);
    }
    ref_run_clear(a);
    ref_run_clear(b);
}

/* Every evaluation of a pair. */
static void compare_built(Tally *tally, const Pair *pair, double omega, mpfr_prec_t bits,
                          const char *what)
{
    const double *x = pair->converted_x, *content = pair->bias_row_content;
    compare_precisions(tally, &(Evaluated){&pair->converted, x, content, omega, true}, bits, what);
    compare_precisions(tally, &(Evaluated){&pair->converted, x, content, omega, false}, bits, what);
    compare_precisions(
        tally, &(Evaluated){&pair->original, pair->original_x, NULL, INFINITY, false}, bits, what);
}

static void compare_pair(Tally *tally, const CaseSpec *spec, double omega, mpfr_prec_t bits)
{
    Pair pair;
    const char *reason;
    char what[PLACE];
    if (case_build(&pair, &reason, spec) != CASE_OK) {
        return; /* a mask that does not fit */
    }
    difference_describe(what, spec, omega);
    compare_built(tally, &pair, omega, bits, what);
    case_clear(&pair);
}

static const double omegas[] = {1, 8, 40, 1000};
enum { OMEGAS = sizeof omegas / sizeof *omegas };

/* All constructions, masks, biases, activations, shapes of heads. */
static void enclosures_hold_of_all_constructions(void **state)
{
    Tally tally = nothing, normed_tally = nothing;
    int step = fixture_nightly() ? 1 : 5;
    for (int c = 0; c < CONSTRUCTION_COUNT; c++) {
        for (int v = c % step; v < VARIANTS; v += step) {
            CaseSpec spec = difference_variant((Construction)c, 2, v);
            size_t first = fixture_nightly() ? 0 : (size_t)v % OMEGAS;
            for (size_t o = first; o < OMEGAS; o += fixture_nightly() ? 1 : OMEGAS) {
                CaseSpec normed = norm_variant(&spec, v + c + (int)o);
                compare_pair(&tally, &spec, omegas[o], BITS);
                compare_pair(&normed_tally, &normed, omegas[o], BITS);
            }
        }
    }
    report("constructions", &tally);
    report("with norms", &normed_tally);
    assert_true(tally.unknown == 0 && normed_tally.unknown == 0);
    assert_true(!fixture_nightly() || tally.rows > NIGHTLY_ROWS);
}

/* What layers inherit of e, against an evaluation of more than twice the bits. */
static void compare_inherited(Tally *tally, const CaseSpec *spec, double omega)
{
    Pair pair = pair_make(spec);
    RefBase *bases[2];
    RefRun *runs[2];
    char what[PLACE];
    const Layout *layout = &pair.converted.layout;
    const Columns banks[] = {{0, layout->d}, {layout->d, layout->hidden}};
    difference_describe(what, spec, omega);
    for (int i = 0; i < 2; i++) {
        mpfr_prec_t bits = i == 0 ? BITS : 2 * BITS + 64;
        bases[i] = ref_base_make(&pair, bits, REF_STRUCTURED, REF_LIMIT_NONE, NULL);
        assert_non_null(bases[i]);
        runs[i] = with_radii(ref_propagation_run_open(&pair, omega, bits, bases[i]));
    }
    for (size_t l = 0; l < spec->depth; l++) {
        ref_run_layer(runs[0]);
        ref_run_layer(runs[1]);
        for (size_t row = 0; row < layout_rows(layout); row++) {
            for (size_t k = 0; k < 2 && banks[k].count > 0; k++) {
                compare_row(tally, runs[0], runs[1], RADIUS_INHERITED, row, banks[k], what);
            }
        }
    }
    for (int i = 0; i < 2; i++) {
        ref_run_clear(runs[i]);
        ref_base_clear(bases[i]);
    }
    case_clear(&pair);
}

/* Also of a last layer, where nothing is carried any further. */
static void enclosures_hold_of_what_is_inherited(void **state)
{
    Tally tally = nothing, normed_tally = nothing;
    for (int c = 0; c < WITH_OMEGA; c++) {
        for (int v = c % 5; v < VARIANTS; v += fixture_nightly() ? 1 : 5) {
            CaseSpec spec = difference_variant((Construction)c, 3, v);
            CaseSpec normed = norm_variant(&spec, v + c);
            compare_inherited(&tally, &spec, omegas[v % OMEGAS]);
            compare_inherited(&normed_tally, &normed, omegas[v % OMEGAS]);
        }
    }
    report("inherited", &tally);
    report("inherited, with norms", &normed_tally);
    assert_true(tally.unknown == 0 && normed_tally.unknown == 0);
}

/* x [n, columns] but for its last token, which is 0; the caller's. */
static double *with_zero_token(const Model *model, const double *x)
{
    size_t columns = layout_content(&model->layout), before = (model->layout.n - 1) * columns;
    double *y = calloc(before + columns, sizeof *y);
    assert_non_null(y);
    memcpy(y, x, before * sizeof *y);
    return y;
}

/* A row of zeros has no radius until it gets something: what it gets from other rows has theirs. */
static void enclosures_hold_of_zero_tokens(void **state)
{
    Tally tally = nothing;
    for (int c = 0; c < CONSTRUCTION_COUNT; c++) {
        for (int v = 0; v < 4; v++) {
            CaseSpec spec = difference_variant((Construction)c, 2, 3 * v + c);
            Pair pair = pair_make(&spec), zero = pair;
            double *original = with_zero_token(&pair.original, pair.original_x);
            double *converted = with_zero_token(&pair.converted, pair.converted_x);
            zero.original_x = original;
            zero.converted_x = converted;
            compare_built(&tally, &zero, 40, BITS, construction_names[c]);
            free(original);
            free(converted);
            case_clear(&pair);
        }
    }
    report("zero tokens", &tally);
}

/* Scores from 1e-3 to 1e100, weights that explode, pseudo-masks, limited rank: enclosures may be
 * infinite there, but never wrong. */
static void enclosures_hold_of_extremes(void **state)
{
    static const double scales[] = {1e-3, 30, 1e4, 1e10, 1e30, 1e100};
    Tally tally = nothing;
    int seeds = fixture_nightly() ? 8 : 1;
    for (int c = 0; c < CONSTRUCTION_COUNT; c++) {
        for (size_t k = 0; k < sizeof scales / sizeof *scales; k++) {
            for (int seed = 1; seed <= seeds; seed++) {
                int v = (int)k + c + seed;
                CaseSpec spec = difference_variant((Construction)c, 2, v % VARIANTS);
                spec.seed = (uint64_t)seed;
                spec.weights = (Weights)(v % 2);
                spec.mask = (Mask)(v % MASK_COUNT);
                spec.band = 2;
                spec.head_rank = (size_t)(v % 3);
                spec.score_scale = scales[k];
                CaseSpec normed = norm_variant(&spec, v + (int)k);
                compare_pair(&tally, &spec, omegas[(size_t)v % OMEGAS], k % 2 == 0 ? 64 : 512);
                compare_pair(&tally, &normed, omegas[(size_t)v % OMEGAS], k % 2 == 0 ? 64 : 512);
            }
        }
    }
    report("extremes", &tally);
}

static void random_trial(Tally *tally, RandomModel *random, int trial)
{
    Layout layout = {1 + random_below(random, 5), 3, random_below(random, 3),
                     random_below(random, 2) ? BIAS_ROW_FIRST : BIAS_ROW_LAST};
    size_t content = layout_content(&layout);
    BundleStack stack;
    for (size_t l = 0; l < 3; l++) {
        stack.bundle[l] =
            random_bundle(random, &layout, (ScoreShape)((trial + (int)l) % SCORES_COUNT),
                          (ValueShape)(trial / SCORES_COUNT % VALUES_COUNT),
                          1 + random_below(random, 3), layout.bias_row == BIAS_ROW_FIRST);
        random_sight(random, &layout, &stack.bundle[l]);
    }
    Model model = stack_model(&stack, layout, 3);
    for (size_t l = 0; l < 3 && trial % 2 == 1; l++) {
        stack.sublayer[l].norm = norm_random(random, &layout);
    }
    if (trial % 6 == 1) {
        Columns columns = stack.sublayer[1].norm.columns;
        stack.sublayer[1].bundle_count = 0;
        stack.sublayer[1].direct = (Direct){.kind = DIRECT_NORM, .read = columns, .write = columns};
    }
    if (model_fault(&model) != NULL) {
        return;
    }
    const double *x = random_numbers(random, layout.n * content);
    const double *b = random_below(random, 2) ? random_numbers(random, content) : NULL;
    char what[PLACE];
    snprintf(what, PLACE, "random model %d", trial);
    for (size_t o = 0; o < OMEGAS; o += 3) {
        compare_precisions(tally, &(Evaluated){&model, x, b, omegas[o], true}, BITS, what);
        compare_precisions(tally, &(Evaluated){&model, x, b, omegas[o], false}, BITS, what);
    }
}

/* Models that no construction makes. */
static void enclosures_hold_of_random_models(void **state)
{
    static RandomModel random;
    Tally tally = nothing;
    int trials = fixture_nightly() ? 400 : 2 * SCORES_COUNT * VALUES_COUNT;
    for (int trial = 0; trial < trials; trial++) {
        random_start(&random, SEED + (uint64_t)trial);
        random_trial(&tally, &random, trial);
    }
    report("random models", &tally);
    assert_true(tally.unknown < tally.rows);
}

/* ---- Streams that are moved ----------------------------------------------------------------- */

enum { MOVED_BITS = 448, MOVED_MOST = 64 };

/* rho of the tokens = what x was moved by: 2^-moved of its entries. */
static void set_moved(RefRun *run, double *y, const double *x, size_t columns, int moved,
                      uint64_t *seed)
{
    const Layout *layout = &run->model->layout;
    for (size_t i = 0; i < layout->n; i++) {
        double squares[BANKS] = {0, 0};
        for (size_t c = 0; c < columns; c++) {
            *seed = *seed * 6364136223846793005U + 1442695040888963407U;
            double by = ldexp((double)(int64_t)*seed, -63 - moved) * (x[i * columns + c] != 0);
            y[i * columns + c] = x[i * columns + c] + by;
            by = y[i * columns + c] - x[i * columns + c];
            squares[c < layout->d ? BANK_CONTENT : BANK_HIDDEN] += by * by;
        }
        for (int b = 0; b < BANKS; b++) {
            run->radius->rho[layout_token_row(layout, i)].bank[b] =
                ldexp(sqrt(squares[b]) * (1 + 0x1p-40), MOVED_BITS);
        }
    }
}

static void compare_moved(Tally *tally, const Evaluated *e, int moved, uint64_t *seed,
                          const char *what)
{
    double y[MOVED_MOST] = {0};
    size_t columns = layout_content(&e->model->layout), entries = e->model->layout.n * columns;
    assert_true(entries <= MOVED_MOST);
    RefRun *a = open_certified(e, e->x, MOVED_BITS);
    set_moved(a, y, e->x, columns, moved, seed);
    RefRun *b = open_certified(e, y, MOVED_BITS);
    for (size_t l = 0; l < e->model->depth; l++) {
        ref_run_layer(a);
        ref_run_layer(b);
        compare_runs(tally, a, b, what);
    }
    ref_run_clear(a);
    ref_run_clear(b);
}

/* Of T, of T_infinity with e beside it, of T'. */
static void compare_all_moved(Tally *stream, Tally *difference, const CaseSpec *spec, double omega,
                              uint64_t *seed)
{
    char what[PLACE];
    Pair pair = pair_make(spec);
    const double *x = pair.converted_x, *content = pair.bias_row_content;
    difference_describe(what, spec, omega);
    Evaluated beside = {&pair.converted, x, content, omega, true};
    Evaluated alone = {&pair.converted, x, content, omega, false};
    Evaluated original = {&pair.original, pair.original_x, NULL, INFINITY, false};
    for (int moved = 4; moved <= 44; moved += 20) {
        compare_moved(stream, &original, moved, seed, what);
        compare_moved(stream, &alone, moved, seed, what);
        compare_moved(difference, &beside, moved, seed, what);
    }
    case_clear(&pair);
}

/* Propagation alone. */
static void enclosures_hold_of_moved_streams(void **state)
{
    Tally stream = nothing, difference = nothing;
    Tally normed_stream = nothing, normed_difference = nothing;
    uint64_t seed = SEED;
    for (int c = 0; c < CONSTRUCTION_COUNT; c++) {
        for (int v = 0; v < VARIANTS; v += fixture_nightly() ? 1 : 3) {
            CaseSpec spec = difference_variant((Construction)c, 2, (v + c) % VARIANTS);
            CaseSpec normed = norm_variant(&spec, v + c);
            double omega = omegas[v % (int)OMEGAS];
            compare_all_moved(&stream, &difference, &spec, omega, &seed);
            compare_all_moved(&normed_stream, &normed_difference, &normed, omega, &seed);
        }
    }
    report("moved streams", &stream);
    report("moved, with e", &difference);
    report("moved streams, norms", &normed_stream);
    report("moved, with e, norms", &normed_difference);
}

/* e of the tokens is 2^-moved of b's x before the first layer, and eta of a what that makes. */
static void move_difference(RefRun *a, RefRun *b, const double *x, int moved, uint64_t *seed)
{
    const Layout *layout = &a->model->layout;
    size_t columns = layout_content(layout);
    for (size_t i = 0; i < layout->n; i++) {
        double squares[BANKS] = {0, 0};
        size_t row = layout_token_row(layout, i);
        for (size_t c = 0; c < columns; c++) {
            *seed = *seed * 6364136223846793005U + 1442695040888963407U;
            double by = ldexp((double)(int64_t)*seed, -63 - moved) * (x[i * columns + c] != 0);
            mpfr_set_d(ap_at(&b->e->stream, row, c), by, MPFR_RNDN);
            squares[c < layout->d ? BANK_CONTENT : BANK_HIDDEN] += by * by;
        }
        for (int k = 0; k < BANKS; k++) {
            a->radius->eta[row].bank[k] = ldexp(sqrt(squares[k]) * (1 + 0x1p-40), MOVED_BITS);
        }
    }
}

/* What e was moved by goes through T', whether e is near 0 or not. */
static void enclosures_hold_of_moved_differences(void **state)
{
    Tally tally = nothing;
    uint64_t seed = SEED;
    for (int c = 0; c < CONSTRUCTION_MASKED; c++) {
        for (int v = 0; v < VARIANTS; v += fixture_nightly() ? 1 : 3) {
            CaseSpec spec = difference_variant((Construction)c, 2, (v + c) % VARIANTS);
            Pair pair = pair_make(&spec);
            const double *x = pair.converted_x;
            Evaluated e = {&pair.converted, x, pair.bias_row_content, omegas[v % (int)OMEGAS],
                           true};
            for (int moved = 4; moved <= 44; moved += 20) {
                RefRun *a = open_certified(&e, x, MOVED_BITS);
                RefRun *b = open_certified(&e, x, MOVED_BITS);
                move_difference(a, b, x, moved, &seed);
                for (size_t l = 0; l < e.model->depth; l++) {
                    ref_run_layer(a);
                    ref_run_layer(b);
                    compare_runs(&tally, a, b, construction_names[c]);
                }
                ref_run_clear(a);
                ref_run_clear(b);
            }
            case_clear(&pair);
        }
    }
    report("moved differences", &tally);
    assert_true(tally.log2_ratio > -1);
}

/* Heads that have lost entries of Omega, by chance or one: each has keys of its own in A. */
static void enclosures_hold_of_damage(void **state)
{
    static const double dropouts[] = {0.1, 0.3, 0};
    Tally tally = nothing, stream = nothing, difference = nothing;
    uint64_t seed = SEED;
    for (int c = 0; c < CONSTRUCTION_MASKED; c++) {
        for (int v = c % 2; v < VARIANTS; v += fixture_nightly() ? 1 : 2) {
            CaseSpec spec = difference_variant((Construction)c, 2, v);
            spec.dropout = dropouts[v % 3];
            spec.drop_entry = spec.dropout > 0 ? 0 : 1;
            compare_pair(&tally, &spec, omegas[v % (int)OMEGAS], BITS);
            compare_all_moved(&stream, &difference, &spec, omegas[(v + 1) % (int)OMEGAS], &seed);
        }
    }
    report("damage", &tally);
    report("damage, moved", &stream);
    report("damage, moved, with e", &difference);
    assert_true(50 * tally.unknown < tally.rows);
}

/* One token, one column, x <- x W: what goes out is what came in times |W|, no more and no less. */
static void propagation_is_sharp(void **state)
{
    Tally tally = nothing;
    uint64_t seed = SEED;
    CaseSpec spec = difference_case(CONSTRUCTION_LINEAR, 3);
    spec.n = spec.d = 1;
    Pair pair = pair_make(&spec);
    Evaluated limit = {&pair.converted, pair.converted_x, NULL, INFINITY, false};
    compare_moved(&tally, &limit, 20, &seed, "one entry");
    report("one entry", &tally);
    assert_true(tally.log2_ratio > -0.01);
    case_clear(&pair);
}

/* One token, one column, one unit, moved far: its slope on the way is not that at x. */
static void slopes_change_on_the_way(void **state)
{
    Tally tally = nothing;
    uint64_t seed = SEED;
    for (int trial = 0; trial < 60; trial++) {
        CaseSpec spec = {.construction = CONSTRUCTION_FUSED,
                         .n = 1,
                         .d = 1,
                         .d_ff = 1,
                         .depth = 1,
                         .seed = (uint64_t)trial,
                         .weights = WEIGHTS_NORMAL,
                         .slope = 1000};
        Pair pair = pair_make(&spec);
        Evaluated limit = {&pair.converted, pair.converted_x, NULL, INFINITY, false};
        Evaluated original = {&pair.original, pair.original_x, NULL, INFINITY, false};
        compare_moved(&tally, &limit, trial % 4, &seed, "limit");
        compare_moved(&tally, &original, trial % 4, &seed, "original");
        case_clear(&pair);
    }
    report("one unit", &tally);
    assert_true(tally.log2_ratio > -0.1);
}

/* ---- Closed forms ---------------------------------------------------------------------------- */

enum { CLOSED_ENTRIES = 8 * 8 };

static void check_closed(Tally *tally, const CaseSpec *spec, double omega)
{
    Real closed[CLOSED_ENTRIES];
    mpfr_t norm, radius;
    Pair pair = pair_make(spec);
    const Layout *layout = &pair.converted.layout;
    size_t width = layout_content(layout);
    Evaluated e = {&pair.converted, pair.converted_x, pair.bias_row_content, omega, true};
    RefRun *run = open_certified(&e, e.x, BITS);
    mpfr_inits2(REF_CELL_BITS, norm, radius, (mpfr_ptr)0);
    assert_true((layout->n + 1) * width <= CLOSED_ENTRIES);
    closed_construction(closed, spec, &pair, omega);
    ref_run_layer(run);
    for (size_t i = 0; i <= layout->n; i++) {
        size_t row = i < layout->n ? layout_token_row(layout, i) : layout_bias_row(layout);
        Real sum = real_of(0);
        for (size_t c = 0; c < width; c++) {
            Real d = real_sub(real_of_mpfr(ref_run_difference(run, row, c)), closed[i * width + c]);
            sum = real_add(sum, real_mul(d, d));
        }
        mpfr_set_d(norm, real_double(real_sqrt(sum)), MPFR_RNDN);
        ref_run_radius(run, RADIUS_DIFFERENCE, (RefBlock){row, 1, {0, width}},
                       (RefRadii){radius, NULL});
        take_row(tally, norm, radius, construction_names[spec->construction]);
    }
    mpfr_clears(norm, radius, (mpfr_ptr)0);
    ref_run_clear(run);
    case_clear(&pair);
}

static void closed_forms_lie_inside(void **state)
{
    static const Construction known[] = {CONSTRUCTION_SILU, CONSTRUCTION_LINEAR,
                                         CONSTRUCTION_ATTENTION, CONSTRUCTION_FUSED};
    Tally tally = nothing;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        for (int v = 0; v < 8; v++) {
            CaseSpec spec = difference_variant(known[k], 1, v);
            spec.linear = LINEAR_IN_PLACE;
            check_closed(&tally, &spec, 3);
            check_closed(&tally, &spec, 20);
        }
    }
    report("closed forms", &tally);
    assert_true(tally.unknown == 0);
}

static double norm_spectral(const double *w, size_t rows, size_t columns, size_t ld)
{
    Evaluator ev = {0};
    return norm_both(&(Radius){.ev = &ev}, w, rows, columns, ld).spectral;
}

/* Of large matrices, whose squares are made of floats: [H H] of Hadamard's matrix H [512, 512] and
 * 3 columns of zeros has the norm sqrt(1024), and 0.7 everywhere 0.7 sqrt(rows columns).  They lie
 * with a leading dimension, and transposed too. */
static void norms_of_large_matrices(void **state)
{
    enum { N = 512, K = 1027, LD = 1030 };
    (void)state;
    double *wide = calloc((size_t)N * LD, sizeof *wide);
    double *tall = calloc((size_t)K * N, sizeof *tall);
    double *flat = calloc((size_t)N * LD, sizeof *flat);
    assert_true(wide != NULL && tall != NULL && flat != NULL);
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < K; j++) {
            double sign = __builtin_parityll(i & (j % N)) ? -1 : 1;
            wide[i * LD + j] = tall[j * N + i] = j < 1024 ? 3e200 * sign : 0;
            flat[i * LD + j] = 0.7;
        }
    }
    assert_true(norm_spectral(wide, N, K, LD) >= 3e200 * 32);
    assert_true(norm_spectral(wide, N, K, LD) < 3e200 * 32 * 1.08);
    assert_true(norm_spectral(tall, K, N, N) >= 3e200 * 32);
    assert_true(norm_spectral(tall, K, N, N) < 3e200 * 32 * 1.08);
    assert_true(norm_spectral(flat, N, K, LD) >= 0.7 * sqrt((double)N * K) * (1 - 0x1p-50));
    assert_true(norm_spectral(flat, N, K, LD) < 0.7 * sqrt((double)N * K) * 1.001);
    free(wide);
    free(tall);
    free(flat);
}

/* ---- What a radius is made of ---------------------------------------------------------------- */

/* Norms that are known: of a rotation, of an outer product, of a diagonal, of zeros. */
static void norms_are_bounds(void **state)
{
    const double rotation[] = {0.6, -0.8, 0.8, 0.6}, outer[] = {3, 6, 4, 8, 0, 0};
    const double diagonal[] = {1e200, 0, 0, 0, -3e200, 0, 0, 0, 2e200}, zeros[4] = {0};
    assert_true(norm_spectral(rotation, 2, 2, 2) >= 1 - 0x1p-50);
    assert_true(norm_spectral(rotation, 2, 2, 2) < 1.02);
    assert_true(norm_spectral(outer, 3, 2, 2) >= 5 * sqrt(5) * (1 - 0x1p-50));
    assert_true(norm_spectral(outer, 3, 2, 2) < 5 * sqrt(5) * 1.001);
    assert_true(norm_spectral(diagonal, 3, 3, 3) >= 3e200);
    assert_true(norm_spectral(diagonal, 3, 3, 3) < 3.001e200);
    assert_true(norm_spectral(zeros, 2, 2, 2) == 0);
    assert_true(norm_frobenius(rotation, 2, 2, 2) >= sqrt(2));
    assert_true(isinf(norm_spectral((const double[]){1, INFINITY, 0, 1}, 2, 2, 2)));
}

enum { WIDE = 7, INNER = 19 };

/* The largest |v (diag(d) + A diag(w) B)|, |v| = 1, by the power method. */
static double steepest(const double *a, const double *b, const double *d, const double *w)
{
    double j[WIDE][WIDE] = {{0}}, v[WIDE], length = 0;
    for (size_t r = 0; r < WIDE; r++) {
        v[r] = 1 / (double)(r + 1);
        for (size_t c = 0; c < WIDE; c++) {
            j[r][c] = r == c ? d[c] : 0;
            for (size_t k = 0; k < INNER; k++) {
                j[r][c] += a[r * INNER + k] * w[k] * b[k * WIDE + c];
            }
        }
    }
    for (int step = 0; step < 2000; step++) {
        double next[WIDE] = {0}, out[WIDE] = {0};
        for (size_t c = 0; c < WIDE; c++) {
            for (size_t r = 0; r < WIDE; r++) {
                out[c] += v[r] * j[r][c];
            }
        }
        for (size_t r = 0; r < WIDE; r++) {
            for (size_t c = 0; c < WIDE; c++) {
                next[r] += j[r][c] * out[c];
            }
        }
        length = norm_vector(next, WIDE, 1);
        for (size_t r = 0; r < WIDE; r++) {
            v[r] = next[r] / length;
        }
    }
    return sqrt(length);
}

/* A row's derivative: near I, of any size, of either sign, and with a slack. */
static void rows_matrices_are_bounds(void **state)
{
    double a[WIDE * INNER], b[INNER * WIDE], w[INNER], d[WIDE], slack[WIDE] = {0};
    uint64_t seed = SEED;
    Radius r = {.rows = 1, .columns = WIDE, .bank = WIDE};
    for (int trial = 0; trial < 40; trial++) {
        double size = ldexp(1, trial % 20 - 16);
        double *const all[] = {a, b, w, d};
        const size_t counts[] = {WIDE * INNER, INNER * WIDE, INNER, WIDE};
        for (size_t m = 0; m < 4; m++) {
            for (size_t i = 0; i < counts[m]; i++) {
                seed = seed * 6364136223846793005U + 1442695040888963407U;
                all[m][i] = ldexp((double)(int64_t)seed, -63) * (m == 0 ? size : 1);
            }
        }
        for (size_t c = 0; c < WIDE; c++) {
            d[c] = trial % 2 == 0 ? 1 : trial % 3 == 0 ? 0.25 * d[c] : 1 + size * d[c];
        }
        const RowMap map = {a,
                            b,
                            INNER,
                            WIDE,
                            INNER,
                            norm_frobenius(a, WIDE, INNER, INNER),
                            norm_frobenius(b, INNER, WIDE, WIDE)};
        const Pass pass = {.diagonal = d, .slack = slack};
        double exact = steepest(a, b, d, w), norm = jacobian_norm(&r, &map, &pass, w, 0);
        assert_true(norm >= exact * (1 - 1e-9));
        double apart = norm_spectral(a, WIDE, INNER, INNER) * norm_spectral(b, INNER, WIDE, WIDE);
        assert_true(trial % 2 != 0 || norm < 1 + 1.6 * apart); /* |w| < 1 */
        slack[trial % WIDE] = 0.5;
        assert_true(jacobian_norm(&r, &map, &pass, w, 0) >= norm + 0.49);
        slack[trial % WIDE] = 0;
    }
}

/* As many entries as columns and more: |W| = |W^T|, wherever the large ones stand. */
static void norms_are_of_all_columns(void **state)
{
    const double wide[] = {1, 0, 0, 8, 0, 1, 0, 0}, tall[] = {1, 0, 0, 1, 0, 0, 8, 0};
    assert_true(norm_spectral(wide, 2, 4, 4) >= sqrt(65) * (1 - 0x1p-50));
    assert_true(norm_spectral(wide, 2, 4, 4) < sqrt(65) * 1.001);
    assert_true(norm_spectral(tall, 4, 2, 2) >= sqrt(65) * (1 - 0x1p-50));
    assert_true(norm_spectral(tall, 4, 2, 2) < sqrt(65) * 1.001);
}

/* An activation alone, of one number where it is steepest: what is proven of it is the slope, and
 * no less than it does. */
static void slopes_are_the_steepest(void **state)
{
    static const struct {
        Activation activation;
        double x, most;
    } steep[] = {{ACTIVATION_SILU, 2.39936, 0.01},
                 {ACTIVATION_GELU, 1.41421, 0.01},
                 {ACTIVATION_GELU_NEW, 1.418, 0.01},
                 {ACTIVATION_RELU, 1, 0.01},
                 {ACTIVATION_SILU, -2.39936, 0.01}};
    uint64_t seed = SEED;
    for (size_t i = 0; i < sizeof steep / sizeof *steep; i++) {
        const Sublayer sublayer = {.direct = {.kind = DIRECT_ACTIVATION,
                                              .activation = steep[i].activation,
                                              .read = {0, 1},
                                              .write = {0, 1}}};
        const size_t end = 1;
        const Model model = {{1, 1, 0, BIAS_ROW_NONE}, &sublayer, 1, &end, 1, NULL};
        Tally tally = nothing;
        compare_moved(&tally, &(Evaluated){&model, &steep[i].x, NULL, INFINITY, false}, 20, &seed,
                      "one activation");
        report("one activation", &tally);
        assert_true(tally.log2_ratio > -steep[i].most);
    }
}

/* A norm alone, of one number near 0 and of a row whose change is at right angles to what it has
 * beside its mean: what is proven of it is gamma / sqrt(s), and no less than it does. */
static void norms_are_the_steepest(void **state)
{
    static const double gamma[] = {-3, 0}, beta[] = {0.5, 0}, small[] = {0x1p-40},
                        across[] = {1, 0x1p-60};
    const LayerNorm norms[] = {
        {NORMALIZATION_RMSNORM, {0, 1}, gamma, NULL, 1e-5, false},
        {NORMALIZATION_RMSNORM, {0, 1}, gamma, NULL, 4, false},
        {NORMALIZATION_RMSNORM, {0, 2}, (const double[]){2, 2}, NULL, 1e-3, false},
        {NORMALIZATION_LAYERNORM, {0, 1}, gamma, beta, 1, false},
    };
    uint64_t seed = SEED;
    for (size_t i = 0; i < sizeof norms / sizeof *norms; i++) {
        const Sublayer sublayer = {
            .norm = norms[i],
            .direct = {.kind = DIRECT_NORM, .read = norms[i].columns, .write = norms[i].columns}};
        const size_t end = 1;
        const Model model = {
            {1, norms[i].columns.count, 0, BIAS_ROW_NONE}, &sublayer, 1, &end, 1, NULL};
        const double *x = norms[i].columns.count == 1 ? small : across;
        Tally tally = nothing;
        compare_moved(&tally, &(Evaluated){&model, x, NULL, INFINITY, false}, 90, &seed,
                      "one norm");
        report("one norm", &tally);
        assert_true(tally.log2_ratio > -0.01 || norms[i].kind == NORMALIZATION_LAYERNORM);
    }
}

/* A norm of two columns of three, which makes them small: the third is off by what it was. */
static void norms_of_part_of_a_bank(void **state)
{
    static const double gamma[] = {0x1p-30, 0x1p-30}, x[] = {1, 2, 5};
    const Columns part = {0, 2};
    const Sublayer sublayer = {.norm = {NORMALIZATION_RMSNORM, part, gamma, NULL, 1, false},
                               .direct = {.kind = DIRECT_NORM, .read = part, .write = part}};
    const size_t end = 1;
    const Model model = {{1, 3, 0, BIAS_ROW_NONE}, &sublayer, 1, &end, 1, NULL};
    uint64_t seed = SEED;
    Tally tally = nothing;
    compare_moved(&tally, &(Evaluated){&model, x, NULL, INFINITY, false}, 20, &seed, "part");
    report("part of a bank", &tally);
    assert_true(tally.log2_ratio > -2);
}

/* The radii of several rows together: the largest, and the sum of their squares. */
static void rows_add_up(void **state)
{
    CaseSpec spec = difference_case(CONSTRUCTION_FUSED, 3);
    Pair pair = pair_make(&spec);
    const Layout *layout = &pair.converted.layout;
    Columns content = {0, layout->d};
    mpfr_t most, squares, one, own, sum, largest;
    assert_true(layout->n >= 3);
    mpfr_inits2(REF_CELL_BITS, most, squares, one, own, sum, largest, (mpfr_ptr)0);
    RefRun *run = open_certified(
        &(Evaluated){&pair.converted, pair.converted_x, pair.bias_row_content, 8, true},
        pair.converted_x, BITS);
    ref_run_layer(run);
    ref_run_radius(run, RADIUS_SUM, (RefBlock){0, layout->n, content}, (RefRadii){most, squares});
    mpfr_set_zero(sum, 1);
    mpfr_set_zero(largest, 1);
    for (size_t i = 0; i < layout->n; i++) {
        ref_run_radius(run, RADIUS_SUM, (RefBlock){i, 1, content}, (RefRadii){one, own});
        mpfr_max(largest, largest, one, MPFR_RNDU);
        mpfr_sqr(one, one, MPFR_RNDU);
        mpfr_add(sum, sum, one, MPFR_RNDU);
    }
    assert_true(mpfr_regular_p(most) && mpfr_equal_p(most, largest));
    mpfr_div(sum, squares, sum, MPFR_RNDN);
    assert_true(fabs(mpfr_get_d(sum, MPFR_RNDN) - 1) < 1e-12);
    mpfr_clears(most, squares, one, own, sum, largest, (mpfr_ptr)0);
    ref_run_clear(run);
    case_clear(&pair);
}

/* What the scores of a layer may be off by is what those of its heads may: of two, the second of
 * which has none, no less than of the first alone. */
static void scores_are_of_every_head(void **state)
{
    static const double x[4] = {1, 2, -3, 0.5}, w[8] = {1, 0.5, -2, 1, 0, 0, 0, 0};
    double off[2];
    for (size_t heads = 1; heads <= 2; heads++) {
        const HeadWeight weight = {w, 2, 4};
        const Bundle bundle = {
            .heads = heads,
            .score = {.kind = SCORE_BILINEAR, .read = {0, 2}, .q = weight, .scale = {1, 1, 1}},
            .value = {
                .kind = VALUE_DENSE, .read = {0, 2}, .write = {0, 2}, .v = weight, .scale = 1}};
        const Sublayer sublayer = {.bundles = &bundle, .bundle_count = 1};
        const size_t end = 1;
        const Model model = {{2, 2, 0, BIAS_ROW_NONE}, &sublayer, 1, &end, 1, NULL};
        RefRun *run = open_certified(&(Evaluated){&model, x, NULL, INFINITY, false}, x, BITS);
        mpfr_t most;
        mpfr_init2(most, REF_CELL_BITS);
        ref_run_layer(run);
        ref_run_score_radius(run, most);
        off[heads - 1] = mpfr_get_d(most, MPFR_RNDU);
        mpfr_clear(most);
        ref_run_clear(run);
    }
    assert_true(off[0] > 0 && off[0] < 1e-30 && off[1] >= off[0]);
}

/* Bits that the radii lose over a stack of stable weights: what a proof costs. */
static double bits_lost(const RefRun *run, RadiusOf of)
{
    const Layout *layout = &run->model->layout;
    double size = -INFINITY;
    mpfr_t radius;
    mpfr_init2(radius, REF_CELL_BITS);
    for (size_t i = 0; i < layout->n; i++) {
        for (size_t c = 0; c < layout->d; c++) {
            size = fmax(size, log2_of(entry(run, of, i, c)));
        }
    }
    ref_run_radius(run, of, (RefBlock){0, layout->n, {0, layout->d}}, (RefRadii){radius, NULL});
    double lost = log2_of(radius) + (double)run->ev.bits - size;
    mpfr_clear(radius);
    return lost;
}

static void stacks_lose_few_bits(void **state)
{
    const struct {
        Construction construction;
        double stream, difference;
    } most[] = {{CONSTRUCTION_SILU, 14, 22},
                {CONSTRUCTION_FUSED, 24, 42},
                {CONSTRUCTION_ATTENTION, 32, 50},
                {CONSTRUCTION_TRANSFORMER, 48, 64}};
    for (size_t k = 0; k < sizeof most / sizeof *most; k++) {
        CaseSpec spec = {.construction = most[k].construction,
                         .n = 20,
                         .d = 30,
                         .d_ff = 120,
                         .heads = 2,
                         .depth = 12,
                         .seed = SEED,
                         .slope = 1000};
        Pair pair = pair_make(&spec);
        Evaluated e = {&pair.converted, pair.converted_x, NULL, 20, true};
        RefRun *run = open_certified(&e, e.x, 256);
        for (size_t l = 0; l < spec.depth; l++) {
            ref_run_layer(run);
        }
        double stream = bits_lost(run, RADIUS_STREAM), e_bits = bits_lost(run, RADIUS_DIFFERENCE);
        print_message("%s: %.1f bits of the stream, %.1f of e\n",
                      construction_names[spec.construction], stream, e_bits);
        assert_true(stream < most[k].stream && e_bits < most[k].difference);
        ref_run_clear(run);
        case_clear(&pair);
    }
}

int main(int argc, char **argv)
{
    (void)argc;
    blas_setup(argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(enclosures_hold_of_all_constructions),
        cmocka_unit_test(enclosures_hold_of_what_is_inherited),
        cmocka_unit_test(enclosures_hold_of_damage),
        cmocka_unit_test(enclosures_hold_of_zero_tokens),
        cmocka_unit_test(enclosures_hold_of_extremes),
        cmocka_unit_test(enclosures_hold_of_random_models),
        cmocka_unit_test(enclosures_hold_of_moved_streams),
        cmocka_unit_test(enclosures_hold_of_moved_differences),
        cmocka_unit_test(propagation_is_sharp),
        cmocka_unit_test(slopes_change_on_the_way),
        cmocka_unit_test(closed_forms_lie_inside),
        cmocka_unit_test(norms_are_bounds),
        cmocka_unit_test(norms_of_large_matrices),
        cmocka_unit_test(norms_are_of_all_columns),
        cmocka_unit_test(rows_matrices_are_bounds),
        cmocka_unit_test(slopes_are_the_steepest),
        cmocka_unit_test(norms_are_the_steepest),
        cmocka_unit_test(norms_of_part_of_a_bank),
        cmocka_unit_test(rows_add_up),
        cmocka_unit_test(scores_are_of_every_head),
        cmocka_unit_test(stacks_lose_few_bits),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
