/*
 * Operands of matrix products, as numbers at some precision or as doubles, of data that wants to
 * break them; and exact sums.
 */
#ifndef HEADPROOF_TESTS_OPERANDS_H
#define HEADPROOF_TESTS_OPERANDS_H

#include "../reference/product/product.h"

#include <stdint.h>

/* Of all that is drawn. */
static const uint64_t seed = 7;

/* Room for every exponent and precision drawn here: sums are exact (checked). */
enum { EXACT_BITS = 24000 };

typedef enum {
    NORMAL,
    WIDE,       /* 2000 binary orders of magnitude, entry by entry */
    WIDE_LINES, /* rows, and columns, of different magnitude */
    CANCEL,     /* with a like matrix on the other side, sums vanish */
    POWERS,     /* of two, signed */
    ONES,       /* 1 and -1 */
    NEAR_ONE,   /* the largest numbers below 1: rounding carries */
    FULL,       /* all of them positive: every digit is full, sums are the largest */
    NEGATIVE,   /* the same, all of them negative */
    TINY,       /* denormal doubles, and huge ones */
    SPARSE,     /* mostly zeros; zero rows and columns */
    ONE_HOT,    /* a large entry a row, the others 2^-700 and less */
    INTEGERS,   /* small */
    APART,      /* 1 and 2^-450, signed: short at 520 bits, and most digits are 0 */
    ZEROS,
    KINDS
} Kind;

extern const char *const kind_names[KINDS];

/* A double of that kind; the exponent range of doubles binds it. */
double operand_entry(Kind kind, const char *name, size_t r, size_t c);

/* Fills m; a long mantissa where the kind does not say otherwise. */
void operand_fill(ApMat *m, Kind kind, const char *name);

/* The exact sum for C_ij, and a lower bound of the sum of magnitudes. */
void exact_entry(mpfr_ptr sum, mpfr_ptr size, ProductView a, ProductView b, size_t i, size_t j);

/* How an operand is given. */
typedef enum { LONG, LONGER, DOUBLES, DOUBLES_TURNED, FORMS } Form;

typedef struct Operand {
    ApMat mat;
    double *number;
    ProductView view;
    struct Operand *before;
} Operand;

/* Made and kept until operands_clear: an operand, and a matrix of zeros. */
Operand *operand_make(Form form, Kind kind, const char *name, size_t rows, size_t columns,
                      mpfr_prec_t bits);
ApMat *operand_zeros(size_t rows, size_t columns, mpfr_prec_t bits);
void operands_clear(void);

/* product_mul, which must not fail. */
ProductReport operand_product(ProductView c, ProductView a, ProductView b, ProductOptions options);

#endif
