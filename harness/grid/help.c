/*
 * Help texts, printed from the tables of commands, axes and flags.
 */
#include "help.h"

#include "options.h"

#include <stdbool.h>
#include <string.h>

#define WIDTH 80
/* Where help begins behind a name. */
#define HELP_COLUMN 23

/* Words into lines that end before column WIDTH; the first begins at column `from`, the others at
 * column `indent`. */
static void print_wrapped(FILE *file, size_t from, size_t indent, const char *text)
{
    size_t column = from;
    for (bool first = true; *text != '\0'; first = false) {
        size_t group = *text == '[' ? strcspn(text, "]") : 0; /* [--flag VALUE] stays together */
        size_t length = group + strcspn(text + group, " ");
        if (!first && column + 1 + length > WIDTH) {
            fprintf(file, "\n%*s", (int)indent, "");
            column = indent;
        } else if (!first) {
            putc(' ', file);
            column++;
        }
        fwrite(text, 1, length, file);
        column += length;
        text += length + strspn(text + length, " ");
    }
    putc('\n', file);
}

/* "  --NAME ARGUMENT", and its help at HELP_COLUMN. */
static void print_entry(FILE *file, const char *name, const char *argument, const char *help)
{
    int used = fprintf(file, "  --%s%s%s", name, argument ? " " : "", argument ? argument : "");
    bool fits = used < HELP_COLUMN;
    fprintf(file, "%s%*s", fits ? "" : "\n", fits ? HELP_COLUMN - used : HELP_COLUMN, "");
    print_wrapped(file, HELP_COLUMN, HELP_COLUMN, help);
}

void help_print_overview(FILE *file, const CommandInfo *commands, size_t count)
{
    fputs("Headproof: how wrong is a transformer rewritten with attention heads only?\n"
          "\n"
          "usage: headproof COMMAND [CASE-FILE...] [--FLAG VALUE]...\n"
          "       headproof --version\n"
          "\n"
          "commands:\n",
          file);
    for (size_t i = 0; i < count; i++) {
        fprintf(file, "  %-10s ", commands[i].name);
        print_wrapped(file, 13, 13, commands[i].summary);
    }
    fputs("\n"
          "A VALUE is a list of v, a:b, a:b:step, a:b:*factor: --omega 8,10:50:5,64:512:*2.\n"
          "A case file is INI: [section] is a sweep, its keys are the flags' names; a flag\n"
          "overrides a key.  As in: headproof sweep --construction fused --omega 10:50:10\n"
          "\n"
          "exit codes: 0 pass, 1 numerical failure, 2 bad input, 99 the machine's fault.\n",
          file);
}

void help_axis_values(char text[HELP_TEXT], const CommandInfo *command, Axis axis)
{
    const AxisInfo *info = axis_info(axis);
    char values[256], standard[VALUE_TEXT];
    domain_describe(values, sizeof values, &info->domain);
    value_print(standard, &info->domain, command_standard(command, axis));
    if (command->searches_omega && axis == AXIS_TOLERANCE) {
        snprintf(standard, sizeof standard, "none, and one is required");
    }
    if (command->proves_omega && axis == AXIS_OMEGA) {
        snprintf(standard, sizeof standard, "the smallest that is proven for every input%s",
                 command->judges_logits ? ", else one found" : "");
    }
    snprintf(text, HELP_TEXT, "%s%s; default %s", values,
             command_takes_list(command, axis) ? "" : ", not a list", standard);
}

static void print_axis(FILE *file, const CommandInfo *command, Axis axis)
{
    char text[HELP_TEXT];
    print_entry(file, axis_info(axis)->name, NULL, axis_info(axis)->help);
    help_axis_values(text, command, axis);
    fprintf(file, "%*s", HELP_COLUMN, "");
    print_wrapped(file, HELP_COLUMN, HELP_COLUMN, text);
}

static void print_flag(FILE *file, const FlagInfo *info)
{
    char text[256], letter[] = {' ', '(', '-', info->letter, ')', '\0'};
    snprintf(text, sizeof text, "%s%s", info->help, info->letter != 0 ? letter : "");
    print_entry(file, info->name, info->argument, text);
}

/* ---- Which of them, under which heading ------------------------------------------------------ */

/* Axes and other flags are counted through: an axis is its number, a flag AXIS_COUNT more. */
enum { ITEMS = AXIS_COUNT + (int)FLAG_COUNT, HEADED_MOST = 12 };
#define F(flag) (AXIS_COUNT + (unsigned)FLAG_##flag)

/* The items of each heading, up to a 0: of the first those axes that no other names, of the last
 * such flags. */
static const struct {
    const char *title;
    unsigned items[HEADED_MOST];
} headings[] = {
    {"the model", {0}},
    {"its rewrite",
     {AXIS_OMEGA, AXIS_PENALTY, AXIS_LINEAR, AXIS_GELU, AXIS_SLOPE, AXIS_BIAS_ROW,
      AXIS_BIAS_ROW_CONTENT, AXIS_NORMALIZE_BIAS_ROW, AXIS_HEAD_RANK, AXIS_BAND, F(NETWORK)}},
    {"damage to it",
     {AXIS_SHRINK, AXIS_DROPOUT, AXIS_DROP_ENTRY, AXIS_WEIGHT_NOISE, AXIS_SCORE_SCALE}},
    {"the machine", {AXIS_ARITHMETIC, AXIS_KERNEL, AXIS_WEIGHTS_ROUNDED}},
    {"exact mathematics", {AXIS_REFERENCE, AXIS_ROW, AXIS_PRECISION, AXIS_MAX_BITS}},
    {"what passes", {AXIS_TOLERANCE, AXIS_JUDGE, AXIS_NORM}},
    {"what comes out",
     {F(OUTPUT), F(FORMAT), F(EXPAND), F(COLOR), F(LAYOUT), F(MEASURE), F(BY), F(LOGITS)}},
    {"a weights file, or a known model",
     {F(IGNORE_EXTRA), F(IGNORE_CONFIG), F(POSITION_EMBEDDING), F(BLOCKS), F(WITNESS),
      F(WITNESS_TOLERANCE), F(PRESET)}},
    {"its inputs",
     {F(TOKENS), F(TOKENS_FILE), F(TEXT), F(CHARACTERS), F(WINDOW), F(STRIDE), F(POSITIONS)}},
    {"figures and proofs", {F(DIGITS), F(CERTIFY), F(PROPAGATION), F(EVERY_INPUT), F(INPUT_NORM)}},
    {"what they are held against, and reports",
     {F(CHECK), F(PREDICT), F(BASELINE), F(SAVE_BASELINE), F(FORCE), F(UPDATE), F(FACTOR), F(EXACT),
      F(JUNIT_XML), F(MARKDOWN), F(JSON)}},
    {"the run", {0}},
};

enum { HEADINGS = sizeof headings / sizeof *headings };

/* The flags that help names without being asked for all. */
static const unsigned common[] = {
    AXIS_CONSTRUCTION, AXIS_ACTIVATION,  AXIS_MASK,  AXIS_N,         AXIS_D,
    AXIS_D_FF,         AXIS_HEADS,       AXIS_DEPTH, AXIS_OMEGA,     AXIS_PENALTY,
    AXIS_ARITHMETIC,   AXIS_WEIGHTS,     AXIS_SEED,  AXIS_TOLERANCE, F(OUTPUT),
    F(FORMAT),         F(THREADS),       F(DRY_RUN), F(TOKENS),      F(TEXT),
    F(BASELINE),       F(SAVE_BASELINE), F(UPDATE),  F(EVERY_INPUT), F(CHECK),
    F(PREDICT),        F(PRESET),        F(MEASURE), F(BY),          AXIS_NORMALIZATION};

static bool is_in(const unsigned *items, size_t count, unsigned item)
{
    size_t i = 0;
    while (i < count && items[i] != item) {
        i++;
    }
    return i < count;
}

static size_t heading_of(unsigned item)
{
    size_t i = 1;
    while (i < HEADINGS && (item == 0 || !is_in(headings[i].items, HEADED_MOST, item))) {
        i++;
    }
    return i < HEADINGS ? i : item < AXIS_COUNT ? 0 : HEADINGS - 1;
}

static bool is_taken(const CommandInfo *command, unsigned item)
{
    return item < AXIS_COUNT ? command_takes(command, (Axis)item)
                             : command_takes_flag(command, (Flag)(item - AXIS_COUNT));
}

static const char *name_of(unsigned item)
{
    return item < AXIS_COUNT ? axis_info((Axis)item)->name
                             : flag_info((Flag)(item - AXIS_COUNT))->name;
}

/* all: even what is not common. */
static void print_heading(FILE *file, const CommandInfo *command, size_t heading, bool all)
{
    bool begun = false;
    for (unsigned item = 0; item < ITEMS; item++) {
        if (heading_of(item) != heading || !is_taken(command, item) ||
            !(all || is_in(common, sizeof common / sizeof *common, item))) {
            continue;
        }
        if (!begun) {
            fprintf(file, "\n%s%s:\n", headings[heading].title,
                    item < AXIS_COUNT ? " (flags, and keys of case files)" : "");
        }
        begun = true;
        if (item < AXIS_COUNT) {
            print_axis(file, command, (Axis)item);
        } else {
            print_flag(file, flag_info((Flag)(item - AXIS_COUNT)));
        }
    }
}

/* text = names of what a command takes and is not common.  Returns how many. */
static size_t find_rest(char text[HELP_TEXT], const CommandInfo *command)
{
    size_t count = 0, used = 0;
    *text = '\0';
    for (unsigned item = 0; item < ITEMS && used < HELP_TEXT; item++) {
        if (is_taken(command, item) && !is_in(common, sizeof common / sizeof *common, item)) {
            used += (size_t)snprintf(text + used, HELP_TEXT - used, " --%s", name_of(item));
            count++;
        }
    }
    return count;
}

void help_print_command(FILE *file, const CommandInfo *command, bool all)
{
    enum { FEW = 12 };
    char text[HELP_TEXT], rest[HELP_TEXT];
    bool flags = command->flags != 0, more = flags || command->usage != NULL;
    size_t left = find_rest(rest, command);
    int used = fprintf(file, "usage: headproof %s%s", command->name, more ? " " : "");
    snprintf(text, sizeof text, "%s%s", command->usage ? command->usage : "",
             flags ? " [--FLAG VALUE]..." : "");
    print_wrapped(file, (size_t)used, (size_t)used, text);
    putc('\n', file);
    print_wrapped(file, 0, 0, command->summary);
    for (size_t i = 0; i < HEADINGS; i++) {
        print_heading(file, command, i, all || left <= FEW);
    }
    fputs(command->own_flag_count > 0 ? "\nflags:\n" : "", file);
    for (size_t i = 0; i < command->own_flag_count; i++) {
        print_flag(file, &command->own_flags[i]);
    }
    if (!all && left > FEW) {
        fprintf(file, "\n%zu more, which headproof help %s --all explains:\n ", left,
                command->name);
        print_wrapped(file, 1, 2, rest);
    } else if (command->run != NULL) {
        fputs("\n"
              "Nothing is assumed of a weights file: what its metadata do not say of\n"
              "activation, scale, mask and normalization is required as flags; without an X or\n"
              "tokens, --n is the number of rows to draw where rows are evaluated.\n",
              file);
    }
}
