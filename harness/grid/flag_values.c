/*
 * Values of flags that are no axes.
 */
#include "flags.h"

#include "../base/message.h"
#include "../base/values.h"
#include "../models/positions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SHARDS_MOST 1000000

static Origin origin_of(const FlagInfo *flag)
{
    return (Origin){.flag = flag->name};
}

static void *place_of(RunOptions *run, const FlagInfo *flag)
{
    return (char *)run + flag->place;
}

int as_switch(RunOptions *run, const FlagInfo *flag, const char *text)
{
    (void)text;
    *(bool *)place_of(run, flag) = true;
    return 0;
}

int as_text(RunOptions *run, const FlagInfo *flag, const char *text)
{
    *(const char **)place_of(run, flag) = text;
    return 0;
}

int as_word(RunOptions *run, const FlagInfo *flag, const char *text)
{
    size_t count = 0;
    for (; flag->words[count] != NULL; count++) {
        if (strcmp(text, flag->words[count]) == 0) {
            return as_text(run, flag, text);
        }
    }
    return complain_unknown(origin_of(flag), text, NULL, flag->words, count, count);
}

/* *value = text, the one value of the domain that it is. */
static int read_one(AxisValue *value, const FlagInfo *flag, const Domain *domain, const char *text,
                    const char *expected)
{
    ValueList list = {0};
    Message message;
    int status = values_read(&list, &message, domain, text);
    if (status == 2) {
        complain_message(origin_of(flag), &message);
    } else if (list.count != 1) {
        status = complain(origin_of(flag), text, "expected %s", expected);
    } else {
        *value = list.values[0];
    }
    values_clear(&list);
    return status;
}

int as_integer(RunOptions *run, const FlagInfo *flag, const char *text)
{
    const Domain domain = {.kind = DOMAIN_INTEGER, .least = flag->least, .most = flag->most};
    AxisValue value = {0};
    int status = read_one(&value, flag, &domain, text, "one value");
    *(size_t *)place_of(run, flag) = value.integer;
    return status;
}

int as_real(RunOptions *run, const FlagInfo *flag, const char *text)
{
    static const Domain positive = {.kind = DOMAIN_POSITIVE};
    const char *expected = flag->least == 1 ? "one number, at least 1" : "one number above 0";
    AxisValue value = {0};
    int status = read_one(&value, flag, &positive, text, expected);
    *(double *)place_of(run, flag) = value.real;
    return status != 0 || value.real >= (double)flag->least
               ? status
               : complain(origin_of(flag), text, "expected %s", expected);
}

int as_size(RunOptions *run, const FlagInfo *flag, const char *text)
{
    static const char *const units[] = {"", "KiB", "MiB", "GiB", "TiB"};
    char *end = NULL;
    double size = *text >= '0' && *text <= '9' ? strtod(text, &end) : 0;
    for (size_t i = 0; end != NULL && size > 0 && i < sizeof units / sizeof *units; i++) {
        if (strcmp(end, units[i]) == 0 && isfinite(size)) {
            *(double *)place_of(run, flag) = size;
            return 0;
        }
        size *= 1024;
    }
    return complain(origin_of(flag), text,
                    "expected a size: bytes, or a number and KiB, MiB, GiB or TiB");
}

int as_shard(RunOptions *run, const FlagInfo *flag, const char *text)
{
    char *slash, *end;
    bool digits = *text != '\0' && text[strspn(text, "0123456789/")] == '\0';
    unsigned long shard = digits ? strtoul(text, &slash, 10) : 0;
    unsigned long shards = digits && *slash == '/' ? strtoul(slash + 1, &end, 10) : 0;
    if (shards == 0 || *end != '\0' || shards > SHARDS_MOST || shard < 1 || shard > shards) {
        return complain(origin_of(flag), text, "expected I/N, 1 <= I <= N <= %d", SHARDS_MOST);
    }
    run->shard = shard;
    run->shards = shards;
    return 0;
}

int as_positions(RunOptions *run, const FlagInfo *flag, const char *text)
{
    (void)as_text(run, flag, text);
    return positions_check(text);
}

int as_output(RunOptions *run, const FlagInfo *flag, const char *text)
{
    (void)flag;
    run->on_stdout = strcmp(text, "-") == 0;
    run->output = run->on_stdout ? NULL : text;
    return 0;
}
