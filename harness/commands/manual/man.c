/*
 * The manual page, from the tables of commands, axes and flags.
 */
#include "manual.h"

#include "../../base/info.h"
#include "../../grid/flags.h"
#include "../../grid/help.h"

/* Text as roff takes it: dashes that can be copied, backslashes, and no request at a line's
 * beginning. */
static void print_text(FILE *file, const char *text)
{
    for (bool begins = true; *text != '\0'; begins = *text++ == '\n') {
        if (begins && (*text == '.' || *text == '\'')) {
            fputs("\\&", file);
        }
        if (*text == '-') {
            fputs("\\-", file);
        } else if (*text == '\\') {
            fputs("\\e", file);
        } else {
            putc(*text, file);
        }
    }
}

static void print_bold(FILE *file, const char *before, const char *text)
{
    fputs("\\fB", file);
    print_text(file, before);
    print_text(file, text);
    fputs("\\fR", file);
}

static void print_line(FILE *file, const char *text)
{
    print_text(file, text);
    putc('\n', file);
}

static void print_flag_name(FILE *file, const FlagInfo *info)
{
    fputs(".TP\n", file);
    if (info->letter != 0) {
        print_bold(file, "-", (char[]){info->letter, '\0'});
        fputs(", ", file);
    }
    print_bold(file, "--", info->name);
    if (info->argument != NULL) {
        fprintf(file, " \\fI%s\\fR", info->argument);
    }
    putc('\n', file);
}

/* "Flags: --output, --format." */
static void print_flags_of(FILE *file, const CommandInfo *command)
{
    const char *before = "Flags: ";
    for (const FlagInfo *flag = flag_table; flag->name != NULL; flag++) {
        if (flag->about != ABOUT_COMMAND && command_takes_flag(command, flag)) {
            fputs(before, file);
            print_bold(file, "--", flag->name);
            before = ", ";
        }
    }
    fputs(command_takes_axes(command) ? ".\n" : "", file);
}

static size_t count_taken(const CommandInfo *command)
{
    size_t taken = 0;
    for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
        taken += command_takes(command, axis);
    }
    return taken;
}

/* "Axes: all but --row.", or those taken, whichever is the shorter list. */
static void print_axes_of(FILE *file, const CommandInfo *command)
{
    size_t taken = count_taken(command);
    bool listed = taken <= AXIS_COUNT / 2;
    const char *before = listed ? "" : " but ";
    if (taken == 0) {
        return;
    }
    fputs(listed ? "Axes: " : "Axes: all", file);
    for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
        if (command_takes(command, axis) == listed) {
            fputs(before, file);
            print_bold(file, "--", axis_info(axis)->name);
            before = ", ";
        }
    }
    fputs(".\n", file);
}

static void print_own_defaults(FILE *file, const CommandInfo *command)
{
    for (size_t i = 0; i < command->own_count; i++) {
        char value[VALUE_TEXT];
        const AxisInfo *info = axis_info(command->own[i].axis);
        value_print(value, &info->domain, command->own[i].value);
        fputs("Default of ", file);
        print_bold(file, "--", info->name);
        fputs(": ", file);
        print_text(file, value);
        fputs(".\n", file);
    }
}

static void print_own_flags(FILE *file, const CommandInfo *command)
{
    bool tables = command->operands == OPERANDS_TABLES;
    fputs(command->own_flag_count > 0 || tables ? ".RS\n" : "", file);
    for (const FlagInfo *flag = flag_table; flag->name != NULL && tables; flag++) {
        if (command_takes_flag(command, flag)) {
            print_flag_name(file, flag);
            print_line(file, flag->help);
        }
    }
    for (size_t i = 0; i < command->own_flag_count; i++) {
        print_flag_name(file, &command->own_flags[i]);
        print_line(file, command->own_flags[i].help);
    }
    fputs(command->own_flag_count > 0 || tables ? ".RE\n" : "", file);
}

static void print_commands(FILE *file, const CommandInfo *commands, size_t count)
{
    fputs(".SH COMMANDS\n", file);
    for (size_t i = 0; i < count; i++) {
        fputs(".TP\n", file);
        print_bold(file, "", commands[i].name);
        if (commands[i].usage != NULL) {
            putc(' ', file);
            print_text(file, commands[i].usage);
        }
        putc('\n', file);
        print_text(file, commands[i].summary);
        fputs(".\n", file);
        print_flags_of(file, &commands[i]);
        print_axes_of(file, &commands[i]);
        print_own_defaults(file, &commands[i]);
        print_own_flags(file, &commands[i]);
    }
}

/* Values and defaults as the first command has them. */
static void print_axes(FILE *file, const CommandInfo *command)
{
    fputs(".SH AXES\n"
          "Flags of the command line, and keys of case files.\n",
          file);
    for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
        char values[HELP_TEXT];
        help_axis_values(values, command, axis);
        fputs(".TP\n", file);
        print_bold(file, "--", axis_info(axis)->name);
        putc('\n', file);
        print_text(file, axis_info(axis)->help);
        fputs(":\n", file);
        print_line(file, values);
    }
}

static void print_flags(FILE *file)
{
    fputs(".SH FLAGS\n", file);
    for (const FlagInfo *flag = flag_table; flag->about != ABOUT_COMMAND; flag++) {
        print_flag_name(file, flag);
        print_line(file, flag->help);
    }
}

void man_write(FILE *file, const CommandInfo *commands, size_t count)
{
    fprintf(file, ".TH HEADPROOF 1 \"\" \"headproof %s\" \"User commands\"\n", info_version());
    fputs(".SH NAME\n"
          "headproof \\- how wrong is a transformer rewritten with attention heads only?\n"
          ".SH SYNOPSIS\n"
          "\\fBheadproof\\fR \\fICOMMAND\\fR [\\fICASE\\-FILE\\fR...] "
          "[\\fB\\-\\-\\fIFLAG VALUE\\fR]...\n"
          ".SH DESCRIPTION\n"
          "Headproof measures the errors of transformers whose feed\\-forward networks are\n"
          "rewritten as attention heads, by a large constant, Omega: in exact mathematics, and\n"
          "in the machine's arithmetic.\n",
          file);
    print_commands(file, commands, count);
    print_axes(file, commands);
    print_flags(file);
    fputs(".SH VALUES\n"
          "A value is a list of v, a:b, a:b:step and a:b:*factor, as in\n"
          "\\-\\-omega 8,10:50:5,64:4096:*2; ends are exact decimals and inclusive.\n"
          ".SH CASE FILES\n"
          "A case file is INI: a [section] is a sweep, its keys are the axes' names; a flag\n"
          "overrides a key.\n"
          ".SH EXIT STATUS\n"
          "0: everything passed.  1: a numerical failure.  2: usage or bad input.\n"
          "99: the machine's fault.\n"
          ".SH EXAMPLES\n"
          ".nf\n"
          "headproof sweep \\-\\-construction fused \\-\\-omega 10:50:10 \\-o fused.csv\n"
          "headproof min\\-omega \\-\\-construction transformer \\-\\-tolerance 1e\\-9\n"
          ".fi\n"
          ".SH SEE ALSO\n"
          "The pages beside this one, under share/doc/headproof: README.md, docs/commands.md,\n"
          "docs/columns.md.\n",
          file);
}
