/* minimd/main.c - picks the sub-command, prints the error, returns the exit code. */
#include "core/output/files.h"
#include "core/output/output.h"
#include "minimd/shell/commands.h"
#include "minimd/shell/provenance.h"
#include "minimd/signals.h"
#include "minimd/surroundings.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

static void help(void)
{
  const command *all;
  const int n = commands(&all);
  printf("usage: minimd [COMMAND] [options]\n\n"
         "See, predict and beat the cost of data order in memory.\n\ncommands:\n");
  for (int k = 0; k < n; k++)
    printf("  %-12s %s\n", all[k].name, all[k].help);
  puts(
      "\n`minimd COMMAND --help` lists a command's options; `minimd run --help` those of a run.\n\n"
      "exit codes: " COMMAND_EXIT_CODES "\n\npapers:\n" COMMAND_PAPERS);
}

static md_status dispatch(int argc, char **argv)
{
  if (argc > 1 && strcmp(argv[1], "--help") == 0) {
    help();
    return MD_OK;
  }
  if (argc > 1 && strcmp(argv[1], "--version") == 0) {
    printf("minimd %s (%s)\n", MINIMD_VERSION, provenance_commit());
    return MD_OK;
  }
  MD_TRY(md_isa_check());
  if (argc < 2 || argv[1][0] == '-') return cmd_run(argc, argv);
  const command *found;
  MD_TRY(command_find(argv[1], &found));
  return found->function(argc - 1, argv + 1);
}

/* A descriptor that is closed would be given to the first file that is opened.  What stands in for
 * it can neither be read nor written: results that go nowhere are an error. */
static bool open_standard(void)
{
  static const int ways[] = {O_WRONLY, O_RDONLY, O_RDONLY};
  for (int fd = 0; fd < 3; fd++)
    if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", ways[fd]) != fd) return false;
  return true;
}

int main(int argc, char **argv)
{
  md_status status = surroundings_settle(argv);
  if (!open_standard()) return md_exit_code(MD_EIO);
  signals_begin();
  if (!status) status = dispatch(argc, argv);
  md_output_release();
  md_file_forget();
  if (!status && fflush(stdout) != 0) status = MD_FAIL(MD_EIO, "cannot write to standard output");
  if (status) {
    fprintf(stderr, "minimd: error: %s\n", md_message());
    return md_exit_code(status);
  }
  if (signals_stopped_by()) {
    fprintf(stderr, "minimd: error: stopped by signal %d after a complete step\n",
            signals_stopped_by());
    return 128 + signals_stopped_by();
  }
  return 0;
}
