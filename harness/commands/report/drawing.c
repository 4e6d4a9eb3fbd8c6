/*
 * The picture of a table inside a page.
 */
#include "drawing.h"

#include "section.h"

#include "../../base/message.h"
#include "../../base/text_stream.h"
#include "../plot/bars.h"
#include "../plot/gnuplot.h"
#include "../plot/render.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* Copies an SVG without what stands before it; names of its parts begin with the picture's own. */
static void write_svg(FILE *file, const char *svg, size_t number)
{
    double left, top, width = 0, height;
    const char *box = strstr(svg, "viewBox=\"");
    const char *rest = strstr(svg, "<svg");
    if (box == NULL || rest == NULL ||
        sscanf(box, "viewBox=\"%lf %lf %lf %lf", &left, &top, &width, &height) != 4) {
        return;
    }
    fprintf(file, "<figure><svg role=\"img\" style=\"max-width:%.0fpx;min-width:%.0fpx\"", width,
            fmin(width, 640));
    for (rest += strlen("<svg"); *rest != '\0'; rest++) {
        putc(*rest, file);
        bool opens = *rest == '#' || ((*rest == '"' || *rest == '\'') && rest[-1] == '=' &&
                                      rest[-2] == 'd' && rest[-3] == 'i');
        if (opens && is_name(rest + 1)) {
            fprintf(file, "f%zu-", number + 1);
        }
    }
    fputs("</figure>\n", file);
}

static int write_bars(FILE *file, const Picture *picture)
{
    char *text = NULL;
    size_t size = 0;
    FILE *bars = text_stream(&text, &size);
    int status = bars == NULL ? -1 : bars_print(bars, picture);
    if (text_close(bars, &text, status) == NULL) {
        return memory_fault();
    }
    fputs("<figure><pre>", file);
    for (char *line = text, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        *end = '\0';
        section_text(file, line);
        putc('\n', file);
    }
    fputs("</pre></figure>\n", file);
    free(text);
    return 0;
}

int drawing_write(FILE *file, const char *path, size_t number)
{
    const PictureWish wish = {.error = -1, .tolerance = NAN};
    PlotData data = {0};
    Picture picture = {0};
    char *name = strdup(path), *svg = NULL;
    size_t size = 0;
    int status = name == NULL ? memory_fault() : plot_data_read(&data, &name, 1, NORM_COUNT);
    status = status != 0 ? status : picture_make(&picture, &data, &wish);
    status = status != 0 ? status : render(&svg, &size, &picture, TARGET_SVG);
    if (status == EXIT_ABSENT) {
        status = write_bars(file, &picture);
    } else if (status == 0) {
        write_svg(file, svg, number);
    }
    free(svg);
    free(name);
    picture_clear(&picture);
    plot_data_clear(&data);
    return status == 99 ? 99 : 0; /* 2: nothing to draw, which was said */
}
