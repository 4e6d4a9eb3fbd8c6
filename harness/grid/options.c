/*
 * The command line of a command read.
 */
#include "settings.h"

#include "flags.h"

#include "../base/message.h"

#include <stdio.h>
#include <string.h>

/* Of the others nobody has counted the work. */
static const char dry_runners[] =
    ": sweep, depth, min-omega, growth, check, export and verify have one";

/* Earlier names of flags, taken with a word on stderr. */
static const struct {
    const char *name, *now;
} renamed[] = {{"form", "network"}};

enum { NAME_SIZE = 64 };

typedef struct {
    const CommandInfo *command;
    Section *axes;
    RunOptions *run;
    char **next, **end;    /* the words that are still to be read */
    bool seen[FLAGS_MOST]; /* of flag_table */
} Reader;

/* The next word, or NULL. */
static char *next_word(Reader *reader)
{
    return reader->next < reader->end ? *reader->next++ : NULL;
}

/* name = of a word without its dashes what is before a =; "" where that is too long. */
static void name_of_word(char name[NAME_SIZE], const char *word)
{
    size_t length = strcspn(word, "=");
    memset(name, 0, NAME_SIZE);
    memcpy(name, word, length < NAME_SIZE ? length : 0);
}

static int unknown_flag(const Reader *reader, const char *token)
{
    char name[NAME_SIZE];
    name_of_word(name, token + strspn(token, "-"));
    return flag_unknown((Origin){0}, token, name, reader->command);
}

/* text: NULL of a flag that takes none. */
static int read_flag(Reader *reader, const FlagInfo *flag, const char *text)
{
    Origin origin = {.flag = flag->name};
    const char *token = text != NULL ? text : flag->name;
    bool *seen = &reader->seen[flag - flag_table];
    if (*seen) {
        return complain(origin, token, "expected the flag once");
    }
    *seen = true;
    if (!command_takes_flag(reader->command, flag)) {
        return complain(origin, token, "expected a flag of %s, which has no --%s%s",
                        reader->command->name, flag->name,
                        strcmp(flag->name, "dry-run") == 0 ? dry_runners : "");
    }
    if (flag->filled != NULL && *text == '\0') {
        return complain(origin, text, "expected %s", flag->filled);
    }
    int status = flag->read(reader->run, flag, text);
    if (status == 0 && reader->run->on_stdout && command_has(reader->command, WRITES_TENSORS)) {
        return complain(origin, text, "expected a file name");
    }
    if (status == 0 && reader->run->quiet && reader->run->verbose) {
        return complain(origin, flag->name, "expected --quiet or --verbose, not both");
    }
    return status;
}

/* --NAME, --NAME VALUE or --NAME=VALUE. */
static int read_long(Reader *reader, const char *word)
{
    char name[NAME_SIZE];
    const char *value = strchr(word, '=');
    name_of_word(name, word + 2);
    for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++) {
        if (strcmp(name, renamed[i].name) == 0) {
            snprintf(name, sizeof name, "%s", renamed[i].now);
            fprintf(stderr, "headproof: --%s is --%s now\n", renamed[i].name, name);
        }
    }
    const FlagInfo *flag = flag_find(reader->command, name);
    Axis axis = axis_find(name);
    if (flag == NULL && axis == AXIS_COUNT) {
        return unknown_flag(reader, word);
    }
    bool takes = flag == NULL || flag->argument != NULL;
    if (!takes && value != NULL) {
        return complain((Origin){0}, word, "expected no value");
    }
    value = value != NULL ? value + 1 : takes ? next_word(reader) : NULL;
    if (takes && value == NULL) {
        return complain((Origin){0}, word, "expected a value after it");
    }
    return flag != NULL ? read_flag(reader, flag, value)
                        : setting_read(reader->axes, axis, reader->command,
                                       (Origin){.flag = axis_info(axis)->name}, value);
}

/* Is it a long flag with one dash, as -omega=1?  Of a letter a value with a = stands apart. */
static bool lacks_a_dash(const CommandInfo *command, const char *word)
{
    const char *name = word + 1;
    size_t length = strcspn(name, "=./");
    bool known = flag_find(command, name) != NULL || axis_find(name) < AXIS_COUNT;
    return length > 0 && (name[length] == '=' || known);
}

/* -q, -o FILE, -qoFILE. */
static int read_letters(Reader *reader, const char *word)
{
    if (lacks_a_dash(reader->command, word)) {
        return unknown_flag(reader, word);
    }
    for (const char *letter = word + 1; *letter != '\0'; letter++) {
        const char token[] = {'-', *letter, '\0'};
        const FlagInfo *flag = flag_table;
        while (flag->name != NULL && flag->letter != *letter) {
            flag++;
        }
        if (flag->name == NULL) {
            return unknown_flag(reader, token);
        }
        flag = flag_find(reader->command, flag->name);
        const char *value = NULL;
        if (flag->argument != NULL) {
            value = letter[1] != '\0' ? letter + 1 : next_word(reader);
            if (value == NULL) {
                return complain((Origin){0}, token, "expected a value after it");
            }
        }
        int status = read_flag(reader, flag, value);
        if (status != 0 || value != NULL) {
            return status;
        }
    }
    return 0;
}

int options_read(Section *axes, RunOptions *run, char **operands, size_t *count,
                 const CommandInfo *command, int argc, char **argv)
{
    Reader reader = {command, axes, run, argv + 1, argv + argc, {false}};
    bool flags = true; /* until -- */
    *count = 0;
    for (char *word; (word = next_word(&reader)) != NULL;) {
        int status = 0;
        if (!flags || word[0] != '-' || word[1] == '\0') {
            operands[(*count)++] = word;
        } else if (strcmp(word, "--") == 0) {
            flags = false;
        } else {
            status = (word[1] == '-' ? read_long : read_letters)(&reader, word);
        }
        if (status != 0) {
            return status;
        }
    }
    run->on_stdout = run->on_stdout || (run->format != NULL && run->output == NULL);
    return 0;
}
