/*
 * A plain model of which all sublayers' numbers are there at once, where the program has them one
 * after the other.
 */
#ifndef HEADPROOF_TESTS_PLAIN_WHOLE_H
#define HEADPROOF_TESTS_PLAIN_WHOLE_H

#include "../cases/plain.h"

/* Free with plain_clear. */
PlainModel plain_whole(const Start *start);

/* Heads of sublayer s that are not there for uniformity alone, and the columns of its factors that
 * are not zero in all of them. */
size_t plain_own_heads(const PlainModel *whole, size_t s);
size_t plain_own_rank(const PlainModel *whole, size_t s);

#endif
