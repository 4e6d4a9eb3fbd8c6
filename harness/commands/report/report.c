/*
 * The command `report`: results as one page of HTML that needs no network and no script.
 */
#include "section.h"

#include "../../base/atomic_file.h"
#include "../../base/info.h"
#include "../../base/message.h"
#include "../../base/shown.h"
#include "../../base/words.h"
#include "../../grid/distinct.h"
#include "../commands.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    char **paths;
    Subject *subjects;
    size_t count;
    const char *output;
} Report;

/* Colours of both themes have a contrast of 4.5 or more; tables and pictures that are wider than
 * the page scroll by themselves, and are cut on paper by nothing. */
static const char style[] =
    ":root{color-scheme:light dark;--ink:#1b1b1b;--paper:#fff;--soft:#f1f3f5;--line:#c9ced3;"
    "--pass:#146c2e;--fail:#b3261e}\n"
    "@media(prefers-color-scheme:dark){:root{--ink:#e8e8e8;--paper:#16181b;--soft:#23272c;"
    "--line:#484f57;--pass:#7ddc93;--fail:#ff9c92}}\n"
    "body{margin:0 auto;padding:1rem;max-width:72rem;color:var(--ink);background:var(--paper);"
    "font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere}\n"
    "h1{font-size:1.5rem}h2{font-size:1.2rem;border-top:1px solid var(--line);padding-top:1rem}"
    "h3{font-size:1rem}\n"
    ".verdict{font-weight:700;font-size:1.1rem}.pass{color:var(--pass)}.fail{color:var(--fail)}\n"
    "a{color:inherit}\n"
    ".wide,figure,pre{overflow-x:auto}figure{margin:1rem 0}\n"
    "svg{display:block;width:100%;height:auto;background:#fff}\n"
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
    "--fail:#b3261e}body{max-width:none;padding:0;font-size:10pt}"
    ".wide,figure,pre{overflow:visible}svg{min-width:0!important}"
    "table{font-size:7.5pt}th,td{padding:.1rem .25rem}"
    "tr,figure,svg,pre{break-inside:avoid}h2,h3,.verdict{break-after:avoid}}\n";

static int refuse_words(const char *word)
{
    return complain((Origin){0}, word, "expected %s", commands_get(COMMAND_REPORT)->usage);
}

static int read_words(Report *report, int argc, char **argv)
{
    for (int i = 2; i < argc; i++) {
        char *word = argv[i];
        const char *output = words_value("output", &i, argc, argv);
        if (output != NULL) {
            if (report->output != NULL || *output == '\0') {
                return refuse_words(word);
            }
            report->output = output;
        } else if (*word == '-') {
            return refuse_words(word);
        } else {
            report->paths[report->count++] = word;
        }
    }
    return report->output == NULL || report->count == 0 ? refuse_words("report") : 0;
}

/* Nothing that is read is written over. */
static int check_files(const Report *report)
{
    const NamedFile written = {"output", report->output, false};
    NamedFile *read = calloc(report->count + 1, sizeof *read);
    if (read == NULL) {
        return memory_fault();
    }
    for (size_t i = 0; i < report->count; i++) {
        read[i] = (NamedFile){NULL, report->paths[i], true};
    }
    int status = distinct_check(&written, 1, read, report->count);
    free(read);
    return status;
}

/* The verdict over all, its reason, and where each file is. */
static void write_head(FILE *file, const Report *report)
{
    size_t of[CONCLUSIONS] = {0};
    for (size_t i = 0; i < report->count; i++) {
        of[report->subjects[i].conclusion]++;
    }
    Conclusion all = of[CONCLUSION_FAIL] > 0                ? CONCLUSION_FAIL
                     : of[CONCLUSION_PASS] == report->count ? CONCLUSION_PASS
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
    for (size_t i = 0; i < report->count; i++) {
        char verdict[SECTION_VERDICT];
        section_verdict(verdict, &report->subjects[i]);
        fprintf(file, "<li><a href=\"#file-%zu\">", i + 1);
        section_text(file, report->subjects[i].path);
        fprintf(file, "</a>: <span class=\"%s\">", conclusion_name(report->subjects[i].conclusion));
        section_text(file, verdict);
        fputs("</span></li>\n", file);
    }
    fputs("</ul>\n", file);
}

static int write_page(FILE *file, const Report *report)
{
    int status = 0;
    write_head(file, report);
    for (size_t i = 0; i < report->count && status == 0; i++) {
        status = section_write(file, &report->subjects[i], i);
    }
    fprintf(file, "<footer><p>Written by headproof %s.</p></footer>\n</body>\n</html>\n",
            info_version());
    return status;
}

static int write_report(const Report *report)
{
    AtomicFile file = {0};
    int status = atomic_file_open(&file, report->output);
    if (status != 0) {
        return status;
    }
    status = write_page(file.file, report);
    if (status != 0) {
        atomic_file_clear(&file);
        return status;
    }
    status = atomic_file_finish(&file, true, report->output);
    if (status == 0) {
        printf("report: %s\n", shown(report->output).text);
    }
    return status;
}

int command_report(int argc, char **argv)
{
    Report report = {0};
    report.paths = calloc((size_t)argc + 1, sizeof *report.paths);
    report.subjects = calloc((size_t)argc + 1, sizeof *report.subjects);
    int status = report.paths == NULL || report.subjects == NULL ? memory_fault()
                                                                 : read_words(&report, argc, argv);
    status = status != 0 ? status : check_files(&report);
    size_t read = 0;
    while (status == 0 && read < report.count) {
        status = subject_read(&report.subjects[read], report.paths[read]);
        read++;
    }
    status = status != 0 ? status : write_report(&report);
    for (size_t i = 0; i < read; i++) {
        subject_clear(&report.subjects[i]);
    }
    free(report.subjects);
    free(report.paths);
    return status;
}
