/*
 * Matrix products whose entries are neighbours in memory, which are measured, packed and rounded
 * several at a time: the bits of the exact product rounded once, whatever remains of them.
 */
#include "../../reference/numbers/tier.h"
#include "../../reference/reference.h"
#include "../operands.h"
#include "../unit.h"

/* Bits of sums that stand for exact ones, and beyond the result's that a product keeps. */
enum { LOOP_GUARD = 4000, GUARD = 64 };

typedef struct {
    size_t m, k, n;
    mpfr_prec_t bits;
    bool turned; /* B's columns are rows in memory */
} Shape;

/* A [m, k] and B [k, n], B turned or not; their product by MPFR and by eights. */
typedef struct {
    ApMat a, b, exact, c;
    ProductView left, right;
    size_t wrong; /* entries that are not what they may be */
} Product;

static void product_open(Product *p, const Shape *s, Kind ka, Kind kb)
{
    if (tier_in_use() == TIER_PORTABLE) {
        skip(); /* which has no digits */
    }
    *p = (Product){0};
    ap_init(&p->a, s->m, s->k, s->bits);
    ap_init(&p->b, s->turned ? s->n : s->k, s->turned ? s->k : s->n, s->bits);
    ap_init(&p->exact, s->m, s->n, s->bits);
    ap_init(&p->c, s->m, s->n, s->bits);
    operand_fill(&p->a, ka, "a");
    operand_fill(&p->b, kb, "b");
    p->left = product_view(&p->a);
    p->right = product_view(&p->b);
    p->right = s->turned ? product_transposed(p->right) : p->right;
}

static void product_close(Product *p)
{
    ap_clear(&p->a);
    ap_clear(&p->b);
    ap_clear(&p->exact);
    ap_clear(&p->c);
    assert_int_equal(p->wrong, 0);
}

/* Are the product's bits those of the exact one? */
static void check(Product *p, const char *what, const Shape *s)
{
    product_mul(product_view(&p->exact), p->left, p->right,
                &(ProductOptions){.backend = PRODUCT_LOOP, .guard = LOOP_GUARD}, NULL);
    product_mul(product_view(&p->c), p->left, p->right,
                &(ProductOptions){.backend = PRODUCT_DIGITS, .guard = GUARD}, NULL);
    for (size_t i = 0; i < s->m * s->n; i++) {
        mpfr_srcptr x = p->c.entry + i, y = p->exact.entry + i;
        bool same = mpfr_nan_p(y) ? mpfr_nan_p(x) : mpfr_equal_p(x, y);
        if (!same || (mpfr_signbit(x) != mpfr_signbit(y) && !mpfr_zero_p(y))) {
            print_error("%s, %zu x %zu x %zu, %ld bits%s: entry %zu, %zu differs\n", what, s->m,
                        s->k, s->n, (long)s->bits, s->turned ? ", turned" : "", i / s->n, i % s->n);
            p->wrong++;
            return;
        }
    }
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
            Product p;
            product_open(&p, &shapes[i], kinds[kind][0], kinds[kind][1]);
            check(&p, kind_names[kinds[kind][0]], &shapes[i]);
            product_close(&p);
        }
    }
}

/* B of doubles, denormal ones among them. */
static void doubles_are_exact(void **state)
{
    enum { M = 5, K = 37, N = 19 };
    static const Kind kinds[] = {NORMAL, TINY, INTEGERS, SPARSE, POWERS};
    const Shape s = {M, K, N, 192, false};
    double b[K * N];
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
        Product p;
        product_open(&p, &s, NORMAL, NORMAL);
        for (size_t i = 0; i < K * N; i++) {
            b[i] = operand_entry(kinds[kind], "b", i / N, i % N);
        }
        p.right = product_doubles(b, K, N, N);
        check(&p, kind_names[kinds[kind]], &s);
        product_close(&p);
    }
}

/* Entries of other lengths, or elsewhere, in the midst of a line; what is not a number; exponents
 * that are far, and beyond what is scaled. */
static void odd_entries_are_exact(void **state)
{
    enum { NARROW, MOVED, NOT_A_NUMBER, INFINITE, FAR, FARTHER, ODD };
    static const char *const names[ODD] = {"narrow",   "moved",    "not a number",
                                           "infinite", "far away", "farther"};
    for (int what = 0; what < ODD; what++) {
        for (int turned = 0; turned < 2; turned++) {
            const Shape s = {6, 19, 16, 192, turned != 0};
            mpfr_t other;
            Product p;
            product_open(&p, &s, NORMAL, NORMAL);
            mpfr_ptr x = ap_at(&p.a, 2, 11), y = ap_at(&p.b, 5, 3);
            __mpfr_struct kept[2] = {*x, *y};
            mpfr_init2(other, what == NARROW ? 128 : 192);
            mpfr_set_d(other, -3.25, MPFR_RNDN);
            if (what == NARROW || what == MOVED) {
                *x = *other;
                *y = *other;
            } else if (what == NOT_A_NUMBER) {
                mpfr_set_nan(x);
            } else if (what == INFINITE) {
                mpfr_set_inf(y, -1);
            } else if (what == FAR || what == FARTHER) {
                mpfr_exp_t far = what == FAR ? (mpfr_exp_t)1 << 40 : (mpfr_exp_t)3 << 59;
                mpfr_set_exp(x, -far);
                mpfr_set_exp(y, -far);
            }
            check(&p, names[what], &s);
            *x = kept[0];
            *y = kept[1];
            mpfr_clear(other);
            product_close(&p);
        }
    }
}

/* 0 times anything is 0, but for what is not a number. */
static void zeros_give_zeros(void **state)
{
    const Shape s = {6, 19, 16, 192, false};
    for (int side = 0; side < 2; side++) {
        Product p;
        product_open(&p, &s, side == 0 ? ZEROS : NORMAL, side == 0 ? NORMAL : ZEROS);
        check(&p, "zeros", &s);
        for (size_t i = 0; i < s.m * s.n; i++) {
            p.wrong += !mpfr_zero_p(p.c.entry + i);
        }
        mpfr_set_nan(ap_at(side == 0 ? &p.b : &p.a, 3, 7));
        check(&p, "zeros and one that is not a number", &s);
        p.wrong += !mpfr_nan_p(side == 0 ? ap_at(&p.c, 1, 7) : ap_at(&p.c, 3, 1));
        product_close(&p);
    }
}

/* Entries that leave MPFR's range are what MPFR makes of them, and so is a row of zeros. */
static void ends_of_the_range_are_kept(void **state)
{
    enum { M = 6, K = 19, N = 16, DOWN = 450 };
    const Shape s = {M, K, N, 192, false};
    const mpfr_exp_t emin = mpfr_get_emin();
    size_t left = 0;
    Product p;
    product_open(&p, &s, NORMAL, NORMAL);
    for (size_t i = 0; i < K * N; i++) {
        mpfr_mul_2si(p.b.entry + i, p.b.entry + i, -DOWN, MPFR_RNDN);
    }
    for (size_t l = 0; l < K; l++) {
        mpfr_mul_2si(ap_at(&p.a, 1, l), ap_at(&p.a, 1, l), -DOWN, MPFR_RNDN);
        mpfr_set_zero(ap_at(&p.a, 3, l), 1);
    }
    check(&p, "the whole range", &s);
    mpfr_exp_t largest = mpfr_get_exp(ap_at(&p.exact, 1, 0));
    for (size_t j = 1; j < N; j++) {
        mpfr_exp_t exponent = mpfr_get_exp(ap_at(&p.exact, 1, j));
        largest = exponent > largest ? exponent : largest;
    }
    mpfr_set_emin(largest);
    product_mul(product_view(&p.c), p.left, p.right, &(ProductOptions){.guard = GUARD}, NULL);
    for (size_t i = 0; i < M * N; i++) {
        mpfr_check_range(p.exact.entry + i, 0, MPFR_RNDN);
        left += i / N == 1 && mpfr_zero_p(p.exact.entry + i) != 0;
        p.wrong += !mpfr_equal_p(p.c.entry + i, p.exact.entry + i);
    }
    mpfr_set_emin(emin);
    product_close(&p);
    assert_true(left > 0 && left < N);
}

/* A product to every other column leaves the others as they are. */
static void columns_between_stay(void **state)
{
    enum { M = 5, K = 12, N = 16 };
    const Shape s = {M, K, N, 192, false};
    Product p;
    ApMat wide = {0};
    product_open(&p, &s, NORMAL, NORMAL);
    check(&p, "beside", &s);
    ap_init(&wide, M, 2 * N, 192);
    ProductView every = product_view(&wide);
    every.columns = N;
    every.column.stride = 2;
    product_mul(every, p.left, p.right,
                &(ProductOptions){.backend = PRODUCT_DIGITS, .guard = GUARD}, NULL);
    for (size_t i = 0; i < M * N; i++) {
        p.wrong += !mpfr_equal_p(ap_at(&wide, i / N, i % N * 2), p.exact.entry + i);
        p.wrong += !mpfr_zero_p(ap_at(&wide, i / N, i % N * 2 + 1));
    }
    ap_clear(&wide);
    product_close(&p);
}

SUBJECT(eights)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(remainders_are_exact),  cmocka_unit_test(doubles_are_exact),
        cmocka_unit_test(odd_entries_are_exact), cmocka_unit_test(ends_of_the_range_are_kept),
        cmocka_unit_test(zeros_give_zeros),      cmocka_unit_test(columns_between_stay),
    };
    ref_thread_setup();
    int failed = cmocka_run_group_tests_name("eights", tests, NULL, NULL);
    ref_thread_clear();
    return failed != 0;
}
