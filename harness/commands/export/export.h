/*
 * The parts of an export (private to it): what one point's file holds.
 *
 *   blocks.{l}.*            the original's weights, X its input: as model_file.h names them
 *   ln_final.*              the norm before an unembedding, of a model with norms before its parts
 *   result.{l}.r_T, r_Tprime, r_Tinf   r(T), r(T'), r(T_infinity) after layer l (from 0), each
 *                           entry the nearest double, over the n tokens and the columns compared
 *   result.{l}.m_T, m_Tprime           the machine's, where there is an arithmetic
 *   result.X_hidden         what the hidden columns start from, where T has some (read back)
 *   result.bias_row         what the bias row of T' starts from, where that is not zero
 *
 * Metadata: scale, activation, mask, normalization, with norms normalization-place and eps, of
 * linear maps linear; construction, omega, precision_bits, version, and command, which reproduces a
 * drawn case; result.{l}.columns "FIRST:END", the columns compared; result.{l}.error_log2, what no
 * entry of r is off by more than, as a power of two; and for every r with an entry that is no
 * double result.{l}.r_*.text, a JSON array of decimals, row-major, with the digits that give back
 * every bit of the reference.
 *
 * Umbrella header: for tensors.c, the model, and results.c, the streams, too.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_EXPORT_EXPORT_H
#define HEADPROOF_HARNESS_COMMANDS_EXPORT_EXPORT_H

#include "../../evaluate/shared.h"
#include "../../models/safetensors_write.h"

/* What fails the writer keeps.  run, kernel (NULL: no machine's): the evaluations of T', and the
 * layer that they are at: n tokens, the columns compared; next: where in the results its next one
 * is copied to. */
typedef struct {
    const Point *point;
    const Shared *shared;
    const RefBase *base; /* r(T) and r(T_infinity), at bits */
    SafetensorsWriter *writer;
    mpfr_prec_t bits;
    double *results; /* [EXPORT_COPIED, entries of one result over all layers] */
    RefRun *run;
    Kernel *kernel;
    size_t layer, n;
    Columns columns;
    double *next;
} Export;

/* The results that are not kept as they are written: r_T, r_Tprime, r_Tinf and m_Tprime. */
enum { EXPORT_COPIED = 4 };

/* The weights and the input, and the metadata a model has. */
void export_model(Export *e);

/* Adds the streams after each layer, and how exact they are; fills results. */
void export_results(Export *e);

#endif
