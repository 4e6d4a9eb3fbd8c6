/*
 * What a row of an obtained table may be.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_CHECK_RULES_H
#define HEADPROOF_HARNESS_COMMANDS_CHECK_RULES_H

#include "check.h"

/* The rules for one obtained row, which is point's; other: the baseline's row, or NO_ROW.
 * columns [obtained's]: the baseline's column of the same name, or NO_ROW.  0 or 99. */
int check_row(Check *check, size_t row, const Point *point, size_t other, const size_t *columns)
    __attribute__((warn_unused_result));

#endif
