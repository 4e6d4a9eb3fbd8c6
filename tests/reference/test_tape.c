/*
 * One evaluation of T_infinity for differences at every Omega: what comes from the tape is, bit for
 * bit, what a difference that evaluates the limit itself has.
 */
#include "../../cases/case.h"
#include "../../reference/run/run.h"
#include "../../reference/trajectory/base.h"
#include "../fixture.h"
#include "norm_cases.h"
#include "../unit.h"

#include <omp.h>
#include <stdio.h>
#include <string.h>

enum { BITS = 256, VARIANTS = 24 };

static CaseSpec variant_of(Construction construction, int variant)
{
    return (CaseSpec){
        .construction = construction,
        .n = 5,
        .d = 4,
        .d_ff = construction == CONSTRUCTION_LINEAR && variant % 3 != 0 ? 3 : 11,
        .heads = 2,
        .d_head = variant % 3 == 1 ? 2 : 0,
        .depth = 3,
        .seed = (uint64_t)variant + 1,
        .mask = (Mask)(variant & 1),
        .bias = (Bias)(variant >> 1 & 1),
        .bias_row_content = (BiasRowContent)(variant >> 2 & 1),
        .linear = (Linear)(variant % 3),
        .activation = (Activation)(variant / 8),
        .gelu = variant % 3 == 0 ? GELU_SHIFTED_2 : (GeluForm)(variant % 3),
        .slope = 8,
        .band = 2,
        .dropout = variant == 7 ? 0.2 : 0,
    };
}

/* What is proven of rows is the same. */
static void assert_same_radii(const RefRun *a, const RefRun *b)
{
    static const RadiusOf all[] = {RADIUS_STREAM, RADIUS_DIFFERENCE, RADIUS_SUM};
    mpfr_t most[2], squares[2];
    mpfr_inits2(64, most[0], most[1], squares[0], squares[1], NULL);
    for (size_t i = 0; i < a->stream.rows; i++) {
        for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
            const Columns columns = {0, a->stream.columns};
            ref_run_radius(a, all[k], (RefBlock){i, 1, columns}, (RefRadii){most[0], squares[0]});
            ref_run_radius(b, all[k], (RefBlock){i, 1, columns}, (RefRadii){most[1], squares[1]});
            assert_true(mpfr_equal_p(most[0], most[1]) && mpfr_equal_p(squares[0], squares[1]));
        }
    }
    mpfr_clears(most[0], most[1], squares[0], squares[1], NULL);
}

/* Every number of two runs is the same one.  Returns whether some e is not 0. */
static bool assert_same_run(const RefRun *a, const RefRun *b)
{
    bool seen = false;
    for (size_t i = 0; i < a->stream.rows; i++) {
        for (size_t c = 0; c < a->stream.columns; c++) {
            assert_true(mpfr_equal_p(ref_run_entry(a, i, c), ref_run_entry(b, i, c)));
            assert_true(mpfr_equal_p(ref_run_difference(a, i, c), ref_run_difference(b, i, c)));
            seen = seen || !mpfr_zero_p(ref_run_difference(a, i, c));
            assert_true(mpfr_equal_p(a->stream.entry + i * a->stream.columns + c,
                                     b->stream.entry + i * b->stream.columns + c));
        }
    }
    return seen;
}

static RefRun *difference(const Pair *pair, double omega, mpfr_prec_t bits, const RefBase *base)
{
    const Start start = pair_start(pair, omega);
    RefRun *run = ref_difference_open(&start, bits, base);
    ref_run_certify(run);
    return run;
}

/* Several differences from one tape, layer by layer in step, with radii: of norms that are kept,
 * and of norms that are found anew.  Returns whether some e is not 0. */
static bool check_pair(const CaseSpec *spec)
{
    static const double omegas[] = {0.25, 3, 20, 1e6};
    enum { OMEGAS = sizeof omegas / sizeof *omegas };
    Pair pair;
    const char *reason;
    bool seen = false;
    if (case_build(&pair, &reason, spec) != CASE_OK) {
        return true; /* such a case does not exist */
    }
    RefWeights *weights = ref_weights_make(0);
    RefBase *base =
        ref_base_make(&pair, BITS, REF_LIMIT_TAPE, &(RefBaseOptions){.weights = weights});
    RefRun *taped[OMEGAS], *own[OMEGAS];
    assert_non_null(base);
    for (size_t k = 0; k < OMEGAS; k++) {
        taped[k] = difference(&pair, omegas[k], BITS, base);
        own[k] = difference(&pair, omegas[k], BITS, NULL);
        assert_non_null(taped[k]->known);
        assert_null(own[k]->known);
    }
    for (size_t l = 0; l < spec->depth; l++) {
        for (size_t k = 0; k < OMEGAS; k++) {
            ref_run_layer(taped[k]);
            ref_run_layer(own[k]);
            seen = assert_same_run(taped[k], own[k]) || seen;
            assert_same_radii(taped[k], own[k]);
        }
    }
    for (size_t k = 0; k < OMEGAS; k++) {
        ref_run_clear(taped[k]);
        ref_run_clear(own[k]);
    }
    ref_base_clear(base);
    ref_weights_clear(weights);
    case_clear(&pair);
    return seen;
}

static void a_tape_is_the_evaluation(void **state)
{
    for (int c = 0; c < CONSTRUCTION_MASKED; c++) {
        for (int variant = 0; variant < VARIANTS; variant++) {
            CaseSpec spec = variant_of((Construction)c, variant);
            CaseSpec normed = norm_variant(&spec, variant + c);
            assert_true(check_pair(&spec));
            assert_true((SMALL_GRIDS && variant % 5 != 0) || check_pair(&normed));
        }
    }
}

/* More heads than a block holds, and threads within an evaluation. */
static void blocks_and_threads_do_not_matter(void **state)
{
    int threads = omp_get_max_threads();
    omp_set_num_threads(3);
    CaseSpec spec = {.construction = CONSTRUCTION_TRANSFORMER,
                     .n = 40,
                     .d = 6,
                     .d_ff = 1100,
                     .heads = 3,
                     .d_head = 2,
                     .depth = 2,
                     .seed = 1,
                     .mask = MASK_CAUSAL,
                     .slope = 1};
    assert_true(check_pair(&spec));
    CaseSpec gated = {.construction = CONSTRUCTION_FUSED,
                      .n = 4,
                      .d = 1100,
                      .d_ff = 5,
                      .depth = 2,
                      .seed = 1,
                      .ffn = FFN_GATED};
    assert_true(check_pair(&gated));
    omp_set_num_threads(threads);
}

/* So deep that radii have rows' derivatives formed, which are on the tape. */
static void deep_stacks_have_their_radii(void **state)
{
    CaseSpec spec = variant_of(CONSTRUCTION_FUSED, 0);
    spec.depth = 48;
    assert_true(check_pair(&spec));
}

/* A base of other bits, or without a tape, is no tape for this run. */
static void only_its_own_bits(void **state)
{
    CaseSpec spec = variant_of(CONSTRUCTION_FUSED, 0);
    Pair pair = pair_make(&spec);
    RefBase *base = ref_base_make(&pair, BITS, REF_LIMIT_TAPE, NULL);
    RefBase *streams = ref_base_make(&pair, BITS, REF_LIMIT_STREAMS, NULL);
    assert_true(base != NULL && streams != NULL);
    RefRun *other = difference(&pair, 3, BITS + 64, base),
           *without = difference(&pair, 3, BITS, streams);
    assert_null(other->known);
    assert_null(without->known);
    ref_run_clear(other);
    ref_run_clear(without);
    ref_base_clear(base);
    ref_base_clear(streams);
    case_clear(&pair);
}

/* r(T) says what it loses before r(T_infinity) is begun, which too few bits leave out. */
static void too_few_bits_are_no_limit(void **state)
{
    CaseSpec spec = variant_of(CONSTRUCTION_FUSED, 0);
    Pair pair = pair_make(&spec);
    RefBaseOptions options = {0};
    RefBase *alone = ref_base_make(&pair, BITS, REF_LIMIT_NONE, &options);
    assert_non_null(alone);
    double lost = ref_base_lost(alone);
    assert_true(lost > 2);
    for (int less = 0; less < 2; less++) {
        options.most_lost = lost - less;
        RefBase *base = ref_base_make(&pair, BITS, REF_LIMIT_STREAMS, &options);
        assert_non_null(base);
        assert_true(less > 0 ? ref_base_lost(base) == lost : ref_base_lost(base) > lost);
        assert_true((base->limit[0].rows == 0) == (less > 0));
        ref_base_clear(base);
    }
    ref_base_clear(alone);
    case_clear(&pair);
}

/* FNV-1a of a matrix behind what came before: signs, exponents and limbs. */
static uint64_t digest_behind(uint64_t digest, const ApMat *m)
{
    for (size_t i = 0; i < m->rows * m->columns; i++) {
        mpfr_srcptr x = m->entry + i;
        const uint64_t head[2] = {(uint64_t)x->_mpfr_sign, (uint64_t)x->_mpfr_exp};
        size_t limbs = mpfr_regular_p(x) ? (size_t)(mpfr_get_prec(x) + 63) / 64 : 0;
        for (size_t word = 0; word < 2 + limbs; word++) {
            digest = (digest ^ (word < 2 ? head[word] : x->_mpfr_d[word - 2])) * 1099511628211U;
        }
    }
    return digest;
}

/* What stands in a tape. */
static uint64_t digest_of(Tape *tape)
{
    uint64_t digest = 14695981039346656037U;
    for (size_t i = 0; i < tape->blocks; i++) {
        Record *record = &tape->record[i];
        ApMat *const mats[] = {&record->score, &record->gate, &record->group, &record->query,
                               &record->key};
        for (size_t m = 0; m < sizeof mats / sizeof *mats; m++) {
            digest = digest_behind(digest, mats[m]);
        }
        for (size_t b = 0; b < record->patterns; b++) {
            digest = digest_behind(digest, &record->pattern[b]);
        }
        for (int part = 0; part < PARTS; part++) {
            digest = digest_behind(digest, &record->part[part].value);
            digest = digest_behind(digest, &record->part[part].mixed);
        }
    }
    return digest;
}

/* No difference leaves a mark in the records that others are to read. */
static void records_are_only_read(void **state)
{
    for (int c = 0; c < CONSTRUCTION_MASKED; c++) {
        for (int variant = 0; variant < VARIANTS; variant += 5) {
            CaseSpec spec = variant_of((Construction)c, variant);
            Pair pair;
            const char *reason;
            if (case_build(&pair, &reason, &spec) != CASE_OK) {
                continue; /* such a case does not exist */
            }
            RefBase *base = ref_base_make(&pair, BITS, REF_LIMIT_TAPE, NULL);
            assert_non_null(base);
            uint64_t before = digest_of(base->tape);
            RefRun *run = difference(&pair, 3, BITS, base);
            for (size_t l = 0; l < spec.depth; l++) {
                ref_run_layer(run);
            }
            assert_true(digest_of(base->tape) == before);
            ref_run_clear(run);
            ref_base_clear(base);
            case_clear(&pair);
        }
    }
}

/* A record's matrices take what is predicted of them. */
static void a_tape_takes_what_is_predicted(void **state)
{
    CaseSpec spec = variant_of(CONSTRUCTION_TRANSFORMER, 3);
    Pair pair = pair_make(&spec);
    Tape *tape = tape_open(&pair.converted, BITS);
    double entries = 0;
    for (size_t i = 0; i < tape->blocks; i++) {
        const Record *record = &tape->record[i];
        size_t columns = record->score.columns + record->gate.columns + record->group.columns +
                         record->query.columns + record->key.columns;
        for (int part = 0; part < PARTS; part++) {
            columns += record->part[part].value.columns + record->part[part].mixed.columns;
        }
        for (size_t b = 0; b < record->patterns; b++) {
            columns += record->pattern[b].columns;
        }
        entries += (double)(columns * record->score.rows);
    }
    for (size_t i = 0; i < tape->sublayers; i++) {
        entries += (double)(tape->stream[i].rows * tape->stream[i].columns);
    }
    assert_true(entries > 0);
    assert_true(tape_bytes(&pair.converted, BITS) ==
                entries * ((double)BITS / 8 + sizeof(__mpfr_struct)));
    tape_clear(tape);
    case_clear(&pair);
}

SUBJECT(tape)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tape_is_the_evaluation),
        cmocka_unit_test(blocks_and_threads_do_not_matter),
        cmocka_unit_test(deep_stacks_have_their_radii),
        cmocka_unit_test(only_its_own_bits),
        cmocka_unit_test(records_are_only_read),
        cmocka_unit_test(too_few_bits_are_no_limit),
        cmocka_unit_test(a_tape_takes_what_is_predicted),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
