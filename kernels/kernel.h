/*
 * Machine arithmetic: evaluates any model on OpenBLAS, in double or in float; with the results of
 * operations rounded to narrower formats, as `formats` says.
 *
 * A kernel knows nothing of constructions; it walks the sublayers of a Model
 * (cases/model.h).  Two forms:
 *
 *   KERNEL_DENSE       the full matrices, as a user's framework has them: Q [D', D'] and
 *                      V [D', D'] of every head are materialised (rounding what a program
 *                      would round: W_Q W_K^T, W1[:,k] W2[k,:], W - I, Omega's entries), the
 *                      stream carries its one-hot block, every product is a gemm, and the
 *                      heads of a sublayer are batched into a few large products.  Biases ride
 *                      on the one-hot block; an original has none, so its biased bundles are
 *                      evaluated as frameworks do and as the structured form does, through
 *                      x W_Q + b_Q and the other factors, to the same bits.
 *   KERNEL_STRUCTURED  uses the structure: content scores, biases included, from the same call
 *                      and shape as the original's, position terms and the bias key added last;
 *                      factors kept as factors; the one-hot block is never stored (no head
 *                      writes it).
 *
 * An evaluation's result is a function of its arguments, the number of threads apart, and of
 * OpenBLAS's core alone.
 */
#ifndef HEADPROOF_KERNELS_KERNEL_H
#define HEADPROOF_KERNELS_KERNEL_H

#include "../cases/model.h"
#include "arithmetic.h"
#include "scalar.h"

typedef enum { KERNEL_DENSE, KERNEL_STRUCTURED, KERNEL_COUNT } KernelForm;

typedef struct Kernel Kernel;

/* A view of the stream in doubles, which hold the numbers of every format exactly: row r of the
 * layout at data + r * ld, columns as in the layout (the position columns are present in the dense
 * form only). */
typedef struct {
    const double *data;
    size_t ld;
} KernelStream;

/* Starts an evaluation.
 * On up to `threads` threads (at least 1), with the same result: work is cut into blocks of a size
 * that depends on shapes alone.  Inside a parallel region OpenMP has one thread for it unless
 * max-active-levels says otherwise.
 * model and x must outlive the kernel. */
Kernel *kernel_open_in(const Formats *formats, const Start *start, KernelForm form, size_t threads)
    __attribute__((warn_unused_result));

/* The same without a rounding beside those of double itself. */
Kernel *kernel_open(const Start *start, KernelForm form, size_t threads)
    __attribute__((warn_unused_result));

/* Evaluates the next layer; the view is valid until the next call.  Calling it more than
 * model->depth times is a bug. */
KernelStream kernel_layer(Kernel *kernel);

void kernel_clear(Kernel *kernel);

/* Bytes that kernel_open_in would take at most, as a double. */
double kernel_bytes_in(const Formats *formats, const Model *model, KernelForm form, size_t threads);

/* And kernel_open. */
double kernel_bytes(const Model *model, KernelForm form, size_t threads);

/* The attention pattern softmax_rows(X Q X^T) of one head of one bundle of the NEXT sublayer
 * to be evaluated (the first of a layer), into pattern [rows, rows].  For tests and for
 * looking at a head. */
void kernel_pattern(Kernel *kernel, Scalar *pattern, size_t bundle, size_t head);

/* The functions above, by the type they compute with. */
typedef struct KernelFunctions {
    Kernel *(*open)(const Formats *formats, const Start *start, KernelForm form, size_t threads);
    KernelStream (*layer)(Kernel *kernel);
    void (*clear)(Kernel *kernel); /* NULL is fine */
    /* Rows [count, ld] of a token each, as kernel_layer has shown them, become their norm, on the
     * norm's columns. */
    void (*norm)(const Formats *formats, double *rows, size_t count, size_t ld,
                 const LayerNorm *norm);
    double (*bytes)(const Formats *formats, const Model *model, KernelForm form, size_t threads);
} KernelFunctions;

extern const KernelFunctions kernel_f64, kernel_f32;

/* Evaluates the model with kernel_open_in's arguments. */
static inline Kernel *arithmetic_open(const ArithmeticInfo *info, const Start *start,
                                      KernelForm form, size_t threads)
{
    return info->functions->open(&info->formats, start, form, threads);
}

#endif
