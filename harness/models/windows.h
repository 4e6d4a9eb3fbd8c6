/*
 * Inputs that are windows of lines of token ids.
 */
#ifndef HEADPROOF_HARNESS_MODELS_WINDOWS_H
#define HEADPROOF_HARNESS_MODELS_WINDOWS_H

#include "inputs.h"

/* Where sequences of tokens are read from; window and stride 0: as standard. */
typedef struct {
    const char *ids; /* a file of token ids with blanks or a comma between them, a sequence a line;
                        lines without any are skipped */
    size_t window, stride;
    double room; /* bytes that streams may take */
} WindowsAsked;

/* Windows of the sequences that a file has: of asked->window tokens, or as standard of the model's
 * context or the first sequence, whichever is shorter; one begins asked->stride behind the one
 * before, or as standard where that ends.  The last window of a sequence begins earlier where it
 * would be shorter, so that it is whole.  0; 2 or 99 after one message that names file, line and
 * token. */
int windows_read(Inputs *inputs, const ModelFile *model, const char *path,
                 const WindowsAsked *asked) __attribute__((warn_unused_result));

#endif
