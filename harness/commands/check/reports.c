/*
 * The three reports of a run as files, which appear complete or not at all.
 */

#include "report.h"

static const struct {
    const char *flag;
    void (*write)(FILE *file, const Check *check);
} kinds[REPORTS] = {
    {"junit-xml", report_xml}, {"markdown", report_markdown}, {"json", report_json}};

bool reports_wanted(const CheckOptions *options)
{
    return options->junit_xml != NULL || options->markdown != NULL || options->json != NULL;
}

static int open_report(Reports *reports, size_t report)
{
    reports->files[report].flag = kinds[report].flag;
    return atomic_file_open(&reports->files[report], reports->paths[report]);
}

int reports_open(Reports *reports, const CheckOptions *options)
{
    int status = 0;
    *reports = (Reports){.paths = {options->junit_xml, options->markdown, options->json}};
    for (size_t i = 0; i < REPORTS && status == 0; i++) {
        status = reports->paths[i] != NULL ? open_report(reports, i) : 0;
        if (reports->files[i].partial != NULL) {
            atomic_file_clear(&reports->files[i]);
        }
    }
    return status;
}

int reports_write(Reports *reports, const Check *check)
{
    int status = 0;
    for (size_t i = 0; i < REPORTS && status == 0; i++) {
        AtomicFile *file = &reports->files[i];
        status = reports->paths[i] != NULL && file->file == NULL ? open_report(reports, i) : 0;
        if (file->file != NULL) {
            kinds[i].write(file->file, check);
            status = atomic_file_finish(file, !ferror(file->file), reports->paths[i]);
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
