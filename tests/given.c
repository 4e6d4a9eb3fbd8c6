/*
 * Tests of weights that come from files.
 */
#include "given.h"

#include "fixture.h"

#include "../harness/evaluate/evaluate.h"
#include "../harness/models/safetensors_write.h"
#include "../harness/table/table.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARGUMENTS 48
#define VALUES 1000

int given_set_up(void **state)
{
    Given *given = fixture_make(sizeof *given);
    scratch_path(given->file, &given->scratch, "given.case");
    ref_thread_setup();
    *state = given;
    return 0;
}

int given_tear_down(void **state)
{
    Given *given = *state;
    grid_clear(&given->grid);
    ref_thread_clear();
    return fixture_tear_down(state);
}

/* Every % becomes the scratch directory and a slash. */
static void expand(char *out, size_t size, const Given *given, const char *text)
{
    char place[SCRATCH_PATH];
    scratch_path(place, &given->scratch, "");
    scratch_fill(out, size, place, text);
}

int given_read(Given *given, Command command, const char *line)
{
    char *arguments[ARGUMENTS + 1] = {(char[]){"command"}};
    int count = 1;
    expand(given->words, sizeof given->words, given, line);
    char *rest = given->words;
    for (char *word; (word = strtok_r(rest, " ", &rest)) != NULL && count < ARGUMENTS; count++) {
        arguments[count] = strcmp(word, "FILE") == 0 ? given->file : word;
    }
    grid_clear(&given->grid);
    stderr_hold(&given->scratch);
    int status = grid_read(&given->grid, &given->run, commands_get(command), count, arguments);
    stderr_take(given->message, &given->scratch);
    return status;
}

const Point *given_points(Given *given, const char *line, size_t count)
{
    int status = given_read(given, COMMAND_SWEEP, line);
    if (status != 0 || given->message[0] != '\0') {
        fail_msg("%s: status %d: %s", line, status, given->message);
    }
    if (given->grid.count != count) {
        fail_msg("%s: %zu points, expected %zu", line, given->grid.count, count);
    }
    return given->grid.points;
}

void given_expect_fault(Given *given, Command command, const char *line, const char *expected)
{
    char text[2 * SCRATCH_PATH];
    expand(text, sizeof text, given, expected);
    int status = given_read(given, command, line);
    if (status != 2 || count_lines(given->message) != 1 || strstr(given->message, text) == NULL) {
        fail_msg("'%s': status %d, message \"%s\", expected \"%s\"", line, status, given->message,
                 text);
    }
    assert_int_equal(given->grid.count, 0);
    assert_null(given->grid.points);
    assert_int_equal(given->grid.sources.count, 0);
}

static void need(int status)
{
    assert_int_equal(status, 0);
}

/* blocks.LAYER.NAME of rank 1 to 3, its numbers from the pool. */
static void add(SafetensorsWriter *writer, size_t layer, const char *name, size_t rank, size_t a,
                size_t b, size_t c, const double *pool)
{
    char full[64];
    const size_t shape[] = {a, b, c};
    snprintf(full, sizeof full, "blocks.%zu.%s", layer, name);
    need(safetensors_writer_floats(writer, full, rank, shape, pool + 7 * layer + strlen(name)));
}

static void add_attention(SafetensorsWriter *writer, size_t layer, bool merged, const double *pool)
{
    if (merged) {
        add(writer, layer, "attn.QK", 3, 2, 3, 3, pool + 11);
        add(writer, layer, "attn.OV", 3, 2, 3, 3, pool + 33);
        return;
    }
    add(writer, layer, "attn.W_Q", 3, 2, 3, 2, pool + 100);
    add(writer, layer, "attn.W_K", 3, 2, 3, 2, pool + 120);
    add(writer, layer, "attn.W_V", 3, 2, 3, 2, pool + 140);
    add(writer, layer, "attn.W_O", 3, 2, 2, 3, pool + 160);
    add(writer, layer, "attn.b_Q", 2, 2, 2, 0, pool + 180);
    add(writer, layer, "attn.b_K", 2, 2, 2, 0, pool + 190);
    add(writer, layer, "attn.b_V", 2, 2, 2, 0, pool + 200);
    add(writer, layer, "attn.b_O", 1, 3, 0, 0, pool + 210);
}

static void add_layer(SafetensorsWriter *writer, size_t layer, Made made, size_t other,
                      const double *pool)
{
    size_t in = layer % 2 == 0 ? 3 : other, out = layer % 2 == 0 ? other : 3;
    switch (made) {
    case MADE_NORM: add(writer, layer, "ln1.w", 1, 3, 0, 0, pool); /* fall through */
    case MADE_ATTENTION: add_attention(writer, layer, false, pool); break;
    case MADE_TRANSFORMER: add_attention(writer, layer, false, pool); /* fall through */
    case MADE_FFN:
        add(writer, layer, "mlp.W_in", 2, 3, 5, 0, pool + 300);
        add(writer, layer, "mlp.b_in", 1, 5, 0, 0, pool + 320);
        add(writer, layer, "mlp.W_out", 2, 5, 3, 0, pool + 340);
        add(writer, layer, "mlp.b_out", 1, 3, 0, 0, pool + 360);
        break;
    case MADE_MERGED: add_attention(writer, layer, true, pool); break;
    case MADE_LINEAR: add(writer, layer, "linear.W", 2, in, out, 0, pool + 400); break;
    case MADE_INPUT: break;
    }
}

void given_make(const Given *given, const char *name, Made made, size_t other, size_t rows)
{
    char path[SCRATCH_PATH];
    double pool[VALUES];
    SafetensorsWriter *writer = safetensors_writer_make();
    const size_t shape[] = {rows, 3};
    assert_non_null(writer);
    for (size_t i = 0; i < VALUES; i++) {
        pool[i] = (double)((i * i * 31 + i * 7) % 101) / 64 - 0.75;
    }
    for (size_t layer = 0; layer < 2; layer++) {
        add_layer(writer, layer, made, other, pool);
    }
    if (rows > 0) {
        need(safetensors_writer_floats(writer, "X", 2, shape, pool + 500));
    }
    if (strstr(name, "extra") != NULL) {
        need(safetensors_writer_floats(writer, "exp_avg", 1, &rows, pool));
    }
    bool scaled = made == MADE_ATTENTION || made == MADE_TRANSFORMER;
    const char *const metadata[][2] = {{"scale", scaled ? "1/sqrt(d_head)" : "1"},
                                       {"mask", scaled ? "causal" : "none"},
                                       {"activation", made == MADE_FFN ? "gelu" : "silu"},
                                       {"normalization", "none"},
                                       {"blocks", "sequential"}};
    for (size_t i = 0; i < 5 && strstr(name, "silent") == NULL; i++) {
        safetensors_writer_metadata(writer, metadata[i][0], metadata[i][1]);
    }
    scratch_path(path, &given->scratch, name);
    need(safetensors_writer_finish(writer, path));
    safetensors_writer_clear(writer);
}

void given_make_all(const Given *given)
{
    given_make(given, "attention.safetensors", MADE_ATTENTION, 0, 0);
    given_make(given, "x.safetensors", MADE_ATTENTION, 0, 4);
    given_make(given, "merged.safetensors", MADE_MERGED, 0, 4);
    given_make(given, "ffn.safetensors", MADE_FFN, 0, 4);
    given_make(given, "square.safetensors", MADE_LINEAR, 3, 4);
}

typedef struct {
    FILE *file;
    bool with_key;
} Sink;

/* The first 16 columns and `layer` are the key; no cell here has a comma in it. */
static void take_row(void *context, const Point *point, const Row *row)
{
    Sink *sink = context;
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    assert_non_null(file);
    table_write_row(file, point, row);
    assert_int_equal(fclose(file), 0);
    const char *rest = text;
    for (int column = 0; !sink->with_key && column < 16; column++) {
        rest = strchr(rest, ',') + 1;
    }
    fputs(rest, sink->file);
    free(text);
}

char *given_rows(const Point *point, bool with_key)
{
    char *text = NULL;
    size_t size = 0;
    bool passed;
    Shared *shared;
    Sink sink = {open_memstream(&text, &size), with_key};
    assert_non_null(sink.file);
    assert_int_equal(shared_make(&shared, &point, 1, 0), EVALUATE_OK);
    assert_int_equal(point_evaluate(&passed, shared, point, &(PointSink){take_row, NULL, &sink}),
                     EVALUATE_OK);
    shared_clear(shared);
    assert_int_equal(fclose(sink.file), 0);
    return text;
}

char *given_command(const Point *point)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    point_print_command(stream, point);
    assert_int_equal(fclose(stream), 0);
    return text;
}

char *given_rows_again(Given *given, const Point *point, bool with_key)
{
    static const char prefix[] = "headproof sweep ";
    char *command = given_command(point), *end = command;
    assert_int_equal(strncmp(command, prefix, sizeof prefix - 1), 0);
    for (const char *c = command; *c != '\0'; c++) {
        if (*c != '\'') { /* no word here has a blank */
            *end++ = *c;
        }
    }
    *end = '\0';
    char *rows = given_rows(given_points(given, command + sizeof prefix - 1, 1), with_key);
    free(command);
    return rows;
}
