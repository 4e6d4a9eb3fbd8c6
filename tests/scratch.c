/*
 * Tools for tests of files and messages.
 */
#include "scratch.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void need(bool condition, const char *what)
{
    if (!condition) {
        perror(what);
        abort();
    }
}

void scratch_path(char *path, const Scratch *scratch, const char *name)
{
    int length = snprintf(path, SCRATCH_PATH, "%s/%s", scratch->directory, name);
    need(length > 0 && length < SCRATCH_PATH, "scratch_path");
}

void scratch_make(Scratch *scratch)
{
    const char *base = getenv("TMPDIR");
    snprintf(scratch->directory, sizeof scratch->directory, "%s/headproof-test.XXXXXX",
             base != NULL && *base != '\0' ? base : "/tmp");
    need(mkdtemp(scratch->directory) != NULL, "mkdtemp");
    scratch->saved_stderr = -1;
}

void scratch_remove(Scratch *scratch)
{
    struct dirent **entries;
    int count = scandir(scratch->directory, &entries, NULL, alphasort);
    need(count >= 0, "scandir");
    for (int i = 0; i < count; i++) {
        char path[SCRATCH_PATH];
        const char *name = entries[i]->d_name;
        if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0) {
            scratch_path(path, scratch, name);
            need(remove(path) == 0, path);
        }
        free(entries[i]);
    }
    free(entries);
    need(rmdir(scratch->directory) == 0, "rmdir");
}

void scratch_fill(char *text, size_t size, const char *place, const char *pattern)
{
    size_t used = 0;
    *text = '\0';
    for (const char *c = pattern; *c != '\0'; c++) {
        used += (size_t)snprintf(text + used, size - used, *c == '%' ? "%s" : "%.1s",
                                 *c == '%' ? place : c);
        need(used < size, pattern);
    }
}

void file_write(const char *path, const char *bytes, size_t count)
{
    FILE *file = fopen(path, "w");
    need(file != NULL, path);
    need(fwrite(bytes, 1, count, file) == count, path);
    need(fclose(file) == 0, path);
}

long file_read(char *text, const char *path)
{
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return -1;
    }
    size_t count = fread(text, 1, SCRATCH_TEXT - 1, file);
    int failed = ferror(file);
    need(fclose(file) == 0 && !failed, path);
    text[count] = '\0';
    return (long)count;
}

bool file_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

void stderr_hold(Scratch *scratch)
{
    char path[SCRATCH_PATH];
    scratch_path(path, scratch, "stderr");
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    fflush(stderr);
    scratch->saved_stderr = dup(STDERR_FILENO);
    need(fd >= 0 && scratch->saved_stderr >= 0 && dup2(fd, STDERR_FILENO) >= 0, "stderr");
    close(fd);
}

void stderr_take(char *text, Scratch *scratch)
{
    char path[SCRATCH_PATH];
    fflush(stderr);
    need(dup2(scratch->saved_stderr, STDERR_FILENO) >= 0, "stderr");
    close(scratch->saved_stderr);
    scratch_path(path, scratch, "stderr");
    need(file_read(text, path) >= 0, path);
    need(remove(path) == 0, path);
}

size_t count_lines(const char *text)
{
    size_t lines = 0;
    for (; *text != '\0'; text++) {
        lines += *text == '\n';
    }
    return lines;
}

size_t count_words(const char *text, const char *word)
{
    size_t count = 0;
    for (; (text = strstr(text, word)) != NULL; text++) {
        count++;
    }
    return count;
}
