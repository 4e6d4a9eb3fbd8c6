/*
 * Guards of a row of C's entries, LANES at a time.
 */
#include "wide.h"
#include "words.h"

/* Sizes below 2^-61 are left out of S in floats.  Where it is at least k times this, that is less
 * than 2^-11 of it; else an entry is weak. */
#define WEAK 0x1p-50

typedef int16_t Guards __attribute__((vector_size(2 * LANES)));
typedef int64_t Integers __attribute__((vector_size(8 * LANES)));
typedef uint8_t Bytes __attribute__((vector_size(LANES)));

/* Guards of entries that need `needed` and sum to s, the smallest g with 2^g > needed / s; of lines
 * of zeros: the least. */
INLINE Guards guards_of(Reals needed, Reals s, Mask zeros)
{
    Words guard = ((Words)(needed / s) >> 52) - all(1022);
    Mask none = is_zero((Words)s);
    guard = larger(guard, all((uint64_t)GUARD_MIN));
    guard = select(none, all(GUARD_NEVER), guard);
    guard = select(zeros, all((uint64_t)GUARD_MIN), guard);
    return __builtin_convertvector((Integers)guard, Guards);
}

/* The lanes of lines that are spread. */
INLINE Mask spread_lines(const bool *spread, size_t lanes)
{
    Bytes lines = {0};
    copy_lanes(&lines, spread, lanes, 1);
    return is_not_zero(__builtin_convertvector(lines, Words));
}

size_t wide_guards(const Plan *plan, size_t i, const double *s)
{
    const Operand *a = &plan->a, *b = &plan->b;
    const bool only_a = plan->short_a && !plan->short_b, only_b = plan->short_b && !plan->short_a;
    const Mask spread = all_lanes(a->spread[i]), zero_line = all_lanes(a->exponent[i] == LINE_ZERO);
    const Reals from_a = all_reals(only_b ? 0 : a->sum[i]), from_b = all_reals(only_a ? 0 : 1);
    /* Rounding of S, and what a backend cuts off. */
    const Reals scale = all_reals((1 + 0x1p-8) / (double)plan->k);
    const Words weak = (Words)all_reals(WEAK * (double)plan->k);
    int16_t *guard = plan->guard + i * plan->n;
    size_t weak_ones = 0;
    for (size_t j = 0; j < plan->n; j += LANES) {
        const size_t left = plan->n - j, lanes = left < LANES ? left : LANES;
        const Reals sum = (Reals)load_some(s + j, lanes);
        Reals needed = from_b * (Reals)load_some(b->sum + j, lanes);
        needed = (from_a + needed) * scale;
        const Words exponent = load_some(b->exponent + j, lanes);
        Guards guards =
            guards_of(needed, sum, zero_line | equal(exponent, all((uint64_t)LINE_ZERO)));
        copy_lanes(guard + j, &guards, lanes, sizeof *guard);
        /* Doubles that are not negative are ordered as their bits are. */
        Mask small = less((Words)sum, weak) & first_lanes(lanes);
        if (any(small)) {
            small &= spread | spread_lines(b->spread + j, lanes);
            weak_ones += (size_t)__builtin_popcount(bits_of(small));
        }
    }
    return weak_ones;
}
