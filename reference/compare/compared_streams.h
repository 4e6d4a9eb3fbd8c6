/*
 * The streams whose differences are the errors, with what they may be off by (private to
 * reference/).
 */
#ifndef HEADPROOF_REFERENCE_COMPARE_COMPARED_STREAMS_H
#define HEADPROOF_REFERENCE_COMPARE_COMPARED_STREAMS_H

#include "comparison.h"

#include "../trajectory/base.h"

/* A run after a layer, and the proof that says which of its entries are 0. */
typedef struct {
    const Pair *pair;
    const RefProof *proof;
    const RefRun *run;
    size_t layer;
    mpfr_srcptr error; /* of r(T') */
} Known;

/* A stream after a layer, where there is one, and what an entry of it may be off by, and all
 * compared entries together. */
typedef struct {
    bool there;
    Side side;
    mpfr_t error, root;
} Stream;

/* r(T), r(T_infinity), r(T'). */
typedef struct {
    Stream original, limit, converted;
    Stream e, both; /* errors of e, and of r(T_infinity) - r(T) */
} Streams;

/* Those that base and run have, of which `proven` holds. */
void streams_set(Streams *streams, const Comparison *comparison, const Known *known,
                 const RefBase *base, int proven);

/* How far a difference with this stream may be off by it. */
Off stream_off(const Stream *stream);

/* The radii of the rows of a side that are compared: of a base's, or a run's. */
void stream_radius(Stream *stream, const Comparison *comparison, const Known *known);

/* sum = what the difference of two streams may be off by. */
void stream_add_errors(Stream *sum, const Stream *a, const Stream *b);

#endif
