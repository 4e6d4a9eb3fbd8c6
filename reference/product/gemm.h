/*
 * Products of doubles (private to reference/product/).
 */
#ifndef HEADPROOF_REFERENCE_PRODUCT_GEMM_H
#define HEADPROOF_REFERENCE_PRODUCT_GEMM_H

#include <stdbool.h>
#include <stddef.h>

/* C [m, n] = A B + beta C in doubles, row-major; a_lines: A is given as [k, m]; b_lines: B is given
 * as [n, k]. */
void gemm(double *c, size_t ldc, const double *a, size_t lda, bool a_transposed, const double *b,
          size_t ldb, bool b_transposed, size_t m, size_t n, size_t k, double beta);

#endif
