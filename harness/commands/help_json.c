/*
 * Commands, axes, flags, columns and keys as one JSON value, from the tables that the program
 * itself goes by: of it tools/manual makes the manual page, completion and pages.
 */
#include "commands.h"

#include "../base/info.h"
#include "../base/text_stream.h"
#include "../grid/flags.h"
#include "../grid/help.h"
#include "../grid/preset.h"
#include "../models/keys.h"
#include "../table/columns.h"
#include "../table/format.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* Those of a list that ends in NULL. */
static json_t *words_value(const char *const *list)
{
    json_t *words = json_array();
    for (const char *const *word = list; *word != NULL; word++) {
        json_array_append_new(words, json_string(*word));
    }
    return words;
}

/* Those of the row, or of the table that the flag's value is looked up in. */
static json_t *words_of_flag(const FlagInfo *flag)
{
    const char *names[FORMATS_MOST + PRESET_COUNT] = {NULL};
    if (strcmp(flag->name, "format") == 0) {
        (void)format_names(names);
    } else if (strcmp(flag->name, "preset") == 0) {
        preset_names(names);
    }
    return words_value(flag->words != NULL ? flag->words : names);
}

/* Axes with values and defaults as the first command has them.  column: NULL where a row's options
 * name it. */
static json_t *axes_value(const CommandInfo *first)
{
    static const char *const kinds[] = {
        [DOMAIN_WORDS] = "word", [DOMAIN_INTEGER] = "integer", [DOMAIN_POSITIVE] = "number"};
    json_t *axes = json_array();
    for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
        const AxisInfo *info = axis_info(axis);
        char values[HELP_TEXT], standard[VALUE_TEXT];
        json_t *words = json_array();
        for (size_t i = 0; i < info->domain.word_count; i++) {
            json_array_append_new(words, json_string(info->domain.words[i]));
        }
        if (info->domain.all) {
            json_array_append_new(words, json_string("all"));
        }
        help_axis_values(values, first, axis);
        value_print(standard, &info->domain, info->standard);
        json_array_append_new(axes, json_pack("{s:s, s:s?, s:s, s:s, s:s, s:s, s:o, s:b}", "name",
                                              info->name, "column", info->column, "help",
                                              info->help, "kind", kinds[info->domain.kind],
                                              "values", values, "default", standard, "words", words,
                                              "files", info->domain.paths));
    }
    return axes;
}

/* The flags of commands with axes, or those of a command without. */
static json_t *flags_value(const CommandInfo *own)
{
    json_t *flags = json_array();
    for (const FlagInfo *flag = flag_table; flag->name != NULL; flag++) {
        bool of_command = flag->about == ABOUT_COMMAND;
        if (own == NULL ? !of_command : of_command && command_takes_flag(own, flag)) {
            const char letter[] = {flag->letter, '\0'};
            json_array_append_new(flags,
                                  json_pack("{s:s, s:s?, s:s, s:s, s:o}", "name", flag->name,
                                            "argument", flag->argument, "letter", letter, "help",
                                            flag->help, "words", words_of_flag(flag)));
        }
    }
    return flags;
}

/* The columns of a command's table with all that can be asked for, or null. */
static json_t *columns_value(const CommandInfo *command)
{
    static const RunOptions all = {.propagation = true, .measure = true};
    char *text = NULL;
    size_t size = 0;
    if (command->write_header == NULL) {
        return json_null();
    }
    json_t *columns = json_array();
    FILE *file = text_stream(&text, &size);
    command->write_header(file, &all);
    (void)text_close(file, &text);
    for (char *rest, *name = strtok_r(text, ",\n", &rest); name != NULL;
         name = strtok_r(NULL, ",\n", &rest)) {
        json_array_append_new(columns, column_text(command->name, name));
    }
    free(text);
    return columns;
}

static json_t *command_value(const CommandInfo *command)
{
    json_t *axes = json_array(), *flags = json_array(), *defaults = json_object();
    for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
        if (command_takes(command, axis)) {
            json_array_append_new(axes, json_string(axis_info(axis)->name));
        }
    }
    for (const FlagInfo *flag = flag_table; flag->name != NULL; flag++) {
        if (flag->about != ABOUT_COMMAND && command_takes_flag(command, flag)) {
            json_array_append_new(flags, json_string(flag->name));
        }
    }
    for (size_t i = 0; i < command->own_count; i++) {
        const AxisInfo *info = axis_info(command->own[i].axis);
        char value[VALUE_TEXT];
        value_print(value, &info->domain, command->own[i].value);
        json_object_set_new(defaults, info->name, json_string(value));
    }
    return json_pack("{s:s, s:s, s:s?, s:o, s:o, s:o, s:o, s:o}", "name", command->name, "summary",
                     command->summary, "usage", command->usage, "axes", axes, "flags", flags,
                     "own_flags", flags_value(command), "defaults", defaults, "columns",
                     columns_value(command));
}

/* object: what it is in, with a dot. */
static json_t *key_value(const KnownKey *key, const char *object)
{
    static const char *const kinds[] = {
        [KEY_EXTENT] = "extent", [KEY_DEPTH] = "depth", [KEY_WORD] = "word",
        [KEY_NUMBER] = "number", [KEY_BOOL] = "bool",   [KEY_OBJECT] = "object",
        [KEY_NAMES] = "names",   [KEY_FITS] = "fits"};
    /* What a key may say: the words of a property by pairs, or those of false and true. */
    json_t *words = json_array();
    size_t step = key->kind == KEY_BOOL ? 1 : 2;
    for (size_t i = 0; i + 1 < sizeof key->words / sizeof *key->words; i += step) {
        if (key->words[i] != NULL) {
            json_array_append_new(
                words, step == 1 ? json_string(key->words[i])
                                 : json_pack("[s, s]", key->words[i], key->words[i + 1]));
        }
    }
    const char *says = key->kind == KEY_EXTENT ? extent_infos[key->extent].symbol : key->property;
    return json_pack("{s:o, s:s, s:s?, s:o, s:s?, s:s?, s:s?, s:s?}", "key",
                     json_sprintf("%s%s", object, key->key), "kind", kinds[key->kind], "says", says,
                     "words", words, "fits", key->fits, "why", key->why, "null", key->null,
                     "yields", key->yields);
}

void help_print_json(FILE *file, const CommandInfo *commands, size_t count)
{
    json_t *list = json_array(), *keys = json_array();
    for (size_t i = 0; i < count; i++) {
        json_array_append_new(list, command_value(&commands[i]));
    }
    for (const KnownKey *key = known_keys; key->key != NULL; key++) {
        json_array_append_new(keys, key_value(key, ""));
    }
    for (const KnownKey *key = rope_keys; key->key != NULL; key++) {
        json_array_append_new(keys, key_value(key, "rope_parameters."));
    }
    json_t *all = json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "version", info_version(), "commands",
                            list, "axes", axes_value(commands), "flags", flags_value(NULL), "keys",
                            keys, "idle_keys", words_value(idle_keys));
    char *text = json_dumps(all, JSON_INDENT(1));
    json_decref(all);
    fprintf(file, "%s\n", text);
    free(text);
}
