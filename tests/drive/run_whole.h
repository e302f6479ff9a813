/* tests/drive/run_whole.h - atoms that every rank knows whole, in a box divided into frames, for
 * tests of what several ranks share. */
#ifndef RUN_WHOLE_H
#define RUN_WHOLE_H

#include "core/atoms.h"

typedef struct {
  md_box box;
  double reach;
  int64_t n;
  int32_t frames[3];
  double *x, *v;  /* [n][3], as precision keeps them; x is relative to the middle of the frame */
  int64_t *image; /* [n][3]: the frame, and how often atoms crossed the box, as md_atoms has it */
} run_whole;

enum { RUN_WHOLES = 9 };

/* Uniform; a dense corner; all in one place, so that ranks are empty; a box of one reach; atoms
 * with many images of their own.  Frames along one axis, whose borders are those of bricks of 2 and
 * 4 ranks, along two, and shorter than the reach; a dense corner of frames.  Free with
 * run_whole_free. */
run_whole run_whole_make(int which, md_precision precision);
void run_whole_free(run_whole *w);

/* Length of a frame. */
double run_whole_edge(const run_whole *w, int d);
/* Whether images a and b along axis d stand for the same frame. */
bool run_whole_frame(const run_whole *w, int d, int64_t a, int64_t b);

/* This rank's block of them, ids 1.. in reverse order of places. */
md_atoms *run_whole_part(md_ctx *ctx, const run_whole *w);

#endif
