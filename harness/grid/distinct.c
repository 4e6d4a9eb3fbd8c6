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

/* Suffixes of the files that are written and read: none, and those of what lies beside. */
static const char *const written[] = {"", ".partial", ".new", ".json", ".json.new", NULL};
static const char *const read_too[] = {"", ".json", NULL};

/* Device and inode, of the file or (with its name, where it is not there yet) of its directory. */
static char *print_identity(const struct stat *found, const char *name)
{
    char numbers[64];
    snprintf(numbers, sizeof numbers, "%ju %ju ", (uintmax_t)found->st_dev,
             (uintmax_t)found->st_ino);
    return atomic_file_name(numbers, name);
}

/* Of what path and suffix lead to, to be freed; NULL: there is no such file, or it is no regular
 * one. */
static char *identity_of(const NamedFile *file, const char *suffix)
{
    struct stat found;
    bool direct = file->path == NULL || (stat(file->path, &found) == 0 && !S_ISREG(found.st_mode));
    if (direct || (!file->sidecar && strncmp(suffix, ".json", 5) == 0)) {
        return NULL;
    }
    char *path = atomic_file_name(file->path, suffix), *slash = strrchr(path, '/');
    const char *name = "";
    bool there = stat(path, &found) == 0, known = there && S_ISREG(found.st_mode);
    if (!there) {
        char *base = slash == NULL ? path : slash + 1, first = *base;
        *base = '\0';
        known = stat(slash == NULL ? "." : path, &found) == 0;
        *base = first;
        name = base;
    }
    char *identity = known ? print_identity(&found, name) : NULL;
    free(path);
    return identity;
}

/* The first of files [count] that is that file, or that it lies beside, up to a suffix of the last
 * (NULL: all); NULL: none is. */
static const NamedFile *find(const char *identity, const NamedFile *files, size_t count,
                             const char *const *suffixes, const char *const *up_to)
{
    for (size_t i = 0; identity != NULL && i < count; i++) {
        for (const char *const *s = suffixes; *s != NULL && (i + 1 < count || s != up_to); s++) {
            char *other = identity_of(&files[i], *s);
            bool same = other != NULL && strcmp(identity, other) == 0;
            free(other);
            if (same) {
                return &files[i];
            }
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
static int check_streams(const NamedFile *outputs, size_t count)
{
    static const char *const names[] = {"stdout", "stderr"};
    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
        struct stat found;
        bool regular = fstat(fd, &found) == 0 && S_ISREG(found.st_mode);
        char *identity = regular ? print_identity(&found, "") : NULL;
        const NamedFile *of = find(identity, outputs, count, written, NULL);
        free(identity);
        if (of != NULL) {
            return complain((Origin){.flag = of->flag}, of->path,
                            "expected another file than the one that %s goes to",
                            names[fd - STDOUT_FILENO]);
        }
    }
    return 0;
}

int distinct_check(const NamedFile *outputs, size_t outputs_count, const NamedFile *inputs,
                   size_t inputs_count)
{
    for (size_t i = 0; i < outputs_count; i++) {
        for (const char *const *s = written; *s != NULL; s++) {
            char *identity = identity_of(&outputs[i], *s);
            const NamedFile *other = find(identity, inputs, inputs_count, read_too, NULL);
            other = other != NULL ? other : find(identity, outputs, i + 1, written, s);
            free(identity);
            if (other != NULL) {
                return refuse(&outputs[i], other);
            }
        }
    }
    return check_streams(outputs, outputs_count);
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
