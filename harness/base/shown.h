/*
 * Text that is not the program's own (names of files and tensors, cells, arguments), as it may be
 * shown: it can be read, and does nothing to a terminal, a page or a shell.
 *
 * In every place the same is escaped: bytes that are not UTF-8 become \xHH, and so do the control
 * characters below U+0080; other code points that are not seen, or that move what is seen, become
 * \u{H...}: C1, separators of lines, marks and overrides of direction, whatever Unicode calls
 * default ignorable, private use, noncharacters.  A backslash stands for itself: escapes are for
 * eyes, nothing reads them back.  Each place adds what its own syntax asks for.  Only a shell word
 * is exact: a shell makes the same bytes of it again.
 */
#ifndef HEADPROOF_HARNESS_BASE_SHOWN_H
#define HEADPROOF_HARNESS_BASE_SHOWN_H

#include <stddef.h>
#include <stdio.h>

typedef enum {
    SHOWN_TERMINAL,
    SHOWN_JSON,     /* valid UTF-8; quotes and backslashes are left to whoever writes the JSON */
    SHOWN_XML,      /* XML 1.0, as content or between double quotes */
    SHOWN_MARKDOWN, /* running text or a cell of a table; no markup, no HTML */
    SHOWN_SHELL     /* one word; text that is seen as a whole in '...', else in $'...' */
} ShownPlace;

/* Writes text, or text[0 .. length-1], as it is shown there; the stream's own error says whether it
 * came out. */
void shown_write(FILE *file, ShownPlace place, const char *text);
void shown_write_part(FILE *file, ShownPlace place, const char *text, size_t length);

/* The same as a string; the caller frees. */
char *shown_copy(ShownPlace place, const char *text);

/* For a line of printf: printf("%s\n", shown(path).text).  Text of more than that is cut between
 * two characters, and ends in "...". */
typedef struct {
    char text[8200]; /* whatever a message holds */
} Shown;
Shown shown(const char *text);

#endif
