/*
 * The table of flags, and how their values are read.
 */
#include "flags.h"

#include "../base/values.h"
#include "../models/name_list.h"
#include "../models/positions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define THREADS_MOST 1024
#define COUNT_MOST 1000000000
#define SHARDS_MOST 1000000

/* ---- Values -------------------------------------------------------------------------------- */

static Origin origin_of(const FlagInfo *flag)
{
    return (Origin){.flag = flag->name};
}

static void *place_of(RunOptions *run, const FlagInfo *flag)
{
    return (char *)run + flag->place;
}

static int as_switch(RunOptions *run, const FlagInfo *flag, const char *text)
{
    (void)text;
    *(bool *)place_of(run, flag) = true;
    return 0;
}

static int as_text(RunOptions *run, const FlagInfo *flag, const char *text)
{
    *(const char **)place_of(run, flag) = text;
    return 0;
}

static int as_word(RunOptions *run, const FlagInfo *flag, const char *text)
{
    size_t count = 0;
    for (; flag->words[count] != NULL; count++) {
        if (strcmp(text, flag->words[count]) == 0) {
            return as_text(run, flag, text);
        }
    }
    return complain_unknown(origin_of(flag), text, NULL, flag->words, count, count);
}

/* *value = text, the one value of the domain that it is. */
static int read_one(AxisValue *value, const FlagInfo *flag, const Domain *domain, const char *text,
                    const char *expected)
{
    ValueList list = {0};
    Message message;
    int status = values_read(&list, &message, domain, text);
    if (status == 2) {
        complain_message(origin_of(flag), &message);
    } else if (list.count != 1) {
        status = complain(origin_of(flag), text, "expected %s", expected);
    } else {
        *value = list.values[0];
    }
    values_clear(&list);
    return status;
}

static int as_integer(RunOptions *run, const FlagInfo *flag, const char *text)
{
    const Domain domain = {.kind = DOMAIN_INTEGER, .least = flag->least, .most = flag->most};
    AxisValue value = {0};
    int status = read_one(&value, flag, &domain, text, "one value");
    *(size_t *)place_of(run, flag) = value.integer;
    return status;
}

static int as_real(RunOptions *run, const FlagInfo *flag, const char *text)
{
    static const Domain positive = {.kind = DOMAIN_POSITIVE};
    const char *expected = flag->least == 1 ? "one number, at least 1" : "one number above 0";
    AxisValue value = {0};
    int status = read_one(&value, flag, &positive, text, expected);
    *(double *)place_of(run, flag) = value.real;
    return status != 0 || value.real >= (double)flag->least
               ? status
               : complain(origin_of(flag), text, "expected %s", expected);
}

static int as_size(RunOptions *run, const FlagInfo *flag, const char *text)
{
    static const char *const units[] = {"", "KiB", "MiB", "GiB", "TiB"};
    char *end = NULL;
    double size = *text >= '0' && *text <= '9' ? strtod(text, &end) : 0;
    for (size_t i = 0; end != NULL && size > 0 && i < sizeof units / sizeof *units; i++) {
        if (strcmp(end, units[i]) == 0 && isfinite(size)) {
            *(double *)place_of(run, flag) = size;
            return 0;
        }
        size *= 1024;
    }
    return complain(origin_of(flag), text,
                    "expected a size: bytes, or a number and KiB, MiB, GiB or TiB");
}

static int as_shard(RunOptions *run, const FlagInfo *flag, const char *text)
{
    char *slash, *end;
    bool digits = *text != '\0' && text[strspn(text, "0123456789/")] == '\0';
    unsigned long shard = digits ? strtoul(text, &slash, 10) : 0;
    unsigned long shards = digits && *slash == '/' ? strtoul(slash + 1, &end, 10) : 0;
    if (shards == 0 || *end != '\0' || shards > SHARDS_MOST || shard < 1 || shard > shards) {
        return complain(origin_of(flag), text, "expected I/N, 1 <= I <= N <= %d", SHARDS_MOST);
    }
    run->shard = shard;
    run->shards = shards;
    return 0;
}

static int as_positions(RunOptions *run, const FlagInfo *flag, const char *text)
{
    (void)as_text(run, flag, text);
    return positions_check(text);
}

static int as_output(RunOptions *run, const FlagInfo *flag, const char *text)
{
    (void)flag;
    run->on_stdout = strcmp(text, "-") == 0;
    run->output = run->on_stdout ? NULL : text;
    return 0;
}

/* ---- The table ----------------------------------------------------------------------------- */

/* Commands that take a flag. */
#define SWEEPS "sweep depth "
#define POINTS SWEEPS "min-omega growth check export "
#define EVALUATES POINTS "verify convert attribute "
#define MODELS "verify convert guarantee attribute "
#define TABLES SWEEPS "min-omega growth verify guarantee cost attribute "
#define VERDICTS "min-omega check verify guarantee "
#define INPUTS "min-omega check verify "

#define SWITCH(member) .read = as_switch, .place = offsetof(RunOptions, member)
#define TEXT(member) .read = as_text, .place = offsetof(RunOptions, member)
#define FILE_NAME(member) TEXT(member), .filled = "a file name"
#define WORD(member, ...)                                                                          \
    .read = as_word, .place = offsetof(RunOptions, member), .words = (const char *const[])         \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }
#define INTEGER(member, from, to)                                                                  \
    .read = as_integer, .place = offsetof(RunOptions, member), .least = (from), .most = (to)
#define COUNT(member) INTEGER(member, 1, COUNT_MOST)
#define REAL(member) .read = as_real, .place = offsetof(RunOptions, member)
#define OUTPUT                                                                                     \
    .read = as_output, .place = offsetof(RunOptions, output), .filled = "a file name", .letter = 'o'

const FlagInfo flag_table[] = {
    {"output", "FILE", "write CSV to FILE, which appears complete or not at all",
     TABLES "export convert ", OUTPUT, .about = ABOUT_OUTPUT, .common = true},
    {"format", "FORMAT", "write a table as csv, the default, table, json, jsonl or markdown",
     TABLES, TEXT(format), .about = ABOUT_OUTPUT, .common = true},
    {"threads", "COUNT", "0: one a core", EVALUATES, INTEGER(threads, 0, THREADS_MOST),
     .about = ABOUT_RUN, .common = true},
    {"dry-run", NULL, "print the points, evaluate nothing", POINTS "verify ", SWITCH(dry_run),
     .about = ABOUT_RUN, .common = true},
    {"quiet", NULL, "no progress", NULL, SWITCH(quiet), .about = ABOUT_RUN, .letter = 'q'},
    {"verbose", NULL, "say how long each point takes, on stderr", NULL, SWITCH(verbose),
     .about = ABOUT_RUN, .letter = 'v'},
    {"color", "WHEN", "colours of passed and failed rows: auto, always or never",
     SWEEPS "growth " VERDICTS, WORD(color, "auto", "always", "never"), .about = ABOUT_OUTPUT},
    {"expand", NULL,
     "a column for each axis given that shares `options`; in table and markdown every column",
     SWEEPS, SWITCH(expand), .about = ABOUT_OUTPUT},
    {"ignore-extra", NULL,
     "skip an optimizer's tensors, counters and the like in a weights file, no others", NULL,
     SWITCH(model.ignore_extra), .about = ABOUT_FILE},
    {"ignore-config", "KEYS", "keys of a config.json or of metadata that are not to be read", NULL,
     TEXT(model.ignored), .filled = "keys, with commas between them", .about = ABOUT_FILE},
    {"position-embedding", "KIND", "how a weights file's positions come in: learned or none",
     EVALUATES "guarantee ", WORD(model.positions, "learned", "none"), .about = ABOUT_FILE},
    {"blocks", "KIND", "how a layer's parts follow each other: sequential or parallel",
     EVALUATES "guarantee ", WORD(model.blocks, "sequential", "parallel"), .about = ABOUT_FILE},
    {"witness", "FILE", "tokens and what the model itself answered: docs/models.md", NULL,
     FILE_NAME(model.witness), .about = ABOUT_FILE},
    {"witness-tolerance", "T", "the largest difference from a witness's logits that is accepted",
     NULL, REAL(model.witness_tolerance), .about = ABOUT_FILE},
    {"tokens", "LISTS", "the tokens of each position, as 0:52/0:52/53; all: every tuple",
     "verify attribute ", TEXT(tokens), .about = ABOUT_INPUTS, .common = true},
    {"tokens-file", "FILE", "token ids with blanks or commas, an input a line", "verify ",
     FILE_NAME(tokens_file), .about = ABOUT_INPUTS, .common = true},
    {"window", "COUNT", "tokens of a window; default the context length", "verify ", COUNT(window),
     .about = ABOUT_INPUTS},
    {"stride", "COUNT", "tokens from window to window; default the window", "verify ",
     COUNT(stride), .about = ABOUT_INPUTS},
    {"positions", "WHICH",
     "a line for positions of each input: all, last, or a list of them and of ranges from 0, -1 "
     "the last: 0,3:7,-1",
     "min-omega verify ", .read = as_positions, .place = offsetof(RunOptions, positions),
     .words = (const char *const[]){"all", "last", NULL}, .about = ABOUT_INPUTS},
    {"network", "FORM", "a network as one fused sublayer or as three", MODELS,
     WORD(network, "fused", "three"), .about = ABOUT_REWRITE},
    {"layout", "LAYOUT",
     "plain, the default: matrices of every head; shared: what heads share once", "convert ",
     WORD(layout, "plain", "shared"), .about = ABOUT_OUTPUT},
    {"resume", NULL, "go on where an interrupted run of the same command stopped",
     SWEEPS "check verify ", SWITCH(resume), .about = ABOUT_RUN},
    {"memory", "SIZE", "memory that may be used, as 8GiB or in bytes; default 4/5 of the machine's",
     NULL, .read = as_size, .place = offsetof(RunOptions, memory), .about = ABOUT_RUN},
    {"shard", "I/N", "the I-th of N parts, for job arrays; merge puts them together",
     SWEEPS "verify ", .read = as_shard, .about = ABOUT_RUN},
    {"preset", "NAME", "the sizes of a known model, as gpt3", "cost ", TEXT(preset),
     .about = ABOUT_FILE, .common = true},
    {"measure", NULL, "time both models on this machine", "cost ", SWITCH(measure),
     .about = ABOUT_OUTPUT, .common = true},
    {"input-norm", "R", "how long a row of X may be (2-norm), without an embedding",
     INPUTS "convert guarantee ", REAL(input_norm), .about = ABOUT_PROOFS},
    {"over", "CONSTANT", "the constant searched: omega, the default, or at --omega a power of two",
     "min-omega ", WORD(over, "omega", "tau"), .about = ABOUT_RUN, .common = true},
    {"every-input", NULL, "also prove a bound for every input: docs/omega.md", INPUTS,
     SWITCH(every_input), .about = ABOUT_PROOFS, .common = true},
    {"digits", "COUNT", "significant digits of every error, 1 to 17; default 12",
     SWEEPS "growth check ", INTEGER(digits, 1, REF_DIGITS_MOST), .about = ABOUT_PROOFS},
    {"by", "UNIT", "a line a head, sublayer or kind; default sublayer", "attribute ",
     WORD(by, "head", "sublayer", "kind"), .about = ABOUT_OUTPUT, .common = true},
    {"logits", "WHICH", "all, or predicted, the default", "attribute ",
     WORD(logits, "all", "predicted"), .about = ABOUT_OUTPUT},
    {"propagation", NULL, "columns for what a layer injects, and makes of what comes in", SWEEPS,
     SWITCH(propagation), .about = ABOUT_PROOFS},
    {"certify", NULL,
     "say how many cells are bounds; all other digits are proven, with it or without",
     SWEEPS "min-omega verify ", SWITCH(certify), .about = ABOUT_PROOFS},
    {"check", "TABLE", "rows to be held against the laws; outside their bands is a failure",
     "growth ", FILE_NAME(growth.check), .about = ABOUT_REPORTS, .common = true},
    {"predict", "AXIS=LIST", "the errors that the laws expect at these sizes, with a band",
     "growth ", TEXT(growth.predict), .about = ABOUT_REPORTS, .common = true},
    {"evaluations", "COUNT", "points at most: 3 seeds, then more where laws are not sure",
     "growth ", COUNT(growth.evaluations), .about = ABOUT_RUN},
    {"baseline", "FILE", "the table to compare with", "check ", FILE_NAME(check.baseline),
     .about = ABOUT_REPORTS, .common = true},
    {"save-baseline", "FILE", "save the table as a baseline, if it would pass", "check ",
     FILE_NAME(check.save), .about = ABOUT_REPORTS, .common = true},
    {"force", NULL, "with --save-baseline: replace an old baseline", "check ", SWITCH(check.force),
     .about = ABOUT_REPORTS},
    {"update", NULL, "with --baseline: print the differences, then save the new table over it",
     "check ", SWITCH(check.update), .about = ABOUT_REPORTS, .common = true},
    {"factor", "F", "machine errors may grow this much; default 4", "check ", REAL(check.factor),
     .least = 1, .filled = "a number", .about = ABOUT_REPORTS},
    {"exact", NULL, "compare reference columns in all printed digits, not 12", "check ",
     SWITCH(check.exact), .about = ABOUT_REPORTS},
    {"junit-xml", "FILE", "report for a CI system", VERDICTS, FILE_NAME(check.junit_xml),
     .about = ABOUT_REPORTS},
    {"markdown", "FILE", "report for a pull request", VERDICTS, FILE_NAME(check.markdown),
     .about = ABOUT_REPORTS},
    {"json", "FILE", "report of everything that fails", VERDICTS, FILE_NAME(check.json),
     .about = ABOUT_REPORTS},
    /* Of commands without axes. */
    {"output", "FILE", "the table, else on stdout; it appears complete or not at all", "merge ",
     OUTPUT, .about = ABOUT_COMMAND},
    {"format", "FORMAT", "write it as csv, the default, table, json, jsonl or markdown", "merge ",
     TEXT(format), .about = ABOUT_COMMAND},
    {"output", "FILE", "the picture: .svg, .png or .pdf", "plot ", OUTPUT, .about = ABOUT_COMMAND},
    {"output", "FILE", "the page", "report ", OUTPUT, .about = ABOUT_COMMAND},
    {"x", "AXIS", "the axis along the picture; default the one with the most values", "plot ",
     TEXT(plot.x), .about = ABOUT_COMMAND},
    {"error", "ERROR", "draw this one of the six errors alone", "plot ",
     WORD(plot.error, "approximation", "construction", "rounding", "native", "total", "observed"),
     .about = ABOUT_COMMAND},
    {"norm", "NORM", "the measure of errors: max, rms or rel; default by the table", "plot ",
     WORD(plot.norm, "max", "rms", "rel"), .about = ABOUT_COMMAND},
    {"tolerance", "T", "a line at T, and the interval that meets it; default the table's tolerance",
     "plot ", TEXT(plot.tolerance), .about = ABOUT_COMMAND},
    {"size", "WxH", "in pixels: 800x600, or the width alone", "plot ", TEXT(plot.size),
     .about = ABOUT_COMMAND},
    {"title", "TEXT", "a title of your own; none: no title", "plot ", TEXT(plot.title),
     .about = ABOUT_COMMAND},
    {"caption", "TEXT", "a caption of your own; none: no caption", "plot ", TEXT(plot.caption),
     .about = ABOUT_COMMAND},
    {"laws", NULL, "the laws that growth finds, as lines over the curves", "plot ",
     SWITCH(plot.laws), .about = ABOUT_COMMAND},
    {.name = NULL},
};

bool command_takes_flag(const CommandInfo *command, const FlagInfo *flag)
{
    return flag->of == NULL ? command_takes_axes(command) : list_has(flag->of, ' ', command->name);
}

const FlagInfo *flag_find(const CommandInfo *command, const char *name)
{
    const FlagInfo *found = NULL;
    Axis axis = axis_find(name);
    for (const FlagInfo *flag = flag_table; flag->name != NULL; flag++) {
        if (strcmp(flag->name, name) == 0) {
            if (command_takes_flag(command, flag)) {
                return flag;
            }
            found = found != NULL || axis < AXIS_COUNT ? found : flag;
        }
    }
    return found;
}

/* Flags of earlier versions. */
static const struct {
    const char *name, *instead;
} gone[] = {
    {"checkpoint", "leave it out; --resume does the point again that was interrupted"},
    {"text",
     "python3 -m headproof tokens MODEL FILE -o tokens.txt makes ids of it, for --tokens-file"},
    {"characters", "it is a flag of python3 -m headproof tokens"},
    {"reference-form", "leave it out; the textbook's matrices are --kernel dense"},
};

int flag_unknown(Origin origin, const char *word, const char *name, const CommandInfo *command)
{
    const char *names[AXIS_COUNT + FLAGS_MOST] = {NULL};
    const bool key = origin.file != NULL;
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++) {
        if (strcmp(name, gone[i].name) == 0) {
            return complain(origin, word, "this %s is gone: %s", key ? "key" : "flag",
                            gone[i].instead);
        }
    }
    for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
        names[axis] = key || command_takes(command, axis) ? axis_info(axis)->name : NULL;
    }
    for (size_t i = 0; !key && flag_table[i].name != NULL; i++) {
        bool taken = command_takes_flag(command, &flag_table[i]);
        names[AXIS_COUNT + i] = taken ? flag_table[i].name : NULL;
    }
    const char *nearest = nearest_name(name, names, AXIS_COUNT + FLAGS_MOST);
    char hint[128];
    snprintf(hint, sizeof hint, "%s%s%s%s",
             nearest != NULL ? "did you mean " : "see headproof help ",
             nearest != NULL && !key ? "--" : "", nearest != NULL ? nearest : command->name,
             nearest != NULL ? "?" : "");
    return key ? complain(origin, word, "expected the name of an axis (%s)", hint)
               : complain(origin, word, "expected a flag of %s (%s)", command->name, hint);
}
