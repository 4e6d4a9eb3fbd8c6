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

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* The number num / (den * sqrt(sqrt_den)), all positive: {1, 1, 1} is one. */
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

/* Turns of queries and keys by their token's position, which T and T' share.  Of the first `width`
 * entries those of pair p, p and p + width / 2, or interleaved 2 p and 2 p + 1, go in token i
 *     from (a, b) to (a c - b s, b c + a s),      c = cos[i, p], s = sin[i, p].
 * The bias row, whose key is zero in the limit, is not turned. */
typedef struct {
    size_t positions, width; /* width: even, and no more than d_head */
    bool interleaved;
    const double *cos, *sin; /* [positions, width / 2], exact */
} Rotary;

typedef enum { SCALING_NONE, SCALING_LINEAR, SCALING_LLAMA3 } ScalingKind;

/* What the angles of positions are: i f_p of token i and pair p, f_p = theta^(-2 p / width), which
 * a factor divides: each (SCALING_LINEAR), or (SCALING_LLAMA3) that of waves longer than length /
 * low, while those of waves shorter than length / high stay, and those between are blends.
 * float32: every operation is rounded to float, as frameworks compute them. */
typedef struct {
    ScalingKind kind;
    double factor, low, high, length;
} RotaryScaling;
typedef struct {
    size_t positions, width;
    double theta;
    RotaryScaling scaling;
    bool float32;
} RotaryAngles;

typedef enum {
    SCORE_NONE,    /* no content score */
    SCORE_GATE,    /* a (x g_h + c_h) + t_h toward every token key, 0 toward the bias key */
    SCORE_BILINEAR /* x Q_h y^T toward every key y, the bias row included */
} ScoreKind;

/* What a head's scores are: content(x_i, x_j) + Omega * (position(i, j) + extra(h, i, j)).
 * With r = read.count, queries and keys restricted to the columns read:
 *   SCORE_GATE      content is gate_scale (x_i g_h + c_h) + t_h toward every token, 0 toward the
 *                   bias row.  g_h is gate's matrix of head h, [r, 1], or, when gate.data == NULL,
 *                   gate_unit times the unit vector of column h.  c_h and t_h are gate_bias[h] and
 *                   gate_shift[h] where row i is a token, else 0.
 *   SCORE_BILINEAR  content is x_i Q_h x_j^T.  d_head == 0: Q_h = scale * q_h, q_h [r, r]; else
 *                   Q_h = scale * q_h k_h^T, q_h and k_h [r, d_head], and q_bias and k_bias are
 *                   added to x_i q_h and x_j k_h of token rows, before rotary turns both.
 *                   mix.data != NULL: the heads share q, k and their biases, whose strides are 0,
 *                   and entry e of head h's query is multiplied by mix_h [d_head, 1]; then q.data
 *                   == NULL is allowed, where that query is the row's entries of the columns
 *                   `query`, d_head of them. */
typedef struct {
    ScoreKind kind;
    Columns read;
    Columns query; /* count 0: those read */
    HeadWeight gate;
    int gate_unit;
    const double *gate_bias;  /* [heads], or NULL */
    double gate_scale;        /* exact */
    const double *gate_shift; /* [heads], or NULL */
    size_t d_head;
    HeadWeight q, k, mix;
    const double *q_bias, *k_bias; /* [heads, d_head], or NULL; mix.data != NULL: [d_head] */
    const Rotary *rotary;          /* d_head > 0: of all heads, or NULL */
    Scale scale;
    PositionScores position;
    /* [rows, rows] a head, or NULL for zeros: coefficients of Omega that single entries have
     * besides: those that a pseudo-mask adds, or a lost entry lacks.  Without SCORE_BILINEAR they
     * are zero but for a row's own key and the bias row's, so that the other tokens stay alike. */
    const signed char *extra;
    size_t extra_stride; /* from head to head; 0: one matrix for all */
    Visible visible;
    const unsigned char *listed; /* VISIBLE_LISTED: [rows, rows], 1 where row i sees row j */
} Score;

/* What a head's key row j contributes when attended: x_j V_h, and for a token row also
 *   inner_bias_h o_h   (where V_h has two factors)
 *   bias               (head 0 only)
 * and for the bias row bias_row in each column written (head 0 only), which ride on the position
 * rows of V (tokens' biases on every row in an original, whose rows are all tokens).  V_h is
 *   unit               at (column h read, column h written), else 0, where unit is not 0;
 *   v_h o_h            v_h [read, d_head], o_h [d_head, write], where d_head is not 0;
 *   v_h                [read, write], where there is a v alone;
 * and else no content is read: the head carries a bias only.  With d_head == 1 either factor may be
 * absent: without o, o_h is the unit vector of the h-th column written; without v, x_j v_h is the
 * row's sign, 1 of a token and -1 of the bias row, which rides there too. */
typedef struct {
    Columns read, write;
    int unit;
    size_t d_head;
    HeadWeight v, o;
    const double *inner_bias; /* [heads, d_head], or NULL */
    double scale;             /* exact; multiplies V_h and inner_bias; 1 of v_h alone */
    const double *bias;       /* [write.count], or NULL */
    double bias_row;
    /* 0, or in a bundle of one head with v_h alone or without content any integer: V has diagonal *
     * I more, from the columns read onto the same columns.  -1 makes W into W - I when read ==
     * write, and clears the columns read when they differ. */
    int diagonal;
} Value;

typedef struct {
    size_t heads;
    Score score;
    Value value;
} Bundle;

typedef enum {
    NORMALIZATION_NONE,
    NORMALIZATION_LAYERNORM,
    NORMALIZATION_RMSNORM,
    NORMALIZATION_COUNT
} Normalization;

/* A layer norm of each row: over the columns, D of them,
 *     y = gamma (x - mean) / sqrt(mean of (x - mean)^2 + eps) + beta     NORMALIZATION_LAYERNORM
 *     y = gamma x / sqrt(mean of x^2 + eps)                              NORMALIZATION_RMSNORM
 * and y = x outside them.  gamma, beta and eps are exact.  beta is added on token rows only (in T'
 * it rides on their position columns), so that a zero bias row stays zero. */
typedef struct {
    Normalization kind;
    Columns columns;
    const double *gamma; /* [columns.count] */
    const double *beta;  /* [columns.count]; NORMALIZATION_RMSNORM: NULL */
    double eps;          /* > 0 */
    bool tokens_only;    /* the bias row is left as it is */
} LayerNorm;

typedef enum {
    ACTIVATION_SILU,
    ACTIVATION_RELU,
    ACTIVATION_GELU,
    ACTIVATION_GELU_NEW,
    ACTIVATION_SIGMOID, /* of a gated network alone, as the next */
    ACTIVATION_NONE,
    ACTIVATION_COUNT,
    ACTIVATION_PLAIN = ACTIVATION_SIGMOID /* how many a plain network may have */
} Activation;

typedef enum {
    DIRECT_FFN,        /* x[write] += act(x[read] w1 + b1) w2 + b2, or with w3 (act(x[read] w1 + b1)
                          * (x[read] w3 + b3)) w2 + b2, * entry by entry */
    DIRECT_LINEAR,     /* x[write]  = x[read] w1 + b1   (+= when !replace), then
                           x[read]   = 0 when clear */
    DIRECT_ACTIVATION, /* x[write]  = act(x[read]), read == write */
    DIRECT_NORM        /* x = norm(x): the stream becomes what the sublayer reads.  T' has it too */
} DirectKind;

/* An operation of an original model on the token rows (DIRECT_NORM: of either, on every row that
 * its norm acts on); act(x) is x sigma(x), max(x, 0), x Phi(x), Phi the normal distribution
 * function, x/2 (1 + tanh(sqrt(2/pi) (x + c x^3))), sqrt(2/pi) the irrational number and c the
 * double nearest to 0.044715, sigma(x), or x. */
typedef struct {
    DirectKind kind;
    Activation activation;
    Columns read, write;
    size_t hidden;
    const double *w1, *b1; /* FFN: [read, hidden], [hidden]; linear map: [read, write], [write] */
    const double *w2, *b2; /* FFN: [hidden, write], [write] */
    const double *w3, *b3; /* FFN: [read, hidden], [hidden], or w3 NULL: the network is not gated */
    bool replace, clear;   /* b1, b2 and b3 may be NULL */
} Direct;

/* One sublayer: bundle_count bundles, all reading norm(stream), their sum added to the stream;
 * or (bundle_count == 0) one direct operation, which reads norm(stream) and writes the stream. */
typedef struct {
    LayerNorm norm; /* NORMALIZATION_NONE: the stream is read as it is */
    /* It reads, through its own norm, the stream that the one before it reads, and what both add is
     * added together: one sublayer of bundles with several norms, or T's block whose attention and
     * network are parallel.  Both have norms, and heads or a network. */
    bool beside;
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

/* The shape of a stream.  Its columns are d of content, then the hidden ones, then, with a bias
 * row, n + 1 one-hot position columns, row i's one in position column i.  BIAS_ROW_MASKED has in
 * their place one constant column, which is 1 on token rows and 0 on the bias row. */
typedef struct {
    size_t n; /* tokens */
    size_t d, hidden;
    BiasRow bias_row;
} Layout;

/* Where the weights of layers are, of a model that does not hold all of them: whoever reads a
 * layer's enters it before and leaves it behind, from any thread and as often as it likes.  They
 * have the same addresses and the same numbers every time. */
typedef struct ModelLayers ModelLayers;
struct ModelLayers {
    bool (*enter)(ModelLayers *layers, size_t layer); /* false: they cannot be had */
    void (*leave)(ModelLayers *layers, size_t layer);
    /* While a layer is made or filled: room for so many numbers, zeros where it is filled; the n-th
     * call for a layer has the same every time. */
    double *(*take)(ModelLayers *layers, size_t layer, size_t count);
};

typedef struct {
    Layout layout;
    const Sublayer *sublayers;
    size_t sublayer_count;
    const size_t *layer_end; /* [depth]: layer l is sublayers layer_end[l-1] .. layer_end[l]-1 */
    size_t depth;
    ModelLayers *layers; /* NULL: all weights are there all the time */
} Model;

/* A pair: the original T, its attention-only counterpart T', and what both start from. */
typedef struct {
    Model original, converted;
    /* T' with each row's coefficients of Omega less the largest: what the row attends to has 0, the
     * rest is negative.  The same function, so that the reference evaluates `converted` alone;
     * without sublayers where T' has lost entries of Omega. */
    Model negative;
    /* The same numbers, each [n, d + hidden] row-major in its own model's layout; hidden columns
     * that only T' has start at zero. */
    const double *original_x, *converted_x;
    const double *bias_row_content; /* [d + hidden] of T', or NULL for zeros */
    LayerNorm final_norm;           /* what an unembedding reads the stream through, of both */
    const Columns *compared;        /* [depth], the columns compared after a layer */
    const Columns *cleared;         /* [depth], the columns that a layer clears (count 0: none) */
    /* T_infinity = T is a theorem for this pair (docs/mathematics.md, section 2), which every
     * evaluation then checks. */
    bool limit_is_original;
    double imitation_swing; /* of the sum of gated terms that imitates the activation (Terms) */
    struct Arena *memory;   /* owns every array */
    size_t bytes;           /* of memory */
} Pair;

/* A model, and what an evaluation of it starts from: x [n, d + hidden], bias_row_content [d +
 * hidden] or NULL for zeros, and the double that every arithmetic uses; a model without a bias row
 * ignores omega. */
typedef struct {
    const Model *model;
    const double *x, *bias_row_content;
    double omega;
} Start;

/* Of a pair's T'. */
Start pair_start(const Pair *pair, double omega);

/* The first sublayer of layer l, from 0; the last is before layer_end[l]. */
size_t model_first(const Model *model, size_t l);

/* Is the one behind sublayer s beside it? */
bool model_goes_on(const Model *model, size_t s);

/* Makes sure that the weights of layer l are there until it is left.  false: they cannot be had. */
bool model_enter(const Model *model, size_t l) __attribute__((warn_unused_result));
void model_leave(const Model *model, size_t l);

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

/* How many columns behind the content tell tokens from the bias row, so that biases can ride on
 * them: one a token, or the constant one; none in an original. */
size_t layout_token_columns(const Layout *layout);

/* The column of token i < layout_token_columns. */
size_t layout_token_column(const Layout *layout, size_t i);

/* Coefficient of Omega in the score of query row i toward key row j (0 without a bias
 * row's position block: original models have no position columns). */
int layout_position_score(const Layout *layout, const PositionScores *position, size_t i, size_t j);

/* The same with what is extra for head h. */
int score_position(const Layout *layout, const Score *score, size_t h, size_t i, size_t j);

/* coefficient[j] = that of each key j that row i sees, and KEY_HIDDEN of the others. */
#define KEY_HIDDEN INT_MIN
void score_positions(const Layout *layout, const Score *score, size_t h, size_t i,
                     int *coefficient);

/* Has each key a content score of its own?  Has every token the row's gate?  Neither: coefficients
 * of Omega alone decide. */
bool score_by_key(const Score *score);
bool score_by_gate(const Score *score);

bool columns_equal(Columns a, Columns b);

/* Entries of a query and of a key of one head: d_head, or the columns read. */
size_t score_query_width(const Score *score);

/* The two entries of pair p. */
typedef struct {
    size_t first, second;
} RotaryPair;

static inline RotaryPair rotary_pair(const Rotary *rotary, size_t p)
{
    return rotary->interleaved ? (RotaryPair){2 * p, 2 * p + 1}
                               : (RotaryPair){p, p + rotary->width / 2};
}

/* Do the heads share queries, but for mix, and keys?  Where a head's biases, and in a row of all
 * heads' keys its own, begin. */
bool score_is_mixed(const Score *score);
size_t score_own(const Score *score, size_t h);

/* The columns that queries are made of. */
Columns score_query_columns(const Score *score);

/* Is the first factor a row's sign?  Has head 0 a value that hangs on no content? */
bool value_is_sign(const Value *value);
bool value_has_bias(const Value *value);

/* Entries of x_j V_h before its second factor, if it has one: 1 of a unit, the columns written of a
 * matrix, d_head of two; 0 without content. */
size_t value_width(const Value *value);

/* Is a gated head's first value factor its gate? */
bool bundle_gate_is_value(const Bundle *bundle);

/* How many bundles, of `count` from the first on, have the same gates, which are their values, and
 * second factors, with scales that are not 1: as the heads of a GELU have.  1, where none has. */
size_t bundles_alike(const Bundle *bundles, size_t count);

/* Is bundle b one of two neighbours that write constants of sum 0 into a bias row that attends to
 * itself alone: the sign of one, and what the other has for it? */
bool bundle_is_taken_back(const Sublayer *sublayer, size_t b);

/* Does row i see row j? */
bool score_sees(const Layout *layout, const Score *score, size_t i, size_t j);

/* NULL when the model is well formed, else the reason it is not: columns out of range,
 * a score or value shape that does not fit its bundle, a direct operation beside heads, or
 * the bias row last under a causal mask (tokens could not see it). */
const char *model_fault(const Model *model);

#endif
