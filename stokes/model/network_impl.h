/* stokes/model/network_impl.h - a network measured by messages in a ring of ranks. */
#ifndef STOKES_NETWORK_IMPL_H
#define STOKES_NETWORK_IMPL_H

#include "comm/world.h"
#include "stokes/model/model.h"

/* Bytes of the larger of two messages; data has room for two of them. */
enum { NETWORK_LARGE = 1 << 20 };
/* Both messages are over when it returns. */
typedef md_status network_pass(void *by, const world_message *in, const world_message *out);
/* All ranks together.  Errors: those of pass. */
md_status network_time(network_pass *pass, void *by, char *data, stokes_network *out);

#endif
