/* tests/fuzz.c - see fuzz.h.  Readers that take a path get that of a file in memory. */
#include "tests/fuzz.h"
#include "cachemodel/machine.h"
#include "cachemodel/trace_file.h"
#include "core/crc.h"
#include "core/parse.h"
#include "minimd/checkpoint.h"
#include "minimd/profile_csv.h"
#include "minimd/read_script.h"
#include "minimd/spread_case.h"
#include "minimd/stokes_checkpoint.h"
#include "minimd/system.h"
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

static void read_config(const uint8_t *data, size_t size, config_format format)
{
  config *cfg = NULL;
  need(config_create(&cfg) == MD_OK, "config_create");
  if (told(config_read(cfg, as_file(data, size), format)) == MD_OK) {
    const config_entry *entries;
    char text[CONFIG_TEXT_SIZE];
    (void)told(config_check(cfg));
    for (int n = config_entries(&entries), k = 0; k < n; k++)
      need(config_format_value(cfg, entries[k].key, text, sizeof text) == MD_OK, "no value");
  }
  config_destroy(cfg);
}

static void any_input(const uint8_t *data, size_t size)
{
  read_config(data, size, CONFIG_FORMAT_AUTO);
}

static void libconfig(const uint8_t *data, size_t size)
{
  read_config(data, size, CONFIG_FORMAT_LIBCONFIG);
}

static void fixed_format(const uint8_t *data, size_t size)
{
  read_config(data, size, CONFIG_FORMAT_MINIMD);
}

static void lammps(const uint8_t *data, size_t size)
{
  read_config(data, size, CONFIG_FORMAT_LAMMPS);
}

static void setting(const uint8_t *data, size_t size)
{
  config *cfg = NULL;
  char *text = as_text(data, size);
  need(config_create(&cfg) == MD_OK, "config_create");
  if (told(config_set_pair(cfg, text)) == MD_OK) (void)told(config_check(cfg));
  config_destroy(cfg);
  free(text);
}

/* LAMMPS data and extended XYZ, told apart by content. */
static void atoms(const uint8_t *data, size_t size)
{
  system_state head, whole;
  const char *path = as_file(data, size);
  const md_status first = told(system_read(path, true, &head));
  if (told(system_read(path, false, &whole)) == MD_OK) {
    need(first == MD_OK && head.n == whole.n, "header and file disagree");
    for (int64_t k = 0; k < 3 * whole.n; k++)
      need(whole.x[k] >= whole.box.lo[k % 3] && whole.x[k] <= whole.box.hi[k % 3],
           "an atom outside the box");
    system_state_free(&whole);
  }
  if (first == MD_OK) system_state_free(&head);
}

static void packing(const uint8_t *data, size_t size)
{
  stokes_packing spheres;
  if (told(stokes_packing_read(as_file(data, size), &spheres)) == MD_OK)
    stokes_packing_free(&spheres);
}

static void radii(const uint8_t *data, size_t size)
{
  stokes_radii sizes;
  if (told(stokes_radii_read(as_file(data, size), &sizes)) == MD_OK) stokes_radii_free(&sizes);
}

/* Rows are as many as a file says; not so many here that they fill the memory. */
static void market(const uint8_t *data, size_t size)
{
  stokes_blocks blocks;
  for (size_t k = 0, digits = 0; k < size; k++) {
    digits = data[k] >= '0' && data[k] <= '9' ? digits + 1 : 0;
    if (digits > 6) return;
  }
  if (told(stokes_blocks_read(as_file(data, size), &blocks)) == MD_OK) stokes_blocks_free(&blocks);
}

static void particles(const uint8_t *data, size_t size)
{
  const spread_spec spec = {.hi = {4, 4, 4}, .mesh = {8, 8, 8}, .order = 4, .vectors = 2};
  spread_case found;
  if (told(spread_case_read(&spec, MD_DOUBLE, as_file(data, size), 1, &found)) == MD_OK)
    spread_case_free(&found);
}

static void machine_file(const uint8_t *data, size_t size)
{
  machine found;
  (void)told(machine_find(as_file(data, size), &found));
}

static void counters(const uint8_t *data, size_t size)
{
  static const char *const metrics[] = {"gpu__time_duration.sum", "lts__t_sectors.sum", "a"};
  profile_values values;
  char *text = as_text(data, size);
  if (told(profile_csv_read(text, metrics, 3, &values)) == MD_OK) profile_values_free(&values);
  free(text);
}

static void trace(const uint8_t *data, size_t size)
{
  enum { ROOM = 64 };
  trace_reader *reader = NULL;
  trace_lines *lines = NULL;
  trace_run runs[ROOM];
  uint32_t line[ROOM];
  int64_t n = 1, touched = 1, looked = 0;
  if (told(trace_reader_open(as_file(data, size), &reader))) return;
  need(trace_lines_create(64, &lines) == MD_OK, "trace_lines_create");
  while (n > 0 && looked < 4096 && told(trace_read(reader, ROOM, runs, &n)) == MD_OK)
    for (int64_t k = 0; k < n; k++, looked++) {
      int64_t from = 0;
      need(runs[k].count >= 1 && runs[k].bytes >= 1, "a run of nothing");
      for (int turn = 0; turn < 4 && touched > 0; turn++)
        if (told(trace_lines_of(lines, &runs[k], &from, ROOM, line, &touched))) break;
      touched = 1;
    }
  trace_lines_destroy(lines);
  trace_reader_close(reader);
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

static void checkpoint_file(const uint8_t *data, size_t size)
{
  checkpoint from;
  config *cfg = NULL;
  need(config_create(&cfg) == MD_OK, "config_create");
  if (told(checkpoint_read(as_file(data, size), &from)) == MD_OK) {
    checkpoint_plan plan;
    if (told(checkpoint_configure(&from, cfg)) == MD_OK)
      (void)told(checkpoint_compare(&from, cfg, &plan));
    checkpoint_free(&from);
  }
  config_destroy(cfg);
}

static void stokes_checkpoint_file(const uint8_t *data, size_t size)
{
  stokes_checkpoint from;
  if (told(stokes_checkpoint_read(as_file(data, size), &from)) == MD_OK)
    stokes_checkpoint_free(&from);
}

/* As they are, then with right check sums. */
static void twice(const uint8_t *data, size_t size, void (*fix)(uint8_t *, size_t),
                  void (*read)(const uint8_t *, size_t))
{
  read(data, size);
  uint8_t *sealed = (uint8_t *)as_text(data, size);
  fix(sealed, size);
  read(sealed, size);
  free(sealed);
}

static void checkpoints(const uint8_t *data, size_t size)
{
  twice(data, size, seal_sections, checkpoint_file);
}

static void stokes_checkpoints(const uint8_t *data, size_t size)
{
  twice(data, size, seal_sections, stokes_checkpoint_file);
}

static void traces(const uint8_t *data, size_t size)
{
  twice(data, size, seal_trace, trace);
}

static void orders(const uint8_t *data, size_t size)
{
  ordering order, again;
  ordering_stencil stencil;
  char *text = as_text(data, size), written[128];
  if (told(ordering_parse(text, &order)) == MD_OK) {
    ordering_format(&order, written, sizeof written);
    need(ordering_parse(written, &again) == MD_OK && memcmp(&order, &again, sizeof order) == 0,
         "an ordering does not read back");
  }
  (void)told(ordering_stencil_parse(text, &stencil));
  free(text);
}

static void expressions(const uint8_t *data, size_t size)
{
  double value = 0;
  char *text = as_text(data, size);
  (void)told(script_evaluate(text, &value));
  free(text);
}

static void numbers(const uint8_t *data, size_t size)
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
  if (told(md_parse_list(text, "a list", &items, &n)) == MD_OK) free(items);
  free(text);
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
