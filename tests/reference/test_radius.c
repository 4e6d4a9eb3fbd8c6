/*
 * Radii (docs/certify.md): what is proven of an evaluation must hold of one with more than twice
 * the bits, of one whose stream is off by as much as it was told, and of the closed forms.
 */
#include "../../reference/compare/propagation.h"
#include "../../reference/run/run.h"
#include "closed_forms.h"
#include "../drawn_numbers.h"
#include "enclosures.h"
#include "../fixture.h"
#include "norm_cases.h"
#include "radii.h"
#include "../real.h"
#include "../unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BITS = 128, NIGHTLY_ROWS = 10000 };

/* Evaluations beside those of more than twice the bits; and from streams that are moved, alone and
 * with e beside them. */
typedef struct {
    Tally precise, moved, moved_e;
} Enclosed;

static const Enclosed none = {
    {0, 0, -INFINITY, 0, ""}, {0, 0, -INFINITY, 0, ""}, {0, 0, -INFINITY, 0, ""}};

/* No more than such a share of rows that are not moved are unknown. */
static void report(const char *what, const Enclosed *of, double unknown)
{
    char moved[PLACE];
    tally_report(what, &of->precise);
    assert_true((double)of->precise.unknown <= unknown * (double)of->precise.rows);
    if (of->moved.rows > 0) {
        snprintf(moved, PLACE, "%s, moved", what);
        tally_report(moved, &of->moved);
        snprintf(moved, PLACE, "%s, moved, with e", what);
        tally_report(moved, &of->moved_e);
    }
}

/* Every evaluation of a pair, layer by layer; and, where that is asked, from streams that are off
 * by much and by little. */
static void enclose_built(Enclosed *of, const Pair *pair, double omega, mpfr_prec_t bits,
                          bool moved, const char *what)
{
    Evaluated all[PAIR_EVALUATIONS];
    evaluations_of(all, pair, omega);
    for (int i = 0; i < PAIR_EVALUATIONS; i++) {
        tally_precisions(&of->precise, &all[i], bits, what);
        for (int by = 4; moved && by <= 44; by += 20) {
            tally_moved(all[i].difference ? &of->moved_e : &of->moved, &all[i], by, what);
        }
    }
}

static void enclose(Enclosed *of, const CaseSpec *spec, double omega, mpfr_prec_t bits, bool moved)
{
    Pair pair;
    const char *reason;
    char what[PLACE];
    if (case_build(&pair, &reason, spec) != CASE_OK) {
        return; /* a mask that does not fit */
    }
    difference_describe(what, spec, omega);
    enclose_built(of, &pair, omega, bits, moved, what);
    case_clear(&pair);
}

/* The case as it is, and with a norm. */
static void enclose_both(Enclosed both[2], const CaseSpec *spec, int norm, double omega,
                         mpfr_prec_t bits, bool moved)
{
    CaseSpec normed = norm_variant(spec, norm);
    enclose(&both[0], spec, omega, bits, moved);
    enclose(&both[1], &normed, omega, bits, moved);
}

static const double omegas[] = {1, 8, 40, 1000};
enum { OMEGAS = sizeof omegas / sizeof *omegas };

/* All constructions, masks, biases, activations, shapes of heads. */
static void enclosures_hold_of_all_constructions(void **state)
{
    Enclosed both[2] = {none, none};
    int step = fixture_nightly() ? 1 : 5;
    drawn_numbers = SEED;
    for (int c = 0; c < CONSTRUCTION_COUNT; c++) {
        for (int v = c % step; v < VARIANTS; v += step) {
            CaseSpec spec = difference_variant((Construction)c, 2, v);
            size_t first = fixture_nightly() ? 0 : (size_t)v % OMEGAS;
            for (size_t o = first; o < OMEGAS; o += fixture_nightly() ? 1 : OMEGAS) {
                enclose_both(both, &spec, v + c + (int)o, omegas[o], BITS, true);
            }
        }
    }
    report("constructions", &both[0], 0);
    report("with norms", &both[1], 0);
    assert_true(!fixture_nightly() || both[0].precise.rows > NIGHTLY_ROWS);
}

/* Parallel blocks, with and without what their bias row holds. */
static void enclosures_hold_of_parallel_blocks(void **state)
{
    Enclosed parallel = none;
    drawn_numbers = SEED;
    for (int i = 0; i < (fixture_nightly() ? VARIANTS : 12); i++) {
        int v = 7 * i % VARIANTS;
        CaseSpec plain = difference_variant(CONSTRUCTION_TRANSFORMER, 2, v);
        CaseSpec spec = norm_variant(&plain, v);
        spec.norm_place = NORM_PRE;
        spec.parallel = true;
        enclose(&parallel, &spec, omegas[v % OMEGAS], BITS, true);
    }
    report("parallel blocks", &parallel, 0);
    assert_true(parallel.precise.rows > 100);
}

/* Gated networks, whose products are read out of scores. */
static void enclosures_hold_of_gated_networks(void **state)
{
    Enclosed both[2] = {none, none};
    drawn_numbers = SEED;
    for (int i = 0; i < (fixture_nightly() ? GATED_VARIANTS : 24); i++) {
        int v = 7 * i % GATED_VARIANTS; /* of every kind some */
        CaseSpec spec = difference_gated(v);
        enclose_both(both, &spec, v, omegas[v % (int)OMEGAS], 2 * BITS, true);
    }
    report("gated", &both[0], 0);
    report("gated, with norms", &both[1], 0);
}

/* What layers inherit of e, against an evaluation of more than twice the bits. */
static void compare_inherited(Tally *tally, const CaseSpec *spec, double omega)
{
    Pair pair = pair_make(spec);
    RefBase *bases[2];
    RefRun *runs[2];
    char what[PLACE];
    difference_describe(what, spec, omega);
    for (int i = 0; i < 2; i++) {
        mpfr_prec_t bits = i == 0 ? BITS : 2 * BITS + 64;
        bases[i] = ref_base_make(&pair, bits, REF_LIMIT_NONE, NULL);
        assert_non_null(bases[i]);
        runs[i] = with_radii(ref_propagation_run_open(&pair, omega, bits, bases[i]));
    }
    for (size_t l = 0; l < spec->depth; l++) {
        ref_run_layer(runs[0]);
        ref_run_layer(runs[1]);
        tally_rows(tally, runs[0], runs[1], RADIUS_INHERITED, what);
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
    Enclosed both[2] = {none, none};
    for (int c = 0; c < WITH_OMEGA; c++) {
        for (int v = c % 5; v < VARIANTS; v += fixture_nightly() ? 1 : 5) {
            CaseSpec spec = difference_variant((Construction)c, 3, v);
            CaseSpec normed = norm_variant(&spec, v + c);
            compare_inherited(&both[0].precise, &spec, omegas[v % OMEGAS]);
            compare_inherited(&both[1].precise, &normed, omegas[v % OMEGAS]);
        }
    }
    report("inherited", &both[0], 0);
    report("inherited, with norms", &both[1], 0);
}

/* Heads that have lost entries of Omega, by chance or one: each has keys of its own in A. */
static void enclosures_hold_of_damage(void **state)
{
    Enclosed damage = none;
    drawn_numbers = SEED;
    for (int c = 0; c < CONSTRUCTION_MASKED; c++) {
        for (int v = c % 3; v < VARIANTS; v += fixture_nightly() ? 1 : 3) {
            CaseSpec spec = difference_damaged((Construction)c, v);
            enclose(&damage, &spec, omegas[v % (int)OMEGAS], BITS, true);
        }
    }
    report("damage", &damage, 0.02);
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
    Enclosed with_zeros = none;
    for (int c = 0; c < CONSTRUCTION_COUNT; c++) {
        for (int v = 0; v < 4; v++) {
            CaseSpec spec = difference_variant((Construction)c, 2, 3 * v + c);
            Pair pair = pair_make(&spec), zero = pair;
            double *original = with_zero_token(&pair.original, pair.original_x);
            double *converted = with_zero_token(&pair.converted, pair.converted_x);
            zero.original_x = original;
            zero.converted_x = converted;
            enclose_built(&with_zeros, &zero, 40, BITS, false, construction_names[c]);
            free(original);
            free(converted);
            case_clear(&pair);
        }
    }
    report("zero tokens", &with_zeros, 1);
}

/* Scores from 1e-3 to 1e100, weights that explode, pseudo-masks, limited rank: enclosures may be
 * infinite there, but never wrong. */
static void enclosures_hold_of_extremes(void **state)
{
    static const double scales[] = {1e-3, 30, 1e4, 1e10, 1e30, 1e100};
    Enclosed both[2] = {none, none};
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
                enclose_both(both, &spec, v + (int)k, omegas[v % (int)OMEGAS],
                             k % 2 == 0 ? 64 : 512, false);
            }
        }
    }
    report("extremes", &both[0], 1);
    report("extremes, with norms", &both[1], 1);
}

/* One of three layers, every other one with norms. */
static void random_trial(Tally *tally, RandomModel *random, int trial)
{
    BundleStack stack;
    Model model = random_stack(random, &stack, trial);
    if (trial % 2 == 1) {
        random_norms(random, &stack, &model.layout, trial % 6 == 1);
    }
    if (model_fault(&model) != NULL) {
        return;
    }
    size_t content = layout_content(&model.layout);
    const double *x = random_numbers(random, model.layout.n * content);
    const double *b = random_below(random, 2) ? random_numbers(random, content) : NULL;
    char what[PLACE];
    snprintf(what, PLACE, "random model %d", trial);
    for (size_t o = 0; o < OMEGAS; o += 3) {
        tally_precisions(tally, &(Evaluated){&model, x, b, omegas[o], true}, BITS, what);
        tally_precisions(tally, &(Evaluated){&model, x, b, omegas[o], false}, BITS, what);
    }
}

/* Models that no construction makes. */
static void enclosures_hold_of_random_models(void **state)
{
    static RandomModel random;
    Tally tally = tally_none;
    int trials = fixture_nightly() ? 400 : 2 * SCORES_COUNT * VALUES_COUNT;
    for (int trial = 0; trial < trials; trial++) {
        random_start(&random, SEED + (uint64_t)trial);
        random_trial(&tally, &random, trial);
    }
    tally_report("random models", &tally);
    assert_true(tally.unknown < tally.rows);
}

/* Of those, the ones whose queries and keys turn, by numbers that are no cos and sin. */
static void enclosures_hold_of_turned_heads(void **state)
{
    static RandomModel random;
    Tally tally = tally_none;
    int trials = fixture_nightly() ? 400 : 60;
    for (int i = 0; i < trials; i++) {
        int trial = SCORES_COUNT * i + SCORES_FACTORED - i % 3;
        random_start(&random, SEED + (uint64_t)i);
        random.turns = true;
        random_trial(&tally, &random, trial);
    }
    tally_report("turned heads", &tally);
    assert_true(tally.unknown < tally.rows);
}

/* ---- Heads of two columns -------------------------------------------------------------------- */

/* Heads that read and write both columns: queries and keys of factors where they turn, or Q. */
static Bundle two_columns(size_t heads, const double *q, const double *v, const Rotary *rotary)
{
    const HeadWeight query = {q, 2, 4}, value = {v, 2, 4};
    return (Bundle){.heads = heads,
                    .score = {.kind = SCORE_BILINEAR,
                              .read = {0, 2},
                              .d_head = rotary != NULL ? 2 : 0,
                              .q = query,
                              .k = rotary != NULL ? query : (HeadWeight){0},
                              .rotary = rotary,
                              .scale = {1, 1, 1}},
                    .value = {.read = {0, 2}, .write = {0, 2}, .v = value, .scale = 1}};
}

/* What the scores of these heads may be off by, of tokens x [tokens, 2]. */
static double scores_off_by(const Bundle *bundle, const double *x, size_t tokens)
{
    static const size_t end = 1;
    const Sublayer sublayer = {.bundles = bundle, .bundle_count = 1};
    const Model model = {{tokens, 2, 0, BIAS_ROW_NONE}, &sublayer, 1, &end, 1, NULL};
    RefRun *run = evaluated_open(&(Evaluated){&model, x, NULL, INFINITY, false}, x, BITS);
    mpfr_t most;
    mpfr_init2(most, REF_CELL_BITS);
    ref_run_layer(run);
    ref_run_score_radius(run, most);
    double off = mpfr_get_d(most, MPFR_RNDU);
    mpfr_clear(most);
    ref_run_clear(run);
    return off;
}

/* Enclosures hold of these sublayers, two tokens and as many layers. */
static void check_two_columns(const char *what, const Sublayer *sublayers, size_t count,
                              const size_t *ends, size_t depth, const double x[4])
{
    const Model model = {{2, 2, 0, BIAS_ROW_NONE}, sublayers, count, ends, depth, NULL};
    Tally tally = tally_none;
    assert_null(model_fault(&model));
    tally_precisions(&tally, &(Evaluated){&model, x, NULL, INFINITY, false}, BITS, what);
    tally_report(what, &tally);
    assert_true(tally.unknown == 0);
}

/* Turns that make queries and keys 2^20 times as long make the rounding of a score 2^40 times as
 * large: radii that knew nothing of it would be wrong, and are not far above what it is. */
static void long_turns_make_radii_wide(void **state)
{
    static const double x[6] = {1, 2, -3, 0.5, 0.75, -1},
                        w[4] = {0x1.8p-20, 0x1p-21, 0x1.1p-20, -0x1.3p-20};
    static const double one[3] = {1, 1, 1}, none[3] = {0}, far[3] = {0x1p20, 0x1p20, 0x1p20};
    const Rotary still = {3, 2, false, one, none}, turning = {3, 2, false, far, none};
    const Bundle bundles[] = {two_columns(1, w, w, &still), two_columns(1, w, w, &turning)};
    double off = scores_off_by(&bundles[1], x, 3) / scores_off_by(&bundles[0], x, 3);
    assert_true(off > 0x1p39 && off < 0x1p41);
}

/* Two tokens whose keys are far apart, and nearly one once the second is turned by a right angle:
 * what rounding scores of 2^20 does to a pattern of two halves, and not to that of one key. */
static void patterns_are_those_of_turned_keys(void **state)
{
    static const double x[4] = {1.1, 0.7, 0.7, -1.1 * (1 + 0x1p-30)};
    static const double cos[2] = {1, 0}, sin[2] = {0, 1}, w[4] = {1234.1, 0, 0, 1234.1},
                        v[4] = {0.9, 0.1, -0.3, 1.3};
    static const Rotary rotary = {2, 2, false, cos, sin};
    const Bundle bundle = two_columns(1, w, v, &rotary);
    const Sublayer sublayer = {.bundles = &bundle, .bundle_count = 1};
    check_two_columns("turned keys", &sublayer, 1, (const size_t[]){1}, 1, x);
}

/* Behind a layer whose numbers of 2^40 cancel but for what they round, the first of two parallel
 * parts multiplies that by 2^30; the second adds hardly anything.  All average rows. */
static void parallel_parts_keep_each_other_s_radii(void **state)
{
    static const double x[4] = {1.1, 0.7, -0.4, 0.3}, one[2] = {1, 1}, none[8] = {0};
    static const double small[4] = {0.1, 0, 0, 0.1}, large[4] = {0x1p30, 0x1p29, -0x1p29, 0x1p30},
                        apart[8] = {0x1.3456789p40, 0x1.1p39,          -0x1.77p40,
                                    0x1.5p40,       -0x1.3456789abp40, -0x1.10000000012p39,
                                    0x1.77p40,      -0x1.5p40};
    const LayerNorm norm = {
        .kind = NORMALIZATION_RMSNORM, .columns = {0, 2}, .gamma = one, .eps = 1e-5};
    const Bundle bundles[3] = {two_columns(2, none, apart, NULL), two_columns(1, none, large, NULL),
                               two_columns(1, none, small, NULL)};
    Sublayer sublayers[3];
    for (size_t s = 0; s < 3; s++) {
        sublayers[s] =
            (Sublayer){.norm = norm, .beside = s == 2, .bundles = &bundles[s], .bundle_count = 1};
    }
    check_two_columns("parallel parts", sublayers, 3, (const size_t[]){1, 3}, 2, x);
}

/* What the scores of a layer may be off by is what those of its heads may: of two, the second of
 * which has none, no less than of the first alone. */
static void scores_are_of_every_head(void **state)
{
    static const double x[4] = {1, 2, -3, 0.5}, w[8] = {1, 0.5, -2, 1, 0, 0, 0, 0};
    const Bundle one = two_columns(1, w, w, NULL), two = two_columns(2, w, w, NULL);
    double off = scores_off_by(&one, x, 2);
    assert_true(off > 0 && off < 1e-30 && scores_off_by(&two, x, 2) >= off);
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
    RefRun *run = evaluated_open(&e, e.x, BITS);
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
        tally_row(tally, norm, radius, construction_names[spec->construction]);
    }
    mpfr_clears(norm, radius, (mpfr_ptr)0);
    ref_run_clear(run);
    case_clear(&pair);
}

static void closed_forms_lie_inside(void **state)
{
    static const Construction known[] = {CONSTRUCTION_SILU, CONSTRUCTION_LINEAR,
                                         CONSTRUCTION_ATTENTION, CONSTRUCTION_FUSED};
    Tally tally = tally_none;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        for (int v = 0; v < 8; v++) {
            CaseSpec spec = difference_variant(known[k], 1, v);
            spec.linear = LINEAR_IN_PLACE;
            check_closed(&tally, &spec, 3);
            check_closed(&tally, &spec, 20);
        }
    }
    tally_report("closed forms", &tally);
    assert_true(tally.unknown == 0);
}

/* ---- Of all rows and layers ------------------------------------------------------------------ */

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
    RefRun *run = evaluated_open(
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

/* Bits that the radii lose over a stack of stable weights: what a proof costs. */
static double bits_lost(const RefRun *run, RadiusOf of)
{
    const Layout *layout = &run->model->layout;
    double size = -INFINITY;
    mpfr_t radius;
    mpfr_init2(radius, REF_CELL_BITS);
    for (size_t i = 0; i < layout->n; i++) {
        for (size_t c = 0; c < layout->d; c++) {
            size = fmax(size, log2_of(radius_entry(run, of, i, c)));
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
        RefRun *run = evaluated_open(&e, e.x, 256);
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

SUBJECT(radius)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(enclosures_hold_of_all_constructions),
        cmocka_unit_test(enclosures_hold_of_parallel_blocks),
        cmocka_unit_test(enclosures_hold_of_gated_networks),
        cmocka_unit_test(enclosures_hold_of_what_is_inherited),
        cmocka_unit_test(enclosures_hold_of_damage),
        cmocka_unit_test(enclosures_hold_of_zero_tokens),
        cmocka_unit_test(enclosures_hold_of_extremes),
        cmocka_unit_test(enclosures_hold_of_random_models),
        cmocka_unit_test(enclosures_hold_of_turned_heads),
        cmocka_unit_test(long_turns_make_radii_wide),
        cmocka_unit_test(patterns_are_those_of_turned_keys),
        cmocka_unit_test(parallel_parts_keep_each_other_s_radii),
        cmocka_unit_test(closed_forms_lie_inside),
        cmocka_unit_test(rows_add_up),
        cmocka_unit_test(scores_are_of_every_head),
        cmocka_unit_test(stacks_lose_few_bits),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
