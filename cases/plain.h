/*
 * The attention-only model as plain matrices, for any program that runs attention-only models.
 *
 * With Omega a number, a converted model becomes heads given by four factors and nothing else: no
 * Omega, no position scores, no row that is special.  With X the stream [rows, width], a sublayer
 * adds to it, summed over its heads,
 *     softmax_rows((Y W_Q) (Y W_K)^T) Y W_V W_O,       rows i seeing keys 0, ..., i when causal,
 * Y being X, or norm(X) where the sublayer reads through a norm; or X becomes norm(X) behind the
 * heads.  A norm stays what it is, its numbers as given: it is the model's, and no head is one.
 * Nor are rotary positions: they turn the first columns of a turned sublayer's Y W_Q and Y W_K.
 * The factors are exact: as real matrices W_Q W_K^T and W_V W_O are the converted model's Q and V
 * with that Omega, a product that is not a double being kept as two (factors.h).  Where that is
 * not possible `inexact` says why.
 */
#ifndef HEADPROOF_CASES_PLAIN_H
#define HEADPROOF_CASES_PLAIN_H

#include "case.h"

/* Which numbers are made, for one sublayer at a time, that of plain_show.  PLAIN_ROLLING: the
 * matrices; every sublayer has the heads and the rank of the largest, as loaders of transformers
 * expect, and heads of zeros add nothing.  PLAIN_FRAME: everything but the matrices, for a
 * writer that reads the bundles that they are made from. */
typedef enum { PLAIN_ROLLING, PLAIN_FRAME } PlainHeads;

/* A sublayer's heads.
 * norm: of its columns, on rows norm_first, ..., norm_end - 1.  Its beta is [rows, columns.count]:
 * row i is added to row i, zeros to the bias row.  Of a frame beta is [columns.count], and stays
 * when the sublayer is no longer shown, as gamma does. */
typedef struct {
    size_t heads;
    size_t rank; /* the largest that a score or a value needs, at least 1; the rest is zero.  Of a
                    frame 0: its matrices are NULL */
    const Bundle *bundles; /* [bundle_count] of the converted model, which keeps them */
    size_t bundle_count;
    bool causal;
    double *w_q, *w_k, *w_v; /* [heads, width, rank], row-major */
    double *w_o;             /* [heads, rank, width] */
    LayerNorm norm;
    double *gamma, *beta; /* its numbers, */
    const LayerNorm *of;  /* which are this one's */
    bool norm_behind;     /* the stream becomes norm(X) behind the heads; else they read it */
    bool beside;          /* X is that which the sublayer before it reads */
    bool turned;          /* by the model's rotary */
    size_t norm_first, norm_end;
} PlainSublayer;

typedef struct {
    Layout layout; /* of the converted model */
    double omega;
    size_t rows;  /* tokens and bias row: N + 1 */
    size_t width; /* content, hidden and one-hot columns */
    const PlainSublayer *sublayers;
    size_t sublayer_count;
    const size_t *layer_end; /* [depth], as in Model */
    size_t depth;
    const char *inexact;  /* NULL, or which entries had to be rounded (a static string) */
    const double *x;      /* [rows, width], the augmented stream */
    Rotary rotary;        /* of a row each, the bias row's as it is; width 0: none */
    const Model *from;    /* the converted model */
    size_t layer;         /* of it, which is entered; depth: none */
    struct Arena *memory; /* owns every array */
    size_t bytes;         /* of memory */
} PlainModel;

typedef enum { PLAIN_OK, PLAIN_REJECTED, PLAIN_NO_LAYER } PlainStatus;

/* Makes *plain from a converted model and what it starts from, omega finite and above 0.  On
 * failure *plain is empty and *reason says why (a static string): PLAIN_REJECTED for a model that
 * is none of these, for heads under masks that are neither the causal one nor alike within a
 * sublayer, for rotary positions of two kinds, for a norm behind no heads or behind heads that read
 * through another, and for products beyond the doubles; PLAIN_NO_LAYER where a layer cannot be
 * entered.  Free with plain_clear; the model is referred to, and nothing of x is kept. */
PlainStatus plain_build(PlainModel *plain, const char **reason, const Start *start,
                        PlainHeads heads) __attribute__((warn_unused_result));

/* Bytes that plain_build would take, as a double; but for a frame the model's weights are read,
 * since a product that is not a double costs rank.  NaN: a layer of it cannot be entered. */
double plain_bytes(const Model *model, double omega, PlainHeads heads);

/* Makes sure that sublayer s's numbers are there, and of a model whose layers come and go those of
 * no other layer, nor, at s = sublayer_count, of any.  false: they cannot be had. */
bool plain_show(PlainModel *plain, size_t s) __attribute__((warn_unused_result));

void plain_clear(PlainModel *plain);

/* stream [layout_rows, layout_width] = the augmented stream: x [n, content] on the token rows,
 * bias_row_content [content] (NULL: zeros) on the bias row, row i's one in position column i. */
void plain_augment(double *stream, const Layout *layout, const double *x,
                   const double *bias_row_content);

#endif
