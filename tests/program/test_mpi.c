/*
 * A sweep over the ranks of an MPI job: the bytes of one process, also after a rank died.  The
 * build with MPI is the one that is tested or lies beside it (build/release-mpi); without it, or
 * without mpirun, only what needs neither is tested, and that is said.
 */
#include "../fixture.h"
#include "../interrupted.h"
#include "../program.h"
#include "../unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GRID "--construction silu,fused --n 8 --d 6 --depth 6 --omega 8:20 --seed 1:4 --quiet"
#define LONG "--construction silu,fused --n 10 --d 8 --depth 12 --omega 8:20 --seed 1:3 --quiet"

typedef struct {
    Scratch scratch;
    char program[1024]; /* with MPI; "" where there is none */
    char launch[256];   /* mpirun and what it takes here */
} Fixture;

static bool shell_says_yes(const char *line)
{
    return system(line) == 0;
}

static void find_mpi(Fixture *fixture)
{
    char line[2048], *slash;
    snprintf(fixture->program, sizeof fixture->program, "%s", program());
    bool own = shell_says_yes("\"$HEADPROOF\" info | grep '^mpi ' | grep -qv ' none$'");
    for (int up = 0; !own && up < 2 && (slash = strrchr(fixture->program, '/')) != NULL; up++) {
        *slash = '\0';
    }
    size_t length = strlen(fixture->program);
    snprintf(fixture->program + length, sizeof fixture->program - length, "%s",
             own ? "" : "/release-mpi/headproof");
    snprintf(line, sizeof line, "test -x %s && command -v mpirun >/dev/null 2>&1",
             fixture->program);
    if (!shell_says_yes(line)) {
        fixture->program[0] = '\0';
        return;
    }
    /* Open MPI wants to be told twice. */
    bool open = shell_says_yes("mpirun --version 2>/dev/null | grep -q 'Open MPI'");
    snprintf(fixture->launch, sizeof fixture->launch, "timeout 120 mpirun %s",
             !open            ? ""
             : geteuid() == 0 ? "--allow-run-as-root --oversubscribe"
                              : "--oversubscribe");
}

static int set_up(void **state)
{
    Fixture *fixture = fixture_make(sizeof *fixture);
    find_mpi(fixture);
    *state = fixture;
    return 0;
}

static void need_mpi(const Fixture *fixture)
{
    if (fixture->program[0] == '\0') {
        print_message("skipped: no mpirun, or no build with MPI (make MPI=1)\n");
        skip();
    }
}

/* A script in the scratch directory, with $M for "mpirun -n 3 PROGRAM" and $P for the program. */
static void expect(const Fixture *fixture, const char *script, int code, const char *says)
{
    char line[6144];
    snprintf(line, sizeof line, "-c 'cd %s && { R=\"%s\"; P=%s; M=\"$R -n 3 $P\"; %s\n} 2>&1'",
             fixture->scratch.directory, fixture->launch,
             fixture->program[0] != '\0' ? fixture->program : program(), script);
    Output output = run_program("sh", line);
    expect_says(&output, code, says);
}

static void info_says_which(void **state)
{
    Output info = run("info");
    expect_says(&info, 0, "\nmpi ");
    if (strstr(info.text, "\nmpi                   none\n") != NULL) {
        /* What mpirun sets means nothing to it. */
        setenv("OMPI_COMM_WORLD_SIZE", "3", 1);
        setenv("PMI_SIZE", "3", 1);
        Output alone = expect_run(0, "sweep --construction silu --n 2 --d 2 --omega 5");
        assert_int_equal(lines(&alone), 2);
        unsetenv("OMPI_COMM_WORLD_SIZE");
        unsetenv("PMI_SIZE");
    }
}

static void ranks_give_the_same_bytes(void **state)
{
    need_mpi(*state);
    expect(*state,
           "$P sweep " GRID " --threads 1 -o one.csv && $P sweep " GRID
           " --threads 2 -o two.csv && "
           "cmp one.csv two.csv && $R -n 1 $P sweep " GRID " -o n1.csv && cmp one.csv n1.csv && "
           "$M sweep " GRID " -o n3.csv && cmp one.csv n3.csv && grep -c \\\"rank\\\" n3.csv.json",
           0, "2\n");
    expect(*state,
           "for i in 1 2; do $M sweep " GRID " --shard $i/2 -o s$i.csv || exit 1; done; "
           "$P merge s?.csv -o all.csv && cmp one.csv all.csv && echo equal",
           0, "equal");
    const char *path = path_in(*state, "n3.csv");
    Output whole = read_file(path);
    leave_interrupted(path, &whole, 20000, 6, 0.001);
    expect(*state,
           "test -e n3.csv && exit 3; $M sweep " GRID " --resume -o n3.csv; "
           "cmp one.csv n3.csv && echo eq",
           0, "eq");
    expect(*state, "$M sweep " GRID " --dry-run | wc -l", 0, "104\n");
    /* What ranks do not share, one of them does. */
    expect(*state, "$M info | grep -c \"^openblas_core \"", 0, "1\n");
    expect(*state, "$M sweep --help | grep -c ^usage", 0, "1\n");
}

static void faults_are_said_once(void **state)
{
    need_mpi(*state);
    expect(*state, "$M sweep --omgea 3 >out 2>&1; code=$?; grep -c omgea out; exit $code", 2,
           "1\n");
    expect(*state, "$M sweep " GRID " --threads 2 -o x.csv", 2, "--threads: ");
    expect(*state, "$M sweep " GRID " --memory 10KiB -o x.csv", 2, "GiB may be used");
    expect(*state, "$M sweep " GRID " -o missing/x.csv", 2, "missing/x.csv");
    expect(*state, "$M sweep " GRID " --tolerance 1e-30 -o x.csv", 1, "reproduce: ");
    expect(*state, "$M sweep " GRID " -o /dev/full", 99, "/dev/full: cannot be written");
}

/* One rank with other kernels. */
static void other_cores_are_warned_of(void **state)
{
    need_mpi(*state);
    expect(*state,
           "$R -n 2 env OPENBLAS_CORETYPE=Haswell $P sweep " GRID " -o x.csv : -n 1 env "
           "OPENBLAS_CORETYPE=Nehalem $P sweep " GRID " -o x.csv && cat x.csv.json",
           0, "\"openblas_core\": \"Nehalem\"");
    expect(*state,
           "$R -n 2 env OPENBLAS_CORETYPE=Haswell $P sweep " GRID " -o x.csv : -n 1 env "
           "OPENBLAS_CORETYPE=Nehalem $P sweep " GRID " -o x.csv",
           0, "warning: rank 2 has openblas_core Nehalem, this is Haswell");
}

static void a_dead_rank_loses_nothing(void **state)
{
    need_mpi(*state);
    if (!shell_says_yes("command -v pgrep >/dev/null 2>&1")) {
        print_message("skipped: no pgrep to find a rank with\n");
        skip();
    }
    expect(*state,
           "$P sweep " LONG " -o one.csv; $M sweep " LONG " -o x.csv & job=$!; "
           "until test \"$(wc -c <x.csv.partial 2>/dev/null || echo 0)\" -gt 9000; do "
           "sleep 0.02; done; "
           /* The last process of that command line is a rank. */
           "kill -9 $(pgrep -f \"^$P sweep .*-o x.csv\" | tail -n 1); wait $job; "
           "test $? -ne 0 || exit 3; test -e x.csv && exit 4; "
           "$M sweep " LONG " --resume -o x.csv && cmp one.csv x.csv && echo equal",
           0, "equal");
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, fixture_tear_down)

SUBJECT(mpi)
{
    const struct CMUnitTest tests[] = {
        TEST(info_says_which),           TEST(ranks_give_the_same_bytes),
        TEST(faults_are_said_once),      TEST(other_cores_are_warned_of),
        TEST(a_dead_rank_loses_nothing),
    };
    return cmocka_run_group_tests_name("mpi", tests, NULL, NULL);
}
