/* minimd/signals.h - what a user asks of a run that is under way. */
#ifndef SIGNALS_H
#define SIGNALS_H

#include "core/md.h"

MD_BEGIN_C

/* From now on SIGINT and SIGTERM do not end the program, but are what signals_stopped_by returns.
 */
void signals_stop_gently(void);
/* The signal that ends a run after a complete step, or 0. */
int signals_stopped_by(void);

/* From now on SIGUSR1 asks for a checkpoint. */
void signals_save_when_asked(void);
/* Whether one was asked for since the last call; warns when there is no file to write. */
bool signals_save_asked(const char *checkpoint);

MD_END_C
#endif
