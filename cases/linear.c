#include "construct.h"
#include "fault.h"

#include <math.h>

/* Linear head: 2 Omega from every row to itself, so that V alone acts.  V carries W as a block
 * from the columns read to the columns written, plus diagonal times the identity on the columns
 * read (-1: W - I in place, or clear); b rides on the token position rows. */
Bundle linear_head(Columns read, Columns write, const double *w, const double *b, int diagonal,
                   bool causal)
{
    return (Bundle){
        .heads = 1,
        .score = {.kind = SCORE_NONE,
                  .position = {.token_self = 2, .bias_self = 2},
                  .causal = causal},
        .value = {.kind = w != NULL ? VALUE_DENSE : VALUE_NONE,
                  .read = read,
                  .write = write,
                  .v = {.data = w, .ld = write.count},
                  .bias = b,
                  .diagonal = diagonal},
    };
}

/* Drawn: W ~ N(0, 1/rows), or for `block`, which adds without end, that over 2L. */
static void draw(Stack *stack, size_t layer, size_t rows, size_t columns, const double **w,
                 const double **b)
{
    const CaseSpec *spec = stack->spec;
    bool normal = spec->weights == WEIGHTS_NORMAL, block = spec->linear == LINEAR_BLOCK;
    double fan_in = (double)rows;
    double variance = block ? 1 / (2 * fan_in * (double)spec->depth) : 1 / fan_in;
    *w = stack_draw(stack, layer, "linear.W", 1, rows, columns, normal ? 1 : sqrt(variance));
    if (spec->bias == BIAS_RANDOM) {
        *b = stack_draw(stack, layer, "linear.b", 1, 1, columns, normal ? 1 : 0.25);
    }
}

/* In place x <- x W + b; off the diagonal the two banks take turns: `block` adds
 * content W + b to hidden, then hidden W + b to content, ...; `clear` moves hidden to content
 * and clears hidden, then back, ... */
void linear_layer(Stack *stack, size_t layer)
{
    const CaseSpec *spec = stack->spec;
    Columns read = stack_content(stack), write = read;
    bool in_place = spec->linear == LINEAR_IN_PLACE, clear = spec->linear == LINEAR_CLEAR;
    if (!in_place) {
        bool from_hidden = (layer % 2 == 0) == clear;
        read = from_hidden ? stack_hidden(stack) : stack_content(stack);
        write = from_hidden ? stack_content(stack) : stack_hidden(stack);
    }
    const double *w = NULL, *b = NULL;
    if (spec->given != NULL) {
        w = spec->given->layers[layer].linear_w;
        b = spec->given->layers[layer].linear_b;
    } else {
        draw(stack, layer, read.count, write.count, &w, &b);
    }
    stack_original_direct(stack, (Direct){.kind = DIRECT_LINEAR,
                                          .read = read,
                                          .write = write,
                                          .w1 = w,
                                          .b1 = b,
                                          .replace = in_place,
                                          .clear = clear});
    int diagonal = in_place ? FAULT("w-for-w-minus-i", 0, -1) : clear ? -1 : 0;
    Bundle head = linear_head(read, write, w, b, diagonal, spec->mask == MASK_CAUSAL);
    stack_converted(stack, &head, 1);
    stack->compared = FAULT("wrong-columns-compared", read, write);
    if (clear) {
        stack->cleared = read;
    }
}
