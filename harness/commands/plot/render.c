/*
 * A picture as the bytes of a file.
 */
#include "render.h"

#include "caption.h"
#include "gnuplot.h"
#include "script.h"

#include "../../base/message.h"
#include "../../base/shown.h"
#include "../../base/text_stream.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int render_script(char **text, size_t *size, const Picture *picture)
{
    FILE *file = text_stream(text, size);
    if (file == NULL) {
        return memory_fault();
    }
    fputs("# Written by headproof plot; gnuplot THIS >picture.svg draws it.\n", file);
    int status = script_write(file, picture, DEVICE_SVG);
    return fclose(file) == 0 && status == 0 ? 0 : memory_fault();
}

static int run_script(char **text, size_t *size, const Picture *picture, Device device)
{
    FILE *script = tmpfile();
    if (script == NULL) {
        fprintf(stderr, "headproof: no temporary file can be made: %s\n", strerror(errno));
        return 99;
    }
    int status = script_write(script, picture, device);
    if (status != 0) {
        fprintf(stderr, "headproof: a temporary file cannot be written: %s\n", strerror(errno));
    }
    status = status != 0 ? 99 : gnuplot_run(text, size, script);
    (void)fclose(script); /* nobody reads it any more */
    return status;
}

/* Ends a picture as its format does?  A disk or a pipe may have cut it off. */
static bool is_whole(const char *text, size_t size, Target target)
{
    static const struct {
        const char *bytes;
        size_t length;
    } ends[] = {
        [TARGET_SVG] = {"</svg>", 6}, [TARGET_PNG] = {"IEND", 4}, [TARGET_PDF] = {"%%EOF", 5}};
    for (size_t i = 0; i < 16 && i + ends[target].length <= size; i++) {
        if (memcmp(text + size - i - ends[target].length, ends[target].bytes,
                   ends[target].length) == 0) {
            return true;
        }
    }
    return false;
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
    static const Device devices[] = {DEVICE_SVG, DEVICE_PNG, DEVICE_PDF};
    if (target == TARGET_SCRIPT) {
        return render_script(text, size, picture);
    }
    int status = run_script(text, size, picture, devices[target]);
    if (status == 0 && !is_whole(*text, *size, target)) {
        fputs("headproof: gnuplot made no whole picture\n", stderr);
        status = 99;
    }
    return status == 0 && target == TARGET_SVG ? describe_svg(text, size, picture) : status;
}
