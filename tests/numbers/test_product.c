/*
 * Matrix products: every backend against exact sums, entry by entry, on data that wants to break
 * them.
 */
#include "../../reference/numbers/tier.h"
#include "../../reference/reference.h"
#include "../fixture.h"
#include "../operands.h"
#include "../unit.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Beyond a double, within what is scaled. */
#define EXPONENT_FAR (1L << 40)

typedef struct {
    double ratio;
    size_t by_loop, entries;
    char where[160];
} Worst;

/* |C - (before + A B)| over its bound, the largest; before may be NULL. */
static double worst_ratio(const ApMat *c, const ApMat *before, ProductView a, ProductView b)
{
    mpfr_t sum, size, error, ratio;
    double worst = 0;
    mpfr_init2(sum, EXACT_BITS);
    mpfr_inits2(64, size, ratio, (mpfr_ptr)0);
    mpfr_init2(error, EXACT_BITS);
    for (size_t i = 0; i < c->rows; i++) {
        for (size_t j = 0; j < c->columns; j++) {
            mpfr_srcptr x = ap_at(c, i, j);
            if (!mpfr_number_p(x)) {
                print_error("entry %zu, %zu is not a number\n", i, j);
                return INFINITY;
            }
            exact_entry(sum, size, a, b, i, j);
            if (before != NULL) {
                mpfr_add(sum, sum, ap_at(before, i, j), MPFR_RNDN);
            }
            mpfr_sub(error, x, sum, MPFR_RNDA);
            mpfr_abs(error, error, MPFR_RNDA);
            mpfr_mul_d(size, size, product_error_factor(a.columns), MPFR_RNDD);
            if (before != NULL) { /* the addition's rounding */
                mpfr_abs(sum, x, MPFR_RNDD);
                mpfr_add(size, size, sum, MPFR_RNDD);
            }
            mpfr_mul_2si(size, size, -(long)c->bits, MPFR_RNDD);
            if (mpfr_zero_p(size)) {
                assert_true(mpfr_zero_p(error));
            } else {
                mpfr_div(ratio, error, size, MPFR_RNDU);
                worst = fmax(worst, mpfr_get_d(ratio, MPFR_RNDU));
            }
        }
    }
    mpfr_clears(sum, size, error, ratio, (mpfr_ptr)0);
    return worst;
}

typedef struct {
    size_t m, n, k;
    mpfr_prec_t bits;
} Size;

static void check_product(Worst *worst, ProductBackend backend, Size s, Kind ka, Kind kb, Form fa,
                          Form fb, bool add)
{
    ProductView a = operand_make(fa, ka, "a", s.m, s.k, s.bits)->view;
    ProductView b = operand_make(fb, kb, "b", s.k, s.n, s.bits)->view;
    const ApMat *c = &operand_make(LONG, NORMAL, "c", s.m, s.n, s.bits)->mat;
    const ApMat *before = &operand_make(LONG, NORMAL, "c", s.m, s.n, s.bits)->mat;
    ProductReport report =
        operand_product(product_view(c), a, b, (ProductOptions){.backend = backend, .add = add});
    double ratio = worst_ratio(c, add ? before : NULL, a, b);
    worst->by_loop += report.by_loop;
    worst->entries += s.m * s.n;
    if (!(ratio <= worst->ratio)) {
        worst->ratio = ratio;
        snprintf(worst->where, sizeof worst->where,
                 "%zu x %zu x %zu, %ld bits, %s x %s, forms %d %d", s.m, s.k, s.n, (long)s.bits,
                 kind_names[ka], kind_names[kb], (int)fa, (int)fb);
    }
    if (ratio > 1) {
        print_error("error / bound = %.3g: %s\n", ratio, worst->where);
    }
    assert_true(ratio <= 1);
    operands_clear();
}

/* The largest sums of so many terms, of either sign. */
static void check_largest_sums(Worst *worst, ProductBackend backend, size_t terms, mpfr_prec_t bits)
{
    const Size size = {1, 2, terms, bits};
    check_product(worst, backend, size, FULL, FULL, LONG, LONG, false);
    check_product(worst, backend, size, FULL, NEGATIVE, LONG, LONG, false);
}

static void print_worst(ProductBackend backend, const char *what, const Worst *worst)
{
    print_message("%-8s %-6s worst error / bound %.3g (%s); %zu of %zu entries by the loop\n",
                  product_backend_name(backend), what, worst->ratio, worst->where, worst->by_loop,
                  worst->entries);
}

/* Behind the last backend of this tier: digits take vectors. */
static ProductBackend backends_end(void)
{
    return tier_in_use() == TIER_PORTABLE ? PRODUCT_DIGITS : PRODUCT_BACKENDS;
}

static void digits_are_here(void)
{
    if (backends_end() == PRODUCT_DIGITS) {
        skip();
    }
}

/* In the short form those that vectors serve. */
static void each_backend(void check(ProductBackend))
{
    for (ProductBackend b = fixture_short() ? PRODUCT_MODULAR : PRODUCT_LOOP; b < backends_end();
         b++) {
        check(b);
    }
}

/* Sizes around the edges of tiles, lanes, and blocks of terms; every precision's count of digits
 * from 2 to 20, and some up to 64. */
static void check_sizes(ProductBackend backend)
{
    static const Size sizes[] = {
        {1, 1, 1, 64},     {1, 9, 1, 128},   {7, 1, 2, 256},    {3, 5, 0, 256},    {4, 8, 8, 200},
        {5, 9, 13, 300},   {17, 31, 23, 53}, {16, 8, 3, 400},   {19, 65, 7, 256},  {2, 3, 401, 256},
        {3, 9, 1030, 128}, {2, 2, 2051, 64}, {2, 3, 1029, 256}, {3, 2, 300, 1000}, {9, 11, 37, 512},
        {6, 7, 29, 620},   {5, 10, 50, 740}, {4, 9, 41, 1024},  {3, 3, 210, 1100}, {33, 66, 10, 96},
        {5, 9, 34, 1600},  {2, 9, 40, 2049}, {3, 9, 130, 3300}, {2, 300, 5, 64}};
    Worst worst = {.ratio = 0};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        for (int form = 0; form < FORMS; form++) {
            check_product(&worst, backend, sizes[s], NORMAL, NORMAL, LONG, (Form)form, form % 2);
        }
        check_product(&worst, backend, sizes[s], NORMAL, NORMAL, DOUBLES, LONGER, true);
        check_product(&worst, backend, sizes[s], NEAR_ONE, NEAR_ONE, LONG, LONG, false);
        check_product(&worst, backend, sizes[s], FULL, FULL, LONG, LONG, false);
        check_product(&worst, backend, sizes[s], INTEGERS, NORMAL, LONG, LONG, false);
        check_product(&worst, backend, sizes[s], INTEGERS, NORMAL, LONG, DOUBLES, false);
    }
    print_worst(backend, "sizes", &worst);
}

static void sizes_are_within_the_bound(void **state)
{
    each_backend(check_sizes);
}

static void check_kinds(ProductBackend backend)
{
    static const Size sizes[] = {{6, 10, 24, 256}, {9, 17, 19, 128}, {5, 8, 31, 520}};
    Worst worst = {.ratio = 0};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        for (int kind = 0; kind < KINDS * KINDS; kind += fixture_short() ? 4 : 1) {
            Form fa = (Form)(kind % 5 % FORMS), fb = (Form)((kind + (int)s) % FORMS);
            check_product(&worst, backend, sizes[s], (Kind)(kind % KINDS), (Kind)(kind / KINDS), fa,
                          fb, kind % 3 == 0);
        }
    }
    print_worst(backend, "kinds", &worst);
}

/* The largest sums of either sign at every precision: the primes' product is hardly above some. */
static void primes_hold_the_largest_sums(void **state)
{
    static const size_t terms[] = {1, 3, 8};
    Worst worst = {.ratio = 0};
    for (mpfr_prec_t bits = 53; bits < 300; bits++) {
        for (size_t i = 0; i < 3; i++) {
            check_largest_sums(&worst, PRODUCT_MODULAR, terms[i], bits);
        }
    }
    assert_int_equal(worst.by_loop, 0);
    print_worst(PRODUCT_MODULAR, "full", &worst);
}

/* Sums of so many digits, all of them ones, that 64 bits hold them only where carries are taken on
 * the way: of few digits, whose entries lie side by side, and of many. */
static void long_sums_are_carried(void **state)
{
    Worst worst = {.ratio = 0};
    digits_are_here();
    for (mpfr_prec_t bits = 128; bits < 900; bits += 250) {
        check_largest_sums(&worst, PRODUCT_DIGITS, 4200, bits);
    }
    print_worst(PRODUCT_DIGITS, "long", &worst);
}

static void kinds_are_within_the_bound(void **state)
{
    each_backend(check_kinds);
}

/* What lies beyond the columns that are kept, where P is anywhere between whole digits: lines whose
 * digits are all ones lose most. */
static void columns_cut_off_are_within_the_bound(void **state)
{
    static const size_t terms[] = {3, 64, 1500};
    static const Kind kinds[][2] = {{FULL, FULL}, {FULL, NEGATIVE}, {NEGATIVE, NORMAL}};
    Worst worst = {.ratio = 0};
    digits_are_here();
    for (mpfr_prec_t bits = 140; bits < 330; bits += 3) {
        for (size_t t = 0; t < sizeof terms / sizeof *terms; t++) {
            for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
                check_product(&worst, PRODUCT_DIGITS, (Size){1, 3, terms[t], bits}, kinds[k][0],
                              kinds[k][1], LONG, bits % 2 ? LONG : DOUBLES, false);
            }
        }
    }
    print_worst(PRODUCT_DIGITS, "cut", &worst);
}

/* Weights with a column of one entry beside full ones: what may be off there goes with its own sum
 * of magnitudes, while its other entries, a little below 0, lose as much as any: they are 1/2 less
 * a little where signs are taken out, and all their digits are ones. */
static void lone_weights_are_within_the_bound(void **state)
{
    enum { K = 1500, N = 9, LONE = 4 };
    static double b[K * N];
    double worst = 0;
    digits_are_here();
    for (size_t i = 0; i < K * N; i++) {
        b[i] = i % N != LONE ? operand_entry(FULL, "b", i / N, i % N) : i / N == 7 ? 0.5 : -0x1p-60;
    }
    for (mpfr_prec_t bits = 150; bits < 330; bits += 3) {
        ProductView weights = product_doubles(b, K, N, N);
        ProductView a = operand_make(LONG, FULL, "a", 1, K, bits + 100)->view;
        const ApMat *c = operand_zeros(1, N, bits);
        operand_product(product_view(c), a, weights, (ProductOptions){.backend = PRODUCT_DIGITS});
        worst = fmax(worst, worst_ratio(c, NULL, a, weights));
        assert_true(worst <= 1);
        operands_clear();
    }
    print_message("lone weights: worst error / bound %.3g\n", worst);
}

static bool is_at(void *context, const double *number)
{
    return number == context;
}

/* Weights that go are packed again where others come to lie at their place; those that stay are
 * read no more: what they were counts. */
static void weights_that_go_are_packed_again(void **state)
{
    enum { K = 40, N = 12, BITS = 256 };
    static double b[2][K * N];
    digits_are_here();
    for (size_t gone = 0; gone < 2; gone++) {
        ProductWeights *kept = product_weights_make(0x1p24);
        for (int time = 0; time < 2; time++) {
            for (size_t i = 0; i < K * N; i++) {
                b[0][i] = operand_entry(POWERS, time == 0 ? "b" : "c", i / N, i % N);
                b[1][i] = operand_entry(POWERS, time == 0 ? "d" : "e", i / N, i % N);
            }
            for (size_t w = 0; w < 2; w++) {
                ProductView weights = product_doubles(b[w], K, N, N);
                ProductView a = operand_make(LONG, FULL, "a", 3, K, BITS)->view;
                const ApMat *c = operand_zeros(3, N, BITS);
                operand_product(product_view(c), a, weights,
                                (ProductOptions){.backend = PRODUCT_DIGITS, .weights = kept});
                assert_int_equal(worst_ratio(c, NULL, a, weights) <= 1, time == 0 || w == gone);
            }
            product_weights_drop(kept, is_at, b[gone]);
        }
        product_weights_clear(kept);
        operands_clear();
    }
}

/* The loop is what saves wide data; ordinary data must not need it. */
static void ordinary_data_need_no_loop(void **state)
{
    static const Kind kinds[] = {NORMAL, ONES, NEAR_ONE, INTEGERS};
    for (ProductBackend b = PRODUCT_MODULAR; b < backends_end(); b++) {
        for (int i = 0; i < 4; i++) {
            Worst worst = {.ratio = 0};
            for (mpfr_prec_t bits = 64; bits <= 1024; bits *= fixture_short() ? 4 : 2) {
                check_product(&worst, b, (Size){20, 24, 40, bits}, kinds[i], NORMAL, LONG, LONG,
                              false);
                check_product(&worst, b, (Size){20, 24, 40, bits}, kinds[i], NORMAL, LONG, DOUBLES,
                              false);
            }
            assert_int_equal(worst.by_loop, 0);
        }
    }
}

/* Entries far below the largest ones of their row and column are not left to the loop where a few
 * digits more serve most of them: the cheaper digits are in a tier, the fewer are left. */
static void spread_data_need_few_loops(void **state)
{
    static const size_t sizes[] = {35, 68};
    static const size_t share[TIERS] = {[TIER_AVX2] = 5, [TIER_AVX512] = 10};
    digits_are_here();
    for (size_t i = 0; i < 2; i++) {
        size_t n = sizes[i];
        Worst worst = {.ratio = 0};
        check_product(&worst, PRODUCT_DIGITS, (Size){n, n, 40, 256}, WIDE, WIDE, LONG, LONG, false);
        print_message("%zu of %zu entries by the loop\n", worst.by_loop, worst.entries);
        assert_true(worst.by_loop * share[tier_in_use()] < worst.entries);
    }
}

/* Two short operands: the exact sum, rounded once; of more terms than are there at once. */
static void short_operands_lose_nothing(void **state)
{
    static const ProductBackend backends[] = {PRODUCT_MODULAR, PRODUCT_DIGITS};
    for (int which = 0; which < 4 && backends[which / 2] < backends_end(); which++) {
        ProductBackend backend = backends[which / 2];
        mpfr_t sum, size;
        Operand *b = operand_make(DOUBLES_TURNED, NORMAL, "b", 600, 13, 256);
        for (size_t e = 0; which % 2 != 0 && e < 13 * b->view.column.stride; e++) {
            b->number[e] = ldexp(b->number[e], -1040); /* denormal, most of them */
        }
        ProductView a =
            operand_make(DOUBLES, which % 2 ? INTEGERS : POWERS, "a", 11, 600, 256)->view;
        const ApMat *c = operand_zeros(11, 13, 256);
        ProductReport report =
            operand_product(product_view(c), a, b->view, (ProductOptions){.backend = backend});
        assert_int_equal(report.backend, backend);
        mpfr_init2(sum, EXACT_BITS);
        mpfr_init2(size, 64);
        for (size_t i = 0; i < 11 * 13; i++) {
            exact_entry(sum, size, a, b->view, i / 13, i % 13);
            mpfr_prec_round(sum, 256, MPFR_RNDN);
            assert_true(mpfr_equal_p(sum, c->entry + i));
            mpfr_set_prec(sum, EXACT_BITS);
        }
        mpfr_clears(sum, size, (mpfr_ptr)0);
        operands_clear();
    }
}

static bool same_bits(const ApMat *x, const ApMat *y)
{
    for (size_t i = 0; i < x->rows * x->columns; i++) {
        bool same = mpfr_nan_p(x->entry + i) ? mpfr_nan_p(y->entry + i)
                                             : mpfr_equal_p(x->entry + i, y->entry + i);
        if (!same || mpfr_signbit(x->entry + i) != mpfr_signbit(y->entry + i)) {
            return false;
        }
    }
    return true;
}

static void check_shared(ProductBackend backend, size_t m, size_t n, size_t k)
{
    Operand *a = operand_make(LONG, ONE_HOT, "a", m, k, 256);
    ProductView b = operand_make(LONG, WIDE_LINES, "b", k, n, 256)->view;
    const ApMat *one = operand_zeros(m, n, 256), *more = operand_zeros(m, n, 256);
    for (size_t l = 0; l < k; l++) { /* beyond what MPFR lets a new thread have */
        mpfr_ptr x = ap_at(&a->mat, m / 2, l);
        mpfr_mul_2si(x, x, 1L << 35, MPFR_RNDN);
    }
    for (int threads = 1; threads < 5; threads++) {
        operand_product(product_view(threads == 1 ? one : more), a->view, b,
                        (ProductOptions){.backend = backend, .threads = threads});
        assert_true(threads == 1 || same_bits(one, more));
    }
    /* The caller's own threads, all at once. */
    bool same = true;
#pragma omp parallel for num_threads(4) reduction(&& : same)
    for (int i = 0; i < 8; i++) {
        ApMat mine;
        ref_thread_setup();
        ap_init(&mine, m, n, 256);
        product_mul(product_view(&mine), a->view, b, &(ProductOptions){.backend = backend}, NULL);
        same = same_bits(one, &mine) && same;
        ap_clear(&mine);
        if (omp_get_thread_num() != 0) {
            ref_thread_clear();
        }
    }
    assert_true(same);
    operands_clear();
}

/* Blocks of rows, and of columns where rows are few. */
static void check_threads(ProductBackend backend)
{
    check_shared(backend, 67, 20, 30);
    check_shared(backend, 2, 50, 30);
}

static void threads_change_nothing(void **state)
{
    each_backend(check_threads);
}

enum { TAIL = 150, TIES = 48 };

/* Entry i of so many: a random head of so many bits, or one of ones, and a tail: nothing, a tie, a
 * little more, a little less, in the later entries only in its lowest bits. */
static void set_tie(mpfr_ptr entry, gmp_randstate_t random, mpfr_prec_t bits, size_t i, size_t p)
{
    mpz_t x, tail;
    mpz_inits(x, tail, (mpz_ptr)0);
    mpz_urandomb(x, random, (mp_bitcnt_t)bits);
    mpz_setbit(x, (mp_bitcnt_t)bits - 1);
    for (size_t bit = 0; i % 3 == 0 && bit < (size_t)bits; bit++) {
        mpz_setbit(x, bit);
    }
    mpz_mul_2exp(x, x, TAIL);
    mpz_set_ui(tail, i / 3 % 4 != 0);
    mpz_mul_2exp(tail, tail, TAIL - 1);
    mpz_add(x, x, tail);
    mpz_set_si(tail, i / 3 % 4 == 2 ? 1 : i / 3 % 4 == 3 ? -1 : 0);
    mpz_mul_2exp(tail, tail, i < TIES / 2 ? (i + p) * 37 % (TAIL - 1) : i % 8);
    mpz_add(x, x, tail);
    assert_int_equal(mpfr_set_z_2exp(entry, x, (long)i - 300, MPFR_RNDN), 0);
    mpfr_setsign(entry, entry, i % 2 != 0, MPFR_RNDN);
    mpz_clears(x, tail, (mpz_ptr)0);
}

/* 1 x, which is exact until it is stored: C has mpfr_set's bits.  A wider C is x. */
static void check_ties(ProductBackend backend)
{
    static const mpfr_prec_t bits[] = {2,   53,  63,  64,  65,  127, 128, 129,
                                       191, 192, 256, 300, 362, 511, 512, 513};
    const double number = 1;
    const ProductView one = product_doubles(&number, 1, 1, 1);
    const ProductOptions guarded = {.backend = backend, .guard = TAIL};
    gmp_randstate_t random;
    gmp_randinit_default(random);
    gmp_randseed_ui(random, seed);
    for (size_t p = 0; p < sizeof bits / sizeof *bits; p++) {
        const ApMat *a = operand_zeros(TIES, 1, bits[p] + TAIL),
                    *c = operand_zeros(TIES, 1, bits[p]);
        const ApMat *wider = operand_zeros(TIES, 1, bits[p] + TAIL + 188);
        const ApMat *expected = operand_zeros(TIES, 1, bits[p]);
        ProductView x = product_view(a), y = product_view(c);
        for (size_t i = 0; i < TIES; i++) {
            set_tie(ap_at(a, i, 0), random, bits[p], i, p);
            mpfr_set(ap_at(expected, i, 0), ap_at(a, i, 0), MPFR_RNDN);
        }
        operand_product(y, x, one, guarded);
        assert_true(same_bits(expected, c));
        for (size_t i = 0; i < TIES; i++) {
            mpfr_set_nan(ap_at(c, i, 0));
        }
        operand_product(product_transposed(y), one, product_transposed(x), guarded);
        assert_true(same_bits(expected, c)); /* the same as a row */
        operand_product(product_view(wider), x, one, (ProductOptions){.backend = backend});
        for (size_t i = 0; i < TIES; i++) {
            assert_true(mpfr_equal_p(ap_at(wider, i, 0), ap_at(a, i, 0)));
        }
        operands_clear();
    }
    gmp_randclear(random);
}

static void ties_go_to_even(void **state)
{
    each_backend(check_ties);
}

static const ProductOptions looped = {.backend = PRODUCT_LOOP, .guard = 4000};

/* With 64 guard bits, a product has the bits of the exact one rounded to nearest, whichever backend
 * computes it: those of a loop with 4000. */
static void check_guard(ProductBackend backend)
{
    enum { M = 33, K = 40, N = 29, BITS = 128 };
    static const Kind kinds[] = {NORMAL, WIDE_LINES, ONE_HOT};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        ProductView a = operand_make(LONG, kinds[i], "a", M, K, BITS)->view;
        ProductView b = operand_make(DOUBLES, NORMAL, "b", K, N, BITS)->view;
        const ApMat *exact = operand_zeros(M, N, BITS), *c = operand_zeros(M, N, BITS);
        operand_product(product_view(exact), a, b, looped);
        operand_product(product_view(c), a, b, (ProductOptions){.backend = backend, .guard = 64});
        assert_true(same_bits(exact, c));
        operands_clear();
    }
}

static void guard_bits_round_once(void **state)
{
    each_backend(check_guard);
}

/* What C was before A B is added: of the product's size, far smaller and larger, or all but the
 * product's last bits with another sign, now and then 0. */
static void fill_before(ApMat *c, const ApMat *exact)
{
    for (size_t i = 0; i < c->rows; i++) {
        for (size_t j = 0; j < c->columns; j++) {
            mpfr_ptr x = ap_at(c, i, j);
            if (i % 4 == 1) {
                mpfr_neg(x, ap_at(exact, i, j), MPFR_RNDN);
            } else {
                mpfr_mul_2si(x, x, 97 * ((long)(i + j) % 9 - 4), MPFR_RNDN);
            }
            if (i % 8 == 6 && j % 5 == 3) {
                mpfr_set_zero(x, 1);
            }
        }
    }
}

/* C + A B, rounded once. */
static void check_sum(ProductBackend backend, mpfr_prec_t bits, Kind ka, Form form)
{
    enum { M = 32, K = 40, N = 29, GUARD = 64 };
    ProductView a = operand_make(form, ka, "a", M, K, bits)->view;
    ProductView b = operand_make(DOUBLES, NORMAL, "b", K, N, bits)->view;
    ApMat *exact = operand_zeros(M, N, bits), *results[2];
    operand_product(product_view(exact), a, b, looped);
    for (int i = 0; i < 2; i++) {
        results[i] = &operand_make(LONG, NORMAL, "c", M, N, bits)->mat;
        fill_before(results[i], exact);
        ProductOptions options = {.backend = backend, .guard = GUARD};
        options = i == 0 ? looped : options;
        options.add = true;
        operand_product(product_view(results[i]), a, b, options);
    }
    assert_true(same_bits(results[0], results[1]));
    operands_clear();
}

/* Operands are short, so that products are exact: nothing is lost where they cancel. */
static void check_sums(ProductBackend backend)
{
    for (mpfr_prec_t bits = 64; bits <= 256; bits += 64) {
        check_sum(backend, bits, NORMAL, DOUBLES);
        check_sum(backend, bits, INTEGERS, LONG);
        check_sum(backend, bits, FULL, LONG);
    }
}

static void sums_round_once(void **state)
{
    check_sums(PRODUCT_DOT);
    if (backends_end() == PRODUCT_BACKENDS) {
        check_sums(PRODUCT_DIGITS);
    }
}

/* Equal but for rounding at 200 bits. */
static bool is_near(mpfr_srcptr x, mpfr_srcptr y)
{
    mpfr_t difference;
    mpfr_init2(difference, 200);
    mpfr_sub(difference, x, y, MPFR_RNDN);
    bool near =
        mpfr_number_p(difference) && (mpfr_zero_p(difference) || mpfr_get_exp(difference) < -180);
    mpfr_clear(difference);
    return near;
}

/* Heads of a tensor w, and a block x of a wider matrix. */
enum { HEADS = 3, D = 10, WIDTH = 4, LD = 6, STRIDE = 71, M = 7 };

static ProductView heads_beside(const double *w)
{
    return product_doubles_beside(product_doubles(w, D, WIDTH, LD), HEADS, STRIDE);
}

/* Below each other: (x w) v has x w's columns by (head, row), here twice the fifth; and (w' x')'
 * is x w. */
static void check_below(ProductOptions options, ProductView x, const double *w,
                        const ApMat *expected)
{
    const ApMat *turned = operand_zeros(HEADS * WIDTH, M, 200), *sum = operand_zeros(M, 1, 200);
    double below[HEADS * STRIDE];
    operand_product(product_view(turned), product_transposed(heads_beside(w)),
                    product_transposed(x), options);
    for (size_t i = 0; i < HEADS * STRIDE; i++) {
        below[i] = NAN;
    }
    for (size_t i = 0; i < HEADS * WIDTH; i++) {
        below[i / WIDTH * STRIDE + i % WIDTH * LD] = i == 5 ? 2 : 0;
    }
    operand_product(product_view(sum), product_view(expected),
                    product_doubles_below(product_doubles(below, WIDTH, 1, LD), HEADS, STRIDE),
                    options);
    for (size_t i = 0; i < M; i++) {
        mpfr_div_2ui(ap_at(sum, i, 0), ap_at(sum, i, 0), 1, MPFR_RNDN);
        assert_true(is_near(ap_at(sum, i, 0), ap_at(expected, i, 5)));
        assert_true(is_near(ap_at(turned, 5, i), ap_at(expected, i, 5)));
    }
}

/* Heads beside each other, below each other, and in a block of C. */
static void check_views(ProductBackend backend)
{
    double w[HEADS * STRIDE];
    const ProductOptions options = {.backend = backend};
    const ApMat *gathered = operand_zeros(D, HEADS * WIDTH, 53);
    const ApMat *c = operand_zeros(M + 1, HEADS * WIDTH + 2, 200);
    const ApMat *expected = operand_zeros(M, HEADS * WIDTH, 200);
    for (size_t i = 0; i < HEADS * STRIDE; i++) {
        w[i] = operand_entry(NORMAL, "w", 0, i);
    }
    for (size_t i = 0; i < D * HEADS * WIDTH; i++) {
        size_t r = i / (HEADS * WIDTH), h = i % (HEADS * WIDTH) / WIDTH, q = i % WIDTH;
        mpfr_set_d(ap_at(gathered, r, h * WIDTH + q), w[h * STRIDE + r * LD + q], MPFR_RNDN);
    }
    Operand *wide = operand_make(LONG, NORMAL, "x", M + 2, 30, 200);
    ProductView x = product_block(&wide->mat, 1, 4, M, D);
    operand_product(product_view(expected), x, product_view(gathered), options);
    operand_product(product_block(c, 1, 2, M, HEADS * WIDTH), x, heads_beside(w), options);
    for (size_t i = 0; i < c->rows * c->columns; i++) {
        size_t r = i / c->columns, q = i % c->columns;
        assert_true(r < 1 || q < 2 ? mpfr_zero_p(c->entry + i)
                                   : mpfr_equal_p(c->entry + i, ap_at(expected, r - 1, q - 2)));
    }
    check_below(options, x, w, expected);
    operands_clear();
}

static void views_find_their_entries(void **state)
{
    each_backend(check_views);
}

/* C by the loop and by the backend. */
static void both_ways(const ApMat *results[2], ProductView a, ProductView b, ProductBackend backend)
{
    for (int i = 0; i < 2; i++) {
        results[i] = operand_zeros(a.rows, b.columns, 128);
        operand_product(product_view(results[i]), a, b,
                        (ProductOptions){.backend = i == 0 ? PRODUCT_LOOP : backend});
    }
}

/* What is not a number, and exponents at the ends of MPFR's range. */
static void check_limits(ProductBackend backend)
{
    for (int what = 0; what < 4; what++) {
        Operand *a = operand_make(LONG, NORMAL, "a", 4, 6, 128);
        Operand *b = operand_make(LONG, NORMAL, "b", 6, 5, 128);
        const ApMat *results[2];
        if (what == 0) {
            mpfr_set_nan(ap_at(&a->mat, 1, 2));
            mpfr_set_inf(ap_at(&b->mat, 3, 3), 1);
        } else if (what == 1) {
            mpfr_set_zero(ap_at(&a->mat, 0, 0), 1);
            mpfr_set_inf(ap_at(&b->mat, 0, 0), 1);
        } else {
            mpfr_exp_t far = what == 2 ? EXPONENT_FAR : mpfr_get_emax() - 9;
            for (size_t i = 0; i < 6; i++) {
                mpfr_set_exp(ap_at(&a->mat, 2, i), -far);
                mpfr_set_exp(ap_at(&b->mat, i, 4), what == 2 ? far : -far);
            }
        }
        both_ways(results, a->view, b->view, backend);
        for (size_t i = 0; i < 20; i++) {
            mpfr_srcptr y = results[0]->entry + i, x = results[1]->entry + i;
            assert_true(mpfr_nan_p(x) == mpfr_nan_p(y) && mpfr_inf_p(x) == mpfr_inf_p(y) &&
                        mpfr_zero_p(x) == mpfr_zero_p(y));
            assert_true(!mpfr_regular_p(x) || labs(mpfr_get_exp(x) - mpfr_get_exp(y)) <= 1);
        }
        operands_clear();
    }
}

/* Doubles that are not numbers make C's entries what the loop makes them, and where A is 0 no
 * number. */
static void check_odd_doubles(ProductBackend backend)
{
    const double odd[] = {NAN, INFINITY, -INFINITY};
    for (size_t which = 0; which < 6; which++) {
        ProductView a = operand_make(LONG, which < 3 ? NORMAL : ZEROS, "a", 4, 6, 128)->view;
        Operand *b = operand_make(DOUBLES, NORMAL, "b", 6, 5, 128);
        const ApMat *results[2];
        b->number[2 * (5 + 3) + 3] = odd[which % 3]; /* its rows have 3 columns of room */
        both_ways(results, a, b->view, backend);
        for (size_t i = 0; i < 20; i++) {
            mpfr_srcptr y = results[0]->entry + i, x = results[1]->entry + i;
            bool usual = i % 5 != 3;
            assert_int_equal(mpfr_number_p(x) != 0, usual);
            assert_true(usual || mpfr_nan_p(x) == mpfr_nan_p(y));
        }
        operands_clear();
    }
}

static void limits_are_the_loops(void **state)
{
    each_backend(check_limits);
    each_backend(check_odd_doubles);
}

/* Terms at every distance from the largest, the sum of each kind of cancellation: what dot products
 * keep and cut off, and entries of several lengths in one line. */
static void distant_terms_are_within_the_bound(void **state)
{
    enum { K = 5 };
    static const mpfr_prec_t bits[] = {64, 120, 128, 187, 256, 512};
    Worst worst = {.ratio = 0};
    for (size_t p = 0; p < sizeof bits / sizeof *bits; p++) {
        for (long apart = 0; apart < 400; apart += 7) {
            Operand *a = operand_make(LONG, apart % 2 ? NEAR_ONE : NORMAL, "a", 2, K, bits[p]);
            Operand *b = operand_make(LONG, NORMAL, "b", K, 2, bits[p]);
            const ApMat *c = operand_zeros(2, 2, bits[p]);
            for (size_t l = 1; l < K; l++) {
                mpfr_ptr x = ap_at(&a->mat, 1, l), y = ap_at(&b->mat, l, 1);
                mpfr_mul_2si(x, x, -apart * (long)l, MPFR_RNDN);
                mpfr_mul_2si(y, y, apart, MPFR_RNDN);
            }
            mpfr_t longer;
            mpfr_init2(longer, 700);
            mpfr_sqrt_ui(longer, 3, MPFR_RNDN);
            __mpfr_struct own = *ap_at(&b->mat, 2, 0);
            *ap_at(&b->mat, 2, 0) = *longer;
            mpfr_set_zero(ap_at(&a->mat, 0, 3), -1);
            operand_product(product_view(c), a->view, b->view,
                            (ProductOptions){.backend = PRODUCT_DOT});
            double ratio = worst_ratio(c, NULL, a->view, b->view);
            worst.ratio = fmax(worst.ratio, ratio);
            assert_true(ratio <= 1);
            *ap_at(&b->mat, 2, 0) = own;
            mpfr_clear(longer);
            operands_clear();
        }
    }
    print_worst(PRODUCT_DOT, "apart", &worst);
}

/* The sums that fill a window's head: 2^j terms and one more or less, all near 2^E, of one sign. */
static void largest_sums_fit_the_window(void **state)
{
    Worst worst = {.ratio = 0};
    for (size_t k = 1; k < 600; k = k < 9 ? k + 1 : 2 * k - 1) {
        for (mpfr_prec_t bits = 53; bits < 193; bits += k < 5 ? 1 : 23) {
            check_largest_sums(&worst, PRODUCT_DOT, k, bits);
        }
    }
    assert_int_equal(worst.by_loop, 0);
    print_worst(PRODUCT_DOT, "full", &worst);
}

/* Small products are the dot products', large ones nobody's who looks at each entry. */
static void small_products_are_dot_products(void **state)
{
    static const Size sizes[] = {{1, 1, 1, 256}, {2, 2, 2, 128}, {4, 4, 4, 64}, {4, 4, 4, 256}};
    for (size_t s = 0; s <= sizeof sizes / sizeof *sizes; s++) {
        Size size = s < 4 ? sizes[s] : (Size){64, 64, 64, 256};
        ProductView a = operand_make(LONG, NORMAL, "a", size.m, size.k, size.bits)->view;
        ProductView b = operand_make(LONG, NORMAL, "b", size.k, size.n, size.bits)->view;
        const ApMat *c = operand_zeros(size.m, size.n, size.bits);
        ProductReport report =
            operand_product(product_view(c), a, b, (ProductOptions){.backend = PRODUCT_AUTO});
        assert_int_equal(report.backend == PRODUCT_DOT, s < 4);
        assert_int_equal(report.backend == PRODUCT_LOOP, false);
        operands_clear();
    }
}

/* Whatever is chosen for a size must keep the bound, too. */
static void chosen_backends_keep_the_bound(void **state)
{
    static const Size sizes[] = {{1, 1, 1, 256},   {2, 3, 4, 128},     {20, 20, 20, 256},
                                 {40, 30, 50, 64}, {30, 30, 30, 1500}, {12, 12, 60, 3000}};
    Worst worst = {.ratio = 0};
    for (size_t s = 0; s < 6; s++) {
        check_product(&worst, PRODUCT_AUTO, sizes[s], NORMAL, NORMAL, LONG, LONG, false);
        check_product(&worst, PRODUCT_AUTO, sizes[s], ONE_HOT, WIDE_LINES, LONG, DOUBLES, true);
    }
    print_worst(PRODUCT_AUTO, "auto", &worst);
}

SUBJECT(product)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_within_the_bound),
        cmocka_unit_test(long_sums_are_carried),
        cmocka_unit_test(kinds_are_within_the_bound),
        cmocka_unit_test(columns_cut_off_are_within_the_bound),
        cmocka_unit_test(lone_weights_are_within_the_bound),
        cmocka_unit_test(weights_that_go_are_packed_again),
        cmocka_unit_test(primes_hold_the_largest_sums),
        cmocka_unit_test(ordinary_data_need_no_loop),
        cmocka_unit_test(spread_data_need_few_loops),
        cmocka_unit_test(short_operands_lose_nothing),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(guard_bits_round_once),
        cmocka_unit_test(sums_round_once),
        cmocka_unit_test(ties_go_to_even),
        cmocka_unit_test(views_find_their_entries),
        cmocka_unit_test(limits_are_the_loops),
        cmocka_unit_test(distant_terms_are_within_the_bound),
        cmocka_unit_test(largest_sums_fit_the_window),
        cmocka_unit_test(small_products_are_dot_products),
        cmocka_unit_test(chosen_backends_keep_the_bound),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
