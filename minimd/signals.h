/* minimd/signals.h - what a user asks of the program while it works. */
#ifndef SIGNALS_H
#define SIGNALS_H

#include "core/md.h"

MD_BEGIN_C

/* From now on SIGINT, SIGTERM and SIGHUP (unless it is ignored, as by nohup) end the program with
 * exit code 128 + n and without temporary files; a limit on the size of files is an error of
 * writing. */
void signals_begin(void);
/* From now on the first of them does not end the program, but is what signals_stopped_by returns;
 * a second one does. */
void signals_stop_gently(void);
/* The signal that ends a run after a complete step, or 0. */
int signals_stopped_by(void);
/* Another rank got this one. */
void signals_stop_as(int signal_number);

/* From now on SIGUSR1 asks for a checkpoint. */
void signals_save_when_asked(void);
/* Whether one was asked for since the last call; warns when there is no file to write. */
bool signals_save_asked(const char *checkpoint);

MD_END_C
#endif
