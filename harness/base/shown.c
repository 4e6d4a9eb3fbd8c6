/*
 * The characters of a text that can be shown, and how others are written.
 */
#include "shown.h"
#include "text_stream.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- UTF-8 ---------------------------------------------------------------------------------- */

/* The code point that text[0 .. left-1] begins with; returns its bytes, 0: it begins with none. */
static size_t decode(uint32_t *point, const unsigned char *text, size_t left)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char lead = text[0];
    size_t length = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (length == 0 || length > left || lead > 0xf4) {
        return 0;
    }
    *point = length == 1 ? lead : lead & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80) {
            return 0;
        }
        *point = *point << 6 | (text[i] & 0x3fu);
    }
    bool surrogate = *point >= 0xd800 && *point < 0xe000;
    return *point < least[length] || *point > 0x10ffff || surrogate ? 0 : length;
}

/* Code points that are not seen, or change how others are, in order.  The last two of every plane
 * are noncharacters as well. */
static const struct {
    uint32_t first, last;
} unseen[] = {
    {0x0000, 0x001f},    {0x007f, 0x009f},   /* C0, DEL and C1 */
    {0x00ad, 0x00ad},    {0x034f, 0x034f},   /* the soft hyphen, the grapheme joiner */
    {0x061c, 0x061c},                        /* the Arabic letter mark */
    {0x115f, 0x1160},    {0x17b4, 0x17b5},   /* fillers, inherent vowels */
    {0x180b, 0x180f},                        /* Mongolian selectors */
    {0x200b, 0x200f},                        /* of no width; marks of direction */
    {0x2028, 0x202e},                        /* separators; embeddings and overrides */
    {0x2060, 0x206f},                        /* invisible operators; isolates */
    {0x3164, 0x3164},                        /* a filler */
    {0xe000, 0xf8ff},                        /* private use */
    {0xfdd0, 0xfdef},                        /* noncharacters */
    {0xfe00, 0xfe0f},    {0xfeff, 0xfeff},   /* variation selectors; the byte order mark */
    {0xffa0, 0xffa0},    {0xfff0, 0xfffb},   /* a filler; interlinear annotation */
    {0x1bca0, 0x1bca3},  {0x1d173, 0x1d17a}, /* controls of shorthand and of music */
    {0xe0000, 0xe0fff},                      /* tags and more selectors */
    {0xf0000, 0x10ffff},                     /* private use */
};

static bool is_seen(uint32_t point)
{
    for (size_t i = 0; i < sizeof unseen / sizeof *unseen; i++) {
        if (point >= unseen[i].first && point <= unseen[i].last) {
            return false;
        }
    }
    return (point & 0xfffe) != 0xfffe;
}

/* ---- Places --------------------------------------------------------------------------------- */

/* The most bytes that stand for one character of text, with a NUL. */
enum { STEP = 24 };

static const char *xml_entity(char c)
{
    switch (c) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&quot;";
    default: return NULL;
    }
}

/* Writes the first character of text[0 .. left-1], left > 0, as it is shown.  Returns its bytes
 * there. */
static size_t put_step(char out[STEP], ShownPlace place, const char *text, size_t left)
{
    uint32_t point = 0;
    size_t length = decode(&point, (const unsigned char *)text, left);
    if (length > 0 && is_seen(point)) {
        const char *entity = place == SHOWN_XML && length == 1 ? xml_entity(*text) : NULL;
        bool marked = place == SHOWN_MARKDOWN && strchr("\\`*_{}[]()<>#!|~&", *text) != NULL;
        if (entity != NULL) {
            strcpy(out, entity);
        } else {
            snprintf(out, STEP, "%s%.*s", marked ? "\\" : "", (int)length, text);
        }
        return length;
    }
    const bool markdown = place == SHOWN_MARKDOWN;
    if (length <= 1) {
        snprintf(out, STEP, markdown ? "\\\\x%02x" : "\\x%02x", (unsigned char)*text);
        return 1;
    }
    snprintf(out, STEP, markdown ? "\\\\u\\{%x\\}" : "\\u{%x}", (unsigned)point);
    return length;
}

/* ---- A shell's words ------------------------------------------------------------------------ */

static bool all_seen(const char *text, size_t left)
{
    for (size_t length; left > 0; text += length, left -= length) {
        uint32_t point = 0;
        length = decode(&point, (const unsigned char *)text, left);
        if (length == 0 || !is_seen(point)) {
            return false;
        }
    }
    return true;
}

static void write_word(FILE *file, const char *text, size_t length)
{
    static const char unquoted[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                   "+,-./:=@_";
    bool plain = length > 0 && strspn(text, unquoted) >= length, seen = all_seen(text, length);
    fputs(plain ? "" : seen ? "'" : "$'", file);
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        bool ascii = c >= 0x20 && c < 0x7f && c != '\'' && c != '\\';
        if (seen && c == '\'') {
            fputs("'\\''", file);
        } else if (seen || ascii) {
            putc(c, file);
        } else {
            fprintf(file, "\\%03o", c);
        }
    }
    fputs(plain ? "" : "'", file);
}

/* ---- Texts ---------------------------------------------------------------------------------- */

void shown_write_part(FILE *file, ShownPlace place, const char *text, size_t length)
{
    if (place == SHOWN_SHELL) {
        write_word(file, text, length);
        return;
    }
    for (size_t done = 0; done < length;) {
        char step[STEP];
        done += put_step(step, place, text + done, length - done);
        fputs(step, file);
    }
}

void shown_write(FILE *file, ShownPlace place, const char *text)
{
    shown_write_part(file, place, text, strlen(text));
}

char *shown_copy(ShownPlace place, const char *text)
{
    char *copy = NULL;
    size_t size = 0;
    FILE *stream = text_stream(&copy, &size);
    shown_write(stream, place, text);
    return text_close(stream, &copy);
}

Shown shown(const char *text)
{
    Shown result = {""};
    size_t used = 0, room = sizeof result.text - strlen("...");
    for (size_t taken, left = strlen(text); left > 0; text += taken, left -= taken) {
        char step[STEP];
        taken = put_step(step, SHOWN_TERMINAL, text, left);
        bool fits = used + strlen(step) < room;
        strcpy(result.text + used, fits ? step : "...");
        if (!fits) {
            break;
        }
        used += strlen(step);
    }
    return result;
}
