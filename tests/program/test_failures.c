/*
 * Exit code 1 is never silent: whatever becomes of stdout, stderr has a sentence and the command
 * that fails again.
 */
#include "../shell.h"
#include "../unit.h"

#include <stdlib.h>
#include <string.h>

#define MODADD "$p/cases/models/modadd53-silu.safetensors"
#define POINT "--construction fused --n 3 --d 3 --omega 5 "

/* What stderr says behind "reproduce: " ends with 1 again. */
static void expect_told(const char *command, const char *says)
{
    static const char *const outputs[] = {"/dev/null", "out"};
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        Output output = shell("%s >%s 2>err; code=$?; cat err; exit $code", command, outputs[i]);
        expect_output(output, 1, says);
        if (strstr(output.text, "; reproduce: ") == NULL) {
            fail_msg("%s: what reproduces it is not said: %s", command, output.text);
        }
        output = shell("headproof() { \"$h\" \"$@\"; }; cp err told; "
                       "line=$(sed -n \"s|.*; reproduce: ||p\" told | head -n 1); "
                       "eval \"$line\" >/dev/null 2>&1");
        expect_output(output, 1, "");
    }
}

static void every_failure_is_told(void **state)
{
    static const struct {
        const char *command, *says;
    } failures[] = {
        {"$h sweep " POINT "--tolerance 1e-9 --quiet", "headproof: fail at layer 1; reproduce: "},
        {"$h depth --depth 2 " POINT "--tolerance 1e-9 -o t.csv", "headproof: fail at layer 1"},
        {"$h min-omega --construction fused --n 3 --d 3 --tolerance 1e-30",
         "headproof: no omega was found; reproduce: headproof min-omega "},
        {"$h min-omega --construction fused --n 3 --d 3 --tolerance 1e-30 --format markdown -q",
         "headproof: no omega was found; reproduce: headproof min-omega "},
        {"$h guarantee " MODADD " --tolerance 1e-9 --omega 5",
         "headproof: no such bound is proven; reproduce: headproof guarantee "},
        {"$h verify " MODADD " --tokens 0/1/53 --omega 5 --tolerance 1e-9",
         "headproof: verdict: FAIL: at omega 5 the error is not within 1e-09: scores up"},
        {"$h verify " MODADD " --tokens 0/1/53 --omega 5 --tolerance 1e-9 -q -o -",
         "verdict: FAIL: at omega 5 the error is not within 1e-09: scores up"},
        {"$h check my.case -q", "headproof: FAIL: 1 of 1 rows"},
        {"$h check my.case --baseline base.csv --factor 1", "headproof: FAIL: "},
        {"$h check my.case --baseline base.csv --update", "headproof: FAIL: "},
    };
    expect_shell("printf \"[one]\\nconstruction=fused\\nn=3\\nd=3\\nomega=20\\n\" >my.case && "
                 "$h check my.case --save-baseline base.csv -q && sed s/20/5/ my.case >new && "
                 "echo tolerance=1e-9 >>new && mv new my.case && cat my.case",
                 0, "omega=5");
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++) {
        expect_told(failures[i].command, failures[i].says);
    }
}

/* Shards whose run failed, put together; and errors outside the bands that laws give for them. */
static void failures_of_tables_are_told(void **state)
{
    expect_shell("for i in 1 2; do $h sweep --construction fused --n 3 --d 3 --omega 5,6 "
                 "--tolerance 1e-9 -q -o s$i.csv --shard $i/2; done 2>/dev/null; "
                 "for i in 1 2; do $h verify " MODADD " --tokens 0,1/1/53 --omega 5 --tolerance "
                 "1e-9 -q -o v$i.csv --shard $i/2; done >/dev/null 2>&1; ls",
                 0, "v2.csv");
    expect_told("$h merge s1.csv s2.csv -o s.csv", "headproof: fails; reproduce: headproof sweep");
    expect_told("$h merge v1.csv v2.csv -o v.csv",
                "headproof: the shards' verdict is FAIL; reproduce: ");
    expect_shell("$h sweep --construction silu --n 3 --d 2,3,4,5,6,8 --omega 5 --seed 1:3 -q "
                 "--arithmetic none -o g.csv && sed \"s/e-0/e+0/g\" g.csv >h.csv",
                 0, "");
    expect_told("$h growth g.csv --norm max --check h.csv -o l.csv",
                "headproof: errors are outside the bands of their laws; reproduce: ");
}

SUBJECT(failures)
{
    const struct CMUnitTest tests[] = {
        SHELL_TEST(every_failure_is_told),
        SHELL_TEST(failures_of_tables_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
