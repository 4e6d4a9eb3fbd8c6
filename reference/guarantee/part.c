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

/* Are a bundle's heads of a form that is known? */
static bool are_known(const Bundle *bundle, const Layout *layout, bool beside_readout)
{
    const Score *score = &bundle->score;
    bool causal = score->visible == VISIBLE_EARLIER && layout->bias_row == BIAS_ROW_FIRST;
    return score->extra == NULL && (bundle->value.bias_row == 0 || beside_readout) &&
           layout->bias_row != BIAS_ROW_MASKED && (score->visible == VISIBLE_ALL || causal) &&
           positions_are(score->position, head_kind(bundle));
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

bool part_make(Part *part, const PartOf *of)
{
    const Sublayer *sublayer = of->sublayer;
    *part = (Part){.kind = kind_of(sublayer),
                   .beside = sublayer->beside,
                   .norm = norm_bound(&sublayer->norm, of->layout)};
    bool known = (!part->norm.there || part->norm.bank != BANKS) &&
                 (part->kind != PART_NORM || sublayer->direct.kind == DIRECT_NORM);
    for (size_t b = 0; b < sublayer->bundle_count; b++) {
        known = known && are_known(&sublayer->bundles[b], of->layout, part->kind == PART_READOUT);
    }
    switch (part->kind) {
    case PART_ATTENTION: return known && attention_make(&part->attention, of);
    case PART_GATES: return known && gates_make(&part->gates, of);
    case PART_READOUT: return known && readout_make(&part->readout, of);
    case PART_LINEAR: return known && linear_make(&part->linear, of);
    default: return known;
    }
}

void part_clear(Part *part)
{
    free(part->attention.head);
    free(part->readout.each);
    *part = (Part){.kind = PART_NORM};
}
