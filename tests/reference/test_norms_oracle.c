/*
 * Layer norms against an independent program: random models, r(T), r(T') - r(T) and the bias row to
 * 25 digits (tests/oracle_norms.py, which needs mpmath).
 */
#include "../../cases/case.h"
#include "../../reference/reference.h"
#include "../fixture.h"
#include "norm_cases.h"
#include "../oracle.h"
#include "../program.h"
#include "../unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Bits of the reference; of the oracle, which subtracts, as many and those that Omega hides. */
enum { BITS = 192 };

static void write_tensor(FILE *file, const char *name, const double *data, size_t rows,
                         size_t columns)
{
    fprintf(file, "%s %zu %zu", name, rows, columns);
    for (size_t i = 0; i < rows * columns; i++) {
        fprintf(file, " %a", data != NULL ? data[i] : 0);
    }
    fprintf(file, "\n");
}

static void write_norm(FILE *file, const LayerNorm *norm)
{
    if (norm->kind == NORMALIZATION_NONE) {
        return;
    }
    fprintf(file, "+norm %s\n", norm->kind == NORMALIZATION_RMSNORM ? "rmsnorm" : "layernorm");
    fprintf(file, "+eps %a\n", norm->eps);
    write_tensor(file, "+gamma", norm->gamma, 1, norm->columns.count);
    if (norm->beta != NULL) {
        write_tensor(file, "+beta", norm->beta, 1, norm->columns.count);
    }
}

/* Dense heads. */
static void write_heads(FILE *file, const Bundle *bundle, size_t d)
{
    char name[32];
    fprintf(file, "+heads %zu\n", bundle->heads);
    for (size_t h = 0; h < bundle->heads; h++) {
        snprintf(name, sizeof name, "+q%zu", h);
        write_tensor(file, name, bundle->score.q.data + h * bundle->score.q.head_stride, d, d);
        snprintf(name, sizeof name, "+v%zu", h);
        write_tensor(file, name, bundle->value.v.data + h * bundle->value.v.head_stride, d, d);
    }
}

static void write_sublayer(FILE *file, const Sublayer *sublayer, size_t d)
{
    static const char *const kinds[] = {"ffn", "linear", "activation", "norm"};
    const Direct *direct = &sublayer->direct;
    bool heads = sublayer->bundle_count > 0;
    fprintf(file, "sublayer %s\n", heads ? "attention" : kinds[direct->kind]);
    write_norm(file, &sublayer->norm);
    if (heads) {
        write_heads(file, sublayer->bundles, d);
    } else if (direct->kind == DIRECT_FFN) {
        write_tensor(file, "+w1", direct->w1, d, direct->hidden);
        write_tensor(file, "+b1", direct->b1, 1, direct->hidden);
        write_tensor(file, "+w2", direct->w2, direct->hidden, d);
        write_tensor(file, "+b2", direct->b2, 1, d);
    } else if (direct->kind == DIRECT_LINEAR) {
        write_tensor(file, "+w1", direct->w1, d, d);
        write_tensor(file, "+b1", direct->b1, 1, d);
        fprintf(file, "+replace %d\n", direct->replace);
    }
}

/* What the program makes of it: rows of [d] in 40 digits. */
typedef mpfr_srcptr Entry(const RefRun *run, size_t row, size_t column);

static void write_rows(FILE *file, const char *name, const RefRun *run, Entry *entry, size_t first,
                       size_t rows, size_t d)
{
    fprintf(file, "%s %zu %zu", name, rows, d);
    for (size_t i = 0; i < rows * d; i++) {
        char digits[96];
        mpfr_snprintf(digits, sizeof digits, "%.40Re", entry(run, first + i / d, i % d));
        fprintf(file, " %s", digits);
    }
    fprintf(file, "\n");
}

static void write_model(FILE *file, const CaseSpec *spec, double omega)
{
    char what[NORM_PLACE];
    Pair pair = pair_make(spec);
    const Layout *layout = &pair.converted.layout;
    RefRun *original =
        run_layers(&pair.original, pair.original_x, NULL, INFINITY, BITS, spec->depth);
    RefRun *e = difference_layers(&pair, omega, BITS, spec->depth);
    norm_describe(what, spec);
    fprintf(file, "begin\nwhat %s omega %g\nomega %a\n", what, omega, omega);
    fprintf(file, "bits %.0f\ncausal %d\ntokens_only %d\nthree %d\nd %zu\nhidden %zu\n",
            256 + 9 * omega, spec->mask == MASK_CAUSAL, spec->norm_tokens_only, layout->hidden > 0,
            spec->d, spec->d_ff);
    write_tensor(file, "X", pair.original_x, spec->n, spec->d);
    for (size_t s = 0; s < pair.original.sublayer_count; s++) {
        write_sublayer(file, &pair.original.sublayers[s], spec->d);
    }
    write_rows(file, "original", original, ref_run_entry, 0, spec->n, spec->d);
    write_rows(file, "change", e, ref_run_difference, layout_token_row(layout, 0), spec->n,
               spec->d);
    write_rows(file, "bias", e, ref_run_entry, layout_bias_row(layout), 1, spec->d);
    ref_run_clear(original);
    ref_run_clear(e);
    case_clear(&pair);
}

static CaseSpec model(Construction construction, Normalization norm, NormPlace place, uint64_t seed)
{
    CaseSpec spec = norm_case(construction, norm, place, 2);
    spec.n = 3;
    spec.d = 3;
    spec.d_ff = 4;
    spec.seed = seed;
    return spec;
}

/* Five models: each norm in each place, no mask and a causal one, the amplified bias row at an
 * Omega where it is 1e-868, and a norm of two columns that removes all but 1e-12 of a change. */
static void write_models(FILE *file)
{
    CaseSpec spec = model(CONSTRUCTION_TRANSFORMER, NORMALIZATION_LAYERNORM, NORM_PRE, 3);
    write_model(file, &spec, 1000);
    spec = model(CONSTRUCTION_TRANSFORMER3, NORMALIZATION_RMSNORM, NORM_POST, 4);
    spec.mask = MASK_CAUSAL;
    write_model(file, &spec, 12);
    spec = model(CONSTRUCTION_ATTENTION, NORMALIZATION_RMSNORM, NORM_PRE, 5);
    spec.norm_tokens_only = true;
    write_model(file, &spec, 0.5);
    spec = model(CONSTRUCTION_LINEAR, NORMALIZATION_LAYERNORM, NORM_PRE, 6);
    spec.d = 2;
    spec.norm_eps = 1e-12;
    write_model(file, &spec, 30);
    spec = model(CONSTRUCTION_SILU, NORMALIZATION_LAYERNORM, NORM_POST, 7);
    write_model(file, &spec, 20);
}

static void oracle_agrees(void **state)
{
    Scratch *scratch = *state;
    const char *interpreter = oracle_needed("mpmath");
    const char *path = path_in(scratch, "models.txt");
    char command[2 * SCRATCH_PATH];
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    write_models(file);
    assert_int_equal(fclose(file), 0);
    snprintf(command, sizeof command, "-B tests/oracle_norms.py %s", path);
    oracle_agree(interpreter, command, "oracle_norms.py");
}

SUBJECT(norms_oracle)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(oracle_agrees),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
