/*
 * Cases: the constructions, and the weights they are tried on.
 *
 * A CaseSpec names a point of a sweep (all axes but Omega and the arithmetic's); case_build
 * makes the pair of models from it.  The constructions live in this directory and nowhere
 * else; the formulas are in docs/mathematics.md, section 1.
 */
#ifndef HEADPROOF_CASES_CASE_H
#define HEADPROOF_CASES_CASE_H

#include "construction.h"
#include "model.h"

#include <stdint.h>

typedef enum { WEIGHTS_STABLE, WEIGHTS_NORMAL, WEIGHTS_COUNT } Weights;
typedef enum { BIAS_NONE, BIAS_RANDOM, BIAS_COUNT } Bias;

/* T's mask.  The causal one is T''s too, as a mask; pseudo-masks are in the weights of T' instead:
 * +Omega on the keys that a token may see.  BAND: the last keys, itself among them; RANDOM: itself
 * and every other key with probability 1/2. */
typedef enum {
    MASK_NONE,
    MASK_CAUSAL,
    MASK_PSEUDO_CAUSAL,
    MASK_PSEUDO_BAND,
    MASK_PSEUDO_RANDOM,
    MASK_COUNT
} Mask;
typedef enum { LINEAR_IN_PLACE, LINEAR_BLOCK, LINEAR_CLEAR, LINEAR_COUNT } Linear;
typedef enum { POSITION_AUTO, POSITION_FIRST, POSITION_LAST, POSITION_COUNT } BiasRowPosition;
typedef enum { CONTENT_NONE, CONTENT_RANDOM, CONTENT_COUNT } BiasRowContent;

/* Which entries of a query and a key rotary positions turn together (Rotary), and whose tables: of
 * the exact angles, each rounded once, or as frameworks compute them. */
typedef enum { ROTARY_NONE, ROTARY_HALF, ROTARY_INTERLEAVED, ROTARY_COUNT } RotaryPairs;
typedef enum { TABLES_EXACT, TABLES_FLOAT32, TABLES_COUNT } RotaryTables;

/* Writes cos and sin, each [positions, width / 2]: cases/ has no such functions of its own. */
typedef void CaseTables(double *cos, double *sin, const RotaryAngles *angles);

/* Where T has its norms: a sublayer reads norm(x) and adds to x; or x = norm(x) behind a
 * sublayer. */
typedef enum { NORM_PRE, NORM_POST, NORM_PLACE_COUNT } NormPlace;

/* How T' keeps a row from the keys that it is to ignore: by coefficients of Omega that are positive
 * on the others, as docs/mathematics.md has them, or negative on those. */
typedef enum { PENALTY_POSITIVE, PENALTY_NEGATIVE, PENALTY_COUNT } Penalty;

/* Omegas in the bias row's score toward itself: 2, or 4, with which it drinks the square. */
typedef enum { BIAS_SELF_TWICE, BIAS_SELF_FOURFOLD, BIAS_SELF_COUNT } BiasSelf;

/* How heads imitate x Phi(x), or its form with tanh: by x sigma(1.702 x), by one term of the slope
 * that minimises the largest error, by two terms without shifts, or by K = 2, ..., 8 terms with
 * shifts, of which GELU_MINIMAX is K = 1 (docs/mathematics.md, section 1). */
typedef enum { GELU_SIGMOID, GELU_MINIMAX, GELU_TWO, GELU_SHIFTED_2, GELU_SHIFTED_8 = 9 } GeluForm;

enum { GELU_COUNT = GELU_SHIFTED_8 + 1, GELU_TERMS_MOST = 8 };

/* A network act(x W1 + b1) W2 + b2, or (act(x W_gate + b_gate) * (x W1 + b1)) W2 + b2. */
typedef enum { FFN_PLAIN, FFN_GATED, FFN_COUNT } Ffn;

/* Pairs that read a product out, at most, and tau where nothing is said of it. */
enum { READOUT_MOST = 3 };
#define TAU_STANDARD 0x1p-17

/* So that its inverse and READOUT_MOST doublings are scales. */
#define TAU_LEAST 0x1p-60
#define TAU_MOST 0x1p60

/* The tensors of one layer as a file gives them, row-major; NULL where it has none. */
typedef struct {
    const double *w_q, *w_k, *w_v;     /* [heads, d, d_head] */
    const double *w_o;                 /* [heads, d_head, d] */
    const double *b_q, *b_k, *b_v;     /* [heads, d_head] */
    const double *b_o;                 /* [d] */
    const double *qk, *ov;             /* [heads, d, d], in place of all these */
    const double *w_gate, *b_gate;     /* [d, d_ff], [d_ff], of a gated network */
    const double *w_in, *b_in;         /* [d, d_ff], [d_ff] */
    const double *w_out, *b_out;       /* [d_ff, d], [d] */
    const double *linear_w, *linear_b; /* [d, d], [d] */
    const double *ln1_w, *ln1_b;       /* [d], of attention's norm, or a linear map's */
    const double *ln2_w, *ln2_b;       /* [d], of the feed-forward network's */
} GivenLayer;

/* Weights that are given and not drawn.  The caller keeps them as long as the pair
 * lives. */
typedef struct {
    const GivenLayer *layers;              /* [depth] */
    Scale scale;                           /* the factor on x Q x^T, unless CaseSpec.scaled */
    bool scale_by_layer;                   /* that of layer l is divided by l + 1 besides */
    RotaryScaling rotary_scaling;          /* of rotary positions' frequencies */
    const double *x;                       /* the stream [n, d]; NULL: drawn */
    const double *x_hidden;                /* [n, d_ff], the columns behind x; NULL: zeros */
    const double *ln_final_w, *ln_final_b; /* [d]; NULL: no final norm */
} GivenWeights;

/* Calls work for each i < count, in any order, maybe at once: cases/ has no threads of its own. */
typedef void CaseWork(const void *context, size_t i);
typedef void CaseEach(size_t count, CaseWork *work, const void *context);

/* d_head == 0: dense Q and V.  d_ff is the FFN's hidden width, and the other bank's width
 * of `linear` block and clear. */
typedef struct {
    Construction construction;
    size_t n, d, d_ff, heads, d_head, depth;
    uint64_t seed;
    Weights weights;
    Bias bias;
    Mask mask;
    Linear linear;
    BiasRowPosition bias_row;
    BiasRowContent bias_row_content;
    BiasSelf bias_self;
    Activation activation;
    GeluForm gelu;
    double slope; /* of ReLU's imitation SiLU(slope x)/slope */
    Ffn ffn;
    size_t readout;     /* of a gated network: pairs of heads that read a product out; 0: 1 */
    double tau;         /* the least factor on what they read, a power of two; 0: TAU_STANDARD */
    size_t band;        /* keys that MASK_PSEUDO_BAND lets a token see */
    size_t head_rank;   /* the largest rank of a linear head's V; 0: any */
    double score_scale; /* on what content scores are made of, in T and T': Q, W1 and b1, silu's
                            X; the doubles that come out are the weights.  0: 1 */
    Normalization norm;
    NormPlace norm_place;
    double norm_eps;
    bool norm_tokens_only; /* norms of T' leave the bias row as it is */
    bool scaled;           /* attention's content scores are divided by sqrt(d_head), exactly */
    RotaryPairs rotary;    /* d_head > 0 */
    size_t rotary_dim;     /* entries that they turn, the first of a head; 0: d_head */
    double rope_theta;
    RotaryTables rotary_tables;
    bool parallel;       /* a layer's network reads what its attention reads, beside it */
    CaseTables *tables;  /* makes them */
    double dropout;      /* probability with which T' has lost an entry of Omega */
    size_t drop_entry;   /* the entry of 2 Omega that T' has lost, from 1: counted by sublayer,
                            bundle, head, row and key; 0: none */
    double weight_noise; /* T' has fl(w (1 + this times a normal draw)) for every weight w */
    /* Weights, biases and X are rounded once to numbers of so many significand bits, of which the
     * smallest normal one is 2^(stored_least_exponent - 1) (0: they stay), and are the model. */
    int stored_digits, stored_least_exponent;
    const GivenWeights *given; /* NULL: drawn as weights says */
    CaseEach *each;      /* how the rows of large tensors are drawn; NULL: one after the other */
    double held;         /* bytes of layers' weights that may stay in memory; 0: all of them */
    ModelLayers *layers; /* where layers are otherwise, for case_build; NULL: all are made */
} CaseSpec;

/* True for the masks that are in the weights of T'. */
static inline bool mask_is_pseudo(Mask mask)
{
    return mask != MASK_NONE && mask != MASK_CAUSAL;
}

/* Entries of a head that rotary positions turn; 0: none. */
static inline size_t case_rotary_width(const CaseSpec *spec)
{
    size_t width = spec->rotary_dim > 0 ? spec->rotary_dim : spec->d_head;
    return spec->rotary != ROTARY_NONE && construction_info(spec->construction)->heads ? width : 0;
}

/* Has it a gated network, and one whose product is read out: any but act = sigma? */
static inline bool case_is_gated(const CaseSpec *spec)
{
    return spec->ffn == FFN_GATED && construction_info(spec->construction)->gated;
}

static inline bool case_reads_out(const CaseSpec *spec)
{
    return case_is_gated(spec) && spec->activation != ACTIVATION_SIGMOID;
}

/* True when axis d_ff matters to this case (`linear` has one only off the diagonal). */
bool case_uses_d_ff(const CaseSpec *spec);

/* Bytes that case_build would take, as a double (no overflow at absurd sizes): with one layer at a
 * time besides spec->held, where that is said; and those of one layer's weights. */
double case_bytes(const CaseSpec *spec);
double case_layer_bytes(const CaseSpec *spec);

typedef enum { CASE_OK, CASE_REJECTED } CaseStatus;

/* Makes *pair; on failure *pair is empty and *reason says why (a static string).
 * Free with case_clear. */
CaseStatus case_build(Pair *pair, const char **reason, const CaseSpec *spec)
    __attribute__((warn_unused_result));

/* The numbers of one layer, of a pair that was built with asked->layers: writes them where they
 * are taken from those.  The given layer can be read. */
void case_fill(const Pair *pair, const CaseSpec *asked, size_t layer);

/* case_build without the numbers: layouts, sublayers and shapes, for predicting memory and for
 * rejecting a case before any work.  Its weights must not be read. */
CaseStatus case_outline(Pair *pair, const char **reason, const CaseSpec *spec)
    __attribute__((warn_unused_result));

/* T' with these coefficients; of a case that loses entries of Omega there are positive ones
 * alone. */
const Model *case_converted(const Pair *pair, Penalty penalty);
Start case_start(const Pair *pair, Penalty penalty, double omega);

/* The models of *from, which has to live longer, at another input: spec is that of *from but for
 * given->x and given->x_hidden.  Free with case_clear. */
void case_at_input(Pair *pair, const Pair *from, const CaseSpec *spec);

void case_clear(Pair *pair);

#endif
