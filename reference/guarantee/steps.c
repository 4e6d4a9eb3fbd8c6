/*
 * The inequalities: what each kind of sublayer does to errors, to rows and to the bias row.
 *
 * Everything here is rounded up; what is subtracted stands in an exponent and is rounded up as a
 * whole (magnitude_exp).  (G5), (G6), ... are those of docs/proof.md.
 */
#include "state.h"

#include "part.h"

#include <math.h>

/* ---- Attention ------------------------------------------------------------------------------ */

/* x y, rounded up, y >= 0 in [below, above]. */
static double signed_product(double x, double below, double above)
{
    double y = x > 0 ? x * above : x * below;
    return x == 0 ? 0 : nextafter(y, INFINITY);
}

static double up_sum(double a, double b)
{
    return nextafter(a + b, INFINITY);
}

/* A content score. */
static Magnitude score_bound(const AttentionBound *attention, const HeadBound *head, Magnitude r)
{
    Magnitude quadratic = product(head->scores, magnitude_square(r)),
              linear = product(sum(head->query_bias, head->key_bias), r);
    return product(magnitude_of(attention->scale_above, 0),
                   sum(sum(quadratic, linear), head->biases));
}

/* At least minus a row's score with itself, rows at most r long: (G6), (G21). */
static double minus_own_score(const AttentionBound *attention, const HeadBound *head, Magnitude r)
{
    Magnitude scale = magnitude_of(attention->scale_above, 0);
    Magnitude rest =
        sum(product(head->negative, magnitude_square(r)), product(head->both_biases, r));
    double minus =
        up_sum(magnitude_double(product(scale, rest)),
               signed_product(head->minus_biases, attention->scale_below, attention->scale_above));
    if (head->minus_own < INFINITY) {
        minus = fmin(
            minus, signed_product(head->minus_own, attention->scale_below, attention->scale_above));
    }
    Magnitude turned = product(attention->turn_off, score_bound(attention, head, r)); /* (G26) */
    return turned.digits > 0 ? up_sum(minus, magnitude_double(turned)) : minus;
}

/* (G5): the bias row's weight in a token's softmax. */
static Magnitude weight_of_bias_row(const AttentionBound *attention, const HeadBound *head,
                                    const Read *read, double omega)
{
    Magnitude r = read->token, b = read->bias_row;
    Magnitude scale = magnitude_of(attention->scale_above, 0);
    Magnitude toward =
        product(scale, product(sum(product(head->toward_bias_row, r), head->query_bias_toward), b));
    double raised = up_sum(minus_own_score(attention, head, r), magnitude_double(toward));
    return least(one, magnitude_exp(raised, omega));
}

/* (G9): the tokens' weight in the bias row's softmax. */
static Magnitude weight_in_bias_row(const Tokens *tokens, const AttentionBound *attention,
                                    const HeadBound *head, const Read *read, double omega)
{
    Magnitude r = read->token, b = read->bias_row;
    Magnitude scale = magnitude_of(attention->scale_above, 0);
    Magnitude scores = sum(sum(product(head->of_bias_row, r), head->key_bias_of),
                           product(head->within_bias_row, b));
    double raised = magnitude_double(product(product(scale, b), scores));
    return least(one, product(tokens->n, magnitude_exp(raised, omega)));
}

/* (G8): how many times a change of all rows is there in a head's output. */
static Magnitude head_gain(const AttentionBound *attention, const HeadBound *head, Magnitude r)
{
    Magnitude scale = magnitude_of(attention->scale_above, 0);
    Magnitude scores = sum(product(two, product(head->scores, r)), head->query_bias);
    scores = attention->turned ? sum(scores, head->key_bias) : scores; /* (G26) */
    return product(head->values, sum(product(product(scale, r), scores), one));
}

/* Heads' outputs x V_h together, of which each |x| |V_h| is at most what was added: their sum, or
 * by Cauchy and Schwarz (G22). */
typedef struct {
    Magnitude sum, squares;
} Together;

static void add_head(Together *heads, Magnitude size)
{
    heads->sum = sum(heads->sum, size);
    heads->squares = sum(heads->squares, magnitude_square(size));
}

static Magnitude together(const Together *heads, const AttentionBound *attention)
{
    return least(heads->sum, product(attention->stacked, magnitude_root(heads->squares)));
}

static void attention_step(State *state, const Tokens *tokens, const Part *part, double omega)
{
    const AttentionBound *attention = &part->attention;
    const Bank bank = BANK_CONTENT;
    const Read read = read_of(part, state, bank);
    Magnitude r = read.token, limit_r = read.limit, b = read.bias_row, biases = none, leaked = none,
              grown = none,
              content = sum(state->bias_row[bank], product(attention->values_together, b));
    Change change = change_none();
    Magnitude *term = change.term[bank];
    Together gain = {none, none}, leaks = gain, values = gain;
    for (size_t h = 0; h < attention->heads; h++) {
        const HeadBound *head = &attention->head[h];
        Magnitude own = least(sum(product(head->values, r), head->value_bias), head->own_values),
                  limit = least(sum(product(head->values, limit_r), head->value_bias),
                                head->own_values),
                  of_bias_row = product(head->values_bias_row, b),
                  w = weight_of_bias_row(attention, head, &read, omega),
                  rho = weight_in_bias_row(tokens, attention, head, &read, omega);
        add_head(&leaks, product(w, product(head->values, r)));
        add_head(&values, product(head->values, limit_r));
        add_head(&gain, head_gain(attention, head, r));
        biases = sum(biases, product(w, head->value_bias));
        leaked = sum(leaked, product(w, own));
        grown = sum(grown, limit);
        term[GUARANTEE_BIAS_ROW] = sum(term[GUARANTEE_BIAS_ROW], product(w, of_bias_row));
        content = sum(content, product(rho, sum(own, of_bias_row)));
        state->scores = magnitude_most(state->scores, score_bound(attention, head, limit_r));
    }
    term[GUARANTEE_ATTENTION] =
        least(leaked, sum(together(&leaks, attention), biases)); /* (G4), (G7) */
    change.kept[bank][bank] = product(together(&gain, attention), read.steep);
    grown = least(grown, sum(together(&values, attention), attention->value_biases));
    state_apply(state, &change);
    state->rows[bank] = sum(state->rows[bank], grown);
    state->bias_row[bank] = content; /* (G9) */
}

/* ---- Gated heads ---------------------------------------------------------------------------- */

static void fused_step(State *state, const Tokens *tokens, const Part *part, double omega)
{
    const GateBound *gates = &part->gates;
    const Bank bank = BANK_CONTENT, to = gates->to;
    const Read read = read_of(part, state, bank);
    Magnitude r = read.token, limit_r = read.limit, b = read.bias_row, leaked = leakage(omega);
    Magnitude hidden = sum(product(gates->w1, r), gates->b1),
              limit_hidden = sum(product(gates->w1, limit_r), gates->b1),
              of_bias_row = product(gates->w1_bias_row, b), out = product(gates->w2, gates->reach);
    Change change = change_none();
    Magnitude *term = change.term[to];
    /* (G11) */
    term[GUARANTEE_OTHERS] =
        product(product(product(two, tokens->others), product(leaked, hidden)), out);
    term[GUARANTEE_BIAS_ROW] = product(of_bias_row, out);
    term[GUARANTEE_BIASES] = product(leaked, gates->b2);
    /* (G10), (G24), (G28): what is not in `through` stays beside what is added. */
    Magnitude stays = read.normed || to != bank ? one : none,
              entry = sum(product(gates->value_column, r), gates->value_entry),
              slope = sum(product(gates->swing, gates->w1), product(gates->gate_slope, entry)),
              swung = product(slope, gates->w2);
    change.own[to] = stays;
    change.kept[bank][to] = product(sum(gates->through, swung), read.steep);
    state_apply(state, &change);
    Magnitude grown = sum(product(stays, state->rows[to]), product(gates->through, limit_r));
    grown = sum(grown, sum(gates->b1_through, product(half, product(limit_hidden, out))));
    state->rows[to] = sum(grown, gates->b2);
    /* (G12) */
    double raised = magnitude_double(product(gates->gate, product(gates->column_bias_row, b)));
    Magnitude rho = least(one, product(tokens->n, magnitude_exp(raised, omega)));
    Magnitude content = sum(state->bias_row[to], product(gates->product_bias_row, b));
    content = sum(content, product(rho, product(sum(hidden, of_bias_row), out)));
    content = sum(content, product(product(leaked, tokens->n), gates->b2));
    state->bias_row[to] = content;
}

static void in_place_step(State *state, const Tokens *tokens, const Part *part, double omega)
{
    const GateBound *gates = &part->gates;
    const Bank bank = gates->bank;
    Magnitude r = read_of(part, state, bank).token, b = state->bias_row[bank];
    Change change = change_none();
    change.own[bank] = none;
    change.kept[bank][bank] = sum(half, gates->swing); /* (G13) */
    change.term[bank][GUARANTEE_OTHERS] =
        product(gates->reach, product(product(two, tokens->others), product(leakage(omega), r)));
    change.term[bank][GUARANTEE_BIAS_ROW] = product(gates->reach, b);
    state_apply(state, &change);
    state->rows[bank] = product(gates->reach, state->rows[bank]);
    double raised = magnitude_double(product(gates->gate, b)); /* (G14) */
    Magnitude rho = least(one, product(tokens->n, magnitude_exp(raised, omega)));
    Magnitude content = product(gates->reach, product(rho, sum(b, r)));
    state->bias_row[bank] = content;
}

/* ---- Self-attending heads ------------------------------------------------------------------- */

static void linear_step(State *state, const Tokens *tokens, const Part *part, double omega)
{
    const LinearBound *linear = &part->linear;
    Magnitude leaked = leakage(omega), rows[BANKS], content[BANKS],
              share = least(one, product(tokens->n, leaked)); /* N times e^(-2 Omega), or all */
    Change change = change_none();
    for (int to = 0; to < BANKS; to++) {
        Magnitude *term = change.term[to];
        change.own[to] = none;
        rows[to] = linear->bias[to];
        content[to] = product(share, linear->bias[to]);
        term[GUARANTEE_BIASES] = product(leaked, linear->bias[to]); /* (G15) */
        for (int from = 0; from < BANKS; from++) {
            Bank bank = (Bank)from;
            const Read read = read_of(part, state, bank);
            Magnitude b = read.bias_row, kept = linear->kept[from][to],
                      own = product(linear->read[from][to], read.token),
                      of_bias_row = product(linear->bias_row[from][to], b);
            term[GUARANTEE_OTHERS] =
                sum(term[GUARANTEE_OTHERS], product(product(leaked, tokens->pairs), own));
            term[GUARANTEE_BIAS_ROW] = sum(term[GUARANTEE_BIAS_ROW], product(leaked, of_bias_row));
            content[to] = sum(content[to], product(share, sum(own, of_bias_row))); /* (G17) */
            /* (G16): behind a norm the stream itself stays beside what is added. */
            Magnitude stays = read.normed && from == to ? one : none;
            change.kept[from][to] = sum(stays, product(kept, read.steep));
            rows[to] =
                sum(rows[to], sum(product(stays, state->rows[from]), product(kept, read.limit)));
            content[to] = sum(content[to], sum(product(stays, state->bias_row[from]),
                                               read.normed ? of_bias_row : product(kept, b)));
        }
    }
    state_apply(state, &change);
    for (int to = 0; to < BANKS; to++) {
        state->rows[to] = rows[to];
        state->bias_row[to] = content[to];
    }
}

/* ---- A norm by itself: (G18), (G19) --------------------------------------------------------- */

static void norm_step(State *state, const Part *part)
{
    const NormBound *norm = &part->norm;
    Magnitude steepest = product(norm->gain, norm->steepest),
              longest = product(norm->gain, norm->root_d);
    Change change = change_none();
    change.own[norm->bank] = none;
    change.kept[norm->bank][norm->bank] =
        product(norm->gain, norm_steepest(norm, state->error[norm->bank]));
    change.limit[norm->bank] = product(two, longest);
    state_apply(state, &change);
    state->rows[norm->bank] = sum(longest, norm->beta);
    Magnitude *b = &state->bias_row[norm->bank];
    if (norm->bias_row) {
        *b = least(longest, product(*b, steepest));
    }
}

void part_step(State *state, const Tokens *tokens, const Part *part, double omega)
{
    state->sublayer++;
    switch (part->kind) {
    case PART_ATTENTION: attention_step(state, tokens, part, omega); break;
    case PART_GATES:
        (part->gates.in_place ? in_place_step : fused_step)(state, tokens, part, omega);
        break;
    case PART_READOUT: readout_step(state, tokens, part, omega); break;
    case PART_LINEAR: linear_step(state, tokens, part, omega); break;
    default: norm_step(state, part); break;
    }
    for (int b = 0; b < BANKS && tokens->causal; b++) {
        state->bias_row[b] = none; /* (G1) */
    }
}
