/*
 * Operands of matrix products, as numbers at some precision or as doubles, of data that wants
 * to break them; and exact sums.
 */
#include "operands.h"

#include "../cases/draw.h"
#include "unit.h"

#include <math.h>
#include <stdlib.h>

static double uniform(const char *name, size_t r, size_t c)
{
    return draw_uniform(seed, draw_hash(name), 0, r, c);
}

const char *const kind_names[KINDS] = {"normal", "wide",     "wide lines", "cancel",   "powers",
                                       "ones",   "near one", "full",       "negative", "tiny",
                                       "sparse", "one-hot",  "integers",   "apart",    "zeros"};

double operand_entry(Kind kind, const char *name, size_t r, size_t c)
{
    double x = draw_normal(seed, draw_hash(name), 1, r, c), u = uniform(name, r, c);
    double sign = x < 0 ? -1 : 1;
    switch (kind) {
    case WIDE: return ldexp(x, (int)(2000 * u) - 1000);
    case WIDE_LINES: return ldexp(x, (int)(r * 97 % 400) - (int)(c * 61 % 300));
    case CANCEL: return ((r + c) % 2 ? -1.0 : 1.0) * (1 + (double)((r / 2 + c / 2) % 5));
    case POWERS: return ldexp(sign, (int)(60 * u) - 30);
    case ONES: return sign;
    case NEAR_ONE: return sign * (1 - 0x1p-53);
    case FULL: return 1 - 0x1p-53;
    case NEGATIVE: return -1 + 0x1p-53;
    case TINY:
        return c % 3 == 0 ? x * (r % 4 == 1 ? 0x1p-1010 : 0x1p1000)
                          : sign * ldexp(floor(u * 9000), -1074);
    case SPARSE: return u < 0.8 || r % 5 == 1 || c % 7 == 2 ? 0 : x;
    case ONE_HOT: return c == r * 3 % 8 ? u : ldexp(x, -700 - (int)(50 * u));
    case INTEGERS: return floor(16 * u) - 8;
    case APART: return u < 0.5 ? sign : ldexp(sign, -450);
    case ZEROS: return 0;
    default: return x;
    }
}

void operand_fill(ApMat *m, Kind kind, const char *name)
{
    bool bare =
        kind == CANCEL || kind == POWERS || kind == ONES || kind == INTEGERS || kind == APART;
    mpfr_t t;
    mpfr_init2(t, m->bits);
    for (size_t r = 0; r < m->rows; r++) {
        for (size_t c = 0; c < m->columns; c++) {
            mpfr_ptr x = ap_at(m, r, c);
            mpfr_set_d(x, operand_entry(kind, name, r, c), MPFR_RNDN);
            if (kind == NEAR_ONE || kind == FULL || kind == NEGATIVE) {
                mpfr_set_si(x, mpfr_sgn(x), MPFR_RNDN);
                mpfr_set_zero(t, 1);
                mpfr_nexttoward(x, t);
            } else if (!bare) {
                mpfr_set_ui(t, r * 31 + c * 7 + 3, MPFR_RNDN);
                mpfr_sqrt(t, t, MPFR_RNDN);
                mpfr_mul(x, x, t, MPFR_RNDN);
            }
            if (kind == WIDE_LINES) { /* beyond the range of doubles */
                mpfr_mul_2si(x, x, (long)(r % 5) * 1500 - (long)(c % 3) * 1900, MPFR_RNDN);
            }
        }
    }
    mpfr_clear(t);
}

/* An entry, by way of number where it is a double. */
static mpfr_srcptr entry_at(mpfr_ptr number, const ProductView *view, size_t at)
{
    if (view->entry == NULL) {
        mpfr_set_d(number, view->number[at], MPFR_RNDN);
    }
    return view->entry != NULL ? view->entry + at : number;
}

void exact_entry(mpfr_ptr sum, mpfr_ptr size, ProductView a, ProductView b, size_t i, size_t j)
{
    mpfr_t product, left, right;
    mpfr_inits2(53, product, left, right, (mpfr_ptr)0);
    mpfr_set_zero(sum, 1);
    mpfr_set_zero(size, 1);
    mpfr_clear_inexflag();
    for (size_t l = 0; l < a.columns; l++) {
        mpfr_srcptr x = entry_at(left, &a, i * a.row.stride + l * a.column.stride);
        mpfr_srcptr y = entry_at(right, &b, l * b.row.stride + j * b.column.stride);
        mpfr_set_prec(product, mpfr_get_prec(x) + mpfr_get_prec(y));
        mpfr_mul(product, x, y, MPFR_RNDN);
        mpfr_add(sum, sum, product, MPFR_RNDN);
        assert_false(mpfr_inexflag_p());
        mpfr_abs(product, product, MPFR_RNDN);
        mpfr_add(size, size, product, MPFR_RNDD);
        mpfr_clear_inexflag();
    }
    mpfr_clears(product, left, right, (mpfr_ptr)0);
}

static Operand *kept; /* the last */

static Operand *keep(size_t rows, size_t columns, mpfr_prec_t bits)
{
    Operand *g = calloc(1, sizeof *g);
    assert_non_null(g);
    g->before = kept;
    kept = g;
    ap_init(&g->mat, rows, columns, bits);
    return g;
}

ApMat *operand_zeros(size_t rows, size_t columns, mpfr_prec_t bits)
{
    return &keep(rows, columns, bits)->mat;
}

Operand *operand_make(Form form, Kind kind, const char *name, size_t rows, size_t columns,
                      mpfr_prec_t bits)
{
    Operand *g = keep(rows, columns, form == LONGER ? bits + 77 : bits);
    if (form < DOUBLES) {
        operand_fill(&g->mat, kind, name);
        g->view = product_view(&g->mat);
        return g;
    }
    size_t ld = (form == DOUBLES ? columns : rows) + 3;
    g->number = calloc(ld * (rows + columns + 1), sizeof *g->number);
    assert_non_null(g->number);
    for (size_t r = 0; r < rows; r++) {
        for (size_t c = 0; c < columns; c++) {
            g->number[form == DOUBLES ? r * ld + c : c * ld + r] = operand_entry(kind, name, r, c);
        }
    }
    g->view = form == DOUBLES ? product_doubles(g->number, rows, columns, ld)
                              : product_transposed(product_doubles(g->number, columns, rows, ld));
    return g;
}

void operands_clear(void)
{
    for (Operand *g = kept; g != NULL; g = kept) {
        kept = g->before;
        ap_clear(&g->mat);
        free(g->number);
        free(g);
    }
}

ProductReport operand_product(ProductView c, ProductView a, ProductView b, ProductOptions options)
{
    ProductReport report;
    product_mul(c, a, b, &options, &report);
    return report;
}
