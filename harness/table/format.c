/*
 * The table of formats, and lines of CSV cut into the cells that a format takes.
 */
#include <stdio.h> /* before mpfr.h: declares mpfr_snprintf */

#include "format.h"

#include "../../memory/need.h"
#include "../base/message.h"
#include "columns.h"
#include "table.h"

#include <errno.h>
#include <mpfr.h>
#include <stdlib.h>
#include <string.h>

const Format format_csv = {.name = "csv"};

static const Format *const formats[] = {FORMATS};

enum { FORMAT_COUNT = sizeof formats / sizeof *formats };

/* Digits enough for a number that is printed with three, and the longest mantissa that is left as
 * it is: "-1.23". */
enum { CELL_BITS = 64, MANTISSA_MOST = 5, FRACTION_MOST = 10 };

const Format *format_find(const char *name)
{
    for (size_t i = 0; name != NULL && i < FORMAT_COUNT; i++) {
        if (strcmp(formats[i]->name, name) == 0) {
            return formats[i];
        }
    }
    return name == NULL ? &format_csv : NULL;
}

size_t format_names(const char *names[FORMATS_MOST])
{
    _Static_assert((int)FORMAT_COUNT <= (int)FORMATS_MOST, "every name has a place");
    for (size_t i = 0; i < FORMAT_COUNT; i++) {
        names[i] = formats[i]->name;
    }
    return FORMAT_COUNT;
}

int format_check(const RunOptions *run)
{
    const Format *format = format_find(run->format);
    if (format == NULL) {
        const char *names[FORMATS_MOST];
        size_t count = format_names(names);
        return complain_unknown((Origin){.flag = "format"}, run->format, NULL, names, count, count);
    }
    const char *flag = run->resume       ? "--resume, which reads rows"
                       : run->shards > 0 ? "--shard: merge reads parts, and writes any format"
                                         : NULL;
    if (format != &format_csv && flag != NULL) {
        return complain((Origin){.flag = "format"}, run->format, "expected csv with %s", flag);
    }
    if (run->expand && flag != NULL) {
        return complain((Origin){.flag = "expand"}, "expand", "expected it without %s", flag);
    }
    return 0;
}

bool format_is_number(const char *text)
{
    static const char digits[] = "0123456789";
    text += *text == '-';
    size_t whole = strspn(text, digits), fraction = 1, exponent = 1;
    bool leads = *text == '0' && whole > 1; /* no 007 */
    text += whole;
    if (*text == '.') {
        fraction = strspn(++text, digits);
        text += fraction;
    }
    if (*text == 'e' || *text == 'E') {
        text++;
        text += *text == '-' || *text == '+';
        exponent = strspn(text, digits);
        text += exponent;
    }
    return whole > 0 && !leads && fraction > 0 && exponent > 0 && *text == '\0';
}

void format_short(char text[SHORT_TEXT], const FormatCell *cell)
{
    const char *exponent = strchr(cell->text, 'e');
    const char *digits = cell->text + strcspn(cell->text, "123456789");
    bool fraction = exponent == NULL && strchr(cell->text, '.') != NULL;
    bool few = fraction ? strlen(digits) <= FRACTION_MOST
                        : exponent == NULL || exponent - cell->text <= MANTISSA_MOST;
    if (few) {
        snprintf(text, SHORT_TEXT, "%s%s", cell->bound ? "<" : "", cell->text);
        return;
    }
    mpfr_t value;
    mpfr_init2(value, CELL_BITS);
    mpfr_strtofr(value, cell->text, NULL, 10, MPFR_RNDN);
    mpfr_rnd_t up = cell->bound ? MPFR_RNDU : MPFR_RNDN;
    const char *form = fraction ? "%s%.5R*g" : "%s%.2R*e";
    mpfr_snprintf(text, SHORT_TEXT, form, cell->bound ? "<" : "", up, value);
    mpfr_clear(value);
}

size_t format_column(const FormatTable *table, const char *name)
{
    size_t i = 0;
    while (i < table->count && strcmp(table->cells[i].name, name) != 0) {
        i++;
    }
    return i;
}

/* ---- Lines into cells ---------------------------------------------------------------------- */

void format_clear(FormatTable *table)
{
    if (table->format != NULL && table->format->clear != NULL) {
        table->format->clear(table);
    }
    free(table->header);
    free(table->texts);
    free(table->cells);
    *table = (FormatTable){0};
}

/* line: the table's from here on. */
static void take_header(FormatTable *table, char *line)
{
    table->count = 1;
    for (const char *at = line; *at != '\0'; at++) {
        table->count += *at == ',';
    }
    table->header = line;
    table->texts = need_zeros(table->count, sizeof *table->texts);
    table->cells = need_zeros(table->count, sizeof *table->cells);
    (void)table_cut(table->texts, table->count, line);
    for (size_t i = 0; i < table->count; i++) {
        const char *name = table->texts[i];
        table->cells[i] = (FormatCell){.name = name, .words = column_holds_text(name)};
    }
    table->bounds = format_column(table, BOUNDS_COLUMN);
}

/* false: the row has not as many cells as the header. */
static bool take_row(FormatTable *table, char *line)
{
    if (table_cut(table->texts, table->count, line) != table->count) {
        return false;
    }
    const char *bounds = table->bounds < table->count ? table->texts[table->bounds] : "";
    for (size_t i = 0; i < table->count; i++) {
        FormatCell *cell = &table->cells[i];
        cell->text = table->texts[i];
        cell->bound = bounds_has(bounds, cell->name);
    }
    table->format->row(table);
    table->rows++;
    return true;
}

int format_take(FormatTable *table, const char *lines)
{
    while (*lines != '\0') {
        size_t length = strcspn(lines, "\n");
        char *line = need_copy_of(lines, length);
        if (table->header == NULL) {
            take_header(table, line);
        } else {
            bool whole = take_row(table, line);
            free(line);
            if (!whole) {
                errno = EINVAL;
                return -1;
            }
        }
        lines += length + (lines[length] == '\n');
    }
    return ferror(table->file) ? -1 : 0;
}

int format_end(FormatTable *table)
{
    if (table->header != NULL && table->format->end != NULL) {
        table->format->end(table);
    }
    return ferror(table->file) ? -1 : 0;
}
