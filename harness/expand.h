/*
 * From what a section says to the points it means.
 */
#ifndef HEADPROOF_HARNESS_EXPAND_H
#define HEADPROOF_HARNESS_EXPAND_H

#include "settings.h"

/* Points before duplicates go. */
#define POINTS_MOST 1000000

/* A point, where it came from, and when. */
typedef struct {
    Point point;
    const Section *section;
    size_t index;
} Candidate;

typedef struct {
    Candidate *items;
    size_t count, capacity;
} CandidateList;

/* Appends the product of the section's axes, those set in flags taking precedence, the last
 * axis fastest; canonical, and checked: contradictions, sizes beyond the machine.
 * 0; 2 or 99 after one message. */
int expand_section(CandidateList *list, const Section *section, const Section *flags,
                   Command command) __attribute__((warn_unused_result));

/* Keeps the first of equal points, in order. */
void candidates_deduplicate(CandidateList *list);

void candidates_clear(CandidateList *list);

#endif
