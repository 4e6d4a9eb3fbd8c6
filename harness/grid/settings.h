/*
 * The values that the command line or a section of a case file gives to every axis.
 *
 * Umbrella header: for casefile.c and options.c, which read the two.
 */
#ifndef HEADPROOF_HARNESS_GRID_SETTINGS_H
#define HEADPROOF_HARNESS_GRID_SETTINGS_H

#include "command.h"
#include "grid.h"

#include "../base/values.h"

typedef struct {
    bool given;
    Origin origin;
    char *text; /* as written */
    ValueList list;
} Setting;

typedef struct {
    char *name;
    Origin origin; /* of the section's header */
    Setting settings[AXIS_COUNT];
} Section;

typedef struct {
    Section *sections;
    size_t count;
} SectionList;

/* Reads one axis.  0; 2 after a message (a bad value, an axis that is set already or that the
 * command does not take). */
int setting_read(Section *section, Axis axis, const CommandInfo *command, Origin origin,
                 const char *text) __attribute__((warn_unused_result));

void section_clear(Section *section);

/* Appends an empty section. */
void sections_add(SectionList *list, const char *name, Origin origin);

void sections_clear(SectionList *list);

/* Case files: INI, read strictly.
 *
 *     # comment                       ; or this
 *     [name]                          a sweep; its keys are the axes' names
 *     construction = silu, linear     # comment, after a blank
 *     omega = 8,10:50:5,64:4096:*2
 *
 * Errors: a key that is unknown, given twice, or before the first section; a section that is
 * unnamed, empty or there twice; a line that is too long, begins with a blank (INI's
 * continuation lines), or is none of the above; a NUL byte; a file without sections.
 * Appends the sections of the file at path, which must outlive them.  0; 2 or 99 after one
 * message "FILE:LINE: token ...". */
int casefile_read(SectionList *list, const CommandInfo *command, const char *path)
    __attribute__((warn_unused_result));

/* Reads argv[1..] into *axes, *run and operands [argc], *count of them.  0; 2 or 99 after one
 * message. */
int options_read(Section *axes, RunOptions *run, char **operands, size_t *count,
                 const CommandInfo *command, int argc, char **argv)
    __attribute__((warn_unused_result));

#endif
