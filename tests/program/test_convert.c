/*
 * The converted model as a file, read back: every arithmetic finds in it what it found in the model
 * that it was made from.
 */
#include "../fixture.h"
#include "../oracle.h"
#include "../program.h"

#include "../../cases/case.h"
#include "../../harness/point/model_source.h"
#include "../../kernels/kernel.h"
#include "../../reference/reference.h"
#include "../unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BITS = 320, N = 3, D = 4 };
#define OMEGA 20.0

/* $TMPDIR/name */
static void path_of(char path[512], const char *name)
{
    const char *directory = getenv("TMPDIR");
    snprintf(path, 512, "%s/%s", directory != NULL ? directory : "/tmp", name);
}

/* A drawn transformer of two layers with every bias as a file, and its conversion; how: mask and
 * flags of the conversion. */
typedef struct {
    const char *mask, *form, *omega, *penalty;
} How;

static void make_files(char model[512], char converted[512], const How *how)
{
    path_of(model, "model.safetensors");
    path_of(converted, "converted.safetensors");
    expect_run(
        0,
        "export --construction transformer --n 3 --d 4 --d-ff 5 --heads 2 --d-head 4 --depth 2 "
        "--bias random --mask %s --omega 20 --quiet -o %s",
        how->mask, model);
    expect_run(0, "convert %s --network %s --omega %s --penalty %s --quiet -o %s", model, how->form,
               how->omega, how->penalty, converted);
}

/* The case of a file: the construction its sizes stand for. */
static Pair pair_of(const ModelSource *source, Construction construction)
{
    const ModelFile *file = source->file;
    CaseSpec spec = {.construction = construction,
                     .n = file->rows,
                     .d = file->d,
                     .d_ff = file->hidden,
                     .heads = file->heads,
                     .d_head = file->d_head,
                     .depth = file->depth,
                     .mask = file->causal ? MASK_CAUSAL : MASK_NONE,
                     .scaled = file->scaled,
                     .given = &source->given};
    return pair_make(&spec);
}

/* r(T') of the model against r(.) of the file read back, in one form of the reference: content of
 * the token rows after the last layer, to the working precision (scores hold 2 Omega: 8 bits; the
 * plan's margin and growth: 32). */
static void expect_same_reference(const Pair *model, const Pair *back, RefForm form)
{
    RefRun *a = run_layers(&model->converted, model->converted_x, NULL, OMEGA, BITS, REF_STRUCTURED,
                           model->converted.depth);
    RefRun *b = run_layers(&back->original, back->original_x, NULL, INFINITY, BITS, form,
                           back->original.depth);
    mpfr_t d;
    double worst = 0;
    mpfr_init2(d, 64);
    for (size_t i = 0; i < N; i++) {
        size_t row = layout_token_row(&model->converted.layout, i);
        for (size_t c = 0; c < D; c++) {
            mpfr_sub(d, ref_run_entry(a, row, c), ref_run_entry(b, row, c), MPFR_RNDA);
            mpfr_mul_2si(d, d, BITS - 40, MPFR_RNDA);
            worst = fmax(worst, fabs(mpfr_get_d(d, MPFR_RNDA)));
        }
    }
    print_message("worst difference / 2^-%d: %.3g\n", BITS - 40, worst);
    assert_true(worst <= 1);
    mpfr_clear(d);
    ref_run_clear(a);
    ref_run_clear(b);
}

/* The stream after that many layers. */
static KernelStream last_layer(Kernel *kernel, size_t depth)
{
    KernelStream stream = {0};
    assert_non_null(kernel);
    for (size_t l = 0; l < depth; l++) {
        stream = kernel_layer(kernel);
    }
    return stream;
}

/* The same in double, dense against dense: a user's loader and a user's program. */
static void expect_same_machine(const Pair *model, const Pair *back)
{
    Kernel *a =
        kernel_open(&(Start){&model->converted, model->converted_x, NULL, OMEGA}, KERNEL_DENSE, 1);
    Kernel *b =
        kernel_open(&(Start){&back->original, back->original_x, NULL, OMEGA}, KERNEL_DENSE, 1);
    KernelStream x = last_layer(a, model->converted.depth), y = last_layer(b, back->original.depth);
    for (size_t i = 0; i < N; i++) {
        size_t row = layout_token_row(&model->converted.layout, i);
        for (size_t c = 0; c < D; c++) {
            assert_true(fabs(x.data[row * x.ld + c] - y.data[row * y.ld + c]) < 1e-13);
        }
    }
    kernel_clear(a);
    kernel_clear(b);
}

/* Both files, read, and their pairs. */
typedef struct {
    char model_path[512], converted_path[512];
    ModelSource *model, *converted;
    Pair pair, back;
} Files;

static void files_open(Files *files, const How *how)
{
    const ModelFileFlags flags = {0};
    bool three = strcmp(how->form, "three") == 0;
    make_files(files->model_path, files->converted_path, how);
    assert_int_equal(model_source_read(&files->model, files->model_path, &flags), 0);
    assert_int_equal(model_source_read(&files->converted, files->converted_path, &flags), 0);
    files->pair =
        pair_of(files->model, three ? CONSTRUCTION_TRANSFORMER3 : CONSTRUCTION_TRANSFORMER);
    files->back = pair_of(files->converted, CONSTRUCTION_ATTENTION);
}

static void files_close(Files *files)
{
    case_clear(&files->pair);
    case_clear(&files->back);
    model_source_clear(files->model);
    model_source_clear(files->converted);
    remove(files->model_path);
    remove(files->converted_path);
}

static void a_converted_file_is_the_model(void **state)
{
    static const char *const forms[] = {"fused", "three"}, *const masks[] = {"none", "causal"};
    static const char *const penalties[] = {"positive", "negative"};
    for (int variant = 0; variant < 8; variant++) {
        Files files;
        How how = {masks[variant / 2 % 2], forms[variant % 2], "20", penalties[variant / 4]};
        files_open(&files, &how);
        assert_int_equal(files.converted->file->rows, N + 1);
        expect_same_reference(&files.pair, &files.back, REF_STRUCTURED);
        expect_same_reference(&files.pair, &files.back, REF_DENSE);
        expect_same_machine(&files.pair, &files.back);
        files_close(&files);
    }
}

/* Largest difference of a file's content, dense in double, from the model that it was made of. */
static double distance_of_file(const Pair *model, const Pair *back)
{
    Kernel *a =
        kernel_open(&(Start){&model->original, model->original_x, NULL, 0}, KERNEL_STRUCTURED, 1);
    Kernel *b = kernel_open(&(Start){&back->original, back->original_x, NULL, 0}, KERNEL_DENSE, 1);
    KernelStream x = last_layer(a, model->original.depth), y = last_layer(b, back->original.depth);
    double largest = 0;
    for (size_t e = 0; e < (size_t)N * D; e++) {
        size_t row = layout_token_row(&model->converted.layout, e / D);
        largest = fmax(largest, fabs(x.data[e / D * x.ld + e % D] - y.data[row * y.ld + e % D]));
    }
    kernel_clear(a);
    kernel_clear(b);
    return largest;
}

/* A file in which what matters has no Omega in its scores loses nothing to Omega; one of the usual
 * kind is off by about ulp(2e6), 2.3e-10. */
static void a_file_of_penalties_is_right_at_any_omega(void **state)
{
    static const char *const penalties[] = {"positive", "negative"}, *const masks[] = {"none",
                                                                                       "causal"};
    for (int variant = 0; variant < 4; variant++) {
        Files files;
        How how = {masks[variant / 2], "fused", "1e6", penalties[variant % 2]};
        files_open(&files, &how);
        double distance = distance_of_file(&files.pair, &files.back);
        print_message("mask %s, %s: %.3g\n", how.mask, how.penalty, distance);
        assert_true(variant % 2 ? distance < 4e-15 : distance > 1e-12);
        files_close(&files);
    }
}

/* ---- Evaluated by another program ---------------------------------------------------------- */

static void expect_evaluated(const char *model, const char *converted, const char *flags, int code,
                             const char *says)
{
    char line[2048];
    snprintf(line, sizeof line, "-c '%s tests/evaluate_converted.py %s %s %s 2>&1'",
             oracle_needed("json"), model, converted, flags);
    Output output = run_program("sh", line);
    if (output.code != code || strstr(output.text, says) == NULL) {
        fail_msg("%s: exit code %d, said: %s", flags, output.code, output.text);
    }
}

/* The largest approximation of the last layer that verify writes. */
static double approximation_of(const char *model)
{
    Output output = expect_run(0, "verify %s --omega 40 --slope 1e9 --quiet -o /dev/stdout", model);
    return number(&output, lines(&output) - 1, "approximation_max");
}

/* T as its file says and T' as another program runs it: what differs is what heads cannot imitate,
 * which is nothing of SiLU, next to nothing of ReLU at that slope, and of GELU what verify says. */
static void python_evaluates_what_the_file_says(void **state)
{
    static const char *const files[][3] = {{"silu", "causal", "1/sqrt(d_head)"},
                                           {"relu", "none", "1"},
                                           {"gelu_new", "none", "1"},
                                           {"gelu", "causal", "1/sqrt(d_head)"}};
    char model[512], converted[512], line[2048];
    path_of(model, "said.safetensors");
    path_of(converted, "said-converted.safetensors");
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        bool gelu = strncmp(files[i][0], "gelu", 4) == 0;
        expect_run(0,
                   "export --construction transformer --n 3 --d 4 --d-ff 5 --heads 2 --d-head 3 "
                   "--depth 2 --bias random --activation %s --mask %s --scale \"%s\" --omega 9 "
                   "--quiet -o %s",
                   files[i][0], files[i][1], files[i][2], model);
        expect_run(0, "convert %s --omega 40 --slope 1e9 --quiet -o %s", model, converted);
        snprintf(line, sizeof line, "%s, scale %s, mask %s: largest difference ", files[i][0],
                 files[i][2], files[i][1]);
        if (gelu) {
            size_t used = strlen(line);
            snprintf(line + used, sizeof line - used, "%.3g\n", approximation_of(model));
        }
        expect_evaluated(model, converted, "", gelu, line);
    }
    expect_evaluated(model, converted, "--activation silu", 2, "the model's metadata say gelu");
    remove(model);
    remove(converted);
}

/* Files that do not say what they are. */
static void python_assumes_nothing(void **state)
{
    char model[512], converted[512], line[2048];
    make_files(model, converted, &(How){"none", "fused", "20", "positive"});
    snprintf(line, sizeof line, "-c 'sed -i s/activation/activatiom/ %s'", model);
    Output output = run_program("sh", line);
    assert_int_equal(output.code, 0);
    expect_evaluated(model, converted, "", 2, "does not say its activation (--activation: silu");
    expect_evaluated(model, converted, "--activation silu", 0, "silu, scale 1, mask none: largest");
    expect_evaluated(model, converted, "--activation relu", 1, "relu, scale 1, mask none: largest");
    expect_evaluated(model, converted, "--activation tanh", 2, "'tanh' is not evaluated here");
    remove(model);
    remove(converted);
}

#define TWO_FORMS                                                                                  \
    "convert cases/models/modadd53-silu.safetensors -o /tmp/x --network three "                    \
    "--construction transformer"

static void bad_conversions_are_refused(void **state)
{
    static const char *const bad[] = {
        "convert cases/models/modadd53-silu.safetensors -o /tmp/x --tolerance 1 --omega 20",
        "convert cases/models/modadd53-silu.safetensors -o /tmp/x --input-norm 1 --omega 20",
        "convert cases/models/modadd53-silu.safetensors -o /tmp/x --tolerance nan",
        "convert cases/models/modadd53-silu.safetensors -o /tmp/x --tolerance none",
        "convert cases/models/modadd53-silu.safetensors -o /tmp/x --tolerance 0",
        "convert cases/models/modadd53-silu.safetensors -o /tmp/x --tolerance 1,2",
        "convert cases/models/modadd53-silu.safetensors -o /tmp/x --judge logits",
        "convert cases/models/modadd53-silu.safetensors",
        "convert cases/models/modadd53-silu.safetensors -o /tmp/x.pt --omega 20",
        "convert cases/models/modadd53-silu.safetensors -o /no/such/x.safetensors",
        "convert cases/models/modadd53-silu.safetensors -o /tmp/x --omega 5,6",
        "convert cases/models/modadd53-silu.safetensors -o /tmp/x --network four",
        TWO_FORMS};
    expect_refused(bad, sizeof bad / sizeof *bad, 1);
}

#define TRAINED "cases/models/modadd53-silu.safetensors"

/* What neither the disk nor memory holds is refused with its size, before anything is written. */
static void what_does_not_fit_is_refused(void **state)
{
    static const struct {
        const char *limit, *what, *said;
        int code;
    } expected[] = {
        {"-f 1000", "the converted model takes 0.",
         " GiB of disk may be used (--layout shared takes less)\n", 99},
#ifndef HEADPROOF_CHECK /* sanitizers map more than any machine has */
        {"-v 400000", "a conversion takes 0.",
         " 0.305 GiB may be used (--layout shared takes less)\n", 2},
#endif
    };
    char model[512], line[1024];
    path_of(model, "wide.safetensors");
    expect_run(0,
               "export --construction transformer --n 40 --d 8 --d-ff 8000 --heads 2 --d-head 4 "
               "--kernel structured --omega 20 --quiet -o %s",
               model);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        snprintf(
            line, sizeof line,
            "-c 'ulimit %s; exec \"$HEADPROOF\" convert %s --omega 20 -o \"$TMPDIR/big\"' 2>&1",
            expected[i].limit, model);
        Output output = run_program("sh", line);
        if (output.code != expected[i].code || lines(&output) != 1 ||
            strstr(output.text, expected[i].what) == NULL ||
            strstr(output.text, expected[i].said) == NULL) {
            fail_msg("ulimit %s: exit code %d, said: %s", expected[i].limit, output.code,
                     output.text);
        }
        path_of(line, "big");
        assert_null(fopen(line, "r"));
    }
    remove(model);
}

static void what_may_not_be_used_is_refused(void **state)
{
    char line[512];
    Output asked = run_program("sh", "-c '\"$HEADPROOF\" convert " TRAINED
                                     " --omega 20 --memory 7MiB -o \"$TMPDIR/big\"' 2>&1");
    expect_says(&asked, 2, "0.00684 GiB may be used (--layout shared takes less)");
    /* Nor is the model itself made. */
    asked = run("convert " TRAINED " --omega 20 --memory 1MiB -o \"$TMPDIR/big\" 2>&1");
    expect_says(&asked, 2, " GiB of memory; 0.000977 GiB may be used");
    assert_int_equal(lines(&asked), 1);
    path_of(line, "big");
    assert_null(fopen(line, "r"));
}

/* ---- Without --omega ------------------------------------------------------------------------ */

/* What a file's metadata hold of its Omega, behind `said`, what the command says. */
static void expect_proven(const char *flags, const char *said, const char *omega,
                          const char *guarantee)
{
    char line[1024];
    snprintf(line, sizeof line,
             "-c '\"$HEADPROOF\" convert %s -o \"$TMPDIR/proven\" 2>&1; grep -ao "
             "\"headproof.omega[^,]*,\\|headproof.guarantee_[^,]*,\" \"$TMPDIR/proven\"'",
             flags);
    Output output = run_program("sh", line);
    bool well = strstr(output.text, said) != NULL && strstr(output.text, omega) != NULL &&
                strstr(output.text, guarantee) != NULL;
    if (!well) {
        fail_msg("convert %s: %s", flags, output.text);
    }
}

static void without_an_omega_one_is_proven(void **state)
{
    char model[512], line[1024];
    expect_proven(TRAINED,
                  "headproof: Omega = 16.2217, penalty negative: for every input of up to 3 "
                  "tokens, no logit is off, in exact arithmetic, by more than 1e-09 from what an "
                  "infinite Omega would give\n",
                  "headproof.omega\":\"16.2217\"",
                  "headproof.guarantee_tolerance\":\"1e-09\",\n"
                  "headproof.guarantee_tokens\":\"3\",\n");
    expect_proven(TRAINED " --penalty positive --layout shared --tolerance 1e-300",
                  "headproof: Omega = 351.248, penalty positive: ", "headproof.omega\":\"351.248\"",
                  "headproof.guarantee_tolerance\":\"1e-300\"");
    expect_proven(
        TRAINED " --shrink 0.5",
        "headproof: Omega = 16.22165 (--omega 32.4433 before --shrink), penalty negative: ",
        "headproof.omega\":\"16.22165\"", "headproof.guarantee_tokens\":\"3\"");
    path_of(model, "drawn.safetensors");
    expect_run(0, "export --construction fused --n 4 --d 3 --d-ff 5 --omega 20 --quiet -o %s",
               model);
    snprintf(line, sizeof line, "%s --input-norm 2.5", model);
    expect_proven(line,
                  "for every input of up to 4 tokens, rows of X no longer than 2.5, no entry of "
                  "the stream is off",
                  "headproof.omega\":\"", "headproof.guarantee_input_norm\":\"2.5\"");
    remove(model);
}

/* The file is that of the same --omega, whose metadata say no more; and it is read back. */
static void what_is_proven_changes_no_tensor(void **state)
{
    Output output = run_program(
        "sh", "-c 'cd \"$TMPDIR\" && M=$OLDPWD/" TRAINED " && \"$HEADPROOF\" convert $M -q -o a && "
              "\"$HEADPROOF\" convert $M -q --omega 16.2217 --penalty negative -o b && "
              "for f in a b; do tail -c 18000000 $f | cksum; "
              "done | uniq | wc -l; ! grep -aq guarantee b && cp a a.safetensors && "
              "\"$HEADPROOF\" verify ./a.safetensors --tokens 54/0/1/53 --omega 20' 2>&1");
    assert_int_equal(output.code, 0);
    assert_int_equal(strncmp(output.text, "1\n", 2), 0);
}

#define ASKED "headproof: convert: expected --omega; one that is proven for every input "

static void without_a_guarantee_an_omega_is_asked_for(void **state)
{
    static const struct {
        const char *flags, *said;
    } expected[] = {
        {TRAINED " --dropout 0.1 --penalty positive", ASKED "needs no lost entries of Omega: "},
        {TRAINED " --weight-noise 0.1", ASKED "needs no --weight-noise: "},
        {TRAINED " --bias-row-content random", ASKED "needs a bias row that is empty at first: "},
        {TRAINED " --input-norm 2", "--input-norm: expected none with an embedding: "},
        {"$TMPDIR/wide.safetensors", ASKED "needs --input-norm R: "},
        {"$TMPDIR/wide.safetensors --input-norm 0.001",
         "--input-norm: token '0.001': expected at least "},
        {"$TMPDIR/many.safetensors --input-norm 40",
         ASKED "takes about 1.1e+13 multiplications, and "},
        {"$TMPDIR/wide.safetensors --input-norm 1e300",
         ASKED "to keep it within 1e-09 is not there, up to the largest double"},
    };
    char written[512];
    expect_run(0, "export --construction attention --n 2 --d 4 --d-head 2 --omega 20 --quiet "
                  "-o \"$TMPDIR/wide.safetensors\"");
    expect_run(0, "export --construction attention --n 2 --d 1000 --d-head 1 --heads 460 --kernel "
                  "structured --arithmetic none --reference-form structured --omega 20 --quiet "
                  "-o \"$TMPDIR/many.safetensors\"");
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        expect_line(2, expected[i].said, "convert %s -o \"$TMPDIR/none\"", expected[i].flags);
        path_of(written, "none");
        assert_null(fopen(written, "r"));
    }
    path_of(written, "many.safetensors");
    remove(written);
}

SUBJECT(convert)
{
    const struct CMUnitTest convert[] = {
        cmocka_unit_test(a_converted_file_is_the_model),
        cmocka_unit_test(a_file_of_penalties_is_right_at_any_omega),
        cmocka_unit_test(python_evaluates_what_the_file_says),
        cmocka_unit_test(python_assumes_nothing),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(what_may_not_be_used_is_refused),
        cmocka_unit_test(bad_conversions_are_refused),
        cmocka_unit_test(without_an_omega_one_is_proven),
        cmocka_unit_test(what_is_proven_changes_no_tensor),
        cmocka_unit_test(without_a_guarantee_an_omega_is_asked_for),
    };
    return cmocka_run_group_tests(convert, reference_set_up, reference_tear_down);
}
