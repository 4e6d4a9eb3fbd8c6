/*
 * What of a grid is there at a time: its points are predicted as they are, and evaluated by a
 * stand-in that sees what is beside it.
 */
#include "../../harness/evaluate/predict.h"
#include "../../harness/evaluate/schedule.h"
#include "../../harness/evaluate/shared.h"
#include "../given.h"
#include "../unit.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

/* Of the linker's --wrap: what the schedule calls comes to __wrap_NAME. */
Shared *__real_shared_make(const Point *const *points, size_t count, double tape_room);
Shared *__wrap_shared_make(const Point *const *points, size_t count, double tape_room);
bool __real_rows_evaluate(PointRows *rows, const Shared *shared, const Point *point);
bool __wrap_rows_evaluate(PointRows *rows, const Shared *shared, const Point *point);

static bool stands_in;
static unsigned long long made[16]; /* the seeds of bases, as they were made */
static size_t made_count, committed[16], committed_count;
static atomic_int running, most;

Shared *__wrap_shared_make(const Point *const *points, size_t count, double tape_room)
{
    if (!stands_in) {
        return __real_shared_make(points, count, tape_room);
    }
    assert_true(made_count < sizeof made / sizeof *made);
    made[made_count++] = points[0]->spec.seed;
    Shared *shared = calloc(1, sizeof *shared);
    assert_non_null(shared);
    return shared;
}

/* Stays for a while, in which another may come. */
bool __wrap_rows_evaluate(PointRows *rows, const Shared *shared, const Point *point)
{
    if (!stands_in) {
        return __real_rows_evaluate(rows, shared, point);
    }
    int now = atomic_fetch_add(&running, 1) + 1;
    if (now > atomic_load(&most)) {
        atomic_store(&most, now);
    }
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    atomic_fetch_sub(&running, 1);
    *rows = (PointRows){0};
    return true;
}

static bool commit(void *context, size_t index, PointRows *rows, bool more)
{
    (void)context, (void)rows, (void)more;
    committed[committed_count++] = index;
    return true;
}

static PointBytes predicted(const Point *point)
{
    PointBytes bytes;
    const char *reason;
    assert_int_equal(point_predict(&bytes, &reason, point), CASE_OK);
    return bytes;
}

/* All of a grid. */
static void run(const Grid *grid, double memory, int threads)
{
    size_t points[16];
    assert_true(grid->count <= sizeof points / sizeof *points);
    for (size_t i = 0; i < grid->count; i++) {
        points[i] = i;
    }
    const Work work = {.grid = grid, .points = points, .count = grid->count, .memory = memory};
    stands_in = true;
    made_count = committed_count = 0;
    atomic_store(&most, 0);
    assert_true(schedule_run(&work, threads, commit, NULL));
    stands_in = false;
}

/* Two points of one base, which is there once; what each takes besides holds a layer where layers
 * come and go. */
static void a_point_has_a_layer_of_its_own(void **state)
{
    assert_int_equal(setenv("HEADPROOF_HELD", "1", 1), 0);
    const Point *points = given_points(
        *state, "--construction linear --n 2 --d 2 --depth 2 --omega 10,20 --memory 1GiB", 2);
    assert_int_equal(unsetenv("HEADPROOF_HELD"), 0);
    const PointBytes bytes = predicted(&points[0]);
    assert_true(bytes.layer > 2);
    double both = bytes.base + bytes.tape + 2 * (bytes.kernel + bytes.run + bytes.layer);
    run(&((Given *)*state)->grid, both - 1, 2);
    assert_int_equal(made_count, 1);
    assert_int_equal(atomic_load(&most), 1);
}

/* Room for two bases of three, and a point of each: the third waits until one is done with. */
static void a_base_is_made_once(void **state)
{
    static const char sections[] =
        "[a]\nseed = 1\nomega = 10\n[b]\nseed = 2\nomega = 10\n[c]\nseed = 3\nomega = 10\n"
        "[d]\nseed = 2\nomega = 20\n[e]\nseed = 3\nomega = 20\n[f]\nseed = 2\nomega = 30\n"
        "[g]\nseed = 3\nomega = 30\n[h]\nseed = 1\nomega = 20\n";
    Given *given = *state;
    file_write(given->file, sections, sizeof sections - 1);
    const PointBytes bytes =
        predicted(given_points(given, "FILE --construction linear --n 2 --d 2", 8));
    run(&given->grid, 2 * (bytes.base + bytes.tape + bytes.kernel + bytes.run), 1);
    static const unsigned long long expected[] = {1, 2, 3};
    static const size_t order[] = {0, 1, 7, 2, 3, 4, 5, 6};
    assert_int_equal(made_count, 3);
    assert_memory_equal(made, expected, sizeof expected);
    assert_int_equal(committed_count, 8);
    assert_memory_equal(committed, order, sizeof order);
    run(&given->grid, 1, 2); /* what is found to fit alone goes on, whatever is foretold of it */
    assert_int_equal(made_count, 3);
    assert_int_equal(committed_count, 8);
}

/* Without a reference no r(T) is made, unless another point of the group asks. */
static void nothing_of_the_reference_is_made(void **state)
{
    for (int both = 0; both < 2; both++) {
        const Point *points =
            given_points(*state,
                         both ? "--construction fused --n 3 --d 3 --omega 20 --reference none,auto"
                              : "--construction fused --n 3 --d 3 --omega 20,30 --reference none",
                         2);
        const Point *list[] = {&points[0], &points[1]};
        Shared *shared = shared_make(list, 2, 0);
        assert_non_null(shared);
        assert_true((shared->base != NULL) == both);
        assert_non_null(shared_original(shared, &points[0]));
        shared_clear(shared);
    }
}

SUBJECT(schedule)
{
    const struct CMUnitTest tests[] = {
        GIVEN_TEST(a_point_has_a_layer_of_its_own),
        GIVEN_TEST(a_base_is_made_once),
        GIVEN_TEST(nothing_of_the_reference_is_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
