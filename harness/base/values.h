/*
 * Lists of values: what a flag or a case-file key may hold.
 *
 *     list   item,item,...
 *     item   v            one value
 *            a:b          a, a+1, ... up to b
 *            a:b:step     a, a+step, ... up to b
 *            a:b:*factor  a, a*factor, ... up to b
 *            WORD         where the domain has words (ALL of them: "all", where allowed)
 *            4D           where the domain has multiples of another axis
 *            a/b          where the domain has paths: a file of that name exists, or the name has
 *                         a / in it, or ends in .safetensors or .safetensors.index.json
 *
 * Ends are inclusive; a range whose steps miss b stops at the last value below it.  Arithmetic
 * is exact on the decimals as written, and each value is rounded once, to the nearest double:
 * 0.1:0.3:0.1 ends with the double nearest to 0.3.  Everything else is an error.
 */
#ifndef HEADPROOF_HARNESS_BASE_VALUES_H
#define HEADPROOF_HARNESS_BASE_VALUES_H

#include "domain.h"
#include "message.h"

typedef struct {
    AxisValue *values; /* their paths are the list's */
    size_t count, capacity;
    bool all; /* the word "all" was among them */
} ValueList;

#define VALUES_MOST 1000000

/* Reads text into *list (zeroed by the caller).  0; 2 with *message set.  Clear the list
 * in every case. */
int values_read(ValueList *list, Message *message, const Domain *domain, const char *text)
    __attribute__((warn_unused_result));

void values_clear(ValueList *list);

#endif
