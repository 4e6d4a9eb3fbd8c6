/*
 * Files that are read in any order, or as a whole: no pipes; and JSON that others made, beside
 * tensors.
 */
#ifndef HEADPROOF_HARNESS_MODELS_REGULAR_FILE_H
#define HEADPROOF_HARNESS_MODELS_REGULAR_FILE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/* Opens one for reading: *fd, and *found of it.  Returns 0, or after a message the exit code, with
 * *fd = -1.  optional: 0 and *fd = -1 where there is no such file. */
int regular_file_open(int *fd, struct stat *found, const char *path, bool optional)
    __attribute__((warn_unused_result));

/* Reads at most size bytes from offset on: as many as there are; or *error is why not all, else 0.
 */
size_t regular_file_read(void *bytes, int fd, size_t offset, size_t size, int *error);

/* What a file is that begins so, and what to do, for a message; NULL: nothing that is known. */
const char *regular_file_kind(const char *first, size_t count);

/* Says that what was asked of a file (errno) cannot be had; returns the exit code. */
int regular_file_unreadable(const char *path, int error);

/* *root: the object in a regular file of at most `most` bytes, which the caller releases.
 * optional: where there is no such file *root is NULL, and that is no fault.  0; 2 after a message;
 * 99 after one when the disk fails. */
int json_file_read(json_t **root, const char *path, size_t most, bool optional)
    __attribute__((warn_unused_result));

#endif
