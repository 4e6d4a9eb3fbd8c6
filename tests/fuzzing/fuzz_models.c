/*
 * Models: whatever the bytes of a safetensors file are, reading them ends in a result or in one
 * message, and every tensor that was read is finite and inside the file.
 */
#include "fuzz.h"

#include "../safetensors_samples.h"

static const char *run(Fuzz *fuzz, const uint8_t *bytes, size_t size)
{
    SampleOutcome outcome;
    fuzz_listen(fuzz);
    bool fine = sample_exercise(&outcome, bytes, size);
    fuzz_hear(fuzz);
    size_t lines = count_lines(fuzz->said);
    if (!fine) {
        return fuzz_broken(fuzz, "what was read breaks a promise of the headers");
    }
    return lines == outcome.lines ? NULL
                                  : fuzz_broken(fuzz, "%zu messages, %zu were due: %s", lines,
                                                outcome.lines, fuzz->said);
}

/* The length of the header, where a change may have moved its end. */
static void repair(uint8_t *bytes, size_t size)
{
    size_t length = 0;
    if (size < 9) {
        return;
    }
    for (int depth = 0; 8 + length < size; length++) {
        uint8_t c = bytes[8 + length];
        depth += c == '{' ? 1 : c == '}' ? -1 : 0;
        if (depth == 0) {
            break;
        }
    }
    for (size_t i = 0; i < 8; i++) {
        bytes[i] = (uint8_t)((uint64_t)(length + 1) >> (8 * i) & 255);
    }
}

const FuzzSubject fuzz_models = {.name = "models", .run = run, .repair = repair};
