/*
 * Checkpoints that were altered, with a digest that is right again: every field is checked against
 * the point that it claims to be of.  What cannot be its state is ignored, and the evaluation
 * begins anew; whatever else is altered, nothing is read or written that is not the state's.
 */
#include <stdio.h> /* before mpfr.h: declares mpfr_fprintf */

#include "../../harness/point/point.h"
#include "../../reference/trajectory/base.h"
#include "../fixture.h"
#include "../interrupted.h"
#include "../unit.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { BITS = 128 };

/* Bytes of a state between those that are altered, behind its first; and of a file: how far apart
 * places lie, how that grows, and values at each. */
#ifdef HEADPROOF_CHECK /* the debug build is some ten times slower */
enum { STRIDE = 41, NEAR = 24, GROWTH = 25, VALUES = 1 };
#else
enum { STRIDE = 23, NEAR = 8, GROWTH = 5, VALUES = 2 };
#endif

static bool is_nightly(void)
{
    const char *nightly = getenv("HEADPROOF_NIGHTLY");
    return nightly != NULL && strcmp(nightly, "1") == 0;
}

/* ---- Evaluations whose states lie in memory -------------------------------------------------- */

/* Keeps the state behind layer `layer`; gives bytes [size] back, if there are any. */
typedef struct {
    RefKeeper keeper;
    size_t layer, offers;
    char *bytes;
    size_t size;
    bool tried, restored;
} Memory;

static void offer(void *context, const RefState *state)
{
    Memory *memory = context;
    if (++memory->offers == memory->layer && memory->bytes == NULL) {
        RefArchive archive = {.file = open_memstream(&memory->bytes, &memory->size)};
        assert_non_null(archive.file);
        state->visit(&archive, state->state);
        assert_int_equal(fclose(archive.file), 0);
        assert_false(archive.failed);
    }
}

static bool restore(void *context, const RefState *state)
{
    Memory *memory = context;
    if (memory->bytes == NULL || memory->tried) { /* what follows has other bits, or is another's */
        return false;
    }
    memory->tried = true;
    memory->restored = ref_archive_restore((unsigned char *)memory->bytes, memory->size,
                                           state->visit, state->state);
    return memory->restored;
}

/* One evaluation, streams and their radii, as text: free it. */
static char *evaluate(const Pair *pair, const RefKeeper *keeper)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    RefBase *base = ref_base_make(pair, BITS, REF_STRUCTURED, REF_LIMIT_STREAMS,
                                  &(RefBaseOptions){.keeper = keeper});
    assert_true(file != NULL && base != NULL);
    for (size_t l = 0; l < pair->original.depth; l++) {
        mpfr_fprintf(file, "%Ra\n", ap_at(&base->score_off, 0, l));
        for (size_t i = 0; i < pair->original.layout.n; i++) {
            mpfr_fprintf(file, "%Ra %Ra %Ra %Ra\n", ref_base_original(base, l + 1, i, 0),
                         ref_base_limit(base, l + 1, i, 0), ap_at(&base->radius[l], i, 0),
                         ap_at(&base->limit_radius[l], i, 0));
        }
    }
    assert_int_equal(fclose(file), 0);
    ref_base_clear(base);
    return text;
}

static Memory remember(const Pair *pair, size_t layer)
{
    Memory memory = {.layer = layer};
    memory.keeper = (RefKeeper){&memory, restore, offer};
    free(evaluate(pair, &memory.keeper));
    assert_non_null(memory.bytes);
    return memory;
}

/* The same with other bytes: whether they were taken, and what came of it. */
static bool go_on(char **text, const Pair *pair, const char *bytes, size_t size)
{
    Memory memory = {.size = size, .bytes = malloc(size + 1)};
    assert_non_null(memory.bytes);
    memcpy(memory.bytes, bytes, size);
    memory.keeper = (RefKeeper){&memory, restore, offer};
    *text = evaluate(pair, &memory.keeper);
    assert_true(memory.tried);
    free(memory.bytes);
    return memory.restored;
}

static const CaseSpec specs[] = {
    {.construction = CONSTRUCTION_TRANSFORMER,
     .n = 3,
     .d = 2,
     .d_ff = 3,
     .heads = 2,
     .depth = 3,
     .seed = 1,
     .mask = MASK_CAUSAL},
    {.construction = CONSTRUCTION_FUSED,
     .n = 2,
     .d = 2,
     .d_ff = 3,
     .heads = 1,
     .depth = 3,
     .seed = 2,
     .norm = NORMALIZATION_RMSNORM,
     .norm_eps = 1e-5},
};

/* With bytes more or fewer there is nothing that can be taken. */
static void expect_whole_states_alone(const Pair *pair, Memory *memory, const char *fresh)
{
    char *text;
    for (size_t cut = 1; cut < memory->size; cut = 2 * cut + 1) {
        assert_false(go_on(&text, pair, memory->bytes, memory->size - cut));
        assert_string_equal(text, fresh);
        free(text);
    }
    memory->bytes = realloc(memory->bytes, memory->size + 1);
    assert_non_null(memory->bytes);
    memory->bytes[memory->size] = 0;
    assert_false(go_on(&text, pair, memory->bytes, memory->size + 1));
    free(text);
}

/* Every field, every byte of it: a number that it cannot have is refused, and then all is as if
 * nothing had been kept; one that it can have makes another state, and no harm. */
static void altered_states_are_refused(void **state)
{
    size_t refused = 0, taken = 0;
    for (size_t s = 0; s < sizeof specs / sizeof *specs; s++) {
        Pair pair = pair_make(&specs[s]);
        char *fresh = evaluate(&pair, NULL), *text;
        Memory memory = remember(&pair, 2);
        assert_true(go_on(&text, &pair, memory.bytes, memory.size));
        assert_string_equal(text, fresh);
        free(text);
        for (size_t i = 0; i < memory.size; i += is_nightly() || i < 40 ? 1 : STRIDE) {
            static const unsigned char masks[] = {0x01, 0x80, 0xff};
            for (size_t m = 0; m < sizeof masks; m++) {
                memory.bytes[i] = (char)(memory.bytes[i] ^ masks[m]);
                bool restored = go_on(&text, &pair, memory.bytes, memory.size);
                memory.bytes[i] = (char)(memory.bytes[i] ^ masks[m]);
                assert_true(i >= sizeof(size_t) || !restored); /* the layers that are done */
                if (!restored) {
                    assert_string_equal(text, fresh);
                }
                refused += !restored;
                taken += restored;
                free(text);
            }
        }
        expect_whole_states_alone(&pair, &memory, fresh);
        free(memory.bytes);
        free(fresh);
        case_clear(&pair);
    }
    print_message("%zu altered states are refused, %zu taken\n", refused, taken);
    assert_true(refused > 100 && taken > 100);
}

/* ---- Numbers and rows ------------------------------------------------------------------------ */

static void visit_number(RefArchive *archive, void *state)
{
    ref_archive_number(archive, state);
}

/* A kind, an exponent, limbs: none but MPFR's own. */
static void numbers_are_checked(void **state)
{
    static const struct {
        mpfr_exp_t exponent;
        uint64_t low, high; /* 100 bits: 28 of the lower limb are spare */
        unsigned char kind;
        bool good;
    } cases[] = {
        {1, UINT64_C(1) << 28, UINT64_C(1) << 63, 6, true},
        {1, 0, UINT64_C(1) << 63, 0, true},
        {1, 0, UINT64_C(1) << 63, 7, false},
        {1, 0, UINT64_C(1) << 63, 255, false},
        {1, UINT64_C(1) << 27, UINT64_C(1) << 63, 6, false},
        {1, 0, UINT64_C(1) << 62, 6, false},
        {INT64_MAX, 0, UINT64_C(1) << 63, 6, false},
        {INT64_MIN, 0, UINT64_C(1) << 63, 6, false},
    };
    mpfr_t x;
    mpfr_init2(x, 100);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned char bytes[25] = {cases[i].kind};
        memcpy(bytes + 1, &cases[i].exponent, 8);
        memcpy(bytes + 9, &cases[i].low, 8);
        memcpy(bytes + 17, &cases[i].high, 8);
        mpfr_set_ui(x, 5, MPFR_RNDN);
        assert_int_equal(ref_archive_restore(bytes, sizeof bytes, visit_number, x), cases[i].good);
        assert_true(cases[i].good || mpfr_cmp_ui(x, 5) == 0);
    }
    mpfr_clear(x);
}

static void visit_row(RefArchive *archive, void *state)
{
    row_visit(archive, state);
}

static void rows_are_checked(void **state)
{
    Row row;
    char *bytes = NULL;
    size_t size = 0, refused = 0;
    row_init(&row, &(Point){0});
    row.layer = 1;
    row.has_identical = true;
    row.identical = 0.5;
    RefArchive archive = {.file = open_memstream(&bytes, &size)};
    assert_non_null(archive.file);
    row_visit(&archive, &row);
    assert_int_equal(fclose(archive.file), 0);
    for (size_t i = 0; i < size; i++) {
        for (int value = 0; value < 256; value += 51) {
            char was = bytes[i];
            bytes[i] = (char)value;
            refused += !ref_archive_restore((unsigned char *)bytes, size, visit_row, &row);
            bytes[i] = was;
            assert_true(row.status <= STATUS_OK && row.precision_bits >= 0);
            assert_true(row.identical >= 0 && row.identical <= 1);
            for (int kind = 0; kind < ERROR_KINDS; kind++) {
                assert_true(row.errors.error[kind][0].state <= CELL_NONFINITE);
            }
        }
    }
    assert_true(refused > 200);
    free(bytes);
    row_clear(&row);
}

/* ---- The program ----------------------------------------------------------------------------- */

#define POINT "sweep --construction fused --n 4 --d 3 --omega 0.5 --depth 30 --quiet"

static uint64_t digest(const char *bytes, size_t count)
{
    uint64_t digest = UINT64_C(0xCBF29CE484222325);
    for (size_t i = 0; i < count; i++) {
        digest = (digest ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001B3);
    }
    return digest;
}

static Output shell(const Scratch *scratch, const char *script)
{
    char line[2048];
    snprintf(line, sizeof line, "-c 'h=$(realpath \"$HEADPROOF\") && cd %s && { %s\n} 2>&1'",
             scratch->directory, script);
    return run_program("sh", line);
}

static bool shell_says(const Scratch *scratch, const char *script, const char *says)
{
    Output output = shell(scratch, script);
    bool said = strstr(output.text, says) != NULL;
    return said;
}

/* Ends the program when rows are kept, wherever it is then. */
static void interrupt(const Scratch *scratch)
{
    char line[1024];
    int status = 0;
    snprintf(line, sizeof line, POINT " --checkpoint 0 -o %s/out.csv", scratch->directory);
    for (bool killed = false; !killed;) {
        pid_t child = start_program(line);
        pid_t ended = 0;
        while (ended == 0 && !shell_says(scratch, "ls out.csv.checkpoint", "-rows-")) {
            ended = waitpid(child, &status, WNOHANG);
        }
        if (ended == 0) {
            assert_int_equal(kill(child, SIGKILL), 0);
            assert_int_equal(waitpid(child, &status, 0), child);
        }
        killed = WIFSIGNALED(status);
        assert_true(killed || WEXITSTATUS(status) == 0);
    }
}

/* Another value at a place behind the head, and the digest of all; false: it was there already. */
static bool alter_file(const char *path, const char *bytes, size_t size, size_t place,
                       uint64_t value)
{
    char *copy = malloc(size);
    size_t begin = strlen(bytes) + 1 + place;
    assert_non_null(copy);
    size_t count = begin + 8 <= size - 8 ? 8 : size - 8 - begin;
    bool other = memcmp(bytes + begin, &value, count) != 0;
    memcpy(copy, bytes, size);
    memcpy(copy + begin, &value, count);
    uint64_t all = digest(copy, size - 8);
    memcpy(copy + size - 8, &all, 8);
    file_write(path, copy, size);
    free(copy);
    return other;
}

static size_t behind(size_t place)
{
    return place < 24 ? place + NEAR : GROWTH * place + 1;
}

static size_t values_at(size_t place)
{
    return is_nightly() ? 4 : place == 0 ? 2 * VALUES : VALUES;
}

/* Goes on with a file that is altered at the place: whether it was refused, and then all is as if
 * nothing had been kept; what is no state of any point must be. */
static bool is_refused(const Scratch *scratch, const char *name, size_t place)
{
    Output output = shell(scratch, "\"$h\" " POINT " --resume -o out.csv && "
                                   "cmp one.csv out.csv && echo same");
    bool refused = strstr(output.text, "ignored: it holds no state of this point") != NULL;
    if ((refused && strstr(output.text, "same") == NULL) || output.code > 1 ||
        (place == 0 && !refused)) {
        fail_msg("%s, byte %zu: exit code %d: %s", name, place, output.code, output.text);
    }
    return refused;
}

static void altered_files(void **state)
{
    static const char copy[] = "rm -rf out.csv out.csv.*; cp -r kept/. .";
    static const uint64_t values[] = {0, 7, UINT64_C(1) << 40, UINT64_MAX};
    const FileFixture *f = *state;
    size_t runs = 0, ignored = 0;
    char path[2 * SCRATCH_PATH];
    (void)shell(&f->scratch, "\"$h\" " POINT " -o one.csv");
    interrupt(&f->scratch);
    Output names = shell(&f->scratch, "mkdir kept && cp -r out.csv.* kept && cd out.csv.checkpoint "
                                      "&& ls | grep -v [.]");
    for (char *rest, *name = strtok_r(names.text, "\n", &rest); name != NULL;
         name = strtok_r(NULL, "\n", &rest)) {
        snprintf(path, sizeof path, "%s/kept/out.csv.checkpoint/%s", f->scratch.directory, name);
        Output whole = read_file(path);
        size_t length = whole.length - strlen(whole.text) - 9;
        snprintf(path, sizeof path, "%s/out.csv.checkpoint/%s", f->scratch.directory, name);
        for (size_t place = 0; place < length; place = behind(place)) {
            for (size_t v = 0; v < values_at(place); v++, runs++) {
                (void)shell(&f->scratch, copy);
                if (alter_file(path, whole.text, whole.length, place, values[3 - v])) {
                    ignored += is_refused(&f->scratch, name, place);
                }
            }
        }
    }
    print_message("%zu runs, %zu ignored what was kept\n", runs, ignored);
    assert_true(ignored > runs / 4);
    (void)shell(&f->scratch, "rm -rf kept out.csv.checkpoint");
}

SUBJECT(archive)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(altered_states_are_refused),
        cmocka_unit_test(numbers_are_checked),
        cmocka_unit_test(rows_are_checked),
        CSV_TEST(altered_files),
    };
    return cmocka_run_group_tests_name("archive", tests, reference_set_up, reference_tear_down);
}
