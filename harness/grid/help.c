/*
 * Help texts, printed from the tables of commands, axes and flags.
 */
#include "help.h"

#include "options.h"

void help_print_overview(FILE *file, const CommandInfo *commands, size_t count)
{
    fputs("Headproof measures how wrong a transformer rewritten with attention heads only is.\n"
          "\n"
          "usage: headproof COMMAND [CASE-FILE...] [--FLAG VALUE]...\n"
          "       headproof --version\n"
          "\n"
          "commands:\n",
          file);
    for (size_t i = 0; i < count; i++) {
        fprintf(file, "  %-10s %s\n", commands[i].name, commands[i].summary);
    }
    fputs(
        "\n"
        "A VALUE is a list of v, a:b, a:b:step, a:b:*factor: --omega 8,10:50:5,64:4096:*2.\n"
        "A case file is INI: [section] is a sweep, its keys are the flags' names; a flag\n"
        "overrides a key.  As in: headproof sweep --construction fused --omega 10:50:10\n"
        "\n"
        "exit codes: 0 pass, 1 numerical failure, 2 usage or bad input, 99 the machine's fault.\n",
        file);
}

static void print_axis(FILE *file, const CommandInfo *command, Axis axis)
{
    const AxisInfo *info = axis_info(axis);
    char values[256], standard[VALUE_TEXT];
    domain_describe(values, sizeof values, &info->domain);
    value_print(standard, &info->domain, command_standard(command, axis));
    fprintf(file, "  --%-18s %s\n", info->name, info->help);
    if (command->searches_omega && axis == AXIS_TOLERANCE) {
        snprintf(standard, sizeof standard, "none, and one is required");
    }
    fprintf(file, "  %-20s %s%s; default %s\n", "", values,
            command_takes_list(command, axis) ? "" : ", not a list", standard);
}

static void print_flag(FILE *file, Flag flag)
{
    const FlagInfo *info = flag_info(flag);
    char name[32];
    snprintf(name, sizeof name, "%s%s%s", info->name, info->argument ? " " : "",
             info->argument ? info->argument : "");
    fprintf(file, "  --%-18s %s", name, info->help);
    if (info->letter != 0) {
        fprintf(file, " (-%c)", info->letter);
    }
    putc('\n', file);
}

void help_print_command(FILE *file, const CommandInfo *command)
{
    fprintf(file, "usage: headproof %s %s [--FLAG VALUE]...\n\n%s\n\n", command->name,
            command->usage, command->summary);
    fputs("axes (flags, and keys of case files):\n", file);
    for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
        if (command_takes(command, axis)) {
            print_axis(file, command, axis);
        }
    }
    fputs(
        "\n"
        "Nothing is assumed of a weights file: what its metadata do not say of activation, scale,\n"
        "mask and normalization is required as flags; without an X or tokens, --n is the number\n"
        "of rows to draw where rows are evaluated.\n"
        "\n"
        "other flags:\n",
        file);
    for (Flag flag = 0; flag < FLAG_COUNT; flag++) {
        if (command_takes_flag(command, flag)) {
            print_flag(file, flag);
        }
    }
}
