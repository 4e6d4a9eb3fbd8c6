/*
 * Each term of a radius by itself (docs/certify.md): where one row, or its e, is off and nothing
 * else is, or where only numbers are rounded, what is proven is no less than what comes of it, and
 * no more than a stated factor above the worst that is found.  Where the next larger term would
 * hide that one is gone, a row of a table takes it away: which row is off, and which one is looked
 * at, for every construction.
 */
#include "../../cases/draw.h"
#include "../../reference/radius/internal.h"
#include "../../reference/run/run.h"
#include "enclosures.h"
#include "../fixture.h"
#include "../unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROUNDED_BITS = 64, TOKENS = 3, MOVED_TOKEN = 1, WIDE = 3, SEEDS = 12 };

#define ORIGINAL PAIR_ORIGINAL, INFINITY
#define ALONE PAIR_ALONE, 0.5
#define BESIDE(omega) PAIR_BESIDE, omega

/* Of a construction whose rows are not off, or less than by a millionth. */
#define NONE (-1)

/* Numbers rather than rows, each its own norm, unless a term asks for more; the bias row is not
 * empty. */
static CaseSpec few_numbers(Construction construction, uint64_t seed, Normalization norm,
                            NormPlace place)
{
    return (CaseSpec){.construction = construction,
                      .n = TOKENS,
                      .d = 1,
                      .d_ff = 1,
                      .heads = 1,
                      .d_head = seed % 2,
                      .depth = 1,
                      .seed = seed,
                      .weights = WEIGHTS_NORMAL,
                      .bias = (Bias)(seed / 2 % 2),
                      .bias_row_content = CONTENT_RANDOM,
                      .mask = (Mask)(seed / 4 % 2),
                      .norm = norm,
                      .norm_place = construction == CONSTRUCTION_SILU ? NORM_POST : place,
                      .norm_eps = 0.01,
                      .slope = 2,
                      .gelu = GELU_TWO};
}

/* Weights of one number each, with all the biases that a file may have and that are not drawn. */
typedef struct {
    double number[14];
    GivenLayer layer;
    GivenWeights weights;
} Given;

static void give(CaseSpec *spec, Given *given, uint64_t seed)
{
    const double **const places[] = {
        &given->layer.w_q,      &given->layer.w_k,     &given->layer.w_v,   &given->layer.w_o,
        &given->layer.b_q,      &given->layer.b_k,     &given->layer.b_v,   &given->layer.b_o,
        &given->layer.w_in,     &given->layer.b_in,    &given->layer.w_out, &given->layer.b_out,
        &given->layer.linear_w, &given->layer.linear_b};
    *given = (Given){.number = {0}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        given->number[i] = draw_normal(seed, 9, 0, 0, i);
        *places[i] = &given->number[i];
    }
    given->weights = (GivenWeights){.layers = &given->layer, .scale = {1, 1, 4}};
    spec->given = &given->weights;
}

/* The worst that was found is within 2^most[construction] of what is proven, and not above it. */
static void assert_attained(const char *what, int construction, const Tally *tally, int most)
{
    print_message("%s%7.2f", construction == 0 ? what : "", tally->log2_ratio);
    print_message(construction == CONSTRUCTION_COUNT - 1 ? "\n" : "");
    assert_true(tally->log2_ratio <= 0);
    assert_true(most == NONE || (tally->unknown == 0 && tally->log2_ratio >= -most));
}

/* ---- What is off ----------------------------------------------------------------------------- */

typedef enum { OF_STREAM, OF_E } Moves;
typedef enum { A_TOKEN, THE_BIAS_ROW } MovedRow;
typedef enum { THE_SAME, ANOTHER_TOKEN, THE_OTHER_KIND } Looked;

/* Which row is off, of what, by 2^-size; which is looked at; e before the layer, about 2^-e (0:
 * none). */
typedef struct {
    const char *what;
    Moves moves;
    MovedRow moved;
    Looked looked;
    int evaluation;
    double omega;
    int size, e;
    Normalization norm;
    NormPlace place;
    size_t d, heads;
    int most[CONSTRUCTION_COUNT];
} Term;

/* What a row [columns] is moved by, each number by 2^-size, so that the sums with x are doubles
 * (NULL: as it is); the norms of that, no less, in units of 2^-MOVED_BITS. */
static Banks moved_by(double by[WIDE], const Layout *layout, const double *x, int size,
                      uint64_t seed)
{
    Banks off = {{0}};
    for (size_t c = 0; c < layout_content(layout); c++) {
        double sign = draw_uniform(seed, 7, 0, 0, c) < 0.5 ? -1 : 1;
        by[c] = x == NULL ? ldexp(sign, -size) : (x[c] + ldexp(sign, -size)) - x[c];
        double *bank = &off.bank[c < layout->d ? BANK_CONTENT : BANK_HIDDEN];
        *bank = hypot(*bank, ldexp(by[c], MOVED_BITS)) * (1 + 0x1p-40);
    }
    return off;
}

static bool is_looked_at(const Term *term, const Layout *layout, size_t row, size_t moved)
{
    size_t bias = layout_bias_row(layout);
    return term->looked == THE_SAME        ? row == moved
           : term->looked == ANOTHER_TOKEN ? row != moved && row != bias
                                           : (row == bias) != (moved == bias);
}

/* Opens a run from x and content; e of all rows before its first layer, that of one moved by `by`,
 * or NULL. */
static RefRun *open_term(const Term *term, const Evaluated *of, const double *x,
                         const double *content, const double *by, size_t moved, uint64_t seed)
{
    const Layout *layout = &of->model->layout;
    const Evaluated e = {of->model, x, of->content != NULL ? content : NULL, of->omega,
                         of->difference};
    RefRun *run = evaluated_open(&e, x, MOVED_BITS);
    for (size_t i = 0; e.difference && i < layout_rows(layout); i++) {
        for (size_t c = 0; c < layout_content(layout); c++) {
            mpfr_ptr entry = ap_at(&run->e->stream, i, c);
            mpfr_set_d(entry, term->e > 0 ? ldexp(draw_normal(seed, 8, 0, i, c), -term->e) : 0,
                       MPFR_RNDN);
            mpfr_add_d(entry, entry, by != NULL && i == moved ? by[c] : 0, MPFR_RNDN);
        }
    }
    return run;
}

/* One layer of a model from two streams, of which one's radii know how far off the other's row is:
 * the rows that are looked at. */
static void compare_term(Tally *tally, const Term *term, const Evaluated *e, uint64_t seed)
{
    const Layout *layout = &e->model->layout;
    size_t columns = layout_content(layout), bias = layout_bias_row(layout);
    double x[TOKENS * WIDE], content[WIDE] = {0}, by[WIDE];
    bool token = term->moved == A_TOKEN, stream = term->moves == OF_STREAM;
    size_t moved = token ? layout_token_row(layout, MOVED_TOKEN) : bias;
    double *row = token ? x + MOVED_TOKEN * columns : content;
    assert_true(moved < layout_rows(layout));
    memcpy(x, e->x, TOKENS * columns * sizeof *x);
    memcpy(content, e->content != NULL ? e->content : content, columns * sizeof *content);
    Banks radius = moved_by(by, layout, stream ? row : NULL, term->size, seed);
    RefRun *a = open_term(term, e, x, content, NULL, moved, seed);
    for (size_t c = 0; stream && c < columns; c++) {
        row[c] += by[c];
    }
    RefRun *b = open_term(term, e, x, content, stream ? NULL : by, moved, seed);
    (stream ? a->radius->rho : a->radius->eta)[moved] = radius;
    for (int bank = 0; bank < BANKS; bank++) {
        a->radius->zero[moved * BANKS + (size_t)bank] = false;
    }
    ref_run_layer(a);
    ref_run_layer(b);
    for (size_t i = 0; i < layout_rows(layout); i++) {
        if (is_looked_at(term, layout, i, moved)) {
            tally_one(tally, a, b, e->difference ? RADIUS_DIFFERENCE : RADIUS_SUM, i, term->what);
        }
    }
    ref_run_clear(a);
    ref_run_clear(b);
}

static const Term terms[] = {
    {"a row", OF_STREAM, A_TOKEN, THE_SAME, ORIGINAL, 40, 0, .most = {1, 1, 1, 1, 1, 1, 1, 1}},
    {"a key", OF_STREAM, A_TOKEN, ANOTHER_TOKEN, ORIGINAL, 40, 0,
     .most = {NONE, NONE, 1, NONE, NONE, 1, 1, NONE}},
    {"a row of T'", OF_STREAM, A_TOKEN, THE_SAME, ALONE, 40, 0, .most = {1, 2, 1, 1, 1, 2, 1, 1}},
    {"a key of T'", OF_STREAM, A_TOKEN, ANOTHER_TOKEN, ALONE, 40, 0,
     .most = {1, 2, 1, 3, 1, 1, 1, NONE}},
    {"a token, for the bias row", OF_STREAM, A_TOKEN, THE_OTHER_KIND, ALONE, 40, 0,
     .most = {1, 2, 1, 3, 1, 2, 1, NONE}},
    {"the bias row, for itself", OF_STREAM, THE_BIAS_ROW, THE_SAME, ALONE, 40, 0,
     .most = {1, 1, 1, 1, 1, 1, 1, 1}},
    {"the bias row, for tokens", OF_STREAM, THE_BIAS_ROW, THE_OTHER_KIND, ALONE, 40, 0,
     .most = {1, 1, 1, 2, 1, 1, 1, 1}},
    {"a row, far", OF_STREAM, A_TOKEN, THE_SAME, ORIGINAL, 1, 0, .most = {1, 1, 1, 1, 1, 1, 1, 1}},
    {"a row of T', far", OF_STREAM, A_TOKEN, THE_SAME, ALONE, 1, 0,
     .most = {1, 2, 1, 1, 1, 4, 2, 1}},
    {"a key of T', far", OF_STREAM, A_TOKEN, ANOTHER_TOKEN, ALONE, 1, 0,
     .most = {1, 2, 1, 4, 1, 3, 1, NONE}},
    {"the bias row, for tokens, far", OF_STREAM, THE_BIAS_ROW, THE_OTHER_KIND, ALONE, 1, 0,
     .most = {1, 1, 1, 2, 1, 1, 1, 1}},
    {"a row, with no e", OF_STREAM, A_TOKEN, THE_SAME, BESIDE(0.5), 40, 0,
     .most = {6, 3, 3, 4, 6, 4, 6, NONE}},
    {"a key, with no e", OF_STREAM, A_TOKEN, ANOTHER_TOKEN, BESIDE(0.5), 40, 0,
     .most = {5, 5, 3, 5, 5, 5, 6, NONE}},
    {"the bias row for tokens, with no e", OF_STREAM, THE_BIAS_ROW, THE_OTHER_KIND, BESIDE(0.5), 40,
     0, .most = {5, 2, 3, 3, 5, 4, 4, NONE}},
    {"a token for the bias row, with no e", OF_STREAM, A_TOKEN, THE_OTHER_KIND, BESIDE(0.5), 40, 0,
     .most = {5, 5, 5, 7, 6, 8, 7, NONE}},
    {"a row, with a small e", OF_STREAM, A_TOKEN, THE_SAME, BESIDE(40), 40, 30,
     .most = {1, 2, 2, 1, 1, 1, 1, 1}},
    {"a key, with a small e", OF_STREAM, A_TOKEN, ANOTHER_TOKEN, BESIDE(40), 40, 30,
     .most = {5, 3, 4, NONE, 4, 2, 3, NONE}},
    {"the bias row for tokens, with a small e", OF_STREAM, THE_BIAS_ROW, THE_OTHER_KIND, BESIDE(40),
     40, 30, .most = {1, 2, NONE, 1, 1, 1, 1, 1}},
    {"a token for the bias row, with a small e", OF_STREAM, A_TOKEN, THE_OTHER_KIND, BESIDE(40), 40,
     30, .most = {4, 3, NONE, 11, 5, 8, NONE, NONE}},
    {"a row, with a large e", OF_STREAM, A_TOKEN, THE_SAME, BESIDE(40), 40, 4,
     .most = {1, 2, 2, 1, 1, 1, 1, 1}},
    {"a key, with a large e", OF_STREAM, A_TOKEN, ANOTHER_TOKEN, BESIDE(40), 40, 4,
     .most = {5, 3, 4, NONE, 4, 2, 3, NONE}},
    {"the bias row for tokens, with a large e", OF_STREAM, THE_BIAS_ROW, THE_OTHER_KIND, BESIDE(40),
     40, 4, .most = {1, 2, 1, 1, 1, 1, 1, 1}},
    {"a token for the bias row, with a large e", OF_STREAM, A_TOKEN, THE_OTHER_KIND, BESIDE(40), 40,
     4, .most = {4, 3, 1, NONE, 5, NONE, NONE, NONE}},
    {"a row, with an e of one", OF_STREAM, A_TOKEN, THE_SAME, BESIDE(4), 40, 1,
     .most = {1, 2, 3, 1, 1, 2, 1, 1}},
    {"a key, with an e of one", OF_STREAM, A_TOKEN, ANOTHER_TOKEN, BESIDE(4), 40, 1,
     .most = {5, 3, 2, 3, 5, 2, 2, NONE}},
    {"the bias row for tokens, with an e of one", OF_STREAM, THE_BIAS_ROW, THE_OTHER_KIND,
     BESIDE(4), 40, 1, .most = {1, 2, 1, 1, 1, 1, 1, 1}},
    {"a token for the bias row, with an e of one", OF_STREAM, A_TOKEN, THE_OTHER_KIND, BESIDE(4),
     40, 1, .most = {5, 3, 1, 3, 5, 1, 2, NONE}},
    {"e of a row", OF_E, A_TOKEN, THE_SAME, BESIDE(0.5), 40, 2, .most = {1, 2, 1, 1, 1, 2, 1, 1}},
    {"e of a row, far", OF_E, A_TOKEN, THE_SAME, BESIDE(0.5), 2, 2,
     .most = {1, 2, 1, 1, 1, 2, 1, 1}},
    {"e of a key", OF_E, A_TOKEN, ANOTHER_TOKEN, BESIDE(0.5), 40, 2,
     .most = {1, 2, 1, 3, 1, 1, 1, NONE}},
    {"e of a key, far", OF_E, A_TOKEN, ANOTHER_TOKEN, BESIDE(0.5), 2, 2,
     .most = {1, 2, 1, 3, 1, 2, 1, NONE}},
    {"e of the bias row, for itself", OF_E, THE_BIAS_ROW, THE_SAME, BESIDE(0.5), 40, 2,
     .most = {1, 1, 1, 1, 1, 1, 1, 1}},
    {"e of the bias row, for tokens", OF_E, THE_BIAS_ROW, THE_OTHER_KIND, BESIDE(0.5), 40, 2,
     .most = {1, 1, 1, 2, 1, 1, 1, 1}},
    {"e of a token, for the bias row", OF_E, A_TOKEN, THE_OTHER_KIND, BESIDE(0.5), 40, 2,
     .most = {1, 2, 1, 3, 1, 3, 1, NONE}},
    {"e of a row, near", OF_E, A_TOKEN, THE_SAME, BESIDE(40), 60, 30,
     .most = {1, 1, 1, 1, 1, 1, 1, 1}},
    {"e of a key, near", OF_E, A_TOKEN, ANOTHER_TOKEN, BESIDE(40), 60, 30,
     .most = {5, 3, 1, NONE, 4, 1, 1, NONE}},
    {"a norm before, a row", OF_STREAM, A_TOKEN, THE_SAME, ORIGINAL, 40, 0,
     .norm = NORMALIZATION_RMSNORM, .most = {1, 1, 1, 1, 1, 1, 1, 1}},
    {"a norm before, a row, far", OF_STREAM, A_TOKEN, THE_SAME, ORIGINAL, 1, 0,
     .norm = NORMALIZATION_RMSNORM, .most = {2, 1, 1, 1, 1, 1, 1, 1}},
    {"a norm before, a row with e", OF_STREAM, A_TOKEN, THE_SAME, BESIDE(40), 40, 4,
     .norm = NORMALIZATION_RMSNORM, .most = {3, 2, 4, 1, 2, 1, 4, 2}},
    {"a norm before, a row, far with e", OF_STREAM, A_TOKEN, THE_SAME, BESIDE(40), 2, 4,
     .norm = NORMALIZATION_RMSNORM, .most = {4, 3, 9, 1, 5, 1, 9, 4}},
    {"a norm before, e of a row", OF_E, A_TOKEN, THE_SAME, BESIDE(0.5), 40, 2,
     .norm = NORMALIZATION_RMSNORM, .most = {3, 1, 1, 1, 1, 2, 1, 1}},
    {"a norm before, e of a row, far", OF_E, A_TOKEN, THE_SAME, BESIDE(0.5), 2, 2,
     .norm = NORMALIZATION_RMSNORM, .most = {2, 1, 1, 1, 1, 2, 1, 1}},
    {"a norm behind, a row", OF_STREAM, A_TOKEN, THE_SAME, ORIGINAL, 40, 0,
     .norm = NORMALIZATION_RMSNORM, .place = NORM_POST, .most = {1, 1, 2, 1, 1, 9, 9, 1}},
    {"a norm behind, a row, far", OF_STREAM, A_TOKEN, THE_SAME, ORIGINAL, 1, 0,
     .norm = NORMALIZATION_RMSNORM, .place = NORM_POST, .most = {2, 1, 5, 2, 2, NONE, NONE, 2}},
    {"a norm behind, a row with e", OF_STREAM, A_TOKEN, THE_SAME, BESIDE(40), 40, 4,
     .norm = NORMALIZATION_RMSNORM, .place = NORM_POST, .most = {3, 2, 3, 3, 3, 6, 10, 3}},
    {"a norm behind, a row, far with e", OF_STREAM, A_TOKEN, THE_SAME, BESIDE(40), 2, 4,
     .norm = NORMALIZATION_RMSNORM, .place = NORM_POST, .most = {4, 3, 4, 3, 3, 7, NONE, 3}},
    {"a norm behind, e of a row", OF_E, A_TOKEN, THE_SAME, BESIDE(0.5), 40, 2,
     .norm = NORMALIZATION_RMSNORM, .place = NORM_POST, .most = {3, 4, 4, 2, 2, 2, 9, 2}},
    {"a norm behind, e of a row, far", OF_E, A_TOKEN, THE_SAME, BESIDE(0.5), 2, 2,
     .norm = NORMALIZATION_RMSNORM, .place = NORM_POST, .most = {2, 5, 7, 3, 4, 3, 14, 2}},
    {"a norm of two, a row", OF_STREAM, A_TOKEN, THE_SAME, ORIGINAL, 40, 0,
     .norm = NORMALIZATION_LAYERNORM, .place = NORM_POST, .d = 2,
     .most = {1, 2, 4, 2, 2, 10, 10, 2}},
    {"a norm of two, a row, far", OF_STREAM, A_TOKEN, THE_SAME, ORIGINAL, 1, 0,
     .norm = NORMALIZATION_LAYERNORM, .place = NORM_POST, .d = 2,
     .most = {3, 3, 4, 3, 3, 11, 11, 3}},
    {"a norm of two, a row with e", OF_STREAM, A_TOKEN, THE_SAME, BESIDE(40), 40, 4,
     .norm = NORMALIZATION_LAYERNORM, .place = NORM_POST, .d = 2,
     .most = {3, 3, 5, 3, 4, 9, 12, 3}},
    {"a norm of two, a row, far with e", OF_STREAM, A_TOKEN, THE_SAME, BESIDE(40), 2, 4,
     .norm = NORMALIZATION_LAYERNORM, .place = NORM_POST, .d = 2,
     .most = {5, 5, 6, 6, 5, NONE, NONE, 5}},
    {"a norm of two, e of a row", OF_E, A_TOKEN, THE_SAME, BESIDE(0.5), 40, 2,
     .norm = NORMALIZATION_LAYERNORM, .place = NORM_POST, .d = 2, .most = {2, 4, 3, 3, 3, 3, 6, 2}},
    {"a norm of two, e of a row, far", OF_E, A_TOKEN, THE_SAME, BESIDE(0.5), 2, 2,
     .norm = NORMALIZATION_LAYERNORM, .place = NORM_POST, .d = 2,
     .most = {3, 5, 5, 4, 5, 5, 12, 5}},
    {"a row of two heads", OF_STREAM, A_TOKEN, THE_SAME, ORIGINAL, 40, 0, .heads = 2,
     .most = {1, 1, 1, 1, 1, 1, 1, 1}},
    {"a key of two heads", OF_STREAM, A_TOKEN, ANOTHER_TOKEN, ORIGINAL, 40, 0, .heads = 2,
     .most = {NONE, NONE, 1, NONE, NONE, 1, 1, NONE}},
    {"e of a key of two heads", OF_E, A_TOKEN, ANOTHER_TOKEN, BESIDE(0.5), 40, 2, .heads = 2,
     .most = {1, 2, 1, 3, 1, 2, 1, NONE}},
};

static void terms_are_attained(void **state)
{
    for (size_t t = 0; t < sizeof terms / sizeof *terms; t++) {
        const Term *term = &terms[t];
        char what[64];
        snprintf(what, sizeof what, "%-42s", term->what);
        for (int c = 0; c < CONSTRUCTION_COUNT; c++) {
            Tally tally = tally_none;
            for (uint64_t seed = 0; seed < SEEDS; seed++) {
                CaseSpec spec = few_numbers((Construction)c, seed, term->norm, term->place);
                Evaluated all[PAIR_EVALUATIONS];
                Given given;
                spec.d = term->d > 0 ? term->d : spec.d;
                spec.heads = term->heads > 0 ? term->heads : spec.heads;
                if (spec.d_head > 0 && spec.heads == 1 && spec.norm == NORMALIZATION_NONE) {
                    give(&spec, &given, seed);
                }
                Pair pair = pair_make(&spec);
                evaluations_of(all, &pair, term->omega);
                compare_term(&tally, term, &all[term->evaluation], seed);
                case_clear(&pair);
            }
            assert_attained(what, c, &tally, term->most[c]);
        }
    }
}

/* ---- What is rounded ------------------------------------------------------------------------- */

typedef struct {
    const char *what;
    int evaluation;
    double omega, score_scale;
    size_t n, d, d_ff;
    Normalization norm;
    NormPlace place;
    int most[CONSTRUCTION_COUNT];
} Rounding;

static const Rounding roundings[] = {
    {"T of one token", ORIGINAL, 1, 1, 1, 1, .most = {5, 4, 3, 2, 2, 6, 6, 2}},
    {"T of three tokens", ORIGINAL, 1, 3, 1, 1, .most = {5, 4, 2, 2, 2, 5, 5, 2}},
    {"T of large scores", ORIGINAL, 1e4, 3, 1, 1, .most = {NONE, 4, 2, 5, 5, 6, 6, 5}},
    {"T of many columns", ORIGINAL, 1, 3, 40, 1, .most = {5, 8, 6, 8, 8, 10, 10, 8}},
    {"T of many units", ORIGINAL, 1, 3, 1, 40, .most = {5, 4, 2, 9, 9, 9, 9, 9}},
    {"T of many tokens", ORIGINAL, 1, 30, 1, 1, .most = {4, 4, 2, 1, 1, 5, 5, 1}},
    {"T with a norm before", ORIGINAL, 1, 3, 1, 1, .norm = NORMALIZATION_RMSNORM,
     .most = {5, 3, 3, 2, 2, 4, 4, 2}},
    {"T with a norm behind", ORIGINAL, 1, 3, 1, 1, .norm = NORMALIZATION_RMSNORM,
     .place = NORM_POST, .most = {5, 4, 4, 4, 4, 7, 7, 4}},
    {"T with a norm of three", ORIGINAL, 1, 3, 3, 1, .norm = NORMALIZATION_LAYERNORM,
     .place = NORM_POST, .most = {5, 6, 6, 7, 7, 8, 8, 7}},
    {"T' of one token", ALONE, 1, 1, 1, 1, .most = {6, 6, 2, 3, 2, 6, 6, 2}},
    {"T' of three tokens", ALONE, 1, 3, 1, 1, .most = {6, 6, 2, 3, 2, 6, 6, 2}},
    {"T' of large scores", ALONE, 1e4, 3, 1, 1, .most = {1, 6, 2, 7, 7, 8, 7, 6}},
    {"T' of many columns", ALONE, 1, 3, 40, 1, .most = {6, 9, 6, 9, 10, 9, 10, 9}},
    {"T' of many units", ALONE, 1, 3, 1, 40, .most = {6, 6, 2, 9, 10, 9, 10, 9}},
    {"T' of many tokens", ALONE, 1, 30, 1, 1, .most = {5, 7, 2, 3, 2, 6, 6, 2}},
    {"T' with a norm before", ALONE, 1, 3, 1, 1, .norm = NORMALIZATION_RMSNORM,
     .most = {6, 6, 2, 3, 2, 6, 6, 2}},
    {"T' with a norm behind", ALONE, 1, 3, 1, 1, .norm = NORMALIZATION_RMSNORM, .place = NORM_POST,
     .most = {6, 8, 5, 5, 6, 7, 7, 6}},
    {"T' with a norm of three", ALONE, 1, 3, 3, 1, .norm = NORMALIZATION_LAYERNORM,
     .place = NORM_POST, .most = {7, 8, 6, 7, 8, 7, 8, 8}},
    {"e of one token", BESIDE(0.5), 1, 1, 1, 1, .most = {6, 6, 4, 3, 3, 6, 6, 3}},
    {"e of three tokens", BESIDE(0.5), 1, 3, 1, 1, .most = {7, 7, 4, 3, 3, 6, 7, 3}},
    {"e of large scores", BESIDE(0.5), 30, 3, 1, 1, .most = {3, 7, 4, 9, 6, 7, 7, 6}},
    {"e of many columns", BESIDE(0.5), 1, 3, 40, 1, .most = {6, 10, 6, NONE, 8, 9, 11, 9}},
    {"e of many units", BESIDE(0.5), 1, 3, 1, 40, .most = {7, 7, 4, NONE, 9, 10, 10, 9}},
    {"e of many tokens", BESIDE(0.5), 1, 30, 1, 1, .most = {7, 8, 4, 7, 3, 6, 8, 2}},
    {"e with a norm before", BESIDE(0.5), 1, 3, 1, 1, .norm = NORMALIZATION_RMSNORM,
     .most = {7, 4, 5, 4, 3, 6, 7, 3}},
    {"e with a norm behind", BESIDE(0.5), 1, 3, 1, 1, .norm = NORMALIZATION_RMSNORM,
     .place = NORM_POST, .most = {7, 8, 5, 6, 6, 7, 9, 6}},
    {"e with a norm of three", BESIDE(0.5), 1, 3, 3, 1, .norm = NORMALIZATION_LAYERNORM,
     .place = NORM_POST, .most = {7, 8, 6, 7, 8, 7, 8, 8}},
    {"a small e of three tokens", BESIDE(30), 1, 3, 1, 1, .most = {5, 6, 3, 5, 3, 5, 5, 3}},
    {"a small e of many tokens", BESIDE(30), 1, 30, 1, 1, .most = {5, 6, 3, 3, 2, 5, 5, 2}},
};

static void roundings_are_attained(void **state)
{
    for (size_t t = 0; t < sizeof roundings / sizeof *roundings; t++) {
        const Rounding *of = &roundings[t];
        char what[64];
        snprintf(what, sizeof what, "%-42s", of->what);
        for (int c = 0; c < CONSTRUCTION_COUNT; c++) {
            Tally tally = tally_none;
            for (uint64_t seed = 0; seed < SEEDS; seed++) {
                CaseSpec spec = few_numbers((Construction)c, seed, of->norm, of->place);
                Evaluated all[PAIR_EVALUATIONS];
                spec.score_scale = of->score_scale;
                spec.n = of->n;
                spec.d = of->d;
                spec.d_ff = of->d_ff;
                Pair pair = pair_make(&spec);
                evaluations_of(all, &pair, of->omega);
                tally_precisions(&tally, &all[of->evaluation], ROUNDED_BITS, of->what);
                case_clear(&pair);
            }
            assert_attained(what, c, &tally, of->most[c]);
        }
    }
}

SUBJECT(radius_terms)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(terms_are_attained),
        cmocka_unit_test(roundings_are_attained),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
