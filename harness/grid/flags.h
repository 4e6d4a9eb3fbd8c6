/*
 * The flags that are no axes: a table of what each is called, where its value goes, and what takes
 * it.
 */
#ifndef HEADPROOF_HARNESS_GRID_FLAGS_H
#define HEADPROOF_HARNESS_GRID_FLAGS_H

#include "command.h"
#include "grid.h"

#include "../base/message.h"

/* What flags are about: the headings of help, in order.  Of the first ones there are axes alone. */
typedef enum {
    ABOUT_MODEL,
    ABOUT_REWRITE,
    ABOUT_DAMAGE,
    ABOUT_MACHINE,
    ABOUT_REFERENCE,
    ABOUT_PASSING,
    ABOUT_OUTPUT,
    ABOUT_FILE,
    ABOUT_INPUTS,
    ABOUT_PROOFS,
    ABOUT_REPORTS,
    ABOUT_RUN,
    ABOUT_COMMAND, /* of a command that takes no axes */
    ABOUT_COUNT
} FlagSubject;

typedef struct FlagInfo FlagInfo;

/* Puts the flag's value where its row says; text: NULL of a flag that takes none.  0; 2 after a
 * message. */
typedef int ReadFlag(RunOptions *run, const FlagInfo *flag, const char *text);

struct FlagInfo {
    const char *name;
    const char *argument; /* what it takes; NULL: nothing */
    const char *help;
    const char *of; /* the commands that take it, a blank behind each; NULL: all that take axes */
    ReadFlag *read;
    size_t place; /* in RunOptions, where 0 or NULL is the default */
    FlagSubject about;
    char letter;              /* the short form, or 0 */
    bool common;              /* help explains it without being asked for all */
    const char *filled;       /* what an empty value lacks; NULL: it may be empty */
    const char *const *words; /* what it may be, up to a NULL; or NULL: anything */
    size_t least, most;       /* of a number */
};

/* Up to one without a name.  Of two of a name no command takes both. */
extern const FlagInfo flag_table[];
enum { FLAGS_MOST = 64 };

/* False for a flag that means nothing to the command. */
bool command_takes_flag(const CommandInfo *command, const FlagInfo *flag);

/* The flag of that name that the command takes, else any of that name that is no axis; or
 * NULL. */
const FlagInfo *flag_find(const CommandInfo *command, const char *name);

/* Complains of a word that names no flag of the command, or, of a case file, no key: says which was
 * meant, or what is done instead of one that earlier versions had.  Returns 2. */
int flag_unknown(Origin origin, const char *word, const char *name, const CommandInfo *command);

#endif
