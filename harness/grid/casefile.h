/*
 * Case files: INI, read strictly.
 *
 *     # comment                       ; or this
 *     [name]                          a sweep; its keys are the axes' names
 *     construction = silu, linear     # comment, after a blank
 *     omega = 8,10:50:5,64:4096:*2
 *
 * Errors: a key that is unknown, given twice, or before the first section; a section that is
 * unnamed, empty or there twice; a line that is too long, begins with a blank (INI's
 * continuation lines), or is none of the above; a NUL byte; a file without sections.
 */
#ifndef HEADPROOF_HARNESS_GRID_CASEFILE_H
#define HEADPROOF_HARNESS_GRID_CASEFILE_H

#include "settings.h"

/* Appends the sections of the file at path, which must outlive them.  0; 2 or 99 after one
 * message "FILE:LINE: token ...". */
int casefile_read(SectionList *list, const CommandInfo *command, const char *path)
    __attribute__((warn_unused_result));

#endif
