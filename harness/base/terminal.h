/*
 * A terminal's width, and whether it is to have colours; sentences in lines that
 * are not too long.
 */
#ifndef HEADPROOF_HARNESS_BASE_TERMINAL_H
#define HEADPROOF_HARNESS_BASE_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { TERMINAL_WIDTH = 80, TERMINAL_LEAST = 20, TERMINAL_MOST = 1000 };

/* Columns of the terminal that the stream is: what COLUMNS says, else what the terminal does; of
 * everything else 80.  From TERMINAL_LEAST to TERMINAL_MOST. */
size_t terminal_width(FILE *file);

/* Do stdout and stderr end at a terminal, so that one reader sees both? */
bool terminal_is_one(void);

typedef enum { COLOR_NONE, COLOR_GOOD, COLOR_DOUBTFUL, COLOR_BAD } Color;

/* Is the stream to have colours?  when: "always", "never"; "auto" or NULL: on a terminal that can
 * (TERM is set and not "dumb"), unless NO_COLOR is set to anything but "". */
bool terminal_has_colors(FILE *file, const char *when);

/* Writes text in the colour: green, yellow, red; COLOR_NONE: as it is. */
void terminal_write(FILE *file, Color color, const char *text);

/* A text that is written between opening and closing, on its way to a stream. */
typedef struct {
    FILE *to, *file;
    char *text;
    size_t size;
} Wrapped;

/* Where to write. */
FILE *wrapped_open(Wrapped *wrapped, FILE *to);

/* Passes it on: lines that are wider than the terminal, or than WRAPPED_WIDTH columns wherever they
 * go, are broken between words; what is behind a break is indented. */
enum { WRAPPED_WIDTH = 100 };
void wrapped_close(Wrapped *wrapped);

#endif
