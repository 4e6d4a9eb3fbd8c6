/*
 * The sizes of the streams of a table, and whether errors are shown relative to them.
 */
#ifndef HEADPROOF_HARNESS_TABLE_STREAM_SIZES_H
#define HEADPROOF_HARNESS_TABLE_STREAM_SIZES_H

#include "../../reference/reference.h"

#include <stdbool.h>

/* The smallest and the largest size met, as logarithms to the base of ten. */
typedef struct {
    double least, most;
} StreamSizes;

/* None met. */
StreamSizes stream_sizes_none(void);

/* Takes in the size that a row's error tells of, which is the error over what it is relatively;
 * both are logarithms.  What is zero, absent or not finite tells of none. */
void stream_sizes_add(StreamSizes *sizes, double log10_error, double log10_relative);

/* The same of numbers as a table has them. */
void stream_sizes_add_texts(StreamSizes *sizes, const char *error, const char *relative);

/* Takes in what others met. */
void stream_sizes_join(StreamSizes *sizes, StreamSizes other);

/* The norm in which a picture or a summary of the table shows most: NORM_MAX, or NORM_REL where
 * there are many layers and streams shrink or grow by more than 1000. */
Norm stream_sizes_norm(StreamSizes sizes, bool many_layers);

#endif
