/*
 * The three reports of a run as files, which appear complete or not at all.
 */

#include "report.h"

typedef void WriteReport(FILE *file, const Check *check);

static const char *path_of(const Reports *reports, size_t report)
{
    const CheckOptions *options = reports->options;
    return report == 0 ? options->junit_xml : report == 1 ? options->markdown : options->json;
}

static int open_report(Reports *reports, size_t report)
{
    static const char *const flags[REPORTS] = {"junit-xml", "markdown", "json"};
    const char *path = path_of(reports, report);
    reports->files[report].flag = flags[report];
    return path == NULL ? 0 : atomic_file_open(&reports->files[report], path);
}

bool reports_wanted(const CheckOptions *options)
{
    return options->junit_xml != NULL || options->markdown != NULL || options->json != NULL;
}

int reports_open(Reports *reports, const CheckOptions *options)
{
    int status = 0;
    *reports = (Reports){.options = options};
    for (size_t i = 0; i < REPORTS && status == 0; i++) {
        status = open_report(reports, i);
        if (!atomic_file_is_direct(&reports->files[i])) {
            atomic_file_clear(&reports->files[i]);
        }
    }
    return status;
}

int reports_write(Reports *reports, const Check *check)
{
    static WriteReport *const writers[REPORTS] = {report_xml, report_markdown, report_json};
    int status = 0;
    for (size_t i = 0; i < REPORTS && status == 0; i++) {
        AtomicFile *file = &reports->files[i];
        status = file->file == NULL ? open_report(reports, i) : 0;
        if (file->file != NULL) {
            writers[i](file->file, check);
            status = atomic_file_finish(file, !ferror(file->file), path_of(reports, i));
        }
    }
    return status;
}

void reports_clear(Reports *reports)
{
    for (size_t i = 0; i < REPORTS; i++) {
        atomic_file_clear(&reports->files[i]);
    }
}
