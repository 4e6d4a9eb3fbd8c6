/*
 * config.json as Hugging Face writes it: sizes and properties, each key strictly.
 */
#include "config.h"

#include "../base/decimal.h"
#include "../base/message.h"
#include "json_file.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { CONFIG_MOST = 1 << 20, SHOWN = 100 };

int config_refuse(const Reading *reading, const char *key, const json_t *value,
                  const char *expected, const char *why)
{
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_SORT_KEYS);
    complain_of(reading->config_path, "key", key, "%.*s: expected %s%s%s", SHOWN,
                text != NULL ? text : "(what it has)", expected, why != NULL ? ": " : "",
                why != NULL ? why : "");
    free(text);
    return 2;
}

static int read_size(size_t *size, const Reading *reading, const char *key, const json_t *value)
{
    json_int_t integer = json_integer_value(value);
    if (!json_is_integer(value) || integer < 1 || (unsigned long long)integer > SIZE_MAX) {
        return config_refuse(reading, key, value, "an integer from 1 on", NULL);
    }
    *size = (size_t)integer;
    return 0;
}

static int say(Reading *reading, const ConfigKey *key, const char *value)
{
    return properties_add(&reading->said, key->property, value, reading->config_path, "key",
                          key->key);
}

/* A word that is no activation, say, is refused where the property is read. */
static int read_word(Reading *reading, const ConfigKey *key, const json_t *value)
{
    const char *word = json_string_value(value);
    if (word == NULL) {
        return config_refuse(reading, key->key, value, "a string", NULL);
    }
    for (size_t i = 0; i + 1 < sizeof key->words / sizeof *key->words; i += 2) {
        if (key->words[i] != NULL && strcmp(word, key->words[i]) == 0) {
            word = key->words[i + 1];
        }
    }
    return say(reading, key, word);
}

static int read_number(Reading *reading, const ConfigKey *key, const json_t *value)
{
    char text[DECIMAL_TEXT];
    double number = json_number_value(value);
    if (!json_is_number(value) || !(number > 0) || !isfinite(number)) {
        return config_refuse(reading, key->key, value, "a number above 0", NULL);
    }
    decimal_print(text, number);
    return say(reading, key, text);
}

static int check_fits(const Reading *reading, const ConfigKey *key, const json_t *value)
{
    json_t *fits = key->fits == NULL ? NULL : json_loads(key->fits, JSON_DECODE_ANY, NULL);
    bool fine = fits != NULL && json_equal(value, fits) != 0;
    json_decref(fits);
    return fine ? 0
                : config_refuse(reading, key->key, value, key->fits != NULL ? key->fits : "none",
                                key->why);
}

static int read_extent(Reading *reading, const ConfigKey *key, const json_t *value)
{
    size_t size = 0;
    int status = read_size(&size, reading, key->key, value);
    if (status == 0) {
        *model_size(reading->model, key->extent) = size;
        reading->given_by[key->extent] = key->key;
    }
    return status;
}

static int read_key(Reading *reading, size_t *depth, const ConfigKey *key, const json_t *value)
{
    switch (key->kind) {
    case CONFIG_EXTENT: return read_extent(reading, key, value);
    case CONFIG_DEPTH: return read_size(depth, reading, key->key, value);
    case CONFIG_WORD: return read_word(reading, key, value);
    case CONFIG_NUMBER: return read_number(reading, key, value);
    case CONFIG_BOOL:
        return json_is_boolean(value)
                   ? say(reading, key, key->words[json_is_true(value)])
                   : config_refuse(reading, key->key, value, "false or true", NULL);
    case CONFIG_FITS: return check_fits(reading, key, value);
    }
    abort();
}

/* Heads split the stream's columns evenly. */
static int split_heads(Reading *reading, const json_t *config)
{
    ModelFile *model = reading->model;
    if (model->d == 0 || model->heads == 0) {
        return 0;
    }
    const char *key = reading->given_by[EXTENT_HEADS];
    const json_t *heads = json_object_get(config, key);
    if (model->d % model->heads != 0) {
        /* Heads that a flag says do not fit the tensors either. */
        return heads == NULL
                   ? 0
                   : config_refuse(reading, key, heads, "a divisor of the stream's width", NULL);
    }
    model->d_head = model->d / model->heads;
    reading->given_by[EXTENT_D_HEAD] = key;
    return 0;
}

static int read_keys(Reading *reading, size_t *depth, json_t *config)
{
    bool typed = json_is_string(json_object_get(config, "model_type"));
    int status = 0;
    for (const ConfigKey *key = reading->family->config; key->key != NULL && status == 0; key++) {
        const json_t *value = json_object_get(config, key->key);
        if (value != NULL && !json_is_null(value)) {
            status = read_key(reading, depth, key, value);
        } else if (key->by_type && typed) {
            status = properties_add(&reading->said, key->property, key->words[1],
                                    reading->config_path, "key", "model_type");
        }
    }
    return status == 0 ? split_heads(reading, config) : status;
}

int config_open(json_t **config, const Reading *reading)
{
    *config = NULL;
    return reading->config_path == NULL
               ? 0
               : json_file_read(config, reading->config_path, CONFIG_MOST, true);
}

int config_read(Reading *reading, size_t *depth)
{
    json_t *config;
    *depth = 0;
    if (reading->family->config == NULL) {
        return 0;
    }
    int status = config_open(&config, reading);
    if (status == 0 && config != NULL) {
        reading->configured = true;
        status = read_keys(reading, depth, config);
    }
    json_decref(config);
    return status;
}
