/*
 * The picture of a table inside a page.
 */

#include "section.h"

#include "../../../memory/need.h"
#include "../../base/message.h"
#include "../../base/text_stream.h"

#include <stdlib.h>
#include <string.h>

/* The width of a picture for telephones of 375 pixels, in pixels. */
enum { NARROW = 343 };

/* Is a name of gnuplot's own here, behind "id='", "'#" or the like? */
static bool is_name(const char *text)
{
    static const char *const names[] = {"gp", "gnuplot", "textbox", "greybox"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strncmp(text, names[i], strlen(names[i])) == 0) {
            return true;
        }
    }
    return false;
}

/* Copies an SVG without what stands before it, as a figure of that class; names of its parts begin
 * with the picture's own, and curves, which gnuplot names twice, have none. */
static void write_svg(FILE *file, const char *svg, const char *class, size_t number)
{
    static const char curve[] = " id=\"gnuplot_plot";
    double left, top, width = 0, height;
    const char *box = strstr(svg, "viewBox=\"");
    const char *rest = strstr(svg, "<svg");
    if (box == NULL || rest == NULL ||
        sscanf(box, "viewBox=\"%lf %lf %lf %lf", &left, &top, &width, &height) != 4) {
        return;
    }
    fprintf(file, "<figure class=\"%s\"><svg role=\"img\" style=\"max-width:%.0fpx\"", class,
            width);
    for (rest += strlen("<svg"); *rest != '\0'; rest++) {
        if (strncmp(rest, curve, strlen(curve)) == 0) {
            rest += strlen(curve) + strcspn(rest + strlen(curve), "\"");
            continue;
        }
        putc(*rest, file);
        bool opens = *rest == '#' || ((*rest == '"' || *rest == '\'') && rest[-1] == '=' &&
                                      rest[-2] == 'd' && rest[-3] == 'i');
        if (opens && is_name(rest + 1)) {
            fprintf(file, "f%zu-", number + 1);
        }
    }
    fputs("</figure>\n", file);
}

/* The picture in letters, or of one point what there is to be said. */
static void write_text(FILE *file, const Picture *picture)
{
    bool point = picture_is_point(picture);
    char *text = NULL;
    size_t size = 0;
    FILE *stream = text_stream(&text, &size);
    text_print(stream, picture);
    (void)text_close(stream, &text);
    fputs(point ? "<p>" : "<figure><pre>", file);
    for (char *line = text, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        *end = '\0';
        section_text(file, line);
        putc('\n', file);
    }
    fputs(point ? "</p>\n" : "</pre></figure>\n", file);
    free(text);
}

/* One picture, of that width; *last: there is no other, since this is text. */
static int write_picture(FILE *file, const Measures *data, const PictureWish *wish, size_t number,
                         bool *last)
{
    Picture picture = {0};
    char *svg = NULL;
    size_t size = 0;
    int status = picture_make(&picture, data, wish);
    *last = status != 0 || picture_is_point(&picture);
    if (!*last) {
        status = render(&svg, &size, &picture, TARGET_SVG);
        *last = status != 0;
    }
    if (status == EXIT_ABSENT || (status == 0 && *last)) {
        write_text(file, &picture);
    } else if (status == 0) {
        write_svg(file, svg, wish->width > 0 ? "narrow" : "broad", number);
    }
    free(svg);
    picture_clear(&picture);
    return status;
}

int drawing_write(FILE *file, const char *path, const PictureWish *wish, size_t number)
{
    PictureWish wishes[] = {*wish, *wish};
    Measures data = {0};
    char *name = need_copy(path);
    bool last = false;
    int status = measures_read(&data, &name, 1, NORM_COUNT);
    wishes[1].width = NARROW;
    for (size_t i = 0; i < 2 && status == 0 && !last; i++) {
        status = write_picture(file, &data, &wishes[i], 2 * number + i, &last);
    }
    free(name);
    measures_clear(&data);
    return status == 99 ? 99 : 0; /* 2: nothing to draw, which was said */
}
