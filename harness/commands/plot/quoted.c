/*
 * A string in single quotes.
 */
#include "quoted.h"

void quoted_write(FILE *file, const char *text)
{
    putc('\'', file);
    for (; *text != '\0'; text++) {
        fputs(*text == '\'' ? "'" : "", file);
        putc(*text == '\n' ? ' ' : *text, file);
    }
    putc('\'', file);
}
