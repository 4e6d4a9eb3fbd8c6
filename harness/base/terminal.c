/*
 * A terminal's width and colours.
 */
#define _DEFAULT_SOURCE /* TIOCGWINSZ */

#include "terminal.h"

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

size_t terminal_width_or(FILE *file, size_t most)
{
    int descriptor = fileno(file);
    bool terminal = descriptor >= 0 && isatty(descriptor);
    long asked = terminal ? 0 : width_by_environment();
    size_t width = terminal ? terminal_width(file) : most;
    return asked > 0 ? (size_t)asked : width < most ? width : most;
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
