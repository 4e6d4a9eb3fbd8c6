/*
 * The program of a room's tests, tests/ROOM/test_*.c: runs the subject that its first argument
 * names, with what follows; without arguments it lists them.
 */
#include "../kernels/blas.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

const char *subject_program;

static TestSubject *subjects;

void subject_add(TestSubject *subject)
{
    subject->next = subjects;
    subjects = subject;
}

int main(int argc, char **argv)
{
    blas_setup(argv);
    subject_program = argv[0];
    for (const TestSubject *subject = subjects; subject != NULL; subject = subject->next) {
        if (argc == 1) {
            printf("%s\n", subject->name);
        } else if (strcmp(subject->name, argv[1]) == 0) {
            return subject->run(argc - 1, argv + 1);
        }
    }
    if (argc > 1) {
        fprintf(stderr, "%s: no subject '%s'\n", argv[0], argv[1]);
    }
    return argc > 1 ? 126 : 0;
}
