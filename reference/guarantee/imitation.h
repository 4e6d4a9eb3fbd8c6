/*
 * An activation as heads imitate it, x F(x) with F(x) = sum of value sigma(gate x + shift), and
 * what bounds it over all x (private to reference/guarantee/; docs/proof.md, (G3)).
 */
#ifndef HEADPROOF_REFERENCE_GUARANTEE_IMITATION_H
#define HEADPROOF_REFERENCE_GUARANTEE_IMITATION_H

#include <stdbool.h>
#include <stddef.h>

/* gate > 0. */
typedef struct {
    double gate, shift, value;
} GateTerm;

enum { GATE_TERMS_MOST = 16 };

typedef struct {
    size_t count;
    GateTerm term[GATE_TERMS_MOST];
} Imitation;

/* At least sup |(x F(x))' - 1/2|; at most 1e-7 more.  INFINITY where that takes too long. */
double imitation_swing(const Imitation *imitation);

/* At least the sum of |value|, which is at least sup |F|; and the largest gate. */
double imitation_values(const Imitation *imitation);
double imitation_gate(const Imitation *imitation);

/* Are all terms the same? */
bool imitation_is(const Imitation *a, const Imitation *b);

/* Do the values sum to exactly 1? */
bool imitation_is_whole(const Imitation *imitation);

#endif
