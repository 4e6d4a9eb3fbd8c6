/*
 * The base trajectory's insides (private to reference/).
 */
#ifndef HEADPROOF_REFERENCE_TRAJECTORY_BASE_H
#define HEADPROOF_REFERENCE_TRAJECTORY_BASE_H

#include "../numbers/ap.h"
#include "../reference.h"
#include "../run/tape.h"
#include "../zeros/proof.h"

/* original[l], limit[l]: r(T) and r(T_infinity) over the token rows and the compared columns
 * after layer l + 1, [n, compared[l].count]; limit may be NULL, and tape. */
struct RefBase {
    size_t depth;
    mpfr_prec_t bits;
    ApMat *original, *limit;
    Tape *tape;
    RefWeights *weights; /* those of its runs and of differences from it, or NULL */
    RefProof *proof;
    /* [n, 1], what each row of r(T) and r(T_infinity) is within after layer l + 1; score_off [1,
     * depth]: what the largest scores are within. */
    ApMat *radius, *limit_radius;
    ApMat score_off;
    ApMat score_max; /* [1, depth]: largest |content score| of r(T) in that layer */
    bool has_scores;
    bool coarse; /* see Evaluator; so are differences from it */
};

#endif
