/*
 * A point, a stream in doubles, and its path (private to reference/radius/).
 */
#ifndef HEADPROOF_REFERENCE_RADIUS_POINT_H
#define HEADPROOF_REFERENCE_RADIUS_POINT_H

#include "internal.h"

/* x^ and e^ before a sublayer are set by radius_before; with e^ behind it, units, paths and decays;
 * then, of a row, x^ and e^ behind it, with its norms, those of e^ in 2^after; and, once its radii
 * are known, its path. */
void point_after(Radius *r, const Sublayer *sublayer);
void point_set_row(Radius *r, size_t i);
void point_set_path(Radius *r, size_t i);

/* After point_after: the same of norm(x) and its change, from r->normed, with the radii that r has
 * by then. */
void point_normed(Radius *r);

/* An entry in 2^unit, to a double's 53 bits, cut off. */
double point_entry(mpfr_srcptr entry, mpfr_exp_t unit);

/* Heads' matrices side by side [rows, heads * width], or one below the other. */
double *point_whole(const HeadWeight *w, size_t heads, size_t rows, size_t width, PartsAre are);

#endif
