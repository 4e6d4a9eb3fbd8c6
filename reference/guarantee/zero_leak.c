/*
 * Sizes of a machine's rows and scores, layer by layer, from Frobenius norms of the weights: crude,
 * but right for any order of summation, and for what every rounding does.  (Z0), (Z1), ... are
 * those of docs/proof.md.
 */
#include "guarantee.h"

#include "matrix.h"
#include "state.h"

#include <math.h>

/* A machine at work: what is known after some sublayers. */
typedef struct {
    const MachineNumbers *numbers;
    const Layout *layout;
    double lost;       /* (Z0): a result is off by at most this share of its terms' sizes */
    Magnitude growth;  /* 1 + lost */
    Magnitude row;     /* no token's row of the stream is longer */
    Magnitude penalty; /* the least 2 Omega, as it is stored, that will do so far */
    double coefficient;
    bool fits; /* no number leaves its format */
} Walk;

/* The length of so many entries, each too small for the machine's numbers. */
static Magnitude underflow(const Walk *walk, size_t entries)
{
    return product(number(walk->numbers->smallest), magnitude_root(magnitude_of_size(entries)));
}

/* As it is computed and kept, width entries of it; all of them have to fit (Z1). */
static Magnitude kept(Walk *walk, Magnitude exact, size_t width)
{
    Magnitude size = sum(product(exact, walk->growth), underflow(walk, width));
    walk->fits = walk->fits && !magnitude_above(size, number(walk->numbers->largest));
    return size;
}

/* Frobenius norm of head h's matrix, or of a vector, as it is stored; 0 of NULL. */
static Magnitude stored(Walk *walk, const double *data, size_t rows, size_t columns, size_t ld)
{
    Matrix m;
    if (data == NULL) {
        return none;
    }
    matrix_take(&m, (Doubles){data, rows, columns, ld, 1});
    Magnitude norm = matrix_frobenius(&m);
    matrix_clear(&m);
    return kept(walk, norm, rows * columns);
}

static Magnitude of_head(Walk *walk, HeadWeight weight, size_t h, size_t rows, size_t columns)
{
    const double *data = weight.data != NULL ? weight.data + h * weight.head_stride : NULL;
    return stored(walk, data, rows, columns, weight.ld);
}

static Magnitude of_bias(Walk *walk, const double *bias, size_t h, size_t count)
{
    return stored(walk, bias != NULL ? bias + h * count : NULL, 1, count, count);
}

/* 2 Omega has to be at least (exp_zero + score)/(1 - 2 lost) (Z3), (Z4). */
static void require(Walk *walk, Magnitude score)
{
    Magnitude least_penalty =
        product(sum(number(walk->numbers->exp_zero), score), number(1 + 4 * walk->lost));
    walk->penalty = magnitude_most(walk->penalty, least_penalty);
}

/* (Z2): the norm of a row: |u| < sqrt(D), 1.2 for squares that underflow; its variance must be a
 * number, and eps no number that is lost. */
static Magnitude normed(Walk *walk, const LayerNorm *norm)
{
    size_t d = norm->columns.count;
    Magnitude longest = product(number(1.2), magnitude_root(magnitude_of_size(d)));
    Magnitude squares = product(walk->growth, magnitude_square(walk->row));
    walk->fits = walk->fits && norm->eps >= 16 / walk->numbers->range &&
                 !magnitude_above(squares, number(walk->numbers->range));
    double most = 0;
    for (size_t c = 0; c < d; c++) {
        most = fmax(most, fabs(norm->gamma[c]));
    }
    Magnitude gain = kept(walk, number(most), 1), beta = stored(walk, norm->beta, 1, d, d);
    Magnitude row = kept(walk, sum(kept(walk, product(longest, gain), d), beta), d);
    return walk->layout->hidden > 0 ? sum(row, walk->row) : row;
}

/* Are 0 the coefficients of what a row attends to, and below 0 those of what leaks? */
static bool is_covered(Walk *walk, const Score *score)
{
    const PositionScores *p = &score->position;
    bool bilinear = score_by_key(score);
    int leaking = bilinear ? p->token_bias : p->token_token;
    int toward = p->token_bias < 0 ? p->token_bias : leaking;
    walk->coefficient = fmin(walk->coefficient, -fmax(fmax(leaking, toward), p->bias_token));
    return p->token_self == 0 && p->bias_self == 0 && leaking < 0 && p->bias_token < 0 &&
           p->token_bias <= 0 && (!bilinear || p->token_token == 0) && score->extra == NULL &&
           score->rotary == NULL &&
           (score->visible == VISIBLE_ALL || score->visible == VISIBLE_EARLIER);
}

/* (Z3): the bias row's score is -2 Omega, a token's with itself at least minus the bound. */
static void attention_scores(Walk *walk, const Score *score, size_t h, Magnitude row)
{
    size_t r = score->read.count, rank = score->d_head > 0 ? score->d_head : r;
    bool factors = score->d_head > 0;
    Magnitude w_q = of_head(walk, score->q, h, r, rank),
              w_k = factors ? of_head(walk, score->k, h, r, rank) : one,
              b_q = factors ? of_bias(walk, score->q_bias, h, rank) : none,
              b_k = factors ? of_bias(walk, score->k_bias, h, rank) : none;
    Magnitude q = kept(walk, sum(product(row, w_q), b_q), rank),
              k = factors ? kept(walk, sum(product(row, w_k), b_k), rank) : row;
    double scale =
        (double)score->scale.num / ((double)score->scale.den * sqrt((double)score->scale.sqrt_den));
    Magnitude unscaled = kept(walk, product(q, k), 1);
    /* Full matrices have x W_Q W_K^T in between. */
    (void)kept(walk, product(q, product(w_k, number(fmax(1, scale)))), r);
    require(walk, kept(walk, product(unscaled, number(scale * (1 + 0x1p-50))), 1));
}

/* (Z4): a token's score toward another is that with itself less 2 Omega, but for rounding. */
static void gate_scores(Walk *walk, const Bundle *bundle, Magnitude row)
{
    const Score *score = &bundle->score;
    Magnitude largest = none;
    for (size_t h = 0; h < bundle->heads && score_by_gate(score); h++) {
        Magnitude gate = score->gate.data != NULL
                             ? of_head(walk, score->gate, h, score->read.count, 1)
                             : number(score->gate_unit);
        Magnitude content =
            kept(walk, sum(product(row, gate), of_bias(walk, score->gate_bias, h, 1)), 1);
        content = kept(walk, product(content, number(score->gate_scale)), 1);
        content = kept(walk, sum(content, of_bias(walk, score->gate_shift, h, 1)), 1);
        largest = magnitude_most(largest, content);
    }
    require(walk, product(number(2 * walk->lost), largest));
}

/* (Z5): what head h adds to a row; weights sum to at most 1 + lost. */
static Magnitude head_output(Walk *walk, const Value *value, size_t h, Magnitude row)
{
    size_t from = value->read.count, to = value->write.count, rank = value->d_head;
    Magnitude unit = number(value->scale * value->unit), out;
    if (value->v.data == NULL) {
        return value->unit != 0 ? kept(walk, product(unit, row), to) : none;
    }
    if (rank == 0) {
        out = kept(walk, product(row, of_head(walk, value->v, h, from, to)), to);
        return kept(walk, out, to);
    }
    out = kept(walk,
               sum(product(row, of_head(walk, value->v, h, from, rank)),
                   of_bias(walk, value->inner_bias, h, rank)),
               rank);
    out = product(kept(walk, out, rank), of_head(walk, value->o, h, rank, to));
    return kept(walk, product(out, number(fmax(1, fabs(value->scale)))), to);
}

static Magnitude bundle_output(Walk *walk, const Bundle *bundle, Magnitude row)
{
    const Value *value = &bundle->value;
    size_t heads = value->unit != 0 ? 1 : bundle->heads; /* a column each */
    Magnitude out = of_bias(walk, value->bias, 0, value->write.count);
    walk->fits = walk->fits && is_covered(walk, &bundle->score);
    for (size_t h = 0; h < bundle->heads && score_by_key(&bundle->score); h++) {
        attention_scores(walk, &bundle->score, h, row);
    }
    if (!score_by_key(&bundle->score)) {
        gate_scores(walk, bundle, row);
    }
    for (size_t h = 0; h < heads; h++) {
        out = sum(out, head_output(walk, value, h, row));
    }
    return sum(out, product(number(value->diagonal), row));
}

/* (Z6) */
static void walk_sublayer(Walk *walk, const Sublayer *sublayer)
{
    bool folded = sublayer->norm.kind != NORMALIZATION_NONE;
    Magnitude row = folded ? normed(walk, &sublayer->norm) : walk->row, out = none;
    if (sublayer->bundle_count == 0) {
        walk->fits = walk->fits && sublayer->direct.kind == DIRECT_NORM;
        walk->row = row;
        return;
    }
    for (size_t b = 0; b < sublayer->bundle_count && walk->fits; b++) {
        out = sum(out, bundle_output(walk, &sublayer->bundles[b], row));
    }
    size_t width = layout_content(walk->layout);
    out = kept(walk, out, width);
    walk->row = kept(walk, sum(walk->row, out), width);
}

/* (Z0): no result has more than four roundings to a format, nor a longer sum than that of a row of
 * all columns, or of all heads. */
static double lost_of(const Model *model, const MachineNumbers *machine)
{
    double width = (double)layout_width(&model->layout), most = 0;
    for (size_t s = 0; s < model->sublayer_count; s++) {
        double terms = 0;
        for (size_t b = 0; b < model->sublayers[s].bundle_count; b++) {
            const Bundle *bundle = &model->sublayers[s].bundles[b];
            terms += (double)bundle->heads * ((double)bundle->value.d_head + 1 + width);
        }
        most = fmax(most, terms);
    }
    double terms = most + 2 * width + 32;
    return 5 * machine->rounding + 4 * terms * machine->sums;
}

void guarantee_zero_leak(double *omega, const GuaranteeOf *of, const MachineNumbers *machine)
{
    const Model *model = &of->pair->negative;
    Walk walk = {.numbers = machine,
                 .layout = &model->layout,
                 .lost = lost_of(model, machine),
                 .coefficient = INFINITY,
                 .fits = true};
    walk.growth = number(1 + walk.lost);
    walk.fits = model->sublayer_count > 0 && walk.lost <= 0x1p-4;
    bool banked = of->pair->original.layout.hidden > 0;
    walk.row =
        kept(&walk, product(of->input_norm, banked ? two : one), layout_content(&model->layout));
    for (size_t s = 0; s < model->sublayer_count && walk.fits; s++) {
        walk_sublayer(&walk, &model->sublayers[s]);
    }
    /* (Z7) */
    double penalty = magnitude_double(product(walk.penalty, number(1 + 4 * machine->rounding)));
    walk.fits = walk.fits && penalty <= machine->largest / 2;
    *omega = walk.fits ? penalty / walk.coefficient * (1 + 0x1p-50) : INFINITY;
}
