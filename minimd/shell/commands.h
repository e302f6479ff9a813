/* minimd/shell/commands.h - the sub-commands: one table, one function each; argv[0] is its name.
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
md_status cmd_tune(int argc, char **argv);
md_status cmd_spread(int argc, char **argv);
md_status cmd_stokes(int argc, char **argv);
md_status cmd_pack(int argc, char **argv);
md_status cmd_potential(int argc, char **argv);
md_status cmd_gspmv(int argc, char **argv);
md_status cmd_mobility(int argc, char **argv);
md_status cmd_profile(int argc, char **argv);
md_status cmd_config(int argc, char **argv);
md_status cmd_convert(int argc, char **argv);
md_status cmd_info(int argc, char **argv);
md_status cmd_docs(int argc, char **argv);
md_status cmd_help(int argc, char **argv);

/* The table: n entries, the command that runs without a name first. */
enum { COMMAND_FORMS = 3 };
typedef struct {
  const char *name;
  md_status (*function)(int argc, char **argv);
  const char *help;
  const char *forms[COMMAND_FORMS]; /* arguments that pick a form with options of its own */
} command;
int commands(const command **out);
/* Whether it runs on several ranks (comm/world.h). */
bool command_has_ranks(const command *of);
/* Errors: MD_EINVAL (no such command; the nearest one is named). */
md_status command_find(const char *name, const command **out);
/* Print the commands, as `minimd --help` does. */
void commands_help(void);
/* Have a command, or the form of it that an argument picks, print its help.  Errors: its own. */
md_status command_ask(const command *of, const char *form);
/* One line for each exit code, as --help and the manual print them. */
#define COMMAND_EXIT_CODES                                                                         \
  "0 success, 2 usage or input, 3 file, 4 device or memory, 5 numerical,\n"                        \
  "128+n ended by signal n after a clean stop"
/* The papers that help texts name by key, in full (docs/references.md has all). */
#define COMMAND_PAPERS                                                                             \
  "[AK]  I. Al-Kharusi and D. W. Walker, Locality properties of 3D data orderings with\n"          \
  "      application to parallel molecular dynamics simulations, Int. J. High Performance\n"       \
  "      Computing Applications 33 (5), 998-1018 (2019), doi:10.1177/1094342019846282\n"           \
  "[Guo] X. Guo, X. Liu, P. Xu, Z. Du and E. Chow, Efficient particle-mesh spreading on\n"         \
  "      GPUs, Procedia Computer Science 51, 120-129 (2015), doi:10.1016/j.procs.2015.05.210\n"    \
  "[Liu] X. Liu, E. Chow, K. Vaidyanathan and M. Smelyanskiy, Improving the performance of\n"      \
  "      dynamical simulations via multiple right-hand sides, IPDPS 2012, 36-47,\n"                \
  "      doi:10.1109/IPDPS.2012.14"

MD_END_C
#endif
