/*
 * Guards of LANES entries of C at a time: what guard.c does to one, a lane each.
 */
#include "wide.h"
#include "words.h"

#include <string.h>

typedef int16_t Guards __attribute__((vector_size(2 * LANES)));
typedef int64_t Integers __attribute__((vector_size(8 * LANES)));
typedef uint8_t Bytes __attribute__((vector_size(LANES)));

/* Guards of entries that need `needed` and sum to s; of lines of zeros: the least. */
INLINE Guards guards_of(Reals needed, Reals s, Mask zeros)
{
    Words guard = ((Words)(needed / s) >> 52) - all(1022);
    Mask none = is_zero((Words)s);
    guard = larger(guard, all((uint64_t)GUARD_MIN));
    guard = select(none, all(GUARD_NEVER), guard);
    guard = select(zeros, all((uint64_t)GUARD_MIN), guard);
    return __builtin_convertvector((Integers)guard, Guards);
}

size_t wide_guards(const Plan *plan, const GuardRow *row, const float *s, size_t *weak)
{
    const Operand *b = &plan->b;
    const size_t n = plan->n - plan->n % LANES;
    const Mask spread = all_lanes(plan->a.spread[row->i]),
               zero_line = all_lanes(plan->a.exponent[row->i] == LINE_ZERO);
    const Reals from_b = all_reals(row->from_b), scale = all_reals(row->scale);
    int16_t *guard = plan->guard + row->i * plan->n;
    for (size_t j = 0; j < n; j += LANES) {
        Floats floats;
        memcpy(&floats, s + j, sizeof floats);
        Reals sum = __builtin_convertvector(floats, Reals);
        Reals needed = from_b * (Reals)load(b->sum + j);
        needed = (all_reals(row->from_a) + needed) * scale;
        Words exponent = load(b->exponent + j);
        Mask zeros = zero_line | equal(exponent, all((uint64_t)LINE_ZERO));
        Guards guards = guards_of(needed, sum, zeros);
        memcpy(guard + j, &guards, sizeof guards);
        /* Doubles that are not negative are ordered as their bits are. */
        Mask small = less((Words)sum, (Words)all_reals(row->weak));
        if (any(small)) {
            Bytes lines;
            memcpy(&lines, b->spread + j, sizeof lines);
            small &= spread | is_not_zero(__builtin_convertvector(lines, Words));
            *weak += (size_t)__builtin_popcount(bits_of(small));
        }
    }
    return n;
}
