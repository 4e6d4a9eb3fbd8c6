/*
 * The positions of `headproof verify`: a row each, means over them, the first prediction that
 * changes (private to it; merge makes the same means of rows that it reads).
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_VERIFY_POSITIONS_H
#define HEADPROOF_HARNESS_COMMANDS_VERIFY_POSITIONS_H

#include "verify.h"

/* A mean of figures as they are printed, so that a reader of the table finds the same; one that is
 * absent does not count. */
typedef struct {
    mpfr_t sum;
    size_t count;
    bool bound; /* one of them is only a bound */
} Mean;

/* Over positions: means of their losses and divergences; the largest of these. */
typedef struct {
    Mean mean[POSITION_MEANS];
    Figure most[AGAINST_COUNT];
} PositionMeans;

void position_means_init(PositionMeans *means);
void position_means_clear(PositionMeans *means);

/* figures [POSITION_MEANS]. */
void position_means_add(PositionMeans *means, const Figure *figures);

/* Those figures of divergences alone [AGAINST_COUNT] go into the largest. */
void position_most_add(PositionMeans *means, const Figure *kl);

/* The row's cells from the first loss to the last largest divergence; or, in a table without
 * positions, whose means nobody can make again, the largest alone. */
void position_means_put(VerifyRow *row, const PositionMeans *means, bool listed);

/* Over all positions that were looked at. */
void verify_means(PositionMeans *means, const Verify *verify);

/* A row for each position, in its order. */
void verify_write_positions(FILE *file, const Verify *verify);

/* Lines of divergences, of losses and of the first change, each after "omega 20, ". */
void verify_print_positions(FILE *file, const Verify *verify);

#endif
