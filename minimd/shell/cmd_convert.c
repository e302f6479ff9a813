/* minimd/shell/cmd_convert.c - `minimd convert`: any readable input, written as libconfig. */
#include "core/output/output.h"
#include "minimd/shell/commands.h"
#include "minimd/shell/settings.h"

#include <stdio.h>

enum { OUTPUT = SETTINGS_COUNT, N_OPTIONS };

md_status cmd_convert(int argc, char **argv)
{
  option table[N_OPTIONS];
  settings_table(table);
  table[OUTPUT] = (option)OPTION_OUTPUT;
  options opts;
  config *cfg = NULL;
  md_output out = {0};
  md_status status = options_parse(table, N_OPTIONS, argc, argv, &opts);
  if (!status && opts.help) {
    options_help(stdout, "minimd convert [-i FILE] [-o FILE] [options]",
                 "Write any readable input, with --set and options applied, as libconfig.", table,
                 N_OPTIONS);
    options_free(&opts);
    return MD_OK;
  }
  if (!status) status = config_create(&cfg);
  if (!status) status = settings_read(cfg, &opts, 0);
  for (int k = 0; cfg && config_warning(cfg, k); k++)
    fprintf(stderr, "minimd: warning: %s\n", config_warning(cfg, k));
  if (!status) status = md_output_open(options_value(&opts, OUTPUT), &out);
  if (!status) {
    config_write(cfg, out.stream);
    status = md_output_close(&out);
  }
  config_destroy(cfg);
  options_free(&opts);
  return status;
}
