/*
 * The end of a process that is short of memory: its message, what it still does, and its code.
 */
#include "../../cases/arena.h"
#include "../../memory/need.h"
#include "../../reference/numbers/ap.h"
#include "../../reference/product/internal.h"
#include "../unit.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef void Ends(void);

typedef struct {
    char said[256]; /* on stdout and stderr, in the order of its lines */
    int code;
} End;

static void read_all(char *text, size_t size, int fd)
{
    size_t used = 0;
    for (ssize_t got = 1; got > 0; used += (size_t)got) {
        got = read(fd, text + used, size - 1 - used);
        assert_true(got >= 0);
    }
    text[used] = '\0';
}

static End end_of(Ends *ends)
{
    End end;
    int both[2], status;
    assert_int_equal(pipe(both), 0);
    fflush(stdout);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        bool ready = dup2(both[1], STDOUT_FILENO) >= 0 && dup2(both[1], STDERR_FILENO) >= 0;
        close(both[0]);
        if (ready) {
            ends();
        }
        _exit(1);
    }
    close(both[1]);
    read_all(end.said, sizeof end.said, both[0]);
    close(both[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    end.code = WEXITSTATUS(status);
    return end;
}

static void expect_end(Ends *ends, const char *said)
{
    End end = end_of(ends);
    assert_string_equal(end.said, said);
    assert_int_equal(end.code, 99);
}

/* More than there are addresses: as no allocator is asked for it, sanitizers' have nothing to
 * say. */
static void ask_for_too_much(void)
{
    free(need_room(SIZE_MAX / 2, 4));
}

/* Numbers whose count does not fit, or whose bytes do not. */
static void ask_for_too_many_numbers(void)
{
    ApMat m;
    ap_init(&m, SIZE_MAX / 2, 4, 128);
}

static void ask_for_too_long_numbers(void)
{
    ApMat m;
    ap_init(&m, SIZE_MAX / 16, 1, 128);
}

static void ask_for_too_large_an_array(void)
{
    array_free(array_alloc(SIZE_MAX / 2, 1));
}

/* No count of bytes wraps around. */
static void ask_an_arena_for_too_much(void)
{
    void *taken = arena_take(arena_create(), SIZE_MAX - 7, 1);
    (void)taken;
}

static void ask_an_arena_for_too_many(void)
{
    void *taken = arena_take(arena_create(), (SIZE_MAX - 7) / 8, 8);
    (void)taken;
}

static void ask_an_arena_for_numbers(void)
{
    double *taken = arena_take_numbers(arena_create(), SIZE_MAX / 16, 4);
    (void)taken;
}

static void print_and_ask(void)
{
    printf("a row");
    ask_for_too_much();
}

static void write_text(void *context)
{
    const char *text = context;
    ssize_t written = write(STDERR_FILENO, text, strlen(text));
    (void)written;
}

static char first[] = "first\n", second[] = "second\n", third[] = "third\n";
static NeedLast oldest = {write_text, first, NULL}, middle = {write_text, second, NULL},
                newest = {write_text, third, NULL};

static void leave_two_of_three(void)
{
    need_add_last(&oldest);
    need_add_last(&middle);
    need_add_last(&newest);
    need_take_last(&middle);
    free(need_zeros(SIZE_MAX, 2));
}

/* What is done last takes back what would have been done next, as who clears a file that holds
 * another does. */
static void take_oldest(void *context)
{
    write_text(context);
    need_take_last(&oldest);
}

static void take_at_end(void)
{
    newest.act = take_oldest;
    need_add_last(&oldest);
    need_add_last(&newest);
    free(need_more(NULL, SIZE_MAX, 3));
}

static void fail_again(void *context)
{
    write_text(context);
    ask_for_too_much();
}

static void end_at_the_end(void)
{
    newest.act = fail_again;
    need_add_last(&oldest);
    need_add_last(&newest);
    ask_for_too_much();
}

/* Long enough for other threads to come to the same end. */
static void write_late(void *context)
{
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    write_text(context);
}

static void *ask_in_thread(void *unused)
{
    (void)unused;
    ask_for_too_much();
    return NULL;
}

static void ask_in_threads(void)
{
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    oldest.act = write_late;
    need_add_last(&oldest);
    for (int i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, ask_in_thread, NULL) != 0) {
            _exit(2);
        }
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
}

static void say_otherwise(void)
{
    need_end("headproof: threads are short\n");
}

#define SHORT "headproof: memory is short\n"

static void an_end_is_said_and_done(void **state)
{
    expect_end(ask_for_too_much, SHORT);
    expect_end(print_and_ask, SHORT "a row");
    expect_end(say_otherwise, "headproof: threads are short\n");
    expect_end(ask_for_too_many_numbers, SHORT);
    expect_end(ask_for_too_long_numbers, SHORT);
    expect_end(ask_for_too_large_an_array, SHORT);
    expect_end(ask_an_arena_for_too_much, SHORT);
    expect_end(ask_an_arena_for_too_many, SHORT);
    expect_end(ask_an_arena_for_numbers, SHORT);
}

static void the_newest_is_done_first(void **state)
{
    expect_end(leave_two_of_three, SHORT "third\nfirst\n");
    expect_end(take_at_end, SHORT "third\n");
    expect_end(end_at_the_end, SHORT "third\n");
}

static void one_thread_ends_all(void **state)
{
    expect_end(ask_in_threads, SHORT "first\n");
}

static void what_is_there_is_given(void **state)
{
    unsigned char *zeros = need_zeros(3, 5), *none = need_zeros(0, 8);
    for (size_t i = 0; i < 15; i++) {
        assert_int_equal(zeros[i], 0);
    }
    free(none);
    free(zeros);
    size_t *numbers = NULL, *next = NULL;
    for (size_t i = 0; i < 100; i++) {
        numbers = need_more(numbers, i + 1, sizeof *numbers);
        next = need_next(next, i, sizeof *next);
        numbers[i] = next[i] = i;
    }
    assert_int_equal(numbers[0] + numbers[63] + numbers[99], 63 + 99);
    assert_memory_equal(next, numbers, 100 * sizeof *next);
    free(numbers);
    free(next);
    char *text = need_copy("omega"), *begun = need_copy_of("omega", 3);
    assert_string_equal(text, "omega");
    assert_string_equal(begun, "ome");
    free(text);
    free(begun);
}

SUBJECT(need)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_end_is_said_and_done),
        cmocka_unit_test(the_newest_is_done_first),
        cmocka_unit_test(one_thread_ends_all),
        cmocka_unit_test(what_is_there_is_given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
