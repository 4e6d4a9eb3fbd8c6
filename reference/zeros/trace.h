/*
 * Proven facts about every entry of one model's stream, sublayer by sublayer, from its data alone
 * (private to reference/; docs/mathematics.md, section 4, "Proven zeros").
 *
 * Umbrella header: for trace_direct.c, too, the direct operations.
 */
#ifndef HEADPROOF_REFERENCE_ZEROS_TRACE_H
#define HEADPROOF_REFERENCE_ZEROS_TRACE_H

#include "proof.h"

/* known, next: [rows, columns] PROVEN_ flags of every entry of the content, before a sublayer and
 * what will be left after it. */
typedef struct {
    const Model *model;
    size_t rows, columns, sublayer;
    bool beside; /* the sublayer reads what the one before did: rows lost since are in known */
    unsigned char *known, *next;
    unsigned char *normed;     /* the same of a norm of the stream */
    const unsigned char *read; /* of what the sublayer reads: known or normed */
    unsigned char *row;        /* [rows] flags that all of a row has in read */
    unsigned char *lost;       /* [rows] nothing is known of the row any more in next */
    unsigned char *live;       /* [widest] coordinates of a value that a head passes on */
    unsigned char *zero;       /* [rows] keys whose value is 0 */
} Trace;

/* At the model's inputs: x [n, content], bias_row_content [content] or NULL for zeros. */
void trace_open(Trace *trace, const Model *model, const double *x, const double *bias_row_content);
void trace_clear(Trace *trace);

/* The next layer.  false: its weights cannot be had. */
bool trace_layer(Trace *trace, size_t layer) __attribute__((warn_unused_result));

/* Flags that rows first, ..., first + count - 1 share in some columns; 0 of no columns. */
int trace_block(const Trace *trace, size_t first, size_t count, Columns columns);

/* Some entries of a row are no longer what they were: flags left are those in `kept`. */
void trace_keep(Trace *trace, size_t row, Columns columns, int kept);

/* Has any of count doubles, stride apart, a value other than 0? */
bool trace_any(const double *data, size_t count, size_t stride);

/* One direct operation, from known into next. */
void trace_direct(Trace *trace, const Direct *direct);

#endif
