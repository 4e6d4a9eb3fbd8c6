/*
 * An Arb whose answers are wide: the real one's, moved, with radii that say so.
 */
#include "wide_balls.h"

#include <stdbool.h>

static struct {
    size_t wide, calls;
} state;

void wide_balls_next(size_t calls)
{
    state.wide = calls;
    state.calls = 0;
}

size_t wide_balls_calls(void)
{
    return state.calls;
}

#ifdef HAVE_FLINT

#ifdef HAVE_ARB_IN_FLINT
#include <flint/arb_mat.h>
#else
#include <arb_mat.h>
#endif

/* Of the linker's --wrap: calls of arb_exp come to __wrap_arb_exp, __real_arb_exp is Arb's. */
void __real_arb_exp(arb_t y, const arb_t x, slong bits);
void __wrap_arb_exp(arb_t y, const arb_t x, slong bits);
void __real_arb_expm1(arb_t y, const arb_t x, slong bits);
void __wrap_arb_expm1(arb_t y, const arb_t x, slong bits);
void __real_arb_mat_mul(arb_mat_t c, const arb_mat_t a, const arb_mat_t b, slong bits);
void __wrap_arb_mat_mul(arb_mat_t c, const arb_mat_t a, const arb_mat_t b, slong bits);

/* Is this call's answer to be wide? */
static bool is_wide(void)
{
    return state.calls++ < state.wide;
}

static void widen(arb_t y, slong bits)
{
    arf_t off;
    arf_init(off);
    arf_mul_2exp_si(off, arb_midref(y), WIDE_BALLS_LOST - bits);
    arf_add(arb_midref(y), arb_midref(y), off, ARF_PREC_EXACT, ARF_RND_NEAR);
    arb_add_error_arf(y, off);
    arf_clear(off);
}

void __wrap_arb_exp(arb_t y, const arb_t x, slong bits)
{
    __real_arb_exp(y, x, bits);
    if (is_wide()) {
        widen(y, bits);
    }
}

void __wrap_arb_expm1(arb_t y, const arb_t x, slong bits)
{
    __real_arb_expm1(y, x, bits);
    if (is_wide()) {
        widen(y, bits);
    }
}

void __wrap_arb_mat_mul(arb_mat_t c, const arb_mat_t a, const arb_mat_t b, slong bits)
{
    __real_arb_mat_mul(c, a, b, bits);
    if (is_wide()) {
        widen(arb_mat_entry(c, 0, 0), bits);
    }
}

#endif
