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

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file's identity: device and inode, or, where it is not there yet, those of its directory and
 * its name in it. */
typedef struct {
    bool known; /* it is a regular file, or can become one */
    dev_t device;
    ino_t inode;
    char *base;          /* its name, where it is not there; else NULL */
    const NamedFile *of; /* what was named */
} Identity;

typedef struct {
    Identity *items;
    size_t count;
} Identities;

static void take_stat(Identity *identity, const struct stat *found)
{
    identity->known = true;
    identity->device = found->st_dev;
    identity->inode = found->st_ino;
}

/* path and suffix. */
static void identify(Identity *identity, const NamedFile *of, const char *suffix)
{
    struct stat found;
    char *path = atomic_file_name(of->path, suffix), *slash = strrchr(path, '/');
    *identity = (Identity){.of = of};
    bool there = stat(path, &found) == 0, is = there && S_ISREG(found.st_mode);
    if (!there) {
        identity->base = need_copy(slash == NULL ? path : slash + 1);
        if (slash != NULL) {
            slash[1] = '\0';
        }
        is = stat(slash == NULL ? "." : path, &found) == 0;
    }
    if (is) {
        take_stat(identity, &found);
    }
    free(path);
}

static bool same(const Identity *a, const Identity *b)
{
    const char *base = a->base != NULL ? a->base : "", *other = b->base != NULL ? b->base : "";
    return a->known && b->known && a->device == b->device && a->inode == b->inode &&
           strcmp(base, other) == 0;
}

static void clear(Identities *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->items[i].base);
    }
    free(list->items);
}

/* Adds the files that are named and those that lie beside them. */
static void gather(Identities *list, const NamedFile *files, size_t count,
                   const char *const *suffixes)
{
    enum { SUFFIXES_MOST = 5 };
    list->items = need_zeros(SUFFIXES_MOST * count + 1, sizeof *list->items);
    for (size_t i = 0; i < count; i++) {
        struct stat found;
        bool direct =
            files[i].path == NULL || (stat(files[i].path, &found) == 0 && !S_ISREG(found.st_mode));
        for (const char *const *s = suffixes; !direct && *s != NULL; s++) {
            bool wanted = files[i].sidecar || strncmp(*s, ".json", 5) != 0;
            if (wanted) {
                identify(&list->items[list->count++], &files[i], *s);
            }
        }
    }
}

static int refuse(const NamedFile *output, const NamedFile *other)
{
    const Origin origin = {.flag = output->flag != NULL ? output->flag : "output"};
    return other == output
               ? complain(origin, output->path,
                          "expected another file than those that are made beside it")
               : complain(origin, output->path, "expected another file than %s%s '%.400s'",
                          other->flag != NULL ? "--" : "the operand",
                          other->flag != NULL ? other->flag : "", other->path);
}

/* Refuses an output that is stdout's or stderr's file: lines there would be lost with the file that
 * it replaces. */
static int check_streams(const Identities *outputs)
{
    static const char *const names[] = {"stdout", "stderr"};
    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
        struct stat found;
        Identity stream = {0};
        if (fstat(fd, &found) == 0 && S_ISREG(found.st_mode)) {
            take_stat(&stream, &found);
        }
        for (size_t i = 0; i < outputs->count; i++) {
            const NamedFile *of = outputs->items[i].of;
            if (same(&outputs->items[i], &stream)) {
                return complain((Origin){.flag = of->flag != NULL ? of->flag : "output"}, of->path,
                                "expected another file than the one that %s goes to",
                                names[fd - STDOUT_FILENO]);
            }
        }
    }
    return 0;
}

static int compare(const Identities *outputs, const Identities *inputs)
{
    for (size_t i = 0; i < outputs->count; i++) {
        const Identity *output = &outputs->items[i];
        for (size_t j = 0; j < inputs->count; j++) {
            if (same(output, &inputs->items[j])) {
                return refuse(output->of, inputs->items[j].of);
            }
        }
        for (size_t j = 0; j < i; j++) {
            if (same(output, &outputs->items[j])) {
                return refuse(output->of, outputs->items[j].of);
            }
        }
    }
    return check_streams(outputs);
}

int distinct_check(const NamedFile *outputs, size_t outputs_count, const NamedFile *inputs,
                   size_t inputs_count)
{
    static const char *const written[] = {"", ".partial", ".new", ".json", ".json.new", NULL};
    static const char *const read[] = {"", ".json", NULL};
    Identities to = {0}, from = {0};
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
