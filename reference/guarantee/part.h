/*
 * A sublayer of T' as numbers: norms of its weights, from above (private to reference/guarantee/;
 * docs/proof.md names them).
 *
 * Umbrella header: for part_attention.c, part_gates.c, part_readout.c and part_linear.c, a kind of
 * heads each, part_norm.c, the norm before them, and part_rows.c, what the very rows of X say of a
 * head that reads them.
 */
#ifndef HEADPROOF_REFERENCE_GUARANTEE_PART_H
#define HEADPROOF_REFERENCE_GUARANTEE_PART_H

#include "guarantee.h"
#include "matrix.h"

typedef enum { BANK_CONTENT, BANK_HIDDEN, BANKS } Bank;

static const Magnitude none = {0, 0}, quarter = {0.5, -1}, half = {0.5, 0}, one = {0.5, 1},
                       two = {0.5, 2};

/* Short names, for formulas. */
static inline Magnitude sum(Magnitude a, Magnitude b)
{
    return magnitude_sum(a, b);
}

static inline Magnitude product(Magnitude a, Magnitude b)
{
    return magnitude_product(a, b);
}

static inline Magnitude least(Magnitude a, Magnitude b)
{
    return magnitude_least(a, b);
}

static inline Magnitude number(double x)
{
    return magnitude_of(x, 0);
}

/* The norm that a sublayer reads a bank through, or that is a sublayer. */
typedef struct {
    bool there, bias_row; /* the bias row has it too */
    Bank bank;
    double d, eps;
    double spread;      /* |P x| of what T_infinity reads is at least this: (G25); 0: not known */
    Magnitude root_d;   /* sqrt(D): no normalised row is longer, before gamma and beta */
    Magnitude steepest; /* 1/sqrt(eps) */
    Magnitude gain;     /* max |gamma| */
    Magnitude beta;     /* |beta| */
} NormBound;

/* A head of attention.  Matrices that read tokens are folded with the norm that they read through,
 * and have its beta in their biases; those that read the bias row are folded where it is
 * normalised. */
typedef struct {
    Magnitude scores;            /* |W_Q W_K^T|, both read tokens; where turned, this and all that
                                    follows but within_bias_row are products of norms (G26) */
    Magnitude toward_bias_row;   /* the same where keys, */
    Magnitude of_bias_row;       /* queries, */
    Magnitude within_bias_row;   /* or both read the bias row */
    Magnitude query_bias;        /* |W_K b_Q| */
    Magnitude key_bias;          /* |W_Q b_K| */
    Magnitude biases;            /* |b_Q . b_K| */
    Magnitude query_bias_toward; /* the same, W_K of the bias row */
    Magnitude key_bias_of;       /* |W_Q b_K|, W_Q of the bias row */
    Magnitude negative;          /* max(0, -lambda_min) of the symmetric part of W_Q W_K^T */
    Magnitude both_biases;       /* |W_Q b_K + W_K b_Q| */
    double minus_biases;         /* -b_Q . b_K */
    double minus_own; /* minus a row's score with itself, of every row of X: (G21); INFINITY where
                         other rows are read */
    Magnitude values; /* |W_V W_O| */
    Magnitude values_bias_row; /* the same that reads the bias row */
    Magnitude value_bias;      /* |b_V W_O + b_O| */
    Magnitude own_values;      /* x W_V W_O and that, of every row of X: (G23); or INFINITY */
} HeadBound;

typedef struct {
    HeadBound *head;
    size_t heads;
    double scale_above, scale_below;
    bool turned;            /* by rotary positions */
    Magnitude turn_off;     /* max |c^2 + s^2 - 1| of their tables */
    Magnitude value_biases; /* |sum of b_V W_O, and b_O| */
    Magnitude stacked;      /* the norm of all W_V W_O, each over its own, on top of each other */
    Magnitude values_together; /* |sum of W_V W_O| that reads the bias row */
} AttentionBound;

/* Gated heads: of one fused network, or of an activation in place (then all norms are 1). */
typedef struct {
    bool in_place;
    Bank bank;                    /* in place; else content */
    Bank to;                      /* that they write */
    Magnitude w1, b1, w2, b2;     /* norms */
    Magnitude w1_bias_row;        /* |W1| that reads the bias row, */
    Magnitude column_bias_row;    /* the largest column of what gates read of it, */
    Magnitude product_bias_row;   /* and |W1 W2| */
    Magnitude through;            /* |W1 W2|/2, with the stream itself where it reads no norm */
    Magnitude b1_through;         /* |b1 W2|/2 */
    Magnitude swing, reach, gate; /* of the imitation (G3): sup |act' - 1/2|, the sum of |values|,
                                     which is at least sup |F|, the largest gate */
    /* Gates that are not their values (G28): |W_g| times what F may change by, and the values'
     * largest column and bias; or 0. */
    Magnitude gate_slope, value_column, value_entry;
} GateBound;

/* One output of a gated network (G29): norms of W_g q, c_g q, W_u q and c_u q, the largest q. */
typedef struct {
    Magnitude gate, gate_bias, up, up_bias, root;
} OutputBound;

/* A matrix and a bias: norms, |W| that reads the bias row, the largest column, the largest |c|. */
typedef struct {
    Magnitude w, c, bias_row, column, entry;
} FactorBound;

/* Heads that read products out, K pairs with tau and its multiples. */
typedef struct {
    size_t pairs;
    double tau;
    bool direct; /* queries are made of content, and there are no hidden columns */
    size_t outputs;
    FactorBound gate, up;
    Magnitude out, out_column, out_bias; /* |W_d|, its largest column, |c_d| */
    Magnitude reach;                     /* the sum of |values| of the imitation */
    OutputBound *each;                   /* [outputs], or NULL */
} ReadoutBound;

/* Pairs of heads that a product is read out by, at most. */
enum { PAIRS_MOST = 3 };

/* Self-attending heads: between banks a and b, at [a][b]. */
typedef struct {
    Magnitude kept[BANKS][BANKS];     /* what T_infinity does to a change of the stream */
    Magnitude read[BANKS][BANKS];     /* |V| of what tokens read */
    Magnitude bias_row[BANKS][BANKS]; /* |V| of what the bias row reads */
    Magnitude bias[BANKS];            /* |b| */
} LinearBound;

typedef enum { PART_ATTENTION, PART_GATES, PART_READOUT, PART_LINEAR, PART_NORM } PartKind;

/* The kind of part that a bundle's heads are, which their scores tell. */
PartKind part_of_heads(const Bundle *bundle);

typedef struct {
    PartKind kind;
    bool beside; /* it reads what the part before it reads */
    NormBound norm;
    AttentionBound attention;
    GateBound gates;
    ReadoutBound readout;
    LinearBound linear;
} Part;

/* The sublayer that a part is made of.  rows: all rows that it can read, where it is the first and
 * they are few; or NULL.  before: the gated heads before it, or NULL. */
typedef struct {
    const Sublayer *sublayer;
    const Layout *layout;
    const Matrix *rows;
    const GateBound *before;
    const Sublayer *previous; /* the sublayer before it, or NULL */
    double imitation_swing;   /* of the pair */
} PartOf;

/* false: the sublayer is outside of what is proven. */
bool part_make(Part *part, const PartOf *of) __attribute__((warn_unused_result));
void part_clear(Part *part);

/* 1/sqrt(eps), sqrt(D), the largest |gamma| and |beta|. */
NormBound norm_bound(const LayerNorm *norm, const Layout *layout);

/* The bank that columns are exactly, or BANKS. */
Bank bank_of(const Layout *layout, Columns columns);

/* At least how many times longer a change of at most `error` becomes: 1/sqrt(s), of any row on the
 * way. */
Magnitude norm_steepest(const NormBound *norm, Magnitude error);

/* As part_make does, each of its own kind. */
bool attention_make(AttentionBound *attention, const PartOf *of)
    __attribute__((warn_unused_result));
bool gates_make(GateBound *gates, const PartOf *of) __attribute__((warn_unused_result));
bool readout_make(ReadoutBound *readout, const PartOf *of) __attribute__((warn_unused_result));
bool linear_make(LinearBound *linear, const PartOf *of) __attribute__((warn_unused_result));

/* A matrix that reads the stream, as tokens and as the bias row read it, and tokens' bias (G2). */
typedef struct {
    Matrix token, bias_row, bias;
} Reader;

/* w, which is taken over, and bias [w's columns], or NULL, are those without the norm. */
void reader_make(Reader *reader, Matrix w, const double *bias, const LayerNorm *norm);
void reader_clear(Reader *reader);

/* W and its bias c as tokens read them through the norm. */
void fold_factor(Matrix *w, Matrix *c, const LayerNorm *norm);

/* What head h makes of rows: x V [rows, d], and the bias beside it [1, d]. */
void attention_values(Matrix *values, Matrix *bias, const Sublayer *attention, size_t h,
                      const Matrix *rows);

/* (G21): at least -q.k over all rows; INFINITY where that is not known. */
double rows_scores(const Reader *q, const Reader *k, const Matrix *rows);

/* (G23): at least |x V + c| over all rows. */
Magnitude rows_values(const Reader *v, const Matrix *rows);

#endif
