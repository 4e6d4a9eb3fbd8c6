/*
 * The sidecar FILE.json: how a results file came about.
 */
#ifndef HEADPROOF_HARNESS_SIDECAR_H
#define HEADPROOF_HARNESS_SIDECAR_H

#include "grid.h"

/* Raised when a column or a key of the sidecar changes its meaning. */
#define SIDECAR_SCHEMA 1

/* Writes JSON: schema, argv, date, the facts of info.h, and the points with their command line
 * and seconds [count] (or NULL).  0, or -1 (errno). */
int sidecar_write(FILE *file, int argc, char **argv, const Grid *grid, const double *seconds)
    __attribute__((warn_unused_result));

#endif
