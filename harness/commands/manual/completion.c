/*
 * Completion for bash and zsh, from the tables of commands, axes and flags.
 */
#include "manual.h"

#include "../../grid/flags.h"
#include "../../grid/preset.h"
#include "../../table/format.h"

#include <string.h>

/* The words that a value may be: names [count]. */
#define WORDS_MOST 64
typedef struct {
    const char *names[WORDS_MOST];
    size_t count;
} Words;

/* A word that a shell would have to quote is not offered. */
static void add_word(Words *words, const char *name)
{
    if (words->count < WORDS_MOST && strpbrk(name, "()[]'\"`$&;<> :") == NULL) {
        words->names[words->count++] = name;
    }
}

static Words words_of_axis(Axis axis)
{
    Words words = {.count = 0};
    const Domain *domain = &axis_info(axis)->domain;
    for (size_t i = 0; i < domain->word_count; i++) {
        add_word(&words, domain->words[i]);
    }
    if (domain->all) {
        add_word(&words, "all");
    }
    return words;
}

static Words words_of_flag(const FlagInfo *flag)
{
    Words words = {.count = 0};
    const char *const *own = flag->words;
    if (strcmp(flag->name, "format") == 0) {
        words.count = format_names(words.names);
    } else if (strcmp(flag->name, "preset") == 0) {
        preset_names(words.names);
        words.count = PRESET_COUNT;
    }
    for (; own != NULL && *own != NULL; own++) {
        add_word(&words, *own);
    }
    return words;
}

static bool is_file(const char *argument)
{
    return argument != NULL && strcmp(argument, "FILE") == 0;
}

static void print_words(FILE *file, const Words *words)
{
    for (size_t i = 0; i < words->count; i++) {
        fprintf(file, "%s%s", i == 0 ? "" : " ", words->names[i]);
    }
}

static void print_names(FILE *file, const CommandInfo *commands, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        fprintf(file, "%s%s", i == 0 ? "" : " ", commands[i].name);
    }
}

/* ---- bash ------------------------------------------------------------------------------------ */

/* The values behind a flag: words, a file, or nothing that could be said before. */
static void print_bash_value(FILE *file, const char *name, const Words *words, bool files)
{
    if (files && words->count == 0) {
        return; /* files are what bash does by default */
    }
    fprintf(file, "    --%s) _headproof_words '", name);
    print_words(file, words);
    fprintf(file, "'%s; return ;;\n", files ? "" : "; compopt +o default 2>/dev/null");
}

static void print_bash_values(FILE *file)
{
    fputs("    case $flag in\n", file);
    for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
        Words words = words_of_axis(axis);
        print_bash_value(file, axis_info(axis)->name, &words, axis_info(axis)->domain.paths);
    }
    fputs("    -o", file);
    for (const FlagInfo *flag = flag_table; flag->about != ABOUT_COMMAND; flag++) {
        if (is_file(flag->argument)) {
            fprintf(file, " | --%s", flag->name);
        }
    }
    fputs(") return ;;\n", file);
    for (const FlagInfo *flag = flag_table; flag->about != ABOUT_COMMAND; flag++) {
        Words words = words_of_flag(flag);
        if (flag->argument != NULL && !is_file(flag->argument)) {
            print_bash_value(file, flag->name, &words, false);
        }
    }
    fputs("    esac\n", file);
}

static void print_bash_flags(FILE *file, const CommandInfo *command)
{
    fprintf(file, "    %s) flags='", command->name);
    for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
        if (command_takes(command, axis)) {
            fprintf(file, "--%s ", axis_info(axis)->name);
        }
    }
    for (const FlagInfo *flag = flag_table; flag->name != NULL; flag++) {
        if (command_takes_flag(command, flag)) {
            fprintf(file, "--%s ", flag->name);
        }
    }
    for (size_t i = 0; i < command->own_flag_count; i++) {
        fprintf(file, "--%s ", command->own_flags[i].name);
    }
    fputs("--help' ;;\n", file);
}

void completion_write_bash(FILE *file, const CommandInfo *commands, size_t count)
{
    fputs("# Completion of headproof for bash; made by `headproof manual bash`.\n"
          "\n"
          "# Words for what stands behind the last comma.\n"
          "_headproof_words()\n"
          "{\n"
          "    local before=\n"
          "    case $current in *,*) before=${current%,*}, ;; esac\n"
          "    COMPREPLY=($(compgen -P \"$before\" -W \"$1\" -- \"${current##*,}\"))\n"
          "}\n"
          "\n"
          "_headproof()\n"
          "{\n"
          "    local current=${COMP_WORDS[COMP_CWORD]} flags= flag=\n"
          "    COMPREPLY=()\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
          "        _headproof_words '",
          file);
    print_names(file, commands, count);
    fputs(" --version --help'\n"
          "        return\n"
          "    fi\n"
          "    # --flag value, or --flag=value, which bash has as three words.\n"
          "    flag=${COMP_WORDS[COMP_CWORD-1]}\n"
          "    [ \"$current\" != = ] || current=\n"
          "    [ \"$flag\" != = ] || flag=${COMP_WORDS[COMP_CWORD-2]}\n",
          file);
    print_bash_values(file);
    fputs("    case ${COMP_WORDS[1]} in\n", file);
    for (size_t i = 0; i < count; i++) {
        print_bash_flags(file, &commands[i]);
    }
    fputs("    esac\n"
          "    case ${COMP_WORDS[1]} in\n"
          "    help) _headproof_words '",
          file);
    print_names(file, commands, count);
    fputs(" --all'; return ;;\n"
          "    manual) _headproof_words 'man bash zsh columns'; return ;;\n"
          "    esac\n"
          "    case $current in -*) _headproof_words \"$flags\" ;; esac\n"
          "}\n"
          "\n"
          "complete -o default -F _headproof headproof\n",
          file);
}

/* ---- zsh ------------------------------------------------------------------------------------- */

/* Text between ' and ', where [ and ] or : would end it. */
static void print_zsh_text(FILE *file, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '\'') {
            fputs("'\\''", file);
        } else {
            fprintf(file, "%s%c", strchr("[]:\\", *text) != NULL ? "\\" : "", *text);
        }
    }
}

/* '--name=[help]:value:what completes it' */
static void print_zsh_flag(FILE *file, const char *name, const char *help, const char *value,
                           const Words *words, bool files)
{
    fprintf(file, "        '--%s%s[", name, value != NULL ? "=" : "");
    print_zsh_text(file, help);
    fputs("]", file);
    if (value != NULL) {
        fprintf(file, ":%s:", value);
        if (words->count > 0) {
            fputs(files ? "_headproof_words_or_files " : "_headproof_words ", file);
            print_words(file, words);
        } else if (files) {
            fputs("_files", file);
        }
    }
    fputs("' \\\n", file);
}

static void print_zsh_command(FILE *file, const CommandInfo *command)
{
    fprintf(file, "    %s)\n        _arguments -S \\\n", command->name);
    for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
        if (command_takes(command, axis)) {
            const AxisInfo *info = axis_info(axis);
            Words words = words_of_axis(axis);
            print_zsh_flag(file, info->name, info->help, info->name, &words, info->domain.paths);
        }
    }
    for (const FlagInfo *flag = flag_table; flag->name != NULL; flag++) {
        if (command_takes_flag(command, flag)) {
            Words words = words_of_flag(flag);
            print_zsh_flag(file, flag->name, flag->help, flag->argument, &words,
                           is_file(flag->argument));
        }
    }
    for (size_t i = 0; i < command->own_flag_count; i++) {
        const FlagInfo *info = &command->own_flags[i];
        Axis axis = axis_find(info->name);
        Words words = {.count = 0};
        words = axis < AXIS_COUNT                   ? words_of_axis(axis)
                : strcmp(info->name, "format") == 0 ? words_of_flag(info)
                                                    : words;
        print_zsh_flag(file, info->name, info->help, info->argument, &words,
                       is_file(info->argument));
    }
    fputs("        '--help[what it takes]' '*:file:_files'\n        ;;\n", file);
}

void completion_write_zsh(FILE *file, const CommandInfo *commands, size_t count)
{
    fputs("#compdef headproof\n"
          "# Completion of headproof for zsh; made by `headproof manual zsh`.\n"
          "\n"
          "# Words for what stands behind the last comma.\n"
          "_headproof_words() {\n"
          "    compset -P '*,'\n"
          "    compadd -S '' -- \"$@\"\n"
          "}\n"
          "\n"
          "_headproof_words_or_files() {\n"
          "    _headproof_words \"$@\"\n"
          "    _files\n"
          "}\n"
          "\n"
          "_headproof() {\n"
          "    local -a commands=(\n",
          file);
    for (size_t i = 0; i < count; i++) {
        fprintf(file, "        '%s:", commands[i].name);
        print_zsh_text(file, commands[i].summary);
        fputs("'\n", file);
    }
    fputs("    )\n"
          "    if (( CURRENT == 2 )); then\n"
          "        _describe command commands\n"
          "        return\n"
          "    fi\n"
          "    local command=${words[2]}\n"
          "    shift words\n"
          "    (( CURRENT-- ))\n"
          "    case $command in\n",
          file);
    for (size_t i = 0; i < count; i++) {
        if (commands[i].run != NULL || commands[i].own_flag_count > 0) {
            print_zsh_command(file, &commands[i]);
        }
    }
    fputs("    help) _describe command commands ;;\n"
          "    manual) _headproof_words man bash zsh columns ;;\n"
          "    *) _files ;;\n"
          "    esac\n"
          "}\n"
          "\n"
          "_headproof \"$@\"\n",
          file);
}
