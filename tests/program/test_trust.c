/*
 * Files that say what they are not: tables edited after they were written, sidecars that contradict
 * them, counts beyond sense, weights that changed in one byte.
 */
#include "../check_fixture.h"
#include "../fixture.h"
#include "../interrupted.h"
#include "../shell.h"
#include "../unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GRID "--construction silu,fused --n 4 --d 3 --depth 3 --omega 5,20 --seed 1:2 --quiet"

/* Exit 1 stays exit 1, or becomes 2, and never 0. */
static void edited_tables_are_not_resumed(void **state)
{
    expect_shell("\"$h\" sweep " GRID " --tolerance 1e-7 -o t.csv", 1, "fail at");
    expect_shell("\"$h\" sweep " GRID " --tolerance 1e-7 --resume -o t.csv", 1, "");
    expect_shell("cp t.csv kept; sed \"s/,fail$/,ok/; s/e-0[2-6],/e-09,/g\" kept >t.csv; "
                 "\"$h\" sweep " GRID " --tolerance 1e-7 --resume -o t.csv",
                 2, "its bytes are not those that its .json was written with");
    expect_shell("sed \"/^ .digest/d\" t.csv.json >s; mv s t.csv.json; "
                 "\"$h\" sweep " GRID " --tolerance 1e-7 --resume -o t.csv",
                 2, "its bytes are not those");
    expect_shell("\"$h\" sweep " GRID " --tolerance 1e-7 -o t.csv; cmp kept t.csv", 0, "");
}

/* The verdict is the rows'. */
static void merge_believes_rows(void **state)
{
    (void)shell("for i in 1 2; do \"$h\" sweep " GRID " --tolerance 1e-7 --shard $i/2 -o s$i.csv; "
                "done; cp s2.csv rows; cp s2.csv.json kept");
    expect_shell("\"$h\" merge s1.csv s2.csv -o all.csv", 1, "fails; reproduce: headproof");
    expect_shell(
        "for i in 1 2; do sed \"s/\\\"passed\\\": false/\\\"passed\\\": true/\" s$i.csv.json "
        ">s; mv s s$i.csv.json; done; rm all*; \"$h\" merge s1.csv s2.csv -o all.csv",
        2, "its .json and its rows contradict each other: did point ");
    expect_shell("test ! -e all.csv && echo none", 0, "none");
    /* Edited rows, with the old digest and with the one that they have. */
    expect_shell("cp kept s2.csv.json; sed \"s/,fail$/,ok/\" rows >s2.csv; "
                 "\"$h\" merge s1.csv s2.csv -o all.csv",
                 2, "its rows are not those that its .json names");
    seal_table(shell_path("s2.csv"));
    expect_shell("\"$h\" merge s1.csv s2.csv -o all.csv", 2, "");
}

/* Judged as in one run, whatever is judged. */
static void verdicts_of_merged_rows_are_one_runs(void **state)
{
    static const char *const judged[] = {
        "--tolerance 1e-6 --judge construction --norm rms",
        "--tolerance 1 --judge observed --norm rel",
        "--tolerance 1e-30 --judge rounding",
        "--tolerance 1e-30 --judge approximation",
        "--tolerance 1 --arithmetic none",
        "--tolerance 1 --arithmetic none --judge construction",
        "--tolerance 1e-300 --judge construction --weights normal",
        "--weights normal",
    };
    for (size_t i = 0; i < sizeof judged / sizeof *judged; i++) {
        Output one = shell("rm -f s*; \"$h\" sweep " GRID " %s -o one.csv", judged[i]);
        Output merged = shell("for i in 1 2; do \"$h\" sweep " GRID " %s --shard $i/2 -o s$i.csv; "
                              "done; \"$h\" merge s1.csv s2.csv -o all.csv",
                              judged[i]);
        if (one.code != merged.code || one.code > 1) {
            fail_msg("%s: %d and %d: %s", judged[i], one.code, merged.code, merged.text);
        }
        expect_output(shell("\"$h\" sweep " GRID " %s --resume -o all.csv", judged[i]), one.code,
                      "");
    }
}

static void counts_beyond_sense_are_refused(void **state)
{
    expect_shell("\"$h\" sweep " GRID " --shard 1/2 -o s1.csv; cp s1.csv.json kept", 0, "");
    expect_shell("sed \"s/\\\"count\\\": 2/\\\"count\\\": 100000000000000000/\" kept >s1.csv.json; "
                 "timeout 20 \"$h\" merge s1.csv -o all.csv",
                 2, "11/100000000000000000, and 99999999999999989 more\n");
    expect_shell("sed \"s/\\\"points\\\": 8/\\\"points\\\": 100000000000000000/; "
                 "s/\\\"count\\\": 2/\\\"count\\\": 1/\" kept >s1.csv.json; "
                 "timeout 20 \"$h\" merge s1.csv -o all.csv",
                 2, "its rows are not those that its .json names");
}

/* Not a number is the worst of all shards, wherever it stands. */
static void nan_is_the_worst_of_all_shards(void **state)
{
    for (int shard = 1; shard <= 2; shard++) {
        (void)shell(
            "for i in 1 2; do \"$h\" verify $p/cases/models/modadd53-silu.safetensors --tokens "
            "0:26:26/0/53 --omega 20 --quiet --shard $i/2 -o s$i.csv; done");
        expect_output(
            shell("awk -F, -v OFS=, \"NR == 1 { for (i = 1; i <= NF; i++) "
                  "if (\\$i == \\\"rounding_max\\\") c = i } NR > 1 { \\$c = \\\"nan\\\" } { "
                  "print }\" "
                  "s%d.csv >s; mv s s%d.csv; grep -c nan s%d.csv",
                  shard, shard, shard),
            0, "1\n");
        seal_table(shell_path(shard == 1 ? "s1.csv" : "s2.csv"));
        Output merged = shell("\"$h\" merge s1.csv s2.csv -o all.csv >/dev/null; cat all.csv");
        expect_cell(&merged, 1, "rounding_max", "nan");
    }
}

/* Any byte of a weights file is another file. */
static void every_byte_of_the_weights_counts(void **state)
{
    static const long places[] = {9, 1000, 65535, 65536, 65544, 70000};
    const char *path = shell_path("w.safetensors");
    (void)shell("cp $p/cases/models/modadd53-silu.safetensors w.safetensors");
    Output whole = read_file(path);
#define SWEEP                                                                                      \
    "sweep --weights ./w.safetensors --n 3 --omega 20 --arithmetic none --quiet -o w.csv "         \
    "--witness-tolerance 1e9"
    Output first = shell("\"$h\" " SWEEP);
    assert_int_equal(first.code, 0);
    expect_shell("\"$h\" " SWEEP " --resume", 0, "");
    uint64_t header = 0;
    memcpy(&header, whole.text, sizeof header);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        size_t place = 8 + (size_t)header + (size_t)places[i];
        assert_true(place < whole.length);
        whole.text[place] ^= 1;
        file_write(path, whole.text, whole.length);
        whole.text[place] ^= 1;
        expect_shell("\"$h\" " SWEEP " --resume", 2, "other contents of the weights file");
    }
}

SUBJECT(trust)
{
    const struct CMUnitTest tests[] = {
        SHELL_TEST(edited_tables_are_not_resumed),
        SHELL_TEST(merge_believes_rows),
        SHELL_TEST(verdicts_of_merged_rows_are_one_runs),
        SHELL_TEST(counts_beyond_sense_are_refused),
        SHELL_TEST(nan_is_the_worst_of_all_shards),
        SHELL_TEST(every_byte_of_the_weights_counts),
    };
    return cmocka_run_group_tests_name("trust", tests, NULL, NULL);
}
