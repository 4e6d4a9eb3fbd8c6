/*
 * Flags of the command line read into settings and options.
 */
#include "options.h"

#include "../base/message.h"
#include "../models/positions.h"

#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define THREADS_MOST 1024
#define SHARDS_MOST 1000000
#define COUNT_MOST 1000000000

/* The number of a long flag in getopt_long's answer: not a letter. */
enum { LONG_FLAG = 1000 };

static const char *const networks[] = {"fused", "three", NULL};
static const char *const layouts[] = {"plain", "shared", NULL};
static const char *const units[] = {"head", "sublayer", "kind", NULL};
static const char *const colors[] = {"auto", "always", "never", NULL};
static const char *const logits[] = {"all", "predicted", NULL};
static const char *const positions[] = {"all", "last", NULL};

static const char *const position_embeddings[] = {"learned", "none", NULL};
static const char *const blocks[] = {"sequential", NULL};

static const FlagInfo flags_known[FLAG_COUNT] = {
    [FLAG_OUTPUT] = {"output", "FILE", "write CSV to FILE, which appears complete or not at all",
                     .letter = 'o'},
    [FLAG_FORMAT] = {"format", "FORMAT",
                     .help = "write a table as csv, the default, table, json, jsonl or markdown"},
    [FLAG_THREADS] = {"threads", "COUNT", .help = "0: one a core"},
    [FLAG_DRY_RUN] = {"dry-run", NULL, .help = "print the points, evaluate nothing"},
    [FLAG_QUIET] = {"quiet", NULL, "no progress", .letter = 'q'},
    [FLAG_VERBOSE] = {"verbose", NULL, "say what takes how long, point by point, on stderr",
                      .letter = 'v'},
    [FLAG_COLOR] = {"color", "WHEN", "what passes and fails in colours: auto, always or never",
                    .words = colors},
    [FLAG_EXPAND] = {"expand", NULL,
                     .help = "a column for each axis given that shares `options`; in table and "
                             "markdown every column"},
    [FLAG_IGNORE_EXTRA] =
        {"ignore-extra", NULL,
         .help = "skip an optimizer's tensors, counters and the like in a weights file, no others"},
    [FLAG_IGNORE_CONFIG] = {"ignore-config", "KEYS",
                            .help = "keys of a config.json or of metadata that are not to be read"},
    [FLAG_POSITION_EMBEDDING] = {"position-embedding", "KIND",
                                 "how a weights file's positions come in: learned or none",
                                 .words = position_embeddings},
    [FLAG_BLOCKS] = {"blocks", "KIND", "how a layer's parts follow each other: sequential",
                     .words = blocks},
    [FLAG_WITNESS] = {"witness", "FILE",
                      .help = "tokens and what the model itself answered: docs/models.md"},
    [FLAG_WITNESS_TOLERANCE] = {"witness-tolerance", "T",
                                .help = "how far answers may be from a witness"},
    [FLAG_NETWORK] = {"network", "FORM", "a network as one fused sublayer or as three",
                      .words = networks},
    [FLAG_LAYOUT] = {"layout", "LAYOUT",
                     "plain, the default: matrices of every head; shared: what heads share once",
                     .words = layouts},
    [FLAG_PRESET] = {"preset", "NAME", .help = "the sizes of a known model, as gpt3"},
    [FLAG_MEASURE] = {"measure", NULL, .help = "time both models on this machine"},
    [FLAG_INPUT_NORM] = {"input-norm", "R",
                         .help = "no row of X is longer (2-norm), where no embedding says it"},
    [FLAG_EVERY_INPUT] = {"every-input", NULL,
                          .help = "what is proven of every input, too: docs/omega.md"},
    [FLAG_DIGITS] = {"digits", "COUNT",
                     .help = "significant digits of every error, 1 to 17; default 12"},
    [FLAG_TOKENS] = {"tokens", "LISTS",
                     .help = "the tokens of each position, as 0:52/0:52/53; all: every tuple"},
    [FLAG_TOKENS_FILE] = {"tokens-file", "FILE",
                          .help = "token ids with blanks or commas, an input a line"},
    [FLAG_TEXT] = {"text", "FILE", .help = "a text, a character a token, in windows"},
    [FLAG_CHARACTERS] =
        {"characters", "FILE",
         .help = "the characters in token order, as JSON; default characters.json beside "
                 "the model"},
    [FLAG_WINDOW] = {"window", "COUNT", .help = "tokens of a window; default the context length"},
    [FLAG_STRIDE] = {"stride", "COUNT", .help = "tokens from window to window; default the window"},
    [FLAG_POSITIONS] = {"positions", "WHICH",
                        "a line for positions of each input: all, last, or a list of them and of "
                        "ranges from 0, -1 the last: 0,3:7,-1; of a text all",
                        .words = positions},
    [FLAG_BY] = {"by", "UNIT", "a line a head, sublayer or kind; default sublayer", .words = units},
    [FLAG_LOGITS] = {"logits", "WHICH", "all, or predicted, the default", .words = logits},
    [FLAG_PROPAGATION] = {"propagation", NULL,
                          .help = "columns for what a layer injects, and makes of what comes in"},
    [FLAG_CERTIFY] =
        {"certify", NULL,
         .help = "say how many cells are bounds; all other digits are proven, with it or without"},
    [FLAG_CHECK] = {"check", "TABLE",
                    .help = "rows to be held against the laws; outside their bands is a failure"},
    [FLAG_PREDICT] = {"predict", "AXIS=LIST",
                      .help = "what the laws along an axis say of these sizes, with a band"},
    [FLAG_EVALUATIONS] = {"evaluations", "COUNT",
                          .help = "points at most: 3 seeds, then more where laws are not sure"},
    [FLAG_RESUME] = {"resume", NULL, .help = "go on with what an interrupted run of the same left"},
    [FLAG_SHARD] = {"shard", "I/N",
                    .help = "the I-th of N parts, for job arrays; merge puts them together"},
    [FLAG_MEMORY] = {"memory", "SIZE",
                     .help = "what may be used, as 8GiB or in bytes; default 4/5 of the machine's"},
    [FLAG_BASELINE] = {"baseline", "FILE", .help = "the table to compare with"},
    [FLAG_SAVE_BASELINE] = {"save-baseline", "FILE", .help = "write one, if it would pass"},
    [FLAG_FORCE] = {"force", NULL, .help = "--save-baseline: over an old one"},
    [FLAG_UPDATE] = {"update", NULL, .help = "--baseline: say what differs, then save it anew"},
    [FLAG_FACTOR] = {"factor", "F", .help = "machine errors may grow this much; default 4"},
    [FLAG_EXACT] = {"exact", NULL,
                    .help = "reference columns to all digits that are printed, not 12"},
    [FLAG_JUNIT_XML] = {"junit-xml", "FILE", .help = "report for a CI system"},
    [FLAG_MARKDOWN] = {"markdown", "FILE", .help = "report for a pull request"},
    [FLAG_JSON] = {"json", "FILE", .help = "report of everything that fails"},
};

typedef struct {
    Section *flags;
    RunOptions *run;
    const CommandInfo *command;
    bool seen[FLAG_COUNT];
} Reader;

const FlagInfo *flag_info(Flag flag)
{
    return &flags_known[flag];
}

bool command_takes_flag(const CommandInfo *command, Flag flag)
{
    return (command->flags & ((uint64_t)1 << flag)) != 0;
}

/* Earlier names of flags, taken with a word on stderr. */
static const struct {
    const char *name;
    Flag flag;
} flags_before[] = {{"form", FLAG_NETWORK}};
enum { FLAGS_BEFORE = sizeof flags_before / sizeof *flags_before };

/* The axes, in order, then the other flags, then their names before. */
static void fill_options(struct option options[AXIS_COUNT + FLAG_COUNT + FLAGS_BEFORE + 1])
{
    struct option *next = options;
    for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
        *next++ = (struct option){axis_info(axis)->name, required_argument, NULL, LONG_FLAG};
    }
    for (Flag flag = 0; flag < FLAG_COUNT; flag++) {
        const FlagInfo *info = flag_info(flag);
        int argument = info->argument != NULL ? required_argument : no_argument;
        *next++ = (struct option){info->name, argument, NULL, LONG_FLAG};
    }
    for (size_t i = 0; i < FLAGS_BEFORE; i++) {
        *next++ = (struct option){flags_before[i].name, required_argument, NULL, LONG_FLAG};
    }
    *next = (struct option){0};
}

/* The flag of an option behind the axes. */
static Flag flag_of_option(size_t index)
{
    if (index < AXIS_COUNT + FLAG_COUNT) {
        return (Flag)(index - AXIS_COUNT);
    }
    Flag flag = flags_before[index - AXIS_COUNT - FLAG_COUNT].flag;
    fprintf(stderr, "headproof: --%s is --%s now\n",
            flags_before[index - AXIS_COUNT - FLAG_COUNT].name, flag_info(flag)->name);
    return flag;
}

/* Flags that earlier versions had, and what is done instead. */
static const struct {
    const char *name, *instead;
} gone[] = {
    {"checkpoint", "leave it out; --resume does the point again that was interrupted"},
    {"reference-form", "leave it out; the textbook's matrices are --kernel dense"},
};

const char *flag_gone(const char *name)
{
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++) {
        if (strcmp(name, gone[i].name) == 0) {
            return gone[i].instead;
        }
    }
    return NULL;
}

static int unknown_flag(const Reader *reader, const char *token)
{
    const char *names[AXIS_COUNT + FLAG_COUNT] = {NULL};
    for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
        names[axis] = command_takes(reader->command, axis) ? axis_info(axis)->name : NULL;
    }
    for (Flag flag = 0; flag < FLAG_COUNT; flag++) {
        bool taken = command_takes_flag(reader->command, flag);
        names[AXIS_COUNT + (size_t)flag] = taken ? flag_info(flag)->name : NULL;
    }
    char name[64] = "";
    size_t dashes = strspn(token, "-"), length = strcspn(token + dashes, "=");
    if (length < sizeof name) {
        memcpy(name, token + dashes, length);
    }
    const char *instead = dashes > 0 ? flag_gone(name) : NULL;
    if (instead != NULL) {
        return complain((Origin){0}, token, "this flag is gone: %s", instead);
    }
    const char *nearest =
        dashes > 0 ? nearest_name(name, strlen(name), names, AXIS_COUNT + FLAG_COUNT) : NULL;
    return complain((Origin){0}, token, "expected a flag of %s (%s%s%s)", reader->command->name,
                    nearest ? "did you mean --" : "see headproof help ",
                    nearest ? nearest : reader->command->name, nearest ? "?" : "");
}

/* *value = text, the one value of the domain that it is. */
static int read_one(AxisValue *value, Origin origin, const Domain *domain, const char *text,
                    const char *expected)
{
    ValueList list = {0};
    Message message;
    int status = values_read(&list, &message, domain, text);
    if (status == 2) {
        complain_message(origin, &message);
    } else if (list.count != 1) {
        status = complain(origin, text, "expected %s", expected);
    } else {
        *value = list.values[0];
    }
    values_clear(&list);
    return status;
}

static int read_integer(int *number, int least, int most, Origin origin, const char *text)
{
    const Domain domain = {
        .kind = DOMAIN_INTEGER, .least = (uint64_t)least, .most = (uint64_t)most};
    AxisValue value = {0};
    int status = read_one(&value, origin, &domain, text, "one value");
    *number = (int)value.integer;
    return status;
}

static int read_count(size_t *count, Origin origin, const char *text)
{
    int number;
    int status = read_integer(&number, 1, COUNT_MOST, origin, text);
    *count = (size_t)number;
    return status;
}

/* *word = text, one of the flag's words. */
static int read_word(const char **word, Flag flag, const char *text)
{
    const char *const *words = flag_info(flag)->words;
    size_t count = 0;
    for (; words[count] != NULL; count++) {
        if (strcmp(text, words[count]) == 0) {
            *word = text;
            return 0;
        }
    }
    return complain_unknown((Origin){.flag = flag_info(flag)->name}, text, NULL, words, count,
                            count);
}

/* A size in bytes: a number, and KiB, MiB, GiB or TiB or nothing. */
static int read_memory(RunOptions *run, Origin origin, const char *text)
{
    static const char *const units[] = {"", "KiB", "MiB", "GiB", "TiB"};
    char *end = NULL;
    double size = *text >= '0' && *text <= '9' ? strtod(text, &end) : 0;
    for (size_t i = 0; end != NULL && size > 0 && i < sizeof units / sizeof *units; i++) {
        if (strcmp(end, units[i]) == 0 && isfinite(size)) {
            run->memory = size;
            return 0;
        }
        size *= 1024;
    }
    return complain(origin, text, "expected a size: bytes, or a number and KiB, MiB, GiB or TiB");
}

/* "3/8". */
static int read_shard(RunOptions *run, Origin origin, const char *text)
{
    char *slash, *end;
    bool digits = *text != '\0' && text[strspn(text, "0123456789/")] == '\0';
    unsigned long shard = digits ? strtoul(text, &slash, 10) : 0;
    unsigned long shards = digits && *slash == '/' ? strtoul(slash + 1, &end, 10) : 0;
    if (shards == 0 || *end != '\0' || shards > SHARDS_MOST || shard < 1 || shard > shards) {
        return complain(origin, text, "expected I/N, 1 <= I <= N <= %d", SHARDS_MOST);
    }
    run->shard = shard;
    run->shards = shards;
    return 0;
}

static int read_factor(CheckOptions *check, Origin origin, const char *text)
{
    static const char expected[] = "one number, at least 1";
    static const Domain domain = {.kind = DOMAIN_POSITIVE};
    AxisValue value = {0};
    int status = read_one(&value, origin, &domain, text, expected);
    if (status != 0) {
        return status;
    }
    check->factor = value.real;
    return value.real >= 1 ? 0 : complain(origin, text, "expected %s", expected);
}

static int read_check_flag(CheckOptions *check, Flag flag, Origin origin, const char *text)
{
    if (text != NULL && *text == '\0') {
        return complain(origin, text, "expected a %s",
                        flag == FLAG_FACTOR ? "number" : "file name");
    }
    switch (flag) {
    case FLAG_BASELINE: check->baseline = text; break;
    case FLAG_SAVE_BASELINE: check->save = text; break;
    case FLAG_FORCE: check->force = true; break;
    case FLAG_UPDATE: check->update = true; break;
    case FLAG_FACTOR: return read_factor(check, origin, text);
    case FLAG_EXACT: check->exact = true; break;
    case FLAG_JUNIT_XML: check->junit_xml = text; break;
    case FLAG_MARKDOWN: check->markdown = text; break;
    default: check->json = text; break;
    }
    return 0;
}

/* Which inputs a model gets, and which of their positions are looked at. */
static int read_inputs_flag(RunOptions *run, Flag flag, Origin origin, const char *text)
{
    switch (flag) {
    case FLAG_TOKENS: run->tokens = text; break;
    case FLAG_TOKENS_FILE: run->tokens_file = text; break;
    case FLAG_TEXT: run->text = text; break;
    case FLAG_CHARACTERS: run->characters = text; break;
    case FLAG_WINDOW: return read_count(&run->window, origin, text);
    case FLAG_STRIDE: return read_count(&run->stride, origin, text);
    default: run->positions = text; return positions_check(text);
    }
    return 0;
}

static int read_positive(double *number, Origin origin, const char *text)
{
    static const Domain domain = {.kind = DOMAIN_POSITIVE};
    AxisValue value = {0};
    int status = read_one(&value, origin, &domain, text, "one number above 0");
    *number = value.real;
    return status;
}

/* The flags about weights files. */
static int read_model_flag(RunOptions *run, Flag flag, Origin origin, const char *text)
{
    ModelFileFlags *model = &run->model;
    switch (flag) {
    case FLAG_IGNORE_EXTRA: model->ignore_extra = true; return 0;
    case FLAG_IGNORE_CONFIG: model->ignored = text; break;
    case FLAG_POSITION_EMBEDDING: return read_word(&model->positions, flag, text);
    case FLAG_BLOCKS: return read_word(&model->blocks, flag, text);
    case FLAG_WITNESS: model->witness = text; break;
    default: return read_positive(&run->witness_tolerance, origin, text);
    }
    if (*text == '\0') {
        return complain(origin, text, "expected %s",
                        flag == FLAG_WITNESS ? "a file name" : "keys, with commas between them");
    }
    return 0;
}

/* "-" is stdout; tensors take a file. */
static int read_output(Reader *reader, Origin origin, const char *text)
{
    bool on_stdout = strcmp(text, "-") == 0;
    if (*text == '\0' || (on_stdout && reader->command->writes_tensors)) {
        return complain(origin, text, "expected a file name");
    }
    reader->run->on_stdout = on_stdout;
    reader->run->output = on_stdout ? NULL : text;
    return 0;
}

/* Of the others nobody has counted the work. */
static const char dry_runners[] =
    ": sweep, depth, min-omega, growth, check, export and verify have one";

static int read_flag(Reader *reader, Flag flag, const char *text)
{
    RunOptions *run = reader->run;
    Origin origin = {.flag = flag_info(flag)->name};
    if (reader->seen[flag]) {
        return complain(origin, text != NULL ? text : flag_info(flag)->name,
                        "expected the flag once");
    }
    reader->seen[flag] = true;
    if (!command_takes_flag(reader->command, flag)) {
        return complain(origin, text != NULL ? text : origin.flag,
                        "expected a flag of %s, which has no --%s%s", reader->command->name,
                        origin.flag, flag == FLAG_DRY_RUN ? dry_runners : "");
    }
    if (flag >= FLAG_BASELINE && flag <= FLAG_JSON) {
        return read_check_flag(&run->check, flag, origin, text);
    }
    if (flag >= FLAG_IGNORE_EXTRA && flag <= FLAG_WITNESS_TOLERANCE) {
        return read_model_flag(run, flag, origin, text);
    }
    if (flag >= FLAG_TOKENS && flag <= FLAG_POSITIONS) {
        return read_inputs_flag(run, flag, origin, text);
    }
    switch (flag) {
    case FLAG_OUTPUT: return read_output(reader, origin, text);
    case FLAG_FORMAT: run->format = text; break;
    case FLAG_THREADS: return read_integer(&run->threads, 0, THREADS_MOST, origin, text);
    case FLAG_DRY_RUN: run->dry_run = true; break;
    case FLAG_QUIET: run->quiet = true; break;
    case FLAG_COLOR: return read_word(&run->color, flag, text);
    case FLAG_NETWORK: return read_word(&run->network, flag, text);
    case FLAG_LAYOUT: return read_word(&run->layout, flag, text);
    case FLAG_BY: return read_word(&run->by, flag, text);
    case FLAG_LOGITS: return read_word(&run->logits, flag, text);
    case FLAG_MEMORY: return read_memory(run, origin, text);
    case FLAG_DIGITS: return read_integer(&run->digits, 1, REF_DIGITS_MOST, origin, text);
    case FLAG_CHECK: run->growth.check = text; break;
    case FLAG_PREDICT: run->growth.predict = text; break;
    case FLAG_EVALUATIONS: return read_count(&run->growth.evaluations, origin, text);
    case FLAG_RESUME: run->resume = true; break;
    case FLAG_CERTIFY: run->certify = true; break;
    case FLAG_EVERY_INPUT: run->every_input = true; break;
    case FLAG_SHARD: return read_shard(run, origin, text);
    case FLAG_PRESET: run->preset = text; break;
    case FLAG_PROPAGATION: run->propagation = true; break;
    case FLAG_MEASURE: run->measure = true; break;
    case FLAG_INPUT_NORM: return read_positive(&run->input_norm, origin, text);
    case FLAG_EXPAND: run->expand = true; break;
    default: run->verbose = true; break;
    }
    if (run->quiet && run->verbose) {
        return complain(origin, flag_info(flag)->name, "expected --quiet or --verbose, not both");
    }
    return 0;
}

/* getopt_long takes any unambiguous beginning of a name; we do not. */
static bool is_whole_name(const char *token, const char *name)
{
    size_t length = strlen(name);
    return strncmp(token, "--", 2) == 0 && strncmp(token + 2, name, length) == 0 &&
           (token[2 + length] == '\0' || token[2 + length] == '=');
}

/* index: into the options, as fill_options has them. */
static int read_long(Reader *reader, char **arguments, const char *name, size_t index)
{
    bool separate = optarg != NULL && optarg == arguments[optind - 1];
    const char *token = arguments[optind - (separate ? 2 : 1)];
    if (!is_whole_name(token, name)) {
        return unknown_flag(reader, token);
    }
    if (index < AXIS_COUNT) {
        Origin origin = {.flag = name};
        return setting_read(reader->flags, (Axis)index, reader->command, origin, optarg);
    }
    return read_flag(reader, flag_of_option(index), optarg);
}

/* Says why getopt_long refused: an unknown flag, a value missing, or one too many. */
static int reject(const Reader *reader, char **arguments, const struct option *options, int found)
{
    char letter[] = {'-', (char)optopt, '\0'};
    bool is_long = optopt == 0 || optopt == LONG_FLAG;
    const char *token = is_long ? arguments[optind - 1] : letter;
    const struct option *option = options;
    while (option->name != NULL && !is_whole_name(token, option->name)) {
        option++;
    }
    if (found == ':' && (option->name != NULL || !is_long)) {
        return complain((Origin){0}, token, "expected a value after it");
    }
    if (option->name != NULL) {
        return complain((Origin){0}, token, "expected no value");
    }
    return unknown_flag(reader, token);
}

/* Is the word a long flag with one dash, which getopt_long would take for letters: -omega=1 for
 * `-o mega=1`?  Of a flag's letter a value with a = stands apart. */
static bool lacks_a_dash(const char *word, const struct option *options)
{
    bool single = word != NULL && word[0] == '-' && word[1] != '-';
    size_t length = single ? strcspn(word + 1, "=./") : 0;
    for (; length > 1 && word[1 + length] != '=' && options->name != NULL; options++) {
        if (strcmp(word + 1, options->name) == 0) {
            return true;
        }
    }
    return length > 0 && word[1 + length] == '=';
}

/* The word that a letter was found in: of one without a value it may be the next, which is then
 * read on. */
static const char *mistaken_word(char **arguments, const struct option *options)
{
    bool apart = optarg != NULL && optarg == arguments[optind - 1];
    const char *word = arguments[optind - (apart ? 2 : 1)];
    return lacks_a_dash(word, options)                                  ? word
           : optarg == NULL && lacks_a_dash(arguments[optind], options) ? arguments[optind]
                                                                        : NULL;
}

int options_read(Section *flags, RunOptions *run, int *operand, const CommandInfo *command,
                 int argc, char **arguments)
{
    struct option options[AXIS_COUNT + FLAG_COUNT + FLAGS_BEFORE + 1];
    Reader reader = {.flags = flags, .run = run, .command = command};
    int status = 0;
    fill_options(options);
    opterr = 0;
    optind = 0; /* glibc: start afresh */
    while (status == 0) {
        int index = 0;
        int found = getopt_long(argc, arguments, ":o:qv", options, &index);
        const char *word = found > 0 ? mistaken_word(arguments, options) : NULL;
        if (word != NULL) {
            return unknown_flag(&reader, word);
        }
        switch (found) {
        case -1:
            *operand = optind;
            run->on_stdout = run->on_stdout || (run->format != NULL && run->output == NULL);
            return 0;
        case 'o': status = read_flag(&reader, FLAG_OUTPUT, optarg); break;
        case 'q': status = read_flag(&reader, FLAG_QUIET, NULL); break;
        case 'v': status = read_flag(&reader, FLAG_VERBOSE, NULL); break;
        case '?':
        case ':': status = reject(&reader, arguments, options, found); break;
        default: status = read_long(&reader, arguments, options[index].name, (size_t)index); break;
        }
    }
    return status;
}
