/*
 * Which axes a section sets, to which values, and what a command does with the rest.
 */
#include "settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *command_name(Command command)
{
    static const char *const names[] = {
        [COMMAND_SWEEP] = "sweep",         [COMMAND_DEPTH] = "depth",
        [COMMAND_MIN_OMEGA] = "min-omega", [COMMAND_EXPORT] = "export",
        [COMMAND_VERIFY] = "verify",       [COMMAND_CONVERT] = "convert",
        [COMMAND_COST] = "cost",           [COMMAND_CHECK] = "check",
        [COMMAND_ATTRIBUTE] = "attribute"};
    return names[command];
}

/* Sizes and counts hang on these alone. */
static bool changes_cost(Axis axis)
{
    switch (axis) {
    case AXIS_CONSTRUCTION:
    case AXIS_ACTIVATION:
    case AXIS_N:
    case AXIS_D:
    case AXIS_D_FF:
    case AXIS_HEADS:
    case AXIS_D_HEAD:
    case AXIS_DEPTH:
    case AXIS_WEIGHTS:
    case AXIS_BIAS:
    case AXIS_NORMALIZATION:
    case AXIS_LINEAR:
    case AXIS_GELU:
    case AXIS_HEAD_RANK: return true;
    default: return false;
    }
}

/* Axes whose values hang on n, which the inputs of verify and attribute decide. */
static bool hangs_on_inputs(Axis axis)
{
    return axis == AXIS_N || axis == AXIS_INPUT || axis == AXIS_DROP_ENTRY || axis == AXIS_ROW;
}

bool command_takes(Command command, Axis axis)
{
    switch (command) {
    case COMMAND_MIN_OMEGA: return axis != AXIS_OMEGA;
    case COMMAND_EXPORT: return axis != AXIS_ROW; /* it writes them all */
    case COMMAND_VERIFY: return !hangs_on_inputs(axis);
    case COMMAND_CONVERT: /* nothing is evaluated */
        return axis != AXIS_ARITHMETIC && axis != AXIS_KERNEL && axis != AXIS_REFERENCE &&
               axis < AXIS_REFERENCE_FORM;
    case COMMAND_ATTRIBUTE: /* of the reference's T' */
        return !hangs_on_inputs(axis) && axis != AXIS_ARITHMETIC && axis != AXIS_KERNEL &&
               axis != AXIS_REFERENCE && (axis < AXIS_REFERENCE_FORM || axis == AXIS_MAX_BITS);
    case COMMAND_COST: return changes_cost(axis);
    default: return true;
    }
}

/* Why the command has no such axis. */
static const char *not_taken(Command command)
{
    return command == COMMAND_COST        ? "does not depend on"
           : command == COMMAND_MIN_OMEGA ? "finds"
                                          : "does not take";
}

AxisValue command_standard(Command command, Axis axis)
{
    if (command == COMMAND_DEPTH && axis == AXIS_DEPTH) {
        return (AxisValue){.form = FORM_INTEGER, .integer = 96};
    }
    if (command == COMMAND_VERIFY && axis == AXIS_KERNEL) {
        return (AxisValue){.form = FORM_WORD, .integer = KERNEL_STRUCTURED};
    }
    if (command == COMMAND_EXPORT && axis == AXIS_REFERENCE) {
        return (AxisValue){.form = FORM_WORD, .integer = REFERENCE_SUBTRACT};
    }
    return axis_info(axis)->standard;
}

AxisValue command_default(Command command, const Point *point, Axis axis)
{
    bool own = axis == AXIS_DEPTH || axis == AXIS_KERNEL || axis == AXIS_REFERENCE;
    return own ? command_standard(command, axis) : point_default(point, axis);
}

int setting_read(Section *section, Axis axis, Command command, Origin origin, const char *text)
{
    const AxisInfo *info = axis_info(axis);
    Setting *setting = &section->settings[axis];
    if (!command_takes(command, axis)) {
        complain(origin, info->name, "expected no %s, which %s %s", info->name,
                 command_name(command), not_taken(command));
        return 2;
    }
    if (setting->given) {
        complain(origin, text, "expected %s once", info->name);
        return 2;
    }
    setting->given = true;
    setting->origin = origin;
    setting->text = strdup(text);
    if (setting->text == NULL) {
        return memory_fault();
    }
    Message message;
    int status = values_read(&setting->list, &message, &info->domain, text);
    if (status == 0 && info->scalar && setting->list.count != 1) {
        complain(origin, text, "expected one value");
        return 2;
    }
    if (status == 2) {
        complain_message(origin, &message);
    }
    return status == 99 ? memory_fault() : status;
}

void section_clear(Section *section)
{
    for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
        values_clear(&section->settings[axis].list);
        free(section->settings[axis].text);
    }
    free(section->name);
    memset(section, 0, sizeof *section);
}

Section *sections_add(SectionList *list, const char *name, Origin origin)
{
    Section *sections = realloc(list->sections, (list->count + 1) * sizeof *sections);
    if (sections == NULL) {
        memory_fault();
        return NULL;
    }
    list->sections = sections;
    Section *section = &sections[list->count];
    memset(section, 0, sizeof *section);
    section->origin = origin;
    section->name = strdup(name);
    if (section->name == NULL) {
        memory_fault();
        return NULL;
    }
    list->count++;
    return section;
}

void sections_clear(SectionList *list)
{
    for (size_t i = 0; i < list->count; i++) {
        section_clear(&list->sections[i]);
    }
    free(list->sections);
    *list = (SectionList){0};
}
