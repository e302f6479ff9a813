/* minimd/main.c - picks the sub-command, prints the error, returns the exit code. */
#include "minimd/commands.h"
#include "core/parse.h"
#include "minimd/provenance.h"

#include <stdio.h>
#include <string.h>

static const struct {
  const char *name;
  md_status (*function)(int argc, char **argv);
  const char *help;
} commands[] = {
    {"run", cmd_run, "molecular dynamics (the default)"},
    {"ordering", cmd_ordering, "index tables, stencils and memory offsets of orderings"},
    {"cachemodel", cmd_cachemodel, "cache misses of sweeps, force kernels and traces, by ordering"},
    {"compare", cmd_compare, "the same run under each ordering: times, locality, ranking"},
    {"spread", cmd_spread, "charges of particles onto a mesh, by every method of [Guo]"},
    {"stokes", cmd_stokes, "Stokesian dynamics of spheres in a viscous fluid"},
    {"gspmv", cmd_gspmv, "products of a block matrix with many vectors"},
    {"pack", cmd_pack, "periodic packings of spheres"},
    {"profile", cmd_profile, "hardware counters of the GPU's force kernel beside the model"},
    {"config", cmd_config, "list every setting"},
    {"convert", cmd_convert, "write any readable input as libconfig"},
    {"info", cmd_info, "what this build and this machine can do"},
};
enum { N_COMMANDS = sizeof commands / sizeof *commands };

static void help(void)
{
  printf("usage: minimd [COMMAND] [options]\n\n"
         "See, predict and beat the cost of data order in memory.\n\ncommands:\n");
  for (int k = 0; k < N_COMMANDS; k++)
    printf("  %-12s %s\n", commands[k].name, commands[k].help);
  printf(
      "\n`minimd COMMAND --help` lists a command's options; `minimd run --help` those of a run.\n\n"
      "exit codes: 0 success, 2 usage or input, 3 file, 4 device or memory, 5 numerical,\n"
      "            128+n ended by signal n after a clean stop\n");
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
  if (argc < 2 || argv[1][0] == '-') return cmd_run(argc, argv);
  const char *names[N_COMMANDS];
  for (int k = 0; k < N_COMMANDS; k++) {
    names[k] = commands[k].name;
    if (strcmp(argv[1], names[k]) == 0) return commands[k].function(argc - 1, argv + 1);
  }
  const char *near = md_nearest(argv[1], names, N_COMMANDS);
  return MD_FAIL(MD_EINVAL, "unknown command '%.60s'%s%s%s", argv[1],
                 near ? "; did you mean '" : "; see --help", near ? near : "", near ? "'?" : "");
}

int main(int argc, char **argv)
{
  md_status status = dispatch(argc, argv);
  if (!status && fflush(stdout) != 0) status = MD_FAIL(MD_EIO, "cannot write to standard output");
  if (status) {
    fprintf(stderr, "minimd: error: %s\n", md_message());
    return md_exit_code(status);
  }
  if (run_stopped_by()) {
    fprintf(stderr, "minimd: error: stopped by signal %d after a complete step\n",
            run_stopped_by());
    return 128 + run_stopped_by();
  }
  return 0;
}
