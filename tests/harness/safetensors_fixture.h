/*
 * Tools for tests of safetensors files: samples as files, the messages about them, and numbers.
 */
#ifndef HEADPROOF_TESTS_HARNESS_SAFETENSORS_FIXTURE_H
#define HEADPROOF_TESTS_HARNESS_SAFETENSORS_FIXTURE_H

#include "../../harness/models/model_file.h"
#include "../../harness/models/safetensors.h"
#include "../../harness/models/safetensors_write.h"
#include "../drawn_numbers.h"
#include "../fixture.h"
#include "../safetensors_samples.h"

/* stderr from here on; and what came there: fixture->text. */
void hold(FileFixture *fixture);
const char *take(FileFixture *fixture);

/* What was held is one line that begins with the path and has the culprit in it; status is 2. */
void expect_message(FileFixture *fixture, int status, const char *path, const char *culprit);

/* The sample, which is cleared, becomes the fixture's file. */
void write_sample(const FileFixture *fixture, Sample *sample);

SafetensorsFile *open_file(const char *path);

#endif
