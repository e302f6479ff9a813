/* core/beside.h - a second stream of a context: work that runs beside what is queued later.
 *
 *   md_beside_begin   what is queued from here on waits for all that was queued before,
 *   md_beside_end     and what is queued from here on does not wait for that,
 *   md_beside_join    until here.
 *
 *   md_beside_mark    the next begin waits for what was queued before this, and for nothing later.
 *   md_beside_enter   what is queued from here on comes behind what was queued beside,
 *   md_beside_leave   until here, and no join waits for it.
 *
 * Between begin and end, enter and leave, the context's stream is the second one: everything that
 * takes a context may be called.  On the CPU all is done at once, in the order of the calls. */
#ifndef BESIDE_H
#define BESIDE_H

#include "core/context.h"

MD_BEGIN_C

typedef struct md_beside md_beside;

/* urgent: blocks of the second stream come first where a multiprocessor has room.
 * *out is NULL on failure; free with md_beside_destroy (NULL is allowed), before the context.
 * Errors: MD_ENOMEM, MD_ECUDA. */
md_status md_beside_create(md_ctx *ctx, bool urgent, md_beside **out);
void md_beside_destroy(md_beside *beside);

/* Errors: MD_ECUDA. */
md_status md_beside_begin(md_beside *beside);
md_status md_beside_end(md_beside *beside);
md_status md_beside_join(md_beside *beside);
md_status md_beside_mark(md_beside *beside);
void md_beside_enter(md_beside *beside);
void md_beside_leave(md_beside *beside);

MD_END_C
#endif
