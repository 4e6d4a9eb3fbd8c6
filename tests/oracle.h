/*
 * Programs in Python that evaluate what this one has exported, by rules of their own.
 */
#ifndef HEADPROOF_TESTS_ORACLE_H
#define HEADPROOF_TESTS_ORACLE_H

#include "scratch.h"

#include "../kernels/kernel.h"

/* As users write them. */
extern const char *const oracle_forms[KERNEL_COUNT];

/* A Python that has the modules, as import lists them; NULL where none has.  The second skips the
 * test there. */
const char *oracle_python(const char *modules);
const char *oracle_needed(const char *modules);

/* Exports a configuration, evaluated by the machine, as file `number`; path: its name. */
void oracle_export(char path[SCRATCH_PATH], const Scratch *scratch, size_t number,
                   const char *configuration, Arithmetic arithmetic, KernelForm form);

/* The script and its arguments exit with 0. */
void oracle_agree(const char *interpreter, const char *asked, const char *about);

#endif
