/*
 * The time; and progress on stderr: a bar on a terminal, a line a minute elsewhere.
 */
#include "progress.h"

#include "terminal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* To the start of a terminal's line, and clear it. */
#define CLEAR_LINE "\r\033[K"

#define REDRAW_SECONDS 0.1
#define LINE_SECONDS 60.0

/* Estimates of the whole time that differ by no more have settled; before they have been seen to
 * stay, while the time so far grows by the factor STRETCH, they may be off by the factor DOUBT. */
#define SETTLED 1.25
#define STRETCH 1.25
#define DOUBT 2

enum {
    BAR = 20,
    BAR_LEAST = 4,
    SPAN_TEXT = 2 * DURATION_TEXT + 8,
    TIME_TEXT = SPAN_TEXT + 16,
    COUNTS_TEXT = 160
};
enum { LINE_TEXT = COUNTS_TEXT + 32 + TIME_TEXT };

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
    return (ProgressSink){.stream = quiet ? NULL : stderr,
                          .terminal = clears && isatty(STDERR_FILENO),
                          .now = clock_seconds};
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

const char *duration_about(char text[DURATION_TEXT], double seconds)
{
    static const char about[] = "about ";
    duration_print(text, seconds);
    memmove(text + strlen(about), text, strlen(text) + 1);
    memcpy(text, about, strlen(about));
    return seconds < 1 ? "less than a second" : text;
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

/* Takes in what the whole time is estimated to be now, while there is a rate. */
static void estimate(Progress *progress, double now)
{
    Estimates *before = &progress->estimates[0], *since = &progress->estimates[1];
    double share = share_done(progress), elapsed = now - progress->started;
    if (!(share > 0 && elapsed > 0)) {
        return;
    }
    double whole = elapsed / share;
    if (elapsed >= progress->estimated_until) {
        *before = *since;
        *since = (Estimates){whole, whole};
        progress->estimated_until = STRETCH * elapsed;
    }
    since->least = fmin(since->least, whole);
    since->most = fmax(since->most, whole);
}

/* "12 min", or while estimates wander from where to where: "3.3 to 7.5 h". */
static const char *left_print(char text[SPAN_TEXT], const Progress *progress, double now)
{
    char least[DURATION_TEXT], most[DURATION_TEXT];
    const Estimates *before = &progress->estimates[0], *since = &progress->estimates[1];
    bool first = before->most == 0;
    Estimates whole = {first ? since->least / DOUBT : fmin(before->least, since->least),
                       first ? since->most * DOUBT : fmax(before->most, since->most)};
    double share = share_done(progress);
    if (whole.most <= SETTLED * whole.least) {
        whole.least = whole.most = (now - progress->started) / share;
    }
    duration_print(least, whole.least * (1 - share));
    duration_print(most, whole.most * (1 - share));
    char *unit = strchr(least, ' ');
    bool same = strcmp(least, most) == 0;
    if (unit != NULL && !same && strcmp(unit, strchr(most, ' ')) == 0) {
        *unit = '\0';
    }
    snprintf(text, SPAN_TEXT, "%s%s%s", same ? "" : least, same ? "" : " to ", most);
    return text;
}

/* "", or ", ETA 12 min": nothing before there is a rate, and nothing once all the predicted cost is
 * spent while there is more to do.  Before the first unit is done, ", 12 s so far". */
static const char *time_print(char text[TIME_TEXT], const Progress *progress, double now,
                              const char *format)
{
    char duration[SPAN_TEXT];
    double share = share_done(progress), elapsed = now - progress->started;
    text[0] = '\0';
    if (share > 0 && share < 1 && elapsed > 0) {
        snprintf(text, TIME_TEXT, format, left_print(duration, progress, now));
    } else if (progress->done == 0 && elapsed >= 1) {
        snprintf(text, TIME_TEXT, ", %s so far", duration_print(duration, elapsed));
    }
    return text;
}

/* "omega 20: 1203/2809 inputs" with the word that goes between the counts. */
static const char *counts_print(char text[COUNTS_TEXT], const Progress *progress, const char *of)
{
    char total[COUNTS_TEXT / 4] = "";
    if (progress->total > 0) {
        snprintf(total, sizeof total, "%s%zu", of, progress->total);
    }
    snprintf(text, COUNTS_TEXT, "%s%s%zu%s %s", progress->label,
             progress->label[0] != '\0' ? ": " : "", progress->done, total, progress->unit);
    return text;
}

/* Cuts text so that it has at most width bytes, and no part of a character. */
static void cut(char *text, size_t width)
{
    if (strlen(text) > width) {
        while (width > 0 && ((unsigned char)text[width] & 0xC0) == 0x80) {
            width--;
        }
        text[width] = '\0';
    }
}

/* Counts, rate and time to go; where the line is too short for all, without the rate; then cut.
 * The bar has what is left, and needs BAR_LEAST of it.  A line that fills the last column wraps on
 * some terminals. */
static void draw_line(Progress *progress, double now)
{
    FILE *stream = progress->sink.stream;
    size_t width = progress->sink.width > 0 ? progress->sink.width : terminal_width(stream);
    double share = share_done(progress), elapsed = now - progress->phase_started;
    char text[LINE_TEXT], counts[COUNTS_TEXT], time[TIME_TEXT], rate[32] = "";
    counts_print(counts, progress, "/");
    time_print(time, progress, now, ", ETA %s");
    if (progress->done > 0 && elapsed > 0) {
        snprintf(rate, sizeof rate, ", %.3g/s", (double)progress->done / elapsed);
    }
    bool fits = strlen(counts) + strlen(rate) + strlen(time) < width;
    snprintf(text, sizeof text, "%s%s%s", counts, fits ? rate : "", time);
    cut(text, width - 1);
    fputs(CLEAR_LINE, stream);
    size_t room = width - 1 - strlen(text);
    if (!isnan(share) && room >= BAR_LEAST + strlen("[] ")) {
        size_t bar = room - strlen("[] ") < BAR ? room - strlen("[] ") : BAR;
        size_t done = (size_t)(share * (double)bar);
        fputc('[', stream);
        for (size_t i = 0; i < bar; i++) {
            fputc(i < done ? '#' : '.', stream);
        }
        fputs("] ", stream);
    }
    fputs(text, stream);
    fflush(stream);
    progress->drawn = true;
}

/* "headproof: omega 20: 1203 of 2809 inputs, 43% of the predicted work, 12 min to go" */
static void write_line(const Progress *progress, double now)
{
    FILE *stream = progress->sink.stream;
    double share = share_done(progress);
    char time[TIME_TEXT], counts[COUNTS_TEXT];
    fprintf(stream, "headproof: %s", counts_print(counts, progress, " of "));
    if (!isnan(share)) {
        fprintf(stream, ", %.0f%% of the predicted work", 100 * share);
    }
    fprintf(stream, "%s\n", time_print(time, progress, now, ", %s to go"));
    fflush(stream);
}

void progress_tick(Progress *progress)
{
    if (progress->sink.stream == NULL) {
        return;
    }
    double now = progress->sink.now();
    estimate(progress, now);
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
    progress_tick(progress);
}

void progress_add(Progress *progress, size_t units, double cost)
{
    progress->done += units;
    progress->cost_done = fmin(progress->cost_phase, progress->cost_done + known(cost));
    progress_tick(progress);
}

void progress_clear(Progress *progress)
{
    if (progress->drawn) {
        fputs(CLEAR_LINE, progress->sink.stream);
        fflush(progress->sink.stream);
        progress->drawn = false;
    }
}
