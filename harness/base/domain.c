/*
 * The values that an axis takes: compared, described and printed.
 */
#include "domain.h"

#include "decimal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

int value_compare(const AxisValue *a, const AxisValue *b)
{
    if (a->form != b->form) {
        return a->form < b->form ? -1 : 1;
    }
    if (a->form == FORM_REAL) {
        return (a->real > b->real) - (a->real < b->real);
    }
    if (a->form == FORM_PATH) {
        return strcmp(a->path, b->path);
    }
    return (a->integer > b->integer) - (a->integer < b->integer);
}

static size_t describe_words(char *text, size_t size, const Domain *domain)
{
    bool choice = domain->kind == DOMAIN_WORDS && domain->word_count + domain->all > 1;
    size_t used = (size_t)snprintf(text, size, "%s", choice ? "one of " : "");
    for (size_t i = 0; i < domain->word_count && used < size; i++) {
        used += (size_t)snprintf(text + used, size - used, "%s%s", i == 0 ? "" : ", ",
                                 domain->words[i]);
    }
    if (domain->all && used < size) {
        used += (size_t)snprintf(text + used, size - used, ", all");
    }
    return used < size ? used : size - 1;
}

void domain_describe(char *text, size_t size, const Domain *domain)
{
    size_t used = describe_words(text, size, domain);
    const char * or = used > 0 ? " or " : "";
    if (domain->kind == DOMAIN_INTEGER) {
        used +=
            (size_t)snprintf(text + used, size - used, "%san integer from %" PRIu64 " to %" PRIu64,
                             or, domain->least, domain->most);
    } else if (domain->kind == DOMAIN_POSITIVE) {
        used += (size_t)snprintf(text + used, size - used, "%sa number above 0", or);
    }
    if (domain->paths && used < size) {
        used += (size_t)snprintf(text + used, size - used,
                                 ", or the path of a file (one that is not there yet has a / or "
                                 "ends in .safetensors), without commas, quotes and control "
                                 "characters");
    }
    if (domain->unit != 0 && used < size) {
        snprintf(text + used, size - used, " (4%c: 4 times %c)", domain->unit, domain->unit);
    }
}

void value_print(char *text, const Domain *domain, AxisValue value)
{
    switch (value.form) {
    case FORM_WORD: snprintf(text, VALUE_TEXT, "%s", domain->words[value.integer]); break;
    case FORM_REAL: decimal_print(text, value.real); break;
    case FORM_INTEGER: snprintf(text, VALUE_TEXT, "%" PRIu64, value.integer); break;
    case FORM_MULTIPLE:
        snprintf(text, VALUE_TEXT, "%" PRIu64 "%c", value.integer, domain->unit);
        break;
    case FORM_PATH: snprintf(text, VALUE_TEXT, "%s", value.path); break;
    }
}
