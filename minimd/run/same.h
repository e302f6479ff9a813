/* minimd/run/same.h - ranks (comm/world.h) are of one program and have the same settings. */
#ifndef SAME_H
#define SAME_H

#include "minimd/config/config.h"
#include "minimd/shell/options.h"

MD_BEGIN_C

/* On all ranks.  Errors: MD_EINVAL (names a rank and what differs), MD_ENOMEM. */
md_status ranks_same_program(const config *cfg);
/* The same for a command that has options alone. */
md_status ranks_same_command(const options *opts);

MD_END_C
#endif
