/*
 * Layers that come and go: the same numbers and the same rows as where all weights are held, at any
 * size of what stays; and a file that is written to, or cannot be read, meanwhile.
 */
#include "../../harness/models/model_stream.h"
#include "../gpt2_files.h"
#include "../shell.h"
#include "../unit.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- A file's layers ------------------------------------------------------------------------- */

enum { ROOM = 1 << 30 };

static char path[SCRATCH_PATH];

/* The path of a small GPT-2. */
static void write_gpt2(void)
{
    static Gpt2Model model;
    gpt2_make(&model, false);
    scratch_path(path, shell_scratch(), "model.safetensors");
    gpt2_write(path, &model, 0, 1);
    shell_write("config.json", "{\"activation_function\": \"gelu_new\", \"n_head\": 2, "
                               "\"layer_norm_epsilon\": 1e-05}");
}

/* Read layer by layer, or as a whole. */
static ModelFile *open_model(bool streamed)
{
    ModelFile *model;
    assert_int_equal(setenv("HEADPROOF_HELD", "1", 1), 0);
    const ModelFileFlags flags = {.room = streamed ? ROOM : 0};
    assert_int_equal(model_file_read_with(&model, path, &flags), 0);
    assert_int_equal(unsetenv("HEADPROOF_HELD"), 0);
    return model;
}

static void expect_numbers(const double *numbers, const double *whole, size_t count)
{
    assert_memory_equal(numbers, whole, count * sizeof *numbers);
}

static void a_layer_has_its_numbers(void **state)
{
    write_gpt2();
    ModelFile *model = open_model(true), *whole = open_model(false);
    const size_t d = GPT2_D, square = d * d, network = d * GPT2_HIDDEN;
    for (size_t i = 0; i < 3 * (size_t)GPT2_DEPTH; i++) {
        size_t l = i % GPT2_DEPTH;
        const GivenLayer *layer = &model->layers[l], *other = &whole->layers[l];
        assert_true(model_stream_enter(model, l));
        assert_true(model_stream_enter(model, l)); /* by another thread, say */
        model_stream_leave(model, l);
        expect_numbers(layer->w_q, other->w_q, square);
        expect_numbers(layer->w_k, other->w_k, square);
        expect_numbers(layer->w_v, other->w_v, square);
        expect_numbers(layer->w_o, other->w_o, square);
        expect_numbers(layer->b_k, other->b_k, d);
        expect_numbers(layer->w_in, other->w_in, network);
        expect_numbers(layer->w_out, other->w_out, network);
        expect_numbers(layer->ln2_b, other->ln2_b, d);
        model_stream_leave(model, l);
    }
    assert_int_equal(model_stream_fault(model), 0);
    model_file_clear(model);
    model_file_clear(whole);
}

/* Nobody evaluates with what a layer had before: reading it ends the program. */
static void a_layer_that_was_left_is_not_there(void **state)
{
    write_gpt2();
    ModelFile *model = open_model(true);
    assert_true(model_stream_enter(model, 0));
    model_stream_leave(model, 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const volatile double *left = model->layers[0].w_q;
        (void)signal(SIGSEGV, SIG_DFL);
        (void)left[0];
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_false(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    model_file_clear(model);
}

/* Layer l cannot be had, with this exit code and after that message; nor any other from then on. */
static void expect_fault(ModelFile *model, size_t l, int code, const char *says)
{
    static char text[SCRATCH_TEXT];
    Scratch scratch = *shell_scratch();
    stderr_hold(&scratch);
    bool entered = model_stream_enter(model, l), again = model_stream_enter(model, 0);
    stderr_take(text, &scratch);
    assert_false(entered);
    assert_false(again);
    assert_int_equal(model_stream_fault(model), code);
    assert_int_equal(count_lines(text), 1);
    if (strstr(text, says) == NULL || strstr(text, "model.safetensors") == NULL) {
        fail_msg("'%s' is not in: %s", says, text);
    }
    model_file_clear(model);
}

typedef enum { AT_ONCE, A_NANOSECOND_OFF, A_SECOND_OFF } Dated;

/* Writes a byte of the open file, whose time then is what it was, or so far off that. */
static void write_byte(off_t at, char byte, Dated dated)
{
    struct stat before;
    int fd = open(path, O_WRONLY);
    assert_true(fd >= 0 && fstat(fd, &before) == 0);
    assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    struct timespec times[] = {before.st_atim, before.st_mtim};
    times[1].tv_sec += dated == A_SECOND_OFF;
    times[1].tv_nsec ^= dated == A_NANOSECOND_OFF;
    assert_int_equal(futimens(fd, times), 0);
    assert_int_equal(close(fd), 0);
}

static ModelFile *open_and_read_one(void)
{
    write_gpt2();
    ModelFile *model = open_model(true);
    assert_true(model_stream_enter(model, 0));
    model_stream_leave(model, 0);
    return model;
}

static void a_file_that_is_written_to_is_refused(void **state)
{
    ModelFile *model;
    struct stat found;
    for (Dated dated = A_NANOSECOND_OFF; dated <= A_SECOND_OFF; dated++) {
        model = open_and_read_one();
        assert_int_equal(stat(path, &found), 0);
        write_byte(found.st_size - 1, 1, dated);
        expect_fault(model, 1, 2, "written to while it was read");
    }

    model = open_and_read_one();
    write_byte(found.st_size, 0, AT_ONCE);
    expect_fault(model, 1, 2, "written to while it was read");

    model = open_and_read_one();
    write_byte(9, ' ', AT_ONCE); /* the header's, which behind the last layer is read again */
    expect_fault(model, GPT2_DEPTH - 1, 2, "written to while it was read");

    model = open_and_read_one();
    assert_int_equal(truncate(path, found.st_size / 4), 0);
    expect_fault(model, 1, 2, "nothing at byte");
}

/* Where the numbers of a network's first map of the second layer begin. */
static off_t find_numbers(void)
{
    static char text[SCRATCH_TEXT];
    size_t begin = 0;
    assert_true(file_read(text, path) > 8);
    const char *entry = strstr(text + 8, "transformer.h.1.mlp.c_fc.weight");
    assert_non_null(entry);
    assert_int_equal(sscanf(strstr(entry, "data_offsets") + 14, "[%zu", &begin), 1);
    size_t header = (unsigned char)text[0] + 256 * (size_t)(unsigned char)text[1];
    return (off_t)(8 + header + begin);
}

static void a_number_that_is_none_is_refused(void **state)
{
    write_gpt2();
    off_t at = find_numbers() + 7 * (off_t)sizeof(float);
    for (int byte = 0; byte < (int)sizeof(float); byte++) {
        write_byte(at + byte, '\xff', AT_ONCE);
    }
    expect_fault(open_model(true), 1, 2, "index (1, 1): NaN: expected a finite number");
}

/* ---- A command's rows ------------------------------------------------------------------------ */

/* The same output and exit code, whatever stays in memory. */
static void expect_the_same(const char *arguments)
{
    expect_output(shell("$h %s --threads 2 -o whole.csv >whole.out 2>&1; code=$?\n"
                        "for run in 1:2 50000:1; do\n"
                        "    HEADPROOF_HELD=${run%%:*} $h %s --threads ${run#*:} -o rows.csv "
                        ">out 2>&1\n"
                        "    test $? -eq $code && cmp whole.out out && cmp whole.csv rows.csv ||\n"
                        "        { echo $run; exit 1; }\n"
                        "done; echo the same",
                        arguments, arguments),
                  0, "the same");
}

static void a_trained_model_has_the_same_rows(void **state)
{
    expect_the_same("verify $p/cases/models/modadd53-silu.safetensors --tokens 0:2/0:1/53 --omega "
                    "20 --tolerance 1e-9 --quiet");
    expect_the_same("verify $p/cases/models/chargpt --tokens 1/2/3/4 --omega 20,25 --quiet "
                    "--arithmetic bf16");
    expect_the_same("sweep --weights $p/cases/models/chargpt --n 3 --omega 20 --quiet "
                    "--weights-rounded yes --arithmetic bf16,f32 --score-scale 0.5");
}

static void a_drawn_model_has_the_same_rows(void **state)
{
#define SIZES " --n 3 --d 16 --d-ff 40 --heads 2 --d-head 8 --depth 4 --omega 20 --quiet "
    expect_the_same("sweep --construction transformer" SIZES "--mask causal --normalization "
                    "layernorm --activation gelu_new --gelu 4 --bias random");
    expect_the_same("sweep --construction transformer3" SIZES "--mask pseudo-random --propagation "
                    "--normalization rmsnorm --normalization-place post");
    expect_the_same("sweep --construction transformer" SIZES "--weight-noise 1e-6 --dropout 1e-3 "
                    "--arithmetic bf16 --weights-rounded yes --kernel dense");
    expect_the_same("sweep --construction linear --n 3 --d 40 --depth 4 --omega 20 --head-rank 8 "
                    "--reference none --quiet");
    expect_the_same("min-omega --construction fused --n 3 --d 16 --d-ff 40 --depth 3 --tolerance "
                    "1e-9 --quiet");
#undef SIZES
}

/* A converted file, of either layout, is the same bytes. */
static void a_conversion_has_the_same_bytes(void **state)
{
#define CONVERSION "convert $p/cases/models/chargpt --omega 20 --quiet "
    expect_the_same(CONVERSION "--n 3 --layout shared --gelu 2");
    expect_the_same(CONVERSION "--n 3 --gelu 1 --weights-rounded yes --score-scale 0.5");
    expect_the_same("convert $p/cases/models/modadd53-silu.safetensors --omega 20 --quiet");
    expect_the_same(
        "convert $p/cases/models/modadd53-silu.safetensors --omega 20 --quiet "
        "--network three --layout shared --mask pseudo-band --band 2 --weight-noise 1e-6");
#undef CONVERSION
    shell("$h export --construction transformer --n 3 --d 16 --d-ff 40 --heads 2 --d-head 8 "
          "--depth 4 --bias random --normalization layernorm --normalization-place post --omega 9 "
          "--activation gelu -q -o normed.safetensors");
    expect_the_same("convert ./normed.safetensors --omega 20 --quiet --gelu 2");
    expect_the_same("convert ./normed.safetensors --omega 20 --quiet --layout shared --gelu 2");
}

/* A file that is read as a whole is looked at again behind that, while somebody else writes its
 * first byte, as it is, over and over. */
static void a_file_that_changes_while_it_is_read_is_refused(void **state)
{
    expect_output(shell("cp $p/cases/models/modadd53-silu.safetensors busy.safetensors\n"
                        "first=$(od -An -to1 -N1 busy.safetensors | tr -d \" \")\n"
                        "while :; do printf \"\\\\$first\" 1<>busy.safetensors; done &\n"
                        "writer=$!; code=0\n"
                        "for i in $(seq 80); do\n"
                        "    [ $code -eq 2 ] && break\n"
                        "    rm -f none; $h convert ./busy.safetensors --omega 9 -o none 2>said\n"
                        "    code=$?\ndone\nkill $writer; cat said\n"
                        "cmp busy.safetensors $p/cases/models/modadd53-silu.safetensors || exit 3\n"
                        "[ $code -eq 2 ] && [ ! -e none ]"),
                  0, "written to while it was read");
}

SUBJECT(layers)
{
    const struct CMUnitTest tests[] = {
        SHELL_TEST(a_layer_has_its_numbers),
        SHELL_TEST(a_layer_that_was_left_is_not_there),
        SHELL_TEST(a_file_that_is_written_to_is_refused),
        SHELL_TEST(a_number_that_is_none_is_refused),
        SHELL_TEST(a_trained_model_has_the_same_rows),
        SHELL_TEST(a_drawn_model_has_the_same_rows),
        SHELL_TEST(a_conversion_has_the_same_bytes),
        SHELL_TEST(a_file_that_changes_while_it_is_read_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
