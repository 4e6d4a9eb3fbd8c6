/*
 * A command's conclusion in one word: PASS only where something could have failed.
 */
#ifndef HEADPROOF_HARNESS_BASE_CONCLUSION_H
#define HEADPROOF_HARNESS_BASE_CONCLUSION_H

#include "terminal.h"

/* From the weakest on.  CONCLUSION_EVALUATED: there was no tolerance, baseline or prediction to
 * judge by; CONCLUSION_SAVED: the same of a new baseline. */
typedef enum {
    CONCLUSION_FAIL,
    CONCLUSION_EVALUATED,
    CONCLUSION_SAVED,
    CONCLUSION_PASS,
    CONCLUSIONS
} Conclusion;

typedef struct {
    const char *name;  /* for machines: "pass", "evaluated" */
    const char *words; /* for people: "PASS", "evaluated, nothing judged: no tolerance" */
    Color color;       /* none for what was not judged */
} ConclusionInfo;

extern const ConclusionInfo conclusions[CONCLUSIONS];

#endif
