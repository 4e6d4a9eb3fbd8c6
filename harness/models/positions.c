/*
 * The list behind `--positions` read, and counted in inputs of so many tokens.
 */
#include "positions.h"

#include "../../memory/need.h"
#include "../base/message.h"

#include <stdlib.h>
#include <string.h>

static const Origin flag = {.flag = "positions"};

/* Reads "3", "-1" or "3:7", and moves behind it and its comma.  false: it is none of these. */
static bool read_item(long ends[2], const char **text)
{
    char *end;
    for (int i = 0; i < 2; i++) {
        const char *digits = *text + (**text == '-');
        if (*digits < '0' || *digits > '9') {
            return false;
        }
        ends[i] = strtol(*text, &end, 10);
        *text = end;
        if (i == 0 && *end != ':') {
            ends[1] = ends[0];
            break;
        }
        *text += i == 0;
    }
    bool comma = **text == ',';
    *text += comma;
    return comma ? **text != '\0' : **text == '\0';
}

static bool is_word(const char *text)
{
    return strcmp(text, "all") == 0 || strcmp(text, "last") == 0;
}

int positions_check(const char *text)
{
    const char *next = text;
    bool ok = is_word(text) || *text != '\0';
    for (long ends[2]; ok && !is_word(text) && *next != '\0';) {
        ok = read_item(ends, &next);
    }
    return ok ? 0
              : complain(flag, text,
                         "expected all, last, or positions, 0 the first and -1 the last, and "
                         "ranges: 0,3:7,-1");
}

/* Where it is from the first; n or more: it is not there. */
static size_t place(long position, size_t n)
{
    return position < 0 ? n - 1 - (size_t)(-1 - position) : (size_t)position;
}

/* Marks what an item names by 1. */
static int mark(Positions *positions, const long ends[2], const char *text, const char *of)
{
    size_t n = positions->n, first = place(ends[0], n), last = place(ends[1], n);
    if (first >= n || last >= n) {
        return complain(flag, text, "expected 0 to %zu, or -%zu to -1: %s has %zu token%s", n - 1,
                        n, of, n, n == 1 ? "" : "s");
    }
    if (first > last) {
        return complain(flag, text, "expected no range that ends before it begins, of %zu tokens",
                        n);
    }
    for (size_t p = first; p <= last; p++) {
        positions->index[p] = 1;
    }
    return 0;
}

int positions_make(Positions *positions, const char *text, size_t n, const char *of)
{
    const char *list = strcmp(text, "all") == 0 ? "0:-1" : strcmp(text, "last") == 0 ? "-1" : text;
    *positions = (Positions){.n = n, .once = strcmp(text, "all") == 0};
    positions->index = need_zeros(n, sizeof *positions->index);
    int status = 0;
    for (long ends[2]; status == 0 && *list != '\0';) {
        status = read_item(ends, &list) ? mark(positions, ends, text, of) : positions_check(text);
    }
    for (size_t p = 0; status == 0 && p < n; p++) {
        positions->count += positions->index[p];
    }
    for (size_t p = 0, place = 0; status == 0 && p < n; p++) {
        positions->index[p] = positions->index[p] == 1 ? place++ : positions->count;
    }
    return status;
}

void positions_clear(Positions *positions)
{
    free(positions->index);
    *positions = (Positions){0};
}
