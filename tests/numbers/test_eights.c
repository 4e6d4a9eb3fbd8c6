/*
 * Matrix products whose entries are neighbours in memory, which are measured, packed and rounded
 * several at a time: the bits of the exact product rounded once, whatever remains of them.
 */
#include "../../reference/numbers/tier.h"
#include "../fixture.h"
#include "../operands.h"
#include "../unit.h"

/* Bits of sums that stand for exact ones, and beyond the result's that a product keeps. */
enum { LOOP_GUARD = 4000, GUARD = 64 };

/* By vectors of digits, which C alone has not; measured by vectors in any tier. */
static ProductOptions by_eights(void)
{
    bool digits = tier_in_use() != TIER_PORTABLE;
    return (ProductOptions){.backend = digits ? PRODUCT_DIGITS : PRODUCT_MODULAR, .guard = GUARD};
}

/* Are all bits of c those of A B, which *exact has?  But for the sign of 0. */
static void check(const char *what, const ApMat *exact, ProductView c, ProductView a, ProductView b)
{
    operand_product(product_view(exact), a, b,
                    (ProductOptions){.backend = PRODUCT_LOOP, .guard = LOOP_GUARD});
    operand_product(c, a, b, by_eights());
    for (size_t i = 0; i < c.rows * c.columns; i++) {
        mpfr_srcptr y = exact->entry + i;
        mpfr_srcptr x = c.entry + i / c.columns * c.row.stride + i % c.columns * c.column.stride;
        bool same = mpfr_nan_p(y) ? mpfr_nan_p(x) : mpfr_equal_p(x, y);
        if (!same || (mpfr_signbit(x) != mpfr_signbit(y) && !mpfr_zero_p(y))) {
            fail_msg("%s, %zu x %zu x %zu, %ld bits%s: entry %zu, %zu differs", what, a.rows,
                     a.columns, b.columns, (long)exact->bits, b.row.stride == 1 ? ", turned" : "",
                     i / c.columns, i % c.columns);
        }
    }
}

typedef struct {
    size_t m, k, n;
    mpfr_prec_t bits;
    bool turned; /* B's columns are rows in memory */
} Shape;

/* A [m, k] and B [k, n], B turned or not, and room for their product by MPFR and by eights. */
typedef struct {
    ApMat *a, *b, *exact, *c;
    ProductView left, right;
} Product;

static Product product_of(Shape s, Kind ka, Kind kb)
{
    Operand *a = operand_make(LONG, ka, "a", s.m, s.k, s.bits);
    Operand *b = operand_make(LONG, kb, "b", s.turned ? s.n : s.k, s.turned ? s.k : s.n, s.bits);
    return (Product){&a->mat,
                     &b->mat,
                     operand_zeros(s.m, s.n, s.bits),
                     operand_zeros(s.m, s.n, s.bits),
                     a->view,
                     s.turned ? product_transposed(b->view) : b->view};
}

static void check_all(const char *what, const Product *p)
{
    check(what, p->exact, product_view(p->c), p->left, p->right);
}

/* Every remainder of eight and of four; sums of digits that are carried twice. */
static void remainders_are_exact(void **state)
{
    static const Shape shapes[] = {
        {4, 8, 8, 192, false},    {5, 13, 17, 192, true},  {7, 9, 16, 128, false},
        {3, 100, 8, 256, true},   {6, 66, 24, 64, false},  {6, 66, 24, 64, true},
        {1, 7, 9, 192, false},    {9, 1, 15, 128, true},   {2, 1031, 8, 128, false},
        {2, 1031, 9, 128, true},  {5, 20, 12, 200, false}, {5, 20, 12, 320, true},
        {8, 12, 70, 192, false},  {70, 12, 10, 192, true}, {4, 2051, 8, 192, true},
        {12, 30, 130, 256, false}};
    static const Kind kinds[][2] = {{NORMAL, NORMAL},   {WIDE_LINES, NORMAL}, {NORMAL, WIDE_LINES},
                                    {INTEGERS, NORMAL}, {NEAR_ONE, NEAR_ONE}, {POWERS, NORMAL},
                                    {ONE_HOT, NORMAL},  {SPARSE, SPARSE},     {NEGATIVE, FULL}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
            Product p = product_of(shapes[i], kinds[kind][0], kinds[kind][1]);
            check_all(kind_names[kinds[kind][0]], &p);
            operands_clear();
        }
    }
}

/* B of doubles, denormal ones among them. */
static void doubles_are_exact(void **state)
{
    enum { M = 5, K = 37, N = 19 };
    static const Kind kinds[] = {NORMAL, TINY, INTEGERS, SPARSE, POWERS};
    double b[K * N];
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
        Product p = product_of((Shape){M, K, N, 192, false}, NORMAL, NORMAL);
        for (size_t i = 0; i < K * N; i++) {
            b[i] = operand_entry(kinds[kind], "b", i / N, i % N);
        }
        p.right = product_doubles(b, K, N, N);
        check_all(kind_names[kinds[kind]], &p);
        operands_clear();
    }
}

/* Entries of other lengths, or elsewhere, in the midst of a line; what is not a number; exponents
 * that are far, and beyond what is scaled. */
static void odd_entries_are_exact(void **state)
{
    enum { NARROW, MOVED, NOT_A_NUMBER, INFINITE, FAR, FARTHER, ODD };
    static const char *const names[ODD] = {"narrow",   "moved",    "not a number",
                                           "infinite", "far away", "farther"};
    for (int what = 0; what < 2 * ODD; what++) {
        const int odd = what / 2;
        Product p = product_of((Shape){6, 19, 16, 192, what % 2 != 0}, NORMAL, NORMAL);
        mpfr_ptr x = ap_at(p.a, 2, 11), y = ap_at(p.b, 5, 3);
        mpfr_t other;
        mpfr_init2(other, odd == NARROW ? 128 : 192);
        mpfr_set_d(other, -3.25, MPFR_RNDN);
        if (odd == NARROW || odd == MOVED) {
            *x = *other;
            *y = *other;
        } else if (odd == NOT_A_NUMBER) {
            mpfr_set_nan(x);
        } else if (odd == INFINITE) {
            mpfr_set_inf(y, -1);
        } else {
            mpfr_exp_t far = odd == FAR ? (mpfr_exp_t)1 << 40 : (mpfr_exp_t)3 << 59;
            mpfr_set_exp(x, -far);
            mpfr_set_exp(y, -far);
        }
        check_all(names[odd], &p);
        mpfr_clear(other);
        operands_clear();
    }
}

/* 0 times anything is 0, but for what is not a number. */
static void zeros_give_zeros(void **state)
{
    for (int side = 0; side < 2; side++) {
        const Shape s = {6, 19, 16, 192, false};
        Product p = product_of(s, side == 0 ? ZEROS : NORMAL, side == 0 ? NORMAL : ZEROS);
        check_all("zeros", &p);
        for (size_t i = 0; i < s.m * s.n; i++) {
            assert_true(mpfr_zero_p(p.c->entry + i));
        }
        mpfr_set_nan(ap_at(side == 0 ? p.b : p.a, 3, 7));
        check_all("zeros and one that is not a number", &p);
        assert_true(mpfr_nan_p(side == 0 ? ap_at(p.c, 1, 7) : ap_at(p.c, 3, 1)));
        operands_clear();
    }
}

/* Entries that leave MPFR's range are what MPFR makes of them, and so is a row of zeros. */
static void ends_of_the_range_are_kept(void **state)
{
    enum { M = 6, K = 19, N = 16, DOWN = 450 };
    const mpfr_exp_t emin = mpfr_get_emin();
    size_t left = 0, wrong = 0;
    Product p = product_of((Shape){M, K, N, 192, false}, NORMAL, NORMAL);
    for (size_t i = 0; i < K * N; i++) {
        mpfr_mul_2si(p.b->entry + i, p.b->entry + i, -DOWN, MPFR_RNDN);
    }
    for (size_t l = 0; l < K; l++) {
        mpfr_mul_2si(ap_at(p.a, 1, l), ap_at(p.a, 1, l), -DOWN, MPFR_RNDN);
        mpfr_set_zero(ap_at(p.a, 3, l), 1);
    }
    check_all("the whole range", &p);
    mpfr_exp_t largest = mpfr_get_exp(ap_at(p.exact, 1, 0));
    for (size_t j = 1; j < N; j++) {
        mpfr_exp_t exponent = mpfr_get_exp(ap_at(p.exact, 1, j));
        largest = exponent > largest ? exponent : largest;
    }
    mpfr_set_emin(largest);
    operand_product(product_view(p.c), p.left, p.right, (ProductOptions){.guard = GUARD});
    for (size_t i = 0; i < M * N; i++) {
        mpfr_check_range(p.exact->entry + i, 0, MPFR_RNDN);
        left += i / N == 1 && mpfr_zero_p(p.exact->entry + i) != 0;
        wrong += !mpfr_equal_p(p.c->entry + i, p.exact->entry + i);
    }
    mpfr_set_emin(emin);
    operands_clear();
    assert_int_equal(wrong, 0);
    assert_true(left > 0 && left < N);
}

/* A product to every other column leaves the others as they are. */
static void columns_between_stay(void **state)
{
    enum { M = 5, K = 12, N = 16 };
    Product p = product_of((Shape){M, K, N, 192, false}, NORMAL, NORMAL);
    ApMat *wide = operand_zeros(M, 2 * N, 192);
    ProductView every = product_view(wide);
    every.columns = N;
    every.column.stride = 2;
    check("every other column", p.exact, every, p.left, p.right);
    for (size_t i = 0; i < M * N; i++) {
        assert_true(mpfr_zero_p(ap_at(wide, i / N, i % N * 2 + 1)));
    }
    operands_clear();
}

SUBJECT(eights)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(remainders_are_exact),  cmocka_unit_test(doubles_are_exact),
        cmocka_unit_test(odd_entries_are_exact), cmocka_unit_test(ends_of_the_range_are_kept),
        cmocka_unit_test(zeros_give_zeros),      cmocka_unit_test(columns_between_stay),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
