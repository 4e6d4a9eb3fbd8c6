/*
 * How a file lays a tensor out: transposed, with heads side by side, with queries, keys and values
 * in one (private to the reading of model files).
 *
 * A layout is a text with a word for each axis of the file's tensor.  A word lists what the axis
 * runs over, slowest first: the digit k is axis k of the model's own tensor, p the part,
 * u nothing: the axis has one entry; k is axis 0, of which the file has one entry for every few
 * in a row (PackedRange.shared) that are the same.
 *
 *   "0 1"    as the model has it               "1 0"    transposed
 *   "01 2"   [heads d_head, d], of [heads, d_head, d]
 *   "u 0 1"  [1, context, d], of [context, d]
 *   "k2 1"   [heads / shared d_head, d], of [heads, d, d_head]
 *   "1 p02"  [d, parts heads d_head], of as many tensors [heads, d, d_head] as there are parts
 */
#ifndef HEADPROOF_HARNESS_MODELS_PACKING_H
#define HEADPROOF_HARNESS_MODELS_PACKING_H

#include <stdbool.h>
#include <stddef.h>

/* Axes of the file's tensor. */
size_t packing_rank(const char *axes);

/* The first letter of the word for that axis, which is below the rank; a space or the end follows
 * the last. */
const char *packing_word(const char *axes, size_t axis);

/* Is it the model's own layout, but for axes that are merged?  Then nothing has to be moved. */
bool packing_is_plain(const char *axes);

enum { PARTS_MOST = 4, SHAPE_MOST = 3 };

/* What a file's tensor becomes: as many tensors of shape [rank] as there are parts. */
typedef struct {
    const char *axes;
    size_t parts, rank, shape[SHAPE_MOST];
    size_t shared;           /* entries of axis 0 that are one in the file, where `axes` has a k */
    double *out[PARTS_MOST]; /* [parts] */
} Packing;

/* out gets the file's values first, ..., first + count - 1, in its order, which are in `packed`
 * [count]; of entries that share one the first. */
void packing_unpack(const Packing *packing, const double *packed, size_t first, size_t count);

#endif
