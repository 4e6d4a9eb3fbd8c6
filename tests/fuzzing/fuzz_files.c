/*
 * Files that the program wrote, and reads again: baselines, shards, journals, each with a sidecar.
 *
 * Input: parts named as the files; one that is not there is as the program left it, or is not
 * there.  Sidecars get the digests of changed tables, and journals those of their points, but where
 * there is a part `unsealed`; a part `anew`: without --resume.  A journal is its first line, and
 * behind a header rows of a point each.
 *
 * The command that takes them up refuses them in one line, and then every file is as it was, and
 * none is beside them; or what it makes has the header, rows of an undisturbed run or of the files,
 * each once, and the verdict of these rows, and nothing is left of its own.
 */
#define _GNU_SOURCE /* memmem */

#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILES_MOST = 4, WORDS_MOST = 48, DIGEST = 16, NONE = FUZZ_SAVED };

/* names: of the parts.  saved: the number in fuzz->saved of what files 2 i and 2 i + 1 are where
 * the input does not say; NONE.  output: the table that is made, or compared with; more: what else
 * may be left.  argv: "SWEEP" stands for the flags of the small sweep. */
typedef struct {
    const char *names[FILES_MOST + 1];
    size_t saved[FILES_MOST / 2];
    const char *output, *more[3], *argv[8];
    bool kept; /* the files stay as they are, whatever the verdict */
} Reader;

static const Reader readers[] = {
    {.names = {"b.csv", "b.csv.json"},
     .saved = {0},
     .output = "b.csv",
     .more = {"b.csv.obtained", "b.csv.obtained.json"},
     .argv = {"check", "SWEEP", "--baseline", "b.csv"},
     .kept = true},
    {.names = {"s1.csv", "s1.csv.json", "s2.csv", "s2.csv.json"},
     .saved = {1, 2},
     .output = "out.csv",
     .more = {"out.csv", "out.csv.json"},
     .argv = {"merge", "s1.csv", "s2.csv", "-o", "out.csv"},
     .kept = true},
    {.names = {"rows.csv", "rows.csv.json", "rows.csv.partial"},
     .saved = {NONE, NONE},
     .output = "rows.csv",
     .argv = {"sweep", "SWEEP", "-o", "rows.csv", "--resume"}},
};
enum { BASELINES, MERGES, JOURNALS };

/* ---- Digests ----------------------------------------------------------------------------- */

/* FNV-1a. */
static uint64_t fnv(uint64_t digest, const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        digest = (digest ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001B3);
    }
    return digest;
}

static uint64_t digest_of(const char *bytes, size_t size)
{
    return fnv(UINT64_C(0xCBF29CE484222325), bytes, size);
}

static void print_digest(char text[DIGEST + 1], const FuzzText *of)
{
    snprintf(text, DIGEST + 1, "%016llx", (unsigned long long)digest_of(of->bytes, of->size));
}

/* In the sidecar the digest of the saved table becomes that of the file. */
static void seal(const char *table, const char *sidecar, const FuzzText *saved)
{
    char old[DIGEST + 1], now[DIGEST + 1];
    FuzzText rows = fuzz_read(table), text = fuzz_read(sidecar);
    if (rows.bytes != NULL && text.bytes != NULL) {
        print_digest(old, saved);
        print_digest(now, &rows);
        char *found = memmem(text.bytes, text.size, old, DIGEST);
        if (found != NULL) {
            memcpy(found, now, DIGEST);
            fuzz_write(sidecar, text.bytes, text.size);
        }
    }
    free(rows.bytes);
    free(text.bytes);
}

/* A journal as it is on disk: the first line, and behind a header rows as points of one row each,
 * of which the last may be torn. */
static void write_journal(const char *name, const char *text, size_t size)
{
    FuzzText journal;
    FILE *out = open_memstream(&journal.bytes, &journal.size);
    const char *end = text + size, *newline = memchr(text, '\n', size), *next;
    size_t length = newline == NULL ? size : (size_t)(newline - text) + 1;
    fuzz_need(out != NULL, "open_memstream");
    fwrite(text, 1, length, out);
    const uint64_t first = digest_of(text, length);
    const char *header = memchr(text + length, '\n', size - length);
    const char *row = header == NULL ? end : header + 1;
    for (size_t i = 0; row < end; i++, row = next) {
        char line[64];
        newline = memchr(row, '\n', (size_t)(end - row));
        next = newline == NULL ? end : newline + 1;
        length = (size_t)(next - row);
        int told = snprintf(line, sizeof line, " %zu %zu 0.001\n", i, length + (newline == NULL));
        uint64_t digest = fnv(fnv(first, line, (size_t)told), row, length);
        fprintf(out, "%016llx%s%.*s", (unsigned long long)digest, line, (int)length, row);
    }
    fuzz_need(fclose(out) == 0, "open_memstream");
    fuzz_write(name, journal.bytes, journal.size);
    free(journal.bytes);
}

/* ---- What is given ----------------------------------------------------------------------- */

/* False: a part `anew`. */
static bool write_files(const Fuzz *fuzz, const Reader *reader, const uint8_t *bytes, size_t size)
{
    const char *parts_of[FILES_MOST + 3] = {"unsealed", "anew"};
    FuzzParts parts = {.next = (const char *)bytes, .end = (const char *)bytes + size};
    FuzzText journal = {0};
    bool sealed = true, resume = true;
    for (size_t i = 0; reader->names[i] != NULL; i++) {
        if (reader->saved[i / 2] != NONE) {
            const FuzzSaved *saved = &fuzz->saved[reader->saved[i / 2]];
            const FuzzText *text = i % 2 == 0 ? &saved->rows : &saved->sidecar;
            fuzz_write(reader->names[i], text->bytes, text->size);
        }
        parts_of[2 + i] = reader->names[i];
    }
    while (fuzz_next_part(&parts, parts_of)) {
        if (parts.name == parts_of[0] || parts.name == parts_of[1]) {
            sealed = sealed && parts.name != parts_of[0];
            resume = resume && parts.name != parts_of[1];
        } else if (parts.name != NULL) {
            fuzz_write(parts.name, parts.text, parts.size);
            if (strstr(parts.name, ".partial") != NULL) {
                journal = (FuzzText){(char *)(uintptr_t)parts.text, parts.size};
            }
        }
    }
    for (size_t i = 0; sealed && reader->names[i] != NULL && reader->names[i + 1] != NULL; i += 2) {
        size_t saved = reader->saved[i / 2] != NONE ? reader->saved[i / 2] : 0;
        seal(reader->names[i], reader->names[i + 1], &fuzz->saved[saved].rows);
    }
    if (sealed && journal.size > 0) {
        write_journal(reader->names[2], journal.bytes, journal.size);
    }
    return resume;
}

static int call(Fuzz *fuzz, const Reader *reader, bool resume)
{
    const char *argv[WORDS_MOST];
    size_t count = 0;
    for (const char *const *word = reader->argv; *word != NULL; word++) {
        for (size_t i = 0; strcmp(*word, "SWEEP") == 0 && fuzz_small_sweep[i] != NULL; i++) {
            argv[count++] = fuzz_small_sweep[i];
        }
        if (strcmp(*word, "SWEEP") != 0 && (resume || strcmp(*word, "--resume") != 0)) {
            argv[count++] = *word;
        }
    }
    argv[count] = NULL;
    return fuzz_run(fuzz, argv);
}

/* ---- What came of it --------------------------------------------------------------------- */

/* The last has its newline; 0: it has not. */
static size_t lines_of(const FuzzText *text)
{
    size_t lines = 0;
    for (size_t i = 0; i < text->size; i++) {
        lines += text->bytes[i] == '\n';
    }
    return text->size > 0 && text->bytes[text->size - 1] == '\n' ? lines : 0;
}

static bool has_line(const FuzzText *text, const char *line, size_t length)
{
    return text->bytes != NULL && memmem(text->bytes, text->size, line, length) != NULL;
}

/* Of a table that passed all rows do. */
static bool passes(const char *line, size_t length)
{
    static const char *const fine[] = {",ok\n", ",unresolved\n", ",vacuous\n"};
    bool passed = false;
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++) {
        size_t size = strlen(fine[i]);
        passed = passed || (length > size && memcmp(line + length - size, fine[i], size) == 0);
    }
    return passed;
}

/* A line of the undisturbed run's or of a file's, once; status: of all. */
static const char *expect_row(Fuzz *fuzz, const FuzzText given[FILES_MOST], const char *line,
                              const char *next, const char *end, int status)
{
    size_t length = (size_t)(next - line);
    bool there = has_line(&fuzz->saved[0].rows, line, length);
    for (size_t i = 0; i < FILES_MOST; i++) {
        there = there || has_line(&given[i], line, length);
    }
    if (!there || memmem(next, (size_t)(end - next), line, length) != NULL) {
        return fuzz_broken(fuzz, "a row of none, or twice: %.*s", (int)length, line);
    }
    return status > 0 || passes(line, length)
               ? NULL
               : fuzz_broken(fuzz, "exit 0, and a row is %.*s", (int)length, line);
}

static const char *expect_table(Fuzz *fuzz, const Reader *reader, const FuzzText given[FILES_MOST],
                                int status)
{
    const FuzzText *truth = &fuzz->saved[0].rows;
    const size_t header = strcspn(truth->bytes, "\n") + 1;
    const size_t lines = reader == &readers[MERGES] ? lines_of(&given[0]) + lines_of(&given[2]) - 1
                                                    : lines_of(truth);
    FuzzText table = fuzz_read(reader->output);
    const char *why = NULL, *end = table.bytes + table.size, *next;
    if (reader == &readers[BASELINES]) {
        bool fair = lines_of(&table) == lines && strstr(table.bytes, "nan") == NULL &&
                    strcspn(table.bytes, "\n") < header; /* columns more would be missing */
        why = status == 0 && !fair ? fuzz_broken(fuzz, "PASS against NaN, or other rows") : NULL;
    } else if (lines_of(&table) != lines || memcmp(table.bytes, truth->bytes, header) != 0) {
        why = fuzz_broken(fuzz, "%zu lines of %zu, or another header", lines_of(&table), lines);
    } else {
        for (const char *line = table.bytes + header; line < end && why == NULL; line = next) {
            next = (const char *)memchr(line, '\n', (size_t)(end - line)) + 1;
            why = expect_row(fuzz, given, line, next, end, status);
        }
    }
    free(table.bytes);
    return why;
}

/* What was taken for the program's own has the digest that its sidecar names. */
static const char *expect_sealed(Fuzz *fuzz, const Reader *reader, const FuzzText given[FILES_MOST])
{
    char digest[DIGEST + 1];
    for (size_t i = 0; i + 1 < FILES_MOST && reader->names[i + 1] != NULL; i += 2) {
        const FuzzText *sidecar = &given[i + 1];
        print_digest(digest, &given[i]);
        if (given[i].bytes != NULL && sidecar->bytes != NULL &&
            memmem(sidecar->bytes, sidecar->size, digest, DIGEST) == NULL) {
            return fuzz_broken(fuzz, "taken, and its sidecar was written with other bytes");
        }
    }
    return NULL;
}

static const char *expect_as_given(Fuzz *fuzz, const Reader *reader,
                                   const FuzzText given[FILES_MOST])
{
    const char *why = NULL;
    for (size_t i = 0; reader->names[i] != NULL; i++) {
        FuzzText now = fuzz_read(reader->names[i]);
        if (why == NULL && !fuzz_same(&now, &given[i])) {
            why = fuzz_broken(fuzz, "%s is not as it was", reader->names[i]);
        }
        free(now.bytes);
    }
    return why;
}

/* Nothing is left but what was given, what is made, and what belongs beside it. */
static const char *expect_beside(Fuzz *fuzz, const Reader *reader, const FuzzText given[FILES_MOST],
                                 int status)
{
    const char *names[FILES_MOST + 4];
    size_t count = 0;
    for (size_t i = 0; reader->names[i] != NULL; i++) {
        FuzzText now = fuzz_read(reader->names[i]);
        bool partial = strstr(reader->names[i], ".partial") != NULL;
        if (!partial || fuzz_same(&now, &given[i])) { /* another run's stays as it is */
            names[count++] = reader->names[i];
        }
        free(now.bytes);
    }
    for (size_t i = 0; status != 2 && reader->more[i] != NULL; i++) {
        names[count++] = reader->more[i];
    }
    names[count] = NULL;
    return fuzz_expect_files(fuzz, names);
}

static const char *run_reader(Fuzz *fuzz, const Reader *reader, const uint8_t *bytes, size_t size)
{
    FuzzText given[FILES_MOST] = {{0}};
    bool resume = write_files(fuzz, reader, bytes, size);
    for (size_t i = 0; reader->names[i] != NULL; i++) {
        given[i] = fuzz_read(reader->names[i]);
    }
    int status = call(fuzz, reader, resume);
    bool missing = strstr(fuzz->said, "missing: shard") != NULL;
    const char *why = status == 2 ? fuzz_expect_refusal(fuzz, missing ? "missing: shard" : ".csv")
                      : status == 0 || status == 1
                          ? expect_table(fuzz, reader, given, status)
                          : fuzz_broken(fuzz, "status %d: %s", status, fuzz->said);
    why = why == NULL && (reader->kept || status == 2) ? expect_as_given(fuzz, reader, given) : why;
    bool taken = reader->kept || (resume && given[2].bytes == NULL);
    why = why == NULL && status != 2 && taken ? expect_sealed(fuzz, reader, given) : why;
    why = why == NULL ? expect_beside(fuzz, reader, given, status) : why;
    for (size_t i = 0; i < FILES_MOST; i++) {
        free(given[i].bytes);
    }
    for (size_t i = 0; reader->names[i] != NULL; i++) {
        fuzz_remove(reader->names[i]);
    }
    for (size_t i = 0; reader->more[i] != NULL; i++) {
        fuzz_remove(reader->more[i]);
    }
    return why;
}

static const char *run_baseline(Fuzz *fuzz, const uint8_t *bytes, size_t size)
{
    return run_reader(fuzz, &readers[BASELINES], bytes, size);
}

static const char *run_merge(Fuzz *fuzz, const uint8_t *bytes, size_t size)
{
    return run_reader(fuzz, &readers[MERGES], bytes, size);
}

static const char *run_journal(Fuzz *fuzz, const uint8_t *bytes, size_t size)
{
    return run_reader(fuzz, &readers[JOURNALS], bytes, size);
}

const FuzzSubject fuzz_baselines = {.name = "baselines", .run = run_baseline, .places = true};
const FuzzSubject fuzz_merges = {.name = "merges", .run = run_merge, .places = true};
const FuzzSubject fuzz_journals = {.name = "journals", .run = run_journal, .places = true};
