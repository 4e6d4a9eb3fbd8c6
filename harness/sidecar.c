#include "sidecar.h"

#include "info.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* JSON is UTF-8; bytes that are not become \xNN. */
static json_t *text_value(const char *text)
{
    json_t *value = json_string(text);
    size_t length = strlen(text);
    char *escaped = value == NULL ? malloc(4 * length + 1) : NULL;
    if (escaped == NULL) {
        return value;
    }
    char *end = escaped;
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        end += sprintf(end, c < 0x80 ? "%c" : "\\x%02x", c);
    }
    *end = '\0';
    value = json_string(escaped);
    free(escaped);
    return value;
}

static json_t *date_value(void)
{
    char text[32] = "unknown";
    time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc) != NULL) {
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    }
    return json_string(text);
}

static json_t *arguments_value(int argc, char **argv)
{
    json_t *list = json_array();
    for (int i = 0; i < argc; i++) {
        if (json_array_append_new(list, text_value(argv[i])) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static json_t *command_value(const Point *point)
{
    char *text = NULL;
    size_t size = 0;
    json_t *value = NULL;
    FILE *stream = open_memstream(&text, &size);
    if (stream == NULL) {
        return NULL;
    }
    point_print_command(stream, point);
    int failed = ferror(stream);
    if (fclose(stream) == 0 && !failed) {
        value = text_value(text);
    }
    free(text);
    return value;
}

static json_t *points_value(const Grid *grid, const double *seconds)
{
    json_t *list = json_array();
    for (size_t i = 0; i < grid->count; i++) {
        json_t *point = json_object();
        int status = json_object_set_new(point, "section", text_value(grid->section[i])) |
                     json_object_set_new(point, "command", command_value(&grid->points[i]));
        if (seconds != NULL) {
            status |= json_object_set_new(point, "seconds", json_real(seconds[i]));
        }
        if ((json_array_append_new(list, point) | status) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static int add_facts(json_t *object)
{
    Fact facts[FACTS_MOST];
    size_t count = facts_read(facts);
    int status = 0;
    for (size_t i = 0; i < count; i++) {
        status |= json_object_set_new(object, facts[i].name, text_value(facts[i].text));
    }
    return status;
}

int sidecar_write(FILE *file, int argc, char **argv, const Grid *grid, const double *seconds)
{
    json_t *object = json_object();
    int status = json_object_set_new(object, "schema", json_integer(SIDECAR_SCHEMA)) |
                 json_object_set_new(object, "argv", arguments_value(argc, argv)) |
                 json_object_set_new(object, "date", date_value()) | add_facts(object) |
                 json_object_set_new(object, "points", points_value(grid, seconds));
    if (status != 0) {
        errno = ENOMEM;
    } else {
        status = json_dumpf(object, file, JSON_INDENT(1) | JSON_REAL_PRECISION(6));
        if (status == 0 && putc('\n', file) == EOF) {
            status = -1;
        }
    }
    json_decref(object);
    return status == 0 ? 0 : -1;
}
