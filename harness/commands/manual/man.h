/*
 * The manual page headproof(1).
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_MANUAL_MAN_H
#define HEADPROOF_HARNESS_COMMANDS_MANUAL_MAN_H

#include "../../grid/command.h"

#include <stdio.h>

/* Commands [count], axes and flags as man(7) has them.  Whether the stream failed is its own. */
void man_write(FILE *file, const CommandInfo *commands, size_t count);

#endif
