/*
 * The program's tables as JSON.
 */
#include "dump.h"

#include "../base/message.h"
#include "../point/axes.h"

#include <jansson.h>
#include <stdbool.h>

int dump_write(FILE *file)
{
    json_t *axes = json_array();
    bool packed = axes != NULL;
    for (Axis axis = 0; axis < AXIS_COUNT && packed; axis++) {
        const AxisInfo *info = axis_info(axis);
        char standard[VALUE_TEXT];
        value_print(standard, &info->domain, info->standard);
        json_t *said = json_pack("{s:s, s:s?, s:s, s:b, s:s}", "name", info->name, "column",
                                 info->column, "default", standard, "words",
                                 info->domain.kind == DOMAIN_WORDS, "help", info->help);
        packed = json_array_append_new(axes, said) == 0;
    }
    json_t *all = json_pack("{s:o}", "axes", axes);
    packed = packed && all != NULL && json_dumpf(all, file, JSON_INDENT(1)) == 0;
    json_decref(all);
    putc('\n', file);
    return packed || ferror(file) ? 0 : memory_fault(); /* streams_finish tells of the stream */
}
