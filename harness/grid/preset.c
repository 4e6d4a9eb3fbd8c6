/*
 * Sizes of known models.
 */
#include "preset.h"

#include "../base/message.h"

#include <string.h>

/* GPT-2: Radford et al. 2019, table 2 and the published weights.  GPT-3:
 * Brown et al. 2020, table 2.1.  d_ff is 4 d in all of them. */
static const Preset presets[PRESET_COUNT] = {
    {"gpt2-small", {"1024", "768", "12", "64", "12"}, 50257},
    {"gpt2-medium", {"1024", "1024", "16", "64", "24"}, 50257},
    {"gpt2-large", {"1024", "1280", "20", "64", "36"}, 50257},
    {"gpt2-xl", {"1024", "1600", "25", "64", "48"}, 50257},
    {"gpt3-6.7b", {"2048", "4096", "32", "128", "32"}, 50257},
    {"gpt3", {"2048", "12288", "96", "128", "96"}, 50257},
};

void preset_names(const char *names[PRESET_COUNT])
{
    for (size_t i = 0; i < PRESET_COUNT; i++) {
        names[i] = presets[i].name;
    }
}

const Preset *preset_find(const char *name)
{
    const char *names[PRESET_COUNT];
    for (size_t i = 0; i < PRESET_COUNT; i++) {
        if (strcmp(presets[i].name, name) == 0) {
            return &presets[i];
        }
    }
    preset_names(names);
    complain_unknown((Origin){.flag = "preset"}, name, NULL, names, PRESET_COUNT, PRESET_COUNT);
    return NULL;
}

int preset_apply(Section *section, const Section *flags, const Preset *preset,
                 const CommandInfo *command)
{
    static const Axis axes[PRESET_AXES] = {AXIS_N, AXIS_D, AXIS_HEADS, AXIS_D_HEAD, AXIS_DEPTH};
    int status = 0;
    for (size_t i = 0; i < PRESET_AXES && status == 0; i++) {
        if (!flags->settings[axes[i]].given) {
            status = setting_read(section, axes[i], command, (Origin){.flag = "preset"},
                                  preset->values[i]);
        }
    }
    return status;
}
