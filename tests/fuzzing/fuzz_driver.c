/*
 * Fuzzing by libFuzzer (make fuzz): HEADPROOF_FUZZ names the subject.
 *
 *   HEADPROOF_FUZZ=values fuzz CORPUS SEEDS [FLAG...]   seeds, filled in, are added to the corpus
 *   HEADPROOF_FUZZ=values fuzz INPUT...                 runs inputs, as one that was found
 *
 * Paths are absolute: subjects run in a directory of their own.
 */
#include "fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

static Fuzz fuzz;
static const FuzzSubject *subject;
static FILE *report; /* stderr, also after libFuzzer has closed it for subjects */

static void clear(void)
{
    fuzz_close(&fuzz);
}

static bool is_directory(const char *path)
{
    struct stat found;
    return stat(path, &found) == 0 && S_ISDIR(found.st_mode);
}

/* Every seed, filled in, into the corpus. */
static void fill_seeds(const char *corpus, const char *seeds)
{
    DIR *directory = opendir(seeds);
    const struct dirent *entry;
    char path[2 * SCRATCH_PATH];
    fuzz_need(directory != NULL, seeds);
    while ((entry = readdir(directory)) != NULL) {
        if (entry->d_name[0] != '.') {
            snprintf(path, sizeof path, "%s/%s", seeds, entry->d_name);
            FuzzText seed = fuzz_read(path);
            FuzzText text = fuzz_fill(&fuzz, (const uint8_t *)seed.bytes, seed.size);
            snprintf(path, sizeof path, "%s/%s", corpus, entry->d_name);
            fuzz_write(path, text.bytes, text.size);
            free(seed.bytes);
            free(text.bytes);
        }
    }
    (void)closedir(directory);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    const char *name = getenv("HEADPROOF_FUZZ");
    for (size_t i = 0; name != NULL && fuzz_subjects[i] != NULL; i++) {
        subject = strcmp(fuzz_subjects[i]->name, name) == 0 ? fuzz_subjects[i] : subject;
    }
    if (subject == NULL) {
        fputs("HEADPROOF_FUZZ: expected a subject:", stderr);
        for (size_t i = 0; fuzz_subjects[i] != NULL; i++) {
            fprintf(stderr, " %s", fuzz_subjects[i]->name);
        }
        fputs("\n", stderr);
        exit(2);
    }
    int fd = dup(STDERR_FILENO);
    report = fd < 0 ? NULL : fdopen(fd, "w");
    fuzz_need(report != NULL, "stderr");
    fuzz_open(&fuzz, subject);
    atexit(clear);
    if (*argc > 2 && is_directory((*argv)[1]) && is_directory((*argv)[2])) {
        fill_seeds((*argv)[1], (*argv)[2]);
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FuzzText text = fuzz_fill(&fuzz, data, size);
    fuzz.skipped = false;
    const char *why = subject->run(&fuzz, (const uint8_t *)text.bytes, text.size);
    if (why != NULL) {
        fprintf(report, "fuzz %s: %s\n", subject->name, why);
        fflush(report);
        abort();
    }
    free(text.bytes);
    return fuzz.skipped ? -1 : 0;
}

/* Few changed models would come past the first checks: mostly their header's length is made right
 * again. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    size = LLVMFuzzerMutate(data, size, max_size);
    if (subject->repair != NULL && seed % 4 != 0) {
        subject->repair(data, size);
    }
    return size;
}
