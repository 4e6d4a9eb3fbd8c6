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
        snprintf(standard, sizeof standard, "the smallest that is proven for every input");
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

static void print_axes(FILE *file, const CommandInfo *command)
{
    fputs("\naxes (flags, and keys of case files):\n", file);
    for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
        if (command_takes(command, axis)) {
            print_axis(file, command, axis);
        }
    }
    fputs("\n"
          "Nothing is assumed of a weights file: what its metadata do not say of\n"
          "activation, scale, mask and normalization is required as flags; without an X or\n"
          "tokens, --n is the number of rows to draw where rows are evaluated.\n",
          file);
}

void help_print_command(FILE *file, const CommandInfo *command)
{
    bool flags = command->flags != 0;
    bool more = flags || command->usage != NULL;
    int used = fprintf(file, "usage: headproof %s%s", command->name, more ? " " : "");
    char usage[256];
    snprintf(usage, sizeof usage, "%s%s", command->usage ? command->usage : "",
             flags ? " [--FLAG VALUE]..." : "");
    print_wrapped(file, (size_t)used, (size_t)used, usage);
    putc('\n', file);
    print_wrapped(file, 0, 0, command->summary);
    if (command->run != NULL) {
        print_axes(file, command);
    }
    bool any = flags || command->own_flag_count > 0;
    fputs(!any ? "" : command->run != NULL ? "\nother flags:\n" : "\nflags:\n", file);
    for (Flag flag = 0; flag < FLAG_COUNT; flag++) {
        if (command_takes_flag(command, flag)) {
            print_flag(file, flag_info(flag));
        }
    }
    for (size_t i = 0; i < command->own_flag_count; i++) {
        print_flag(file, &command->own_flags[i]);
    }
}
