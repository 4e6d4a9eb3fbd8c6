/*
 * libFuzzer target (make fuzz-safetensors): whatever the bytes of a safetensors file are, reading
 * them ends in a result or in one message.
 *
 *   fuzz_safetensors DIRECTORY [FLAG...]     DIRECTORY: the corpus; small whole models are added
 */
#include "safetensors_samples.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    Sample sample;
    for (size_t i = 0; *argc > 1 && (*argv)[1][0] != '-' && sample_model(&sample, i); i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/sample%zu.safetensors", (*argv)[1], i);
        FILE *file = fopen(path, "w");
        if (file == NULL || fwrite(sample.bytes, 1, sample.size, file) != sample.size ||
            fclose(file) != 0) {
            perror(path);
            exit(99);
        }
        sample_clear(&sample);
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    SampleOutcome outcome;
    if (!sample_exercise(&outcome, data, size)) {
        abort();
    }
    return 0;
}

static uint64_t header_length(const uint8_t *data)
{
    uint64_t length = 0;
    for (size_t i = 8; i-- > 0;) {
        length = length << 8 | data[i];
    }
    return length;
}

/* Mutates the header's text and makes its length right again, or the data and keeps their size:
 * few inputs would otherwise come past the first checks. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    uint64_t length = size < 8 ? 0 : header_length(data);
    if (seed % 4 == 0 || size < 9 || length > size - 8) {
        return LLVMFuzzerMutate(data, size, max_size);
    }
    size_t header = (size_t)length, rest = size - 8 - header;
    size_t room = max_size - 8 - rest;
    if (seed % 4 == 1 && rest > 0) {
        (void)LLVMFuzzerMutate(data + 8 + header, rest, rest);
        return size;
    }
    uint8_t *text = malloc(room + 1);
    if (text == NULL) {
        return size;
    }
    memcpy(text, data + 8, header);
    size_t mutated = LLVMFuzzerMutate(text, header, room);
    memmove(data + 8 + mutated, data + 8 + header, rest);
    memcpy(data + 8, text, mutated);
    for (size_t i = 0; i < 8; i++) {
        data[i] = (uint8_t)((uint64_t)mutated >> (8 * i) & 255);
    }
    free(text);
    return 8 + mutated + rest;
}
