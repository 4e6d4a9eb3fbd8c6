/*
 * Converted models with layer norms, run by programs that know nothing of Headproof: in Python, and
 * in PyTorch where there is one.
 */
#include "../../cases/plain.h"
#include "../../harness/models/converted_file.h"
#include "../../kernels/kernel.h"
#include "../fixture.h"
#include "../oracle.h"
#include "../program.h"
#include "../unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEED = 3, N = 3, D = 4, VARIANTS = 8 };
#define OMEGA 40.0

/* A drawn case, and its conversion as a file. */
typedef struct {
    CaseSpec spec;
    Pair pair;
    char path[SCRATCH_PATH];
} Made;

static void made_open(Made *made, const Scratch *scratch, const char *name, CaseSpec spec)
{
    const char *reason;
    PlainModel plain;
    spec.n = N;
    spec.d = D;
    spec.d_ff = 5;
    spec.heads = spec.d_head = spec.depth = 2;
    spec.seed = SEED;
    spec.bias = BIAS_RANDOM;
    spec.norm_eps = 0.125;
    made->spec = spec;
    made->pair = pair_make(&spec);
    assert_int_equal(
        plain_build(&plain, &reason,
                    &(Start){&made->pair.converted, made->pair.converted_x, NULL, OMEGA},
                    PLAIN_ROLLING),
        PLAIN_OK);
    scratch_path(made->path, scratch, name);
    assert_int_equal(
        converted_file_write(made->path, &(Converted){&plain, NULL, &made->pair.final_norm,
                                                      &(ConvertedSaid){.form = "fused"}}),
        0);
    plain_clear(&plain);
}

static CaseSpec variant_of(int variant)
{
    return (CaseSpec){.construction =
                          variant & 1 ? CONSTRUCTION_TRANSFORMER3 : CONSTRUCTION_TRANSFORMER,
                      .norm = variant & 1 ? NORMALIZATION_RMSNORM : NORMALIZATION_LAYERNORM,
                      .mask = variant & 2 ? MASK_CAUSAL : MASK_NONE,
                      .norm_place = variant & 4 ? NORM_POST : NORM_PRE,
                      .norm_tokens_only = variant == 4};
}

/* ---- Python's own library -------------------------------------------------------------------- */

/* The original as the program exports it, against the conversion. */
static void agree(const Scratch *scratch, const char *interpreter, int variant)
{
    static const char *const kinds[] = {"none", "layernorm", "rmsnorm"};
    char line[4 * SCRATCH_PATH], model[SCRATCH_PATH];
    Made made;
    made_open(&made, scratch, "converted.safetensors", variant_of(variant));
    scratch_path(model, scratch, "model.safetensors");
    expect_run(0,
               "export --construction %s --n %d --d %d --d-ff 5 --heads 2 --d-head 2 --depth 2 "
               "--seed %d --bias random --mask %s --normalization %s --normalization-place %s "
               "--eps 0.125 --omega 40 --quiet -o %s",
               construction_names[made.spec.construction], N, D, SEED,
               made.spec.mask == MASK_CAUSAL ? "causal" : "none", kinds[made.spec.norm],
               made.spec.norm_place == NORM_PRE ? "pre" : "post", model);
    snprintf(line, sizeof line, "tests/evaluate_converted.py %s %s", model, made.path);
    Output compared = run_program(interpreter, line);
    print_message("%s", compared.text);
    assert_int_equal(compared.code, 0);
    case_clear(&made.pair);
}

static void a_user_s_program_agrees(void **state)
{
    const char *interpreter = oracle_needed("json");
    for (int variant = 0; variant < VARIANTS; variant++) {
        agree(*state, interpreter, variant);
    }
}

/* ---- PyTorch --------------------------------------------------------------------------------- */

/* The largest difference of the token rows of T' in double after its last layer to what is printed;
 * *printed goes on behind it. */
static double difference(const Pair *pair, char **printed)
{
    double worst = 0;
    KernelStream stream = {0};
    const Start start = pair_start(pair, OMEGA);
    Kernel *kernel = kernel_open(&start, KERNEL_STRUCTURED, 1);
    for (size_t l = 0; l < pair->converted.depth; l++) {
        stream = kernel_layer(kernel);
    }
    for (size_t e = 0; e < N * D; e++) {
        const char *begin = *printed;
        size_t row = layout_token_row(&pair->converted.layout, e / D);
        double value = strtod(begin, printed);
        assert_ptr_not_equal(begin, *printed);
        worst = fmax(worst, fabs(value - stream.data[row * stream.ld + e % D]));
    }
    kernel_clear(kernel);
    return worst;
}

static void pytorch_runs_the_file_alone(void **state)
{
    const Scratch *scratch = *state;
    const char *interpreter = oracle_needed("torch");
    Made made[VARIANTS];
    char line[VARIANTS * (SCRATCH_PATH + 1) + 64];
    size_t used = (size_t)snprintf(line, sizeof line, "tests/run_converted.py");
    for (int variant = 0; variant < VARIANTS; variant++) {
        char name[32];
        snprintf(name, sizeof name, "%d.safetensors", variant);
        made_open(&made[variant], scratch, name, variant_of(variant));
        used += (size_t)snprintf(line + used, sizeof line - used, " %s", made[variant].path);
    }
    Output output = run_program(interpreter, line);
    char *printed = output.text;
    assert_int_equal(output.code, 0);
    for (int variant = 0; variant < VARIANTS; variant++) {
        double worst = difference(&made[variant].pair, &printed);
        print_message("%d: largest difference %.3g\n", variant, worst);
        assert_true(worst < 1e-12);
        case_clear(&made[variant].pair);
    }
}

SUBJECT(plain_programs)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(a_user_s_program_agrees),
        SCRATCH_TEST(pytorch_runs_the_file_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
