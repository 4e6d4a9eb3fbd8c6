/*
 * Shapes: whatever well-formed files say of a model's tensors, and what stands beside them, every
 * command that reads models ends in a result or in one message, and leaves nothing else behind.  An
 * axis too many or too few is refused, and what nothing was changed of is not.
 *
 * Input: bytes that decide (fuzz_grammar.h): the command, the model, the changes.
 */
#include "fuzz.h"
#include "fuzz_grammar.h"

#include "../../harness/models/safetensors.h"

#include <stdio.h>
#include <string.h>

enum { ARGUMENTS_MOST = 48 };

static const char output[] = "out.safetensors";

/* What a command takes of what is said of a model, and asks of it.  often: of 256 inputs. */
enum { OPERAND = 0, WEIGHTS = 1, COUNTS = 2, CHOOSES = 4, FORM = 8, LOGITS = 16, ONE = 32 };
static const struct {
    size_t often;
    unsigned takes;
    const char *words[12];
} calls[] = {
    {70, OPERAND | COUNTS, {"cost"}},
    {60, OPERAND | FORM, {"convert", "-o", output, "--quiet", "--omega", "20"}},
    {34,
     OPERAND,
     {"convert", "--layout", "shared", "-o", output, "--quiet", "--omega", "20", "--ignore-extra"}},
    {44, WEIGHTS, {"sweep", "--omega", "20", "--reference", "none", "--quiet", "--threads", "1"}},
    {12, WEIGHTS | ONE, {"export", "--omega", "20", "-o", output, "--quiet", "--threads", "1"}},
    {10, WEIGHTS, {"sweep", "--omega", "20", "--quiet", "--threads", "1"}},
    {10,
     OPERAND | CHOOSES | FORM | LOGITS,
     {"attribute", "--omega", "20", "--quiet", "--threads", "1"}},
    {6,
     WEIGHTS,
     {"check", "--omega", "20", "--tolerance", "1", "--threads", "1", "--ignore-extra"}},
    {3, WEIGHTS, {"depth", "--omega", "20", "--arithmetic", "none", "--quiet", "--threads", "1"}},
    {2, WEIGHTS, {"min-omega", "--tolerance", "1", "--quiet", "--threads", "1"}},
    {3,
     OPERAND | CHOOSES | FORM,
     {"verify", "--omega", "20", "--tolerance", "1", "--threads", "1"}},
    {2, OPERAND | CHOOSES, {"verify", "--threads", "1", "--quiet"}},
};

typedef struct {
    const char *argv[ARGUMENTS_MOST];
    int argc;
    char flags[SAID_ENTRIES][80], values[SAID_ENTRIES][48], path[80];
} Call;

static void put(Call *call, const char *word)
{
    fuzz_need(call->argc + 1 < ARGUMENTS_MOST, "arguments");
    call->argv[call->argc++] = word;
}

/* Sizes do not hang on these. */
static bool is_counted(const char *key)
{
    return strcmp(key, "scale") != 0 && strcmp(key, "mask") != 0 && strcmp(key, "eps") != 0 &&
           strcmp(key, "blocks") != 0;
}

/* The path of a file, of the index or of their folder; and what files leave open. */
static void put_model(Call *call, const SaidModel *model, unsigned takes, Decisions *decisions)
{
    static const char *const whole[] = {"./model.safetensors", "./model.safetensors", "./"};
    static const char *const several[] = {"./model.safetensors.index.json", NULL, "./"};
    size_t way = decide(decisions, 3);
    const char *path = model->parts > 0 ? several[way] : whole[way];
    snprintf(call->path, sizeof call->path, "./%s", said_file(model, 0));
    path = path != NULL ? path : call->path;
    if ((takes & WEIGHTS) != 0) {
        put(call, "--weights");
    }
    put(call, path);
    for (size_t i = 0; i < model->flags.count; i++) {
        const SaidEntry *entry = &model->flags.entries[i];
        if ((takes & COUNTS) == 0 || is_counted(entry->key)) {
            size_t length = strlen(entry->value);
            snprintf(call->flags[i], sizeof call->flags[i], "--%s", entry->key);
            snprintf(call->values[i], sizeof call->values[i], "%.*s", (int)length - 2,
                     entry->value + 1);
            put(call, call->flags[i]);
            put(call, call->values[i]);
        }
    }
    if (model->witnessed) {
        put(call, "--witness-tolerance"); /* its answers are no model's */
        put(call, "1e300");
    }
    if (model->gpt2 && !model->configured) {
        put(call, "--heads");
        put(call, model->heads);
    }
}

static unsigned make_call(Call *call, const SaidModel *model, size_t turn, Decisions *decisions)
{
    size_t c = 0;
    for (size_t before = calls[0].often; turn >= before; before += calls[c].often) {
        c++;
    }
    unsigned takes = calls[c].takes;
    *call = (Call){.argc = 0};
    for (size_t i = 0; calls[c].words[i] != NULL; i++) {
        put(call, calls[c].words[i]);
    }
    put_model(call, model, takes, decisions);
    if ((takes & FORM) != 0 && decide(decisions, 4) == 0) {
        put(call, "--network");
        put(call, "three");
    }
    if ((takes & ONE) != 0 && model->tuples) {
        put(call, "--input");
        put(call, "1");
    }
    if (!model->given) {
        put(call, (takes & CHOOSES) != 0 ? "--tokens" : "--n");
        put(call, (takes & CHOOSES) != 0 ? "0/1,2" : "2");
    }
    return takes;
}

/* Heads may stand side by side under TransformerLens' names. */
static bool may_be_flat(const SaidTensor *tensor)
{
    return tensor->rank + 1 == tensor->made && strstr(tensor->name, ".attn.") != NULL;
}

/* What must be refused, and is said of one tensor alone. */
static const SaidTensor *find_changed(const SaidModel *model)
{
    for (size_t t = 0; t < model->count; t++) {
        const SaidTensor *tensor = &model->tensors[t];
        if (tensor->rank != tensor->made && !tensor->foreign && !may_be_flat(tensor)) {
            return tensor;
        }
    }
    return NULL;
}

static const char *expect_refused(Fuzz *fuzz, const SaidModel *model)
{
    static const char *const none[] = {NULL};
    char culprit[SAID_NAME + 32];
    const SaidTensor *changed = find_changed(model);
    const char *why = fuzz_expect_refusal(fuzz, "");
    if (why == NULL && changed != NULL && model->changes == 1) {
        snprintf(culprit, sizeof culprit, "tensor '%s': shape [", changed->name);
        why = fuzz_expect_refusal(fuzz, culprit);
    }
    return why != NULL ? why : fuzz_expect_files(fuzz, none);
}

static const char *expect_output(Fuzz *fuzz, const Call *call)
{
    static const char *const outputs[] = {output, NULL};
    SafetensorsFile *file;
    bool written = false;
    for (int i = 0; i < call->argc; i++) {
        written = written || call->argv[i] == output;
    }
    if (written) {
        fuzz_listen(fuzz);
        int status = safetensors_open(&file, output);
        fuzz_hear(fuzz);
        safetensors_close(file);
        if (status != 0) {
            return fuzz_broken(fuzz, "its output is refused: %s", fuzz->said);
        }
    }
    return fuzz_expect_files(fuzz, written ? outputs : outputs + 1);
}

static int call_command(Fuzz *fuzz, Call *call)
{
    Grid grid;
    RunOptions run;
    const CommandInfo *command = commands_find(call->argv[0]);
    char **argv = (char **)(uintptr_t)call->argv;
    fuzz_listen(fuzz);
    int status = grid_read(&grid, &run, command, call->argc, argv);
    if (status == 0) {
        run.argc = call->argc;
        run.argv = argv;
        status = command->run(&grid, &run);
        grid_clear(&grid);
    }
    fuzz_hear(fuzz);
    return status;
}

static void remove_files(const SaidModel *model)
{
    for (size_t part = 0; part == 0 || part < model->parts; part++) {
        fuzz_remove(said_file(model, part));
    }
    if (model->parts > 0) {
        fuzz_remove("model.safetensors.index.json");
    }
    if (model->configured) {
        fuzz_remove("config.json");
    }
}

static const char *run(Fuzz *fuzz, const uint8_t *bytes, size_t size)
{
    static SaidModel model;
    Decisions decisions = {.bytes = bytes, .size = size};
    Call call;
    size_t turn = decide(&decisions, 256);
    said_make(&model, &decisions);
    unsigned takes = make_call(&call, &model, turn, &decisions);
    said_change(&model, &decisions);
    said_write(&model);
    int status = call_command(fuzz, &call);
    remove_files(&model);
    const char *why = status == 2   ? expect_refused(fuzz, &model)
                      : status <= 1 ? expect_output(fuzz, &call)
                                    : fuzz_broken(fuzz, "status %d: %.800s", status, fuzz->said);
    bool fits = model.depth > 0 && ((takes & LOGITS) == 0 || model.has_logits);
    if (why == NULL && status == 2 && model.changes == 0 && fits) {
        why = fuzz_broken(fuzz, "nothing was changed, and %s: %.800s", call.argv[0], fuzz->said);
    }
    if (why == NULL && status != 2 && find_changed(&model) != NULL) {
        why = fuzz_broken(fuzz, "%s takes another rank of '%s'", call.argv[0],
                          find_changed(&model)->name);
    }
    fuzz_remove(output);
    return why;
}

const FuzzSubject fuzz_shapes = {.name = "shapes", .run = run, .drawn = true};
