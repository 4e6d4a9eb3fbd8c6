/*
 * A picture as the bytes of a file.
 */
#include "render.h"

#include "caption.h"
#include "gnuplot.h"

#include "../../base/message.h"
#include "../../base/shown.h"
#include "../../base/text_stream.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How often a picture is drawn (take_last), and how long that may take. */
enum { DRAWN = 3, GNUPLOT_SECONDS = 300 };

static int render_script(char **text, size_t *size, const Picture *picture)
{
    FILE *file = text_stream(text, size);
    if (file == NULL) {
        return memory_fault();
    }
    fputs("# Written by headproof plot; gnuplot THIS >picture.svg draws it.\n", file);
    int status = script_write(file, picture, TARGET_SCRIPT);
    return fclose(file) == 0 && status == 0 ? 0 : memory_fault();
}

static int run_script(char **text, size_t *size, const Picture *picture, Target target)
{
    FILE *script = tmpfile();
    if (script == NULL) {
        fprintf(stderr, "headproof: no temporary file can be made: %s\n", strerror(errno));
        return 99;
    }
    int status = 0;
    for (size_t i = 0; i < DRAWN && status == 0; i++) {
        fputs(i > 0 ? "set output\nreset session\n" : "", script);
        status = script_write(script, picture, target);
    }
    if (status != 0) {
        fprintf(stderr, "headproof: a temporary file cannot be written: %s\n", strerror(errno));
    }
    status = status != 0 ? 99 : gnuplot_run(text, size, script, GNUPLOT_SECONDS);
    (void)fclose(script); /* nobody reads it any more */
    return status;
}

/* Behind the next bytes that a picture of the target ends with, and the newlines behind them; NULL:
 * there are none. */
static char *behind_picture(char *from, const char *end, Target target)
{
    static const char *const marks[] = {
        [TARGET_SVG] = "</svg>", [TARGET_PNG] = "IEND\xae\x42\x60\x82", [TARGET_PDF] = "%%EOF"};
    size_t length = strlen(marks[target]);
    for (; (size_t)(end - from) >= length; from++) {
        if (memcmp(from, marks[target], length) == 0) {
            for (from += length; from < end && *from == '\n'; from++) {
            }
            return from;
        }
    }
    return NULL;
}

/* Are pictures of the same length the same, but for the second in which a PDF was made? */
static bool are_alike(const char *a, const char *b, size_t size, Target target)
{
    static const char date[] = "/CreationDate";
    enum { DATE = 40 };
    for (size_t i = 0; i < size; i++) {
        bool dated = target == TARGET_PDF && i + DATE < size && a[i] == '/' &&
                     memcmp(a + i, date, strlen(date)) == 0;
        i += dated ? DATE : 0;
        if (a[i] != b[i]) {
            return false;
        }
    }
    return true;
}

/* gnuplot does not look whether what it writes arrives, so that a picture may lack a part.  Thus it
 * draws it three times; the first SVG of a run has what later ones lack, and those have to be the
 * same.  *text [*size] becomes the last. */
static bool take_last(char *text, size_t *size, Target target)
{
    char *at[DRAWN + 1] = {text}, *end = text + *size;
    for (size_t i = 0; i < DRAWN; i++) {
        at[i + 1] = behind_picture(at[i], end, target);
        if (at[i + 1] == NULL) {
            return false;
        }
    }
    *size = (size_t)(end - at[DRAWN - 1]);
    if (at[DRAWN] != end || (size_t)(at[DRAWN - 1] - at[DRAWN - 2]) != *size ||
        !are_alike(at[DRAWN - 2], at[DRAWN - 1], *size, target)) {
        return false;
    }
    memmove(text, at[DRAWN - 1], *size + 1);
    return true;
}

/* gnuplot leaves > as it is, and XML has no ]]> in a text. */
static void write_svg_text(FILE *file, const char *svg)
{
    for (const char *end; (end = strstr(svg, "]]>")) != NULL; svg = end + strlen("]]>")) {
        fprintf(file, "%.*s]]&gt;", (int)(end - svg), svg);
    }
    fputs(svg, file);
}

/* What gnuplot says of itself in an SVG, "<title>Gnuplot</title>\n<desc>...</desc>", makes room for
 * what the picture shows: readers of screens read that, and it tells whose file it is. */
static int describe_svg(char **text, size_t *size, const Picture *picture)
{
    const char *old = strstr(*text, "<title>"), *rest = strstr(*text, "</desc>");
    char title[CAPTION_LINE], *described = NULL;
    size_t length = 0;
    if (old == NULL || rest == NULL || rest < old) {
        return 0;
    }
    char *caption = caption_make(picture);
    FILE *file = caption == NULL ? NULL : text_stream(&described, &length);
    if (file == NULL) {
        free(caption);
        return memory_fault();
    }
    for (char *end = strchr(caption, '\n'); end != NULL; end = strchr(end, '\n')) {
        *end = ' ';
    }
    caption_title(title, sizeof title, picture);
    (void)fwrite(*text, 1, (size_t)(old - *text), file);
    fputs("<title>headproof plot: ", file);
    shown_write(file, SHOWN_XML, title);
    fputs("</title>\n<desc>", file);
    shown_write(file, SHOWN_XML, caption);
    write_svg_text(file, rest);
    free(caption);
    if (fclose(file) != 0) {
        return memory_fault();
    }
    free(*text);
    *text = described;
    *size = length;
    return 0;
}

int render(char **text, size_t *size, const Picture *picture, Target target)
{
    if (target == TARGET_SCRIPT) {
        return render_script(text, size, picture);
    }
    int status = run_script(text, size, picture, target);
    if (status == 0 && !take_last(*text, size, target)) {
        fputs("headproof: gnuplot made no whole picture\n", stderr);
        status = 99;
    }
    return status == 0 && target == TARGET_SVG ? describe_svg(text, size, picture) : status;
}
