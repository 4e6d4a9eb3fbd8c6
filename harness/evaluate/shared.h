/*
 * The part that points of one case share: the pair of models, the base trajectory and the
 * original's machine trajectories.
 */
#ifndef HEADPROOF_HARNESS_EVALUATE_SHARED_H
#define HEADPROOF_HARNESS_EVALUATE_SHARED_H

#include "../point/point.h"
#include "layers.h"

typedef struct Shared Shared;

struct Shared {
    Pair pair;
    Layers *layers;       /* of the pair, which come and go; NULL: all are there, or the family's */
    const Shared *family; /* of one of many inputs: what they share, of no base; else NULL */
    RefBase *base;        /* r(T), and of r(T_infinity) what limit says; NULL where no point asks */
    RefLimit limit;       /* what the base keeps of r(T_infinity) */
    double lost;          /* by r(T): ref_base_lost */
    RefBase **others;     /* [other_count] of bits that some points need instead */
    size_t other_count;
    RefWeights
        *weights; /* norms of its weights, and how products take them: own, or the family's */
    /* m(T) after every layer, [depth, n, content], or NULL where no point asks */
    double *original[ARITHMETIC_COUNT][KERNEL_COUNT];
};

/* For points[0 .. count - 1], which agree in spec and form; the base gets the bits that r(T) needs
 * for one of them.  tape_room: bytes that the record of r(T_infinity) may take, which differences
 * at many Omegas share; 0: there is no such record.  NULL, as of the next two: a layer cannot be
 * had. */
Shared *shared_make(const Point *const *points, size_t count, double tape_room)
    __attribute__((warn_unused_result));

/* A family, of members that differ from this one in given->x alone.  bytes: what the weights may
 * take besides the pair's own. */
Shared *shared_make_family(const Point *member, double bytes) __attribute__((warn_unused_result));

/* As shared_make for one of a family's members. */
Shared *shared_make_member(const Shared *family, const Point *point, double tape_room)
    __attribute__((warn_unused_result));

void shared_clear(Shared *shared);

/* What a base keeps of r(T_infinity) for a point: its streams, but not for a difference, unless the
 * approximation is judged. */
RefLimit point_limit(const Point *point);

/* tape_room for a group of so many points, where memory bytes may be used. */
double shared_tape_room(double memory, size_t points);

/* Bytes that it holds, as a double. */
double shared_bytes(const Shared *shared);

/* Bytes of one machine trajectory m(T): every layer's stream, as doubles. */
double shared_original_bytes(const Model *original);

/* m(T) in the point's arithmetic and form, [depth, n, content]; NULL where it was not made. */
const double *shared_original(const Shared *shared, const Point *point);

/* x = a model's streams in the point's arithmetic and form, of the tokens' rows so many columns:
 * [n, width] after the last layer, or of all [depth, n, width].  false: a layer cannot be had. */
bool machine_streams(double *x, const Start *start, const Point *point, size_t width, bool all)
    __attribute__((warn_unused_result));

/* A base: r(T) at so many bits, and of r(T_infinity) what limit says.  NULL: a layer cannot be
 * had. */
RefBase *shared_base(const Shared *shared, mpfr_prec_t bits, RefLimit limit)
    __attribute__((warn_unused_result));

/* The precision that a point begins with: that of the base, or as it says; for what is subtracted,
 * what r(T) loses and e^(-2 Omega) hides beside the digits. */
mpfr_prec_t shared_bits(const Shared *shared, const Point *point);

/* Of the bases that there are, the one of just so many bits, or else the first. */
const RefBase *shared_base_of(const Shared *shared, mpfr_prec_t bits);

#endif
