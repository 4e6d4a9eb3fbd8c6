/*
 * Texts: a stream into memory, a file read whole, how one ends.
 *
 * open_memstream drops what finds no memory, ferror says nothing of it, and fclose may succeed.
 */
#ifndef HEADPROOF_HARNESS_BASE_TEXT_STREAM_H
#define HEADPROOF_HARNESS_BASE_TEXT_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* As open_memstream: after fflush or fclose, *text (to be freed) is what was written, with a NUL
 * behind its *size bytes.  Nothing fails, as memory is needed (memory/need.h). */
FILE *text_stream(char **text, size_t *size) __attribute__((returns_nonnull, warn_unused_result));

/* Closes it: the text, to be freed. */
char *text_close(FILE *stream, char **text) __attribute__((returns_nonnull));

/* Lines of a text that end. */
size_t text_lines(const char *text, size_t size);

/* Are the last bytes of a text those of end? */
bool text_ends_in(const char *text, const char *end);

/* The bytes of a file, a NUL behind them; free it.  NULL (errno): it cannot be read. */
char *file_text(size_t *size, const char *path) __attribute__((warn_unused_result));

#endif
