/*
 * Lists of values, and the numbers in tables.
 *
 * Input: AXIS=TEXT.  A list is refused in one line that quotes it, or its values lie in the axis's
 * domain, no two are the same, and printing them gives the same list again.  A number by itself is
 * what strtod makes of it; a table's number what MPFR makes of it.
 */
#include "fuzz.h"

#include "../../harness/base/number.h"
#include "../../harness/base/shown.h"
#include "../../harness/base/values.h"
#include "../../harness/point/axes.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MOST = 4096, PRINTED_MOST = 300, BITS = 256 };

static bool is_in(const Domain *domain, const AxisValue *value)
{
    switch (value->form) {
    case FORM_WORD: return value->integer < domain->word_count;
    case FORM_INTEGER:
        return domain->kind == DOMAIN_INTEGER && value->integer >= domain->least &&
               value->integer <= domain->most;
    case FORM_MULTIPLE: return domain->unit != 0 && value->integer >= domain->least;
    case FORM_REAL:
        return domain->kind == DOMAIN_POSITIVE && isnormal(value->real) && value->real > 0;
    default: return domain->paths && value->path != NULL && strlen(value->path) < VALUE_TEXT;
    }
}

/* All values as text, with a comma between. */
static char *print_all(const Domain *domain, const ValueList *list)
{
    char *text, value[VALUE_TEXT];
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    fuzz_need(stream != NULL, "open_memstream");
    for (size_t i = 0; i < list->count; i++) {
        value_print(value, domain, list->values[i]);
        fprintf(stream, "%s%s", i > 0 ? "," : "", value);
    }
    fuzz_need(fclose(stream) == 0, "open_memstream");
    return text;
}

static const char *expect_same_again(Fuzz *fuzz, const Domain *domain, const ValueList *list)
{
    ValueList again = {0};
    Message message;
    const char *why = NULL;
    char *text = print_all(domain, list);
    int status = values_read(&again, &message, domain, text);
    if (status != 0 || again.count != list->count) {
        why = fuzz_broken(fuzz, "'%.200s' is %d, %zu values; they were %zu", text, status,
                          again.count, list->count);
    }
    for (size_t i = 0; why == NULL && i < list->count; i++) {
        if (value_compare(&list->values[i], &again.values[i]) != 0) {
            why = fuzz_broken(fuzz, "'%.200s': value %zu is another", text, i + 1);
        }
    }
    values_clear(&again);
    free(text);
    return why;
}

static const char *expect_list(Fuzz *fuzz, const Domain *domain, const ValueList *list)
{
    if (list->count == 0 || list->count > VALUES_MOST) {
        return fuzz_broken(fuzz, "a list of %zu values", list->count);
    }
    for (size_t i = 0; i < list->count; i++) {
        if (!is_in(domain, &list->values[i])) {
            return fuzz_broken(fuzz, "value %zu is outside the domain", i + 1);
        }
    }
    return list->count <= PRINTED_MOST ? expect_same_again(fuzz, domain, list) : NULL;
}

static const char *expect_message(Fuzz *fuzz, const Message *message)
{
    const char *end = memchr(message->text, '\0', sizeof message->text);
    if (end == NULL || strncmp(message->text, "token '", 7) != 0 ||
        strstr(message->text, "': expected ") == NULL) {
        return fuzz_broken(fuzz, "message '%.300s'", message->text);
    }
    Shown line = shown(message->text);
    for (const char *c = line.text; *c != '\0'; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7f) {
            return fuzz_broken(fuzz, "control characters in '%.300s'", message->text);
        }
    }
    return NULL;
}

/* text is one plain decimal: strtod and the list must agree. */
static const char *expect_strtod(Fuzz *fuzz, const char *text, int status, const ValueList *list)
{
    char *end;
    size_t length = strlen(text);
    double value = strtod(text, &end);
    bool number = length > 0 && *end == '\0' && strspn(text, "0123456789.eE+-") == length;
    if (status == 0 && (!number || list->count != 1 || list->values[0].real != value)) {
        return fuzz_broken(fuzz, "'%s' is %.17g, strtod has %.17g", text, list->values[0].real,
                           value);
    }
    if (status == 2 && number && value > DBL_MIN && value < DBL_MAX && length < 1000) {
        return fuzz_broken(fuzz, "'%s' is a double above 0, and refused", text);
    }
    return NULL;
}

/* A number of a table: its digits and exponent are what MPFR reads. */
static const char *expect_number(Fuzz *fuzz, const char *text)
{
    Number number;
    char digits[64], *end;
    if (!number_read(&number, text) || number.kind != NUMBER_FINITE ||
        labs(number.exponent) > 100000) {
        return NULL;
    }
    mpfr_t expected, found, own;
    mpfr_inits2(BITS, expected, found, own, (mpfr_ptr)0);
    snprintf(digits, sizeof digits, "%s%llue%ld", number.negative ? "-" : "",
             (unsigned long long)number.digits, number.exponent - (NUMBER_DIGITS - 1));
    mpfr_strtofr(expected, text, &end, 10, MPFR_RNDN);
    mpfr_strtofr(found, digits, NULL, 10, MPFR_RNDN);
    number_value(own, &number);
    bool same = *end == '\0' && mpfr_equal_p(expected, own) && mpfr_equal_p(expected, found) &&
                mpfr_number_p(expected);
    mpfr_clears(expected, found, own, (mpfr_ptr)0);
    return same ? NULL : fuzz_broken(fuzz, "number '%s' is read as %s", text, digits);
}

static const char *run(Fuzz *fuzz, const uint8_t *bytes, size_t size)
{
    char line[TEXT_MOST + 1];
    ValueList list = {0};
    Message message = {""};
    if (size > TEXT_MOST) {
        return fuzz_skip(fuzz);
    }
    memcpy(line, bytes, size);
    line[size] = '\0';
    char *text = strchr(line, '=');
    if (text == NULL) {
        return fuzz_skip(fuzz);
    }
    *text++ = '\0';
    Axis axis = axis_find(line);
    if (axis == AXIS_COUNT) {
        return fuzz_skip(fuzz);
    }
    const Domain *domain = &axis_info(axis)->domain;
    int status = values_read(&list, &message, domain, text);
    const char *why = status == 0   ? expect_list(fuzz, domain, &list)
                      : status == 2 ? expect_message(fuzz, &message)
                                    : fuzz_broken(fuzz, "status %d", status);
    if (why == NULL && axis == AXIS_OMEGA && text[strcspn(text, ",: \t")] == '\0') {
        why = expect_strtod(fuzz, text, status, &list);
    }
    values_clear(&list);
    return why != NULL ? why : expect_number(fuzz, text);
}

const FuzzSubject fuzz_values = {.name = "values", .run = run};
