/*
 * The last of our headers in every test program: cmocka, and what it wants to come before it.
 */
#ifndef HEADPROOF_TESTS_UNIT_H
#define HEADPROOF_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Every test is handed a state, and few need it. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#endif
