/*
 * Flags among the words of a command that takes no grid.
 */
#include "words.h"

#include <stddef.h>
#include <string.h>

const char *words_value(const char *name, int *i, int argc, char **argv)
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
