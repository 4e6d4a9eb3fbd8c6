/*
 * Losses and KL divergences against their definitions, sum p (log p - log q) and -log q, with so
 * many bits that nothing is lost to cancellation; what they may be off by against logits that are
 * moved by as much; and what is no number, or too small to see.
 */
#include "../../reference/logits/divergence.h"
#include "../../reference/numbers/ap.h"
#include "../drawn_numbers.h"
#include "../unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CLASSES = 12, DEFINED_BITS = 8000, DIGITS = 17 };

/* Each class that often: more than are evaluated at once. */
enum { COPIES = 11 };

/* Logits of one position and what changes of them: rows of a matrix of REF_LOGIT_BITS. */
typedef struct {
    ApMat numbers;
    mpfr_t *z, *d; /* [COPIES * CLASSES], of which tests of one copy use the first */
    mpfr_t zero;
    RefSoftmax *softmax, *copied;
    RefCell kl, loss;
} Fixture;

static void numbers_init(mpfr_t x[CLASSES], mpfr_prec_t bits)
{
    for (size_t k = 0; k < CLASSES; k++) {
        mpfr_init2(x[k], bits);
    }
}

static void numbers_clear(mpfr_t x[CLASSES])
{
    for (size_t k = 0; k < CLASSES; k++) {
        mpfr_clear(x[k]);
    }
}

static int set_up(void **state)
{
    Fixture *f = calloc(1, sizeof *f);
    ref_thread_setup();
    ap_init(&f->numbers, 2, COPIES * CLASSES, REF_LOGIT_BITS);
    f->z = (mpfr_t *)ap_at(&f->numbers, 0, 0);
    f->d = (mpfr_t *)ap_at(&f->numbers, 1, 0);
    mpfr_init2(f->zero, 64);
    mpfr_set_zero(f->zero, 1);
    ref_cell_init(&f->kl, DIGITS);
    ref_cell_init(&f->loss, DIGITS);
    f->softmax = ref_softmax_make(CLASSES);
    f->copied = ref_softmax_make(COPIES * CLASSES);
    drawn_numbers = 7;
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    Fixture *f = *state;
    ap_clear(&f->numbers);
    mpfr_clear(f->zero);
    ref_cell_clear(&f->kl);
    ref_cell_clear(&f->loss);
    ref_softmax_clear(f->softmax);
    ref_softmax_clear(f->copied);
    free(f);
    return 0;
}

/* Logits within +-spread, changes within +-2^exponent. */
static void draw_logits(Fixture *f, double spread, long exponent)
{
    for (size_t k = 0; k < CLASSES; k++) {
        mpfr_set_d(f->z[k], spread * drawn_uniform(), MPFR_RNDN);
        mpfr_set_d(f->d[k], drawn_uniform(), MPFR_RNDN);
        mpfr_mul_2si(f->d[k], f->d[k], exponent, MPFR_RNDN);
    }
}

/* log softmax(z + d), or (d NULL) of z, by its definition. */
static void define_logs(mpfr_t logs[CLASSES], mpfr_t *z, mpfr_t *d)
{
    mpfr_t sum, power;
    mpfr_inits2(DEFINED_BITS, sum, power, (mpfr_ptr)0);
    mpfr_set_zero(sum, 1);
    for (size_t k = 0; k < CLASSES; k++) {
        mpfr_set(logs[k], z[k], MPFR_RNDN);
        if (d != NULL) {
            mpfr_add(logs[k], logs[k], d[k], MPFR_RNDN);
        }
        mpfr_exp(power, logs[k], MPFR_RNDN);
        mpfr_add(sum, sum, power, MPFR_RNDN);
    }
    mpfr_log(sum, sum, MPFR_RNDN);
    for (size_t k = 0; k < CLASSES; k++) {
        mpfr_sub(logs[k], logs[k], sum, MPFR_RNDN);
    }
    mpfr_clears(sum, power, (mpfr_ptr)0);
}

/* kl and the loss at class c, by their definitions; d NULL: of z alone. */
static void define(mpfr_ptr kl, mpfr_ptr loss, mpfr_t *z, mpfr_t *d, size_t c)
{
    mpfr_t p[CLASSES], q[CLASSES], t;
    mpfr_init2(t, DEFINED_BITS);
    numbers_init(p, DEFINED_BITS);
    numbers_init(q, DEFINED_BITS);
    define_logs(p, z, NULL);
    define_logs(q, z, d);
    mpfr_set_zero(kl, 1);
    for (size_t k = 0; k < CLASSES; k++) {
        mpfr_sub(t, p[k], q[k], MPFR_RNDN);
        mpfr_exp(p[k], p[k], MPFR_RNDN);
        mpfr_fma(kl, p[k], t, kl, MPFR_RNDN);
    }
    mpfr_neg(loss, q[c], MPFR_RNDN);
    numbers_clear(p);
    numbers_clear(q);
    mpfr_clear(t);
}

/* |a - b| <= 2^exponent |size| */
static void assert_within(mpfr_srcptr a, mpfr_srcptr b, mpfr_srcptr size, long exponent)
{
    mpfr_t d, limit;
    mpfr_inits2(DEFINED_BITS, d, limit, (mpfr_ptr)0);
    mpfr_sub(d, a, b, MPFR_RNDN);
    mpfr_mul_2si(limit, size, exponent, MPFR_RNDN);
    assert_true(mpfr_cmpabs(d, limit) <= 0);
    mpfr_clears(d, limit, (mpfr_ptr)0);
}

/* |a - b| <= 2^exponent |b| */
static void assert_near(mpfr_srcptr a, mpfr_srcptr b, long exponent)
{
    assert_within(a, b, b, exponent);
}

/* Where every class stands there COPIES times, KL is the same, and a loss is log COPIES more. */
static void assert_copies(Fixture *f, mpfr_srcptr kl, mpfr_srcptr loss, size_t c)
{
    mpfr_t more;
    for (size_t k = CLASSES; k < COPIES * CLASSES; k++) {
        mpfr_set(f->z[k], f->z[k - CLASSES], MPFR_RNDN);
        mpfr_set(f->d[k], f->d[k - CLASSES], MPFR_RNDN);
    }
    ref_softmax_set(f->copied, f->z[0], f->zero);
    ref_softmax_divergence(&f->kl, &f->loss, f->copied, f->d[0], f->zero, c);
    mpfr_init2(more, DEFINED_BITS);
    mpfr_log_ui(more, COPIES, MPFR_RNDN);
    mpfr_add(more, more, loss, MPFR_RNDN);
    assert_near(f->kl.value, kl, -100);
    assert_near(f->loss.value, more, -100);
    mpfr_clear(more);
}

/* Changes from 1e-868 to 100, across the series' end at 2^-8, of flat and of sure predictions: 30
 * digits of KL and of both losses. */
static void definitions_are_met(void **state)
{
    static const long exponents[] = {-2900, -1000, -100, -53, -20, -9, -8, -7, -3, 0, 3, 6};
    static const double spreads[] = {0.5, 5, 50};
    Fixture *f = *state;
    mpfr_t kl, loss;
    mpfr_inits2(DEFINED_BITS, kl, loss, (mpfr_ptr)0);
    for (size_t e = 0; e < sizeof exponents / sizeof *exponents; e++) {
        for (size_t s = 0; s < sizeof spreads / sizeof *spreads; s++) {
            draw_logits(f, spreads[s], exponents[e]);
            ref_softmax_set(f->softmax, f->z[0], f->zero);
            for (size_t c = 0; c < CLASSES; c += 5) {
                define(kl, loss, f->z, f->d, c);
                ref_softmax_divergence(&f->kl, &f->loss, f->softmax, f->d[0], f->zero, c);
                assert_int_equal(f->kl.state, CELL_VALUE);
                assert_int_equal(f->loss.state, CELL_VALUE);
                assert_near(f->kl.value, kl, -100);
                assert_near(f->loss.value, loss, -100);
                assert_copies(f, kl, loss, c + 7 * CLASSES);
                define(kl, loss, f->z, NULL, c);
                ref_softmax_loss(&f->loss, f->softmax, c);
                assert_int_equal(f->loss.state, CELL_VALUE);
                assert_near(f->loss.value, loss, -100);
            }
        }
    }
    mpfr_clears(kl, loss, (mpfr_ptr)0);
}

/* Of a class that is nearly impossible the change is so much larger than the others' that it makes
 * most of KL: its series is the longest. */
static void the_largest_change_has_its_terms(void **state)
{
    Fixture *f = *state;
    mpfr_t kl, loss;
    mpfr_inits2(DEFINED_BITS, kl, loss, (mpfr_ptr)0);
    for (size_t rare = 0; rare < CLASSES; rare += CLASSES - 1) {
        draw_logits(f, 1, -60);
        mpfr_set_d(f->z[rare], -50, MPFR_RNDN);
        mpfr_set_d(f->d[rare], 0x1.8p-9, MPFR_RNDN);
        ref_softmax_set(f->softmax, f->z[0], f->zero);
        ref_softmax_divergence(&f->kl, &f->loss, f->softmax, f->d[0], f->zero, 1);
        define(kl, loss, f->z, f->d, 1);
        assert_near(f->kl.value, kl, -100);
        assert_near(f->loss.value, loss, -100);
    }
    mpfr_clears(kl, loss, (mpfr_ptr)0);
}

/* The surest class of logits that are far apart: 1 - p is e^-200, and so is the loss. */
static void a_sure_prediction_has_its_loss(void **state)
{
    Fixture *f = *state;
    mpfr_t kl, loss;
    mpfr_inits2(DEFINED_BITS, kl, loss, (mpfr_ptr)0);
    for (size_t k = 0; k < CLASSES; k++) {
        mpfr_set_d(f->z[k], k == 3 ? 100 : -100 - 0.5 * (double)k, MPFR_RNDN);
        mpfr_set_d(f->d[k], 0x1p-40 * drawn_uniform(), MPFR_RNDN);
    }
    ref_softmax_set(f->softmax, f->z[0], f->zero);
    define(kl, loss, f->z, f->d, 3);
    assert_true(mpfr_cmp_d(loss, 1e-80) < 0);
    ref_softmax_divergence(&f->kl, &f->loss, f->softmax, f->d[0], f->zero, 3);
    assert_int_equal(f->kl.state, CELL_VALUE);
    assert_near(f->kl.value, kl, -60);
    assert_int_equal(f->loss.state, CELL_VALUE);
    assert_near(f->loss.value, loss, -100);
    ref_softmax_loss(&f->loss, f->softmax, 3);
    define(kl, loss, f->z, NULL, 3);
    assert_near(f->loss.value, loss, -100);
    mpfr_clears(kl, loss, (mpfr_ptr)0);
}

/* y [k] = x [k] +- off. */
static void move(Fixture *f, mpfr_t *y, mpfr_t *x, mpfr_srcptr off)
{
    for (size_t k = 0; k < CLASSES; k++) {
        (void)(drawn_uniform() < 0 ? mpfr_sub(y[k], x[k], off, MPFR_RNDN)
                                   : mpfr_add(y[k], x[k], off, MPFR_RNDN));
    }
}

/* The error of a cell holds what comes out when every logit and change is moved by what it may be
 * off by; and is no more than a thousand times that, of the worst of 40 moves. */
static void errors_hold(void **state)
{
    Fixture *f = *state;
    mpfr_t kl, loss, off, most, moved_z[CLASSES], moved_d[CLASSES], limit;
    mpfr_inits2(DEFINED_BITS, kl, loss, most, limit, (mpfr_ptr)0);
    mpfr_init2(off, 64);
    numbers_init(moved_z, DEFINED_BITS);
    numbers_init(moved_d, DEFINED_BITS);
    for (long exponent = -40; exponent <= 0; exponent += 10) {
        draw_logits(f, 4, exponent);
        mpfr_set_ui_2exp(off, 1, exponent - 12, MPFR_RNDN);
        ref_softmax_set(f->softmax, f->z[0], off);
        ref_softmax_divergence(&f->kl, NULL, f->softmax, f->d[0], off, 0);
        mpfr_set_ui_2exp(limit, 1, f->kl.error, MPFR_RNDN);
        define(kl, loss, f->z, f->d, 0);
        mpfr_set(most, kl, MPFR_RNDN);
        mpfr_set_zero(most, 1);
        for (int i = 0; i < 40; i++) {
            mpfr_t other;
            mpfr_init2(other, DEFINED_BITS);
            move(f, moved_z, f->z, off);
            move(f, moved_d, f->d, off);
            define(other, loss, moved_z, moved_d, 0);
            mpfr_sub(other, other, kl, MPFR_RNDN);
            mpfr_abs(other, other, MPFR_RNDN);
            mpfr_max(most, most, other, MPFR_RNDN);
            mpfr_clear(other);
        }
        assert_true(mpfr_lessequal_p(most, limit));
        mpfr_mul_ui(most, most, 1000, MPFR_RNDN);
        assert_true(mpfr_greater_p(most, limit));
    }
    numbers_clear(moved_z);
    numbers_clear(moved_d);
    mpfr_clears(kl, loss, off, most, limit, (mpfr_ptr)0);
}

/* |a - b| <= 2^cell->error */
static void assert_covers(const RefCell *cell, mpfr_srcptr a, mpfr_srcptr b)
{
    mpfr_t one;
    mpfr_init2(one, 64);
    mpfr_set_ui(one, 1, MPFR_RNDN);
    assert_within(a, b, one, cell->error);
    mpfr_clear(one);
}

/* The worst moves by off: one class up and all others down, where they are e^z_k of it each.  d is
 * exactly what it is. */
static void worst_moves_hold(void **state)
{
    /* log2 of off, of what the others are together times 5.49 (2 e of that is then below a power of
     * two), or of a class that is nearly impossible. */
    static const struct {
        int off;
        double others;
    } moves[] = {{0, 0x1p-20 / 5.49}, {0, 0x1p-60 / 5.49}, {-40, 0x1p10}, {-3, 1}};
    Fixture *f = *state;
    mpfr_t off, kl, loss, moved_kl, moved_loss, moved_z[CLASSES];
    mpfr_inits2(DEFINED_BITS, kl, loss, moved_kl, moved_loss, (mpfr_ptr)0);
    mpfr_init2(off, 64);
    numbers_init(moved_z, DEFINED_BITS);
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++) {
        mpfr_set_ui_2exp(off, 1, moves[i].off, MPFR_RNDN);
        for (size_t k = 0; k < CLASSES; k++) {
            mpfr_set_d(f->z[k], k == 0 ? 0 : log(moves[i].others / (CLASSES - 1)), MPFR_RNDN);
            mpfr_set_d(f->d[k], k == 0 ? 0 : 0x1p-10, MPFR_RNDN);
            (void)(k == 0 ? mpfr_sub(moved_z[k], f->z[k], off, MPFR_RNDN)
                          : mpfr_add(moved_z[k], f->z[k], off, MPFR_RNDN));
        }
        ref_softmax_set(f->softmax, f->z[0], off);
        ref_softmax_loss(&f->loss, f->softmax, 0);
        RefCell changed; /* the loss of the changed logits */
        ref_cell_init(&changed, DIGITS);
        ref_softmax_divergence(&f->kl, &changed, f->softmax, f->d[0], f->zero, 0);
        define(kl, loss, f->z, f->d, 0);
        define(moved_kl, moved_loss, moved_z, f->d, 0);
        assert_covers(&f->kl, moved_kl, kl);
        assert_covers(&changed, moved_loss, loss);
        ref_cell_clear(&changed);
        define(kl, loss, f->z, NULL, 0);
        define(moved_kl, moved_loss, moved_z, NULL, 0);
        assert_covers(&f->loss, moved_loss, loss);
    }
    numbers_clear(moved_z);
    mpfr_clears(off, kl, loss, moved_kl, moved_loss, (mpfr_ptr)0);
}

/* Zero is said where it is proven alone: of changes that are exactly 0.  Where they may be off by
 * something, or are smaller than that, a bound is. */
static void zero_is_proven_or_a_bound(void **state)
{
    Fixture *f = *state;
    mpfr_t off;
    mpfr_init2(off, 64);
    draw_logits(f, 3, -100);
    ref_softmax_set(f->softmax, f->z[0], f->zero);
    mpfr_set_d(off, 1e-20, MPFR_RNDN);
    ref_softmax_divergence(&f->kl, NULL, f->softmax, f->d[0], off, 0);
    assert_int_equal(f->kl.state, CELL_BOUND);
    assert_true(mpfr_sgn(f->kl.value) > 0 && mpfr_cmp_d(f->kl.value, 1e-37) < 0);
    for (size_t k = 0; k < CLASSES; k++) {
        mpfr_set_zero(f->d[k], 1);
    }
    ref_softmax_divergence(&f->kl, NULL, f->softmax, f->d[0], off, 0);
    assert_int_equal(f->kl.state, CELL_BOUND);
    assert_true(mpfr_sgn(f->kl.value) > 0 && mpfr_cmp_d(f->kl.value, 1e-37) < 0);
    ref_softmax_divergence(&f->kl, NULL, f->softmax, f->d[0], f->zero, 0);
    assert_int_equal(f->kl.state, CELL_ZERO);
    mpfr_clear(off);
}

/* All logits moved alike change nothing; what is 2^-60 of that is lost to rounding, and not said to
 * be known. */
static void a_common_change_is_none(void **state)
{
    Fixture *f = *state;
    mpfr_t kl, loss;
    mpfr_inits2(DEFINED_BITS, kl, loss, (mpfr_ptr)0);
    for (int i = 0; i < 32; i++) { /* the mean of some is exact by chance */
        bool much = i % 2 != 0;
        draw_logits(f, 3, much ? -300 : -40);
        for (size_t k = 0; k < CLASSES; k++) {
            mpfr_add_ui(f->d[k], f->d[k], 3, MPFR_RNDN);
        }
        ref_softmax_set(f->softmax, f->z[0], f->zero);
        define(kl, loss, f->z, f->d, 0);
        ref_softmax_divergence(&f->kl, NULL, f->softmax, f->d[0], f->zero, 0);
        assert_int_equal(f->kl.state, much ? CELL_BOUND : CELL_VALUE);
        if (!much) {
            assert_near(f->kl.value, kl, -60);
        }
    }
    mpfr_clears(kl, loss, (mpfr_ptr)0);
}

static void no_number_stays_none(void **state)
{
    Fixture *f = *state;
    for (int infinite = 0; infinite < 2; infinite++) {
        draw_logits(f, 3, -10);
        mpfr_set_d(f->d[5], infinite ? -INFINITY : NAN, MPFR_RNDN);
        ref_softmax_set(f->softmax, f->z[0], f->zero);
        ref_softmax_divergence(&f->kl, &f->loss, f->softmax, f->d[0], f->zero, 1);
        assert_int_equal(f->kl.state, CELL_NONFINITE);
        assert_int_equal(f->loss.state, CELL_NONFINITE);
    }
}

static void one_class_is_always_right(void **state)
{
    Fixture *f = *state;
    RefSoftmax *one = ref_softmax_make(1);
    assert_non_null(one);
    draw_logits(f, 3, -10);
    ref_softmax_set(one, f->z[0], f->zero);
    ref_softmax_divergence(&f->kl, &f->loss, one, f->d[0], f->zero, 0);
    assert_int_equal(f->kl.state, CELL_ZERO);
    assert_int_equal(f->loss.state, CELL_ZERO);
    ref_softmax_clear(one);
}

/* The first of equals, and the lead over the second. */
static void the_top_leads(void **state)
{
    Fixture *f = *state;
    double margin;
    for (size_t k = 0; k < CLASSES; k++) {
        mpfr_set_d(f->z[k], k == 4 || k == 9 ? 2.5 : -(double)k, MPFR_RNDN);
    }
    assert_int_equal(ref_logits_top(&margin, f->z[0], CLASSES), 4);
    assert_true(margin == 0);
    mpfr_set_d(f->z[9], 2.75, MPFR_RNDN);
    assert_int_equal(ref_logits_top(&margin, f->z[0], CLASSES), 9);
    assert_true(margin == 0.25);
    assert_int_equal(ref_logits_top(&margin, f->z[0], 1), 0);
    assert_true(margin == INFINITY);
}

/* Column sums 1 + 4 and 2.5 + 3, whatever their signs; any column of many. */
static void the_gain_is_the_largest_column(void **state)
{
    enum { WIDE = 131 };
    static const double w[] = {1, -2.5, -4, 3};
    double gain = ref_logits_gain(&(RefUnembedding){.w_u = w, .d = 2, .classes = 2});
    assert_true(gain >= 5.5 && gain < 5.5 * (1 + 1e-14));
    for (size_t largest = 0; largest < WIDE; largest++) {
        double wide[2 * WIDE] = {0};
        wide[largest] = -3;
        wide[WIDE + largest] = 4;
        gain = ref_logits_gain(&(RefUnembedding){.w_u = wide, .d = 2, .classes = WIDE});
        assert_true(gain >= 7 && gain < 7 * (1 + 1e-14));
    }
}

#define DRAWN(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

SUBJECT(divergence)
{
    const struct CMUnitTest divergence[] = {
        DRAWN(definitions_are_met),
        DRAWN(the_largest_change_has_its_terms),
        DRAWN(a_sure_prediction_has_its_loss),
        DRAWN(errors_hold),
        DRAWN(worst_moves_hold),
        DRAWN(zero_is_proven_or_a_bound),
        DRAWN(a_common_change_is_none),
        DRAWN(no_number_stays_none),
        DRAWN(one_class_is_always_right),
        DRAWN(the_top_leads),
        cmocka_unit_test(the_gain_is_the_largest_column),
    };
    return cmocka_run_group_tests(divergence, NULL, NULL);
}
