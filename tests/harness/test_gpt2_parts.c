/*
 * Models in several files that are wrong: indices that are no index, name what is not beside them
 * or lead elsewhere, and files that have less, more or something else than the index says.
 */
#include "../gpt2_files.h"
#include "../program.h"
#include "safetensors_fixture.h"
#include "../unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define INDEX "model.safetensors.index.json"
#define ONE "model-00001-of-00002.safetensors"
#define TWO "model-00002-of-00002.safetensors"

static Gpt2Model model;

/* A right model in two files, with its config. */
static void make(FileFixture *fixture)
{
    gpt2_write_config(fixture->scratch.directory, "tie_word_embeddings", "false");
    gpt2_make(&model, "", true, false);
    gpt2_write_parts(fixture->scratch.directory, &model, "F32", NULL, 2);
}

/* Reading the folder ends in one line that begins with the file `name` and has the culprit. */
static void expect_set_refused(FileFixture *fixture, const char *asked, const char *name,
                               const char *culprit)
{
    expect_model_refused(fixture, path_in(&fixture->scratch, asked), name, culprit);
}

static void expect_index_refused(FileFixture *fixture, const char *text, const char *culprit)
{
    file_write(path_in(&fixture->scratch, INDEX), text, strlen(text));
    expect_set_refused(fixture, INDEX, INDEX ": ", culprit);
}

#define MAP(entries) "{\"weight_map\": {" entries "}}"

static void test_indices(void **state)
{
    static const char *const cases[][2] = {
        {"", "unexpected token near end of file"},
        {"[]", "expected a JSON object"},
        {"{}", "key 'weight_map': expected an object: the name of a file for every tensor"},
        {"{\"weight_map\": {}}", "key 'weight_map': expected an object"},
        {"{\"weight_map\": [\"" ONE "\"]}", "key 'weight_map': expected an object"},
        {"{\"metadata\": 3, \"weight_map\": {\"wte.weight\": \"" ONE "\"}}",
         "key 'metadata': expected an object"},
        {MAP("\"wte.weight\": 1"), "tensor 'wte.weight': expected the name of a file, a string"},
        {MAP("\"wte.weight\": null"), "tensor 'wte.weight': expected the name of a file"},
        {MAP("\"wte.weight\": \"\""), "'': expected a name that ends in .safetensors"},
        {MAP("\"wte.weight\": \".safetensors\""), "expected a file beside the index, not a path"},
        {MAP("\"wte.weight\": \"weights.bin\""), "'weights.bin': expected a name that ends in"},
        {MAP("\"wte.weight\": \"../" ONE "\""), "expected a file beside the index, not a path"},
        {MAP("\"wte.weight\": \"/etc/passwd\""), "'/etc/passwd': expected a file beside the index"},
        {MAP("\"wte.weight\": \"./" ONE "\""), "expected a file beside the index, not a path"},
        {MAP("\"wte.weight\": \"sub/" ONE "\""), "expected a file beside the index, not a path"},
        {MAP("\"a\": \"" ONE "\", \"a\": \"" TWO "\""), "duplicate object key near '\"a\"'"},
        {MAP("\"a\": \"x\\u0000.safetensors\""), "\\u0000 is not allowed"},
        {"{\"metadata\": {\"eps\": 1e-5}, \"weight_map\": {}}", "key 'weight_map'"},
    };
    FileFixture *fixture = *state;
    make(fixture);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        expect_index_refused(fixture, cases[i][0], cases[i][1]);
    }
}

/* The first occurrence of a text in the index, changed. */
static void change_index(FileFixture *fixture, const char *old, const char *new)
{
    static char text[SCRATCH_TEXT], changed[2 * SCRATCH_TEXT];
    const char *path = path_in(&fixture->scratch, INDEX);
    assert_true(file_read(text, path) > 0);
    char *at = strstr(text, old);
    assert_non_null(at);
    int length = snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text), text, new,
                          at + strlen(old));
    file_write(path, changed, (size_t)length);
}

/* Each changed file against what the rest says; wte.weight is in the first, wpe.weight in the
 * second. */
static void test_index_against_files(void **state)
{
    static const struct {
        const char *old, *new, *name, *culprit;
    } cases[] = {
        {"\"wte.weight\": \"" ONE "\"", "\"wte.weight\": \"" TWO "\"", ONE ": tensor 'wte.weight'",
         "expected it in '" TWO "' alone, as the index"},
        {"\"wpe.weight\": \"" TWO "\"", "\"wpe.weight\": \"" ONE "\"", TWO ": tensor 'wpe.weight'",
         "expected it in '" ONE "' alone"},
        {"\"wpe.weight\": \"" TWO "\"", "\"wpe.other\": \"" TWO "\"", TWO ": tensor 'wpe.weight'",
         "expected those alone that the index"},
        {"\"wte.weight\": \"" ONE "\"", "\"wte.weight\": \"" ONE "\", \"extra\": \"" ONE "\"",
         ONE ": tensor 'extra'", "missing: expected it, as the index"},
        {"\"wte.weight\": \"" ONE "\"",
         "\"wte.weight\": \"" ONE "\", \"__metadata__\": \"" ONE "\"",
         ONE ": tensor '__metadata__'", "missing: expected it, as the index"},
        {"\"wte.weight\": \"" ONE "\"",
         "\"wte.weight\": \"" ONE "\", \"extra\": \"model-00003-of-00003.safetensors\"",
         "model-00003-of-00003.safetensors: ", "(No such file or directory)"},
    };
    FileFixture *fixture = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make(fixture);
        change_index(fixture, cases[i].old, cases[i].new);
        expect_set_refused(fixture, ".", "./", "");
        expect_set_refused(fixture, INDEX, cases[i].name, cases[i].culprit);
    }
}

/* Files that are not what the index says: missing, a stray, one tensor in two, damaged, links. */
static void test_files(void **state)
{
    FileFixture *fixture = *state;
    const char *one = path_in(&fixture->scratch, ONE);
    const char *two = path_in(&fixture->scratch, TWO);
    const char *other = path_in(&fixture->scratch, "model-00003-of-00003.safetensors");
    make(fixture);
    assert_int_equal(unlink(two), 0);
    expect_set_refused(fixture, INDEX, TWO ": ", "(No such file or directory)");
    make(fixture);
    gpt2_write(other, &model, "F32", NULL, 1, 2);
    expect_set_refused(fixture, ONE, INDEX ": file 'model-00003-of-00003.safetensors': ",
                       "is beside the index, which does not list it");
    assert_int_equal(unlink(other), 0);
    gpt2_write(two, &model, "F32", NULL, 0, 1);
    expect_set_refused(fixture, INDEX,
                       TWO ": tensor 'wte.weight': ", "expected it in '" ONE "' alone");
    gpt2_write(two, &model, "F32", NULL, 3, 2);
    expect_set_refused(fixture, INDEX,
                       TWO ": tensor 'wpe.weight': ", "missing: expected it, as the");
    assert_int_equal(truncate(one, 1000), 0);
    expect_set_refused(fixture, INDEX, ONE ": ", "header of");
    make(fixture);
    assert_int_equal(truncate(one, 1500), 0);
    expect_set_refused(fixture, INDEX, ONE ": ", "expected");
    assert_int_equal(truncate(one, 0), 0);
    expect_set_refused(fixture, INDEX, ONE ": ", "it is empty");
    assert_int_equal(unlink(one), 0);
    assert_int_equal(mkdir(one, 0700), 0);
    expect_set_refused(fixture, INDEX, ONE ": ", "not a directory");
    assert_int_equal(rmdir(one), 0);
}

/* Links stay in the folder, or lead into the blobs of the hub's cache. */
static void test_links(void **state)
{
    static const char *const targets[] = {"/dev/zero", "../x.safetensors", "sub/x.safetensors",
                                          "../../blobs/../x.safetensors", "hop.safetensors"};
    FileFixture *fixture = *state;
    const char *one = path_in(&fixture->scratch, ONE);
    const char *kept = path_in(&fixture->scratch, "kept.safetensors");
    const char *hop = path_in(&fixture->scratch, "hop.safetensors");
    make(fixture);
    assert_int_equal(rename(one, kept), 0);
    assert_int_equal(symlink("kept.safetensors", hop), 0);
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        assert_int_equal(symlink(targets[i], one), 0);
        expect_set_refused(fixture, INDEX, ONE ": ", "expected a file in its folder, not a link");
        assert_int_equal(unlink(one), 0);
    }
    ModelFile *found;
    assert_int_equal(symlink("kept.safetensors", one), 0);
    assert_int_equal(model_file_read(&found, one, false), 0);
    model_file_clear(found);
}

/* Folders, and files of a set without its index. */
static void test_folders(void **state)
{
    FileFixture *fixture = *state;
    expect_set_refused(fixture, ".", ".",
                       "expected model.safetensors or model.safetensors.index.json");
    make(fixture);
    gpt2_write(fixture->path, &model, "F32", NULL, 0, 1);
    expect_set_refused(fixture, ".", ".", "has model.safetensors and model.safetensors.index.json");
    assert_int_equal(unlink(path_in(&fixture->scratch, INDEX)), 0);
    expect_set_refused(fixture, TWO, TWO ": ",
                       "is one of several files: expected '" INDEX "' beside");
    ModelFile *found;
    assert_int_equal(model_file_read(&found, fixture->scratch.directory, false), 0);
    assert_int_equal(found->path_count, 2);
    model_file_clear(found);
}

/* Metadata that disagree between the files. */
static void test_metadata(void **state)
{
    FileFixture *fixture = *state;
    const char *one = path_in(&fixture->scratch, ONE);
    const char *two = path_in(&fixture->scratch, TWO);
    make(fixture);
    gpt2_make_lens(&model, false);
    gpt2_write_parts(fixture->scratch.directory, &model, "F32", NULL, 2);
    gpt2_write(one, &model, "F32", "\"mask\":\"causal\"", 0, 2);
    gpt2_write(two, &model, "F32", "\"mask\":\"none\"", 1, 2);
    expect_set_refused(fixture, INDEX, TWO ": ",
                       "metadata 'mask': 'none': expected 'causal', as metadata 'mask' of '");
    gpt2_write(two, &model, "F32", NULL, 1, 2);
    change_index(fixture, "\"total_size\": 12345", "\"eps\": [1e-5]");
    expect_set_refused(fixture, INDEX, INDEX ": ", "metadata 'eps': [");
}

SUBJECT(gpt2_parts)
{
    const struct CMUnitTest tests[] = {
        MODEL_TEST(test_indices), MODEL_TEST(test_index_against_files),
        MODEL_TEST(test_files),   MODEL_TEST(test_links),
        MODEL_TEST(test_folders), MODEL_TEST(test_metadata),
    };
    return cmocka_run_group_tests_name("gpt2_parts", tests, NULL, NULL);
}
