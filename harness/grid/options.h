/*
 * The flags of a command: one for every axis, and those that are not axes.
 */
#ifndef HEADPROOF_HARNESS_GRID_OPTIONS_H
#define HEADPROOF_HARNESS_GRID_OPTIONS_H

#include "settings.h"

typedef enum {
    FLAG_OUTPUT,
    FLAG_FORMAT,
    FLAG_THREADS,
    FLAG_DRY_RUN,
    FLAG_QUIET,
    FLAG_VERBOSE,
    FLAG_COLOR,
    FLAG_EXPAND,
    FLAG_IGNORE_EXTRA, /* the first that say something of weights files */
    FLAG_IGNORE_CONFIG,
    FLAG_POSITION_EMBEDDING,
    FLAG_BLOCKS,
    FLAG_WITNESS,
    FLAG_WITNESS_TOLERANCE, /* the last */
    FLAG_TOKENS,            /* the first that say what inputs there are */
    FLAG_TOKENS_FILE,
    FLAG_TEXT,
    FLAG_CHARACTERS,
    FLAG_WINDOW,
    FLAG_STRIDE,
    FLAG_POSITIONS, /* the last */
    FLAG_NETWORK,
    FLAG_LAYOUT,
    FLAG_RESUME,
    FLAG_MEMORY,
    FLAG_SHARD,
    FLAG_PRESET,
    FLAG_MEASURE,
    FLAG_INPUT_NORM,
    FLAG_EVERY_INPUT,
    FLAG_DIGITS,
    FLAG_BY,
    FLAG_LOGITS,
    FLAG_PROPAGATION,
    FLAG_CERTIFY,
    FLAG_CHECK,
    FLAG_PREDICT,
    FLAG_EVALUATIONS,
    FLAG_BASELINE, /* the first of check's own */
    FLAG_SAVE_BASELINE,
    FLAG_FORCE,
    FLAG_UPDATE,
    FLAG_FACTOR,
    FLAG_EXACT,
    FLAG_JUNIT_XML,
    FLAG_MARKDOWN,
    FLAG_JSON, /* the last */
    FLAG_COUNT
} Flag;

/* What is done instead of a flag, or a key, that earlier versions had; NULL: they had none. */
const char *flag_gone(const char *name);

/* flag < FLAG_COUNT. */
const FlagInfo *flag_info(Flag flag);

/* False for a flag that means nothing to the command. */
bool command_takes_flag(const CommandInfo *command, Flag flag);

/* Reads arguments[1..] into *flags and *run; moves the operands (case files) behind the flags,
 * from arguments[*operand].  0; 2 or 99 after one message. */
int options_read(Section *flags, RunOptions *run, int *operand, const CommandInfo *command,
                 int argc, char **arguments) __attribute__((warn_unused_result));

#endif
