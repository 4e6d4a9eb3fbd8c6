/*
 * Which rule a column of a table falls under (docs/ci.md, "The rules").
 */
#ifndef HEADPROOF_HARNESS_TABLE_CHECK_COLUMNS_H
#define HEADPROOF_HARNESS_TABLE_CHECK_COLUMNS_H

#include "../base/csv_read.h"
#include "../grid/point.h"

typedef enum {
    RULE_NONE,      /* no rule knows it */
    RULE_REFERENCE, /* the same on every machine */
    RULE_MACHINE,   /* an error that may grow by a factor */
    RULE_SHARE,     /* a share that may fall by it */
    RULE_FREE,      /* not compared */
    RULE_STATUS,
    RULE_BOUNDS /* names of cells, which are read with them */
} Rule;

/* Of a column that is not a key (check_is_key). */
Rule column_rule(const char *column);

/* STATUS_OK + 1 when there is none of that name. */
Status status_find(const char *name);

/* Every cell is what its column's rule takes: blank, a status, names of cells, or a number in its
 * domain (an error is not negative, a share is from 0 to 1).  0; 2 after a message with file, line
 * and token; 99 after one when memory is short. */
int check_cells(const Csv *csv) __attribute__((warn_unused_result));

#endif
