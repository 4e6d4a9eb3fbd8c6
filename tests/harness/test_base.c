/*
 * The ground that commands stand on: whose fault an error is, long tokens, digests, files with two
 * names, signals that are ignored.  Expected values are documented ones and published vectors.
 */
#include "../../harness/base/atomic_file.h"
#include "../../harness/base/digest.h"
#include "../../harness/base/interrupt.h"
#include "../../harness/base/message.h"
#include "../fixture.h"
#include "../unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Memory, descriptors and disks are the machine's: 99.  Names and permissions are the user's: 2. */
static void faults_have_an_owner(void **state)
{
    static const int machine[] = {EIO, ENOMEM, EMFILE, ENFILE, ENOSPC, EDQUOT};
    static const int user[] = {ENOENT, EACCES, EPERM, EISDIR, ENOTDIR, ELOOP, ENAMETOOLONG};
    for (size_t i = 0; i < sizeof machine / sizeof *machine; i++) {
        assert_int_equal(file_fault(machine[i]), 99);
    }
    for (size_t i = 0; i < sizeof user / sizeof *user; i++) {
        assert_int_equal(file_fault(user[i]), 2);
    }
}

/* A token of more than 400 bytes is cut before the character that would cross that. */
static void tokens_are_cut_between_characters(void **state)
{
    static const char *const characters[] = {"b", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"};
    char token[450], expected[600];
    Message message;
    for (size_t i = 0; i < 4; i++) {
        size_t length = strlen(characters[i]);
        for (size_t before = 400 - length; before <= 400; before++) {
            int shown = (int)(before == 400 - length ? 400 : before);
            memset(token, 'a', before);
            snprintf(token + before, sizeof token - before, "%stail", characters[i]);
            message_token(&message, token, strlen(token), "expected %d", 7);
            snprintf(expected, sizeof expected, "token '%.*s...': expected 7", shown, token);
            assert_string_equal(message.text, expected);
        }
    }
}

/* FNV-1a's published vectors; zeros only multiply, which powers do as well. */
static void digests_are_fnv(void **state)
{
    enum { ZEROS = 3 * 65536 + 17 };
    static const unsigned char zeros[ZEROS];
    Scratch *scratch = *state;
    char path[SCRATCH_PATH];
    uint64_t digest = DIGEST_START, power = 1, square = UINT64_C(0x100000001B3);
    assert_true(digest_bytes(DIGEST_START, "", 0) == UINT64_C(0xcbf29ce484222325));
    assert_true(digest_bytes(DIGEST_START, "a", 1) == UINT64_C(0xaf63dc4c8601ec8c));
    assert_true(digest_bytes(DIGEST_START, "foobar", 6) == UINT64_C(0x85944171f73967e8));
    for (size_t count = ZEROS; count > 0; count /= 2, square *= square) {
        power *= count % 2 ? square : 1;
    }
    scratch_path(path, scratch, "zeros");
    file_write(path, (const char *)zeros, ZEROS);
    int fd = open(path, O_RDONLY);
    assert_int_equal(digest_descriptor(&digest, fd), 0);
    assert_true(digest == UINT64_C(0xcbf29ce484222325) * power);
    assert_int_equal(close(fd), 0);
}

/* A directory cannot be read. */
static void what_is_unread_has_no_digest(void **state)
{
    const Scratch *scratch = *state;
    uint64_t digest = DIGEST_START;
    int fd = open(scratch->directory, O_RDONLY);
    assert_true(fd >= 0);
    assert_int_equal(digest_descriptor(&digest, fd), -1);
    assert_int_equal(errno, EISDIR);
    assert_int_equal(close(fd), 0);
}

/* What is replaced under one name would be changed under the other. */
static void second_names_are_let_alone(void **state)
{
    const Scratch *scratch = *state;
    char path[SCRATCH_PATH], other[SCRATCH_PATH];
    bool there;
    scratch_path(path, scratch, "out.csv.json");
    scratch_path(other, scratch, "kept");
    assert_true(atomic_file_doubt(&there, path) == NULL && !there);
    file_write(path, "{\n \"schema\": 1}", 15);
    assert_int_equal(atomic_file_claim(NULL, path), 0);
    assert_int_equal(link(path, other), 0);
    const char *doubt = atomic_file_doubt(&there, path);
    assert_non_null(doubt);
    assert_string_equal(doubt, "it has a second name");
    assert_int_equal(unlink(other), 0);
    assert_true(atomic_file_doubt(&there, path) == NULL && there);
}

static void say_nothing(void *context, bool locked)
{
    (void)context;
    (void)locked;
}

/* As nohup leaves it: a signal that is ignored stays so, while others are taken. */
static void ignored_signals_stay_ignored(void **state)
{
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct sigaction now;
    assert_true(signal(SIGHUP, SIG_IGN) != SIG_ERR);
    Interrupt *interrupt = interrupt_open(&lock, say_nothing, NULL);
    assert_non_null(interrupt);
    assert_int_equal(sigaction(SIGHUP, NULL, &now), 0);
    assert_true(now.sa_handler == SIG_IGN);
    assert_int_equal(sigaction(SIGTERM, NULL, &now), 0);
    assert_true(now.sa_handler != SIG_IGN && now.sa_handler != SIG_DFL);
    interrupt_close(interrupt);
    assert_int_equal(sigaction(SIGHUP, NULL, &now), 0);
    assert_true(now.sa_handler == SIG_IGN);
    assert_true(signal(SIGHUP, SIG_DFL) == SIG_IGN);
}

SUBJECT(base)
{
    const struct CMUnitTest base[] = {
        cmocka_unit_test(faults_have_an_owner),
        cmocka_unit_test(tokens_are_cut_between_characters),
        SCRATCH_TEST(digests_are_fnv),
        SCRATCH_TEST(what_is_unread_has_no_digest),
        SCRATCH_TEST(second_names_are_let_alone),
        cmocka_unit_test(ignored_signals_stay_ignored),
    };
    return cmocka_run_group_tests(base, NULL, NULL);
}
