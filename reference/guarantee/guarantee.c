/*
 * A stack of sublayers as numbers, the bound behind it, and the smallest Omega.
 */
#include <stdio.h>

#include "guarantee.h"

#include "../../memory/need.h"
#include "input.h"
#include "matrix.h"
#include "part.h"
#include "state.h"

#include <math.h>
#include <stdlib.h>

/* The Omegas between which one is looked for. */
#define LARGEST 0x1.fffffffffffffp1023
#define SMALLEST 0x1p-20

/* The powers of two between which a tau is looked for: their inverses and doubles are scales. */
#define TAU_LARGEST 0x1p60
#define TAU_SMALLEST 0x1p-60

const char *const guarantee_terms[GUARANTEE_TERMS] = {
    [GUARANTEE_ATTENTION] = "attention",
    [GUARANTEE_OTHERS] = "other-tokens",
    [GUARANTEE_BIAS_ROW] = "bias-row",
    [GUARANTEE_BIASES] = "biases",
};

struct Guarantee {
    Part *parts; /* [count] */
    size_t count, depth;
    size_t *layer_end; /* [depth] */
    Bank *compared;    /* [depth] */
    Tokens tokens;
    Magnitude input_norm;
    bool banked; /* X has hidden columns too */
    bool has_logits;
    bool whole;            /* tau's part of the error is judged too */
    Magnitude unembedding; /* (G20) */
};

Magnitude guarantee_at(const Guarantee *g, double omega, GuaranteeLayer *layers)
{
    State state = {0}, read;
    Magnitude judged = none;
    state.rows[BANK_CONTENT] = g->input_norm;
    state.rows[BANK_HIDDEN] = g->banked ? g->input_norm : none;
    for (size_t l = 0; l < g->depth; l++) {
        Bank bank = g->compared[l];
        for (int b = 0; b < BANKS; b++) {
            state.gain[b] = (Bank)b == bank || g->banked ? one : none;
            state.leak[b] = none;
        }
        state.scores = none;
        while (state.sublayer < g->layer_end[l]) {
            const Part *part = &g->parts[state.sublayer];
            read = part->beside ? read : state;
            state.read = &read;
            part_step(&state, &g->tokens, part, omega);
        }
        Magnitude error = state.error[bank],
                  counted = g->whole ? sum(error, state.apart[bank]) : error;
        judged = g->has_logits ? product(g->unembedding, counted) : magnitude_most(judged, counted);
        if (layers != NULL) {
            layers[l] = (GuaranteeLayer){.rows = state.rows[bank],
                                         .scores = state.scores,
                                         .gain = state.gain[bank],
                                         .leak = state.leak[bank],
                                         .bias_row = state.bias_row[bank],
                                         .error = error,
                                         .apart = state.apart[bank],
                                         .sublayer = state.origin[bank].sublayer,
                                         .term = state.origin[bank].term};
        }
    }
    return judged;
}

/* ---- The smallest Omega --------------------------------------------------------------------- */

/* The search for an Omega, of which the rewrite has shrink times as much. */
typedef struct {
    const Guarantee *guarantee;
    double shrink;
    Magnitude allowed;
} Search;

static bool meets(const Search *search, double omega)
{
    double own = fmin(omega * search->shrink, LARGEST);
    return !magnitude_above(guarantee_at(search->guarantee, own, NULL), search->allowed);
}

double guarantee_omega(const Guarantee *g, double tolerance, double shrink)
{
    enum { DIGITS = 6, HALVINGS = 40 };
    const Search search = {g, shrink, magnitude_of(tolerance, 0)};
    double low = 0, high = SMALLEST;
    if (!meets(&search, LARGEST)) {
        return INFINITY;
    }
    while (high < LARGEST && !meets(&search, high)) {
        low = high;
        high = high < 0x1p1023 ? 2 * high : LARGEST;
    }
    for (int i = 0; i < HALVINGS && low > 0; i++) {
        double middle = low + (high - low) / 2;
        bool met = meets(&search, middle);
        high = met ? middle : high;
        low = met ? low : middle;
    }
    /* The next number of few digits that meets it, too. */
    char text[32];
    double rounded = high;
    for (double nudge = 0; nudge < 4; nudge++) {
        snprintf(text, sizeof text, "%.*g", DIGITS, high * (1 + nudge * 2.5e-6));
        rounded = strtod(text, NULL);
        if (rounded >= high && rounded <= LARGEST && meets(&search, rounded)) {
            return rounded;
        }
    }
    return high;
}

/* ---- Gated networks -------------------------------------------------------------------------- */

bool guarantee_reads_out(const Guarantee *g)
{
    return g->tokens.readout > 0;
}

void guarantee_set_tau(Guarantee *g, size_t pairs, double tau)
{
    g->tokens.readout = pairs;
    g->tokens.tau = tau;
    g->whole = true;
}

double guarantee_tau(const Guarantee *g, size_t pairs, double tolerance)
{
    const Magnitude allowed = magnitude_of(tolerance / 2, 0);
    Guarantee own = *g;
    for (double tau = TAU_LARGEST; tau >= TAU_SMALLEST; tau /= 2) {
        guarantee_set_tau(&own, pairs, tau);
        if (!magnitude_above(guarantee_at(&own, LARGEST, NULL), allowed)) {
            return tau;
        }
    }
    return 0;
}

Magnitude guarantee_logits(const Guarantee *g, Magnitude error)
{
    return product(g->unembedding, error);
}

/* ---- Opening -------------------------------------------------------------------------------- */

/* (G20): the largest column of what reads the last stream, steepened by its norm. */
static void unembedding_make(Guarantee *g, const GuaranteeOf *of, const LayerNorm *norm, size_t d)
{
    Matrix w;
    g->has_logits = of->w_u != NULL;
    if (!g->has_logits) {
        return;
    }
    matrix_take(&w, of->by_class ? (Doubles){of->w_u, d, of->classes, 1, d}
                                 : (Doubles){of->w_u, d, of->classes, of->classes, 1});
    matrix_fold(&w, norm);
    g->unembedding = matrix_largest_column(&w);
    if (norm->kind != NORMALIZATION_NONE) {
        g->unembedding = product(g->unembedding, magnitude_inverse_root(norm->eps));
    }
    matrix_clear(&w);
}

static void take_shape(Guarantee *g, const GuaranteeOf *of)
{
    const Model *model = &of->pair->converted;
    g->count = model->sublayer_count;
    g->depth = model->depth;
    g->parts = need_zeros(g->count + 1, sizeof *g->parts);
    g->layer_end = need_zeros(g->depth + 1, sizeof *g->layer_end);
    g->compared = need_zeros(g->depth + 1, sizeof *g->compared);
    g->tokens.n = magnitude_of_size(model->layout.n);
    g->tokens.others = magnitude_of_size(model->layout.n - 1);
    g->tokens.pairs = magnitude_of_size(2 * model->layout.n - 1);
    g->input_norm = of->input_norm;
    g->banked = of->pair->original.layout.hidden > 0;
}

/* (G25): what is read by the second sublayer's norm, or the norm that is the second. */
static void look_at_spread(Guarantee *g, const Model *model, const GuaranteeInputs *inputs,
                           const Matrix *rows)
{
    const Sublayer *first = model->sublayers, *second = first + 1;
    if (g->count >= 2 && g->parts[0].kind == PART_ATTENTION && g->parts[1].norm.there &&
        !g->parts[1].beside && spread_is_known(inputs, first)) {
        spread_least(&g->parts[1].norm.spread, inputs, rows, first, &second->norm);
        if (g->count > 2 && g->parts[2].kind == PART_READOUT &&
            g->parts[1].gates.to != BANK_CONTENT) {
            g->parts[2].norm.spread = g->parts[1].norm.spread; /* it reads the same content */
        }
    }
}

/* The first sublayer reads X itself: rows, or NULL.  false: one is outside of what is proven. */
static bool make_all(Guarantee *g, const Pair *pair, const Matrix *rows)
{
    const Model *model = &pair->converted;
    bool known = true;
    const GateBound *gates = NULL;
    for (size_t s = 0; s < g->count && known; s++) {
        const Sublayer *own = &model->sublayers[s], *previous = s > 0 ? own - 1 : NULL;
        gates = s > 0 && g->parts[s - 1].kind == PART_GATES ? &g->parts[s - 1].gates : gates;
        const PartOf of = {own,   &model->layout, s == 0 ? rows : NULL,
                           gates, previous,       pair->imitation_swing};
        known = part_make(&g->parts[s], &of);
        if (g->parts[s].kind == PART_READOUT) {
            g->tokens.readout = g->parts[s].readout.pairs;
            g->tokens.tau = g->parts[s].readout.tau;
        }
        bool masked = own->bundle_count > 0 && own->bundles[0].score.visible == VISIBLE_EARLIER;
        g->tokens.causal = g->tokens.causal || masked;
    }
    return known;
}

static bool make_parts(Guarantee *g, const GuaranteeOf *of)
{
    const Model *model = &of->pair->converted;
    const GuaranteeInputs *inputs = of->inputs;
    Matrix rows = {0};
    bool few = inputs != NULL && inputs_are_few(inputs);
    if (few) {
        inputs_read(&rows, inputs, &model->sublayers->norm);
    }
    bool known = make_all(g, of->pair, few ? &rows : NULL);
    if (few && known) {
        look_at_spread(g, model, inputs, &rows);
    }
    matrix_clear(&rows);
    return known;
}

/* The columns compared after a layer.  false: one has others than a bank's. */
static bool take_compared(Guarantee *g, const Pair *pair)
{
    bool known = true;
    for (size_t l = 0; l < g->depth; l++) {
        g->layer_end[l] = pair->converted.layer_end[l];
        g->compared[l] = bank_of(&pair->converted.layout, pair->compared[l]);
        known = known && g->compared[l] != BANKS;
    }
    return known;
}

Guarantee *guarantee_open(const GuaranteeOf *of)
{
    const Pair *pair = of->pair;
    Guarantee *g = need_zeros(1, sizeof *g);
    take_shape(g, of);
    unembedding_make(g, of, &pair->final_norm, pair->converted.layout.d);
    if (pair->bias_row_content != NULL || !take_compared(g, pair) || !make_parts(g, of)) {
        guarantee_clear(g);
        return NULL;
    }
    return g;
}

void guarantee_clear(Guarantee *g)
{
    if (g == NULL) {
        return;
    }
    for (size_t s = 0; s < g->count; s++) {
        part_clear(&g->parts[s]);
    }
    free(g->parts);
    free(g->layer_end);
    free(g->compared);
    free(g);
}
