/*
 * What evaluations are foretold to hold in memory, recorded (tests/recorded.h): a part that is
 * counted too often or forgotten is noticed, though what is foretold has room.
 */
#include "../../kernels/kernel.h"
#include "../../reference/compare/propagation.h"
#include "../fixture.h"
#include "../recorded.h"
#include "difference_cases.h"
#include "norm_cases.h"
#include "../unit.h"

#include <math.h>
#include <omp.h>

/* The sum of logarithms over evaluations of a pair, in bits and in doubles. */
static double bytes_foretold(const CaseSpec *spec)
{
    Pair pair;
    const char *reason;
    double sum = 0;
    if (case_build(&pair, &reason, spec) != CASE_OK) {
        return 0;
    }
    for (mpfr_prec_t bits = 64; bits <= 4096; bits *= 8) {
        sum += log2(ref_run_bytes(&pair, bits)) + log2(ref_difference_bytes(&pair, bits)) +
               log2(ref_base_bytes(&pair, bits, REF_LIMIT_STREAMS)) +
               log2(ref_base_bytes(&pair, bits, REF_LIMIT_TAPE)) +
               log2(ref_propagation_bytes(&pair, bits));
    }
    sum += log2(ref_certify_bytes(&pair));
    for (int form = 0; form < KERNEL_COUNT; form++) {
        for (size_t threads = 1; threads < 4; threads += 2) {
            sum += log2(kernel_bytes(&pair.converted, (KernelForm)form, threads)) +
                   log2(kernel_bytes(&pair.original, (KernelForm)form, threads));
        }
    }
    case_clear(&pair);
    return sum;
}

static void memory_of_plain_and_of_normed_stacks(void **state)
{
    double plain = 0, normed = 0;
    int threads = omp_get_max_threads();
    omp_set_num_threads(2);
    for (int c = 0; c < CONSTRUCTION_COUNT; c++) {
        for (int v = 0; v < VARIANTS; v++) {
            CaseSpec spec = difference_variant((Construction)c, 2, v);
            CaseSpec with = norm_variant(&spec, v + c);
            plain += bytes_foretold(&spec);
            normed += bytes_foretold(&with);
        }
    }
    omp_set_num_threads(threads);
    assert_recorded("memory", plain);
    assert_recorded("memory, with norms", normed);
}

static void memory_of_gated_networks(void **state)
{
    double gated = 0;
    int threads = omp_get_max_threads();
    omp_set_num_threads(2);
    for (int v = 0; v < GATED_VARIANTS; v++) {
        CaseSpec spec = difference_gated(v);
        CaseSpec with = norm_variant(&spec, v);
        gated += bytes_foretold(v % 2 == 0 ? &spec : &with);
    }
    omp_set_num_threads(threads);
    assert_recorded("memory, gated", gated);
}

SUBJECT(foretold)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_of_plain_and_of_normed_stacks),
        cmocka_unit_test(memory_of_gated_networks),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
