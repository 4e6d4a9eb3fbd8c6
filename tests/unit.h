/*
 * The last of our headers in every test: cmocka, what it wants to come before it, and a subject,
 * which is the tests of one file.
 */
#ifndef HEADPROOF_TESTS_UNIT_H
#define HEADPROOF_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Every test is handed a state, and few need it. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* Subjects of one room are one program (tests/subjects.c), which runs the one that it is told to:
 * `test-ROOM SUBJECT [ARGUMENT...]`. */
typedef struct TestSubject {
    const char *name;
    int (*run)(int argc, char **argv); /* argv[0]: the subject's name; returns how many failed */
    struct TestSubject *next;
} TestSubject;

void subject_add(TestSubject *subject);

/* The program's path, for a subject that starts it again. */
extern const char *subject_program;

/* SUBJECT(norms) { ... return cmocka_run_group_tests(tests, NULL, NULL); } */
#define SUBJECT(word)                                                                              \
    static int word##_tests(int argc, char **argv);                                                \
    __attribute__((constructor)) static void word##_is_one(void)                                   \
    {                                                                                              \
        static TestSubject subject = {#word, word##_tests, NULL};                                  \
        subject_add(&subject);                                                                     \
    }                                                                                              \
    static int word##_tests(int argc, char **argv)

#endif
