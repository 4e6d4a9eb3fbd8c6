/*
 * The values that an axis takes: compared, described and printed.
 */
#include "domain.h"

#include "decimal.h"
#include "text_stream.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
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

void domain_describe(char *text, size_t size, const Domain *domain)
{
    char *whole;
    size_t length;
    FILE *file = text_stream(&whole, &length);
    bool choice = domain->kind == DOMAIN_WORDS && domain->word_count + domain->all > 1;
    fputs(choice ? "one of " : "", file);
    for (size_t i = 0; i < domain->word_count; i++) {
        fprintf(file, "%s%s", i == 0 ? "" : ", ", domain->words[i]);
    }
    fputs(domain->all ? ", all" : "", file);
    const char * or = domain->word_count > 0 ? " or " : "";
    if (domain->kind == DOMAIN_INTEGER) {
        fprintf(file, "%san integer from %" PRIu64 " to %" PRIu64, or, domain->least, domain->most);
    } else if (domain->kind == DOMAIN_POSITIVE) {
        fprintf(file, "%sa number above 0", or);
    }
    if (domain->paths) {
        fputs(", or the path of a file (one that is not there yet has a / or ends in "
              ".safetensors), without commas, quotes and control characters",
              file);
    }
    if (domain->unit != 0) {
        fprintf(file, " (4%c: 4 times %c)", domain->unit, domain->unit);
    }
    snprintf(text, size, "%s", text_close(file, &whole));
    free(whole);
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
