/*
 * Errors through a stack: the master curve, the one-hot block, leaks into the bias row and the
 * hidden columns, how `stable` weights scale (docs/mathematics.md, sections 2 and 5).
 */
#include "../../cases/case.h"
#include "../../kernels/kernel.h"
#include "../../reference/reference.h"
#include "closed_forms.h"
#include "../fixture.h"
#include "radii.h"
#include "../real.h"
#include "../textbook.h"
#include "../unit.h"

#include <math.h>

enum { SEED = 1, LAYERS = 96, MOST_OMEGAS = 7 };

/* The sizes at which 96 layers are looked at. */
static CaseSpec deep(Construction construction)
{
    return (CaseSpec){.construction = construction,
                      .n = 12,
                      .d = 24,
                      .d_ff = 96,
                      .heads = 2,
                      .depth = LAYERS,
                      .seed = SEED};
}

static CaseSpec small(Construction construction)
{
    return (CaseSpec){.construction = construction,
                      .n = 5,
                      .d = 4,
                      .d_ff = 6,
                      .heads = 2,
                      .depth = 3,
                      .seed = SEED};
}

static RefRun *open_converted(const Pair *pair, double omega, mpfr_prec_t bits)
{
    RefRun *run = ref_run_open(
        &(Start){&pair->converted, pair->converted_x, pair->bias_row_content, omega}, bits);
    assert_non_null(run);
    return run;
}

static mpfr_srcptr token_entry(const RefRun *run, const Layout *layout, size_t i, size_t c)
{
    return ref_run_entry(run, layout_token_row(layout, i), c);
}

/* max |r(T') - r(T_infinity)| over tokens and the columns compared after layer. */
static Real largest_gap(const Pair *pair, const RefRun *run, const RefRun *limit, size_t layer)
{
    const Layout *layout = &pair->converted.layout;
    Columns columns = pair->compared[layer - 1];
    Real worst = real_of(0);
    for (size_t i = 0; i < layout->n; i++) {
        for (size_t c = columns.first; c < columns.first + columns.count; c++) {
            Real gap =
                real_difference(token_entry(run, layout, i, c), token_entry(limit, layout, i, c));
            worst = real_max(worst, real_abs(gap));
        }
    }
    return worst;
}

/* ln of the construction error after the next layer at each Omega; every one of them is at least
 * 4096 times what the precision may have lost. */
static void log_errors(double *log_error, const Pair *pair, RefRun *limit, RefRun *const *runs,
                       size_t count, size_t layer)
{
    ref_run_layer(limit);
    for (size_t k = 0; k < count; k++) {
        ref_run_layer(runs[k]);
        Real resolved = real_add(real_power(radius_exponent(limit, RADIUS_STREAM) + 12),
                                 real_power(radius_exponent(runs[k], RADIUS_STREAM) + 12));
        Real error = largest_gap(pair, runs[k], limit, layer);
        assert_true(real_compare(error, resolved) > 0);
        log_error[k] = real_double(real_log(error));
    }
}

/* The largest over layers of the spread of ln(err) + 2 Omega, and of |slope + 2| between
 * neighbouring Omegas. */
typedef struct {
    double spread, slope;
    size_t layer;
} Master;

static Master master_curve(const CaseSpec *spec, const double *omegas, size_t count)
{
    Pair pair = pair_make(spec);
    mpfr_prec_t bits = subtraction_bits(omegas[count - 1]);
    RefRun *limit = with_radii(open_converted(&pair, INFINITY, bits));
    RefRun *runs[MOST_OMEGAS];
    Master worst = {0, 0, 0};
    for (size_t k = 0; k < count; k++) {
        runs[k] = with_radii(open_converted(&pair, omegas[k], bits));
    }
    for (size_t layer = 1; layer <= spec->depth; layer++) {
        double y[MOST_OMEGAS], least = INFINITY, most = -INFINITY;
        log_errors(y, &pair, limit, runs, count, layer);
        for (size_t k = 0; k < count; k++) {
            least = fmin(least, y[k] + 2 * omegas[k]);
            most = fmax(most, y[k] + 2 * omegas[k]);
            double slope = k == 0 ? -2 : (y[k] - y[k - 1]) / (omegas[k] - omegas[k - 1]);
            worst.slope = fmax(worst.slope, fabs(slope + 2));
        }
        worst.layer = most - least > worst.spread ? layer : worst.layer;
        worst.spread = fmax(worst.spread, most - least);
    }
    for (size_t k = 0; k < count; k++) {
        ref_run_clear(runs[k]);
    }
    ref_run_clear(limit);
    case_clear(&pair);
    print_message("%s, omega %g to %g: err e^(2 omega) varies by %.2g (at most, layer %zu); "
                  "|slope + 2| <= %.2g\n",
                  construction_names[spec->construction], omegas[0], omegas[count - 1],
                  worst.spread, worst.layer, worst.slope);
    return worst;
}

/* Three digits: less than half a unit of the third. */
static void errors_have_one_curve(void **state)
{
    static const struct {
        Construction construction;
        double omegas[MOST_OMEGAS];
        size_t count;
    } curves[] = {{CONSTRUCTION_TRANSFORMER, {6, 8, 10, 12}, 4},
                  {CONSTRUCTION_FUSED, {6, 8, 10, 12}, 4},
                  {CONSTRUCTION_LINEAR, {8, 9, 10, 11, 12}, 5},
                  {CONSTRUCTION_SILU, {8, 9, 10, 11, 12}, 5}};
    for (size_t i = 0; i < sizeof curves / sizeof *curves; i++) {
        CaseSpec spec = deep(curves[i].construction);
        Master master = master_curve(&spec, curves[i].omegas, curves[i].count);
        assert_true(master.spread < 5e-4);
        assert_true(master.slope < 2e-3);
    }
}

/* No head writes the position columns, which textbook_layers looks at after every sublayer; and
 * there is one a row, or the constant column, which tells tokens from the bias row. */
static void one_hot_block_is_unchanged(void **state)
{
    for (int variant = 0; variant < 4 * CONSTRUCTION_COUNT; variant++) {
        CaseSpec spec = small((Construction)(variant / 4));
        spec.mask = (Mask)(variant & 1);
        spec.bias = BIAS_RANDOM;
        spec.linear = LINEAR_CLEAR;
        spec.bias_row_content = (BiasRowContent)(variant >> 1 & 1);
        Pair pair = pair_make(&spec);
        const Layout *layout = &pair.converted.layout;
        size_t columns = layout->bias_row == BIAS_ROW_MASKED ? 1 : layout_rows(layout);
        assert_int_equal(layout_width(layout), layout_content(layout) + columns);
        ref_run_clear(textbook_layers(&pair.converted, pair.converted_x, pair.bias_row_content, 3,
                                      192, spec.depth));
        case_clear(&pair);
    }
}

/* The bias row after layer 1 of a stack whose layers have a closed form of their own. */
static void bias_row_leaks_its_closed_form(void **state)
{
    static const Construction closed[] = {CONSTRUCTION_SILU, CONSTRUCTION_LINEAR,
                                          CONSTRUCTION_ATTENTION, CONSTRUCTION_FUSED};
    Real delta[(5 + 1) * (4 + 6)];
    for (size_t k = 0; k < 4; k++) {
        CaseSpec spec = small(closed[k]);
        spec.bias = BIAS_RANDOM;
        Pair pair = pair_make(&spec);
        size_t width = layout_content(&pair.converted.layout);
        RefRun *run = open_converted(&pair, 30, 384);
        double worst = 0;
        ref_run_layer(run);
        closed_construction(delta, &spec, &pair, 30);
        for (size_t c = 0; c < width; c++) {
            Real expected = delta[spec.n * width + c];
            Real error = real_sub(real_of_mpfr(ref_run_entry(run, spec.n, c)), expected);
            Real scale = real_mul(expected, real_power(-50));
            worst = fmax(worst, fabs(real_double(real_div(error, scale))));
        }
        print_message("%s: ratio to 50 bits %.3g\n", construction_names[closed[k]], worst);
        assert_true(worst < 1);
        ref_run_clear(run);
        case_clear(&pair);
    }
}

/* ---- Leaks of composed layers, to first order in e^(-2 Omega) ---- */

enum { N = 5, D = 4, H = 6 };

/* What the tokens of a small case hold on the way through T's first layer, and the bias row of
 * T' in units of e^(-2 Omega). */
typedef struct {
    double x[N][D], z[N][H]; /* z = x W1 + b1 */
    double bias[D], hidden[H];
} Leak;

/* x += softmax_rows(x Q x^T) x V of every dense head; the bias row takes 1^T x V. */
static void leak_attention(Leak *leak, const Bundle *heads)
{
    double sum[N][D] = {{0}}, xv[N][D];
    for (size_t h = 0; h < heads->heads; h++) {
        const double *q = heads->score.q.data + h * heads->score.q.head_stride;
        const double *v = heads->value.v.data + h * heads->value.v.head_stride;
        for (size_t j = 0; j < N; j++) {
            for (size_t c = 0; c < D; c++) {
                xv[j][c] = 0;
                for (size_t a = 0; a < D; a++) {
                    xv[j][c] += leak->x[j][a] * v[a * D + c];
                }
                leak->bias[c] += xv[j][c];
            }
        }
        for (size_t i = 0; i < N; i++) {
            double weight[N], total = 0;
            for (size_t j = 0; j < N; j++) {
                double score = 0;
                for (size_t e = 0; e < D * D; e++) {
                    score += leak->x[i][e / D] * q[e] * leak->x[j][e % D];
                }
                weight[j] = exp(score);
                total += weight[j];
            }
            for (size_t e = 0; e < N * D; e++) {
                sum[i][e % D] += weight[e / D] / total * xv[e / D][e % D];
            }
        }
    }
    for (size_t e = 0; e < N * D; e++) {
        leak->x[e / D][e % D] += sum[e / D][e % D];
    }
}

static void leak_pre_activation(Leak *leak, const Direct *ffn)
{
    for (size_t e = 0; e < N * H; e++) {
        size_t i = e / H, k = e % H;
        leak->z[i][k] = ffn->b1[k];
        for (size_t c = 0; c < D; c++) {
            leak->z[i][k] += leak->x[i][c] * ffn->w1[c * H + k];
        }
    }
}

/* The bias row b attends itself with values (b W1)_k W2[k, :], and the tokens with weight
 * e^(-2 Omega): b <- b + b W1 W2 + (1^T z) W2 + N b2. */
static void leak_fused(Leak *leak, const Direct *ffn)
{
    double unit[H];
    for (size_t k = 0; k < H; k++) {
        unit[k] = 0;
        for (size_t c = 0; c < D; c++) {
            unit[k] += leak->bias[c] * ffn->w1[c * H + k];
        }
        for (size_t i = 0; i < N; i++) {
            unit[k] += leak->z[i][k];
        }
    }
    for (size_t c = 0; c < D; c++) {
        leak->bias[c] += N * ffn->b2[c];
        for (size_t k = 0; k < H; k++) {
            leak->bias[c] += unit[k] * ffn->w2[k * D + c];
        }
    }
}

/* Three sublayers.  In: the hidden columns take b W1 + 1^T z.  SiLU: the bias row's head takes
 * all of that away and leaves -1^T z.  Out, s = SiLU(z):
 * b <- b + (1^T s - 1^T z) W2 + N b2, and the hidden columns are left with -1^T s. */
static void leak_ffn3(Leak *leak, const Direct *ffn)
{
    double gap[H] = {0};
    for (size_t e = 0; e < N * H; e++) {
        double z = leak->z[e / H][e % H], s = z / (1 + exp(-z));
        gap[e % H] += s - z;
        leak->hidden[e % H] -= s;
    }
    for (size_t c = 0; c < D; c++) {
        leak->bias[c] += N * ffn->b2[c];
        for (size_t k = 0; k < H; k++) {
            leak->bias[c] += gap[k] * ffn->w2[k * D + c];
        }
    }
}

static Leak leak_expected(const CaseSpec *spec, const Pair *pair)
{
    const Sublayer *sublayers = pair->original.sublayers;
    bool attends = sublayers[0].bundle_count > 0;
    const Direct *ffn = &sublayers[attends ? 1 : 0].direct;
    Leak leak = {.bias = {0}};
    for (size_t e = 0; e < N * D; e++) {
        leak.x[e / D][e % D] = pair->original_x[e];
    }
    if (attends) {
        leak_attention(&leak, &sublayers[0].bundles[0]);
    }
    leak_pre_activation(&leak, ffn);
    if (spec->construction == CONSTRUCTION_TRANSFORMER) {
        leak_fused(&leak, ffn);
    } else {
        leak_ffn3(&leak, ffn);
    }
    return leak;
}

/* Omega = 30: what first order leaves out is 1e-25 of it. */
static void composed_layers_leak_as_derived(void **state)
{
    static const Construction composed[] = {CONSTRUCTION_FFN3, CONSTRUCTION_TRANSFORMER3,
                                            CONSTRUCTION_TRANSFORMER};
    Real unit = real_exp(real_of(-60));
    for (size_t k = 0; k < 3; k++) {
        CaseSpec spec = small(composed[k]);
        spec.bias = BIAS_RANDOM;
        Pair pair = pair_make(&spec);
        Leak leak = leak_expected(&spec, &pair);
        RefRun *run = open_converted(&pair, 30, 384);
        double worst = 0;
        ref_run_layer(run);
        for (size_t c = 0; c < layout_content(&pair.converted.layout); c++) {
            Real entry = real_of_mpfr(ref_run_entry(run, N, c));
            double expected = c < D ? leak.bias[c] : leak.hidden[c - D];
            worst = fmax(worst, fabs(real_double(real_div(entry, unit)) - expected));
        }
        print_message("%s: off by %.2g e^(-2 omega)\n", construction_names[composed[k]], worst);
        assert_true(worst < 1e-12);
        ref_run_clear(run);
        case_clear(&pair);
    }
}

/* max |entry| of the columns that the layer cleared, all rows. */
static Real largest_cleared(const Pair *pair, const RefRun *run, size_t layer)
{
    Columns cleared = pair->cleared[layer - 1];
    Real worst = real_of(0);
    for (size_t i = 0; i < layout_rows(&pair->converted.layout); i++) {
        for (size_t c = cleared.first; c < cleared.first + cleared.count; c++) {
            worst = real_max(worst, real_abs(real_of_mpfr(ref_run_entry(run, i, c))));
        }
    }
    return worst;
}

/* What a clear leaves is C e^(-2 Omega), C the same for every large Omega, and not 0. */
static void cleared_columns_are_of_order_epsilon(void **state)
{
    static const Construction clearing[] = {CONSTRUCTION_LINEAR, CONSTRUCTION_FFN3,
                                            CONSTRUCTION_TRANSFORMER3};
    for (size_t k = 0; k < 6; k++) {
        CaseSpec spec = small(clearing[k / 2]);
        spec.depth = 12;
        spec.linear = LINEAR_CLEAR;
        spec.mask = (Mask)(k % 2);
        Pair pair = pair_make(&spec);
        RefRun *near = open_converted(&pair, 10, 512);
        RefRun *far = open_converted(&pair, 40, 512);
        double worst = 0, least = INFINITY, most = 0;
        for (size_t l = 1; l <= spec.depth; l++) {
            ref_run_layer(near);
            ref_run_layer(far);
            Real c = real_mul(largest_cleared(&pair, far, l), real_exp(real_of(80)));
            Real c_near = real_mul(largest_cleared(&pair, near, l), real_exp(real_of(20)));
            least = fmin(least, real_double(c));
            most = fmax(most, real_double(c));
            worst = fmax(worst, fabs(real_double(real_div(c_near, c)) - 1));
        }
        print_message("%s mask %d: left %.3g to %.3g e^(-2 omega), to %.2g at omega 10\n",
                      construction_names[spec.construction], (int)spec.mask, least, most, worst);
        assert_true(least > 1e-3 && most < 1e3 && worst < 1e-4);
        ref_run_clear(near);
        ref_run_clear(far);
        case_clear(&pair);
    }
}

/* Root mean square of the tokens of T. */
static double rms(const RefRun *run, const Layout *layout)
{
    Real sum = real_of(0);
    for (size_t e = 0; e < layout->n * layout->d; e++) {
        Real x = real_of_mpfr(token_entry(run, layout, e / layout->d, e % layout->d));
        sum = real_add(sum, real_mul(x, x));
    }
    return real_double(real_sqrt(real_div(sum, real_of((double)(layout->n * layout->d)))));
}

/* rms after every layer of T, relative to the start. */
static void rms_range(Construction construction, double range[2], double *last)
{
    CaseSpec spec = deep(construction);
    Pair pair = pair_make(&spec);
    const Layout *layout = &pair.original.layout;
    RefRun *run = ref_run_open(&(Start){&pair.original, pair.original_x, NULL, INFINITY}, 256);
    assert_non_null(run);
    double start = rms(run, layout);
    range[0] = INFINITY;
    range[1] = 0;
    for (size_t l = 0; l < spec.depth; l++) {
        ref_run_layer(run);
        *last = rms(run, layout) / start;
        range[0] = fmin(range[0], *last);
        range[1] = fmax(range[1], *last);
    }
    print_message("%s: rms %.3g to %.3g of the start, %.3g after %d layers\n",
                  construction_names[construction], range[0], range[1], *last, LAYERS);
    ref_run_clear(run);
    case_clear(&pair);
}

static void stable_stacks_keep_their_size(void **state)
{
    double range[2], last;
    rms_range(CONSTRUCTION_TRANSFORMER, range, &last);
    assert_true(range[0] >= 0.9 && range[1] <= 1.3);
}

/* SiLU of SiLU ... halves small numbers: 2^-96 is 1.3e-29. */
static void silu_stacks_shrink(void **state)
{
    double range[2], last;
    rms_range(CONSTRUCTION_SILU, range, &last);
    assert_true(last > 1e-27 && last < 1e-25);
    assert_true(last == range[0]);
}

/* max |m(T') - r(T)| after the next layer. */
static double machine_gap(Kernel *kernel, const RefRun *original, const Pair *pair)
{
    const Layout *layout = &pair->converted.layout;
    KernelStream stream = kernel_layer(kernel);
    double worst = 0;
    for (size_t i = 0; i < layout->n; i++) {
        for (size_t c = 0; c < layout->d; c++) {
            double m = stream.data[layout_token_row(layout, i) * stream.ld + c];
            Real r = real_of_mpfr(ref_run_entry(original, i, c));
            assert_true(isfinite(m));
            worst = fmax(worst, fabs(real_double(real_sub(real_of(m), r))));
        }
    }
    return worst;
}

/* The total error of double after the first and the last layer; the figures are those of another
 * draw of the same weights. */
static void double_is_as_wrong_as_stated(void **state)
{
    CaseSpec spec = deep(CONSTRUCTION_TRANSFORMER);
    Pair pair = pair_make(&spec);
    RefRun *original = ref_run_open(&(Start){&pair.original, pair.original_x, NULL, INFINITY}, 160);
    Kernel *at_1000 =
        kernel_open(&(Start){&pair.converted, pair.converted_x, NULL, 1000}, KERNEL_DENSE, 1);
    Kernel *at_30 =
        kernel_open(&(Start){&pair.converted, pair.converted_x, NULL, 30}, KERNEL_DENSE, 1);
    double first = 0, last = 0, last_30 = 0;
    assert_true(original != NULL && at_1000 != NULL && at_30 != NULL);
    for (size_t l = 0; l < spec.depth; l++) {
        ref_run_layer(original);
        last = machine_gap(at_1000, original, &pair);
        last_30 = machine_gap(at_30, original, &pair);
        first = l == 0 ? last : first;
    }
    print_message("omega 1000: %.3g after layer 1, %.3g after %d; omega 30: %.3g\n", first, last,
                  LAYERS, last_30);
    assert_true(first > 2.1e-15 / 3 && first < 2.1e-15 * 3);
    assert_true(last > 2.8e-14 / 3 && last < 2.8e-14 * 3);
    assert_true(last_30 > 3.3e-15 / 3 && last_30 < 3.3e-15 * 3);
    kernel_clear(at_1000);
    kernel_clear(at_30);
    ref_run_clear(original);
    case_clear(&pair);
}

static int setup(void **state)
{
    print_message("seed %d, %d layers\n", SEED, LAYERS);
    return reference_set_up(state);
}

SUBJECT(depth)
{
    const struct CMUnitTest depth[] = {
        cmocka_unit_test(stable_stacks_keep_their_size),
        cmocka_unit_test(silu_stacks_shrink),
        cmocka_unit_test(errors_have_one_curve),
        cmocka_unit_test(one_hot_block_is_unchanged),
        cmocka_unit_test(bias_row_leaks_its_closed_form),
        cmocka_unit_test(composed_layers_leak_as_derived),
        cmocka_unit_test(cleared_columns_are_of_order_epsilon),
        cmocka_unit_test(double_is_as_wrong_as_stated),
    };
    return cmocka_run_group_tests(depth, setup, reference_tear_down);
}
