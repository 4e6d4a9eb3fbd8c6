/*
 * The writer of converted models: what no single mask or norm says of all sublayers is refused, and
 * the shared layout tells tensors apart.  What its files hold is tests/program/test_converted.py's.
 */
#include "../../harness/models/converted_file.h"
#include "../../harness/models/safetensors.h"
#include "../fixture.h"
#include "../plain_whole.h"
#include "../safetensors_samples.h"
#include "../scratch.h"
#include "../unit.h"

#include <string.h>

/* Two bundles of gates out of one block of numbers: every number of it, and every other one.  They
 * are two tensors, and a third bundle that is the first again refers to that. */
static void strides_tell_tensors_apart(void **state)
{
    static const double numbers[] = {1, 2, 3, 4, 5};
    char path[SCRATCH_PATH];
    double gate[3];
    SafetensorsFile *file;
    Bundle bundles[3];
    for (size_t b = 0; b < 3; b++) {
        bundles[b] = (Bundle){.heads = 1,
                              .score = {.kind = SCORE_GATE,
                                        .read = {0, 3},
                                        .gate = {numbers, b == 1 ? 2 : 1, 3},
                                        .gate_scale = 1},
                              .value = {.unit = 1, .scale = 1}};
    }
    const PlainSublayer sublayer = {.heads = 3, .bundles = bundles, .bundle_count = 3};
    const PlainModel frame = {.rows = 2, .width = 5, .sublayers = &sublayer, .sublayer_count = 1};
    SafetensorsWriter *writer = safetensors_writer_make();
    scratch_path(path, *state, "shared.safetensors");
    shared_heads_put(writer, &frame);
    assert_int_equal(safetensors_writer_finish(writer, path), 0);
    safetensors_writer_clear(writer);
    assert_int_equal(safetensors_open(&file, path), 0);
    assert_int_equal(file->count, 2);
    for (size_t b = 0; b < 2; b++) {
        const SafetensorsTensor *tensor =
            tensor_named(file, b == 0 ? "blocks.0.heads.0.W_Q" : "blocks.0.heads.1.W_Q");
        assert_true(tensor != NULL && tensor->rank == 3 && tensor->count == 3);
        assert_int_equal(safetensors_floats(gate, file, tensor), 0);
        for (size_t i = 0; i < 3; i++) {
            assert_true(gate[i] == numbers[i * (b + 1)]);
        }
    }
    safetensors_close(file);
}

static int write_plain(PlainModel *plain, const char *path)
{
    static const LayerNorm none;
    static const ModelFile file;
    return converted_file_write(
        path, &(Converted){plain, &file, &none, &(ConvertedSaid){.form = "fused"}});
}

static void faults_are_said(void **state)
{
    Scratch *scratch = *state;
    char text[SCRATCH_TEXT];
    const CaseSpec spec = {.construction = CONSTRUCTION_TRANSFORMER,
                           .n = 4,
                           .d = 3,
                           .d_ff = 5,
                           .heads = 2,
                           .d_head = 2,
                           .depth = 2,
                           .seed = 3};
    Pair pair = pair_make(&spec);
    const Start start = pair_start(&pair, 20);
    PlainModel plain = plain_whole(&start);
    stderr_hold(scratch);
    int nowhere = write_plain(&plain, "/nonexistent/a.safetensors");
    stderr_take(text, scratch);
    assert_int_equal(nowhere, 2);
    assert_int_equal(count_lines(text), 1);
    assert_non_null(strstr(text, "/nonexistent/a.safetensors"));
    plain_clear(&plain);
    case_clear(&pair);
}

SUBJECT(plain_file)
{
    const struct CMUnitTest plain_file[] = {
        SCRATCH_TEST(strides_tell_tensors_apart),
        SCRATCH_TEST(faults_are_said),
    };
    return cmocka_run_group_tests(plain_file, NULL, NULL);
}
