/*
 * Where subjects of fuzzing run: a directory of their own, and what they print.
 */
#include "fuzz.h"

#include "../../harness/commands/commands.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WORDS_MOST = 48 };

const FuzzSubject *const fuzz_subjects[] = {
    &fuzz_values, &fuzz_cases,   &fuzz_commands, &fuzz_baselines, &fuzz_merges, &fuzz_journals,
    &fuzz_models, &fuzz_configs, &fuzz_texts,    &fuzz_shapes,    NULL};

void fuzz_need(bool condition, const char *what)
{
    if (!condition) {
        perror(what);
        abort();
    }
}

/* ---- Files ------------------------------------------------------------------------------- */

void fuzz_write(const char *name, const void *bytes, size_t size)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    fuzz_need(fd >= 0 && write(fd, bytes, size) == (ssize_t)size && close(fd) == 0, name);
}

FuzzText fuzz_read(const char *name)
{
    struct stat found;
    FuzzText text = {NULL, 0};
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return text;
    }
    fuzz_need(fstat(fd, &found) == 0, name);
    text.size = (size_t)found.st_size;
    text.bytes = malloc(text.size + 1);
    fuzz_need(text.bytes != NULL && read(fd, text.bytes, text.size) == (ssize_t)text.size, name);
    text.bytes[text.size] = '\0';
    close(fd);
    return text;
}

void fuzz_remove(const char *name)
{
    fuzz_need(unlink(name) == 0 || errno == ENOENT, name);
}

bool fuzz_same(const FuzzText *a, const FuzzText *b)
{
    return (a->bytes == NULL) == (b->bytes == NULL) && a->size == b->size &&
           (a->size == 0 || memcmp(a->bytes, b->bytes, a->size) == 0);
}

static bool is_among(const char *name, const char *const *names)
{
    while (*names != NULL && strcmp(name, *names) != 0) {
        names++;
    }
    return *names != NULL;
}

const char *fuzz_expect_files(Fuzz *fuzz, const char *const *names)
{
    DIR *directory = opendir(".");
    const struct dirent *entry;
    const char *why = NULL;
    fuzz_need(directory != NULL, "opendir");
    while (why == NULL && (entry = readdir(directory)) != NULL) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            !is_among(entry->d_name, names)) {
            why = fuzz_broken(fuzz, "it left a file %s", entry->d_name);
        }
    }
    (void)closedir(directory);
    return why;
}

/* Everything in a directory, two levels deep. */
static void remove_all(const char *path, int depth)
{
    DIR *directory = opendir(path);
    const struct dirent *entry;
    while (directory != NULL && (entry = readdir(directory)) != NULL) {
        char name[2 * SCRATCH_PATH];
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
            if (unlink(name) != 0 && depth > 0) {
                remove_all(name, depth - 1);
            }
        }
    }
    if (directory != NULL) {
        (void)closedir(directory);
    }
    (void)rmdir(path);
}

/* ---- What is printed --------------------------------------------------------------------- */

void fuzz_listen(Fuzz *fuzz)
{
    fflush(stdout);
    fflush(stderr);
    fuzz_need(ftruncate(fuzz->heard, 0) == 0 && lseek(fuzz->heard, 0, SEEK_SET) == 0, "heard");
    fuzz->saved_out = dup(STDOUT_FILENO);
    fuzz->saved_err = dup(STDERR_FILENO);
    fuzz_need(dup2(fuzz->silent, STDOUT_FILENO) >= 0 && dup2(fuzz->heard, STDERR_FILENO) >= 0,
              "dup2");
}

void fuzz_hear(Fuzz *fuzz)
{
    fflush(stdout);
    fflush(stderr);
    fuzz_need(dup2(fuzz->saved_out, STDOUT_FILENO) >= 0 &&
                  dup2(fuzz->saved_err, STDERR_FILENO) >= 0,
              "dup2");
    close(fuzz->saved_out);
    close(fuzz->saved_err);
    ssize_t length = pread(fuzz->heard, fuzz->said, FUZZ_SAID, 0);
    fuzz_need(length >= 0, "heard");
    fuzz->said_length = (size_t)length;
    fuzz->said[length] = '\0';
}

const char *fuzz_broken(Fuzz *fuzz, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fuzz->why, sizeof fuzz->why, format, arguments);
    va_end(arguments);
    return fuzz->why;
}

const char *fuzz_skip(Fuzz *fuzz)
{
    fuzz->skipped = true;
    return NULL;
}

/* Is it a line of the program's own beside a refusal?  No text of a user's is matched: it stands
 * behind what is looked at, or is none of these. */
static bool is_aside(const char *line)
{
    /* Rows that were there and fail are told as they are read, before a later one is refused. */
    static const char *const forms[] = {
        "headproof: warning: %n",
        "headproof: fail at layer %*[0-9]; reproduce: headproof %n",
        "headproof: overflow at layer %*[0-9]; reproduce: headproof %n",
        "headproof: vacuous at layer %*[0-9]; reproduce: headproof %n",
        "headproof: unresolved at layer %*[0-9]; reproduce: headproof %n",
        "headproof: error at layer %*[0-9]: %n",
        "headproof: %*[0-9] of %*[0-9] points are %n",
        "headproof: and %*[0-9] more points fail%n",
    };
    int length = 0;
    for (size_t i = 0; i < sizeof forms / sizeof *forms && length == 0; i++) {
        (void)sscanf(line, forms[i], &length);
    }
    return length > 0;
}

const char *fuzz_expect_refusal(Fuzz *fuzz, const char *name)
{
    static const char controls[] =
        "\x01\x02\x03\x04\x05\x06\x07\x08\t\v\f\r\x0e\x0f\x10\x11\x12\x13\x14"
        "\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f\x7f";
    size_t lines = 0;
    bool named = false, clean = true;
    if (strlen(fuzz->said) != fuzz->said_length ||
        (fuzz->said_length > 0 && fuzz->said[fuzz->said_length - 1] != '\n')) {
        return fuzz_broken(fuzz, "a message that is no line: %s", fuzz->said);
    }
    for (char *line = fuzz->said, *end; *line != '\0'; line = end + 1) {
        end = strchr(line, '\n');
        *end = '\0';
        clean = clean && line[strcspn(line, controls)] == '\0';
        lines += !is_aside(line);
        named = named || strstr(line, name) != NULL;
        *end = '\n';
    }
    if (!clean) {
        return fuzz_broken(fuzz, "a message with control characters: %s", fuzz->said);
    }
    if (lines != 1 || !named) {
        return fuzz_broken(fuzz, "refused in %zu lines, one that names %s was due; the first: %s",
                           lines, name, fuzz->said);
    }
    return NULL;
}

/* ---- The program's own commands ---------------------------------------------------------- */

int fuzz_run(Fuzz *fuzz, const char *const *words)
{
    char *argv[WORDS_MOST + 1] = {(char[]){"headproof"}};
    int argc = 1;
    Grid grid;
    RunOptions run;
    while (words[argc - 1] != NULL) {
        fuzz_need(argc < WORDS_MOST, "words");
        argv[argc] = (char *)(uintptr_t)words[argc - 1];
        argc++;
    }
    fuzz_listen(fuzz);
    const CommandInfo *command = commands_find(words[0]);
    int status = grid_read(&grid, &run, command, argc - 1, argv + 1);
    if (status == 0) {
        run.argc = argc;
        run.argv = argv;
        status = command->run(&grid, &run);
        grid_clear(&grid);
    }
    fuzz_hear(fuzz);
    return status;
}

/* The small sweep, and its shards. */
static void save_tables(Fuzz *fuzz)
{
    static const char table[] = "rows.csv", sidecar[] = "rows.csv.json";
    static const char *const shards[FUZZ_SAVED] = {"1/1", "1/2", "2/2"};
    for (size_t i = 0; i < FUZZ_SAVED; i++) {
        const char *words[WORDS_MOST] = {"sweep", "-o", table, "--shard", shards[i]};
        for (size_t j = 0; fuzz_small_sweep[j] != NULL; j++) {
            words[5 + j] = fuzz_small_sweep[j];
        }
        fuzz_need(fuzz_run(fuzz, words) == 0, "the small sweep");
        fuzz->saved[i] = (FuzzSaved){fuzz_read(table), fuzz_read(sidecar)};
        fuzz_remove(table);
        fuzz_remove(sidecar);
    }
}

/* ---- The whole --------------------------------------------------------------------------- */

void fuzz_open(Fuzz *fuzz, const FuzzSubject *subject)
{
    const char *base = getenv("TMPDIR");
    memset(fuzz, 0, sizeof *fuzz);
    fuzz_need(getcwd(fuzz->before, sizeof fuzz->before) != NULL, "getcwd");
    snprintf(fuzz->directory, sizeof fuzz->directory, "%s/headproof-fuzz.XXXXXX",
             base != NULL && *base != '\0' ? base : "/tmp");
    fuzz_need(mkdtemp(fuzz->directory) != NULL && chdir(fuzz->directory) == 0, fuzz->directory);
    fuzz->heard = open("heard", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    fuzz->silent = open("/dev/null", O_WRONLY | O_CLOEXEC);
    fuzz_need(fuzz->heard >= 0 && fuzz->silent >= 0 && unlink("heard") == 0, "heard");
    if (subject->places) {
        save_tables(fuzz);
    }
    if (subject->prepare != NULL) {
        subject->prepare(fuzz);
    }
}

void fuzz_close(Fuzz *fuzz)
{
    for (size_t i = 0; i < FUZZ_SAVED; i++) {
        free(fuzz->saved[i].rows.bytes);
        free(fuzz->saved[i].sidecar.bytes);
    }
    close(fuzz->heard);
    close(fuzz->silent);
    fuzz_need(chdir(fuzz->before) == 0, fuzz->before);
    remove_all(fuzz->directory, 2);
}
