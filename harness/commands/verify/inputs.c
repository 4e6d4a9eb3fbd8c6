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

/* Those that are asked for, else the last of each input. */
static int read_positions(Chosen *chosen, const ModelFile *model, const RunOptions *run)
{
    char of[256] = "an input";
    if (run->positions != NULL && !verify_has_logits(model)) {
        return complain((Origin){.flag = "positions"}, run->positions,
                        "expected a model with an unembedding: without logits there are no "
                        "predictions to look at");
    }
    if (run->tokens_file != NULL) {
        snprintf(of, sizeof of, "a window of %s", run->tokens_file);
    }
    return positions_make(&chosen->positions, run->positions != NULL ? run->positions : "last",
                          chosen->inputs.n, of);
}

int chosen_read(Chosen *chosen, const Point *template, const RunOptions *run)
{
    const ModelFile *model = template->source->file;
    const char *path = template->source->path;
    if (chosen->there && (run->tokens_file != NULL || chosen->seed == template->spec.seed)) {
        return 0;
    }
    chosen_clear(chosen);
    chosen->there = true;
    chosen->seed = template->spec.seed;
    int status;
    if (run->tokens_file == NULL) {
        status = inputs_make(&chosen->inputs, model, path, run->tokens, template->spec.seed);
    } else {
        const WindowsAsked asked = {.ids = run->tokens_file,
                                    .window = run->window,
                                    .stride = run->stride,
                                    .room = memory_room(run->memory)};
        status = windows_read(&chosen->inputs, model, path, &asked);
    }
    if (status != 0) {
        return status;
    }
    status = read_positions(chosen, model, run);
    if (status != 0) {
        return status;
    }
    chosen->digest = inputs_digest(&chosen->inputs);
    return run->shards > 0 ? inputs_take_shard(&chosen->inputs, model->d, run->shard, run->shards)
                           : 0;
}

void chosen_clear(Chosen *chosen)
{
    inputs_clear(&chosen->inputs);
    positions_clear(&chosen->positions);
    *chosen = (Chosen){0};
}
