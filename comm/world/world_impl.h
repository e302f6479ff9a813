/* comm/world/world_impl.h - what world.c needs of a carrier of messages: MPI, or none. */
#ifndef WORLD_IMPL_H
#define WORLD_IMPL_H

#include "comm/world.h"

/* Ranks that the launcher started; called only where there are several.
 * Errors: as world_open. */
md_status carrier_open(int *rank, int *count);
void carrier_close(void);
/* End every rank. */
void carrier_abort(int exit_code);

/* Collective: `bytes` of each rank to all, in the order of ranks; of rank `root` to all. */
void carrier_gather(const void *mine, size_t bytes, void *all);
void carrier_broadcast(void *data, size_t bytes, int root);
void carrier_sum(int64_t *values, int64_t count);
void carrier_most(double *values, int count);
void carrier_trade(const int64_t *to, int64_t *from, int width);
md_status carrier_reserve(int64_t messages, int64_t bytes);
void carrier_start(const world_message *in, int n_in, const world_message *out, int n_out);
void carrier_wait(void);

/* Bytes of a message that travels; longer ones are cut. */
enum { WORLD_MESSAGE = 2048 };

#endif
