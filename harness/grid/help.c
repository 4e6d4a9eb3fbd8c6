/*
 * Help texts, printed from the tables of commands, axes and flags.
 */
#include "help.h"

#include "flags.h"

#include "../base/text_stream.h"

#include <stdbool.h>
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

enum { HEADED_MOST = 12 };

/* The headings, and the axes below each, up to a 0; those that none names are below the first. */
static const struct {
    const char *title;
    Axis axes[HEADED_MOST];
} headings[ABOUT_COUNT] = {
    [ABOUT_MODEL] = {"the model", {0}},
    [ABOUT_REWRITE] = {"its rewrite",
                       {AXIS_OMEGA, AXIS_PENALTY, AXIS_LINEAR, AXIS_GELU, AXIS_SLOPE, AXIS_BIAS_ROW,
                        AXIS_BIAS_ROW_CONTENT, AXIS_BIAS_SELF, AXIS_NORMALIZE_BIAS_ROW,
                        AXIS_HEAD_RANK, AXIS_BAND}},
    [ABOUT_DAMAGE] = {"damage to it",
                      {AXIS_SHRINK, AXIS_DROPOUT, AXIS_DROP_ENTRY, AXIS_WEIGHT_NOISE,
                       AXIS_SCORE_SCALE}},
    [ABOUT_MACHINE] = {"the machine", {AXIS_ARITHMETIC, AXIS_KERNEL, AXIS_WEIGHTS_ROUNDED}},
    [ABOUT_REFERENCE] = {"exact mathematics",
                         {AXIS_REFERENCE, AXIS_ROW, AXIS_PRECISION, AXIS_MAX_BITS}},
    [ABOUT_PASSING] = {"what passes", {AXIS_TOLERANCE, AXIS_JUDGE, AXIS_NORM}},
    [ABOUT_OUTPUT] = {"what comes out", {0}},
    [ABOUT_FILE] = {"a weights file, or a known model", {0}},
    [ABOUT_INPUTS] = {"its inputs", {0}},
    [ABOUT_PROOFS] = {"figures and proofs", {0}},
    [ABOUT_REPORTS] = {"what they are held against, and reports", {0}},
    [ABOUT_RUN] = {"the run", {0}},
    [ABOUT_COMMAND] = {"flags", {0}},
};

/* The axes that help explains without being asked for all: of commands that take sizes, and of
 * those that take a trained model, whose file has its sizes. */
static const Axis common[] = {
    AXIS_CONSTRUCTION, AXIS_ACTIVATION, AXIS_MASK,  AXIS_N,         AXIS_D,
    AXIS_D_FF,         AXIS_HEADS,      AXIS_DEPTH, AXIS_OMEGA,     AXIS_PENALTY,
    AXIS_ARITHMETIC,   AXIS_WEIGHTS,    AXIS_SEED,  AXIS_TOLERANCE, AXIS_NORMALIZATION};
static const Axis common_of_a_model[] = {AXIS_CONSTRUCTION,  AXIS_ACTIVATION, AXIS_MASK,
                                         AXIS_NORMALIZATION, AXIS_SCALE,      AXIS_OMEGA,
                                         AXIS_PENALTY,       AXIS_GELU,       AXIS_TOLERANCE,
                                         AXIS_JUDGE,         AXIS_ARITHMETIC};

static bool is_in(const Axis *axes, size_t count, Axis axis)
{
    size_t i = 0;
    while (i < count && axes[i] != axis) {
        i++;
    }
    return i < count;
}

static bool is_common(const CommandInfo *command, Axis axis)
{
    return command->operands == OPERANDS_MODEL
               ? is_in(common_of_a_model, sizeof common_of_a_model / sizeof *common, axis)
               : is_in(common, sizeof common / sizeof *common, axis);
}

static FlagSubject subject_of(Axis axis)
{
    FlagSubject about = ABOUT_COUNT - 1;
    while (about > ABOUT_MODEL && (axis == 0 || !is_in(headings[about].axes, HEADED_MOST, axis))) {
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
