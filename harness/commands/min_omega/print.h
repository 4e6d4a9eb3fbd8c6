/*
 * What a search found, for a terminal.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_MIN_OMEGA_PRINT_H
#define HEADPROOF_HARNESS_COMMANDS_MIN_OMEGA_PRINT_H

#include "search.h"

#include <stdio.h>

void print_sentences(FILE *file, const Search *search);

#endif
