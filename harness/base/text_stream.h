/*
 * A stream into memory that says when memory was short, and a file read whole.
 *
 * open_memstream does not always: what finds no memory is dropped, ferror says nothing of it, and
 * fclose may succeed.
 */
#ifndef HEADPROOF_HARNESS_BASE_TEXT_STREAM_H
#define HEADPROOF_HARNESS_BASE_TEXT_STREAM_H

#include <stddef.h>
#include <stdio.h>

/* As open_memstream: after fflush or fclose, *text (to be freed) is what was written, with a NUL
 * behind its *size bytes.  Where memory is or was short: NULL, or fclose fails, and *text is then
 * NULL. */
FILE *text_stream(char **text, size_t *size) __attribute__((warn_unused_result));

/* Closes it: the text, to be freed; NULL: memory was short, or `stream` is NULL for that, or
 * status, of writing to it, is not 0. */
char *text_close(FILE *stream, char **text, int status) __attribute__((warn_unused_result));

/* The bytes of a file, a NUL behind them; free it.  NULL (errno): it cannot be read, or (ENOMEM)
 * memory is short. */
char *file_text(size_t *size, const char *path) __attribute__((warn_unused_result));

#endif
