/*
 * All of a file as text.
 */
#ifndef HEADPROOF_HARNESS_BASE_FILE_TEXT_H
#define HEADPROOF_HARNESS_BASE_FILE_TEXT_H

#include <stddef.h>

/* The bytes of a file, a NUL behind them; free it.  NULL (errno): it cannot be read, or (ENOMEM)
 * memory is short. */
char *file_text(size_t *size, const char *path) __attribute__((warn_unused_result));

#endif
