/*
 * One file that a report is about: what it holds, and the verdict that follows from it.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_REPORT_SUBJECT_H
#define HEADPROOF_HARNESS_COMMANDS_REPORT_SUBJECT_H

#include "../../base/conclusion.h"
#include "../../base/csv_read.h"

#include <jansson.h>
#include <stdbool.h>

typedef enum {
    SUBJECT_SWEEP, /* a table of sweep or depth */
    SUBJECT_TABLE, /* one of min-omega or verify */
    SUBJECT_CHECK  /* what check --json wrote */
} SubjectKind;

typedef struct {
    const char *path;
    SubjectKind kind;
    Csv csv;         /* of tables */
    json_t *sidecar; /* of tables; NULL: there is none */
    json_t *check;   /* of SUBJECT_CHECK */
    size_t points;   /* that the sidecar names, or findings */
    size_t failed;   /* of its points, or rows */
    size_t judged;   /* rows that a tolerance judges */
    bool proven;     /* the sidecar has the digest of these very bytes */
    bool drawn;      /* it is a table with something to draw */
    Conclusion conclusion;
} Subject;

/* Reads a file into *subject, which is empty ({0}) before.  0; 2 after a message: it is none of
 * these, or its sidecar is of another table; 99.  Clear it in every case. */
int subject_read(Subject *subject, const char *path) __attribute__((warn_unused_result));
void subject_clear(Subject *subject);

/* The status of a row, and whether it fails by it. */
const char *subject_status(const Subject *subject, size_t row);
bool subject_row_fails(const Subject *subject, size_t row);

#endif
