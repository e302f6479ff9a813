/* engine/checkpoint/checkpoint_impl.h - the layout that writer and reader of a checkpoint share. */
#ifndef CHECKPOINT_IMPL_H
#define CHECKPOINT_IMPL_H

#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/sections.h"

#define CHECKPOINT_SECTIONS(X)                                                                     \
  X(CONF, "configuration")                                                                         \
  X(STEP, "step")                                                                                  \
  X(PLACE, "positions")                                                                            \
  X(BUILT, "positions at the list build")                                                          \
  X(V, "velocities")                                                                               \
  X(ID, "ids") X(IMAGE, "image flags") X(CHARGE, "charges") X(TYPE, "types") X(END, "end")
#define MD_ENUM_(name, word) CHECKPOINT_##name,
typedef enum { CHECKPOINT_SECTIONS(MD_ENUM_) CHECKPOINT_SECTION_COUNT } checkpoint_section;
#undef MD_ENUM_

/* The section STEP. */
typedef struct {
  int64_t n, step, rebuilt_at;
  md_file_mark dump;
  double lo[3], hi[3], mass;
  int64_t backend, charged, typed; /* charged, typed: 0 or 1 */
  int64_t frames[3];
  engine_lists lists;
  int64_t potential; /* eam_check_sum, or -1 */
} checkpoint_step;

#endif
