/* stokes/team.h - how many threads some work is worth. */
#ifndef STOKES_TEAM_H
#define STOKES_TEAM_H

#include "core/context.h"

enum { TEAM_ITEMS = 1024 }; /* spheres or block rows that pay for waking up a thread */

static inline int team_size(const md_ctx *ctx, int64_t items)
{
  const int64_t most = items / TEAM_ITEMS + 1;
  return most < ctx->threads ? (int)most : ctx->threads;
}

#endif
