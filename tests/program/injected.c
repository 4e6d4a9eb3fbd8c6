/* nftw is not in POSIX itself. */
#define _XOPEN_SOURCE 700

#include "injected.h"

#include "../inject/inject.h"
#include "../interrupted.h"
#include "../scratch.h"
#include "../unit.h"
#include "../written_model.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    WORDS = 32,
    FAULTS = 20000,
    FILES = 8,
    CALLS_ALL = 250,
    CALLS_STEP = 61,
    SITES_AGAIN = 32,
    CALLS_SHORT = 4,
    CALLS_FEW = 60,
    KILLED = 256
};

/* What one run is asked to let fail, as inject.h has it. */
typedef struct {
    char text[40];
} Fault;

/* A file that the undisturbed run left, by its name in out/. */
typedef struct {
    char name[256];
    char *text;
    size_t length;
} Published;

struct Injected {
    Scratch scratch;
    char in[SCRATCH_PATH], out[SCRATCH_PATH], log[SCRATCH_PATH], object[SCRATCH_PATH];
    char said[SCRATCH_PATH], printed[SCRATCH_PATH], core[64];
    Fault faults[FAULTS];
    size_t fault_count;
    unsigned long long met[FAULTS]; /* sites of any scenario so far */
    size_t met_count;
    Published published[FILES];
    size_t published_count;
    char *output;     /* the undisturbed run's */
    int code;         /* and its exit code */
    size_t kibibytes; /* of addresses that a run may have; 0: all */
    pid_t program;    /* with the injector in it, which forks for every run; 0: none */
    int ask, told;    /* what it reads and writes */
};

static bool is_long(void)
{
    return getenv("HEADPROOF_NIGHTLY") != NULL;
}

static int remove_one(const char *path, const struct stat *found, int type, struct FTW *at)
{
    (void)found, (void)type;
    return at->level > 0 ? remove(path) : 0;
}

static void empty(const char *directory)
{
    int status = nftw(directory, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    assert_int_equal(status, 0);
}

/* Cuts the date and what was timed. */
static void cut_times(char *text)
{
    static const char *const keys[] = {"\"seconds\":", "\"date\":", " time=\""};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        for (char *at = strstr(text, keys[i]); at != NULL; at = strstr(at + 1, keys[i])) {
            char *value = at + strlen(keys[i]), *end = value + strcspn(value, ",\n>");
            memmove(value, end, strlen(end) + 1);
        }
    }
}

/* A whole file, without its times; NULL: there is none. */
static char *read_whole(const char *path, size_t *length)
{
    struct stat found;
    if (stat(path, &found) != 0 || !S_ISREG(found.st_mode)) {
        return NULL;
    }
    Output file = read_file(path);
    bool text = strlen(file.text) == file.length;
    if (text) {
        cut_times(file.text);
    }
    *length = text ? strlen(file.text) : file.length;
    return file.text;
}

/* asked, told: what the injector reads and writes; -1: without it. */
static void become_program(const Injected *injected, const char *arguments, int asked, int told)
{
    char line[1024], *words[WORDS] = {(char *)(uintptr_t)program()};
    size_t count = 1;
    snprintf(line, sizeof line, "%s", arguments);
    char *rest;
    for (char *word = strtok_r(line, " ", &rest); word != NULL && count < WORDS - 1;
         word = strtok_r(NULL, " ", &rest)) {
        words[count++] = word;
    }
    int out = open(injected->printed, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    int err = open(injected->said, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    bool ready = out >= 0 && err >= 0 && dup2(out, 1) == 1 && dup2(err, 2) == 2 &&
                 chdir(injected->out) == 0 && close(out) == 0 && close(err) == 0;
    /* A program that restarted itself for another core would lose its injector's filter. */
    ready =
        ready && (*injected->core == '\0' || setenv("OPENBLAS_CORETYPE", injected->core, 1) == 0);
    if (injected->kibibytes > 0) {
        rlim_t bytes = (rlim_t)injected->kibibytes * 1024;
        ready = ready && setrlimit(RLIMIT_AS, &(struct rlimit){bytes, bytes}) == 0;
    }
    if (asked >= 0) {
        const char *depth = getenv("INJECT_DEPTH");
        ready = ready && setenv("OPENBLAS_NUM_THREADS", "1", 1) == 0 &&
                setenv("HEADPROOF_INJECT_LOG", injected->log, 1) == 0 &&
                setenv("HEADPROOF_INJECT_DEPTH", depth != NULL ? depth : "3", 1) == 0 &&
                setenv("LD_PRELOAD", injected->object, 1) == 0 && dup2(asked, INJECT_ASKED) >= 0 &&
                dup2(told, INJECT_ENDED) >= 0 && close(asked) == 0 && close(told) == 0;
    }
    if (ready) {
        execv(words[0], words);
    }
    _exit(126);
}

/* 256 and more: the signal that ended it. */
static int code_of(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) : KILLED + WTERMSIG(status);
}

/* Without the injector. */
static int run_alone(const Injected *injected, const char *arguments)
{
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        become_program(injected, arguments, -1, -1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return code_of(status);
}

/* The program with the injector in it, which stays until end_program. */
static void begin_program(Injected *injected, const char *arguments)
{
    int asked[2], told[2];
    assert_int_equal(pipe(asked) | pipe(told), 0);
    injected->program = fork();
    assert_true(injected->program >= 0);
    if (injected->program == 0) {
        (void)close(asked[1]);
        (void)close(told[0]);
        become_program(injected, arguments, asked[0], told[1]);
    }
    (void)close(asked[0]);
    (void)close(told[1]);
    injected->ask = asked[1], injected->told = told[0];
}

static void end_program(Injected *injected)
{
    if (injected->program != 0) {
        (void)close(injected->ask);
        (void)close(injected->told);
        assert_int_equal(waitpid(injected->program, NULL, 0), injected->program);
        injected->program = 0;
    }
}

static int run_injected(const Injected *injected, const char *inject)
{
    int status;
    (void)remove(injected->log);
    assert_int_equal(write(injected->ask, inject, strlen(inject)), strlen(inject));
    assert_int_equal(read(injected->told, &status, sizeof status), sizeof status);
    return code_of(status);
}

void injected_prepare(Injected *injected, const char *arguments)
{
    int code = run_alone(injected, arguments);
    if (code != 0) {
        fail_msg("headproof %s: exit code %d", arguments, code);
    }
}

/* What the core is called by OPENBLAS_CORETYPE. */
static void find_core(Injected *injected)
{
    Output info = run("info");
    const char *line = strstr(info.text, "\nopenblas_core ");
    assert_non_null(line);
    int read = sscanf(line, " openblas_core %63s", injected->core);
    assert_int_equal(read, 1);
    free(info.text);
}

/* Beside the tests; by its whole path, for the program runs elsewhere. */
static void find_object(Injected *injected)
{
    const char *given = getenv("INJECT_OBJECT");
    char joined[SCRATCH_PATH];
    ssize_t length = readlink("/proc/self/exe", joined, sizeof joined - 16);
    assert_true(length > 0);
    joined[length] = '\0';
    strcpy(strrchr(joined, '/'), "/inject.so");
    snprintf(injected->object, sizeof injected->object, "%s", given != NULL ? given : joined);
    assert_true(file_exists(injected->object));
}

static void copy(const char *to, const char *from)
{
    Output file = read_file(from);
    file_write(to, file.text, file.length);
    free(file.text);
}

#define FACTOR(name, first, end) TENSOR("blocks.0.attn.W_" name, "[1,2,2]", first, end) ","

/* Two tokens of an embedding, and norms before attention and a network. */
static void write_normed(const Injected *injected)
{
    static const double data[28] = {1,    -2,  0.5,  1,    1,    0.5,  1,     0.5, 0.25, -1,
                                    1,    0.5, -0.5, 0.25, 0.75, 1,    -0.25, 0.5, 1,    -0.75,
                                    0.25, 1,   0.5,  1,    1,    -0.5, 0.5,   2};
    written_model(&injected->scratch, "in/normed.safetensors",
                  TENSOR("embed.W_E", "[2,2]", "0", "32") "," TENSOR(
                      "blocks.0.ln1.w", "[2]", "32", "48") "," FACTOR("Q", "48", "80")
                      FACTOR("K", "80", "112") FACTOR("V", "112", "144") FACTOR("O", "144", "176")
                          TENSOR("blocks.0.ln2.w", "[2]", "176", "192") "," TENSOR(
                              "blocks.0.mlp.W_in", "[2,1]", "192",
                              "208") "," TENSOR("blocks.0.mlp.W_out", "[1,2]", "208", "224"),
                  data, 28);
}

/* The model of cases/ as small as can be: its faults are found in a quarter of the time. */
static void write_small(const Injected *injected)
{
    static const double data[38] = {1, -2,    0.5,  1,    1,    0.5, 1, 0.5,   0.25, -1,
                                    1, 0.5,   -0.5, 0.25, 0.75, 1,   1, -0.25, 0.5,  1,
                                    1, -0.75, 0.25, 1,    0.5,  1,   1, -0.5,  0.5,  2,
                                    1, -1,    0.5,  1,    -0.5, 1,   2, 0.25};
    written_model(&injected->scratch, "in/small.safetensors",
                  TENSOR("embed.W_E", "[3,2]", "0", "48") "," TENSOR(
                      "pos_embed.W_pos", "[3,2]", "48", "96") "," FACTOR("Q", "96", "128")
                      FACTOR("K", "128", "160") FACTOR("V", "160", "192") FACTOR("O", "192", "224")
                          TENSOR("blocks.0.mlp.W_in", "[2,1]", "224", "240") "," TENSOR(
                              "blocks.0.mlp.W_out", "[1,2]", "240",
                              "256") "," TENSOR("unembed.W_U", "[2,3]", "256", "304"),
                  data, 38);
}
#undef FACTOR

Injected *injected_make(void)
{
    static const char grid[] = "[a]\nn = 2\nd = 2\ndepth = 2\nomega = 10, 20\n"
                               "[b]\nconstruction = silu, linear\nn = 2\nd = 2\nomega = 5\n";
    char path[SCRATCH_PATH];
    Injected *injected = calloc(1, sizeof *injected);
    assert_non_null(injected);
    scratch_make(&injected->scratch);
    scratch_path(injected->in, &injected->scratch, "in");
    scratch_path(injected->out, &injected->scratch, "out");
    scratch_path(injected->log, &injected->scratch, "log");
    scratch_path(injected->said, &injected->scratch, "said");
    scratch_path(injected->printed, &injected->scratch, "printed");
    assert_int_equal(mkdir(injected->in, 0777) | mkdir(injected->out, 0777), 0);
    find_core(injected);
    find_object(injected);
    scratch_path(path, &injected->scratch, "in/grid.case");
    file_write(path, grid, sizeof grid - 1);
    scratch_path(path, &injected->scratch, "in/model.safetensors");
    copy(path, "cases/models/modadd53-silu.safetensors");
    write_normed(injected);
    write_small(injected);
    return injected;
}

static void forget(Injected *injected)
{
    end_program(injected);
    for (size_t i = 0; i < injected->published_count; i++) {
        free(injected->published[i].text);
    }
    free(injected->output);
    injected->output = NULL;
    injected->published_count = injected->fault_count = 0;
}

void injected_remove(Injected *injected)
{
    forget(injected);
    empty(injected->scratch.directory);
    scratch_remove(&injected->scratch);
    free(injected);
}

static void add_fault(Injected *injected, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    assert_true(injected->fault_count < FAULTS);
    vsnprintf(injected->faults[injected->fault_count++].text, sizeof(Fault), format, arguments);
    va_end(arguments);
}

/* Notes it; true for the first time. */
static bool is_new(Injected *injected, unsigned long long site)
{
    for (size_t i = 0; i < injected->met_count; i++) {
        if (injected->met[i] == site) {
            return false;
        }
    }
    assert_true(injected->met_count < FAULTS);
    injected->met[injected->met_count++] = site;
    return true;
}

/* The short form: once at each site that no scenario before had, and at some of the others. */
static void add_site(Injected *injected, unsigned long long site, unsigned long long k,
                     unsigned long long caller, size_t i)
{
    if (is_long() || is_new(injected, site) || i % SITES_AGAIN == 0) {
        add_fault(injected, "%llx:1@%llx", site, caller);
    }
    if (is_long()) {
        add_fault(injected, "%llx:1+", site);
    }
    if (is_long() && k > 1) {
        add_fault(injected, "%llx:%llu", site, k);
    }
}

/* All of a few; of many the first and, in the short form, some of the others. */
static void add_calls(Injected *injected, size_t calls)
{
    bool all = is_long() || calls <= CALLS_FEW;
    size_t step = all ? 1 : (calls + CALLS_SHORT - 1) / CALLS_SHORT;
    for (size_t k = 1; k <= calls; k += step) {
        if (!is_long() || k <= CALLS_ALL || k % CALLS_STEP == 0) { /* a model has thousands */
            add_fault(injected, "call:%zu", k);
        }
    }
}

/* What the log of an undisturbed run lists. */
static void read_faults(Injected *injected, size_t *sites, size_t *calls)
{
    unsigned long long site, k, caller;
    char line[256];
    FILE *log = fopen(injected->log, "r");
    assert_non_null(log);
    *sites = *calls = 0;
    while (fgets(line, sizeof line, log) != NULL) {
        assert_true(strncmp(line, "beyond", 6) != 0);
        if (strncmp(line, "no calls", 8) == 0) {
            print_message("here system calls cannot be made to fail\n");
        }
        if (sscanf(line, "site %llx %llu %llx", &site, &k, &caller) == 3) {
            add_site(injected, site, k, caller, ++*sites);
        }
        *calls += strncmp(line, "call ", 5) == 0;
    }
    fclose(log);
    add_calls(injected, *calls);
}

static void remember_files(Injected *injected)
{
    DIR *directory = opendir(injected->out);
    assert_non_null(directory);
    for (struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
        char path[SCRATCH_PATH + 300];
        Published *file = &injected->published[injected->published_count];
        snprintf(path, sizeof path, "%s/%s", injected->out, entry->d_name);
        if (*entry->d_name != '.') {
            assert_true(injected->published_count < FILES);
            snprintf(file->name, sizeof file->name, "%s", entry->d_name);
            file->text = read_whole(path, &file->length);
            assert_non_null(file->text);
            injected->published_count++;
        }
    }
    closedir(directory);
}

/* NULL: as the undisturbed run left them.  must: they have to be there. */
static const char *judge_files(const Injected *injected, bool must)
{
    for (size_t i = 0; i < injected->published_count; i++) {
        const Published *file = &injected->published[i];
        char path[SCRATCH_PATH + 300];
        size_t length;
        snprintf(path, sizeof path, "%s/%s", injected->out, file->name);
        char *text = read_whole(path, &length);
        bool same =
            text != NULL ? length == file->length && memcmp(text, file->text, length) == 0 : !must;
        free(text);
        if (!same) {
            return file->name;
        }
    }
    return NULL;
}

static Output read_in(const Injected *injected, const char *name)
{
    char path[SCRATCH_PATH + 32];
    snprintf(path, sizeof path, "%s/%s", injected->in, name);
    return read_file(path);
}

static bool goes_on(const Scenario *scenario)
{
    return strstr(scenario->arguments, "--resume -o r.csv") != NULL;
}

/* The header and two rows. */
static size_t kept_length(const Output *rows)
{
    const char *end = rows->text;
    for (int line = 0; line < 3; line++) {
        end = strchr(end, '\n') + 1;
    }
    return (size_t)(end - rows->text);
}

/* out/ as a run finds it. */
static void lay_out(const Injected *injected, const Scenario *scenario)
{
    char path[SCRATCH_PATH + 32];
    empty(injected->out);
    if (goes_on(scenario)) {
        Output rows = read_in(injected, "all.csv"), sidecar = read_in(injected, "all.csv.json");
        snprintf(path, sizeof path, "%s/r.csv.json", injected->out);
        file_write(path, sidecar.text, sidecar.length);
        snprintf(path, sizeof path, "%s/r.csv", injected->out);
        leave_interrupted(path, &rows, kept_length(&rows), 2, 0.001);
        free(rows.text);
        free(sidecar.text);
    }
}

/* The row that was there is still there, or in a table, which is judged as such. */
static bool has_kept(const Injected *injected)
{
    char path[SCRATCH_PATH + 32];
    Output rows = read_in(injected, "all.csv");
    snprintf(path, sizeof path, "%s/r.csv", injected->out);
    bool kept = file_exists(path);
    snprintf(path, sizeof path, "%s/r.csv.partial", injected->out);
    if (!kept && file_exists(path)) {
        Output left = read_file(path);
        char *point = strndup(strchr(rows.text, '\n') + 1, 40);
        kept = strstr(left.text, point) != NULL;
        free(point);
        free(left.text);
    }
    free(rows.text);
    return kept;
}

static bool is_logged(const Injected *injected, const char *what)
{
    size_t length;
    char *log = read_whole(injected->log, &length);
    bool logged = log != NULL && strstr(log, what) != NULL;
    free(log);
    return logged;
}

static bool has_struck(const Injected *injected)
{
    return is_logged(injected, "struck");
}

/* What is wrong with how a run ended; NULL: nothing.  Some of OpenBLAS's kernels for AVX-512 do not
 * look whether they got their memory: what they cannot become is a success. */
static const char *judge(const Injected *injected, const Scenario *scenario, int code)
{
    static char why[128];
    size_t length = 0;
    const char *differs = judge_files(injected, code == injected->code);
    if (differs != NULL) {
        snprintf(why, sizeof why, "%sexit code %d, and %s differs or is missing",
                 code == injected->code ? "FALSE SUCCESS: " : "", code, differs);
        return why;
    }
    if (goes_on(scenario) && !has_kept(injected)) {
        return "the rows that were there are lost";
    }
    if (code == injected->code) {
        char *printed = read_whole(injected->printed, &length);
        bool same = strcmp(printed, injected->output) == 0;
        free(printed);
        return same ? NULL : "FALSE SUCCESS: did without, and printed otherwise";
    }
    char *said = read_whole(injected->said, &length);
    bool explained = strstr(said, "headproof: ") != NULL || strstr(said, ": ") != NULL;
    free(said);
    if ((code == 99 && explained) ||
        (code == KILLED + SIGSEGV && is_logged(injected, "by OpenBLAS"))) {
        return NULL;
    }
    snprintf(why, sizeof why, code >= KILLED ? "signal %d%s" : "exit code %d%s",
             code >= KILLED ? code - KILLED : code, explained ? "" : " without a message");
    return why;
}

static void show(const Injected *injected, const Scenario *scenario, const char *fault,
                 const char *why)
{
    size_t length;
    char *said = read_whole(injected->said, &length), *log = read_whole(injected->log, &length);
    print_message("  %s: %s: %s\n    %s    %.300s\n", scenario->name, fault, why,
                  log != NULL ? log : "", said);
    free(said);
    free(log);
}

static void measure(Injected *injected, const Scenario *scenario)
{
    size_t length;
    lay_out(injected, scenario);
    begin_program(injected, scenario->arguments);
    int code = run_injected(injected, "count");
    if (code != 0 && code != 1) {
        show(injected, scenario, "undisturbed", "failed");
    }
    assert_true(code == 0 || code == 1);
    injected->code = code;
    remember_files(injected);
    injected->output = read_whole(injected->printed, &length);
}

size_t injected_scenario(Injected *injected, const Scenario *scenario)
{
    const char *only = getenv("INJECT_ONLY");
    size_t sites, calls, runs = 0, struck = 0, harmless = 0, wrong = 0;
    if ((only != NULL && strcmp(only, scenario->name) != 0) || (scenario->nightly && !is_long())) {
        return 0;
    }
    measure(injected, scenario);
    read_faults(injected, &sites, &calls);
    for (size_t i = 0; i < injected->fault_count; i++) {
        const char *fault = injected->faults[i].text;
        lay_out(injected, scenario);
        int code = run_injected(injected, fault);
        const char *why = judge(injected, scenario, code);
        runs++;
        struck += has_struck(injected);
        harmless += code == injected->code;
        wrong += why != NULL;
        if (why != NULL || getenv("INJECT_VERBOSE") != NULL) {
            show(injected, scenario, fault, why != NULL ? why : "fine");
        }
    }
    print_message(
        "%-16s %5zu sites %4zu calls: %5zu runs, %5zu struck, %4zu did without, %zu wrong\n",
        scenario->name, sites, calls, runs, struck, harmless, wrong);
    forget(injected);
    return wrong;
}

size_t injected_fault(Injected *injected, const Scenario *scenario, const char *fault, bool must)
{
    measure(injected, scenario);
    lay_out(injected, scenario);
    int code = run_injected(injected, fault);
    const char *why = judge(injected, scenario, code);
    bool struck = has_struck(injected), ends = must || struck;
    if (why == NULL && (struck != ends || code != (ends ? 99 : injected->code))) {
        why = struck ? "did without" : "struck nothing";
    }
    if (why != NULL) {
        show(injected, scenario, fault, why);
    }
    forget(injected);
    return why != NULL;
}

/* The same with a byte that cannot be read. */
static bool fails_at(Injected *injected, const Scenario *scenario, size_t place)
{
    char fault[40];
    size_t length;
    snprintf(fault, sizeof fault, "at:%zu", place);
    lay_out(injected, scenario);
    int code = run_injected(injected, fault);
    const char *why = judge(injected, scenario, code);
    char *said = read_whole(injected->said, &length);
    if (why == NULL && (code != 99 || !has_struck(injected))) {
        why = "did without";
    } else if (why == NULL && strstr(said, "model.safetensors") == NULL) {
        why = "does not say which file";
    }
    free(said);
    if (why != NULL) {
        show(injected, scenario, fault, why);
    }
    return why == NULL;
}

size_t injected_reads(Injected *injected, const Scenario *scenario)
{
    enum { BLOCK = 1 << 14 };
    Output model = read_in(injected, "model.safetensors");
    size_t header = 8 + (unsigned char)model.text[0] + 256 * (size_t)(unsigned char)model.text[1];
    size_t runs = 2, begin, end;
    measure(injected, scenario);
    size_t wrong = (size_t)!fails_at(injected, scenario, 0) + !fails_at(injected, scenario, 9);
    for (const char *at = model.text + 8; at < model.text + header; at++) {
        if (sscanf(at, "\"data_offsets\" : [%zu ,%zu", &begin, &end) != 2) {
            continue;
        }
        for (size_t place = begin; place < end; place += BLOCK, runs++) {
            wrong += !fails_at(injected, scenario, header + place);
        }
    }
    print_message("%-16s %zu blocks, %zu wrong\n", scenario->name, runs, wrong);
    assert_true(runs > 10);
    free(model.text);
    forget(injected);
    return wrong;
}

int injected_limited(Injected *injected, const Scenario *scenario, size_t kibibytes)
{
    lay_out(injected, scenario);
    injected->kibibytes = kibibytes;
    int code = run_alone(injected, scenario->arguments);
    injected->kibibytes = 0;
    if (code != 0 && code != 99) {
        char limit[32];
        snprintf(limit, sizeof limit, "%zu KiB", kibibytes);
        show(injected, scenario, limit, code >= KILLED ? "was ended" : "ended otherwise");
    }
    return code;
}
