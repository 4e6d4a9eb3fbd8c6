/*
 * Long lines broken between words.
 */
#include "wrapped.h"

#include "message.h"
#include "terminal.h"
#include "text_stream.h"

#include <stdlib.h>
#include <string.h>

FILE *wrapped_open(Wrapped *wrapped, FILE *to)
{
    *wrapped = (Wrapped){.to = to};
    wrapped->file = text_stream(&wrapped->text, &wrapped->size);
    return wrapped->file != NULL ? wrapped->file : stderr;
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

int wrapped_close(Wrapped *wrapped)
{
    size_t width = terminal_width_or(wrapped->to, WRAPPED_WIDTH);
    const char *text = text_close(wrapped->file, &wrapped->text, 0);
    if (text == NULL) {
        return memory_fault();
    }
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
    return 0;
}
