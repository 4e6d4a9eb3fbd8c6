/*
 * The keys of config.json and metadata as a page of Markdown, from the table that they are read by.
 */
#include "manual.h"

#include "../../models/keys.h"

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
    case KEY_FITS:
        fprintf(file, "%s%s%s: else %s", key->fits != NULL ? "`" : "",
                key->fits != NULL ? key->fits : "must be absent or null",
                key->fits != NULL ? "` alone" : "", key->why);
        break;
    }
}

void keys_page_write(FILE *file)
{
    fputs(
        "# Keys of config.json and of metadata\n"
        "\n"
        "What may be said of a [trained model](models.md) beside its tensors, by a `config.json`\n"
        "beside the file or by the file's metadata, whichever family its names are of. This page\n"
        "is made by `headproof manual keys` (`make manual`) from the table that the program goes\n"
        "by. A key that is on neither list is refused by name, unless `--ignore-config` takes the\n"
        "responsibility or a witness agrees. Two keys that say the same thing must agree.\n"
        "\n"
        "## Read\n"
        "\n"
        "| key | says |\n"
        "|---|---|\n",
        file);
    for (const KnownKey *key = known_keys; key->key != NULL; key++) {
        fprintf(file, "| `%s` | ", key->key);
        write_meaning(file, key);
        fputs(" |\n", file);
    }
    fputs("\n## Known to change nothing that a model computes\n", file);
    for (const char *const *key = idle_keys; *key != NULL; key++) {
        fprintf(file, "%s`%s`", key == idle_keys ? "\n" : ",\n", *key);
    }
    fputs(", and `result.*` of `headproof export`.\n", file);
}
