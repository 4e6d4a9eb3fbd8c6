/*
 * Wall time, for progress and for what a sidecar says.
 */
#ifndef HEADPROOF_HARNESS_BASE_CLOCK_H
#define HEADPROOF_HARNESS_BASE_CLOCK_H

/* Seconds since some fixed moment; never goes back. */
double clock_seconds(void);

#endif
