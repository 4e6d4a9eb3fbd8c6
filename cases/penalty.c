/*
 * The coefficients of Omega as penalties: what a row attends to has coefficient 0, and what it is
 * to ignore a negative one (docs/mathematics.md, section 1).
 *
 * A softmax does not change when a number is subtracted from all scores of its row.  Here that is
 * Omega times the row's largest coefficient, which in every construction is that of its own key: a
 * row sees itself, no construction favours another key above that, and every mask allows it.
 */
#include "penalty.h"

#include "layout.h"

/* The coefficient that a pseudo-mask adds to a token's own key. */
enum { PSEUDO_OWN = 1 };

/* token_self and bias_self become 0. */
static PositionScores less_own(PositionScores position)
{
    return (PositionScores){.token_token = position.token_token - position.token_self,
                            .token_bias = position.token_bias - position.token_self,
                            .bias_token = position.bias_token - position.bias_self};
}

/* A pseudo-mask in this form: -1 on every key that it hides, in place of +1 on the others.  A token
 * has no entry toward the bias row, whose share goes to the position scores. */
static const signed char *hidden_keys(Stack *stack, const signed char *allowed)
{
    Layout layout = case_converted_layout(stack->spec);
    size_t rows = layout_rows(&layout), n = layout.n;
    if (stack->pseudo_negative == NULL) {
        signed char *hidden = arena_take(stack->arena, rows, rows);
        stack->failed = stack->failed || hidden == NULL;
        for (size_t e = 0; hidden != NULL && e < n * n; e++) {
            size_t i = layout_token_row(&layout, e / n), j = layout_token_row(&layout, e % n);
            hidden[i * rows + j] = (signed char)(allowed[i * rows + j] - PSEUDO_OWN);
        }
        stack->pseudo_negative = hidden;
    }
    return stack->pseudo_negative;
}

void penalty_make_negative(Stack *stack, Bundle *bundles, size_t count)
{
    for (size_t b = 0; b < count && !stack->failed; b++) {
        Score *score = &bundles[b].score;
        score->position = less_own(score->position);
        if (score->extra != NULL) {
            score->extra = hidden_keys(stack, score->extra);
            score->position.token_bias -= PSEUDO_OWN;
        }
    }
}
