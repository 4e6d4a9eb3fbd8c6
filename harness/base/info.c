/*
 * Facts about build, machine and libraries.
 */
#include <stdio.h>

#include "info.h"

#include "../../kernels/blas.h"
#include "../../reference/numbers/tier.h"
#include "message.h"
#include "team.h"
#include "text_stream.h"

#include <errno.h>
#include <gmp.h>
#include <jansson.h>
#include <mpfr.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#ifndef HEADPROOF_VERSION
#define HEADPROOF_VERSION "unknown"
#endif
#ifndef HEADPROOF_COMMIT
#define HEADPROOF_COMMIT "unknown"
#endif
#ifndef HEADPROOF_CFLAGS
#define HEADPROOF_CFLAGS "unknown"
#endif

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define COMPILER "gcc " __VERSION__
#else
#define COMPILER "unknown"
#endif

#define CPU_FILE "/proc/cpuinfo"

typedef struct {
    Fact *facts;
    size_t count;
} FactList;

static void add(FactList *list, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void add(FactList *list, const char *name, const char *format, ...)
{
    if (list->count < FACTS_MOST) {
        Fact *fact = &list->facts[list->count++];
        va_list arguments;
        fact->name = name;
        va_start(arguments, format);
        vsnprintf(fact->text, sizeof fact->text, format, arguments);
        va_end(arguments);
    }
}

/* The value of the first line "model name : ..." of CPU_FILE, where there is one.  false
 * (errno): it is there and cannot be read. */
static bool add_cpu(FactList *list)
{
    size_t size;
    char *text = file_text(&size, CPU_FILE);
    int reason = text == NULL ? errno : 0;
    char *model = text != NULL ? strstr(text, "model name") : NULL;
    model = model != NULL ? strchr(model, ':') : NULL;
    if (model != NULL) {
        model += 1 + strspn(model + 1, " ");
        model[strcspn(model, "\n")] = '\0';
    }
    add(list, "cpu", "%s", model != NULL ? model : "unknown");
    add(list, "cpu_cores", "%ld", sysconf(_SC_NPROCESSORS_ONLN));
    free(text);
    errno = reason;
    return reason == 0 || file_fault(reason) == 2;
}

/* The instruction sets that reference/ is compiled for, and the one in use. */
static void add_tiers(FactList *list)
{
    char had[64] = "";
    for (int tier = 0; tier < TIERS; tier++) {
        size_t length = strlen(had);
        if (tier_has((Tier)tier)) {
            snprintf(had + length, sizeof had - length, "%s%s", length > 0 ? " " : "",
                     tier_name((Tier)tier));
        }
    }
    add(list, "tier", "%s", tier_name(tier_in_use()));
    add(list, "tiers", "%s", had);
}

size_t facts_read(Fact facts[FACTS_MOST])
{
    FactList list = {facts, 0};
    const char *wanted = blas_core_wanted();
    add(&list, "version", "%s", HEADPROOF_VERSION);
    add(&list, "commit", "%s", HEADPROOF_COMMIT);
    add(&list, "compiler", "%s", COMPILER);
    add(&list, "flags", "%s", HEADPROOF_CFLAGS);
    struct utsname name;
    if (uname(&name) == 0) {
        add(&list, "system", "%s %s %s", name.sysname, name.release, name.machine);
    }
    if (!add_cpu(&list)) {
        return 0;
    }
    add_tiers(&list);
    add(&list, "openblas_core", "%s", blas_core());
    add(&list, "openblas_core_origin", "%s", blas_core_origin());
    add(&list, "openblas_core_wanted", "%s", wanted != NULL ? wanted : "no opinion");
    add(&list, "openblas_config", "%s", blas_config());
    add(&list, "mpfr_header", "%s", MPFR_VERSION_STRING);
    add(&list, "mpfr_runtime", "%s", mpfr_get_version());
    add(&list, "gmp_header", "%d.%d.%d", __GNU_MP_VERSION, __GNU_MP_VERSION_MINOR,
        __GNU_MP_VERSION_PATCHLEVEL);
    add(&list, "gmp_runtime", "%s", gmp_version);
    char library[TEAM_LIBRARY_TEXT];
    team_library(library);
    add(&list, "mpi", "%s", library);
    add(&list, "jansson_header", "%s", JANSSON_VERSION);
    add(&list, "jansson_runtime", "%s", jansson_version_str());
    return list.count;
}

int facts_fault(void)
{
    fprintf(stderr, "headproof: " CPU_FILE ": cannot be read: %s\n", strerror(errno));
    return 99;
}

const char *info_version(void)
{
    return HEADPROOF_VERSION;
}

int info_print(FILE *file)
{
    Fact facts[FACTS_MOST];
    size_t count = facts_read(facts);
    if (count == 0) {
        return facts_fault();
    }
    for (size_t i = 0; i < count; i++) {
        fprintf(file, "%-21s %s\n", facts[i].name, facts[i].text);
    }
    return 0;
}
