/*
 * Shards of a sweep, and merge: the bytes of one run, or a refusal that names what is wrong.  The
 * scripts of docs/robustness.md, run as Slurm would run them.
 */
#include "../check_fixture.h"
#include "../fixture.h"
#include "../shell.h"
#include "../written_model.h"
#include "../unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GRID "--construction silu,fused --n 4 --d 3 --depth 3 --omega 5,20 --seed 1:3 --quiet"
#define OTHER "--construction silu,fused --n 4 --d 3 --depth 3 --omega 5,21 --seed 1:3 --quiet"

static void make_shards(const char *grid, int count, const char *name)
{
    for (int i = 1; i <= count; i++) {
        expect_output(shell("$h sweep %s --shard %d/%d -o %s%d.csv", grid, i, count, name, i), 0,
                      "");
    }
}

static void merged_shards_are_one_run(void **state)
{
    static const int counts[] = {1, 2, 15, 4, 12}; /* up to more than there are points */
    expect_shell("$h sweep " GRID " -o one.csv", 0, "");
    for (size_t i = 0; i < (SMALL_GRIDS ? 3 : sizeof counts / sizeof *counts); i++) {
        make_shards(GRID, counts[i], "s");
        expect_shell("$h merge s*.csv -o all.csv && cmp one.csv all.csv && rm s*", 0,
                     "12 points of ");
    }
    /* Without -o the table is on stdout, and nothing else. */
    expect_shell("$h merge all.csv 2>said | cmp - all.csv && cat said", 0, "12 points of ");
    /* A single shard's points have no numbers: its own is all that is left. */
    expect_shell("grep -c \"index\" all.csv.json", 0, "1\n");
    /* What is merged is a complete sweep. */
    expect_shell("$h sweep " GRID " --resume -o all.csv; cat all.csv.json", 0,
                 "\"machines_differ\": false");
}

/* Columns that only --propagation has are merged too, and not with tables that lack them. */
static void propagation_is_merged(void **state)
{
    expect_shell("$h sweep " GRID " --propagation -o one.csv", 0, "");
    make_shards(GRID " --propagation", 3, "s");
    expect_shell("$h merge s*.csv -o all.csv && cmp one.csv all.csv && echo equal", 0, "equal");
    expect_shell("$h sweep " GRID " --shard 2/3 -o s2.csv", 0, "");
    expect_shell("$h merge s1.csv s2.csv s3.csv -o none.csv", 2, "s2.csv");
}

/* Every point is in one shard; those of a base in one shard while there are bases enough. */
static void shards_are_a_partition(void **state)
{
    expect_shell("$h sweep " GRID " --dry-run | sort >all; for i in 1 2 3 4 5; do "
                 "$h sweep " GRID " --shard $i/5 --dry-run; done | sort | cmp - all && "
                 "echo equal",
                 0, "equal");
    expect_shell("$h sweep " GRID " --shard 2/6 --dry-run | grep -c \"silu.*--seed 2$\"", 0, "2\n");
}

/* Of fifteen points that fail ten are named. */
static void many_failures_are_counted(void **state)
{
    expect_shell(
        "for i in 1 2; do $h sweep --construction silu --n 1 --d 1 --omega 1 "
        "--seed 1:15 --tolerance 1e-300 --quiet --shard $i/2 -o s$i.csv; done 2>/dev/null; "
        "$h merge s1.csv s2.csv -o all.csv 2>said; code=$?; "
        "grep -c \"fails; reproduce: headproof sweep .* --seed\" said; cat said; exit $code",
        1, "10\n");
    expect_shell("tail -n 1 said; grep -c \"\" said", 0, "headproof: and 5 more points fail\n11\n");
    expect_shell("grep -c \"\" all.csv", 0, "16\n");
}

static void shards_that_are_no_whole_are_refused(void **state)
{
    make_shards(GRID, 3, "s");
    make_shards(OTHER, 3, "o");
    make_shards(GRID, 2, "t");
    expect_shell("$h merge s1.csv s3.csv -o all.csv", 2, "missing: shard 2/3\n");
    expect_shell("$h merge s1.csv s2.csv s2.csv s3.csv -o all.csv", 2, "s2.csv: shard 2/3 twice");
    expect_shell("$h merge s1.csv o2.csv s3.csv -o all.csv", 2,
                 "o2.csv: of another grid than s1.csv");
    expect_shell("$h merge s1.csv t2.csv s3.csv -o all.csv", 2,
                 "t2.csv: shard 2 of 2, s1.csv is of 3");
    expect_shell("$h merge s1.csv s9.csv -o all.csv", 2, "s9.csv: cannot be read");
    expect_shell("$h merge -o all.csv", 2, "expected SHARD.csv... [-o FILE.csv]");
    expect_shell("$h merge s1.csv s2.csv s3.csv --out all.csv", 2, "(did you mean --output?)");
}

static void shards_of_other_programs_are_refused(void **state)
{
    make_shards(GRID, 3, "s");
    expect_shell("cp s3.csv.json kept && sed \"s/\\\"version\\\": \\\"[^\\\"]*/&9/\" kept "
                 ">s3.csv.json; $h merge s1.csv s2.csv s3.csv -o all.csv",
                 2, "s3.csv: of version ");
    expect_shell("sed \"s/\\\"schema\\\": 6/\\\"schema\\\": 3/\" kept >s3.csv.json; "
                 "$h merge s1.csv s2.csv s3.csv -o all.csv",
                 2, "s3.csv: schema 3, this version reads schema 6");
    expect_shell("sed \"s/\\\"cpu\\\": \\\"/&Z80 /\" kept >s3.csv.json; "
                 "$h merge s1.csv s2.csv s3.csv -o all.csv && cat all.csv.json",
                 0, "\"machines_differ\": true");
    expect_shell("$h merge s1.csv s2.csv s3.csv -o all.csv", 0, "warning: s3.csv: cpu Z80 ");
}

static void altered_shards_are_refused(void **state)
{
    make_shards(GRID, 3, "s");
    expect_shell("cp s2.csv s2 && sed \"2s/5/6/\" s2 >s2.csv; "
                 "$h merge s1.csv s2.csv s3.csv -o all.csv",
                 2, "its rows are not those that its .json names");
    expect_shell("sed \\$d s2 >s2.csv; $h merge s1.csv s2.csv s3.csv -o all.csv", 2,
                 "s2.csv: its rows are not those");
    expect_shell("for i in 1 2 3; do sed \"1s/bounds,//\" s$i.csv >o$i.csv; "
                 "cp s$i.csv.json o$i.csv.json; done",
                 0, "");
    for (int i = 1; i <= 3; i++) {
        char name[32];
        snprintf(name, sizeof name, "o%d.csv", i);
        seal_table(shell_path(name));
    }
    expect_shell("$h merge o1.csv o2.csv o3.csv -o all.csv", 2,
                 "o1.csv:1: token 'identical': expected the column bounds here");
    expect_shell("test ! -e all.csv && echo none", 0, "none");
}

static void bad_parts_are_refused(void **state)
{
    expect_shell("$h sweep " GRID " --shard 3/2 -o x.csv", 2, "--shard: token ");
    expect_shell("$h sweep " GRID " --shard 0/2 -o x.csv", 2, "--shard: token ");
    expect_shell("$h sweep " GRID " --shard 1 -o x.csv", 2, "--shard: token ");
    expect_shell("$h min-omega --shard 1/2", 2, "--shard: token ");
    /* A shard is resumed as that shard alone. */
    make_shards(GRID, 3, "s");
    expect_shell("$h sweep " GRID " --shard 2/3 --resume -o s1.csv", 2, "shard 1/3, this is 2/3");
}

/* Takes a block "```sh NAME" out of the document. */
static void extract(const char *name)
{
    expect_output(shell("awk \"/^\\`\\`\\`sh %s/{on=1;next} /^\\`\\`\\`/{on=0} on\" "
                        "$p/docs/robustness.md >%s",
                        name, name),
                  0, "");
}

#define VERIFY "verify model.safetensors --tokens 0:52:26/0:52:52/53 --omega 5,20 --quiet "

/* The trained model, under a short name. */
static void make_model(void)
{
    expect_shell("ln -s $p/cases/models/modadd53-silu.safetensors model.safetensors", 0, "");
}

/* verify's rows are the worst over inputs, which shards spread: together they are one run's, with
 * its exit code, whatever the judge and norm. */
static void merged_verdicts_are_one_runs(void **state)
{
    static const struct {
        const char *rest;
        int code;
        const char *says;
    } runs[] = {{"--tolerance 0.01", 0, "verdict: PASS"}, /* a value as long as "none" */
                {"--tolerance 1e-6", 1, "verdict: FAIL"},
                {"--tolerance 1e-13 --judge rounding --norm rel", 0, "verdict: PASS"},
                {"--network three --shrink 0.9,1", 0, "verdict: evaluated"},
                {"--reference subtract --max-bits 64", 0, "verdict: evaluated"}}; /* bounds */
    make_model();
    for (size_t i = 0; i < (SMALL_GRIDS ? 2 : sizeof runs / sizeof *runs); i++) {
        expect_output(shell("$h " VERIFY "%s -o one.csv", runs[i].rest), runs[i].code, "");
        /* One, two and five shards; two of the later runs. */
        for (int count = i == 0 ? 1 : 2; count <= (i == 0 ? 5 : 2); count += count == 2 ? 3 : 1) {
            (void)shell("rm -f s*.csv; for i in 1 2 3 4 5; do if test $i -le %d; then "
                        "$h " VERIFY "%s --shard $i/%d -o s$i.csv; fi; done",
                        count, runs[i].rest, count);
            expect_shell("$h merge s*.csv -o all.csv; code=$?; cmp one.csv all.csv && "
                         "echo equal; exit $code",
                         runs[i].code, "equal");
            expect_shell("$h merge s*.csv -o again.csv", runs[i].code, runs[i].says);
        }
    }
}

/* Where Omega is far too small, predictions change in both shards: all of them are counted. */
static void changed_predictions_add_up(void **state)
{
    make_model();
    expect_shell(
        "for i in 1/2 2/2 1/1; do $h verify model.safetensors --tokens "
        "0:52:26/0:52:52/53 --network three --omega 0.01 -q --shard $i -o s${i%/*}${i#*/}.csv; "
        "done; cut -d, -f19 s12.csv s22.csv | grep -c ^[1-9]",
        0, "2\n");
    expect_shell("$h merge s12.csv s22.csv -o all.csv; cmp s11.csv all.csv && "
                 "echo equal",
                 0, "equal");
}

/* Of two shards with equal errors of which one is a bound, the bound is merged, whichever it is. */
static void equal_errors_are_a_bound(void **state)
{
    static const char program[] =
        "NR == 1 { for (i = 1; i <= NF; i++) place[$i] = i }\n"
        "NR == 2 { $place[\"construction_max\"] = \"5e-1\"; $place[\"bounds\"] = list }\n"
        "{ print }\n";
    make_model();
    shell_write("set.awk", program);
    expect_shell("for i in 1 2; do $h " VERIFY "--shard $i/2 -o s$i.csv || exit; "
                 "cp s$i.csv w$i.csv; done",
                 0, "");
    for (int bound = 1; bound <= 2; bound++) {
        for (int i = 1; i <= 2; i++) {
            char name[24];
            expect_output(shell("awk -F, -v OFS=, -v list=%s -f set.awk w%d.csv >s%d.csv",
                                i == bound ? "construction_max" : "", i, i),
                          0, "");
            snprintf(name, sizeof name, "s%d.csv", i);
            seal_table(shell_path(name));
        }
        expect_shell("$h merge s1.csv s2.csv -o all.csv && sed -n 2p all.csv", 0,
                     ",construction_max,");
    }
}

static void bad_verify_shards_are_refused(void **state)
{
    make_model();
    expect_shell("$h " VERIFY " --shard 7/7", 2, "expected at most 6 parts");
    expect_shell("$h verify model.safetensors --tokens 1:2/3/53 --shard 1/2 --omega 20", 0,
                 "shard 1/2: 1 input of 3 tokens");
    expect_shell("$h verify model.safetensors --tokens 1:2/3/53 --shard 1/2 --omega 20", 0,
                 "a shard leaves them out");
    (void)shell("for i in 1 2; do $h " VERIFY " --shard $i/2 -o s$i.csv; done; "
                "$h verify model.safetensors -q --tokens 0:52:13/0:52:13/53 --omega 5,20 "
                "--shard 2/2 -o o2.csv; $h sweep " GRID " --shard 2/2 -o g2.csv");
    expect_shell("$h merge s1.csv -o all.csv", 2, "missing: shard 2/2\n");
    expect_shell("$h merge s1.csv o2.csv -o all.csv", 2, "of another grid");
    expect_shell("$h merge s1.csv g2.csv -o all.csv", 2, "of another grid");
    static const char *const programs[] = {"version", "commit"};
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        char said[64];
        snprintf(said, sizeof said, "of %s another, s1.csv of ", programs[i]);
        (void)shell(
            "cp s2.csv.json kept; sed -i s/.%s.:.*/\\\"%s\\\":\\\"another\\\",/ s2.csv.json",
            programs[i], programs[i]);
        expect_shell("$h merge s1.csv s2.csv -o all.csv; code=$?; mv kept s2.csv.json; exit $code",
                     2, said);
    }
    expect_shell("sed \\$d s2.csv >s2; mv s2 s2.csv; $h merge s1.csv s2.csv -o "
                 "all.csv; code=$?; test ! -e all.csv && exit $code",
                 2, "s2.csv: its rows are not those");
}

/* From so many inputs on, verify times some before it begins; shards of fewer guess.  The rows are
 * the same, of every Omega that was asked for, and the verdict. */
static void a_trial_leaves_no_trace(void **state)
{
    static const char *const runs[] = {"--omega 5,20 --tolerance 1e-2", "--omega 20 --shrink 0.9"};
    make_model();
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        expect_output(shell("for i in 1/1 1/2 2/2; do $h verify model.safetensors -q --tokens "
                            "0:31/1/53 %s --shard $i -o s${i%%%%/*}${i#*/}.csv || exit; done; "
                            "$h merge s12.csv s22.csv -o all.csv; cmp s11.csv all.csv && "
                            "echo equal",
                            runs[i]),
                      0, "equal");
    }
}

#define FACTOR(name, first, end) "," TENSOR("blocks.0.attn.W_" name, "[1,2,2]", first, end)

/* A model without an unembedding has no logits: their cells are blank in one run and in shards. */
static void merged_models_without_logits_have_none(void **state)
{
    const double data[22] = {1,    2, -1,    1,   0.5, -2,                /* W_E of three tokens */
                             0.5,  1, 0.25,  -1,  1,   0.5,   -0.5, 0.25, /* W_Q, W_K */
                             0.75, 1, -0.25, 0.5, 1,   -0.75, 0.25, 1};   /* W_V, W_O */
    written_model(shell_scratch(), "model.safetensors",
                  TENSOR("embed.W_E", "[3,2]", "0", "48") FACTOR("Q", "48", "80")
                      FACTOR("K", "80", "112") FACTOR("V", "112", "144") FACTOR("O", "144", "176"),
                  data, 22);
    expect_shell("for i in 1/1 1/2 2/2; do $h verify model.safetensors -q --tokens "
                 "0:2/0:1 --omega 5,20 --tolerance 1 --position-embedding none --shard $i -o "
                 "s${i%/*}${i#*/}.csv || exit; done; "
                 "$h merge s12.csv s22.csv -o all.csv; cmp s11.csv all.csv && echo equal; "
                 "grep -c \",,,,,[a-z]*$\" all.csv",
                 0, "equal\n2\n");
}

/* What only damage, or another program, writes: each is refused, and nothing is written. */
static void contradicting_verify_shards_are_refused(void **state)
{
    static const struct {
        const char *damage, *says;
    } shards[] = {
        {"sed \"1s/layer/level/\" s2 >s2.csv", "s2.csv: its rows are not those"},
        {"sed \"2s/,[^,]*$//\" s2 >s2.csv", "s2.csv: its rows are not those"},
        {"sed \"2s/^\\([^,]*\\),/\\1x,/\" s2 >s2.csv", "s2.csv: its rows are not those"},
        {"cat s2 >s2.csv; tail -n 1 s2 >>s2.csv", "s2.csv: its rows are not those"},
        {"sed \"2s/[a-z]*$/fail/\" s2 >s2.csv", "says another verdict for point 1 than its rows"},
    };
    make_model();
    expect_shell("for i in 1 2; do $h " VERIFY "--tolerance 1 --shard $i/2 "
                 "-o s$i.csv || exit; done; cp s2.csv s2",
                 0, "");
    for (size_t i = 0; i < sizeof shards / sizeof *shards; i++) {
        expect_output(shell("%s; cmp -s s2 s2.csv; echo $?", shards[i].damage), 0, "1\n");
        seal_table(shell_path("s2.csv"));
        expect_shell("$h merge s1.csv s2.csv -o all.csv; code=$?; "
                     "test ! -e all.csv && exit $code",
                     2, shards[i].says);
    }
    expect_shell("cp s2 s2.csv", 0, "");
    seal_table(shell_path("s2.csv"));
    expect_shell("$h merge s1.csv s2.csv -o all.csv", 0, "");
}

static void the_documented_scripts_run(void **state)
{
    extract("array.sh");
    extract("merge.sh");
    expect_shell("ln -s $h headproof", 0, "");
    expect_shell("printf \"[a]\\nconstruction = silu,fused\\nn = 4\\nd = 3\\nomega = 5,20\\n\" "
                 ">sweep.case; grep -c SBATCH array.sh",
                 0, "5\n");
    expect_shell("PATH=.:$PATH; export PATH SLURM_ARRAY_TASK_ID SLURM_ARRAY_TASK_COUNT=4 "
                 "SLURM_CPUS_PER_TASK=2; for SLURM_ARRAY_TASK_ID in 1 2 3 4; do sh array.sh && "
                 "sh array.sh || exit 1; done; sh merge.sh && headproof sweep sweep.case -q -o one "
                 "&& cmp one all.csv && echo equal",
                 0, "equal");
}

/* A directory is the user's mistake, not the disk's. */
static void a_directory_is_no_shard(void **state)
{
    expect_shell("mkdir d && $h merge d -o x.csv", 2, "cannot be read: Is a directory");
}

SUBJECT(shards)
{
    const struct CMUnitTest tests[] = {
        SHELL_TEST(merged_shards_are_one_run),
        SHELL_TEST(propagation_is_merged),
        SHELL_TEST(shards_are_a_partition),
        SHELL_TEST(many_failures_are_counted),
        SHELL_TEST(a_trial_leaves_no_trace),
        SHELL_TEST(merged_models_without_logits_have_none),
        SHELL_TEST(contradicting_verify_shards_are_refused),
        SHELL_TEST(shards_that_are_no_whole_are_refused),
        SHELL_TEST(shards_of_other_programs_are_refused),
        SHELL_TEST(altered_shards_are_refused),
        SHELL_TEST(bad_parts_are_refused),
        SHELL_TEST(a_directory_is_no_shard),
        SHELL_TEST(merged_verdicts_are_one_runs),
        SHELL_TEST(changed_predictions_add_up),
        SHELL_TEST(equal_errors_are_a_bound),
        SHELL_TEST(bad_verify_shards_are_refused),
        SHELL_TEST(the_documented_scripts_run),
    };
    return cmocka_run_group_tests_name("shards", tests, NULL, NULL);
}
