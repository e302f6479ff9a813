/* tests/hostile/fuzz_readers.c - every reader of untrusted bytes, alone. */
#include "tests/hostile/fuzz.h"
#include "cachemodel/machine/machine.h"
#include "cachemodel/trace/trace_file.h"
#include "core/parse/parse.h"
#include "minimd/run/restart.h"
#include "minimd/locality/profile_csv.h"
#include "minimd/config/read_script.h"
#include "minimd/spread/spread_case.h"
#include "minimd/stokes/stokes_checkpoint.h"
#include "engine/system/system.h"
#include "force/eam/eam.h"
#include "ordering/stencil.h"
#include "stokes/matrix/matrix.h"
#include "minimd/stokes/mobility_case.h"
#include "stokes/packing/packing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool read_config(const uint8_t *data, size_t size, config_format format)
{
  config *cfg = NULL;
  fuzz_need(config_create(&cfg) == MD_OK, "config_create");
  const bool good = fuzz_told(config_read(cfg, fuzz_file(data, size), format)) == MD_OK;
  if (good) {
    const config_entry *entries;
    char text[CONFIG_TEXT_SIZE];
    (void)fuzz_told(config_check(cfg));
    for (int n = config_entries(&entries), k = 0; k < n; k++)
      fuzz_need(config_format_value(cfg, entries[k].key, text, sizeof text) == MD_OK, "no value");
  }
  config_destroy(cfg);
  return good;
}

static bool any_input(const uint8_t *data, size_t size)
{
  return read_config(data, size, CONFIG_FORMAT_AUTO);
}

static bool libconfig(const uint8_t *data, size_t size)
{
  return read_config(data, size, CONFIG_FORMAT_LIBCONFIG);
}

static bool fixed_format(const uint8_t *data, size_t size)
{
  return read_config(data, size, CONFIG_FORMAT_MINIMD);
}

static bool lammps(const uint8_t *data, size_t size)
{
  return read_config(data, size, CONFIG_FORMAT_LAMMPS);
}

static bool setting(const uint8_t *data, size_t size)
{
  config *cfg = NULL;
  char *text = fuzz_text(data, size);
  fuzz_need(config_create(&cfg) == MD_OK, "config_create");
  const bool good = fuzz_told(config_set_pair(cfg, text)) == MD_OK;
  if (good) (void)fuzz_told(config_check(cfg));
  config_destroy(cfg);
  free(text);
  return good;
}

/* LAMMPS data and extended XYZ, told apart by content, and the types that the file itself names. */
static bool atoms(const uint8_t *data, size_t size)
{
  system_state head, whole;
  engine_types found;
  const char *path = fuzz_file(data, size);
  (void)fuzz_told(system_read_types(path, &found));
  const engine_types *types = found.n ? &found : NULL;
  const md_status first = fuzz_told(system_read(path, true, types, &head));
  const bool good = fuzz_told(system_read(path, false, types, &whole)) == MD_OK;
  if (good) {
    fuzz_need(first == MD_OK && head.n == whole.n, "header and file disagree");
    for (int64_t k = 0; k < 3 * whole.n; k++)
      fuzz_need(whole.x[k] >= whole.box.lo[k % 3] && whole.x[k] <= whole.box.hi[k % 3],
                "an atom outside the box");
    system_state_free(&whole);
  }
  if (first == MD_OK) system_state_free(&head);
  engine_types_free(&found);
  return good;
}

static bool packing(const uint8_t *data, size_t size)
{
  stokes_packing spheres;
  const md_status status = fuzz_told(stokes_packing_read(fuzz_file(data, size), &spheres));
  if (!status) stokes_packing_free(&spheres);
  return !status;
}

static bool mobility(const uint8_t *data, size_t size)
{
  mobility_case spheres;
  const md_status status = fuzz_told(mobility_case_read(fuzz_file(data, size), &spheres));
  if (!status) mobility_case_free(&spheres);
  return !status;
}

static bool radii(const uint8_t *data, size_t size)
{
  stokes_radii sizes;
  const md_status status = fuzz_told(stokes_radii_read(fuzz_file(data, size), &sizes));
  if (!status) stokes_radii_free(&sizes);
  return !status;
}

/* What was read has finite values at every knot. */
static bool potential(const uint8_t *data, size_t size)
{
  eam_potential eam;
  const md_status status = fuzz_told(eam_read(fuzz_file(data, size), &eam));
  double slope;
  if (status) return false;
  fuzz_need(eam.cutoff > 0 && eam.mass > 0, "a cutoff or mass that is not > 0");
  for (int64_t k = 0; k < eam.embed.n; k++)
    fuzz_need(!isnan(eam_embed(&eam, (double)k * eam.embed.step, &slope)), "F is no number");
  eam_free(&eam);
  return true;
}

/* Rows are as many as a file says; not so many here that they fill the memory. */
static bool market(const uint8_t *data, size_t size)
{
  stokes_blocks blocks;
  for (size_t k = 0, digits = 0; k < size; k++) {
    digits = data[k] >= '0' && data[k] <= '9' ? digits + 1 : 0;
    if (digits > 6) return false;
  }
  const md_status status = fuzz_told(stokes_blocks_read(fuzz_file(data, size), &blocks));
  if (!status) stokes_blocks_free(&blocks);
  return !status;
}

static bool particles(const uint8_t *data, size_t size)
{
  const spread_spec spec = {.hi = {4, 4, 4}, .mesh = {8, 8, 8}, .order = 4, .vectors = 2};
  spread_case found;
  const md_status status =
      fuzz_told(spread_case_read(&spec, MD_DOUBLE, 1, fuzz_file(data, size), 1, &found));
  if (!status) spread_case_free(&found);
  return !status;
}

static bool machine_file(const uint8_t *data, size_t size)
{
  machine found;
  return fuzz_told(machine_find(fuzz_file(data, size), &found)) == MD_OK;
}

static bool counters(const uint8_t *data, size_t size)
{
  static const char *const metrics[] = {"gpu__time_duration.sum", "lts__t_sectors.sum", "a"};
  profile_values values;
  char *text = fuzz_text(data, size);
  const md_status status = fuzz_told(profile_csv_read(text, metrics, 3, &values));
  if (!status) profile_values_free(&values);
  free(text);
  return !status;
}

/* Some of the lines that a run touches. */
static void touch(trace_lines *lines, const trace_run *run)
{
  enum { ROOM = 64, TURNS = 4 };
  uint32_t line[ROOM];
  int64_t from = 0, touched = 1;
  fuzz_need(run->count >= 1 && run->bytes >= 1, "a run of nothing");
  for (int turn = 0; turn < TURNS && touched > 0; turn++)
    if (fuzz_told(trace_lines_of(lines, run, &from, ROOM, line, &touched))) return;
}

static bool trace(const uint8_t *data, size_t size)
{
  enum { ROOM = 64, ENOUGH = 4096 };
  trace_reader *reader = NULL;
  trace_lines *lines = NULL;
  trace_run runs[ROOM];
  int64_t n = 1, looked = 0;
  md_status status = fuzz_told(trace_reader_open(fuzz_file(data, size), NULL, &reader));
  if (status) return false;
  fuzz_need(trace_lines_create(64, 1, &lines) == MD_OK, "trace_lines_create");
  while (!status && n > 0 && looked < ENOUGH) {
    status = fuzz_told(trace_read(reader, ROOM, runs, &n));
    for (int64_t k = 0; !status && k < n; k++, looked++)
      touch(lines, &runs[k]);
  }
  trace_lines_destroy(lines);
  trace_reader_close(reader);
  return !status;
}

static bool checkpoint_file(const uint8_t *data, size_t size)
{
  checkpoint from;
  config *cfg = NULL;
  fuzz_need(config_create(&cfg) == MD_OK, "config_create");
  const bool good = fuzz_told(checkpoint_read(fuzz_file(data, size), &from)) == MD_OK;
  if (good) {
    restart_plan plan;
    if (fuzz_told(restart_configure(&from, cfg)) == MD_OK)
      (void)fuzz_told(restart_compare(&from, cfg, &plan));
    checkpoint_free(&from);
  }
  config_destroy(cfg);
  return good;
}

static bool stokes_checkpoint_file(const uint8_t *data, size_t size)
{
  stokes_checkpoint from;
  stokes_settings settings = stokes_settings_defaults();
  if (fuzz_told(stokes_checkpoint_read(fuzz_file(data, size), &from))) return false;
  const md_status status = fuzz_told(stokes_settings_read_words(from.words, &settings));
  stokes_checkpoint_free(&from);
  return !status;
}

static bool orders(const uint8_t *data, size_t size)
{
  ordering order, again;
  ordering_stencil stencil;
  char *text = fuzz_text(data, size), written[128];
  const bool good = fuzz_told(ordering_parse(text, &order)) == MD_OK;
  if (good) {
    ordering_format(&order, written, sizeof written);
    fuzz_need(ordering_parse(written, &again) == MD_OK && memcmp(&order, &again, sizeof order) == 0,
              "an ordering does not read back");
  }
  const bool found = fuzz_told(ordering_stencil_parse(text, &stencil)) == MD_OK;
  free(text);
  return good || found;
}

static bool expressions(const uint8_t *data, size_t size)
{
  double value = 0;
  char *text = fuzz_text(data, size);
  const md_status status = fuzz_told(script_evaluate(text, &value));
  free(text);
  return !status;
}

static bool numbers(const uint8_t *data, size_t size)
{
  char *text = fuzz_text(data, size), **items = NULL;
  double real = 0;
  int64_t integer = 5;
  uint64_t seed;
  int n = 0;
  if (fuzz_told(md_parse_double(text, &real)) == MD_OK) fuzz_need(real - real == 0, "not finite");
  if (fuzz_told(md_parse_int64(text, -7, 900, &integer)) == MD_OK)
    fuzz_need(integer >= -7 && integer <= 900, "out of range");
  (void)fuzz_told(md_parse_uint64(text, &seed));
  const md_status status = fuzz_told(md_parse_list(text, "a list", &items, &n));
  if (!status) free(items);
  free(text);
  return !status;
}

const fuzz_target fuzz_readers[] = {
    {"input", any_input, NULL},
    {"libconfig", libconfig, NULL},
    {"minimd", fixed_format, NULL},
    {"lammps", lammps, NULL},
    {"setting", setting, NULL},
    {"atoms", atoms, NULL},
    {"packing", packing, NULL},
    {"mobility", mobility, NULL},
    {"radii", radii, NULL},
    {"potential", potential, NULL},
    {"market", market, NULL},
    {"particles", particles, NULL},
    {"machine", machine_file, NULL},
    {"counters", counters, NULL},
    {"trace", trace, fuzz_seal_trace},
    {"checkpoint", checkpoint_file, fuzz_seal_sections},
    {"stokes_checkpoint", stokes_checkpoint_file, fuzz_seal_sections},
    {"order", orders, NULL},
    {"expression", expressions, NULL},
    {"number", numbers, NULL},
    {0}};
