/*
 * How far what is proven of every input (reference/guarantee/) is from the truth: the input with
 * the largest error is searched for, by the reference's own error, at random and by climbing from
 * the best, one token or one row at a time.  HEADPROOF_NIGHTLY prints the table of
 * docs/omega.md.
 */
#include <stdio.h> /* before mpfr.h */

#include "../../harness/models/inputs.h"
#include "../../reference/reference.h"
#include "../climb.h"
#include "../fixture.h"
#include "../given.h"
#include "../program.h"
#include "../unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TOLERANCE 1e-9
enum { BITS = 64 };

/* What guarantee is asked, and how long inputs are that are searched, where that is less than what
 * is proven; inputs at random and steps of the climb, short and nightly (steps 0: it is not in that
 * form). */
typedef struct {
    const char *name, *flags;
    size_t tokens;
    int sample, steps, nightly_sample, nightly_steps;
} Subject;

#define STACK "--n 12 --d 24 --d-ff 96 --heads 2 --input-norm 8 --depth "
#define GPT2                                                                                       \
    "--n 1024 --d 768 --heads 12 --d-head 64 --scale 1/sqrt(d_head) --d-ff 3072 --depth 12 "       \
    "--mask causal --input-norm 30"
#define NORMS " --normalization layernorm"
static const Subject subjects[] = {
    {"modadd53", GIVEN_TRAINED, 3, 8, 12, 200, 1500},
    {"chargpt, K = 1", "cases/models/chargpt --gelu minimax", 16, 1, 1, 200, 1500},
    {"chargpt, K = 4", "cases/models/chargpt --gelu 4", 16, 0, 0, 200, 600},
    {"chargpt, K = 8", "cases/models/chargpt --gelu 8", 16, 0, 0, 200, 300},
    {"depth 1", STACK "1", 12, 4, 8, 200, 3000},
    {"depth 12", STACK "12", 12, 0, 0, 200, 600},
    {"depth 96", STACK "96", 12, 0, 0, 50, 100},
    {"depth 1, norms", STACK "1" NORMS, 12, 4, 8, 200, 3000},
    {"depth 12, norms", STACK "12" NORMS, 12, 0, 0, 200, 600},
    {"depth 96, norms", STACK "96" NORMS, 12, 0, 0, 50, 100},
    {"depth 12, norms, causal", STACK "12 --mask causal" NORMS, 12, 0, 0, 200, 600},
    {"GPT-2 small's size", GPT2 NORMS, 4, 0, 0, 4, 4},
};

/* An input that is searched. */
typedef struct {
    Pair pair;
    const ModelFile *file; /* NULL: rows of any direction, no longer than R */
    size_t n, ld;
    double R, *x;   /* [n, ld] */
    int64_t *token; /* [n] */
    double omega;   /* at which it is evaluated */
} Search;

/* ---- An input's error ----------------------------------------------------------------------- */

/* log2 of the largest entry of what judges a row: its logits, or its entries.  e: the error. */
static double row_error(const Search *search, const RefRun *run, size_t row)
{
    const LayerNorm *norm = &search->pair.final_norm;
    size_t d = search->pair.converted.layout.d, classes = search->file ? search->file->classes : d;
    const double *w_u = search->file != NULL ? search->file->W_U : NULL;
    mpfr_ptr change = malloc(2 * d * sizeof *change);
    double *e = calloc(d, sizeof *e), most = 0;
    long shift = (long)(2 * search->omega / log(2));
    assert_true(change != NULL && e != NULL);
    for (size_t c = 0; c < 2 * d; c++) {
        mpfr_init2(change + c, BITS);
    }
    mpfr_srcptr from = ref_run_difference(run, row, 0);
    if (w_u != NULL && norm->kind != NORMALIZATION_NONE) {
        ref_norm_row(change + d, change, norm, ref_run_entry(run, row, 0), from);
        from = change;
    }
    for (size_t c = 0; c < d; c++) {
        mpfr_mul_2si(change + c, from + c, shift, MPFR_RNDN);
        e[c] = mpfr_get_d(change + c, MPFR_RNDN);
    }
    for (size_t k = 0; k < classes; k++) {
        double sum = w_u == NULL ? e[k] : 0;
        for (size_t c = 0; w_u != NULL && c < d; c++) {
            sum += e[c] * w_u[c * classes + k];
        }
        assert_true(isfinite(sum));
        most = fmax(most, fabs(sum));
    }
    for (size_t c = 0; c < 2 * d; c++) {
        mpfr_clear(change + c);
    }
    free(change);
    free(e);
    return log2(most) - (double)shift;
}

/* log2 of the input's error: of its logits, or of its entries after any layer. */
static double error_of(void *input)
{
    const Search *search = input;
    const Model *model = &search->pair.converted;
    bool logits = search->file != NULL && search->file->W_U != NULL;
    if (search->file != NULL) {
        inputs_embed(search->x, search->file, search->token, search->n);
    }
    RefRun *run = ref_difference_open(&(Start){model, search->x, NULL, search->omega}, BITS, NULL);
    double worst = -INFINITY;
    for (size_t l = 0; l < model->depth; l++) {
        ref_run_layer(run);
        for (size_t i = 0; i < search->n && (l + 1 == model->depth || !logits); i++) {
            worst = fmax(worst, row_error(search, run, layout_token_row(&model->layout, i)));
        }
    }
    ref_run_clear(run);
    return worst;
}

/* The smallest Omega that the input needs: the error falls as e^(-2 Omega). */
static double omega_needed(Search search)
{
    for (int i = 0; i < 3; i++) {
        search.omega += (error_of(&search) - log2(TOLERANCE)) * log(2) / 2;
        search.omega = fmax(search.omega, 0.01);
    }
    return search.omega;
}

/* ---- Inputs --------------------------------------------------------------------------------- */

/* Row i in any direction, of length R. */
static void draw_row(Search *search, size_t i)
{
    double *row = search->x + i * search->ld, length = 0;
    for (size_t c = 0; c < search->ld; c++) {
        row[c] = drawn_uniform() + drawn_uniform() + drawn_uniform();
        length += row[c] * row[c];
    }
    for (size_t c = 0; c < search->ld; c++) {
        row[c] *= search->R * (1 - 1e-12) / sqrt(length);
    }
}

static void draw_input(void *input)
{
    Search *search = input;
    for (size_t i = 0; i < search->n; i++) {
        if (search->file != NULL) {
            search->token[i] = (int64_t)drawn_below(search->file->vocabulary);
        } else {
            draw_row(search, i);
        }
    }
}

/* One row another, or moved a little and as long as before or R long. */
static void move_row(Search *search)
{
    size_t i = drawn_below(search->n), kind = drawn_below(4);
    double *row = search->x + i * search->ld, length = 0;
    if (kind == 0) {
        draw_row(search, i);
    } else if (kind == 1) {
        memcpy(row, search->x + drawn_below(search->n) * search->ld, search->ld * sizeof *row);
    } else {
        double by = kind == 2 ? 0.5 : 0.1;
        for (size_t c = 0; c < search->ld; c++) {
            row[c] += by * search->R * drawn_uniform() / sqrt((double)search->ld) * 2;
            length += row[c] * row[c];
        }
        for (size_t c = 0; c < search->ld; c++) {
            row[c] *= search->R * (1 - 1e-12) / sqrt(length);
        }
    }
}

static void move_input(void *input)
{
    Search *search = input;
    if (search->file != NULL) {
        size_t i = drawn_below(search->n);
        search->token[i] = (int64_t)drawn_below(search->file->vocabulary);
    } else {
        move_row(search);
    }
}

/* ---- The table ------------------------------------------------------------------------------ */

static void search_open(Search *search, Given *given, const Subject *subject)
{
    char line[512];
    snprintf(line, sizeof line, "%s --tolerance 1e-9", subject->flags);
    if (given_read(given, COMMAND_GUARANTEE, line) != 0) {
        fail_msg("%s", given->message);
    }
    const Point *point = given->grid.points;
    CaseSpec spec = point->spec;
    GivenWeights weights = {0};
    if (spec.given != NULL) {
        weights = *spec.given;
        weights.x = weights.x_hidden = NULL;
        spec.given = &weights;
    }
    spec.n = subject->tokens;
    *search = (Search){.pair = pair_make(&spec),
                       .file = point->source != NULL ? point->source->file : NULL,
                       .n = spec.n,
                       .ld = spec.d,
                       .R = given->run.input_norm};
    search->x = calloc(spec.n * spec.d, sizeof *search->x);
    search->token = calloc(spec.n, sizeof *search->token);
    assert_true(search->x != NULL && search->token != NULL);
}

static void search_clear(Search *search)
{
    case_clear(&search->pair);
    free(search->x);
    free(search->token);
}

static double omega_proven(const Subject *subject)
{
    char flags[512];
    size_t used = 0;
    for (const char *c = subject->flags; *c != '\0' && used + 2 < sizeof flags; c++) {
        if (*c == '(' || *c == ')') {
            flags[used++] = '\\'; /* as a shell reads them */
        }
        flags[used++] = *c;
    }
    flags[used] = '\0';
    Output output = expect_run(0, "guarantee %s --tolerance 1e-9 --format csv", flags);
    double omega = number(&output, 1, "omega");
    return omega;
}

/* A row of the table; no input needs more than is proven. */
static void look(Given *given, const Subject *subject, bool nightly)
{
    int sample = nightly ? subject->nightly_sample : subject->sample,
        steps = nightly ? subject->nightly_steps : subject->steps;
    Search search;
    clock_t began = clock();
    double proven = omega_proven(subject), top = -INFINITY;
    drawn_numbers = 27;
    search_open(&search, given, subject);
    search.omega = fmin(proven, 300);
    bool tokens = search.file != NULL;
    const Climb inputs = {tokens ? (void *)search.token : (void *)search.x,
                          search.n * (tokens ? sizeof *search.token : search.ld * sizeof *search.x),
                          draw_input,
                          move_input,
                          error_of,
                          &search};
    top = climb(&inputs, top, sample, 0);
    double of_sample = omega_needed(search);
    climb(&inputs, top, 0, steps);
    double of_worst = omega_needed(search);
    print_message("| %s | %.6g | %.1f | %.1f | %d | %.0f s |\n", subject->name, proven, of_worst,
                  of_sample, sample + steps, (double)(clock() - began) / CLOCKS_PER_SEC);
    assert_true(of_worst <= proven && of_sample <= of_worst + 1e-6);
    search_clear(&search);
}

static void no_input_needs_more_than_is_proven(void **state)
{
    bool nightly = fixture_nightly();
    for (size_t s = 0; s < sizeof subjects / sizeof *subjects; s++) {
        if (nightly || subjects[s].steps > 0) {
            look(*state, &subjects[s], nightly);
        }
    }
}

SUBJECT(worst_input)
{
    const struct CMUnitTest tests[] = {GIVEN_TEST(no_input_needs_more_than_is_proven)};
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
