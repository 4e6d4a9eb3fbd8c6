/*
 * Facts about build, machine and libraries.
 */
#include <stdio.h>

#include "info.h"

#include "../../kernels/blas.h"
#include "../../reference/numbers/tier.h"
#include "message.h"
#include "shown.h"
#include "team.h"
#include "text_stream.h"

#include <errno.h>
#include <gmp.h>
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

static void add(json_t *facts, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void add(json_t *facts, const char *name, const char *format, ...)
{
    char text[FACT_TEXT];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    char *clean = shown_copy(SHOWN_JSON, text);
    json_object_set_new(facts, name, json_string(clean));
    free(clean);
}

/* The value of the first line "model name : ..." of CPU_FILE, where there is one.  false
 * (errno): it is there and cannot be read. */
static bool add_cpu(json_t *facts)
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
    add(facts, "cpu", "%s", model != NULL ? model : "unknown");
    add(facts, "cpu_cores", "%ld", sysconf(_SC_NPROCESSORS_ONLN));
    free(text);
    errno = reason;
    return reason == 0 || file_fault(reason) == 2;
}

/* The instruction sets that reference/ is compiled for, and the one in use. */
static void add_tiers(json_t *facts)
{
    char had[64] = "";
    for (int tier = 0; tier < TIERS; tier++) {
        size_t length = strlen(had);
        if (tier_has((Tier)tier)) {
            snprintf(had + length, sizeof had - length, "%s%s", length > 0 ? " " : "",
                     tier_name((Tier)tier));
        }
    }
    add(facts, "tier", "%s", tier_name(tier_in_use()));
    add(facts, "tiers", "%s", had);
}

json_t *facts_read(void)
{
    json_t *facts = json_object();
    const char *wanted = blas_core_wanted();
    add(facts, "version", "%s", HEADPROOF_VERSION);
    add(facts, "commit", "%s", HEADPROOF_COMMIT);
    add(facts, "compiler", "%s", COMPILER);
    add(facts, "flags", "%s", HEADPROOF_CFLAGS);
    struct utsname name;
    if (uname(&name) == 0) {
        add(facts, "system", "%s %s %s", name.sysname, name.release, name.machine);
    }
    if (!add_cpu(facts)) {
        json_decref(facts);
        return NULL;
    }
    add_tiers(facts);
    add(facts, "openblas_core", "%s", blas_core());
    add(facts, "openblas_core_origin", "%s", blas_core_origin());
    add(facts, "openblas_core_wanted", "%s", wanted != NULL ? wanted : "no opinion");
    add(facts, "openblas_config", "%s", blas_config());
    add(facts, "mpfr_header", "%s", MPFR_VERSION_STRING);
    add(facts, "mpfr_runtime", "%s", mpfr_get_version());
    add(facts, "gmp_header", "%d.%d.%d", __GNU_MP_VERSION, __GNU_MP_VERSION_MINOR,
        __GNU_MP_VERSION_PATCHLEVEL);
    add(facts, "gmp_runtime", "%s", gmp_version);
    char library[TEAM_LIBRARY_TEXT];
    team_library(library);
    add(facts, "mpi", "%s", library);
    add(facts, "jansson_header", "%s", JANSSON_VERSION);
    add(facts, "jansson_runtime", "%s", jansson_version_str());
    return facts;
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
    const char *name;
    json_t *facts = facts_read(), *fact;
    if (facts == NULL) {
        return facts_fault();
    }
    json_object_foreach(facts, name, fact)
    {
        fprintf(file, "%-21s %s\n", name, json_string_value(fact));
    }
    json_decref(facts);
    return 0;
}
