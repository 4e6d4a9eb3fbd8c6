/*
 * Parts of states that are archived (private to reference/).
 */
#ifndef HEADPROOF_REFERENCE_RUN_STATE_H
#define HEADPROOF_REFERENCE_RUN_STATE_H

#include "run.h"

#include "../numbers/archive.h"

void archive_mat(RefArchive *archive, ApMat *m);

/* A run between two layers. */
void archive_run(RefArchive *archive, RefRun *run);

#endif
