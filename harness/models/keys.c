/*
 * The keys of a model's config.json and metadata, each read as the table of known_keys.c has it.
 */
#include "keys.h"

#include "../../memory/need.h"
#include "../base/decimal.h"
#include "../base/message.h"
#include "safetensors.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 100 };

/* An object of keys, and what a message calls it: "FILE: metadata 'eps'". */
typedef struct {
    Reading *reading;
    const char *file, *kind;
    json_t *object;
    const KnownKey *table; /* of them */
} Source;

static int read_source(Source source) __attribute__((warn_unused_result));

static int refuse(const Source *source, const char *key, const char *expected, const char *why)
{
    const json_t *value = json_object_get(source->object, key); /* as it stands there */
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_SORT_KEYS |
                                       JSON_REAL_PRECISION(15));
    complain_of(source->file, source->kind, key, "%.*s: expected %s%s%s", SHOWN,
                text != NULL ? text : "(what it has)", expected, why != NULL ? ": " : "",
                why != NULL ? why : "");
    free(text);
    return 2;
}

/* A size of the model, or its depth: two names of one size have one value. */
static int read_size(const Source *source, const KnownKey *key, const json_t *value)
{
    Reading *reading = source->reading;
    bool depth = key->kind == KEY_DEPTH;
    size_t *own = depth ? &reading->depth : model_size(reading->model, key->extent);
    const char **by = depth ? &reading->depth_by : &reading->given_by[key->extent];
    json_int_t size = json_integer_value(value);
    if (!json_is_integer(value) || size < 1 || (unsigned long long)size > SIZE_MAX) {
        return refuse(source, key->key, "an integer from 1 on", NULL);
    }
    if (*own != 0 && *own != (size_t)size) {
        return complain_of(source->file, source->kind, key->key, "%zu: expected %zu, as '%s' says",
                           (size_t)size, *own, *by);
    }
    if (*own == 0 || depth) {
        *own = (size_t)size;
        *by = depth ? source->file : key->key;
    }
    return 0;
}

/* by: the key that says it. */
static int say(const Source *source, const KnownKey *key, const char *by, const char *value)
{
    const Property said = {key->property, source->file, source->kind, by, ""};
    return properties_add(&source->reading->said, &said, value);
}

/* A word that is no activation, say, is refused where the property is read. */
static int read_word(const Source *source, const KnownKey *key, const json_t *value)
{
    const char *word = json_string_value(value);
    if (word == NULL) {
        return refuse(source, key->key, "a string", NULL);
    }
    for (size_t i = 0; i + 1 < sizeof key->words / sizeof *key->words; i += 2) {
        if (key->words[i] != NULL && strcmp(word, key->words[i]) == 0) {
            word = key->words[i + 1];
        }
    }
    return say(source, key, key->key, word);
}

/* Numbers are said as the shortest decimal of their double, so that 1e-5 is 1e-05. */
static int read_number(const Source *source, const KnownKey *key, const json_t *value)
{
    char text[DECIMAL_TEXT];
    double number = json_number_value(value);
    if (json_is_number(value) && number == 0 && key->fits != NULL) {
        return 0;
    }
    if (!json_is_number(value) || !(number > 0) || !isfinite(number)) {
        return refuse(source, key->key, "a number above 0", NULL);
    }
    decimal_print(text, number);
    return say(source, key, key->key, text);
}

static int check_fits(const Source *source, const KnownKey *key, const json_t *value)
{
    json_t *fits = key->fits == NULL ? NULL : json_loads(key->fits, JSON_DECODE_ANY, NULL);
    bool fine = fits != NULL && json_equal(value, fits) != 0;
    json_decref(fits);
    return fine ? 0 : refuse(source, key->key, key->fits != NULL ? key->fits : "none", key->why);
}

/* The words that fit: those of the family, where it has its own. */
static const char *names_of(const Source *source, const KnownKey *key)
{
    const Family *family = source->reading->family;
    const char *own = strcmp(key->key, "model_type") == 0      ? family->types
                      : strcmp(key->key, "architectures") == 0 ? family->programs
                                                               : NULL;
    return own != NULL ? own : key->fits;
}

static int check_names(const Source *source, const KnownKey *key, const json_t *value)
{
    char expected[200];
    const char *fits = names_of(source, key);
    size_t known = 0, count = json_array_size(value);
    for (size_t i = 0; i < count; i++) {
        known += list_has(fits, ' ', json_string_value(json_array_get(value, i)));
    }
    if (json_is_array(value) ? known == count : list_has(fits, ' ', json_string_value(value))) {
        return 0;
    }
    snprintf(expected, sizeof expected, "one of %s", fits);
    return refuse(source, key->key, expected, key->why);
}

static int read_key(const Source *source, const KnownKey *key, const json_t *value)
{
    switch (key->kind) {
    case KEY_EXTENT:
    case KEY_DEPTH: return read_size(source, key, value);
    case KEY_WORD: return read_word(source, key, value);
    case KEY_NUMBER: return read_number(source, key, value);
    case KEY_BOOL:
        return json_is_boolean(value) ? say(source, key, key->key, key->words[json_is_true(value)])
                                      : refuse(source, key->key, "false or true", NULL);
    case KEY_OBJECT:
        return json_is_object(value) ? read_source((Source){source->reading, source->file, "key",
                                                            (json_t *)value, rope_keys})
                                     : refuse(source, key->key, "an object of keys", NULL);
    case KEY_NAMES: return check_names(source, key, value);
    case KEY_FITS: return check_fits(source, key, value);
    }
    abort();
}

/* The value of a key, to be dropped; NULL: the key is not there.  Metadata hold texts alone, and
 * numbers, truth values and null as such. */
static json_t *value_of(const Source *source, const char *key, KeyKind kind)
{
    static const char *const words[][2] = {{"True", "true"}, {"False", "false"}, {"None", "null"}};
    json_t *value = json_object_get(source->object, key);
    const char *text = strcmp(source->kind, "key") == 0 ? NULL : json_string_value(value);
    for (size_t i = 0; text != NULL && i < sizeof words / sizeof *words; i++) {
        text = strcmp(text, words[i][0]) == 0 ? words[i][1] : text;
    }
    bool read = text != NULL && (kind != KEY_WORD || strcmp(text, "null") == 0);
    json_t *typed = read ? json_loads(text, JSON_DECODE_ANY, NULL) : NULL;
    return typed != NULL ? typed : json_incref(value);
}

/* Does the key have a value, which is not true where `unless` is? */
static bool says(const Source *source, const char *key, bool unless)
{
    json_t *value = value_of(source, key, KEY_BOOL);
    bool any = value != NULL && !json_is_null(value) && !(unless && json_is_true(value));
    json_decref(value);
    return any;
}

/* Is it one of those that are not to be read? */
static bool is_ignored(const Source *source, const char *key)
{
    return list_has(source->reading->flags->ignored, ',', key);
}

/* What a key says that is null, or of a model whose kind is said, not there. */
static int read_absent(const Source *source, const KnownKey *key, bool null)
{
    if (null && key->null != NULL) {
        return say(source, key, key->key, key->null);
    }
    return key->by_type && says(source, "model_type", false)
               ? say(source, key, "model_type", key->words[1])
               : 0;
}

/* In the table's order: what is outside every construction is said first. */
static int read_known(const Source *source)
{
    int status = 0;
    for (const KnownKey *key = source->table; key->key != NULL && status == 0; key++) {
        json_t *value = value_of(source, key->key, key->kind);
        if (value == NULL || json_is_null(value)) {
            status = read_absent(source, key, value != NULL);
        } else if (!is_ignored(source, key->key) &&
                   (key->yields == NULL || !says(source, key->yields, true))) {
            status = read_key(source, key, value);
        }
        json_decref(value);
    }
    return status;
}

static bool is_known(const KnownKey *table, const char *key)
{
    const KnownKey *row = table;
    while (row->key != NULL && strcmp(row->key, key) != 0) {
        row++;
    }
    return row->key != NULL || (table == known_keys && is_listed(idle_keys, key)) ||
           strncmp(key, "result.", strlen("result.")) == 0;
}

/* Refuses keys that are in no table.  With a witness they become doubts. */
static int check_unknown(const Source *source)
{
    const char *key;
    json_t *value;
    NameList here = {.count = 0};
    json_object_foreach(source->object, key, value)
    {
        if (says(source, key, false) && !is_known(source->table, key) && !is_ignored(source, key) &&
            !tensor_set_is_alias(source->reading->set, key)) {
            name_list_add(source->reading->witnessed ? &source->reading->unknown : &here, key);
        }
    }
    return here.count == 0
               ? 0
               : complain_of(
                     source->file, NULL, NULL,
                     "unknown key%s%s: %s: expected those that docs/keys.md lists "
                     "(--ignore-config KEY,... takes the responsibility for others; "
                     "beside a witness that tells the model from others they are let through)",
                     here.count > 1 ? "s" : "",
                     strcmp(source->kind, "key") == 0 ? "" : " of its metadata", here.text);
}

static int read_source(Source source)
{
    const char *key;
    json_t *value;
    json_object_foreach(source.object, key, value)
    {
        if (is_ignored(&source, key)) {
            name_list_add(&source.reading->ignored, key);
        }
    }
    int status = read_known(&source);
    return status != 0 ? status : check_unknown(&source);
}

/* GPT-2's heads split the stream's columns evenly. */
static int split_heads(Reading *reading)
{
    ModelFile *model = reading->model;
    if (!reading->family->splits || model->d == 0 || model->heads == 0 || model->d_head != 0) {
        return 0;
    }
    const char *key = reading->given_by[EXTENT_HEADS];
    if (model->d % model->heads != 0) {
        return complain_of(reading->said_in, "key", key,
                           "%zu: expected a divisor of the stream's width, %zu", model->heads,
                           model->d);
    }
    model->d_head = model->d / model->heads;
    reading->given_by[EXTENT_D_HEAD] = key;
    return 0;
}

/* A window hides nothing of an input that is no longer. */
static int limit_context(Reading *reading)
{
    ModelFile *model = reading->model;
    const char *by = reading->given_by[EXTENT_WINDOW];
    if (model->window > 0 && !reading->family->windowed) {
        return complain_of(reading->said_in, "key", by,
                           "%zu: expected none: no program of %s reads it", model->window,
                           reading->family->title);
    }
    if (model->window > 0 && (model->context == 0 || model->window < model->context)) {
        model->context = model->window;
        reading->given_by[EXTENT_CONTEXT] = by;
    }
    return 0;
}

/* Those of the config, of the index and of each file. */
static int read_sources(Reading *reading)
{
    const TensorSet *set = reading->set;
    json_t *index = json_object_get(set->index, "metadata");
    int status =
        read_source((Source){reading, reading->config_path, "key", reading->config, known_keys});
    status = status != 0 ? status
                         : read_source((Source){reading, set->path, "metadata", index, known_keys});
    for (size_t i = 0; i < set->file_count && status == 0; i++) {
        const SafetensorsFile *file = set->files[i];
        json_t *metadata = json_object_get(file->header, "__metadata__");
        status = read_source((Source){reading, file->path, "metadata", metadata, known_keys});
    }
    return status;
}

/* Adds the keys that the family's names imply, and those of flags that are no axes. */
static int add_others(Reading *reading)
{
    const ModelFileFlags *flags = reading->flags;
    const Property by[] = {{"positions", "headproof", "flag", "--position-embedding", ""},
                           {"blocks", "headproof", "flag", "--blocks", ""}};
    const char *const values[] = {flags->positions, flags->blocks};
    const Family *family = reading->family;
    int status = 0;
    for (size_t i = 0; i < 2 && status == 0; i++) {
        status = values[i] == NULL ? 0 : properties_add(&reading->said, &by[i], values[i]);
    }
    for (FamilyWords *word = family->implied; word != NULL && (*word)[0] != NULL && status == 0;
         word++) {
        const Property of = {(*word)[0], reading->set->path, "family", family->title, ""};
        status = properties_add(&reading->said, &of, (*word)[1]);
    }
    return status;
}

/* Demands that ignored keys are there, and says them. */
static int check_ignored(Reading *reading)
{
    char item[260];
    for (const char *rest = reading->flags->ignored; rest != NULL && *rest != '\0';) {
        size_t length = strcspn(rest, ",");
        snprintf(item, sizeof item, "'%.*s'", (int)length, rest);
        if (strstr(reading->ignored.text, item) == NULL) {
            return complain_of(reading->set->path, "flag", "--ignore-config",
                               "%s: expected a key of its metadata or of a config.json beside it",
                               item);
        }
        rest += length + (rest[length] == ',');
    }
    reading->model->ignored = reading->ignored.count > 0 ? need_copy(reading->ignored.text) : NULL;
    return 0;
}

int keys_read(Reading *reading)
{
    if (add_others(reading) != 0 || read_sources(reading) != 0 || limit_context(reading) != 0 ||
        split_heads(reading) != 0 || check_ignored(reading) != 0) {
        return 2;
    }
    if (reading->unknown.count > 0) {
        reading->model->doubts = need_copy(reading->unknown.text);
    }
    return 0;
}
