/* minimd/shell/cmd_crystal.c - `minimd crystal`: atoms and box of the lattice that settings
 * describe, before a run is made of it. */
#include "engine/system/system.h"
#include "minimd/shell/commands.h"
#include "minimd/shell/settings.h"
#include "minimd/shell/table.h"

enum { FORMAT = SETTINGS_COUNT, OUTPUT, N_OPTIONS };

static void print_crystal(const config *cfg, const options *opts, options_format format,
                          FILE *stream)
{
  static const table_column columns[] = {
      {"atoms", 12, 0}, {"x", 12, -8}, {"y", 12, -8}, {"z", 12, -8}, {"volume", 14, -8}};
  int64_t n;
  md_box box;
  double volume = 1;
  table t;
  system_lattice(config_get(cfg), &n, &box);
  table_begin(&t, stream, format, "crystal", opts, columns, 5);
  table_integer(&t, n);
  for (int d = 0; d < 3; d++) {
    table_real(&t, box.hi[d] - box.lo[d]);
    volume *= box.hi[d] - box.lo[d];
  }
  table_real(&t, volume);
  table_end(&t);
}

static md_status run(config *cfg, const options *opts)
{
  md_output out;
  int format = OPTIONS_FORMAT_TABLE;
  MD_TRY(options_word(opts, FORMAT, options_format_words, OPTIONS_FORMAT_COUNT, &format));
  MD_TRY(settings_read(cfg, opts, 0));
  MD_REQUIRE(!config_get(cfg)->read, MD_EINVAL,
             "%s: system.read: expected a lattice, not a file of atoms",
             config_origin(cfg, "system.read"));
  MD_TRY(md_output_open(options_value(opts, OUTPUT), &out));
  print_crystal(cfg, opts, (options_format)format, out.stream);
  return md_output_close(&out);
}

md_status cmd_crystal(int argc, char **argv)
{
  option rows[N_OPTIONS];
  settings_table(rows);
  rows[FORMAT] = (option)OPTION_FORMAT;
  rows[OUTPUT] = (option)OPTION_OUTPUT;
  options opts;
  config *cfg = NULL;
  md_status status = options_parse(rows, N_OPTIONS, argc, argv, &opts);
  if (!status && opts.help) {
    options_help(stdout, "minimd crystal [-i FILE] [options]",
                 "Atoms, edges and volume of the lattice that the settings describe.", rows,
                 N_OPTIONS);
  } else if (!status) {
    status = config_create(&cfg);
    if (!status) status = run(cfg, &opts);
  }
  config_destroy(cfg);
  options_free(&opts);
  return status;
}
