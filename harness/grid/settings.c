/*
 * Which axes a section sets, and to which values.
 */
#include "settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int setting_read(Section *section, Axis axis, const CommandInfo *command, Origin origin,
                 const char *text)
{
    const AxisInfo *info = axis_info(axis);
    Setting *setting = &section->settings[axis];
    if (!command_takes(command, axis)) {
        complain(origin, info->name, "expected no %s, which %s %s", info->name, command->name,
                 command->why_not != NULL ? command->why_not : "does not take");
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
    if (status == 0 && !command_takes_list(command, axis) && setting->list.count != 1) {
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
