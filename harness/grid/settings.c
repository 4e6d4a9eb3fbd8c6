/*
 * Which axes a section sets, and to which values.
 */
#include "settings.h"

#include "../../memory/need.h"
#include "../base/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has_word(const Domain *domain, const char *text)
{
    for (size_t i = 0; i < domain->word_count; i++) {
        if (strcmp(domain->words[i], text) == 0) {
            return true;
        }
    }
    return false;
}

/* Does one name begin with the other, both being more than a letter or two? */
static bool names_alike(const char *a, const char *b)
{
    size_t m = strlen(a), n = strlen(b), shorter = m < n ? m : n;
    return shorter >= 3 && strncmp(a, b, shorter) == 0;
}

/* " (did you mean --normalization?)" where another axis has the word, as of `--norm none`, or
 * nothing. */
static Suggestion suggest_axis(const CommandInfo *command, Axis named, Origin origin,
                               const char *text)
{
    Suggestion suggestion = {""};
    Axis meant = 0;
    while (meant < AXIS_COUNT && !(meant != named && command_takes(command, meant) &&
                                   names_alike(axis_info(meant)->name, axis_info(named)->name) &&
                                   has_word(&axis_info(meant)->domain, text))) {
        meant++;
    }
    if (meant < AXIS_COUNT && !has_word(&axis_info(named)->domain, text)) {
        snprintf(suggestion.text, sizeof suggestion.text, " (did you mean %s%s?)",
                 origin.flag != NULL ? "--" : "", axis_info(meant)->name);
    }
    return suggestion;
}

int setting_read(Section *section, Axis axis, const CommandInfo *command, Origin origin,
                 const char *text)
{
    const AxisInfo *info = axis_info(axis);
    Setting *setting = &section->settings[axis];
    Suggestion other = suggest_axis(command, axis, origin, text);
    if (!command_takes(command, axis)) {
        return complain(origin, info->name, "expected no %s, which %s %s%s", info->name,
                        command->name,
                        command->why_not != NULL ? command->why_not : "does not take", other.text);
    }
    if (setting->given) {
        return complain(origin, text, "expected %s once", info->name);
    }
    setting->given = true;
    setting->origin = origin;
    setting->text = need_copy(text);
    Message message;
    int status = values_read(&setting->list, &message, &info->domain, text);
    if (status == 0 && !command_takes_list(command, axis) && setting->list.count != 1) {
        return complain(origin, text, "expected one value");
    }
    if (status == 2 && other.text[0] != '\0') {
        char expected[256];
        domain_describe(expected, sizeof expected, &info->domain);
        complain(origin, text, "expected %s%s", expected, other.text);
    } else if (status == 2) {
        complain_message(origin, &message);
    }
    return status;
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

void sections_add(SectionList *list, const char *name, Origin origin)
{
    list->sections = need_more(list->sections, list->count + 1, sizeof *list->sections);
    list->sections[list->count++] = (Section){.origin = origin, .name = need_copy(name)};
}

void sections_clear(SectionList *list)
{
    for (size_t i = 0; i < list->count; i++) {
        section_clear(&list->sections[i]);
    }
    free(list->sections);
    *list = (SectionList){0};
}
