/*
 * The proof that `guarantee` makes for a point, and that other commands use.
 *
 * Umbrella header: for row.c, what is proven as rows of CSV, one a layer, and as a text, too.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_GUARANTEE_BOUND_H
#define HEADPROOF_HARNESS_COMMANDS_GUARANTEE_BOUND_H

#include "../../grid/grid.h"
#include "../../../reference/guarantee/guarantee.h"

/* The model of a point, whatever its Omega. */
typedef struct {
    const Point *point;
    Guarantee *guarantee;
    Magnitude input_norm;
    GuaranteeInputs inputs;             /* w_e NULL: X is not made of tokens */
    GuaranteeLayer *layers;             /* [depth], of the Omega that was asked last */
    double drawn;                       /* the length of the longest row of X where it is drawn */
    double zero_leak[ARITHMETIC_COUNT]; /* guarantee_zero_leak's, where --arithmetic was given */
    char why[256];                      /* what bound_open expected in place of what it refused */
} Bound;

/* The bounds at one Omega. */
typedef struct {
    Point point;                  /* with the Omega of the rows */
    const GuaranteeLayer *layers; /* [depth], the Bound's */
    Magnitude input_norm, judged, logit_error;
    Magnitude tau_error, logit_tau_error; /* of products that are read out, behind the last layer */
    double taus[READOUT_MOST];            /* that are proven for the tolerance, by pairs; or 0 */
    bool reads_out, tau_alone;            /* it does; that alone is above the tolerance */
    bool logits;                          /* judged is of logits */
    double zero_leak; /* guarantee_zero_leak's of the point's arithmetic; 0: it has none */
    bool none;        /* no Omega meets the tolerance; the rows are at the largest */
    bool refused;     /* that of the point does not */
} Proven;

/* The most multiplications that a proof may take, about: one that nobody asked for half a second's,
 * another some minutes'. */
#define BOUND_WORK_UNASKED 2e10
#define BOUND_WORK_MOST 1e13

/* About how many multiplications bound_open makes: of sizes alone, so the same everywhere. */
double bound_work(const Point *point);

/* 0; 2 with bound->why, and no message; 99 after one.  bound_ask: what is refused before any work.
 * Clear what was opened in every case. */
int bound_ask(Bound *bound, const Point *point, const RunOptions *run)
    __attribute__((warn_unused_result));
int bound_open(Bound *bound, const Point *point, const RunOptions *run)
    __attribute__((warn_unused_result));
void bound_clear(Bound *bound);

/* The same of the bound before, which may serve the point already, or is all zero. */
int bound_move(Bound *bound, const Point *point, const RunOptions *run)
    __attribute__((warn_unused_result));

/* At the point's Omega, or, where that is 0, at the smallest that meets its tolerance. */
Proven bound_at(const Bound *bound, const Point *point);

/* The same of a network whose products are read out, all of what that makes of it judged: at the
 * point's tau, or, where nobody says one, at the largest that takes half of the tolerance. */
Proven bound_at_tau(const Bound *bound, const Point *point);

/* Do two points differ in nothing that a Bound hangs on, as in their Omega or in how they are
 * evaluated and judged? */
bool bound_serves(const Bound *bound, const Point *point);

/* Refuses x [rows, d], or NULL, that has a row longer than --input-norm, which the proof is about.
 * 0; 2 after a message. */
int bound_check_rows(const double *x, size_t rows, size_t d, const RunOptions *run)
    __attribute__((warn_unused_result));

/* The same of the X that the point's file has, or, by its bound, of that drawn where it has none;
 * NULL: that is not asked. */
int bound_check_x(const Bound *bound, const Point *point, const RunOptions *run)
    __attribute__((warn_unused_result));

/* --input-norm as it was given, if it was, behind other flags. */
void bound_print_input_norm(FILE *file, const RunOptions *run);

/* The command that proves it again. */
void bound_print_command(FILE *file, const Point *point, const RunOptions *run);

/* NULL, or what is expected of a tolerance that is not of what is proven. */
const char *bound_misfit(const Point *point);

/* row: a Proven (outcome.h). */
void guarantee_write_header(FILE *file, const RunOptions *run);
void guarantee_write_rows(FILE *file, const void *row);

/* The same for a reader, and the sentence. */
void guarantee_print(FILE *file, const void *row);

/* "sublayer 3, attention": where the largest part of the last layer's error is from. */
enum { GUARANTEE_FROM = 64 };
void guarantee_from(char text[GUARANTEE_FROM], const Proven *proven);

#endif
