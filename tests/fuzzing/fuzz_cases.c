/*
 * Case files.
 *
 * A file is refused in one line "FILE:LINE: ...", or it has sections with names, each with a key;
 * written out again they are the same; its grid is read or refused, and its points' command lines
 * stand for them.
 */
#include "fuzz.h"

#include "../../harness/grid/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_NAME "fuzz.case"
#define AGAIN_NAME "again.case"

enum { GRID_MOST = 200 };

/* Points of all sections, at most. */
static double count_points(const SectionList *list)
{
    double all = 0;
    for (size_t s = 0; s < list->count; s++) {
        double product = 1;
        for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
            const Setting *setting = &list->sections[s].settings[axis];
            product *= setting->given ? (double)setting->list.count : 1;
        }
        all += product;
    }
    return all;
}

static void write_again(const SectionList *list)
{
    char *text;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    fuzz_need(stream != NULL, "open_memstream");
    for (size_t s = 0; s < list->count; s++) {
        const Section *section = &list->sections[s];
        fprintf(stream, "[%s]\n", section->name);
        for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
            if (section->settings[axis].given) {
                fprintf(stream, "%s=%s\n", axis_info(axis)->name, section->settings[axis].text);
            }
        }
    }
    fuzz_need(fclose(stream) == 0, "open_memstream");
    fuzz_write(AGAIN_NAME, text, size);
    free(text);
}

static bool same_setting(const Setting *a, const Setting *b)
{
    bool same = a->given == b->given && a->list.count == b->list.count;
    for (size_t i = 0; same && i < a->list.count; i++) {
        same = value_compare(&a->list.values[i], &b->list.values[i]) == 0;
    }
    return same;
}

static const char *expect_same(Fuzz *fuzz, const SectionList *list)
{
    SectionList again = {0};
    const char *why = NULL;
    write_again(list);
    fuzz_listen(fuzz);
    int status = casefile_read(&again, commands_get(COMMAND_SWEEP), AGAIN_NAME);
    fuzz_hear(fuzz);
    if (status != 0 || again.count != list->count) {
        why = fuzz_broken(fuzz, "written again it is %d, %zu sections, not %zu: %s", status,
                          again.count, list->count, fuzz->said);
    }
    for (size_t s = 0; why == NULL && s < list->count; s++) {
        bool same = strcmp(list->sections[s].name, again.sections[s].name) == 0;
        for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
            same = same && same_setting(&list->sections[s].settings[axis],
                                        &again.sections[s].settings[axis]);
        }
        why = same ? NULL : fuzz_broken(fuzz, "written again section %zu is another", s + 1);
    }
    sections_clear(&again);
    return why;
}

static const char *expect_sections(Fuzz *fuzz, const SectionList *list)
{
    if (list->count == 0 || fuzz->said_length > 0) {
        return fuzz_broken(fuzz, "%zu sections, and said: %s", list->count, fuzz->said);
    }
    for (size_t s = 0; s < list->count; s++) {
        const Section *section = &list->sections[s];
        size_t given = 0;
        for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
            given += section->settings[axis].given;
        }
        if (given == 0 || *section->name == '\0' || section->origin.line == 0) {
            return fuzz_broken(fuzz, "section '%s' has %zu keys", section->name, given);
        }
    }
    return expect_same(fuzz, list);
}

/* What a refusal says begins with the file and a line of it. */
static const char *expect_place(Fuzz *fuzz, const char *why)
{
    char *end;
    unsigned long line = strncmp(fuzz->said, FILE_NAME ":", sizeof FILE_NAME) == 0
                             ? strtoul(fuzz->said + sizeof FILE_NAME, &end, 10)
                             : 0;
    return why != NULL ? why
           : line == 0 ? fuzz_broken(fuzz, "no line of the file is named: %s", fuzz->said)
                       : NULL;
}

static const char *expect_grid(Fuzz *fuzz)
{
    char *argv[] = {"sweep", FILE_NAME, NULL};
    Grid grid;
    RunOptions options;
    fuzz_listen(fuzz);
    int status = grid_read(&grid, &options, commands_get(COMMAND_SWEEP), 2, argv);
    fuzz_hear(fuzz);
    if (status != 0) {
        /* It may name a file of weights alone. */
        return status == 2 ? fuzz_expect_refusal(fuzz, "")
                           : fuzz_broken(fuzz, "grid: status %d", status);
    }
    const char *why = fuzz_expect_reproduced(fuzz, &grid);
    grid_clear(&grid);
    return why;
}

static const char *run(Fuzz *fuzz, const uint8_t *bytes, size_t size)
{
    SectionList list = {0};
    fuzz_write(FILE_NAME, bytes, size);
    fuzz_listen(fuzz);
    int status = casefile_read(&list, commands_get(COMMAND_SWEEP), FILE_NAME);
    fuzz_hear(fuzz);
    double points = count_points(&list);
    const char *why = status == 0   ? expect_sections(fuzz, &list)
                      : status == 2 ? expect_place(fuzz, fuzz_expect_refusal(fuzz, FILE_NAME))
                                    : fuzz_broken(fuzz, "status %d", status);
    sections_clear(&list);
    return why == NULL && status == 0 && points <= GRID_MOST ? expect_grid(fuzz) : why;
}

const FuzzSubject fuzz_cases = {.name = "cases", .run = run};
