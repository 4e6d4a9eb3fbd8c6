/*
 * Models made of a fuzzer's bytes: well-formed files of a tiny one, and then changes of what they
 * say.  Every byte is a decision, and behind the last all decisions are 0, so that any bytes are an
 * input and none is refused as a file.
 *
 * The names and shapes here are written down a second time: nothing comes from the reader's tables.
 *
 * Umbrella header: what changes a model is in fuzz_changes.c, what writes it in fuzz_said.c.
 */
#ifndef HEADPROOF_TESTS_FUZZING_FUZZ_GRAMMAR_H
#define HEADPROOF_TESTS_FUZZING_FUZZ_GRAMMAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SAID_TENSORS = 64, SAID_AXES = 10, SAID_ENTRIES = 24, SAID_NAME = 300, SAID_FLAGS = 24 };

/* What a tensor is filled with, beside what changes choose: a mask, or what masked scores are. */
enum { FILL_CAUSAL = 6, FILL_ONES, FILL_MASKED };

typedef struct {
    const uint8_t *bytes;
    size_t size, at;
} Decisions;

/* Below most, which is from 1 to 256. */
size_t decide(Decisions *decisions, size_t most);

/* of: its place in the table of tensors; made: the rank it had; foreign: the name is no more the
 * one of its place, or may have any shape.  loose: its data do not follow the shape.  before,
 * behind: added to its data_offsets.  file: which of several has it; listed: which the index says,
 * or SAID_STRANGE and more. */
typedef struct {
    char name[SAID_NAME];
    const char *dtype;
    size_t rank, shape[SAID_AXES];
    size_t before, behind, file, listed, fill, of, made;
    bool loose, foreign;
} SaidTensor;

enum { SAID_STRANGE = 8 };

/* value: JSON. */
typedef struct {
    const char *key;
    char value[48];
} SaidEntry;

typedef struct {
    SaidEntry entries[SAID_ENTRIES];
    size_t count;
} SaidList;

/* parts: files that an index lists; 0: one file without an index.  given: it has inputs,
 * tuples: of tokens. */
typedef struct {
    SaidTensor tensors[SAID_TENSORS];
    size_t count, parts, changes, depth;
    bool gpt2, given, tuples, has_logits, has_norms, configured, witnessed;
    const char *prefix; /* of GPT-2's names */
    SaidList metadata, config, flags;
    char heads[8];
} SaidModel;

/* What the bytes build, with no change. */
void said_make(SaidModel *model, Decisions *decisions);

/* As many changes as a byte says. */
void said_change(SaidModel *model, Decisions *decisions);

/* model.safetensors, or its parts and the index; config.json.  In the current directory. */
void said_write(const SaidModel *model);

/* The name of its file number `part`, from 0. */
const char *said_file(const SaidModel *model, size_t part);

/* Sets key to JSON, or adds it. */
void said_set(SaidList *list, const char *key, const char *value);

/* text [SAID_NAME] = what a family calls that row of the table; where it has none, as the other. */
void said_name(char *text, const SaidModel *model, bool gpt2, size_t row, size_t layer);

/* Rows of the table of tensors. */
extern const size_t said_rows;

#endif
