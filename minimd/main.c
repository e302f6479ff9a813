/* minimd/main.c - picks the sub-command, prints the error, returns the exit code. */
#include "comm/world.h"
#include "core/output/files.h"
#include "core/output/output.h"
#include "minimd/shell/commands.h"
#include "minimd/shell/plot.h"
#include "minimd/shell/provenance.h"
#include "minimd/signals.h"
#include "minimd/surroundings.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

static md_status dispatch(int argc, char **argv)
{
  if (argc > 1 && strcmp(argv[1], "--help") == 0) {
    commands_help();
    return MD_OK;
  }
  if (argc > 1 && strcmp(argv[1], "--version") == 0) {
    const char *version = md_version();
    const int number = (int)strcspn(version, "-"); /* its length; then what lies behind a tag */
    printf("minimd %.*s%s%s (%s)\n", number, version, version[number] ? " " : "",
           version + number + (version[number] != 0), provenance_commit());
    return MD_OK;
  }
  MD_TRY(md_isa_check());
  const bool named = argc > 1 && argv[1][0] != '-';
  const command *found;
  commands(&found);
  if (named) MD_TRY(command_find(argv[1], &found));
  MD_REQUIRE(command_has_ranks(found) || world_count() == 1, MD_EINVAL,
             "`minimd %s` was started as %d ranks: expected one rank, which uses all processors",
             found->name, world_count());
  return named ? found->function(argc - 1, argv + 1) : found->function(argc, argv);
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
  if (!status) status = world_open();
  if (!status) status = world_end(plot_finish(dispatch(argc, argv)));
  md_output_release();
  md_file_forget();
  if (!status && fflush(stdout) != 0) status = MD_FAIL(MD_EIO, "cannot write to standard output");
  if (status && world_tells()) fprintf(stderr, "minimd: error: %s\n", md_message());
  int code = md_exit_code(status);
  if (!status && signals_stopped_by()) {
    code = 128 + signals_stopped_by();
    if (world_rank() == 0)
      fprintf(stderr, "minimd: error: stopped by signal %d after a complete step\n",
              signals_stopped_by());
  }
  world_close(status != MD_OK, code);
  return code;
}
