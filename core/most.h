/* core/most.h - the largest of some errors, of which none may be lost for being no number. */
#ifndef MOST_H
#define MOST_H

#include "core/md.h"

/* The larger of two numbers; NaN if one of them is. */
MD_INLINE double md_most(double a, double b)
{
  return a != a || b <= a ? a : b;
}

#endif
