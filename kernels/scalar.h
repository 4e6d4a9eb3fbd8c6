/*
 * The type that a kernel computes with.
 *
 * What says Scalar is compiled twice: as it stands for double, and with HEADPROOF_FLOAT for float,
 * whose functions then have names of their own.  A file that lacks one below does not link.
 */
#ifndef HEADPROOF_KERNELS_SCALAR_H
#define HEADPROOF_KERNELS_SCALAR_H

#include "arithmetic.h"

#ifndef HEADPROOF_FLOAT

typedef double Scalar;

#define SCALAR_IS_DOUBLE true
#define SCALAR_FORMAT FORMAT_F64
#define SCALAR_GEMM cblas_dgemm
#define SCALAR_EXP exp
#define SCALAR_ERFC erfc
#define SCALAR_SQRT sqrt
#define SCALAR_TANH tanh
/* exp rounds to 0 below -745.14. */
#define SCALAR_EXP_ZERO (-746)

#else

typedef float Scalar;

#define SCALAR_IS_DOUBLE false
#define SCALAR_FORMAT FORMAT_F32
#define SCALAR_GEMM cblas_sgemm
#define SCALAR_EXP expf
#define SCALAR_ERFC erfcf
#define SCALAR_SQRT sqrtf
#define SCALAR_TANH tanhf
/* expf rounds to 0 below -103.98. */
#define SCALAR_EXP_ZERO (-104)

#define bilinear_attend bilinear_attend_f32
#define bilinear_blocks bilinear_blocks_f32
#define bilinear_pattern bilinear_pattern_f32
#define bilinear_project bilinear_project_f32
#define bilinear_project_head bilinear_project_head_f32
#define bilinear_take bilinear_take_f32
#define blas_gemm blas_gemm_f32
#define blas_gemm_nt blas_gemm_nt_f32
#define dense_bundle dense_bundle_f32
#define dense_pattern dense_pattern_f32
#define dense_scratch dense_scratch_f32
#define direct_apply direct_apply_f32
#define direct_scratch direct_scratch_f32
#define group_scores group_scores_f32
#define groups_attend groups_attend_f32
#define groups_others groups_others_f32
#define groups_weights groups_weights_f32
#define kernel_bug kernel_bug_f32
#define kernel_bytes kernel_bytes_f32
#define kernel_bytes_in kernel_bytes_in_f32
#define kernel_clear kernel_clear_f32
#define kernel_f64 kernel_f32
#define kernel_layer kernel_layer_f32
#define kernel_norm kernel_norm_f32
#define kernel_open kernel_open_f32
#define kernel_open_in kernel_open_in_f32
#define kernel_pattern kernel_pattern_f32
#define matrices_fill_q matrices_fill_q_f32
#define matrices_fill_v matrices_fill_v_f32
#define norm_rows norm_rows_f32
#define rows_const rows_const_f32
#define rows_const_from rows_const_from_f32
#define rows_count rows_count_f32
#define rows_from rows_from_f32
#define rows_multiply rows_multiply_f32
#define rows_row rows_row_f32
#define rows_take rows_take_f32
#define scale_value scale_value_f32
#define scratch_take scratch_take_f32
#define softmax_row softmax_row_f32
#define structured_bundle structured_bundle_f32
#define structured_pattern structured_pattern_f32
#define structured_scratch structured_scratch_f32
#define weights_clear weights_clear_f32
#define weights_count weights_count_f32
#define weights_enter weights_enter_f32
#define weights_make weights_make_f32
#define weights_operand weights_operand_f32
#define weights_stored weights_stored_f32

#endif

/* x [count], each rounded to the format; at once where a Scalar is such a number as it is. */
static inline void scalar_round(NumberFormat format, Scalar *x, size_t count)
{
#ifdef HEADPROOF_FLOAT
    format_round(format, x, count);
#else
    (void)format;
    (void)x;
    (void)count;
#endif
}

/* to [count]: the numbers of the format nearest to those of from. */
static inline void scalar_store(NumberFormat format, const double *from, Scalar *to, size_t count)
{
#ifdef HEADPROOF_FLOAT
    format_store(format, from, to, count);
#else
    (void)format;
    for (size_t i = 0; i < count; i++) {
        to[i] = from[i];
    }
#endif
}

/* Are there Scalars that are no numbers of the format? */
static inline bool scalar_is_finer(NumberFormat format)
{
    return !SCALAR_IS_DOUBLE && format_info(format)->digits < format_info(SCALAR_FORMAT)->digits;
}

/* The number of the format nearest to x, rounded once. */
static inline Scalar scalar_of(NumberFormat format, double x)
{
    return format == SCALAR_FORMAT ? (Scalar)x : (Scalar)format_nearest(format, x);
}

#endif
