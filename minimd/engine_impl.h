/* minimd/engine_impl.h - between the files of the engine. */
#ifndef ENGINE_IMPL_H
#define ENGINE_IMPL_H

#include "minimd/engine.h"

neighbor_spec engine_list_spec(const config_values *values, neighbor_kind kind);

/* Errors: MD_ENOMEM (n atoms in this box do not fit; names the most that do). */
md_status engine_check_memory(const md_ctx *ctx, const config_values *values, neighbor_kind list,
                              int64_t n, const md_box *box);

#endif
