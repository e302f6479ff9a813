/* minimd/commands.h - one function per sub-command; argv[0] is its name.
 *
 * Each reads its options, does its work, prints results on stdout or to -o FILE, and returns a
 * status with a message; main() prints that and exits. */
#ifndef COMMANDS_H
#define COMMANDS_H

#include "core/md.h"

MD_BEGIN_C

md_status cmd_run(int argc, char **argv);
md_status cmd_ordering(int argc, char **argv);
md_status cmd_cachemodel(int argc, char **argv);
md_status cmd_compare(int argc, char **argv);
md_status cmd_spread(int argc, char **argv);
md_status cmd_stokes(int argc, char **argv);
md_status cmd_pack(int argc, char **argv);
md_status cmd_gspmv(int argc, char **argv);
md_status cmd_profile(int argc, char **argv);
md_status cmd_config(int argc, char **argv);
md_status cmd_convert(int argc, char **argv);
md_status cmd_info(int argc, char **argv);

/* The signal that ended a run after a complete step, or 0. */
int run_stopped_by(void);
/* From now on SIGINT and SIGTERM do not end the program, but are what run_stopped_by() returns. */
void run_stop_on_signals(void);

MD_END_C
#endif
