/* tests/fuzz.c - see fuzz.h.  Readers that take a path get that of a file in memory. */
#include "tests/fuzz.h"
#include "cachemodel/machine.h"
#include "cachemodel/trace_file.h"
#include "core/crc.h"
#include "core/parse.h"
#include "minimd/run/restart.h"
#include "minimd/locality/profile_csv.h"
#include "minimd/config/read_script.h"
#include "minimd/spread/spread_case.h"
#include "minimd/stokes/stokes_checkpoint.h"
#include "engine/system.h"
#include "ordering/stencil.h"
#include "stokes/matrix.h"
#include "stokes/packing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void need(bool good, const char *what)
{
  if (good) return;
  fprintf(stderr, "%s; the last message: %s\n", what, md_message());
  abort();
}

/* A failure says something, in one line. */
static md_status told(md_status status)
{
  need(!status || (*md_message() && !strchr(md_message(), '\n')), "a failure without a line");
  return status;
}

/* A file with these bytes. */
static const char *as_file(const uint8_t *data, size_t size)
{
  static char path[64];
  static int fd = -1;
  if (fd < 0) {
    fd = memfd_create("fuzz", 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  }
  need(fd >= 0 && ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size, "memfd");
  return path;
}

/* The same bytes as text. */
static char *as_text(const uint8_t *data, size_t size)
{
  char *text = malloc(size + 1);
  need(text != NULL, "malloc");
  memcpy(text, data, size);
  text[size] = '\0';
  return text;
}

static bool read_config(const uint8_t *data, size_t size, config_format format)
{
  config *cfg = NULL;
  need(config_create(&cfg) == MD_OK, "config_create");
  const bool good = told(config_read(cfg, as_file(data, size), format)) == MD_OK;
  if (good) {
    const config_entry *entries;
    char text[CONFIG_TEXT_SIZE];
    (void)told(config_check(cfg));
    for (int n = config_entries(&entries), k = 0; k < n; k++)
      need(config_format_value(cfg, entries[k].key, text, sizeof text) == MD_OK, "no value");
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
  char *text = as_text(data, size);
  need(config_create(&cfg) == MD_OK, "config_create");
  const bool good = told(config_set_pair(cfg, text)) == MD_OK;
  if (good) (void)told(config_check(cfg));
  config_destroy(cfg);
  free(text);
  return good;
}

/* LAMMPS data and extended XYZ, told apart by content. */
static bool atoms(const uint8_t *data, size_t size)
{
  system_state head, whole;
  const char *path = as_file(data, size);
  const md_status first = told(system_read(path, true, &head));
  const bool good = told(system_read(path, false, &whole)) == MD_OK;
  if (good) {
    need(first == MD_OK && head.n == whole.n, "header and file disagree");
    for (int64_t k = 0; k < 3 * whole.n; k++)
      need(whole.x[k] >= whole.box.lo[k % 3] && whole.x[k] <= whole.box.hi[k % 3],
           "an atom outside the box");
    system_state_free(&whole);
  }
  if (first == MD_OK) system_state_free(&head);
  return good;
}

static bool packing(const uint8_t *data, size_t size)
{
  stokes_packing spheres;
  const md_status status = told(stokes_packing_read(as_file(data, size), &spheres));
  if (!status) stokes_packing_free(&spheres);
  return !status;
}

static bool radii(const uint8_t *data, size_t size)
{
  stokes_radii sizes;
  const md_status status = told(stokes_radii_read(as_file(data, size), &sizes));
  if (!status) stokes_radii_free(&sizes);
  return !status;
}

/* Rows are as many as a file says; not so many here that they fill the memory. */
static bool market(const uint8_t *data, size_t size)
{
  stokes_blocks blocks;
  for (size_t k = 0, digits = 0; k < size; k++) {
    digits = data[k] >= '0' && data[k] <= '9' ? digits + 1 : 0;
    if (digits > 6) return false;
  }
  const md_status status = told(stokes_blocks_read(as_file(data, size), &blocks));
  if (!status) stokes_blocks_free(&blocks);
  return !status;
}

static bool particles(const uint8_t *data, size_t size)
{
  const spread_spec spec = {.hi = {4, 4, 4}, .mesh = {8, 8, 8}, .order = 4, .vectors = 2};
  spread_case found;
  const md_status status =
      told(spread_case_read(&spec, MD_DOUBLE, 1, as_file(data, size), 1, &found));
  if (!status) spread_case_free(&found);
  return !status;
}

static bool machine_file(const uint8_t *data, size_t size)
{
  machine found;
  return told(machine_find(as_file(data, size), &found)) == MD_OK;
}

static bool counters(const uint8_t *data, size_t size)
{
  static const char *const metrics[] = {"gpu__time_duration.sum", "lts__t_sectors.sum", "a"};
  profile_values values;
  char *text = as_text(data, size);
  const md_status status = told(profile_csv_read(text, metrics, 3, &values));
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
  need(run->count >= 1 && run->bytes >= 1, "a run of nothing");
  for (int turn = 0; turn < TURNS && touched > 0; turn++)
    if (told(trace_lines_of(lines, run, &from, ROOM, line, &touched))) return;
}

static bool trace(const uint8_t *data, size_t size)
{
  enum { ROOM = 64, ENOUGH = 4096 };
  trace_reader *reader = NULL;
  trace_lines *lines = NULL;
  trace_run runs[ROOM];
  int64_t n = 1, looked = 0;
  md_status status = told(trace_reader_open(as_file(data, size), &reader));
  if (status) return false;
  need(trace_lines_create(64, &lines) == MD_OK, "trace_lines_create");
  while (!status && n > 0 && looked < ENOUGH) {
    status = told(trace_read(reader, ROOM, runs, &n));
    for (int64_t k = 0; !status && k < n; k++, looked++)
      touch(lines, &runs[k]);
  }
  trace_lines_destroy(lines);
  trace_reader_close(reader);
  return !status;
}

static uint64_t number(const uint8_t *data, int bytes)
{
  uint64_t value = 0;
  memcpy(&value, data, (size_t)bytes);
  return value;
}

static void seal(uint8_t *at, uint32_t sum)
{
  memcpy(at, &sum, sizeof sum);
}

/* Make the check sums of a file of sections right, so that what lies behind them is read. */
static void seal_sections(uint8_t *data, size_t size)
{
  if (size < 16) return;
  seal(data + 12, md_crc32c(0, data, 12));
  for (size_t at = 16; size - at >= 24;) {
    const uint64_t bytes = number(data + at + 8, 8), left = size - at - 24;
    if (bytes <= left) seal(data + at + 4, md_crc32c(0, data + at + 24, bytes));
    seal(data + at + 16, md_crc32c(0, data + at, 16));
    if (bytes > left) return;
    at += 24 + bytes;
  }
}

/* Likewise those of the blocks of a trace. */
static void seal_trace(uint8_t *data, size_t size)
{
  if (size < 16) return;
  seal(data + 12, md_crc32c(0, data, 12));
  for (size_t at = 16; size - at >= 16;) {
    const uint64_t bytes = number(data + at + 8, 4);
    if (bytes > size - at - 16) return;
    seal(data + at + 12, md_crc32c(md_crc32c(0, data + at, 12), data + at + 16, bytes));
    at += 16 + bytes;
  }
}

static bool checkpoint_file(const uint8_t *data, size_t size)
{
  checkpoint from;
  config *cfg = NULL;
  need(config_create(&cfg) == MD_OK, "config_create");
  const bool good = told(checkpoint_read(as_file(data, size), &from)) == MD_OK;
  if (good) {
    restart_plan plan;
    if (told(restart_configure(&from, cfg)) == MD_OK)
      (void)told(restart_compare(&from, cfg, &plan));
    checkpoint_free(&from);
  }
  config_destroy(cfg);
  return good;
}

static bool stokes_checkpoint_file(const uint8_t *data, size_t size)
{
  stokes_checkpoint from;
  stokes_settings settings = stokes_settings_defaults();
  if (told(stokes_checkpoint_read(as_file(data, size), &from))) return false;
  const md_status status = told(stokes_settings_read_words(from.words, &settings));
  stokes_checkpoint_free(&from);
  return !status;
}

/* As they are, then with right check sums; whether they were good as they are. */
static bool twice(const uint8_t *data, size_t size, void (*fix)(uint8_t *, size_t),
                  bool (*read)(const uint8_t *, size_t))
{
  const bool good = read(data, size);
  uint8_t *sealed = (uint8_t *)as_text(data, size);
  fix(sealed, size);
  (void)read(sealed, size);
  free(sealed);
  return good;
}

static bool checkpoints(const uint8_t *data, size_t size)
{
  return twice(data, size, seal_sections, checkpoint_file);
}

static bool stokes_checkpoints(const uint8_t *data, size_t size)
{
  return twice(data, size, seal_sections, stokes_checkpoint_file);
}

static bool traces(const uint8_t *data, size_t size)
{
  return twice(data, size, seal_trace, trace);
}

static bool orders(const uint8_t *data, size_t size)
{
  ordering order, again;
  ordering_stencil stencil;
  char *text = as_text(data, size), written[128];
  const bool good = told(ordering_parse(text, &order)) == MD_OK;
  if (good) {
    ordering_format(&order, written, sizeof written);
    need(ordering_parse(written, &again) == MD_OK && memcmp(&order, &again, sizeof order) == 0,
         "an ordering does not read back");
  }
  const bool found = told(ordering_stencil_parse(text, &stencil)) == MD_OK;
  free(text);
  return good || found;
}

static bool expressions(const uint8_t *data, size_t size)
{
  double value = 0;
  char *text = as_text(data, size);
  const md_status status = told(script_evaluate(text, &value));
  free(text);
  return !status;
}

static bool numbers(const uint8_t *data, size_t size)
{
  char *text = as_text(data, size), **items = NULL;
  double real = 0;
  int64_t integer = 5;
  uint64_t seed;
  int n = 0;
  if (told(md_parse_double(text, &real)) == MD_OK) need(real - real == 0, "not finite");
  if (told(md_parse_int64(text, -7, 900, &integer)) == MD_OK)
    need(integer >= -7 && integer <= 900, "out of range");
  (void)told(md_parse_uint64(text, &seed));
  const md_status status = told(md_parse_list(text, "a list", &items, &n));
  if (!status) free(items);
  free(text);
  return !status;
}

static const fuzz_target targets[] = {{"input", any_input},
                                      {"libconfig", libconfig},
                                      {"minimd", fixed_format},
                                      {"lammps", lammps},
                                      {"setting", setting},
                                      {"atoms", atoms},
                                      {"packing", packing},
                                      {"radii", radii},
                                      {"market", market},
                                      {"particles", particles},
                                      {"machine", machine_file},
                                      {"counters", counters},
                                      {"trace", traces},
                                      {"checkpoint", checkpoints},
                                      {"stokes_checkpoint", stokes_checkpoints},
                                      {"order", orders},
                                      {"expression", expressions},
                                      {"number", numbers}};

int fuzz_targets(const fuzz_target **out)
{
  *out = targets;
  return (int)(sizeof targets / sizeof *targets);
}
