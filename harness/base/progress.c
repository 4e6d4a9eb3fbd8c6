/*
 * The time; and progress on stderr: a bar on a terminal, a line a minute elsewhere.
 */
#include "progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* To the start of a terminal's line, and clear it. */
#define CLEAR_LINE "\r\033[K"

#define REDRAW_SECONDS 0.1
#define LINE_SECONDS 60.0

enum { BAR = 20, ETA_TEXT = DURATION_TEXT + 16 };

double clock_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

ProgressSink progress_stderr(bool quiet)
{
    const char *term = getenv("TERM");
    bool clears = term != NULL && strcmp(term, "dumb") != 0;
    return (ProgressSink){quiet ? NULL : stderr, clears && isatty(STDERR_FILENO), clock_seconds};
}

const char *duration_print(char text[DURATION_TEXT], double seconds)
{
    if (!(isfinite(seconds) && seconds >= 0 && seconds < 1e12)) {
        strcpy(text, "an unknown time");
    } else if (seconds < 99.5) {
        snprintf(text, DURATION_TEXT, "%.0f s", fmax(1, seconds));
    } else if (seconds < 99.5 * 60) {
        snprintf(text, DURATION_TEXT, "%.0f min", seconds / 60);
    } else if (seconds < 99.5 * 3600) {
        snprintf(text, DURATION_TEXT, "%.1f h", seconds / 3600);
    } else {
        snprintf(text, DURATION_TEXT, "%.1f days", seconds / 86400);
    }
    return text;
}

/* The cost, or 0 where it is not a positive number: nothing is known of it then. */
static double known(double cost)
{
    return isfinite(cost) && cost > 0 ? cost : 0;
}

void progress_open(Progress *progress, ProgressSink sink, double cost)
{
    double now = sink.stream != NULL ? sink.now() : 0;
    *progress = (Progress){.sink = sink,
                           .unit = "",
                           .cost_total = known(cost),
                           .started = now,
                           .phase_started = now,
                           .said = now};
}

/* Share of the predicted cost that is done, in [0, 1]; NAN when nothing was predicted. */
static double share_done(const Progress *progress)
{
    double done = progress->cost_before + progress->cost_done;
    return progress->cost_total > 0 ? fmin(1, done / progress->cost_total) : NAN;
}

/* "", or "  ETA 12 min": nothing before there is a rate, and nothing once all the predicted cost
 * is spent while there is more to do. */
static const char *eta_print(char text[ETA_TEXT], const Progress *progress, double now,
                             const char *format)
{
    char duration[DURATION_TEXT];
    double share = share_done(progress), elapsed = now - progress->started;
    text[0] = '\0';
    if (share > 0 && share < 1 && elapsed > 0) {
        snprintf(text, ETA_TEXT, format, duration_print(duration, elapsed * (1 - share) / share));
    }
    return text;
}

/* "omega 20: 1203/2809 inputs" with the word that goes between the counts. */
static void print_counts(const Progress *progress, const char *of)
{
    FILE *stream = progress->sink.stream;
    if (progress->label[0] != '\0') {
        fprintf(stream, "%s: ", progress->label);
    }
    fprintf(stream, "%zu", progress->done);
    if (progress->total > 0) {
        fprintf(stream, "%s%zu", of, progress->total);
    }
    fprintf(stream, " %s", progress->unit);
}

static void draw_line(Progress *progress, double now)
{
    FILE *stream = progress->sink.stream;
    double share = share_done(progress), elapsed = now - progress->phase_started;
    char bar[BAR + 1] = {0}, eta[ETA_TEXT];
    fputs(CLEAR_LINE, stream);
    if (!isnan(share)) {
        memset(bar, '.', BAR);
        memset(bar, '#', (size_t)(share * BAR));
        fprintf(stream, "[%s] ", bar);
    }
    print_counts(progress, "/");
    if (progress->done > 0 && elapsed > 0) {
        fprintf(stream, ", %.3g/s", (double)progress->done / elapsed);
    }
    fputs(eta_print(eta, progress, now, ", ETA %s"), stream);
    fflush(stream);
    progress->drawn = true;
}

/* "headproof: omega 20: 1203 of 2809 inputs, 43% of the predicted work, 12 min to go" */
static void write_line(const Progress *progress, double now)
{
    FILE *stream = progress->sink.stream;
    double share = share_done(progress);
    char eta[ETA_TEXT];
    fputs("headproof: ", stream);
    print_counts(progress, " of ");
    if (!isnan(share)) {
        fprintf(stream, ", %.0f%% of the predicted work", 100 * share);
    }
    fprintf(stream, "%s\n", eta_print(eta, progress, now, ", %s to go"));
    fflush(stream);
}

static void say(Progress *progress)
{
    if (progress->sink.stream == NULL) {
        return;
    }
    double now = progress->sink.now();
    if (now - progress->said >= (progress->sink.terminal ? REDRAW_SECONDS : LINE_SECONDS)) {
        progress->said = now;
        if (progress->sink.terminal) {
            draw_line(progress, now);
        } else {
            write_line(progress, now);
        }
    }
}

void progress_phase(Progress *progress, const char *label, const char *unit, size_t total,
                    double cost)
{
    progress->cost_before += progress->cost_phase;
    progress->cost_phase = known(cost);
    progress->cost_done = 0;
    progress->done = 0;
    progress->total = total;
    progress->unit = unit;
    snprintf(progress->label, sizeof progress->label, "%s", label);
    if (progress->sink.stream != NULL) {
        progress->phase_started = progress->sink.now();
    }
    say(progress);
}

void progress_add(Progress *progress, size_t units, double cost)
{
    progress->done += units;
    progress->cost_done = fmin(progress->cost_phase, progress->cost_done + known(cost));
    say(progress);
}

void progress_clear(Progress *progress)
{
    if (progress->drawn) {
        fputs(CLEAR_LINE, progress->sink.stream);
        fflush(progress->sink.stream);
        progress->drawn = false;
    }
}
