/*
 * The short form of `make fuzz`: every subject over its corpus, tests/corpus/SUBJECT, and over
 * changes of it that are the same in every run.  HEADPROOF_NIGHTLY=1: many more of them.
 */
#include "../fuzzing/fuzz.h"
#include "../unit.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SEEDS_MOST = 256, INPUT_MOST = 1 << 16, NIGHTLY = 100, SHOWN = 3000 };

/* Without sanitizers the first of those changes, which they look at too. */
#ifdef HEADPROOF_CHECK
enum { PARTS = 1 };
#else
enum { PARTS = 4 };
#endif

typedef struct {
    const FuzzSubject *subject;
    size_t changes; /* of every file of the corpus */
} Share;

typedef struct {
    char name[SEEDS_MOST][64];
    FuzzText seed[SEEDS_MOST];
    size_t count;
} Corpus;

/* Splitmix64: what a change is follows from its number. */
static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static size_t below(uint64_t *state, size_t most)
{
    return most == 0 ? 0 : (size_t)(draw(state) % most);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* Where a subject that failed has left it, the directory is not the project's. */
static char root[SCRATCH_PATH];

static void read_corpus(Corpus *corpus, const char *subject)
{
    char path[SCRATCH_PATH];
    struct dirent **entries;
    corpus->count = 0;
    fuzz_need(chdir(root) == 0, root);
    snprintf(path, sizeof path, "tests/corpus/%s", subject);
    int count = scandir(path, &entries, NULL, by_name);
    fuzz_need(count >= 0 && count < SEEDS_MOST, path);
    for (int i = 0; i < count; i++) {
        if (entries[i]->d_name[0] != '.') {
            char *name = corpus->name[corpus->count];
            snprintf(name, sizeof corpus->name[0], "%.63s", entries[i]->d_name);
            snprintf(path, sizeof path, "tests/corpus/%s/%s", subject, name);
            corpus->seed[corpus->count++] = fuzz_read(path);
        }
        free(entries[i]);
    }
    free(entries);
}

static size_t replace(char *text, size_t size, size_t at, size_t old, const char *by, size_t length)
{
    old = old < size - at ? old : size - at;
    if (size - old + length > INPUT_MOST) {
        return size;
    }
    memmove(text + at + length, text + at + old, size - at - old);
    memcpy(text + at, by, length);
    return size - old + length;
}

static const char *const words[] = {"-",
                                    "0",
                                    "1",
                                    "9",
                                    "e",
                                    "1e999999999999",
                                    ",",
                                    "\n",
                                    ":",
                                    "nan",
                                    "inf",
                                    "0x",
                                    "18446744073709551616",
                                    "\"",
                                    "\\",
                                    "[",
                                    "]",
                                    "{",
                                    "}",
                                    "==",
                                    "= ",
                                    " ",
                                    "null",
                                    "true",
                                    "fail",
                                    "\xff"};

/* One change of text [size], which has room for INPUT_MOST. */
static size_t change(char *text, size_t size, const Corpus *corpus, uint64_t *state)
{
    size_t at = below(state, size + 1), length = 1 + below(state, below(state, 3) == 0 ? 64 : 4);
    char copy[64];
    switch (below(state, 12)) {
    case 8:
    case 9: /* the next digit is another one */
        while (at < size && (text[at] < '0' || text[at] > '9')) {
            at++;
        }
        if (at < size) {
            text[at] = (char)('0' + below(state, 10));
        }
        return size;
    case 10: { /* the next line goes */
        const char *line = memchr(text + at, '\n', size - at);
        const char *end =
            line == NULL ? NULL : memchr(line + 1, '\n', size - (size_t)(line + 1 - text));
        length = end == NULL ? 0 : (size_t)(end - line);
        return length == 0 ? size : replace(text, size, (size_t)(line - text), length, "", 0);
    }
    case 0:
        if (at < size) {
            text[at] = (char)(text[at] ^ (char)(1 << below(state, 8)));
        }
        return size;
    case 1: return replace(text, size, at, length, "", 0);
    case 2: return replace(text, size, at, 0, "\0", 1);
    case 3: return at;
    case 4: {
        const FuzzText *other = &corpus->seed[below(state, corpus->count)];
        size_t from = below(state, other->size);
        length = length < other->size - from ? length : other->size - from;
        return replace(text, size, at, below(state, 2) * length, other->bytes + from, length);
    }
    case 5:
        length = length < size - at ? length : size - at;
        memcpy(copy, text + at, length);
        return replace(text, size, below(state, size + 1), 0, copy, length);
    default: {
        const char *word = words[below(state, sizeof words / sizeof *words)];
        return replace(text, size, at, below(state, 3), word, strlen(word));
    }
    }
}

/* The input that runs, and stderr as it was before a subject holds it, for a crash. */
static struct {
    const char *subject, *name, *text;
    size_t number, size, from; /* from: numbers of changes begin behind it */
    const Fuzz *fuzz;
    FILE *report;
} current;

static void print_current(void)
{
    char shown[4 * SHOWN + 1] = "";
    size_t used = 0;
    for (size_t i = 0; i < current.size && i < SHOWN; i++) {
        unsigned char c = (unsigned char)current.text[i];
        bool plain = c >= 0x20 && c < 0x7f && c != '\\';
        used += (size_t)snprintf(shown + used, 5, plain ? "%c" : "\\%03o", c);
    }
    fprintf(current.report, "%s: %s, change %zu; the input, for printf: %s\n", current.subject,
            current.name, current.number, shown);
    fflush(current.report);
}

/* What a sanitizer says last: its report has gone where stderr is held. */
static void print_crash(void)
{
    static char said[FUZZ_SAID];
    if (current.fuzz != NULL) {
        ssize_t length = pread(current.fuzz->heard, said, sizeof said, 0);
        fwrite(said, 1, length > 0 ? (size_t)length : 0, current.report);
        print_current();
    }
}

static void run_input(Fuzz *fuzz, const FuzzSubject *subject, const char *name, size_t number,
                      const char *text, size_t size)
{
    current.fuzz = fuzz;
    current.subject = subject->name;
    current.name = name;
    current.number = number;
    current.text = text;
    current.size = size;
    const char *why = subject->run(fuzz, (const uint8_t *)text, size);
    if (why != NULL) {
        print_current();
        fail_msg("%s", why);
    }
}

/* text [INPUT_MOST]: input number n of those that are made from a seed. */
static size_t make_input(char *text, const FuzzSubject *subject, const Corpus *corpus, size_t seed,
                         size_t n)
{
    uint64_t drawn = (uint64_t)n << 32 | seed;
    size_t size = corpus->seed[seed].size;
    memcpy(text, corpus->seed[seed].bytes, size);
    for (size_t c = 1 + below(&drawn, 4); c > 0; c--) {
        size = change(text, size, corpus, &drawn);
    }
    if (subject->repair != NULL && below(&drawn, 4) > 0) {
        subject->repair((uint8_t *)text, size);
    }
    return size;
}

/* Prints how many inputs there were. */
static void run_subject(void **state)
{
    const Share *share = *state;
    const FuzzSubject *subject = share->subject;
    size_t changes = share->changes * (getenv("HEADPROOF_NIGHTLY") != NULL ? NIGHTLY : 1);
    Corpus *corpus = calloc(1, sizeof *corpus);
    Fuzz *fuzz = calloc(1, sizeof *fuzz);
    char *text = malloc(INPUT_MOST);
    fuzz_need(corpus != NULL && fuzz != NULL && text != NULL, "memory");
    read_corpus(corpus, subject->name);
    fuzz_open(fuzz, subject);
    for (size_t i = 0; i < corpus->count; i++) {
        FuzzText *seed = &corpus->seed[i];
        FuzzText filled = fuzz_fill(fuzz, (const uint8_t *)seed->bytes, seed->size);
        free(seed->bytes);
        *seed = filled;
        run_input(fuzz, subject, corpus->name[i], 0, seed->bytes, seed->size);
    }
    for (size_t i = 0; i < corpus->count; i++) {
        for (size_t n = 1; n <= changes && corpus->seed[i].size < INPUT_MOST / 2; n++) {
            size_t size = make_input(text, subject, corpus, i, current.from + n);
            run_input(fuzz, subject, corpus->name[i], current.from + n, text, size);
        }
    }
    print_message("%s: %zu inputs\n", subject->name, corpus->count * (1 + changes));
    assert_true(corpus->count > 0);
    current.fuzz = NULL;
    fuzz_close(fuzz);
    for (size_t i = 0; i < corpus->count; i++) {
        free(corpus->seed[i].bytes);
    }
    free(corpus);
    free(fuzz);
    free(text);
}

/* What stands beside a refusal is the program's own, and never a text of a user's. */
static void asides_are_the_program_s_own(void **state)
{
    static const char refusal[] = "headproof: rows.csv:2: token 'x': expected a number\n";
    static const struct {
        const char *line;
        bool aside;
    } cases[] = {
        {"headproof: warning: rank 2 has other kernels\n", true},
        {"headproof: fail at layer 3; reproduce: headproof sweep --n 2\n", true},
        {"headproof: 4 of 12 points are there already\n", true},
        {"headproof: rows.csv:1: token 'at layer 3': expected a number\n", false},
        {"headproof: fail at layer 3: expected a file\n", false},
        {"headproof: 3.csv: expected rows\n", false},
        {"warning: of another program\n", false},
    };
    Fuzz *fuzz = calloc(1, sizeof *fuzz);
    assert_non_null(fuzz);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(fuzz->said, sizeof fuzz->said, "%s%s", cases[i].line, refusal);
        fuzz->said_length = strlen(fuzz->said);
        assert_int_equal(fuzz_expect_refusal(fuzz, "rows.csv") == NULL, cases[i].aside);
    }
    free(fuzz);
}

/* Of the sanitizers, where they are in the build. */
extern void __sanitizer_set_death_callback(void (*)(void)) __attribute__((weak));

/* test_fuzz SUBJECT CHANGES [FROM]: that one alone, with so many changes of every file of its
 * corpus, behind the first FROM. */
SUBJECT(fuzz)
{
    fuzz_need(getcwd(root, sizeof root) != NULL, "getcwd");
    static Share shares[] = {{&fuzz_values, 100},   {&fuzz_cases, 30},   {&fuzz_commands, 30},
                             {&fuzz_baselines, 10}, {&fuzz_merges, 20},  {&fuzz_journals, 10},
                             {&fuzz_models, 30},    {&fuzz_configs, 20}, {&fuzz_texts, 100},
                             {&fuzz_shapes, 60}};
    struct CMUnitTest tests[sizeof shares / sizeof *shares + 1];
    size_t count = 1;
    tests[0] = (struct CMUnitTest)cmocka_unit_test(asides_are_the_program_s_own);
    int fd = dup(STDERR_FILENO);
    current.report = fd < 0 ? NULL : fdopen(fd, "w");
    fuzz_need(current.report != NULL, "stderr");
    if (__sanitizer_set_death_callback != NULL) {
        __sanitizer_set_death_callback(print_crash);
    }
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        const char *name = shares[i].subject->name;
        if (argc >= 3 && strcmp(argv[1], name) != 0) {
            continue;
        }
        shares[i].changes = argc >= 3 ? strtoull(argv[2], NULL, 10) : shares[i].changes / PARTS;
        current.from = argc >= 4 ? strtoull(argv[3], NULL, 10) : 0;
        tests[count++] = (struct CMUnitTest){
            .name = name, .test_func = run_subject, .initial_state = &shares[i]};
    }
    return _cmocka_run_group_tests("fuzz", tests, count, NULL, NULL);
}
