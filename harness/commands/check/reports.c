/*
 * The three reports of a run as files, which appear complete or not at all.
 */
#include "reports.h"

#include "report.h"

typedef int WriteReport(FILE *file, const Check *check);

static int open_report(Reports *reports, size_t report)
{
    static const char *const flags[REPORTS] = {"junit-xml", "markdown", "json"};
    const CheckOptions *options = reports->options;
    const char *path = report == 0   ? options->junit_xml
                       : report == 1 ? options->markdown
                                     : options->json;
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
        if (status == 0 && !atomic_file_is_direct(&reports->files[i])) {
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
        if (status == 0 && file->file != NULL &&
            (writers[i](file->file, check) != 0 || atomic_file_sync(file) != 0 ||
             atomic_file_publish(file) != 0 || atomic_file_close(file) != 0)) {
            status = atomic_file_failed(file->path);
        }
        atomic_file_clear(file);
    }
    return status;
}

void reports_clear(Reports *reports)
{
    for (size_t i = 0; i < REPORTS; i++) {
        atomic_file_clear(&reports->files[i]);
    }
}
