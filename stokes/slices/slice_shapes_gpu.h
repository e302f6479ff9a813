/* stokes/slices/slice_shapes_gpu.h - how many threads share the work of a product with slices.
 *
 * SHAPES: lanes of a slice, threads a lane, columns a thread, 16 bytes at a time or not, for just
 * as many columns or not, threads of a block.  MORE: threads besides, where pairs leave registers
 * for them and the team is large enough to need them.  Measured on an H200; more columns a thread,
 * or X of the next block asked for beside the present one, take registers from more threads and
 * lose. */
#ifndef STOKES_SLICE_SHAPES_GPU_H
#define STOKES_SLICE_SHAPES_GPU_H

#if MD_PREC == 0
#define SHAPES(X, s)                                                                               \
  X(s, 8, 2, 4, 1, 1, 768)                                                                         \
  X(s, 4, 4, 4, 1, 1, 768)                                                                         \
  X(s, 4, 8, 4, 1, 1, 768)                                                                         \
  X(s, 8, 4, 1, 0, 0, 768)                                                                         \
  X(s, 8, 4, 4, 0, 0, 768)                                                                         \
  X(s, 8, 4, 4, 1, 0, 768)                                                                         \
  X(s, 4, 8, 1, 0, 0, 768)                                                                         \
  X(s, 4, 8, 4, 0, 0, 768)                                                                         \
  X(s, 4, 8, 4, 1, 0, 768)                                                                         \
  X(s, 4, 4, 4, 0, 0, 768)                                                                         \
  X(s, 4, 4, 4, 1, 0, 768)
enum { N_SHAPES = 11 };
#define MORE_PAIR(team, per) 256
#else
#define SHAPES(X, s)                                                                               \
  X(s, 8, 1, 1, 0, 1, 768)                                                                         \
  X(s, 8, 1, 2, 1, 1, 768)                                                                         \
  X(s, 8, 2, 2, 1, 1, 768)                                                                         \
  X(s, 8, 4, 2, 1, 1, 768)                                                                         \
  X(s, 4, 8, 2, 1, 1, 768)                                                                         \
  X(s, 4, 8, 4, 1, 1, 640)                                                                         \
  X(s, 8, 4, 1, 0, 0, 768)                                                                         \
  X(s, 8, 4, 2, 0, 0, 768)                                                                         \
  X(s, 8, 4, 2, 1, 0, 768)                                                                         \
  X(s, 4, 4, 1, 0, 0, 768)                                                                         \
  X(s, 4, 8, 1, 0, 0, 768)                                                                         \
  X(s, 4, 8, 4, 0, 0, 512)                                                                         \
  X(s, 4, 4, 2, 1, 0, 768)                                                                         \
  X(s, 4, 8, 2, 1, 0, 768)                                                                         \
  X(s, 4, 8, 4, 1, 0, 512)                                                                         \
  X(s, 8, 2, 1, 0, 0, 768)                                                                         \
  X(s, 4, 8, 2, 0, 0, 768)
enum { N_SHAPES = 17 };
#define MORE_PAIR(team, per) (team >= 4 && per <= 2 ? 128 : 0)
#endif
#define MORE_BCRS(team, per) 0
#define MORE_SINGLE(team, per) 0

#endif
