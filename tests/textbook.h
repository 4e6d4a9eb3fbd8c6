/*
 * The reference by its definition: the full matrices Q and V [D', D'] of every head,
 *     x += sum of softmax_rows(X Q X^T) X V,
 * and a layer norm as its formula is written.  Slow, and the text that the heads' structure must
 * agree with.
 *
 * x is a run's, with content and hidden columns; the columns that biases and Omega ride on are
 * added here: the one-hot block, and for an original one column of ones.
 */
#ifndef HEADPROOF_TESTS_TEXTBOOK_H
#define HEADPROOF_TESTS_TEXTBOOK_H

#include "../reference/reference.h"

/* The next layer of a run that has just been opened, or of which all layers before were evaluated
 * so; it has no radii and no difference. */
void textbook_layer(RefRun *run);

/* As run_layers, by textbook_layer. */
RefRun *textbook_layers(const Model *model, const double *x, const double *bias_row_content,
                        double omega, mpfr_prec_t bits, size_t layers);

#endif
