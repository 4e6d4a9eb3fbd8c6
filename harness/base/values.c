/*
 * Lists and ranges of values read from text.
 */
#include "values.h"

#include "../../memory/need.h"
#include "decimal.h"
#include "message.h"
#include "text_stream.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Exact powers of a factor grow with the range; beyond this the range is refused. */
#define FACTOR_BITS_MOST 65536

#define BLANKS " \t"

_Static_assert(ULONG_MAX == UINT64_MAX, "GMP's unsigned long must hold a seed");

typedef struct {
    ValueList *list;
    const Domain *domain;
    Message *message;
    char *item;  /* the one being read, without the blanks around it, */
    bool spaced; /* where a path would have some */
} Reader;

static int refuse(const Reader *reader, const char *token, const char *expected)
{
    message_token(reader->message, token, strlen(token), "expected %s", expected);
    return 2;
}

static int refuse_item(const Reader *reader, const char *expected)
{
    return refuse(reader, reader->item, expected);
}

static int push(Reader *reader, AxisValue value)
{
    ValueList *list = reader->list;
    if (list->count == VALUES_MOST) {
        return refuse_item(reader, "at most 1000000 values in a list");
    }
    if (list->count == list->capacity) {
        size_t capacity = list->capacity == 0 ? 8 : 2 * list->capacity;
        list->values = need_more(list->values, capacity, sizeof *list->values);
        list->capacity = capacity;
    }
    list->values[list->count++] = value;
    return 0;
}

/* Refuses an item that is no value of the domain. */
static int reject(const Reader *reader)
{
    char expected[256];
    const Domain *domain = reader->domain;
    const char *item = reader->item;
    domain_describe(expected, sizeof expected, domain);
    message_token(reader->message, item, strlen(item), "expected %s%s", expected,
                  suggest(item, domain->words, domain->word_count).text);
    return 2;
}

static int push_integer(Reader *reader, mpq_srcptr value, ValueForm form)
{
    const Domain *domain = reader->domain;
    if (mpz_cmp_ui(mpq_denref(value), 1) != 0 || !mpz_fits_ulong_p(mpq_numref(value)) ||
        mpz_cmp_ui(mpq_numref(value), domain->least) < 0 ||
        mpz_cmp_ui(mpq_numref(value), domain->most) > 0) {
        return reject(reader);
    }
    return push(reader, (AxisValue){.form = form, .integer = mpz_get_ui(mpq_numref(value))});
}

static int push_number(Reader *reader, mpq_srcptr value)
{
    if (reader->domain->kind == DOMAIN_INTEGER) {
        return push_integer(reader, value, FORM_INTEGER);
    }
    AxisValue number = {.form = FORM_REAL};
    DecimalStatus status = decimal_round(&number.real, value);
    if (status != DECIMAL_OK) {
        return refuse_item(reader, decimal_expected(status));
    }
    return mpq_sgn(value) > 0 ? push(reader, number) : reject(reader);
}

/* What is wrong with a range from a by that step, or by that factor; NULL: nothing. */
static const char *step_fault(mpq_srcptr a, mpq_srcptr step, bool product)
{
    if (product) {
        return mpq_cmp_ui(step, 1, 1) <= 0 ? "a factor above 1"
               : mpq_sgn(a) <= 0           ? "a range by a factor to start above zero"
                                           : NULL;
    }
    return mpq_sgn(step) == 0  ? "a step that is not zero"
           : mpq_sgn(step) < 0 ? "a step above zero"
                               : NULL;
}

/* a, then a + step or a * step, ... up to b. */
static int push_range(Reader *reader, mpq_ptr a, mpq_srcptr b, mpq_srcptr step, bool product)
{
    const char *fault = step_fault(a, step, product);
    int status = 0;
    mpq_t span;
    mpq_init(span);
    mpq_sub(span, b, a);
    if (fault == NULL && !product) {
        mpq_div(span, span, step);
        fault = mpq_cmp_ui(span, VALUES_MOST, 1) < 0 ? NULL : "a range of at most 1000000 values";
    }
    mpq_clear(span);
    while (fault == NULL && status == 0 && mpq_cmp(a, b) <= 0) {
        size_t bits = mpz_sizeinbase(mpq_numref(a), 2) + mpz_sizeinbase(mpq_denref(a), 2);
        fault = bits > FACTOR_BITS_MOST ? "a range of fewer values (a larger factor)" : NULL;
        status = fault == NULL ? push_number(reader, a) : 0;
        (product ? mpq_mul : mpq_add)(a, a, step);
    }
    return fault != NULL ? refuse_item(reader, fault) : status;
}

static int read_part(Reader *reader, mpq_ptr value, const char *part)
{
    if (*part == '\0') {
        return refuse_item(reader, "v, a:b, a:b:step or a:b:*factor");
    }
    DecimalStatus status = decimal_read(value, part);
    return status == DECIMAL_OK ? 0 : refuse(reader, part, decimal_expected(status));
}

static int read_words(Reader *reader, bool *found)
{
    const Domain *domain = reader->domain;
    bool all = domain->all && strcmp(reader->item, "all") == 0;
    int status = 0;
    *found = all;
    reader->list->all = reader->list->all || all;
    for (size_t i = 0; i < domain->word_count && status == 0; i++) {
        if ((all && i >= domain->all_from) || strcmp(reader->item, domain->words[i]) == 0) {
            *found = true;
            status = push(reader, (AxisValue){.form = FORM_WORD, .integer = i});
        }
    }
    return status;
}

/* Cuts text at its colons; returns how many parts there are, or 0: too many. */
static size_t cut(char *parts[3], char *text)
{
    size_t count = 0;
    for (char *next = text; next != NULL; text = next) {
        if (count == 3) {
            return 0;
        }
        next = strchr(text, ':');
        if (next != NULL) {
            *next++ = '\0';
        }
        parts[count++] = text;
    }
    return count;
}

/* A number, a multiple such as 4D, or a range. */
static int read_parts(Reader *reader, char *const parts[3], size_t count)
{
    char *last = parts[count - 1];
    const size_t length = strlen(last);
    const bool multiple = count == 1 && reader->domain->unit != 0 && length > 1 &&
                          last[length - 1] == reader->domain->unit;
    const bool product = count == 3 && *last == '*';
    if (multiple) {
        last[length - 1] = '\0';
    }
    mpq_t ends[3];
    int status = 0;
    for (size_t i = 0; i < 3; i++) {
        mpq_init(ends[i]);
        mpq_set_ui(ends[i], 1, 1);
    }
    for (size_t i = 0; i < count && status == 0; i++) {
        status = read_part(reader, ends[i], parts[i] + (product && i == 2));
    }
    status = status != 0  ? status
             : multiple   ? push_integer(reader, ends[0], FORM_MULTIPLE)
             : count == 1 ? push_number(reader, ends[0])
             : mpq_cmp(ends[0], ends[1]) > 0
                 ? refuse_item(reader, "a range that ascends (a <= b in a:b)")
                 : push_range(reader, ends[0], ends[1], ends[2], product);
    for (size_t i = 0; i < 3; i++) {
        mpq_clear(ends[i]);
    }
    return status;
}

static int read_numbers(Reader *reader)
{
    char *parts[3], *copy = need_copy(reader->item);
    const size_t count = cut(parts, copy);
    int status = count > 0 ? read_parts(reader, parts, count)
                           : refuse_item(reader, "v, a:b, a:b:step or a:b:*factor");
    free(copy);
    return status;
}

static bool is_path(const char *item)
{
    return access(item, F_OK) == 0 || strchr(item, '/') != NULL ||
           text_ends_in(item, ".safetensors") || text_ends_in(item, ".safetensors.index.json");
}

/* True for a path that needs no escapes in a cell of CSV, among options (whose separator is a
 * semicolon) or between a shell's quotes.  A comma has parted it before. */
static bool is_plain(const char *item)
{
    for (const char *c = item; *c != '\0'; c++) {
        if ((*c >= 0 && *c < 0x20) || strchr("\177\"'`;", *c) != NULL) {
            return false;
        }
    }
    return strlen(item) < VALUE_TEXT;
}

/* A blank at an end would be part of a file's name, and name another file without it. */
static int read_path(Reader *reader)
{
    if (reader->spaced) {
        return refuse_item(reader, "a path without a blank before or behind it");
    }
    if (!is_plain(reader->item)) {
        return refuse_item(reader, "a path of at most 4095 bytes without quotes, semicolons "
                                   "and control characters");
    }
    char *path = need_copy(reader->item);
    int status = push(reader, (AxisValue){.form = FORM_PATH, .path = path});
    if (status != 0) {
        free(path);
    }
    return status;
}

static int read_item(Reader *reader)
{
    if (*reader->item == '\0') {
        return refuse_item(reader, "a value, not an empty one");
    }
    bool word = false;
    int status = read_words(reader, &word);
    if (word) {
        return status;
    }
    const Domain *domain = reader->domain;
    if (domain->paths && is_path(reader->item)) {
        return read_path(reader);
    }
    bool letter = strchr("+-.0123456789:", *reader->item) == NULL;
    bool word_meant = domain->kind == DOMAIN_WORDS || (domain->word_count > 0 && letter);
    return word_meant ? reject(reader) : read_numbers(reader);
}

/* By value, then by place in the list. */
static int compare_places(const void *a, const void *b)
{
    const AxisValue *const *left = a, *const *right = b;
    int order = value_compare(*left, *right);
    return order != 0 ? order : (*left > *right) - (*left < *right);
}

/* Refuses a list with a value that is there twice, and names the first of them in the list. */
static int check_repeats(const Reader *reader, const char *text)
{
    const ValueList *list = reader->list;
    const AxisValue **sorted = need_room(list->count, sizeof *sorted), *first = NULL;
    for (size_t i = 0; i < list->count; i++) {
        sorted[i] = &list->values[i];
    }
    qsort((void *)sorted, list->count, sizeof *sorted, compare_places);
    for (size_t i = 1; i < list->count; i++) {
        bool repeats = value_compare(sorted[i - 1], sorted[i]) == 0;
        first = repeats && (first == NULL || sorted[i] < first) ? sorted[i] : first;
    }
    free((void *)sorted);
    if (first == NULL) {
        return 0;
    }
    char value[VALUE_TEXT];
    value_print(value, reader->domain, *first);
    message_token(reader->message, text, strlen(text), "expected every value once, %s is repeated",
                  value);
    return 2;
}

int values_read(ValueList *list, Message *message, const Domain *domain, const char *text)
{
    Reader reader = {.list = list, .domain = domain, .message = message};
    char *copy = need_copy(text);
    int status = 0;
    for (char *item = copy, *next; item != NULL && status == 0; item = next) {
        next = strchr(item, ',');
        if (next != NULL) {
            *next++ = '\0';
        }
        size_t before = strspn(item, BLANKS), length = strlen(item + before), kept = length;
        while (kept > 0 && strchr(BLANKS, item[before + kept - 1]) != NULL) {
            kept--;
        }
        reader.item = item + before;
        reader.item[kept] = '\0';
        reader.spaced = kept < length || (before > 0 && list->count == 0);
        status = read_item(&reader);
    }
    free(copy);
    return status != 0 ? status : check_repeats(&reader, text);
}

void values_clear(ValueList *list)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->values[i].form == FORM_PATH) {
            free((char *)list->values[i].path);
        }
    }
    free(list->values);
    *list = (ValueList){0};
}
