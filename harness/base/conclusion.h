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

/* For people: "PASS", "evaluated, nothing judged: no tolerance". */
const char *conclusion_words(Conclusion conclusion);

/* For machines: "pass", "evaluated". */
const char *conclusion_name(Conclusion conclusion);

/* None for what was not judged. */
Color conclusion_color(Conclusion conclusion);

#endif
