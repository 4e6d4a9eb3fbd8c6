/*
 * A machine's streams behind every layer of a model.
 */
#ifndef HEADPROOF_TESTS_STREAMS_H
#define HEADPROOF_TESTS_STREAMS_H

#include "../kernels/kernel.h"

/* [depth, rows, ld], layer after layer; to be freed. */
typedef struct {
    double *data;
    size_t count, rows, ld;
} Streams;

Streams streams_of(Arithmetic arithmetic, const Start *start, KernelForm form, size_t threads);

/* Row r of the layout behind layer l, from 0. */
const double *streams_row(const Streams *streams, size_t l, size_t r);

/* Are they the same bits on some threads as on one, of that arithmetic and form? */
bool streams_share_bits(Arithmetic arithmetic, const Start *start, KernelForm form, size_t threads);

#endif
