/*
 * Beginnings and ends of tests.
 */
#include "fixture.h"

#include "../harness/base/streams.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>

bool fixture_nightly(void)
{
    return getenv("HEADPROOF_NIGHTLY") != NULL;
}

bool fixture_short(void)
{
    return getenv("HEADPROOF_SHORT") != NULL;
}

void *fixture_make(size_t size)
{
    Scratch *fixture = calloc(1, size);
    assert_non_null(fixture);
    scratch_make(fixture);
    return fixture;
}

int fixture_tear_down(void **state)
{
    scratch_remove(*state);
    free(*state);
    return 0;
}

int scratch_set_up(void **state)
{
    *state = fixture_make(sizeof(Scratch));
    return 0;
}

/* directory/name and a suffix. */
static void beside(char *path, const FileFixture *fixture, const char *name, const char *suffix)
{
    char whole[64];
    snprintf(whole, sizeof whole, "%s%s", name, suffix);
    scratch_path(path, &fixture->scratch, whole);
}

static FileFixture *file_fixture(const char *name)
{
    FileFixture *fixture = fixture_make(sizeof *fixture);
    assert_int_equal(streams_open(), 0); /* as the program begins */
    beside(fixture->path, fixture, name, "");
    beside(fixture->partial, fixture, name, ".partial");
    beside(fixture->sidecar, fixture, name, ".json");
    return fixture;
}

int csv_set_up(void **state)
{
    *state = file_fixture("out.csv");
    return 0;
}

int model_set_up(void **state)
{
    *state = file_fixture("model.safetensors");
    return 0;
}

int reference_set_up(void **state)
{
    ref_thread_setup();
    return 0;
}

int reference_tear_down(void **state)
{
    ref_thread_clear();
    return 0;
}

Pair pair_make(const CaseSpec *spec)
{
    Pair pair;
    const char *reason;
    assert_int_equal(case_build(&pair, &reason, spec), CASE_OK);
    return pair;
}

RefRun *run_layers(const Model *model, const double *x, const double *bias_row_content,
                   double omega, mpfr_prec_t bits, size_t layers)
{
    RefRun *run = ref_run_open(&(Start){model, x, bias_row_content, omega}, bits);
    for (size_t l = 0; l < layers; l++) {
        ref_run_layer(run);
    }
    return run;
}

RefRun *difference_layers(const Pair *pair, double omega, mpfr_prec_t bits, size_t layers)
{
    const Start start = pair_start(pair, omega);
    RefRun *run = ref_difference_open(&start, bits, NULL);
    for (size_t l = 0; l < layers; l++) {
        ref_run_layer(run);
    }
    return run;
}
