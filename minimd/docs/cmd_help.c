/* minimd/docs/cmd_help.c - `minimd help [COMMAND]`, and what `minimd --help` prints. */
#include "minimd/shell/commands.h"
#include "minimd/shell/options.h"

#include <stdlib.h>
#include <string.h>

void commands_help(void)
{
  const command *all;
  const int n = commands(&all);
  printf("usage: minimd [COMMAND] [options]\n\n"
         "See, predict and beat the cost of data order in memory.\n\ncommands:\n");
  for (int k = 0; k < n; k++)
    printf("  %-12s %s\n", all[k].name, all[k].help);
  puts("\n`minimd help COMMAND` lists a command's options; `minimd help run` those of a run.\n\n"
       "exit codes: " COMMAND_EXIT_CODES "\n\npapers:\n" COMMAND_PAPERS);
}

md_status command_ask(const command *of, const char *form)
{
  char *name = strdup(of->name), *help = strdup("--help"), *argument = strdup(form ? form : "");
  md_status status = name && help && argument ? MD_OK : MD_FAIL(MD_ENOMEM, "out of memory");
  char *argv[] = {name, help, argument, NULL};
  if (!status) status = of->function(form ? 3 : 2, argv);
  free(argument);
  free(help);
  free(name);
  return status;
}

md_status cmd_help(int argc, char **argv)
{
  static const option none[1];
  const command *of;
  options opts = {0};
  if (argc == 2 && argv[1][0] != '-') {
    MD_TRY(command_find(argv[1], &of));
    return command_ask(of, NULL);
  }
  md_status status =
      argc > 2 ? MD_FAIL(MD_EINVAL, "help: expected one command, not '%.60s' too", argv[2])
               : options_parse(none, 0, argc, argv, &opts);
  if (!status && opts.help)
    options_help(stdout, "minimd help [COMMAND]", "What a command is for, and its options.", none,
                 0);
  else if (!status)
    commands_help();
  options_free(&opts);
  return status;
}
