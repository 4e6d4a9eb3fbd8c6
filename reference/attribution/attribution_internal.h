/*
 * The parts of an attribution (private to reference/).
 */
#ifndef HEADPROOF_REFERENCE_ATTRIBUTION_ATTRIBUTION_INTERNAL_H
#define HEADPROOF_REFERENCE_ATTRIBUTION_ATTRIBUTION_INTERNAL_H

#include "attribution.h"

#include "../numbers/ap.h"

/* Bits that patterns, values and readings have beyond the streams'. */
enum { ATTRIBUTION_BITS = 64 };

/* Of a gated network GATE is a unit's share of what its read-out heads' scores hold, and READOUT
 * what those of a column write less all units'. */
typedef enum {
    PART_STREAM,
    PART_VALUE,
    PART_DIAGONAL,
    PART_BIAS,
    PART_GATE,
    PART_READOUT,
    PART_UNEMBEDDING
} Part;

/* A path: its write before its second factor has count entries: of the embedding; of x_j V_1 of
 * head h of the bundle; of diagonal x_j; 1 for a bias.  The second factor [count, write.count],
 * ld apart, or NULL: the columns written themselves.  offset: of its entries among all paths'. */
typedef struct {
    RefPath path;
    Part part;
    const Bundle *bundle;
    size_t head, count;
    const double *factor;
    size_t ld;
    Columns write;
    size_t offset;
} PathPlace;

/* steps: the model, each sublayer a layer, or those that are beside each other.  Sublayer s has
 * paths sublayer_first[s], ..., sublayer_first[s + 1] - 1.  width: of all paths together. */
struct RefPaths {
    const Model *model;
    Model steps;
    size_t *sublayer_end, *sublayer_first;
    RefUnembedding unembedding;
    PathPlace *items;
    size_t count, width;
};

/* value [rows, width]: row j's share of every path's write, pattern and scale in it, and the final
 * norm's 1 / sqrt(s). last [1, d]: what the unembedding reads at the end.  bits: the streams'. */
struct RefWrites {
    const RefPaths *paths;
    mpfr_prec_t bits;
    ApMat value, last;
    ApMat square; /* [1, 1] with a final norm, s of the last token */
    mpfr_t off; /* what that token's row is off by at the end, and all that is rounded on the way */
};

/* reading [count + 1, width], norm [1, count + 1], |u|_1: the logits', and last the mean's. */
struct RefReadout {
    ApMat reading, norm;
};

#endif
