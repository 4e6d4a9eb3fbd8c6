/*
 * Sums that tests/data/recorded.txt holds: of what no formula here foretells to its last digits,
 * as radii and bounds, so that a change of one of them is noticed whatever it is.
 *     HEADPROOF_RECORD=1 TEST_VERBOSE=1 make test | sed -n 's/^recorded: //p' | sort
 * compares nothing, and prints what the file is to hold.
 */
#ifndef HEADPROOF_TESTS_RECORDED_H
#define HEADPROOF_TESTS_RECORDED_H

/* The sum recorded under this name is value, to 1e-6.  Long forms have other sums: not at night. */
void assert_recorded(const char *name, double value);

#endif
