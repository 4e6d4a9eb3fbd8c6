/*
 * The keys of config.json and metadata as a page of Markdown, from the table that they are read by.
 */
#include "manual.h"

#include "../../base/message.h"
#include "../../base/text_stream.h"
#include "../../models/keys.h"

#include <stdlib.h>
#include <string.h>

static void write_meaning(FILE *file, const KnownKey *key)
{
    switch (key->kind) {
    case KEY_EXTENT: fprintf(file, "the size %s", extent_info(key->extent)->symbol); break;
    case KEY_DEPTH: fputs("how many layers there are", file); break;
    case KEY_WORD:
        fprintf(file, "%s", key->property);
        for (size_t i = 0; i + 1 < sizeof key->words / sizeof *key->words; i += 2) {
            if (key->words[i] != NULL) {
                fprintf(file, "; `%s` is `%s`", key->words[i], key->words[i + 1]);
            }
        }
        break;
    case KEY_NUMBER: fprintf(file, "%s, a number above 0", key->property); break;
    case KEY_BOOL:
        fprintf(file, "%s: `false` is `%s`, `true` is `%s`", key->property, key->words[0],
                key->words[1]);
        break;
    case KEY_NAMES: fprintf(file, "one of `%s`: else %s", key->fits, key->why); break;
    case KEY_FITS:
        fprintf(file, "%s%s%s: else %s", key->fits != NULL ? "`" : "",
                key->fits != NULL ? key->fits : "absent or null", key->fits != NULL ? "`" : "",
                key->why);
        break;
    }
    if (key->null != NULL) {
        fprintf(file, "; null is `%s`", key->null);
    }
    if (key->yields != NULL) {
        fprintf(file, "; not read beside `%s`", key->yields);
    }
}

/* A key's meaning in words, to be freed. */
static char *meaning_of(const KnownKey *key)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = text_stream(&text, &size);
    write_meaning(file, key);
    return text_close(file, &text);
}

/* A row of all keys of which the same is said, where the key is the first of them. */
static void write_row(FILE *file, const KnownKey *key)
{
    bool first = true;
    char *meaning = meaning_of(key);
    for (const KnownKey *other = known_keys; other->key != NULL; other++) {
        char *its = meaning_of(other);
        if (strcmp(its, meaning) == 0) {
            if (first && other != key) {
                free(its);
                break; /* the row is there */
            }
            fprintf(file, "%s`%s`", first ? "| " : ", ", other->key);
            first = false;
        }
        free(its);
    }
    if (!first) {
        fprintf(file, " | %s |\n", meaning);
    }
    free(meaning);
}

int keys_page_write(FILE *file)
{
    fputs(
        "# Keys of config.json and of metadata\n"
        "\n"
        "What a `config.json` or the file's metadata may say of a [trained model](models.md), in\n"
        "whichever family its names are; made by `headproof manual keys` (`make manual`) from the\n"
        "table that the program goes by. A key that is not here is refused by name, unless\n"
        "`--ignore-config` takes the responsibility or a witness tells the model from all\n"
        "others that are tried. Two keys that say the same thing must agree.\n"
        "\n"
        "## Read\n"
        "\n"
        "| keys | what they say, or must be |\n"
        "|---|---|\n",
        file);
    for (const KnownKey *key = known_keys; key->key != NULL; key++) {
        write_row(file, key);
    }
    fputs("\n## Known to change nothing that a model computes\n", file);
    for (const char *const *key = idle_keys; *key != NULL; key++) {
        fprintf(file, "%s`%s`", key == idle_keys ? "\n" : ",\n", *key);
    }
    fputs(", and `result.*` of `headproof export`.\n", file);
    return 0;
}
