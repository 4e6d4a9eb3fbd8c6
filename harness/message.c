#include "message.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define TOKEN_SHOWN 400

static size_t quote(char *text, size_t size, const char *token, size_t length)
{
    size_t used = (size_t)snprintf(text, size, "token '");
    size_t shown = length < TOKEN_SHOWN ? length : TOKEN_SHOWN;
    for (size_t i = 0; i < shown; i++) {
        unsigned char c = (unsigned char)token[i];
        const char *format = c < 0x20 || c == 0x7f ? "\\x%02x" : "%c";
        used += (size_t)snprintf(text + used, size - used, format, c);
    }
    const char *end = shown < length ? "...': " : "': ";
    return used + (size_t)snprintf(text + used, size - used, "%s", end);
}

static void compose(Message *message, const char *token, size_t length, const char *format,
                    va_list arguments)
{
    _Static_assert(sizeof message->text > 4 * TOKEN_SHOWN + 100, "a token escaped must fit");
    size_t used = quote(message->text, sizeof message->text, token, length);
    vsnprintf(message->text + used, sizeof message->text - used, format, arguments);
}

void message_token(Message *message, const char *token, size_t length, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    compose(message, token, length, format, arguments);
    va_end(arguments);
}

void complain_message(Origin origin, const Message *message)
{
    if (origin.file != NULL) {
        fprintf(stderr, "%s:%zu: %s\n", origin.file, origin.line, message->text);
    } else if (origin.flag != NULL) {
        fprintf(stderr, "headproof: --%s: %s\n", origin.flag, message->text);
    } else {
        fprintf(stderr, "headproof: %s\n", message->text);
    }
}

void complain(Origin origin, const char *token, const char *format, ...)
{
    Message message;
    va_list arguments;
    va_start(arguments, format);
    compose(&message, token, strlen(token), format, arguments);
    va_end(arguments);
    complain_message(origin, &message);
}

/* C0, DEL, and C1 as UTF-8 has it: both its bytes. */
static bool is_control(const unsigned char *text, size_t i)
{
    size_t lead = i > 0 && text[i - 1] == 0xc2 ? i - 1 : i;
    bool c1 = text[lead] == 0xc2 && text[lead + 1] >= 0x80 && text[lead + 1] < 0xa0;
    return text[i] < 0x20 || text[i] == 0x7f || c1;
}

static void print_escaped(const char *text)
{
    char line[4 * sizeof((Message *)0)->text + 2], *end = line;
    const unsigned char *bytes = (const unsigned char *)text;
    for (size_t i = 0; bytes[i] != '\0'; i++) {
        end += sprintf(end, is_control(bytes, i) ? "\\x%02x" : "%c", bytes[i]);
    }
    strcpy(end, "\n");
    fputs(line, stderr);
}

void complain_of(const char *file, const char *kind, const char *name, const char *format, ...)
{
    Message message;
    size_t size = sizeof message.text;
    int used = snprintf(message.text, size, "%.*s: ", TOKEN_SHOWN, file);
    if (name != NULL) {
        const char *end = strlen(name) > TOKEN_SHOWN ? "..." : "";
        used += snprintf(message.text + used, size - (size_t)used, "%s '%.*s%s': ", kind,
                         TOKEN_SHOWN, name, end);
    }
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message.text + used, size - (size_t)used, format, arguments);
    va_end(arguments);
    print_escaped(message.text);
}

static void print_argument(const char *text)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                "+,-./:=@_";
    if (*text != '\0' && text[strspn(text, plain)] == '\0') {
        fputs(text, stderr);
        return;
    }
    fputc('\'', stderr);
    for (; *text != '\0'; text++) {
        fputs(*text == '\'' ? "'\\''" : (char[]){*text, '\0'}, stderr);
    }
    fputc('\'', stderr);
}

void print_command_line(int argc, char *const *argv, const char *extra)
{
    for (int i = 0; i < argc; i++) {
        fputs(i > 0 ? " " : "", stderr);
        print_argument(argv[i]);
        if (i == 1 && extra != NULL) {
            fprintf(stderr, " %s", extra);
        }
    }
    fputc('\n', stderr);
}

int memory_fault(void)
{
    fputs("headproof: memory is short\n", stderr);
    return 99;
}

int file_fault(int error)
{
    bool machine = error == EIO || error == ENOMEM || error == EMFILE || error == ENFILE ||
                   error == ENOSPC || error == EDQUOT;
    return machine ? 99 : 2;
}

#define NAME_MOST 32

/* Levenshtein's distance; tokens longer than any name are far. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t m = strlen(a), n = strlen(b);
    size_t row[NAME_MOST + 1];
    if (m > NAME_MOST || n > NAME_MOST) {
        return NAME_MOST;
    }
    for (size_t j = 0; j <= n; j++) {
        row[j] = j;
    }
    for (size_t i = 1; i <= m; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t best = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            best = row[j] + 1 < best ? row[j] + 1 : best;
            row[j] = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
        }
    }
    return row[n];
}

const char *nearest_name(const char *token, const char *const *names, size_t count)
{
    const char *nearest = NULL;
    size_t length = strlen(token), least = length < 4 ? 2 : 3;
    for (size_t i = 0; i < count; i++) {
        size_t distance = names[i] == NULL ? NAME_MOST : edit_distance(token, names[i]);
        if (names[i] != NULL && length > 1 && strncmp(token, names[i], length) == 0) {
            distance = 1;
        }
        if (distance < least) {
            least = distance;
            nearest = names[i];
        }
    }
    return nearest;
}
