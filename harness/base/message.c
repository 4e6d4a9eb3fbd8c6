/*
 * Complaints about input, told in one line with file, line and token.
 */
#include "message.h"

#include "shown.h"
#include "terminal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define TOKEN_SHOWN 400

static size_t quote(char *text, size_t size, const char *token, size_t length)
{
    static const char begin[] = "token '";
    size_t cut = length < TOKEN_SHOWN ? length : TOKEN_SHOWN;
    while (cut < length && ((unsigned char)token[cut] & 0xc0) == 0x80 && cut > TOKEN_SHOWN - 4) {
        cut--; /* not within a character */
    }
    if (token == NULL) {
        return 0;
    }
    strcpy(text, begin);
    size_t used = strlen(begin);
    used += shown_into(text + used, size - used, SHOWN_TERMINAL, token, cut);
    return used + (size_t)snprintf(text + used, size - used, cut < length ? "...': " : "': ");
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

/* A line on stderr, in one piece. */
static void print_shown(const char *text)
{
    char line[4 * sizeof((Message *)0)->text + 2];
    size_t used = shown_into(line, sizeof line - 1, SHOWN_TERMINAL, text, strlen(text));
    strcpy(line + used, "\n");
    fputs(line, stderr);
}

int complain_message(Origin origin, const Message *message)
{
    if (origin.file != NULL) {
        fprintf(stderr, "%s:%zu: ", shown(origin.file).text, origin.line);
    } else if (origin.flag != NULL) {
        fprintf(stderr, "headproof: --%s: ", origin.flag);
    } else {
        fputs("headproof: ", stderr);
    }
    print_shown(message->text);
    return 2;
}

int complain(Origin origin, const char *token, const char *format, ...)
{
    Message message;
    va_list arguments;
    va_start(arguments, format);
    compose(&message, token, token != NULL ? strlen(token) : 0, format, arguments);
    va_end(arguments);
    return complain_message(origin, &message);
}

int complain_of(const char *file, const char *kind, const char *name, const char *format, ...)
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
    print_shown(message.text);
    return 2;
}

void print_command_line(int argc, char *const *argv, const char *extra)
{
    for (int i = 0; i < argc; i++) {
        fputs(i > 0 ? " " : "", stderr);
        shown_write(stderr, SHOWN_SHELL, argv[i]);
        if (i == 1 && extra != NULL) {
            fprintf(stderr, " %s", extra);
        }
    }
    fputc('\n', stderr);
}

int failure_say(const char *why, int argc, char *const *argv)
{
    if (!terminal_is_one()) {
        fprintf(stderr, "headproof: %s; reproduce: ", why);
        print_command_line(argc, argv, NULL);
    }
    return 1;
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
