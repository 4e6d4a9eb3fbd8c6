/*
 * From what a section says to the points it means.
 */
#ifndef HEADPROOF_HARNESS_GRID_EXPAND_H
#define HEADPROOF_HARNESS_GRID_EXPAND_H

#include "settings.h"

/* Points before duplicates go. */
#define POINTS_MOST 1000000

typedef struct {
    Point point;
    const Section *section; /* where it came from */
    size_t index;           /* its place in the list before duplicates go */
} Candidate;

typedef struct {
    Candidate *items;
    size_t count, capacity;
    SourceList *sources;  /* where weights files are read into; the caller's */
    ModelFileFlags flags; /* what is said of them */
    bool three;           /* networks become three sublayers when no construction is named */
} CandidateList;

/* Appends the product of the section's axes, those set in flags taking precedence, the last
 * axis fastest; canonical, and checked: contradictions, also with a weights file, and sizes
 * beyond the machine.
 * 0; 2 or 99 after one message. */
int expand_section(CandidateList *list, const Section *section, const Section *flags,
                   const CommandInfo *command) __attribute__((warn_unused_result));

/* Keeps the first of equal points, in order; what was asked of any was asked of it. */
void candidates_deduplicate(CandidateList *list);

void candidates_clear(CandidateList *list);

#endif
