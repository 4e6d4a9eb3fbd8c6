/*
 * Zeros by proof: what a pair's data say of its streams, layer by layer, for both models.
 */
#include "proof.h"

#include "../../memory/need.h"
#include "trace.h"

#include <stdint.h>
#include <stdlib.h>

/* [depth, n] flags of a token in the columns compared, of T' and of T; [depth] of the others, all
 * in one allocation. */
struct RefProof {
    size_t n;
    unsigned char *converted, *original, *cleared, *bias_row;
};

/* Flags of the layer that both traces have just done. */
static void note_layer(RefProof *proof, const Pair *pair, size_t l, const Trace *converted,
                       const Trace *original)
{
    const Layout *layout = &pair->converted.layout;
    size_t bias = layout_bias_row(layout), token = layout_token_row(layout, 0);
    Columns compared = pair->compared[l], content = {0, layout_content(layout)};
    for (size_t i = 0; i < proof->n; i++) {
        size_t at = l * proof->n + i;
        proof->converted[at] = (unsigned char)trace_block(converted, token + i, 1, compared);
        proof->original[at] = (unsigned char)trace_block(original, i, 1, compared);
    }
    proof->cleared[l] = (unsigned char)trace_block(converted, token, proof->n, pair->cleared[l]);
    if (bias != SIZE_MAX) {
        proof->bias_row[l] = (unsigned char)trace_block(converted, bias, 1, content);
    }
}

RefProof *proof_make(const Pair *pair)
{
    RefProof *proof = need_zeros(1, sizeof *proof);
    Trace converted, original;
    size_t depth = pair->converted.depth;
    bool ok = true;
    proof->n = pair->converted.layout.n;
    proof->converted = need_zeros(depth, 2 * proof->n + 2);
    proof->original = proof->converted + depth * proof->n;
    proof->cleared = proof->original + depth * proof->n;
    proof->bias_row = proof->cleared + depth;
    trace_open(&converted, &pair->converted, pair->converted_x, pair->bias_row_content);
    trace_open(&original, &pair->original, pair->original_x, NULL);
    for (size_t l = 0; ok && l < depth; l++) {
        ok = trace_layer(&converted, l + 1) && trace_layer(&original, l + 1);
        note_layer(proof, pair, l, &converted, &original);
    }
    trace_clear(&converted);
    trace_clear(&original);
    if (!ok) {
        proof_clear(proof);
        return NULL;
    }
    return proof;
}

void proof_clear(RefProof *proof)
{
    if (proof != NULL) {
        free(proof->converted);
        free(proof);
    }
}

static int rows_flags(const unsigned char *flags, RefRows rows)
{
    int all = PROVEN_ALL;
    for (size_t i = rows.first; i < rows.first + rows.count; i++) {
        all &= flags[i];
    }
    return all;
}

int proof_compared(const RefProof *proof, size_t layer, RefRows rows)
{
    return rows_flags(proof->converted + (layer - 1) * proof->n, rows);
}

bool proof_original_given(const RefProof *proof, size_t layer, RefRows rows)
{
    return (rows_flags(proof->original + (layer - 1) * proof->n, rows) & PROVEN_GIVEN) != 0;
}

int proof_cleared(const RefProof *proof, size_t layer)
{
    return proof->cleared[layer - 1];
}

int proof_bias_row(const RefProof *proof, size_t layer)
{
    return proof->bias_row[layer - 1];
}
