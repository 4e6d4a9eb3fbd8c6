/*
 * arb_mat_mul.  Its balls say what the product lost: an entry whose radius is beyond what (1) of
 * product.h allows goes to the loop.
 */
#include "ball.h"

#include "internal.h"
#include "store.h"

#ifdef HAVE_FLINT

#ifdef HAVE_ARB_IN_FLINT
#include <flint/arb_mat.h>
#else
#include <arb_mat.h>
#endif

bool ball_has(void)
{
    return true;
}

/* m[line, position], or its transpose, exactly. */
static void load(arb_mat_t m, const Operand *o, bool transposed)
{
    for (size_t i = 0; i < o->lines; i++) {
        for (size_t l = 0; l < o->depth; l++) {
            size_t at = o->line_at[i] + o->depth_at[l];
            arb_ptr x = transposed ? arb_mat_entry(m, l, i) : arb_mat_entry(m, i, l);
            if (o->number != NULL) {
                arb_set_d(x, o->number[at]);
            } else {
                arf_set_mpfr(arb_midref(x), o->entry + at);
            }
        }
    }
}

/* Is the radius within k 2^-p S_ij?  The guard holds S_ij to within a factor of 2: see guard.c,
 * where k S_ij >= N_ij 2^-guard. */
static bool is_close(const Plan *plan, size_t i, size_t j, const mag_t radius)
{
    if (mag_is_zero(radius)) {
        return true;
    }
    int guard = plan->guard[i * plan->n + j];
    if (guard == GUARD_NEVER || plan->a.exponent[i] == LINE_ZERO ||
        plan->b.exponent[j] == LINE_ZERO) {
        return false;
    }
    double from_a = plan->short_b && !plan->short_a ? 0 : plan->a.sum[i];
    double from_b = plan->short_a && !plan->short_b ? 0 : plan->b.sum[j];
    mag_t allowed;
    mag_init(allowed);
    mag_set_d_lower(allowed, from_a + from_b);
    mag_mul_2exp_si(allowed, allowed,
                    plan->a.exponent[i] + plan->b.exponent[j] - plan->precision - guard);
    bool close = mag_cmp(radius, allowed) <= 0;
    mag_clear(allowed);
    return close;
}

typedef struct {
    const arb_mat_struct *b;
} Shared;

static void multiply_rows(const Plan *plan, const void *shared, size_t first, size_t count)
{
    const Shared *with = shared;
    arb_mat_t a, c;
    Operand rows = plan->a;
    Store s;
    rows.lines = count;
    rows.line_at += first;
    arb_mat_init(a, (slong)count, (slong)plan->k);
    arb_mat_init(c, (slong)count, (slong)plan->n);
    store_open(&s, plan);
    load(a, &rows, false);
    arb_mat_mul(c, a, with->b, (slong)plan->precision);
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < plan->n; j++) {
            arb_srcptr x = arb_mat_entry(c, i, j);
            if (is_close(plan, first + i, j, arb_radref(x))) {
                arf_get_mpfr(s.y, arb_midref(x), MPFR_RNDN);
                (void)mpfr_check_range(s.y, 0, MPFR_RNDN); /* FLINT does not look at MPFR's */
                store_real(plan, first + i, j, s.y);
            } else {
                store_by_loop(&s, plan, first + i, j);
            }
        }
    }
    store_close(&s);
    arb_mat_clear(a);
    arb_mat_clear(c);
}

void ball_mul(const Plan *plan)
{
    arb_mat_t b;
    arb_mat_init(b, (slong)plan->k, (slong)plan->n);
    load(b, &plan->b, true);
    store_each_rows(plan, &(Shared){b}, 1024, multiply_rows);
    arb_mat_clear(b);
}

#else

bool ball_has(void)
{
    return false;
}

void ball_mul(const Plan *plan)
{
    (void)plan;
    PRODUCT_CHECK(!"built without FLINT");
}

#endif
