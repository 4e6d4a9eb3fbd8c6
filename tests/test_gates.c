/*
 * What a plan sees in a row of gates: how far below the best the second of its groups' sums is, at
 * the worst of its heads, wherever that is.
 */
#include "fixture.h"

#include "../reference/evaluator/evaluator.h"
#include "../reference/heads/heads.h"
#include "unit.h"

#include <math.h>

enum { HEADS = 41, ROWS = 200, BITS = 64 };

/* e^score of a group's keys, which are gated or not, in all. */
static double group_sum(const RowGroups *groups, int coefficient, double score)
{
    double sum = 0;
    for (int g = 0; g < GROUPS; g++) {
        if (groups->coefficient[g] == coefficient) {
            sum += (double)groups->count[g] * (groups->gated[g] ? exp(score) : 1);
        }
    }
    return sum;
}

/* The exponent of the best sum over the second, in doubles. */
static double expected_gap(const RowGroups *groups, int second, const double *score)
{
    double most = -INFINITY;
    for (size_t b = 0; b < HEADS; b++) {
        int exponent;
        (void)frexp(group_sum(groups, groups->best, score[b]) / group_sum(groups, second, score[b]),
                    &exponent);
        most = fmax(most, exponent);
    }
    return most;
}

static void check_row(const RowGroups *groups, int second, const double *score)
{
    Evaluator ev;
    ApMat gate, decayed;
    assert_true(evaluator_init(&ev, (EvaluatorShape){1, 1}, BITS, INFINITY, true));
    assert_true(ap_init(&gate, 1, HEADS, BITS) && ap_init(&decayed, 1, HEADS, BITS));
    ev.observed = true;
    for (size_t b = 0; b < HEADS; b++) {
        mpfr_set_d(gate.entry + b, score[b], MPFR_RNDN);
        mpfr_setsign(decayed.entry + b, gate.entry + b, 1, MPFR_RNDN);
        mpfr_exp(decayed.entry + b, decayed.entry + b, MPFR_RNDN);
    }
    groups_note(&ev, &ev.worker[0], groups, gate.entry, decayed.entry, HEADS);
    double found = ev.worker[0].seen.gap[groups->best - second];
    assert_true(found == expected_gap(groups, second, score));
    ap_clear(&gate);
    ap_clear(&decayed);
    evaluator_clear(&ev);
}

/* Sums that grow with the gate, fall with it, or do not depend on it; gates of either sign, the
 * worst of which is anywhere in the row. */
static void the_worst_of_a_row_is_seen(void **state)
{
    static const RowGroups rows[] = {
        {{1, 19, 1}, {1, 0, 1}, {true, true, false}, 1},
        {{1, 19, 1}, {0, 1, 0}, {true, false, false}, 1},
        {{1, 6, 1}, {0, 0, 1}, {true, true, false}, 1},
        {{1, 3, 0}, {1, 0, 0}, {true, true, false}, 1},
        {{1, 5, 1}, {2, 0, 0}, {true, false, false}, 2},
    };
    uint64_t random = 1;
    for (size_t row = 0; row < ROWS; row++) {
        double score[HEADS];
        for (size_t b = 0; b < HEADS; b++) {
            random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            score[b] = ((double)(random >> 11) * 0x1p-53 - 0.5) * (double)(1 + row % 60);
        }
        check_row(&rows[row % (sizeof rows / sizeof *rows)], 0, score);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_worst_of_a_row_is_seen),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
