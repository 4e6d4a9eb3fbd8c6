/*
 * The standard streams: closed ones are opened, and a run ends well when nobody reads its stdout.
 */
#ifndef HEADPROOF_HARNESS_BASE_STREAMS_H
#define HEADPROOF_HARNESS_BASE_STREAMS_H

/* Call before anything else.  Descriptors 0 to 2 that are closed are opened, so that no file of the
 * run becomes one of them; what is written to them, or read, fails.  A limit on the size of files
 * becomes an error of the write, not a signal that ends the process.  0, or 99. */
int streams_open(void) __attribute__((warn_unused_result));

/* From here on a reader that went away is an error of the write, not a signal that ends the
 * process: call before a file is opened that would be left behind.  0, or -1 (errno). */
int streams_outlive_readers(void) __attribute__((warn_unused_result));

/* Something could not be printed on stdout: says so, for errno's reason, unless its reader went
 * away (then streams_end does the rest); returns 99. */
int streams_stdout_failed(void);

/* Makes sure that all output has arrived: status, or 99 after a message. */
int streams_finish(int status) __attribute__((warn_unused_result));

/* The end of the process: by SIGPIPE where stdout's reader went away, as if it had never been held
 * off; else nothing. */
void streams_end(void);

#endif
