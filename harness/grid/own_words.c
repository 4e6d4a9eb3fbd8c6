/*
 * The words of a command that takes no grid.
 */
#include "own_words.h"

#include "distinct.h"

#include "../../memory/need.h"
#include "../base/message.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* The value of --name VALUE or --name=VALUE, "" where the line ends before it; NULL: argv[*i] is
 * another word.  -o is --output.  Moves *i to the last word read. */
static const char *value_of(const char *name, int *i, int argc, char **argv)
{
    const char *word = argv[*i];
    size_t length = strlen(name);
    if (strncmp(word, "--", 2) == 0 && strncmp(word + 2, name, length) == 0) {
        word += 2 + length;
    } else if (strcmp(name, "output") == 0 && strcmp(word, "-o") == 0) {
        word += 2;
    } else {
        return NULL;
    }
    if (*word == '=') {
        return word + 1;
    }
    return *word != '\0' ? NULL : ++*i < argc ? argv[*i] : "";
}

static int refuse(const CommandInfo *command, const char *word)
{
    const char *names[OWN_FLAGS_MOST] = {NULL};
    for (size_t flag = 0; flag < command->own_flag_count; flag++) {
        names[flag] = command->own_flags[flag].name;
    }
    const char *name = word + strspn(word, "-"),
               *nearest = nearest_name(name, strcspn(name, "="), names, OWN_FLAGS_MOST);
    bool flag = *word == '-' && nearest != NULL;
    return complain((Origin){0}, word, "expected %s%s%s%s", command->usage,
                    flag ? " (did you mean --" : "", flag ? nearest : "", flag ? "?)" : "");
}

/* Is it one of the words that the flag takes?  0, or 2 after a message. */
static int check_value(const FlagInfo *info, const char *value)
{
    size_t count = 0, found = 0;
    while (info->words != NULL && info->words[count] != NULL) {
        found += strcmp(info->words[count++], value) == 0;
    }
    const Origin origin = {.flag = info->name};
    return count == 0 || found > 0
               ? 0
               : complain_unknown(origin, value, NULL, info->words, count, count);
}

/* One word, with the value behind it. */
static int read_word(OwnWords *words, const CommandInfo *command, int *i, int argc, char **argv)
{
    char *word = argv[*i];
    for (size_t flag = 0; flag < command->own_flag_count; flag++) {
        const FlagInfo *info = &command->own_flags[flag];
        bool bare = info->argument == NULL && strncmp(word, "--", 2) == 0;
        const char *value = info->argument != NULL ? value_of(info->name, i, argc, argv)
                            : bare && strcmp(word + 2, info->name) == 0 ? ""
                                                                        : NULL;
        if (value != NULL && words->values[flag] != NULL) {
            return complain((Origin){.flag = info->name}, value, "expected the flag once");
        }
        if (value != NULL && *value == '\0' && info->argument != NULL) {
            return complain((Origin){.flag = info->name}, NULL, "expected %s behind it",
                            info->argument);
        }
        words->values[flag] = value != NULL ? value : words->values[flag];
        if (value != NULL) {
            return check_value(info, value);
        }
    }
    if (*word == '-') {
        return refuse(command, word);
    }
    words->files[words->file_count++] = word;
    return 0;
}

int own_words_read(OwnWords *words, const CommandInfo *command, int argc, char **argv)
{
    words->files = need_zeros((size_t)argc + 1, sizeof *words->files);
    int status = 0;
    bool files = false; /* alone, from here on */
    for (int i = 2; i < argc && status == 0; i++) {
        if (files) {
            words->files[words->file_count++] = argv[i];
        } else if (strcmp(argv[i], "--") == 0) {
            files = true;
        } else {
            status = read_word(words, command, &i, argc, argv);
        }
    }
    return status == 0 && words->file_count == 0 ? refuse(command, command->name) : status;
}

void own_words_clear(OwnWords *words)
{
    free(words->files);
    *words = (OwnWords){0};
}

int own_words_spare_files(const OwnWords *words, const char *output, bool is_table)
{
    const NamedFile written = {"output", output, is_table};
    NamedFile *read = need_zeros(words->file_count + 1, sizeof *read);
    for (size_t i = 0; i < words->file_count; i++) {
        read[i] = (NamedFile){NULL, words->files[i], true};
    }
    int status = distinct_check(&written, 1, read, words->file_count);
    free(read);
    return status;
}
