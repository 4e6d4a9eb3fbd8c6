/*
 * What the command line or a section of a case file says of every axis.
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
 * command does not take); 99 after a message when memory is short. */
int setting_read(Section *section, Axis axis, const CommandInfo *command, Origin origin,
                 const char *text) __attribute__((warn_unused_result));

void section_clear(Section *section);

/* Appends an empty section; NULL after a message when memory is short. */
Section *sections_add(SectionList *list, const char *name, Origin origin)
    __attribute__((warn_unused_result));

void sections_clear(SectionList *list);

#endif
