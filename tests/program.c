/*
 * Runs the program that HEADPROOF names, as a user does, and reads its CSV.
 */
#define _XOPEN_SOURCE 700 /* terminals */

#include "program.h"
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

const char *program(void)
{
    const char *path = getenv("HEADPROOF");
    assert_non_null(path);
    return path;
}

char *keep(char *text)
{
    static struct Kept {
        struct Kept *before;
        char *text;
    } * last;
    struct Kept *kept = malloc(sizeof *kept);
    assert_true(kept != NULL && text != NULL);
    *kept = (struct Kept){last, text};
    last = kept;
    return text;
}

const char *path_in(const Scratch *scratch, const char *name)
{
    char *path = keep(malloc(SCRATCH_PATH));
    scratch_path(path, scratch, name);
    return path;
}

/* columns: what lines are broken at; NULL: nobody says. */
static Output run_in(const char *columns, const char *path, const char *arguments)
{
    size_t size = strlen(path) + strlen(arguments) + 4, capacity = 1 << 16;
    char *command = malloc(size);
    Output output = {0};
    assert_non_null(command);
    snprintf(command, size, "'%s' %s", path, arguments);
    assert_int_equal(columns != NULL ? setenv("COLUMNS", columns, 1) : unsetenv("COLUMNS"), 0);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    free(command);
    output.text = malloc(capacity);
    assert_non_null(output.text);
    for (size_t got = 1; got > 0; output.length += got) {
        if (capacity - output.length < 1 << 15) {
            capacity *= 2;
            output.text = realloc(output.text, capacity);
            assert_non_null(output.text);
        }
        got = fread(output.text + output.length, 1, capacity - output.length - 1, pipe);
    }
    output.text[output.length] = '\0';
    keep(output.text);
    int status = pclose(pipe);
    assert_true(WIFEXITED(status));
    output.code = WEXITSTATUS(status);
    return output;
}

Output run_program(const char *path, const char *arguments)
{
    return run_in("1000", path, arguments);
}

Output run(const char *arguments)
{
    return run_program(program(), arguments);
}

enum { LINE = 4096 };

static void print_line(char line[LINE], const char *format, va_list values)
{
    assert_true(vsnprintf(line, LINE, format, values) < LINE);
}

Output run_formatted(const char *format, ...)
{
    char line[LINE];
    va_list values;
    va_start(values, format);
    print_line(line, format, values);
    va_end(values);
    return run(line);
}

Output expect_run(int code, const char *format, ...)
{
    char line[LINE];
    va_list values;
    va_start(values, format);
    print_line(line, format, values);
    va_end(values);
    Output output = run(line);
    if (output.code != code) {
        fail_msg("'%s': exit code %d, expected %d; \"%s\"", line, output.code, code, output.text);
    }
    return output;
}

void run_on_terminal(char *text, size_t size, const char *arguments, int code)
{
    char line[1024];
    int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    assert_true(terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0);
    int own = open(ptsname(terminal), O_RDWR | O_NOCTTY); /* so that it outlives the program */
    assert_true(own >= 0);
    assert_true(snprintf(line, sizeof line, "%s >%s", arguments, ptsname(terminal)) <
                (int)sizeof line);
    Output output = run_in(NULL, program(), line);
    if (output.code != code) {
        fail_msg("'%s': exit code %d, expected %d", arguments, output.code, code);
    }
    ssize_t count = 0, more = 1;
    assert_true(fcntl(terminal, F_SETFL, O_NONBLOCK) == 0);
    for (; more > 0 && (size_t)count + 1 < size; count += more > 0 ? more : 0) {
        more = read(terminal, text + count, size - 1 - (size_t)count);
    }
    text[count] = '\0';
    (void)close(own);
    (void)close(terminal);
}

void expect_refused(const char *const *requests, size_t count, size_t most_lines)
{
    for (size_t i = 0; i < count; i++) {
        char line[512];
        snprintf(line, sizeof line, "%s 2>&1", requests[i]);
        Output output = run(line);
        if (output.code != 2 || lines(&output) < 1 || lines(&output) > most_lines) {
            fail_msg("'%s': exit code %d, said: %s", requests[i], output.code, output.text);
        }
    }
}

void cell(char *text, size_t size, const Output *output, size_t line, const char *column)
{
    const char *header = output->text, *row = header;
    size_t index = 0, length = strlen(column);
    while (strncmp(header, column, length) != 0 || strchr(",\n", header[length]) == NULL) {
        header = strpbrk(header, ",\n");
        assert_true(header != NULL && *header == ',');
        header++;
        index++;
    }
    for (size_t i = 0; i < line; i++) {
        row = strchr(row, '\n');
        assert_non_null(row);
        row++;
    }
    for (size_t i = 0; i < index; i++) {
        row = strpbrk(row, ",\n");
        assert_true(row != NULL && *row == ',');
        row++;
    }
    length = strcspn(row, ",\n");
    assert_true(length < size);
    memcpy(text, row, length);
    text[length] = '\0';
}

double number(const Output *output, size_t line, const char *column)
{
    char text[64], *end;
    cell(text, sizeof text, output, line, column);
    double value = strtod(text, &end);
    assert_true(end != text && *end == '\0');
    return value;
}

double number_after(const Output *output, const char *says)
{
    const char *found = strstr(output->text, says);
    if (found == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", output->text, says);
    }
    return strtod(found + strlen(says), NULL);
}

void expect_says(const Output *output, int code, const char *says)
{
    if (output->code != code || strstr(output->text, says) == NULL) {
        fail_msg("exit code %d, expected %d; \"%s\", expected \"%s\"", output->code, code,
                 output->text, says);
    }
}

void expect_cell(const Output *output, size_t line, const char *column, const char *text)
{
    char found[512];
    cell(found, sizeof found, output, line, column);
    assert_string_equal(found, text);
}

void expect_same_cell(const Output *a, size_t line_a, const Output *b, size_t line_b,
                      const char *column)
{
    char text[512];
    cell(text, sizeof text, a, line_a, column);
    expect_cell(b, line_b, column, text);
}

size_t lines(const Output *output)
{
    size_t count = 0;
    for (size_t i = 0; i < output->length; i++) {
        count += output->text[i] == '\n';
    }
    return count;
}
