/*
 * headproof check, run as a program in a scratch directory, with what it reads and leaves there.
 */
#ifndef HEADPROOF_TESTS_CHECK_PROGRAM_H
#define HEADPROOF_TESTS_CHECK_PROGRAM_H

#include "../../harness/base/csv_read.h"
#include "../program.h"
#include "../scratch.h"

#include <jansson.h>

/* A sweep of 42 rows. */
#define CHECK_GRID                                                                                 \
    "--construction silu,linear,attention,ffn3,fused,transformer3,transformer --n 3 --d 2 "        \
    "--depth 2 --omega 2,20,1000 --bias random"

/* headproof ARGUMENTS, where % stands for the scratch directory; both streams. */
Output check_run(const Scratch *scratch, const char *arguments);

/* Exit code, and a part of what is said (NULL: anything). */
void check_expect(const Scratch *scratch, const char *arguments, int code, const char *said);

/* Is there a file of that name? */
bool check_made(const Scratch *scratch, const char *name);

/* The text of a file, which the caller frees. */
char *check_text(const Scratch *scratch, const char *name);

/* A file as JSON, which it must be; and a member of an object, "" where there is no such string. */
json_t *check_json(const Scratch *scratch, const char *name);
const char *json_text(const json_t *object, const char *name);

/* A table; written, its sidecar says that it is as it was saved. */
void check_read_table(Csv *csv, const Scratch *scratch, const char *name);
void check_write_table(const Csv *csv, const Scratch *scratch, const char *name);

#endif
