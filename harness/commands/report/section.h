/*
 * What a report says of one file, as HTML: verdict, picture, rows, failures, where it was run.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_REPORT_SECTION_H
#define HEADPROOF_HARNESS_COMMANDS_REPORT_SECTION_H

#include "subject.h"

#include "../plot/picture.h"

#include <stdio.h>

/* "FAIL: 3 of 12 points; 4 rows fail", as text. */
enum { SECTION_VERDICT = 240 };
void section_verdict(char text[SECTION_VERDICT], const Subject *subject);

/* Writes the section of the subject with that number, from 0; wish: for its picture.  0; 99 after a
 * message; what the stream came to is its own to say. */
int section_write(FILE *file, const Subject *subject, const PictureWish *wish, size_t number)
    __attribute__((warn_unused_result));

/* Text as HTML has it. */
void section_text(FILE *file, const char *text);

#endif
