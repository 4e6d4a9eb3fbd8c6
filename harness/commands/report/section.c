/*
 * The section of a report about one file.
 */
#include "section.h"

#include "../../base/shown.h"
#include "../../table/sidecar.h"

#include <stdlib.h>
#include <string.h>

/* Failures that are shown; the rest is counted. */
enum { FAILURES_SHOWN = 50 };

void section_text(FILE *file, const char *text)
{
    shown_write(file, SHOWN_XML, text);
}

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

/* "; 3 rows fail, 1 row overflow": the statuses that are not good; "none" is min-omega's. */
static void write_reasons(char *text, size_t size, const Subject *subject)
{
    size_t used = 0;
    for (Status status = 0; status <= STATUS_OK && used < size; status++) {
        bool none = status == STATUS_OK; /* of a search */
        const char *name = none ? "none" : status_name(status);
        size_t count = 0;
        for (size_t row = 0; row < subject->csv.rows; row++) {
            count += strcmp(subject_status(subject, row), name) == 0;
        }
        if (count > 0 && status != STATUS_UNRESOLVED) {
            used +=
                (size_t)snprintf(text + used, size - used, "%s %zu row%s %s", used == 0 ? ";" : ",",
                                 count, plural(count), none ? "without an omega" : name);
        }
    }
}

void section_verdict(char text[SECTION_VERDICT], const Subject *subject)
{
    size_t rows = subject->csv.rows, points = subject->points, failed = subject->failed;
    size_t all = points > 0 ? points : rows;
    const char *what = points > 0 ? "point" : "row";
    char reasons[SECTION_VERDICT / 2] = "";
    const json_t *cases = json_object_get(subject->check, "cases"); /* of verify, min-omega */
    bool fails = subject->conclusion == CONCLUSION_FAIL;
    const char *words = conclusion_words(subject->conclusion);
    if (subject->kind == SUBJECT_CHECK && !fails && cases != NULL) {
        size_t count = json_array_size(cases);
        snprintf(text, SECTION_VERDICT, "%s: %zu case%s", words, count, plural(count));
    } else if (subject->kind == SUBJECT_CHECK && subject->conclusion == CONCLUSION_PASS) {
        bool compared = *sidecar_get(subject->check, "baseline") != '\0';
        snprintf(text, SECTION_VERDICT, "PASS: every row is %s",
                 compared ? "as good as the baseline's" : "within its tolerance");
    } else if (subject->kind == SUBJECT_CHECK && !fails) {
        snprintf(text, SECTION_VERDICT, "%s", words);
    } else if (subject->kind == SUBJECT_CHECK) {
        const json_t *first = json_array_get(json_object_get(subject->check, "findings"), 0);
        snprintf(text, SECTION_VERDICT, "FAIL: %zu row%s, %zu finding%s; the first: %.40s %.60s",
                 failed, plural(failed), points, plural(points), sidecar_get(first, "column"),
                 sidecar_get(first, "reason"));
    } else if (!fails && subject->judged > 0 && !subject->proven) {
        snprintf(text, SECTION_VERDICT,
                 "no failure in %zu row%s, but no sidecar with their digest says that they are as "
                 "they were written",
                 rows, plural(rows));
    } else if (!fails) {
        snprintf(text, SECTION_VERDICT, "%s: %zu %s%s, %zu row%s", words, all, what, plural(all),
                 rows, plural(rows));
        if (subject->judged > 0 && subject->judged < rows) {
            size_t used = strlen(text);
            snprintf(text + used, SECTION_VERDICT - used, ", %zu without a tolerance",
                     rows - subject->judged);
        }
    } else {
        write_reasons(reasons, sizeof reasons, subject);
        snprintf(text, SECTION_VERDICT, "FAIL: %zu of %zu %s%s%s", failed, all, what, plural(all),
                 reasons);
    }
}

/* ---- Failures -------------------------------------------------------------------------------- */

static void write_code(FILE *file, const char *text)
{
    fputs("<pre><code>", file);
    section_text(file, text);
    fputs("</code></pre>\n", file);
}

static void write_more(FILE *file, size_t count)
{
    if (count > FAILURES_SHOWN) {
        fprintf(file, "<p>and %zu more</p>\n", count - FAILURES_SHOWN);
    }
}

/* A command's words as a shell takes them. */
static void write_words(FILE *file, const json_t *words)
{
    const json_t *word;
    size_t index;
    json_array_foreach(words, index, word)
    {
        char *quoted = shown_copy(SHOWN_SHELL, json_is_string(word) ? json_string_value(word) : "");
        fputs(index > 0 ? " " : "", file);
        section_text(file, quoted);
        free(quoted);
    }
}

/* The points that fail, each with the command that evaluates it again; what is no point of a sweep
 * the whole command finds again. */
static void write_failed_points(FILE *file, const Subject *subject)
{
    const json_t *point, *words = json_object_get(subject->sidecar, "argv");
    size_t index, written = 0;
    fputs("<h3>Failures</h3>\n", file);
    if (subject->kind == SUBJECT_TABLE && json_is_array(words)) {
        fputs("<pre><code>", file);
        write_words(file, words);
        fputs("</code></pre>\n", file);
        return;
    }
    json_array_foreach(json_object_get(subject->sidecar, "points"), index, point)
    {
        if (json_is_false(json_object_get(point, "passed")) && written < FAILURES_SHOWN) {
            write_code(file, sidecar_get(point, "command"));
            written++;
        }
    }
    if (written == 0) {
        fputs("<p>No sidecar names the commands; the rows above say which.</p>\n", file);
    }
    write_more(file, written > 0 ? subject->failed : 0);
}

/* next: the one behind it, of the same command perhaps, which is said once. */
static void write_finding(FILE *file, const json_t *finding, const json_t *next)
{
    const char *row = sidecar_get(finding, "row"), *command = sidecar_get(finding, "reproduce");
    fputs("<p>", file);
    section_text(file, row);
    fprintf(file, "%s<strong>", *row != '\0' ? ": " : "");
    section_text(file, sidecar_get(finding, "column"));
    fputs("</strong> ", file);
    section_text(file, sidecar_get(finding, "reason"));
    static const char *const keys[] = {"obtained", "baseline", "ratio", "limit"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *value = sidecar_get(finding, keys[i]);
        if (*value != '\0') {
            fprintf(file, ", %s ", keys[i]);
            listing_value(file, value);
        }
    }
    fputs("</p>\n", file);
    if (strcmp(command, sidecar_get(next, "reproduce")) != 0) {
        write_code(file, command);
    }
}

/* What the verdict is under, among other sentences of a check. */
static void write_notes(FILE *file, const Subject *subject)
{
    const json_t *item, *notes = subject->kind == SUBJECT_CHECK
                                     ? json_object_get(subject->check, "notes")
                                     : json_object_get(subject->sidecar, "conditions");
    size_t index;
    json_array_foreach(notes, index, item)
    {
        fputs("<p>Note: ", file);
        section_text(file, json_is_string(item) ? json_string_value(item) : "");
        fputs("</p>\n", file);
    }
}

static void write_findings(FILE *file, const Subject *subject)
{
    const json_t *item;
    size_t index;
    if (subject->points > 0) {
        fputs("<h3>Failures</h3>\n", file);
    }
    json_array_foreach(json_object_get(subject->check, "findings"), index, item)
    {
        if (index < FAILURES_SHOWN) {
            const json_t *next =
                json_array_get(json_object_get(subject->check, "findings"), index + 1);
            write_finding(file, item, index + 1 < FAILURES_SHOWN ? next : NULL);
        }
    }
    write_more(file, subject->points);
}

/* ---- Where it was run ------------------------------------------------------------------------ */

static void write_fact(FILE *file, const char *name, const char *value)
{
    if (*value != '\0') {
        fprintf(file, "<dt>%s</dt><dd>", name);
        section_text(file, value);
        fputs("</dd>\n", file);
    }
}

static void write_facts(FILE *file, const Subject *subject)
{
    static const char *const keys[] = {
        "date",        "version",   "commit", "compiler",      "flags",           "system",
        "cpu",         "cpu_cores", "tier",   "openblas_core", "openblas_config", "mpfr_runtime",
        "gmp_runtime", "mpi",       "digest"};
    const json_t *facts = subject->kind == SUBJECT_CHECK ? subject->check : subject->sidecar;
    fputs("<h3>Where it was run</h3>\n<dl>\n", file);
    write_fact(file, "file", subject->path);
    if (json_is_array(json_object_get(facts, "argv"))) {
        fputs("<dt>command</dt><dd><code>", file);
        write_words(file, json_object_get(facts, "argv"));
        fputs("</code></dd>\n", file);
    }
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        write_fact(file, keys[i], sidecar_get(facts, keys[i]));
    }
    write_fact(file, "baseline", sidecar_get(subject->check, "baseline"));
    fputs("</dl>\n", file);
    if (facts == NULL) {
        fputs("<p>No sidecar lies beside the table: nothing is known of its run.</p>\n", file);
    }
}

int section_write(FILE *file, const Subject *subject, const PictureWish *wish, size_t number)
{
    char verdict[SECTION_VERDICT];
    int status = 0;
    section_verdict(verdict, subject);
    fprintf(file, "<section id=\"file-%zu\">\n<h2>", number + 1);
    section_text(file, subject->path);
    fprintf(file, "</h2>\n<p class=\"verdict %s\">", conclusion_name(subject->conclusion));
    section_text(file, verdict);
    fputs("</p>\n", file);
    write_notes(file, subject);
    if (subject->drawn) {
        status = drawing_write(file, subject->path, wish, number);
    }
    if (subject->kind == SUBJECT_CHECK) {
        write_findings(file, subject);
    } else if (status == 0) {
        listing_write(file, subject);
        if (subject->conclusion == CONCLUSION_FAIL) {
            write_failed_points(file, subject);
        }
    }
    write_facts(file, subject);
    fputs("</section>\n", file);
    return status;
}
