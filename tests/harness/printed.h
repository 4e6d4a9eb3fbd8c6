/*
 * Tensors of trained models as another program has read and printed them.
 */
#ifndef HEADPROOF_TESTS_HARNESS_PRINTED_H
#define HEADPROOF_TESTS_HARNESS_PRINTED_H

#include <stddef.h>

/* First, middle and last entry, and the sum of entry i times i mod 7 + 1, from left to right in
 * double: printed by Python's json and struct, which share nothing with this program. */
typedef struct {
    const char *name;
    const double *values;
    size_t count;
    double first, middle, last, sum;
} Printed;

/* Fails the test where values are others. */
void check_printed(const Printed *printed);

#endif
