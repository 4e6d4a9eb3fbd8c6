/*
 * Beginnings and ends of tests: cmocka's set-up and tear-down functions for files in a
 * directory of their own and for the reference; and pairs and runs.
 */
#ifndef HEADPROOF_TESTS_FIXTURE_H
#define HEADPROOF_TESTS_FIXTURE_H

#include "../cases/case.h"
#include "../reference/reference.h"
#include "scratch.h"

#include <stdbool.h>

/* The debug build is some ten times slower: there, tests that loop over numbers take fewer. */
#ifdef HEADPROOF_CHECK
enum { SMALL_GRIDS = 1 };
#else
enum { SMALL_GRIDS = 0 };
#endif

/* HEADPROOF_NIGHTLY is set: a test takes its long form. */
bool fixture_nightly(void);

/* HEADPROOF_SHORT is set: a test that knows a short form takes it, of what differs between
 * tiers. */
bool fixture_short(void);

/* size bytes, all zero but for the Scratch that they begin with. */
void *fixture_make(size_t size);

/* Of whatever begins with a Scratch, has nothing else to clear and is one piece of memory. */
int fixture_tear_down(void **state);

/* A Scratch alone. */
int scratch_set_up(void **state);
#define SCRATCH_TEST(test) cmocka_unit_test_setup_teardown(test, scratch_set_up, fixture_tear_down)

/* One file, which is not there yet, and what may come to be beside it; text: whatever was read. */
typedef struct {
    Scratch scratch;
    char path[SCRATCH_PATH], partial[SCRATCH_PATH];
    char sidecar[SCRATCH_PATH];
    char text[SCRATCH_TEXT];
} FileFixture;

/* A file named out.csv, or model.safetensors. */
int csv_set_up(void **state);
int model_set_up(void **state);
#define CSV_TEST(test) cmocka_unit_test_setup_teardown(test, csv_set_up, fixture_tear_down)
#define MODEL_TEST(test) cmocka_unit_test_setup_teardown(test, model_set_up, fixture_tear_down)

/* Of a group whose tests use the reference. */
int reference_set_up(void **state);
int reference_tear_down(void **state);

/* The pair of a case that can be built. */
Pair pair_make(const CaseSpec *spec);

/* A run of a model, after so many layers. */
RefRun *run_layers(const Model *model, const double *x, const double *bias_row_content,
                   double omega, mpfr_prec_t bits, size_t layers);

/* e of a pair's T' at omega, after so many layers. */
RefRun *difference_layers(const Pair *pair, double omega, mpfr_prec_t bits, size_t layers);

#endif
