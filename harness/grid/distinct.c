/*
 * Outputs that are inputs, before either is opened.
 *
 * A file is known by device and inode, so that neither a link nor another way of writing its path
 * hides it.  Beside an output lie files that nobody named (FILE.partial, FILE.json): they are
 * outputs too.
 */
#include "distinct.h"

#include "../../memory/need.h"
#include "../base/atomic_file.h"
#include "../base/message.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A regular file that was named or lies beside one, or what can become it. */
typedef struct {
    char *identity;
    const NamedFile *of; /* what was named */
} File;

typedef struct {
    File *items;
    size_t count;
} Files;

/* Device and inode, of the file or (with its name, where it is not there yet) of its directory. */
static char *identity_of(const struct stat *found, const char *name)
{
    char numbers[64];
    snprintf(numbers, sizeof numbers, "%ju %ju ", (uintmax_t)found->st_dev,
             (uintmax_t)found->st_ino);
    return atomic_file_name(numbers, name);
}

/* Adds what path and suffix lead to. */
static void add(Files *list, const NamedFile *of, const char *suffix)
{
    struct stat found;
    char *path = atomic_file_name(of->path, suffix), *slash = strrchr(path, '/');
    const char *name = "";
    bool there = stat(path, &found) == 0, known = there && S_ISREG(found.st_mode);
    if (!there) {
        char *base = slash == NULL ? path : slash + 1, first = *base;
        *base = '\0';
        known = stat(slash == NULL ? "." : path, &found) == 0;
        *base = first;
        name = base;
    }
    if (known) {
        list->items[list->count++] = (File){identity_of(&found, name), of};
    }
    free(path);
}

static void clear(Files *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->items[i].identity);
    }
    free(list->items);
}

/* Adds the files that are named and those that lie beside them. */
static void gather(Files *list, const NamedFile *files, size_t count, const char *const *suffixes)
{
    enum { SUFFIXES_MOST = 5 };
    list->items = need_zeros(SUFFIXES_MOST * count + 1, sizeof *list->items);
    for (size_t i = 0; i < count; i++) {
        struct stat found;
        bool direct =
            files[i].path == NULL || (stat(files[i].path, &found) == 0 && !S_ISREG(found.st_mode));
        for (const char *const *s = suffixes; !direct && *s != NULL; s++) {
            if (files[i].sidecar || strncmp(*s, ".json", 5) != 0) {
                add(list, &files[i], *s);
            }
        }
    }
}

/* What was named of the first of items [count] that is that file; NULL: none is. */
static const NamedFile *find(const File *items, size_t count, const char *identity)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(items[i].identity, identity) == 0) {
            return items[i].of;
        }
    }
    return NULL;
}

static int refuse(const NamedFile *output, const NamedFile *other)
{
    const Origin origin = {.flag = output->flag};
    return other == output
               ? complain(origin, output->path,
                          "expected another file than those that are made beside it")
               : complain(origin, output->path, "expected another file than %s%s '%.400s'",
                          other->flag != NULL ? "--" : "the operand",
                          other->flag != NULL ? other->flag : "", other->path);
}

/* Refuses an output that is stdout's or stderr's file: lines there would be lost with the file that
 * it replaces. */
static int check_streams(const Files *outputs)
{
    static const char *const names[] = {"stdout", "stderr"};
    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
        struct stat found;
        if (fstat(fd, &found) == 0 && S_ISREG(found.st_mode)) {
            char *identity = identity_of(&found, "");
            const NamedFile *of = find(outputs->items, outputs->count, identity);
            free(identity);
            if (of != NULL) {
                return complain((Origin){.flag = of->flag}, of->path,
                                "expected another file than the one that %s goes to",
                                names[fd - STDOUT_FILENO]);
            }
        }
    }
    return 0;
}

static int compare(const Files *outputs, const Files *inputs)
{
    for (size_t i = 0; i < outputs->count; i++) {
        const File *output = &outputs->items[i];
        const NamedFile *other = find(inputs->items, inputs->count, output->identity);
        other = other != NULL ? other : find(outputs->items, i, output->identity);
        if (other != NULL) {
            return refuse(output->of, other);
        }
    }
    return check_streams(outputs);
}

int distinct_check(const NamedFile *outputs, size_t outputs_count, const NamedFile *inputs,
                   size_t inputs_count)
{
    static const char *const written[] = {"", ".partial", ".new", ".json", ".json.new", NULL};
    static const char *const read[] = {"", ".json", NULL};
    Files to = {0}, from = {0};
    gather(&to, outputs, outputs_count, written);
    gather(&from, inputs, inputs_count, read);
    int status = compare(&to, &from);
    clear(&to);
    clear(&from);
    return status;
}

int distinct_check_run(const Grid *grid, const RunOptions *run, const CommandInfo *command,
                       char *const *operands, size_t count)
{
    const CheckOptions *check = &run->check;
    bool rows = !command_has(command, WRITES_TENSORS | WRITES_PAGES);
    const NamedFile outputs[] = {{"output", run->output, rows},
                                 {"save-baseline", check->save, true},
                                 {"junit-xml", check->junit_xml, false},
                                 {"markdown", check->markdown, false},
                                 {"json", check->json, false}};
    size_t room = count + 6, used = 0;
    for (size_t i = 0; i < grid->sources.count; i++) {
        room += grid->sources.items[i]->file->path_count;
    }
    NamedFile *inputs = need_zeros(room, sizeof *inputs);
    inputs[used++] = (NamedFile){"baseline", check->baseline, true};
    inputs[used++] = (NamedFile){"check", run->growth.check, true};
    inputs[used++] = (NamedFile){"tokens-file", run->tokens_file, false};
    for (size_t i = 0; i < count; i++) {
        inputs[used++] = (NamedFile){NULL, operands[i], command->operands == OPERANDS_TABLES};
    }
    for (size_t i = 0; i < grid->sources.count; i++) {
        const ModelFile *file = grid->sources.items[i]->file;
        for (size_t p = 0; p < file->path_count; p++) {
            inputs[used++] = (NamedFile){"weights", file->paths[p], false};
        }
    }
    int status = distinct_check(outputs, sizeof outputs / sizeof *outputs, inputs, used);
    free(inputs);
    return status;
}
