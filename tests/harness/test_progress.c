/*
 * Messages about long work, to the letter: a stream and a clock are given, so that the expected
 * texts follow from arithmetic on paper.
 */
#include "../../harness/base/ticker.h"
#include "../unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CLEAR "\r\033[K"

static double now;

static double clock_now(void)
{
    return now;
}

typedef struct {
    char *text;
    size_t length, seen;
    FILE *file;
    Progress progress;
} Said;

static void start(Said *said, bool terminal, double cost)
{
    now = 1000;
    said->seen = 0;
    said->file = open_memstream(&said->text, &said->length);
    assert_non_null(said->file);
    progress_open(&said->progress, (ProgressSink){said->file, terminal, clock_now, 0}, cost);
}

/* What was said since the last call. */
static void expect(Said *said, const char *text)
{
    assert_int_equal(fflush(said->file), 0);
    assert_string_equal(said->text + said->seen, text);
    said->seen = said->length;
}

static void finish(Said *said)
{
    fclose(said->file);
    assert_null(strstr(said->text, "nan"));
    assert_null(strstr(said->text, "inf"));
    free(said->text);
}

/* Three points of four are done in 40 s, and they were a tenth of the cost: some 6 min to go, where
 * a count would say 13 s.  It is the first that is known, and may be off by a factor of 2. */
static void time_to_go_is_by_cost(void **state)
{
    for (int terminal = 0; terminal < 2; terminal++) {
        Said said;
        start(&said, terminal, 100);
        progress_phase(&said.progress, "", "points", 4, 100);
        now += terminal ? 40 : 60;
        progress_add(&said.progress, 3, 10);
        expect(&said, terminal ? CLEAR "[##..................] 3/4 points, 0.075/s, ETA 3 to 12 min"
                               : "headproof: 3 of 4 points, 10% of the predicted work, 4 to 18 "
                                 "min to go\n");
        now += 60;
        progress_add(&said.progress, 1, 90);
        expect(&said, terminal ? CLEAR "[####################] 4/4 points, 0.04/s"
                               : "headproof: 4 of 4 points, 100% of the predicted work\n");
        finish(&said);
    }
}

static void a_line_a_minute_without_a_terminal(void **state)
{
    Said said;
    start(&said, false, 300);
    progress_phase(&said.progress, "", "inputs", 300, 300);
    for (int second = 1; second < 60; second++) {
        now += 1;
        progress_add(&said.progress, 1, 1);
    }
    expect(&said, "");
    for (int second = 60; second <= 179; second++) {
        now += 1;
        progress_add(&said.progress, 1, 1);
    }
    progress_clear(&said.progress);
    expect(&said, "headproof: 60 of 300 inputs, 20% of the predicted work, 4 min to go\n"
                  "headproof: 120 of 300 inputs, 40% of the predicted work, 3 min to go\n");
    finish(&said);
}

/* At 10 s a hundredth is done, so 1000 s in all; then it goes four times as fast: the range that it
 * wandered in is said, until it has stayed for a part of the time. */
static void a_range_is_said_until_it_settles(void **state)
{
    Said said;
    start(&said, true, 1000);
    progress_phase(&said.progress, "", "inputs", 1000, 1000);
    now += 10;
    progress_add(&said.progress, 10, 10); /* 1000 s in all, 500 to 2000 */
    expect(&said, CLEAR "[....................] 10/1000 inputs, 1/s, ETA 8 to 33 min");
    now += 15;
    progress_add(&said.progress, 90, 90); /* 250 s in all, and before 1000 */
    expect(&said, CLEAR "[##..................] 100/1000 inputs, 4/s, ETA 4 to 15 min");
    now += 5;
    progress_add(&said.progress, 20, 20); /* still 250 s in all, within that stretch */
    expect(&said, CLEAR "[##..................] 120/1000 inputs, 4/s, ETA 4 to 15 min");
    now += 30;
    progress_add(&said.progress, 120, 120); /* behind it */
    expect(&said, CLEAR "[####................] 240/1000 inputs, 4/s, ETA 3 min");
    finish(&said);
}

static void a_terminal_is_redrawn_ten_times_a_second(void **state)
{
    Said said;
    size_t drawn = 0;
    start(&said, true, 1024);
    progress_phase(&said.progress, "", "points", 1024, 1024);
    for (int i = 0; i < 1024; i++) {
        now += 0x1p-9;
        progress_add(&said.progress, 1, 1);
    }
    assert_int_equal(fflush(said.file), 0);
    for (const char *c = said.text; (c = strstr(c, CLEAR)) != NULL; c++) {
        drawn++;
    }
    assert_true(drawn >= 18 && drawn <= 20);
    finish(&said);
}

/* A message: the line goes, once; and comes back when there is something to say. */
static void a_line_is_cleared_for_a_message(void **state)
{
    Said said;
    start(&said, true, 2);
    progress_phase(&said.progress, "omega 20", "inputs", 2, 2);
    progress_clear(&said.progress);
    expect(&said, "");
    now += 1;
    progress_add(&said.progress, 1, 1);
    expect(&said, CLEAR "[##########..........] omega 20: 1/2 inputs, 1/s, ETA 1 to 2 s");
    progress_clear(&said.progress);
    progress_clear(&said.progress);
    expect(&said, CLEAR);
    now += 0.01;
    progress_add(&said.progress, 0, 0);
    expect(&said, "");
    now += 1;
    progress_add(&said.progress, 1, 1);
    expect(&said, CLEAR "[####################] omega 20: 2/2 inputs, 0.995/s");
    finish(&said);
}

/* A phase that costs less or more than predicted ends at its predicted share. */
static void phases_end_at_their_cost(void **state)
{
    Said said;
    start(&said, false, 100);
    progress_phase(&said.progress, "bases", "inputs", 1, 10);
    progress_add(&said.progress, 1, 1e300);
    progress_phase(&said.progress, "search", "evaluations", 0, 40);
    progress_add(&said.progress, 7, 20);
    progress_phase(&said.progress, "omega 5", "inputs", 2, 50);
    now += 60;
    progress_add(&said.progress, 1, 25);
    expect(&said,
           "headproof: omega 5: 1 of 2 inputs, 75% of the predicted work, 10 to 40 s to go\n");
    progress_phase(&said.progress, "search", "evaluations", 0, 0);
    now += 60;
    progress_add(&said.progress, 7, 20);
    expect(&said, "headproof: search: 7 evaluations, 100% of the predicted work\n");
    finish(&said);
}

/* No cost, no units, no time: nothing is divided by. */
static void nothing_known_is_nothing_said(void **state)
{
    static const double costs[] = {0, -1, NAN, INFINITY};
    for (size_t i = 0; i < sizeof costs / sizeof *costs; i++) {
        Said said;
        double cost = costs[i];
        start(&said, true, cost);
        progress_phase(&said.progress, "", "points", 0, cost);
        now += 1;
        progress_phase(&said.progress, "", "points", 0, cost); /* 0 elapsed in the phase */
        progress_add(&said.progress, 0, cost);
        progress_add(&said.progress, 5, cost);
        now += 1;
        progress_add(&said.progress, 1, cost);
        expect(&said, CLEAR "0 points, 1 s so far" CLEAR "6 points, 6/s");
        progress_clear(&said.progress);
        finish(&said);
        start(&said, false, cost);
        progress_phase(&said.progress, "", "points", 3, cost);
        now += 61;
        progress_add(&said.progress, 1, cost);
        expect(&said, "headproof: 1 of 3 points\n");
        finish(&said);
    }
}

/* Nothing is done, and it is told all the same: at once on a terminal, once a minute elsewhere. */
static void a_long_first_unit_is_told(void **state)
{
    Said said;
    start(&said, true, 10);
    progress_phase(&said.progress, "", "points", 2, 10);
    now += 1;
    progress_tick(&said.progress);
    expect(&said, CLEAR "[....................] 0/2 points, 1 s so far");
    now += 41;
    progress_tick(&said.progress);
    expect(&said, CLEAR "[....................] 0/2 points, 42 s so far");
    finish(&said);
    start(&said, false, 10);
    progress_phase(&said.progress, "", "points", 2, 10);
    for (int second = 1; second <= 125; second++) {
        now += 1;
        progress_tick(&said.progress);
    }
    expect(&said, "headproof: 0 of 2 points, 0% of the predicted work, 60 s so far\n"
                  "headproof: 0 of 2 points, 0% of the predicted work, 2 min so far\n");
    finish(&said);
}

/* Whatever the width: less than it, with a bar where there is room, and the counts to the last. */
static void a_line_fits_the_terminal(void **state)
{
    static const struct {
        size_t width;
        const char *text;
    } lines[] = {
        {300, "[##########..........] omega 20: 5/10 inputs, 0.5/s, ETA 5 to 20 s"},
        {67, "[##########..........] omega 20: 5/10 inputs, 0.5/s, ETA 5 to 20 s"},
        {66, "[#########..........] omega 20: 5/10 inputs, 0.5/s, ETA 5 to 20 s"},
        {51, "[##..] omega 20: 5/10 inputs, 0.5/s, ETA 5 to 20 s"},
        {50, "omega 20: 5/10 inputs, 0.5/s, ETA 5 to 20 s"},
        {44, "omega 20: 5/10 inputs, 0.5/s, ETA 5 to 20 s"},
        {43, "omega 20: 5/10 inputs, ETA 5 to 20 s"},
        {37, "omega 20: 5/10 inputs, ETA 5 to 20 s"},
        {20, "omega 20: 5/10 inpu"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        Said said;
        char expected[128];
        start(&said, true, 10);
        said.progress.sink.width = lines[i].width;
        progress_phase(&said.progress, "omega 20", "inputs", 10, 10);
        now += 10;
        progress_add(&said.progress, 5, 5);
        snprintf(expected, sizeof expected, CLEAR "%s", lines[i].text);
        assert_true(strlen(lines[i].text) < lines[i].width);
        expect(&said, expected);
        finish(&said);
    }
}

static int ticks; /* written by the ticker's thread, under the lock */

static double clock_that_counts(void)
{
    ticks++;
    return 1000 + 60 * ticks;
}

/* Ticks come by themselves until it is closed, and not after; without a stream there are none. */
static void a_ticker_ticks(void **state)
{
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    Said said;
    said.seen = 0;
    said.file = open_memstream(&said.text, &said.length);
    assert_non_null(said.file);
    progress_open(&said.progress, (ProgressSink){said.file, false, clock_that_counts, 0}, 1);
    progress_phase(&said.progress, "", "points", 1, 1);
    int before = ticks;
    Ticker *ticker = ticker_open(&lock, &said.progress);
    assert_non_null(ticker);
    for (int told = 0, waits = 0; told < before + 3;
         waits++) { /* a minute for the slowest machine */
        const struct timespec moment = {.tv_nsec = 10000000};
        assert_true(waits < 6000);
        nanosleep(&moment, NULL);
        pthread_mutex_lock(&lock);
        told = ticks;
        pthread_mutex_unlock(&lock);
    }
    ticker_close(ticker);
    int told = ticks;
    assert_int_equal(fflush(said.file), 0);
    assert_non_null(strstr(said.text, "headproof: 0 of 1 points"));
    assert_int_equal(ticks, told);
    finish(&said);
    progress_open(&said.progress, progress_stderr(true), 1);
    assert_null(ticker_open(&lock, &said.progress));
    ticker_close(NULL);
}

static void quiet_says_nothing(void **state)
{
    Progress progress;
    progress_open(&progress, progress_stderr(true), 1);
    assert_null(progress.sink.stream);
    progress_phase(&progress, "", "points", 1, 1);
    progress_add(&progress, 1, 1);
    progress_clear(&progress);
}

static void durations_have_two_digits_and_a_unit(void **state)
{
    static const struct {
        double seconds;
        const char *text;
    } expected[] = {{0, "1 s"},
                    {42.4, "42 s"},
                    {99.4, "99 s"},
                    {99.6, "2 min"},
                    {5940, "99 min"},
                    {5975, "1.7 h"},
                    {357000, "99.2 h"},
                    {864000, "10.0 days"},
                    {-1, "an unknown time"},
                    {NAN, "an unknown time"},
                    {INFINITY, "an unknown time"},
                    {1e300, "an unknown time"}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        char text[DURATION_TEXT];
        assert_string_equal(duration_print(text, expected[i].seconds), expected[i].text);
    }
}

SUBJECT(progress)
{
    const struct CMUnitTest progress[] = {
        cmocka_unit_test(time_to_go_is_by_cost),
        cmocka_unit_test(a_line_a_minute_without_a_terminal),
        cmocka_unit_test(a_range_is_said_until_it_settles),
        cmocka_unit_test(a_terminal_is_redrawn_ten_times_a_second),
        cmocka_unit_test(a_line_is_cleared_for_a_message),
        cmocka_unit_test(phases_end_at_their_cost),
        cmocka_unit_test(nothing_known_is_nothing_said),
        cmocka_unit_test(a_long_first_unit_is_told),
        cmocka_unit_test(a_line_fits_the_terminal),
        cmocka_unit_test(a_ticker_ticks),
        cmocka_unit_test(quiet_says_nothing),
        cmocka_unit_test(durations_have_two_digits_and_a_unit),
    };
    return cmocka_run_group_tests(progress, NULL, NULL);
}
