/* minimd/shell/cmd_crystal.c - `minimd crystal`: what it is for. */
#include "core/output/output.h"
#include "minimd/shell/commands.h"
#include "minimd/shell/settings.h"

enum { OUTPUT = SETTINGS_COUNT, N_OPTIONS };

md_status cmd_crystal(int argc, char **argv)
{
  option rows[N_OPTIONS];
  settings_table(rows);
  rows[OUTPUT] = (option)OPTION_OUTPUT;
  options opts;
  config *cfg = NULL;
  md_output out = {0};
  md_status status = options_parse(rows, N_OPTIONS, argc, argv, &opts);
  if (!status && opts.help) {
    options_help(stdout, "minimd crystal [-i FILE] [options]", "What it is for.", rows, N_OPTIONS);
    options_free(&opts);
    return MD_OK;
  }
  if (!status) status = config_create(&cfg);
  if (!status) status = settings_read(cfg, &opts, 0);
  if (!status) status = md_output_open(options_value(&opts, OUTPUT), &out);
  if (!status) status = md_output_close(&out); /* fill in: print to out.stream before */
  config_destroy(cfg);
  options_free(&opts);
  return status;
}
