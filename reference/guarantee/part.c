/*
 * Which sublayers are known.
 */
#include "part.h"

#include <stdlib.h>

/* Are the keys that a row attends to, and how far the others are below, what a kind of heads has?
 * Only differences within a row matter. */
static bool positions_are(PositionScores p, int token_token, int token_bias)
{
    return p.token_token - p.token_self == token_token &&
           p.token_bias - p.token_self == token_bias && p.bias_token - p.bias_self == -2;
}

/* NULL, or why a bundle is no head that is known. */
static const char *strange(const Bundle *bundle, const Layout *layout)
{
    const Score *score = &bundle->score;
    PositionScores p = score->position;
    bool known = score->kind == SCORE_GATE       ? positions_are(p, -2, 0)
                 : score->kind == SCORE_BILINEAR ? positions_are(p, 0, -2)
                                                 : positions_are(p, -2, -2);
    bool causal = score->visible == VISIBLE_EARLIER && layout->bias_row == BIAS_ROW_FIRST;
    if (score->extra != NULL) {
        return "a pseudo-mask, or an entry of Omega that is lost, is outside of what is proven";
    }
    if (layout->bias_row == BIAS_ROW_MASKED || !(score->visible == VISIBLE_ALL || causal)) {
        return "a mask other than none and causal is outside of what is proven";
    }
    return known ? NULL : "these entries of Omega are outside of what is proven";
}

static PartKind kind_of(const Sublayer *sublayer)
{
    PartKind kind = PART_LINEAR;
    for (size_t b = 0; b < sublayer->bundle_count; b++) {
        ScoreKind own = sublayer->bundles[b].score.kind;
        kind = own == SCORE_BILINEAR ? PART_ATTENTION : own == SCORE_GATE ? PART_GATES : kind;
    }
    return sublayer->bundle_count == 0 ? PART_NORM : kind;
}

GuaranteeStatus part_make(Part *part, const char **reason, const Sublayer *sublayer,
                          const Layout *layout, const Matrix *rows, const GateBound *before)
{
    *part = (Part){.kind = kind_of(sublayer), .norm = norm_bound(&sublayer->norm, layout)};
    *reason = NULL;
    for (size_t b = 0; b < sublayer->bundle_count && *reason == NULL; b++) {
        *reason = strange(&sublayer->bundles[b], layout);
    }
    if (part->norm.there && part->norm.bank == BANKS) {
        *reason = "a norm over some of a bank's columns is outside of what is proven";
    }
    if (part->kind == PART_NORM && sublayer->direct.kind != DIRECT_NORM) {
        *reason = "an operation of the original is no part of a rewrite";
    }
    if (*reason != NULL) {
        return GUARANTEE_OUTSIDE;
    }
    switch (part->kind) {
    case PART_ATTENTION: return attention_make(&part->attention, reason, sublayer, layout, rows);
    case PART_GATES: return gates_make(&part->gates, reason, sublayer, layout, before);
    case PART_LINEAR: return linear_make(&part->linear, reason, sublayer, layout);
    default: return GUARANTEE_OK;
    }
}

void part_clear(Part *part)
{
    free(part->attention.head);
    *part = (Part){.kind = PART_NORM};
}
