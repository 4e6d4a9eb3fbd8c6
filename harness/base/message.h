/*
 * Complaints about input: one line that quotes the token and says what was expected.
 */
#ifndef HEADPROOF_HARNESS_BASE_MESSAGE_H
#define HEADPROOF_HARNESS_BASE_MESSAGE_H

#include <stddef.h>

typedef struct {
    char text[2048]; /* not yet as shown.h has it */
} Message;

/* Where a token was read: in a line of a file, in a flag's value, or (file and flag NULL) on the
 * command line. */
typedef struct {
    const char *file;
    size_t line;      /* of file, from 1 */
    const char *flag; /* without its dashes */
} Origin;

/* message = "token 'TOKEN': ", or nothing of a token that is NULL, and the formatted rest; a very
 * long token is cut and ends in "...".  When it is printed, all of it is text as shown.h has it for
 * a terminal: one line. */
void message_token(Message *message, const char *token, size_t length, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The same for a token that is a whole string, printed at once: "FILE:LINE: token ...",
 * "headproof: --flag: token ..." or "headproof: token ..." on stderr.  Like those below it returns
 * 2, the exit code for it. */
int complain(Origin origin, const char *token, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Prints a message made earlier. */
int complain_message(Origin origin, const Message *message);

/* "FILE: KIND 'NAME': " and the formatted rest, or (name NULL) "FILE: " and the rest, on stderr:
 * for input that has no lines. */
int complain_of(const char *file, const char *kind, const char *name, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* A command line on stderr, as a shell takes it, with extra (unless NULL) behind the command's
 * name. */
void print_command_line(int argc, char *const *argv, const char *extra);

/* "headproof: WHY; reproduce: " and that line, on stderr: of a run that ends with 1; not where
 * stdout is the same terminal, whose reader has seen why.  Returns 1. */
int failure_say(const char *why, int argc, char *const *argv);

/* Prints the one message about memory; returns 99. */
int memory_fault(void);

/* The exit code where a file cannot be opened, read or written for this reason (errno): 99 where
 * that is the machine's fault, 2 where it is the user's. */
int file_fault(int error) __attribute__((warn_unused_result));

/* The name of what others call by token; else that closest to it, or that it begins, when
 * it is close enough to be meant, else NULL.  The distance is the number of letters to insert,
 * delete, replace or swap with their neighbour; case does not count, nor do dashes in front, and _
 * is -.  names [count]; NULL entries are skipped. */
const char *nearest_name(const char *token, const char *const *names, size_t count);

/* " (did you mean NAME?)", or nothing: what a message about the token ends with. */
typedef struct {
    char text[64];
} Suggestion;

Suggestion suggest(const char *token, const char *const *names, size_t count);

/* The complaint about a token that is none of names [count]: "expected WHAT, one of ...", where the
 * first listed of the names are named and all are suggested.  what: NULL: "expected one of ...". */
int complain_unknown(Origin origin, const char *token, const char *what, const char *const *names,
                     size_t listed, size_t count);

#endif
