/* minimd/shell/settings.h - the options that describe a run, shared by what makes one. */
#ifndef SETTINGS_H
#define SETTINGS_H

#include "minimd/config/config.h"
#include "minimd/shell/options.h"

MD_BEGIN_C

/* Each of these sets the key of the configuration beside it. */
#define SETTINGS_BAR_(name, word) "|" word
#define SETTINGS_KEYED(X)                                                                          \
  X(ORDER, "order", "ORDER", "order of bins and atoms: " ORDERINGS_HELP, "order.curve")            \
  X(LIST, "list", (&NEIGHBOR_LISTS(SETTINGS_BAR_)[1]),                                             \
    "neighbour list; chosen with a reason when not given", "neighbor.list")                        \
  X(NEWTON, "newton", "on|off", "half lists: each pair across a ghost once, or twice",             \
    "neighbor.newton")                                                                             \
  X(STENCIL, "stencil", "block|sphere", "bins searched around a bin", "neighbor.stencil")          \
  X(BIN_SIZE, "bin-size", "X", "edge of a bin, or /N for N bins per cutoff + skin",                \
    "neighbor.bin_size")                                                                           \
  X(SORT_EVERY, "sort-every", "N",                                                                 \
    "steps between sorts, a multiple of the rebuild period; 0 never", "order.sort_every")          \
  X(REBUILD, "rebuild", "N|check",                                                                 \
    "steps between list builds, or when an atom moved half the skin", "neighbor.every")            \
  X(SKIN, "skin", "X|auto", "list radius beyond the cutoff; auto: measured, with --rebuild check", \
    "neighbor.skin")                                                                               \
  X(PAIR, "pair", (&ENGINE_PAIRS(SETTINGS_BAR_)[1]),                                               \
    "forces between atoms: Lennard-Jones, or embedded atoms of a --potential", "potential.style")  \
  X(POTENTIAL, "potential", "FILE", "funcfl or setfl file of one element, for --pair eam",         \
    "potential.file")                                                                              \
  X(CUTOFF, "cutoff", "X", "cutoff radius", "lj.cutoff")                                           \
  X(BACKEND, "backend", "auto|cpu|gpu", "where to compute", "device.backend")                      \
  X(DEVICE, "device", "N", "CUDA device to compute on, 0 the first", "device.index")               \
  X(PRECISION, "precision", "single|mixed|double", "number types", "device.precision")             \
  X(BLOCK_SIZE, "block-size", "N", "threads per block of the force kernel, 32..1024",              \
    "device.block_size")                                                                           \
  X(THREADS, "threads", "N", "OpenMP threads", "device.threads")                                   \
  X(CELLS, "cells", "NX[,NY,NZ]", "lattice cells along each axis", "system.cells")                 \
  X(STEPS, "steps", "N", "time steps", "run.steps")                                                \
  X(DT, "dt", "X", "time step", "run.dt")                                                          \
  X(THERMO, "thermo", "N", "steps between thermo lines; 0: first and last", "run.thermo")          \
  X(SEED, "seed", "N", "seed of the initial velocities", "system.seed")                            \
  X(DETERMINISTIC, "deterministic", NULL, "bit-identical reruns on the same machine",              \
    "device.deterministic")                                                                        \
  X(CUT, "cut", (&PARTITION_CUTS(SETTINGS_BAR_)[1]), "how several ranks share the box",            \
    "device.cut")                                                                                  \
  X(CARRIER, "carrier", (&COMM_CARRIERS(SETTINGS_BAR_)[1]),                                        \
    "how positions come to other ranks; chosen with a reason", "device.carrier")                   \
  X(SHARE_GPU, "share-gpu", NULL, "several ranks on one GPU, for tests", "device.share_gpu")

#define MD_ENUM_(name, word, value, help, key) SETTINGS_##name,
typedef enum { SETTINGS_KEYED(MD_ENUM_) SETTINGS_N_KEYED } settings_keyed;
#undef MD_ENUM_
enum { SETTINGS_INPUT = SETTINGS_N_KEYED, SETTINGS_FORMAT_IN, SETTINGS_SET, SETTINGS_COUNT };

/* Fill table[0 .. SETTINGS_COUNT): a sub-command's own options follow. */
void settings_table(option *table);

/* Input file, --set and named options in their precedence, then config_check.  Options in `lists`,
 * a mask of 1 << settings_keyed, hold a comma-separated list that the caller reads itself. */
md_status settings_read(config *cfg, const options *opts, unsigned lists);

MD_END_C
#endif
