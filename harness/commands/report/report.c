/*
 * The command `report`: results as one page of HTML that needs no network and no script.
 */
#include "section.h"

#include "../../../memory/need.h"
#include "../../base/atomic_file.h"
#include "../../base/info.h"
#include "../../base/message.h"
#include "../../base/shown.h"
#include "../../grid/own_words.h"
#include "../commands.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    OwnWords words;
    Subject *subjects; /* [words.file_count] */
    PictureWish wish;  /* for all pictures */
    double *omegas;    /* what wish has */
} Report;

/* Colours of both themes have a contrast of 4.5 or more, and what was not judged is grey; a picture
 * is drawn for wide and for narrow pages, a table that is wider scrolls by itself, and paper cuts
 * nothing. */
static const char style[] =
    ":root{color-scheme:light dark;--ink:#1b1b1b;--paper:#fff;--soft:#f1f3f5;--line:#c9ced3;"
    "--pass:#146c2e;--fail:#b3261e;--quiet:#5c636a}\n"
    "@media(prefers-color-scheme:dark){:root{--ink:#e8e8e8;--paper:#16181b;--soft:#23272c;"
    "--line:#484f57;--pass:#7ddc93;--fail:#ff9c92;--quiet:#a6adb4}}\n"
    "body{margin:0 auto;padding:1rem;max-width:72rem;color:var(--ink);background:var(--paper);"
    "font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere}\n"
    "h1{font-size:1.5rem}h2{font-size:1.2rem;border-top:1px solid var(--line);padding-top:1rem}"
    "h3{font-size:1rem}\n"
    ".verdict{font-weight:700;font-size:1.1rem}.pass{color:var(--pass)}.fail{color:var(--fail)}"
    ".evaluated,.saved{color:var(--quiet)}\n"
    "a{color:inherit}\n"
    ".wide,figure,pre{overflow-x:auto}figure{margin:1rem 0}\n"
    "svg{display:block;width:100%;height:auto;background:#fff}.narrow{display:none}\n"
    "@media screen and (max-width:48rem){.broad{display:none}.narrow{display:block}}\n"
    "pre{background:var(--soft);padding:.5rem;margin:.5rem 0;font-size:.85rem;"
    "white-space:pre-wrap}figure pre{white-space:pre}\n"
    "table{border-collapse:collapse;font-size:.85rem;overflow-wrap:normal}\n"
    "th,td{border:1px solid var(--line);padding:.2rem .5rem;text-align:left;white-space:nowrap}"
    "th{background:var(--soft)}td.n{text-align:right;font-variant-numeric:tabular-nums}"
    "td.fail{color:var(--fail)}.upright td{white-space:normal;text-align:left;"
    "min-width:7rem;overflow-wrap:anywhere}\n"
    "dl{display:grid;grid-template-columns:minmax(6rem,auto) 1fr;gap:.1rem 1rem;font-size:.9rem}"
    "dt{font-weight:600}dd{margin:0}\n"
    "@media(max-width:40rem){dl{grid-template-columns:1fr}dd{margin:0 0 .5rem}}\n"
    "@media print{:root{--ink:#000;--paper:#fff;--soft:#f1f3f5;--line:#999;--pass:#146c2e;"
    "--fail:#b3261e;--quiet:#5c636a}body{max-width:none;padding:0;font-size:10pt}"
    ".wide,figure,pre{overflow:visible}"
    "table{font-size:7.5pt}th,td{padding:.1rem .25rem}"
    "tr,figure,svg,pre{break-inside:avoid}h2,h3,.verdict{break-after:avoid}}\n";

/* The meaning of columns and curves; the words are those of the tables. */
static const char errors[] =
    "<p>T is the model, T\u2032 its rewrite with attention heads alone and T\u221e that with an "
    "infinite \u03a9; r( ) is exact mathematics and m( ) the machine's. "
    "<strong>Approximation</strong> is "
    "r(T\u221e) beside r(T), <strong>construction</strong> r(T\u2032) beside r(T\u221e) (what a "
    "finite \u03a9 "
    "costs), <strong>rounding</strong> m(T\u2032) beside r(T\u2032), <strong>native</strong> m(T) "
    "beside r(T), "
    "<strong>total</strong> m(T\u2032) beside r(T), and <strong>observed</strong> m(T\u2032) "
    "beside m(T), which is all "
    "that a machine alone could see.</p>\n";

static int compare_numbers(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Takes the Omegas of a table in which few of them can be curves, behind those that are there. */
static size_t take_omegas(double *omegas, const Csv *csv)
{
    size_t count = 0;
    size_t column = csv->columns > 0 ? csv_find(csv, axis_info(AXIS_OMEGA)->column) : 0;
    for (size_t row = 0; row < csv->rows && column < csv->columns && count <= SERIES_MOST; row++) {
        size_t before = 0;
        omegas[count] = strtod(csv_cell(csv, row, column), NULL);
        while (before < count && omegas[before] != omegas[count]) {
            before++;
        }
        count += before == count && omegas[count] > 0;
    }
    return count <= SERIES_MOST ? count : 0;
}

/* Those of all tables, so that each has one colour on the page. */
static void find_omegas(Report *report)
{
    size_t count = 0, most = report->words.file_count * (SERIES_MOST + 1);
    double *omegas = report->omegas = need_zeros(most + 1, sizeof *omegas);
    for (size_t i = 0; i < report->words.file_count; i++) {
        count += take_omegas(omegas + count, &report->subjects[i].csv);
    }
    qsort(omegas, count, sizeof *omegas, compare_numbers);
    for (size_t i = 0; i < count; i++) {
        omegas[report->wish.omega_count] = omegas[i];
        report->wish.omega_count += i + 1 == count || omegas[i + 1] > omegas[i];
    }
    report->wish.omegas = omegas;
}

/* The verdict over all, its reason, and where each file is. */
static void write_head(FILE *file, const Report *report)
{
    size_t of[CONCLUSIONS] = {0};
    for (size_t i = 0; i < report->words.file_count; i++) {
        of[report->subjects[i].conclusion]++;
    }
    Conclusion all = of[CONCLUSION_FAIL] > 0                           ? CONCLUSION_FAIL
                     : of[CONCLUSION_PASS] == report->words.file_count ? CONCLUSION_PASS
                                                                       : CONCLUSION_EVALUATED;
    const char *words = all != CONCLUSION_EVALUATED ? conclusion_words(all)
                        : of[CONCLUSION_PASS] > 0   ? "not all judged"
                                                    : "nothing judged";
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n", file);
    fputs("<meta name=\"generator\" content=\"headproof report\">\n", file);
    fputs("<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n", file);
    fprintf(file, "<title>%s: headproof report</title>\n<style>\n%s</style>\n</head>\n<body>\n",
            words, style);
    fprintf(file, "<h1>Headproof: <span class=\"%s\">%s</span></h1>\n<ul>\n", conclusion_name(all),
            words);
    for (size_t i = 0; i < report->words.file_count; i++) {
        char verdict[SECTION_VERDICT];
        section_verdict(verdict, &report->subjects[i]);
        fprintf(file, "<li><a href=\"#file-%zu\">", i + 1);
        section_text(file, report->subjects[i].path);
        fprintf(file, "</a>: <span class=\"%s\">", conclusion_name(report->subjects[i].conclusion));
        section_text(file, verdict);
        fputs("</span></li>\n", file);
    }
    fprintf(file, "</ul>\n%s", errors);
}

static bool is_stdout(const char *output)
{
    return strcmp(output, "-") == 0 || strcmp(output, "/dev/stdout") == 0;
}

static int write_page(FILE *file, const Report *report)
{
    int status = 0;
    write_head(file, report);
    for (size_t i = 0; i < report->words.file_count && status == 0; i++) {
        status = section_write(file, &report->subjects[i], &report->wish, i);
    }
    fprintf(file, "<footer><p>Written by headproof %s.</p></footer>\n</body>\n</html>\n",
            info_version());
    return status;
}

static int write_report(const Report *report, const char *output)
{
    AtomicFile file = {0};
    if (is_stdout(output)) { /* main says whether it could be written */
        return write_page(stdout, report);
    }
    int status = atomic_file_open(&file, output);
    if (status != 0) {
        return status;
    }
    status = write_page(file.file, report);
    if (status != 0) {
        atomic_file_clear(&file);
        return status;
    }
    status = atomic_file_finish(&file, true, output);
    if (status != 0) {
        return status;
    }
    printf("report: %s\n", shown(output).text);
    return 0;
}

/* Of the words that were read. */
static int report_files(Report *report, const CommandInfo *command)
{
    const OwnWords *words = &report->words;
    const char *output = words->values[0];
    int status = output == NULL
                     ? complain((Origin){0}, command->name, "expected %s", command->usage)
                 : is_stdout(output) ? 0
                                     : own_words_spare_files(words, output, false);
    report->subjects = need_zeros(words->file_count + 1, sizeof *report->subjects);
    for (size_t i = 0; i < words->file_count && status == 0; i++) {
        status = subject_read(&report->subjects[i], words->files[i]);
    }
    if (status != 0) {
        return status;
    }
    find_omegas(report);
    return write_report(report, output);
}

int command_report(int argc, char **argv)
{
    const CommandInfo *command = commands_get(COMMAND_REPORT);
    Report report = {.wish = {.error = -1, .tolerance = NAN}};
    int status = own_words_read(&report.words, command, argc, argv);
    status = status != 0 ? status : report_files(&report, command);
    for (size_t i = 0; report.subjects != NULL && i < report.words.file_count; i++) {
        subject_clear(&report.subjects[i]);
    }
    free(report.subjects);
    free(report.omegas);
    own_words_clear(&report.words);
    return status;
}
