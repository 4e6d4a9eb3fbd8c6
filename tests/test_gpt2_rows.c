/*
 * GPT-2 from its files to numbers: in either naming, whole and in parts, the same rows to the byte.
 */
#include "given.h"
#include "gpt2_files.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>

static const char lens_metadata[] =
    "\"activation\":\"gelu_new\",\"blocks\":\"sequential\",\"positions\":\"learned\","
    "\"scale\":\"1/sqrt(d_head)\",\"mask\":\"causal\","
    "\"normalization\":\"LN\",\"eps\":\"1e-05\"";

static char *rows_of(Given *given, const char *name)
{
    char line[256];
    snprintf(line, sizeof line, "--n 3 --omega 11 --gelu 2 --weights %s", name);
    return given_rows(given_points(given, line, 1), false);
}

static void test_namings(void **state)
{
    static Gpt2Model model;
    Given *given = *state;
    char path[SCRATCH_PATH];
    gpt2_make_lens(&model, true);
    scratch_path(path, &given->scratch, "lens.safetensors");
    gpt2_write(path, &model, "F64", lens_metadata, 0, 1);
    char *expected = rows_of(given, "%lens.safetensors");
    scratch_path(path, &given->scratch, "config.json");
    gpt2_write_config(path, NULL, NULL);
    for (int k = 0; k < 2; k++) {
        gpt2_make(&model, k == 0 ? "transformer." : "", true, k == 0);
        scratch_path(path, &given->scratch, "whole.safetensors");
        gpt2_write(path, &model, k == 0 ? "F32" : "BF16", NULL, 0, 1);
        char *whole = rows_of(given, "%whole.safetensors");
        gpt2_write_parts(given->scratch.directory, &model, "F16", NULL, 2);
        char *parts = rows_of(given, "%model.safetensors.index.json");
        assert_string_equal(expected, whole);
        assert_string_equal(expected, parts);
        free(parts);
        free(whole);
    }
    free(expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        GIVEN_TEST(test_namings),
    };
    return cmocka_run_group_tests_name("gpt2_rows", tests, NULL, NULL);
}
