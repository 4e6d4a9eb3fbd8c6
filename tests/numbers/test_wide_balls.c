/*
 * The reference believes no ball of Arb's that is wider than it may be: exponentials are asked for
 * again, entries of a product are left to the loop.
 */
#include "../../reference/product/product.h"
#include "../fixture.h"
#include "../operands.h"
#include "../wide_balls.h"
#include "../unit.h"

#include <math.h>

typedef void Exponential(ApExp *context, mpfr_ptr y, mpfr_srcptr x);
typedef int Exact(mpfr_ptr y, mpfr_srcptr x, mpfr_rnd_t rounding);

/* To two units of 2^-p of MPFR's own, in so many calls of Arb. */
static void check_exponential(Exponential *f, Exact *exact, size_t wide)
{
    ApExp *context = ap_exp_create();
    mpfr_t x, y, expected;
    assert_non_null(context);
    mpfr_inits2(192, x, y, (mpfr_ptr)NULL);
    mpfr_init2(expected, 320);
    mpfr_set_d(x, -3.25, MPFR_RNDN);
    wide_balls_next(wide);
    f(context, y, x);
    assert_int_equal(wide_balls_calls(), wide + 1);
    exact(expected, x, MPFR_RNDN);
    mpfr_div(expected, y, expected, MPFR_RNDN);
    mpfr_sub_ui(expected, expected, 1, MPFR_RNDN);
    mpfr_mul_2si(expected, expected, 192, MPFR_RNDN);
    assert_true(fabs(mpfr_get_d(expected, MPFR_RNDN)) <= 2);
    mpfr_clears(x, y, expected, (mpfr_ptr)NULL);
    ap_exp_free(context);
}

/* A ball that lacks 40 bits is too wide at 16 bits more than asked for; at 80 it is not. */
static void exponentials_are_asked_for_again(void **state)
{
    if (!product_has(PRODUCT_ARB)) {
        skip();
    }
    for (size_t wide = 0; wide < 2; wide++) {
        check_exponential(ap_exp, mpfr_exp, wide);
        check_exponential(ap_expm1, mpfr_expm1, wide);
    }
}

/* Every entry is what (1) of product.h says, the one whose ball is wide too. */
static void wide_entries_go_to_the_loop(void **state)
{
    enum { M = 3, N = 2, K = 5, BITS = 192 };
    mpfr_t sum, size;
    if (!product_has(PRODUCT_ARB)) {
        skip();
    }
    ProductView a = operand_make(LONG, NORMAL, "a", M, K, BITS)->view;
    ProductView b = operand_make(LONG, NORMAL, "b", K, N, BITS)->view;
    const ApMat *c = operand_zeros(M, N, BITS);
    mpfr_inits2(EXACT_BITS, sum, size, (mpfr_ptr)NULL);
    wide_balls_next(1);
    operand_product(product_view(c), a, b, (ProductOptions){.backend = PRODUCT_ARB});
    assert_int_equal(wide_balls_calls(), 1);
    for (size_t i = 0; i < M * N; i++) {
        exact_entry(sum, size, a, b, i / N, i % N);
        mpfr_sub(sum, sum, c->entry + i, MPFR_RNDN);
        mpfr_mul_d(size, size, product_error_factor(K), MPFR_RNDN);
        mpfr_mul_2si(size, size, -BITS, MPFR_RNDN);
        assert_true(mpfr_cmpabs(sum, size) <= 0);
    }
    mpfr_clears(sum, size, (mpfr_ptr)NULL);
    operands_clear();
}

SUBJECT(wide_balls)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exponentials_are_asked_for_again),
        cmocka_unit_test(wide_entries_go_to_the_loop),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
