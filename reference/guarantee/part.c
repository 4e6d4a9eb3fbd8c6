/*
 * Which sublayers are known.
 */
#include "part.h"

#include <stdlib.h>

/* Heads by the kind of their scores: what they are, and how far below a token itself the other
 * tokens and the bias row are. */
typedef struct {
    PartKind part;
    int token_token, token_bias;
} HeadKind;

static const HeadKind *head_kind(const Bundle *bundle)
{
    static const HeadKind kinds[] = {[SCORE_NONE] = {PART_LINEAR, -2, -2},
                                     [SCORE_GATE] = {PART_GATES, -2, 0},
                                     [SCORE_BILINEAR] = {PART_ATTENTION, 0, -2}};
    static const HeadKind readout = {PART_READOUT, -2, 0};
    return score_is_mixed(&bundle->score) ? &readout : &kinds[bundle->score.kind];
}

PartKind part_of_heads(const Bundle *bundle)
{
    return head_kind(bundle)->part;
}

/* Only differences within a row matter; of the bias row tokens are 2 Omega below its own, or more,
 * with which it drinks no more than is proven. */
static bool positions_are(PositionScores p, const HeadKind *kind)
{
    return p.token_token - p.token_self == kind->token_token &&
           p.token_bias - p.token_self == kind->token_bias && p.bias_token - p.bias_self <= -2;
}

/* NULL, or why a bundle is no head that is known. */
static const char *strange(const Bundle *bundle, const Layout *layout, bool beside_readout)
{
    const Score *score = &bundle->score;
    const Value *value = &bundle->value;
    bool causal = score->visible == VISIBLE_EARLIER && layout->bias_row == BIAS_ROW_FIRST;
    if (score->extra != NULL) {
        return "a pseudo-mask, or an entry of Omega that is lost, is outside of what is proven";
    }
    if (value->bias_row != 0 && !beside_readout) {
        return "a value of the bias row is outside of what is proven";
    }
    if (layout->bias_row == BIAS_ROW_MASKED || !(score->visible == VISIBLE_ALL || causal)) {
        return "a mask other than none and causal is outside of what is proven";
    }
    return positions_are(score->position, head_kind(bundle))
               ? NULL
               : "these entries of Omega are outside of what is proven";
}

static PartKind kind_of(const Sublayer *sublayer)
{
    PartKind kind = PART_LINEAR;
    for (size_t b = 0; b < sublayer->bundle_count; b++) {
        PartKind own = part_of_heads(&sublayer->bundles[b]);
        kind = own != PART_LINEAR ? own : kind;
    }
    return sublayer->bundle_count == 0 ? PART_NORM : kind;
}

const char *part_make(Part *part, const PartOf *of)
{
    const Sublayer *sublayer = of->sublayer;
    const Layout *layout = of->layout;
    const char *reason = NULL;
    *part = (Part){.kind = kind_of(sublayer),
                   .beside = sublayer->beside,
                   .norm = norm_bound(&sublayer->norm, layout)};
    for (size_t b = 0; b < sublayer->bundle_count && reason == NULL; b++) {
        reason = strange(&sublayer->bundles[b], layout, part->kind == PART_READOUT);
    }
    if (part->norm.there && part->norm.bank == BANKS) {
        reason = "a norm over some of a bank's columns is outside of what is proven";
    }
    if (part->kind == PART_NORM && sublayer->direct.kind != DIRECT_NORM) {
        reason = "an operation of the original is no part of a rewrite";
    }
    if (reason != NULL) {
        return reason;
    }
    switch (part->kind) {
    case PART_ATTENTION: return attention_make(&part->attention, of);
    case PART_GATES: return gates_make(&part->gates, of);
    case PART_READOUT: return readout_make(&part->readout, of);
    case PART_LINEAR: return linear_make(&part->linear, of);
    default: return NULL;
    }
}

void part_clear(Part *part)
{
    free(part->attention.head);
    free(part->readout.each);
    *part = (Part){.kind = PART_NORM};
}
