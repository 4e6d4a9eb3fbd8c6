/*
 * Help texts, printed from the tables of commands, axes and flags.
 */
#include "help.h"

#include "flags.h"

#include "../base/text_stream.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
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
    if (command_has(command, SEARCHES_OMEGA) && axis == AXIS_TOLERANCE) {
        snprintf(standard, sizeof standard, "none, and one is required");
    }
    if (command_has(command, PROVES_OMEGA) && axis == AXIS_OMEGA) {
        snprintf(standard, sizeof standard, "the smallest that is proven for every input%s",
                 command_has(command, JUDGES_LOGITS) ? ", else one found" : "");
    }
    snprintf(text, HELP_TEXT, "%s%s; default %s", values,
             command_takes_list(command, axis) ? "" : ", not a list", standard);
}

/* ---- Which of them, under which heading ------------------------------------------------------ */

/* Bit a: axis a. */
#define AXIS(name) ((uint64_t)1 << AXIS_##name)

/* The headings, and the axes below each; those that none names are below the first. */
static const struct {
    const char *title;
    uint64_t axes;
} headings[ABOUT_COUNT] = {
    [ABOUT_MODEL] = {"the model", 0},
    [ABOUT_REWRITE] = {"its rewrite", AXIS(OMEGA) | AXIS(PENALTY) | AXIS(LINEAR) | AXIS(GELU) |
                                          AXIS(SLOPE) | AXIS(BIAS_ROW) | AXIS(BIAS_ROW_CONTENT) |
                                          AXIS(BIAS_SELF) | AXIS(NORMALIZE_BIAS_ROW) |
                                          AXIS(HEAD_RANK) | AXIS(BAND)},
    [ABOUT_DAMAGE] = {"damage to it", AXIS(SHRINK) | AXIS(DROPOUT) | AXIS(DROP_ENTRY) |
                                          AXIS(WEIGHT_NOISE) | AXIS(SCORE_SCALE)},
    [ABOUT_MACHINE] = {"the machine", AXIS(ARITHMETIC) | AXIS(KERNEL) | AXIS(WEIGHTS_ROUNDED)},
    [ABOUT_REFERENCE] = {"exact mathematics",
                         AXIS(REFERENCE) | AXIS(ROW) | AXIS(PRECISION) | AXIS(MAX_BITS)},
    [ABOUT_PASSING] = {"what passes", AXIS(TOLERANCE) | AXIS(JUDGE) | AXIS(NORM)},
    [ABOUT_OUTPUT] = {"what comes out", 0},
    [ABOUT_FILE] = {"a weights file, or a known model", 0},
    [ABOUT_INPUTS] = {"its inputs", 0},
    [ABOUT_PROOFS] = {"figures and proofs", 0},
    [ABOUT_REPORTS] = {"what they are held against, and reports", 0},
    [ABOUT_RUN] = {"the run", 0},
    [ABOUT_COMMAND] = {"flags", 0},
};

/* The axes that help explains without being asked for all: of commands that take sizes, and of
 * those that take a trained model, whose file has its sizes. */
static const uint64_t common = AXIS(CONSTRUCTION) | AXIS(ACTIVATION) | AXIS(MASK) | AXIS(N) |
                               AXIS(D) | AXIS(D_FF) | AXIS(HEADS) | AXIS(DEPTH) | AXIS(OMEGA) |
                               AXIS(PENALTY) | AXIS(ARITHMETIC) | AXIS(WEIGHTS) | AXIS(SEED) |
                               AXIS(TOLERANCE) | AXIS(NORMALIZATION);
static const uint64_t common_of_a_model =
    AXIS(CONSTRUCTION) | AXIS(ACTIVATION) | AXIS(MASK) | AXIS(NORMALIZATION) | AXIS(SCALE) |
    AXIS(OMEGA) | AXIS(PENALTY) | AXIS(GELU) | AXIS(TOLERANCE) | AXIS(JUDGE) | AXIS(ARITHMETIC);

static bool is_common(const CommandInfo *command, Axis axis)
{
    uint64_t axes = command->operands == OPERANDS_MODEL ? common_of_a_model : common;
    return (axes >> axis & 1) != 0;
}

static FlagSubject subject_of(Axis axis)
{
    FlagSubject about = ABOUT_COUNT - 1;
    while (about > ABOUT_MODEL && (headings[about].axes >> axis & 1) == 0) {
        about--;
    }
    return about;
}

static void print_title(FILE *file, FlagSubject about, bool *begun, const char *more)
{
    if (!*begun) {
        fprintf(file, "\n%s%s:\n", headings[about].title, more);
    }
    *begun = true;
}

/* all: even what is not common. */
static void print_subject(FILE *file, const CommandInfo *command, FlagSubject about, bool all)
{
    bool begun = false;
    for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
        if (command_takes(command, axis) && subject_of(axis) == about &&
            (all || is_common(command, axis))) {
            print_title(file, about, &begun, " (flags, and keys of case files)");
            char text[HELP_TEXT];
            print_entry(file, axis_info(axis)->name, NULL, axis_info(axis)->help);
            help_axis_values(text, command, axis);
            fprintf(file, "%*s", HELP_COLUMN, "");
            print_wrapped(file, HELP_COLUMN, HELP_COLUMN, text);
        }
    }
    for (const FlagInfo *flag = flag_table; flag->name != NULL; flag++) {
        if (command_takes_flag(command, flag) && flag->about == about && (all || flag->common)) {
            print_title(file, about, &begun, "");
            char text[256], letter[] = {' ', '(', '-', flag->letter, ')', '\0'};
            snprintf(text, sizeof text, "%s%s", flag->help, flag->letter != 0 ? letter : "");
            print_entry(file, flag->name, flag->argument, text);
        }
    }
}

/* Writes the names of what a command takes and is not common.  Returns how many. */
static size_t write_rest(FILE *file, const CommandInfo *command)
{
    size_t count = 0;
    for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
        if (command_takes(command, axis) && !is_common(command, axis)) {
            fprintf(file, " --%s", axis_info(axis)->name);
            count++;
        }
    }
    for (const FlagInfo *flag = flag_table; flag->name != NULL; flag++) {
        if (command_takes_flag(command, flag) && !flag->common) {
            fprintf(file, " --%s", flag->name);
            count++;
        }
    }
    return count;
}

void help_print_command(FILE *file, const CommandInfo *command, bool all)
{
    enum { FEW = 12 };
    char text[HELP_TEXT], *rest;
    bool flags = command_takes_axes(command), more = flags || command->usage != NULL;
    size_t size;
    FILE *names = text_stream(&rest, &size);
    size_t left = write_rest(names, command);
    text_close(names, &rest);
    int used = fprintf(file, "usage: headproof %s%s", command->name, more ? " " : "");
    snprintf(text, sizeof text, "%s%s", command->usage ? command->usage : "",
             flags ? " [--FLAG VALUE]..." : "");
    print_wrapped(file, (size_t)used, (size_t)used, text);
    putc('\n', file);
    print_wrapped(file, 0, 0, command->summary);
    for (FlagSubject about = 0; about < ABOUT_COUNT; about++) {
        print_subject(file, command, about, all || left <= FEW);
    }
    if (!all && left > FEW) {
        fprintf(file, "\n%zu more, which headproof help %s --all explains:\n ", left,
                command->name);
        print_wrapped(file, 1, 2, rest);
    } else if (flags) {
        fputs("\n"
              "Nothing is assumed of a weights file: what its metadata do not say of\n"
              "activation, scale, mask and normalization is required as flags; without an X or\n"
              "tokens, --n is the number of rows to draw where rows are evaluated.\n",
              file);
    }
    free(rest);
}
