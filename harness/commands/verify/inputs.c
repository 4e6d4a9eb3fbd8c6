/*
 * The inputs of `verify`, from its flags: tuples, or lines of token ids.
 */

#include "verify.h"

#include "../../base/memory.h"
#include "../../base/message.h"

#include <stdio.h>

int verify_inputs_check(const RunOptions *run)
{
    const struct {
        bool wrong;
        const char *flag, *expected;
    } faults[] = {
        {run->tokens_file != NULL && run->tokens != NULL, "--tokens-file",
         "it or --tokens, not both"},
        {run->window > 0 && run->tokens_file == NULL, "--window", "--tokens-file with it"},
        {run->stride > 0 && run->tokens_file == NULL, "--stride", "--tokens-file with it"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        if (faults[i].wrong) {
            return complain((Origin){0}, faults[i].flag, "expected %s", faults[i].expected);
        }
    }
    return 0;
}

static int read_inputs(Verify *verify)
{
    const RunOptions *run = verify->options;
    const char *path = verify->template->source->path;
    if (run->tokens_file == NULL) {
        return inputs_make(&verify->inputs, verify->model, path, run->tokens,
                           verify->template->spec.seed);
    }
    const WindowsAsked asked = {.ids = run->tokens_file,
                                .window = run->window,
                                .stride = run->stride,
                                .room = memory_room(run->memory)};
    return windows_read(&verify->inputs, verify->model, path, &asked);
}

/* Those that are asked for, else the last of each input. */
static int read_positions(Verify *verify)
{
    const RunOptions *run = verify->options;
    char of[256] = "an input";
    if (run->positions != NULL && !verify_has_logits(verify->model)) {
        return complain((Origin){.flag = "positions"}, run->positions,
                        "expected a model with an unembedding: without logits there are no "
                        "predictions to look at");
    }
    if (run->tokens_file != NULL) {
        snprintf(of, sizeof of, "a window of %s", run->tokens_file);
    }
    return positions_make(&verify->positions, run->positions != NULL ? run->positions : "last",
                          verify->inputs.n, of);
}

int verify_inputs_read(Verify *verify)
{
    const RunOptions *run = verify->options;
    int status = read_inputs(verify);
    if (status != 0) {
        return status;
    }
    status = read_positions(verify);
    if (status != 0) {
        return status;
    }
    verify->digest = inputs_digest(&verify->inputs);
    return run->shards > 0
               ? inputs_take_shard(&verify->inputs, verify->model->d, run->shard, run->shards)
               : 0;
}
