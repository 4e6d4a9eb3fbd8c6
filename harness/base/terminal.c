/*
 * A terminal's width and colours, and lines that fit.
 */
#define _DEFAULT_SOURCE /* TIOCGWINSZ */

#include "terminal.h"

#include "text_stream.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* The number that COLUMNS is; 0: it is none. */
static long width_by_environment(void)
{
    const char *text = getenv("COLUMNS");
    char *end = NULL;
    long width = text != NULL && *text >= '0' && *text <= '9' ? strtol(text, &end, 10) : 0;
    return end != NULL && *end == '\0' ? width : 0;
}

size_t terminal_width(FILE *file)
{
    struct winsize size = {0};
    int descriptor = fileno(file);
    if (descriptor < 0 || !isatty(descriptor)) {
        return TERMINAL_WIDTH;
    }
    long width = width_by_environment();
    if (width <= 0 && ioctl(descriptor, TIOCGWINSZ, &size) == 0) {
        width = size.ws_col;
    }
    if (width <= 0) {
        return TERMINAL_WIDTH;
    }
    return width < TERMINAL_LEAST  ? TERMINAL_LEAST
           : width > TERMINAL_MOST ? TERMINAL_MOST
                                   : (size_t)width;
}

bool terminal_is_one(void)
{
    return isatty(STDOUT_FILENO) && isatty(STDERR_FILENO);
}

bool terminal_has_colors(FILE *file, const char *when)
{
    const char *term = getenv("TERM"), *none = getenv("NO_COLOR");
    if (when != NULL && strcmp(when, "auto") != 0) {
        return strcmp(when, "always") == 0;
    }
    int descriptor = fileno(file);
    return (none == NULL || *none == '\0') && term != NULL && strcmp(term, "dumb") != 0 &&
           descriptor >= 0 && isatty(descriptor);
}

void terminal_write(FILE *file, Color color, const char *text)
{
    static const char *const codes[] = {
        [COLOR_GOOD] = "32", [COLOR_DOUBTFUL] = "33", [COLOR_BAD] = "31"};
    if (color == COLOR_NONE) {
        fputs(text, file);
    } else {
        fprintf(file, "\033[%sm%s\033[0m", codes[color], text);
    }
}

/* ---- Long lines broken between words --------------------------------------------------------- */

FILE *wrapped_open(Wrapped *wrapped, FILE *to)
{
    *wrapped = (Wrapped){.to = to};
    wrapped->file = text_stream(&wrapped->text, &wrapped->size);
    return wrapped->file;
}

/* One line [length], without its end. */
static void write_line(FILE *file, const char *line, size_t length, size_t width)
{
    size_t at = 0, column = 0;
    while (at < length) {
        size_t blanks = strspn(line + at, " ");
        size_t word = strcspn(line + at + blanks, " \n");
        bool fits = column == 0 || column + blanks + word <= width;
        fprintf(file, fits ? "%*s" : "\n  %.*s", fits ? (int)blanks : 0, "");
        fwrite(line + at + blanks, 1, word, file);
        column = fits ? column + blanks + word : 2 + word;
        at += blanks + word;
    }
    fputc('\n', file);
}

void wrapped_close(Wrapped *wrapped)
{
    /* At most WRAPPED_WIDTH; of everything that is no terminal that, or what COLUMNS says. */
    bool terminal = fileno(wrapped->to) >= 0 && isatty(fileno(wrapped->to));
    long asked = terminal ? 0 : width_by_environment();
    size_t width = terminal ? terminal_width(wrapped->to) : WRAPPED_WIDTH;
    width = asked > 0 ? (size_t)asked : width < WRAPPED_WIDTH ? width : WRAPPED_WIDTH;
    const char *text = text_close(wrapped->file, &wrapped->text);
    for (const char *line = text; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        if (length <= width) {
            fprintf(wrapped->to, "%.*s\n", (int)length, line);
        } else {
            write_line(wrapped->to, line, length, width);
        }
        line += length + (line[length] == '\n');
    }
    free(wrapped->text);
    fflush(wrapped->to);
}
