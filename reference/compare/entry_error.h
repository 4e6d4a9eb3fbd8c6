/*
 * What entries of a stream may be off by: as a plan has it, or radii (private to reference/).
 */
#ifndef HEADPROOF_REFERENCE_COMPARE_ENTRY_ERROR_H
#define HEADPROOF_REFERENCE_COMPARE_ENTRY_ERROR_H

#include "../run/run.h"
#include "../zeros/proof.h"

/* A run after a layer, with the plan and the proof that say how far its entries may be off. */
typedef struct {
    const Pair *pair;
    const RefPlan *plan;
    const RefProof *proof;
    const RefRun *run;
    size_t layer;
    mpfr_srcptr error; /* of r(T') */
    bool certified;    /* base and run have radii */
} Known;

/* error = what the plan has for entries after the layer at bits. */
void entry_error_planned(mpfr_ptr error, const Known *known, mpfr_prec_t bits);

/* error = what r(T')'s entries in a block may be off by: x's own, and with fewer bits e's. */
void entry_error_converted(mpfr_ptr error, const Known *known, RefBlock block);

/* error = what e's entries in a block may be off by: relative to the largest of them; where that is
 * not known what x may be, which e is not more, with e's bits where e is not 0. */
void entry_error_difference(mpfr_ptr error, const Known *known, RefBlock block);

/* An infinite radius, as what no plan follows: an exponent beyond any that a stream can have. */
void entry_error_limit(mpfr_ptr error);

#endif
