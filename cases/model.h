/*
 * The model as data.
 *
 * A model is a layout of the residual stream and a list of sublayers, each of which is
 * added to the stream: a sum of attention heads, or (original models only) one direct
 * operation.  Every number is exact: weights are the doubles given, scales are kept as
 * integers and a square root, W - I is W and an integer multiple of the identity, and
 * Omega is symbolic: a position score is an integer coefficient of Omega.  Only an
 * arithmetic (kernels/, reference/) may round.
 *
 * Umbrella header: what a model is, for all who read one: model.c has its sizes, model_fault.c what
 * must be true of it.
 *
 * Row-vector convention: a stream is a matrix, one row a token.  A head is
 *     head(X) = softmax_rows(X Q X^T) X V          (docs/mathematics.md, section 1)
 * and heads that share pattern, mask and shapes are a bundle.
 */
#ifndef HEADPROOF_CASES_MODEL_H
#define HEADPROOF_CASES_MODEL_H

#include <stdbool.h>
#include <stddef.h>

/* num / (den * sqrt(sqrt_den)); all positive.  {1,1,1} is one. */
typedef struct {
    long num, den, sqrt_den;
} Scale;

/* Columns first, ..., first + count - 1 of the stream. */
typedef struct {
    size_t first, count;
} Columns;

/* One matrix a head: entry (r, c) of head h is data[h * head_stride + r * ld + c].
 * data == NULL: absent.  The doubles are the weights, exactly. */
typedef struct {
    const double *data;
    size_t ld, head_stride;
} HeadWeight;

/* Coefficients of Omega in the score of a query row (left) toward a key row (right). */
typedef struct {
    int token_self;  /* a token toward itself */
    int token_token; /* a token toward another token */
    int token_bias;  /* a token toward the bias row */
    int bias_self;   /* the bias row toward itself */
    int bias_token;  /* the bias row toward a token */
} PositionScores;

/* The rows that a row of the stream sees: the explicit mask. */
typedef enum {
    VISIBLE_ALL,
    VISIBLE_EARLIER,       /* rows 0, ..., i of the stream: a causal mask */
    VISIBLE_SELF,          /* itself */
    VISIBLE_SELF_AND_BIAS, /* itself and the bias row */
    VISIBLE_LISTED         /* as a matrix says */
} Visible;

typedef enum {
    SCORE_NONE,    /* no content score */
    SCORE_GATE,    /* a (x g_h + c_h) toward every token key, 0 toward the bias key */
    SCORE_BILINEAR /* x Q_h y^T toward every key y, the bias row included */
} ScoreKind;

/* What a head's scores are: content(x_i, x_j) + Omega * (position(i, j) + extra(h, i, j)).
 * With r = read.count, queries and keys restricted to the columns read:
 *   SCORE_GATE      g_h is column 0 of gate's [r, 1] matrix of head h, or, when
 *                   gate.data == NULL, gate_unit times the unit vector of column h.
 *                   gate_bias [heads] (or NULL) is added where the query is a token; the sum is
 *                   multiplied by gate_scale, an exact double.
 *   SCORE_BILINEAR  d_head == 0: Q_h = scale * q_h, q_h [r, r];
 *                   else Q_h = scale * q_h k_h^T, q_h and k_h [r, d_head], and q_bias and k_bias
 *                   [heads, d_head] (or NULL) are added to x q_h and y k_h of token rows.
 * extra: [rows, rows] a head, head_stride apart (0: one for all heads), or NULL for zeros: what
 * single entries have besides, such as a pseudo-mask, or an entry that was lost.  Without
 * SCORE_BILINEAR it is zero but for a row's own key and the bias row's, so that the other
 * tokens stay alike.
 * listed: [rows, rows], 1 where row i sees row j (VISIBLE_LISTED, of bilinear scores). */
typedef struct {
    ScoreKind kind;
    Columns read;
    HeadWeight gate;
    int gate_unit;
    const double *gate_bias;
    double gate_scale;
    size_t d_head;
    HeadWeight q, k;
    const double *q_bias, *k_bias;
    Scale scale;
    PositionScores position;
    const signed char *extra;
    size_t extra_stride;
    Visible visible;
    const unsigned char *listed;
} Score;

typedef enum {
    VALUE_NONE,    /* no content value (a head that carries a bias only) */
    VALUE_UNIT,    /* V_h is unit at (column h read, column h written), else 0 */
    VALUE_DENSE,   /* V_h = v_h [read, write] */
    VALUE_FACTORED /* V_h = v_h o_h, v_h [read, d_head], o_h [d_head, write] */
} ValueKind;

/* What a head's key row j contributes when attended: x_j V_h, and for a token row also
 *   inner_bias_h o_h   (VALUE_FACTORED; inner_bias [heads, d_head] or NULL)
 *   bias               (head 0 only;    bias [write.count] or NULL)
 * which ride on the position rows of V (in an original, whose rows are all tokens, on every row).
 * scale, an exact double, multiplies V_h and inner_bias of VALUE_UNIT and VALUE_FACTORED.
 * diagonal (0, or with heads == 1 any integer)
 * adds diagonal * I from the columns read onto the same columns: -1 makes W into W - I
 * when read == write, and clears the columns read when they differ. */
typedef struct {
    ValueKind kind;
    Columns read, write;
    int unit;
    size_t d_head;
    HeadWeight v, o;
    const double *inner_bias;
    double scale;
    const double *bias;
    int diagonal;
} Value;

typedef struct {
    size_t heads;
    Score score;
    Value value;
} Bundle;

typedef enum { ACTIVATION_SILU, ACTIVATION_RELU, ACTIVATION_GELU } Activation;

typedef enum {
    DIRECT_FFN,       /* x[write] += act(x[read] w1 + b1) w2 + b2 */
    DIRECT_LINEAR,    /* x[write]  = x[read] w1 + b1   (+= when !replace), then
                           x[read]   = 0 when clear */
    DIRECT_ACTIVATION /* x[write]  = act(x[read]), read == write */
} DirectKind;

/* An operation of an original model on the token rows; act(x) is x sigma(x), max(x, 0) or
 * x Phi(x), Phi the normal distribution function.
 * w1 [read, hidden] and w2 [hidden, write] for the FFN, w1 [read, write] for the linear
 * map; b1, b2 may be NULL. */
typedef struct {
    DirectKind kind;
    Activation activation;
    Columns read, write;
    size_t hidden;
    const double *w1, *b1, *w2, *b2;
    bool replace, clear;
} Direct;

/* One sublayer: bundle_count bundles, all reading the same stream, their sum added to it;
 * or (bundle_count == 0) one direct operation. */
typedef struct {
    const Bundle *bundles;
    size_t bundle_count;
    Direct direct;
} Sublayer;

typedef enum {
    BIAS_ROW_NONE,
    BIAS_ROW_FIRST,
    BIAS_ROW_LAST,
    BIAS_ROW_MASKED /* last; masks do what Omega does elsewhere */
} BiasRow;

/* n tokens; d content columns, then hidden columns, then (with a bias row) n + 1 one-hot
 * position columns, row i's one in position column i; or (BIAS_ROW_MASKED) in their place one
 * constant column, which is 1 on token rows and 0 on the bias row. */
typedef struct {
    size_t n, d, hidden;
    BiasRow bias_row;
} Layout;

typedef struct {
    Layout layout;
    const Sublayer *sublayers;
    size_t sublayer_count;
    const size_t *layer_end; /* [depth]: layer l is sublayers layer_end[l-1] .. layer_end[l]-1 */
    size_t depth;
} Model;

/* A pair: the original T, its attention-only counterpart T', and what both start from: the
 * same numbers, each row-major [n, d + hidden] in its own model's layout (hidden columns that
 * only T' has start at zero); bias_row_content [d + hidden] of T', or NULL for zeros.
 * compared[l]: the columns compared after layer l; cleared[l]: the columns that layer l
 * clears (count 0: none).  limit_is_original: T_infinity = T is a theorem for this pair
 * (docs/mathematics.md, section 2), which every evaluation then checks.
 * memory owns every array; bytes is what it takes. */
typedef struct {
    Model original, converted;
    const double *original_x, *converted_x;
    const double *bias_row_content;
    const Columns *compared, *cleared;
    bool limit_is_original;
    struct Arena *memory;
    size_t bytes;
} Pair;

/* Rows of the stream: n, and one more with a bias row. */
size_t layout_rows(const Layout *layout);

/* Content and hidden columns together: d + hidden. */
size_t layout_content(const Layout *layout);

/* Full width: d + hidden + position columns. */
size_t layout_width(const Layout *layout);

/* Row of token i, i < n. */
size_t layout_token_row(const Layout *layout, size_t i);

/* Row of the bias row, or SIZE_MAX without one. */
size_t layout_bias_row(const Layout *layout);

/* The columns behind the content that tell tokens from the bias row, which biases ride on: one a
 * token, or the constant one; none in an original.  Token i's, i < layout_token_columns. */
size_t layout_token_columns(const Layout *layout);
size_t layout_token_column(const Layout *layout, size_t i);

/* Coefficient of Omega in the score of query row i toward key row j (0 without a bias
 * row's position block: original models have no position columns). */
int layout_position_score(const Layout *layout, const PositionScores *position, size_t i, size_t j);

/* The same with what is extra for head h. */
int score_position(const Layout *layout, const Score *score, size_t h, size_t i, size_t j);

/* Does row i see row j? */
bool score_sees(const Layout *layout, const Score *score, size_t i, size_t j);

/* NULL when the model is well formed, else the reason it is not: columns out of range,
 * a score or value shape that does not fit its bundle, a direct operation beside heads, or
 * the bias row last under a causal mask (tokens could not see it). */
const char *model_fault(const Model *model);

#endif
