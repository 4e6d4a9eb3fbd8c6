/*
 * Sentences in lines that are not too long.
 */
#ifndef HEADPROOF_HARNESS_BASE_WRAPPED_H
#define HEADPROOF_HARNESS_BASE_WRAPPED_H

#include <stddef.h>
#include <stdio.h>

/* What is written between opening and closing, on its way to a stream. */
typedef struct {
    FILE *to, *file;
    char *text;
    size_t size;
} Wrapped;

/* Where to write; stderr where memory is short, which closing says. */
FILE *wrapped_open(Wrapped *wrapped, FILE *to);

/* Passes it on: lines that are wider than the terminal, or than WRAPPED_WIDTH columns wherever they
 * go, are broken between words; what is behind a break is indented.  0; 99 after a message: memory
 * was short. */
enum { WRAPPED_WIDTH = 100 };
int wrapped_close(Wrapped *wrapped) __attribute__((warn_unused_result));

#endif
