/*
 * Lists of token ids: they end in windows of a vocabulary's tokens in which every position counts
 * once, or in one message that names a file.
 */
#include "fuzz.h"

#include "../../harness/models/inputs.h"

#include <string.h>

enum { TOKENS = 5, CONTEXT = 3, STRIDE = 2 };

static double embedding[TOKENS] = {1, 2, 3, 4, 5}, position[CONTEXT] = {10, 20, 30};

/* NULL, or what does not hold of windows that were read from text of so many bytes. */
static const char *expect_windows(Fuzz *fuzz, const Inputs *inputs, size_t size)
{
    size_t counted = 0;
    if (inputs->count == 0 || inputs->n == 0 || inputs->n > CONTEXT) {
        return fuzz_broken(fuzz, "%zu windows of %zu tokens", inputs->count, inputs->n);
    }
    for (size_t i = 0; i < inputs->count; i++) {
        if (inputs->from[i] >= inputs->n || inputs->next[i] < -1 || inputs->next[i] >= TOKENS) {
            return fuzz_broken(fuzz, "window %zu counts from %zu", i, inputs->from[i]);
        }
        counted += inputs->n - inputs->from[i];
        for (size_t p = 0; p < inputs->n; p++) {
            int64_t token = inputs->tokens[i * inputs->n + p];
            bool its = token >= 0 && token < TOKENS;
            if (!its || inputs->x[i * inputs->n + p] != embedding[token] + position[p]) {
                return fuzz_broken(fuzz, "window %zu, position %zu: token %ld", i, p, (long)token);
            }
        }
    }
    return counted <= size ? NULL : fuzz_broken(fuzz, "%zu tokens of %zu bytes", counted, size);
}

static const char *run(Fuzz *fuzz, const uint8_t *bytes, size_t size)
{
    static const ModelFile model = {.kind = MODEL_FILE_ATTENTION,
                                    .depth = 1,
                                    .d = 1,
                                    .vocabulary = TOKENS,
                                    .context = CONTEXT,
                                    .W_E = embedding,
                                    .W_pos = position};
    const WindowsAsked asked = {.ids = "f.ids", .stride = STRIDE, .room = 1e6};
    Inputs inputs;
    fuzz_write("f.ids", (const char *)bytes, size);
    fuzz_listen(fuzz);
    int status = windows_read(&inputs, &model, "model", &asked);
    fuzz_hear(fuzz);
    const char *why = status == 0 ? expect_windows(fuzz, &inputs, size)
                      : status == 2 && strstr(fuzz->said, "--stride") != NULL
                          ? NULL /* of a line that is shorter */
                          : fuzz_expect_refusal(fuzz, "f.");
    inputs_clear(&inputs);
    return why;
}

const FuzzSubject fuzz_texts = {.name = "texts", .run = run};
