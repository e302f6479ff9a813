/* tests/engine/check_windows.c - atoms of all ranks on rank 0, window after window; runs alone and
 * under mpirun.  Files do not tell how many atoms a window has. */
#include "comm/world.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/windows.h"
#include "minimd/run/dump.h"
#include "tests/drive/engines.h"
#include "tests/drive/files.h"
#include "tests/drive/run_ranks.h"
#include "tests/ref/ref.h"
#include "tests/test.h"

#include <stdio.h>

enum { ATOMS = 1000 };

/* The k-th id of all: without gaps; far apart; at both ends of what an id can be. */
static int64_t id_of(int kind, int64_t k)
{
  if (kind == 0) return k + 1;
  if (kind == 1) return 1 + k * k * 977;
  return k < ATOMS / 2 ? 1 + k : INT64_MAX - (ATOMS - 1 - k);
}

/* Whose it is: by turns; all of the last rank; in blocks. */
static int owner_of(int kind, int64_t k)
{
  const int ranks = world_count();
  return kind == 0 ? (int)(k * 7 % ranks) : kind == 1 ? ranks - 1 : (int)(k * ranks / ATOMS);
}

/* Of this rank's atoms ids and twice their numbers, the last atom first. */
static int64_t fill(int kind, int64_t *id, int32_t *value)
{
  int64_t n = 0;
  for (int64_t k = ATOMS - 1; k >= 0; k--) {
    if (owner_of(kind, k) != world_rank()) continue;
    id[n] = id_of(kind, k);
    value[n++] = (int32_t)(2 * k);
  }
  return n;
}

static void check_windows_of(int kind, int64_t most, bool shared)
{
  int64_t id[ATOMS], order[ATOMS], seen = 0;
  int32_t value[ATOMS];
  const int64_t n = fill(kind, id, value);
  for (int64_t k = 0; k < n; k++)
    order[k] = n - 1 - k;
  const engine_column column[] = {{id, sizeof *id}, {value, sizeof *value}};
  engine_windows w;
  ck_ok(engine_windows_open(most, n, order, 2, column, &w));
  ck_assert_int_eq(w.count, (ATOMS + most - 1) / most);
  for (int64_t k = 0; k < w.count; k++) {
    if (shared)
      ck_ok(engine_windows_share(&w, k));
    else
      engine_windows_get(&w, k);
    if (world_rank() > 0 && !shared) continue;
    ck_assert_int_eq(w.n, k < w.count - 1 ? most : ATOMS - seen);
    for (int64_t i = 0; i < w.n; i++, seen++) {
      ck_assert_int_eq(((int64_t *)w.rows[0])[i], id_of(kind, seen));
      ck_assert_int_eq(((int32_t *)w.rows[1])[i], 2 * seen);
    }
  }
  if (world_rank() == 0 || shared) ck_assert_int_eq(seen, ATOMS);
  engine_windows_close(&w);
}

START_TEST(rising_ids)
{
  static const int64_t most[] = {1, 7, 250, ATOMS - 1, ATOMS, ATOMS + 1, ENGINE_WINDOW};
  for (size_t k = 0; k < sizeof most / sizeof *most; k++)
    check_windows_of(_i, most[k], false), check_windows_of(_i, most[k], true);
}
END_TEST

static char *contents(const char *path, long *bytes)
{
  FILE *file = fopen(path, "rb");
  ck_assert_ptr_nonnull(file);
  fseek(file, 0, SEEK_END);
  *bytes = ftell(file);
  rewind(file);
  char *data = ref_alloc(*bytes + 1, 1);
  ck_assert_int_eq(fread(data, 1, (size_t)*bytes, file), (size_t)*bytes);
  fclose(file);
  return data;
}

/* Two frames and a checkpoint. */
static void write_files(const engine_spec *spec, const char *trajectory, const char *state)
{
  engine *sim;
  dump *to;
  ck_ok(engine_create(spec, &sim));
  ck_ok(dump_open(trajectory, sim, NULL, 5, &to));
  ck_ok(dump_frame(to, sim));
  for (int step = 1; step <= 5; step++)
    ck_ok(engine_step(sim, step == 5));
  ck_ok(dump_frame(to, sim));
  ck_ok(dump_close(to));
  ck_ok(checkpoint_write(state, "settings", sim, NULL, false));
  engine_destroy(sim);
}

static void same_files(const char *one, const char *other)
{
  long bytes[2];
  if (world_rank() > 0) return;
  char *a = contents(one, &bytes[0]), *b = contents(other, &bytes[1]);
  ck_assert_int_eq(bytes[0], bytes[1]);
  ck_assert(memcmp(a, b, (size_t)bytes[0]) == 0);
  free(a);
  free(b);
}

/* 256 atoms: several windows that do not come out even, one that does, one atom each, and more
 * ranks than atoms in a window. */
START_TEST(files)
{
  static const char *const endings[] = {"xyz", "lammpstrj", "dcd"};
  static const int64_t window[] = {1, 3, 64, 100, 255, 256};
  config *cfg = engines_config(
      "system.cells=4 run.steps=5 device.threads=1 device.share_gpu=true lj.cutoff=2");
  engine_spec spec = *config_get(cfg);
  char one[64], other[64];
  snprintf(one, sizeof one, "one.%s", endings[_i]);
  snprintf(other, sizeof other, "other.%s", endings[_i]);
  char *paths[] = {strdup(files_path(one)), strdup(files_path(other)), strdup(files_path("one")),
                   strdup(files_path("other"))};
  write_files(&spec, paths[0], paths[2]);
  for (size_t k = 0; k < sizeof window / sizeof *window; k++) {
    spec.window = window[k];
    write_files(&spec, paths[1], paths[3]);
    same_files(paths[0], paths[1]);
    same_files(paths[2], paths[3]);
  }
  for (int k = 0; k < 4; k++)
    free(paths[k]);
  config_destroy(cfg);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("windows");
  TCase *tc = tcase_create("windows");
  tcase_set_timeout(tc, 120);
  tcase_add_checked_fixture(tc, files_begin, files_end);
  tcase_add_loop_test(tc, rising_ids, 0, 3);
  tcase_add_loop_test(tc, files, 0, 3);
  suite_add_tcase(suite, tc);
  return run_ranks(suite, "check_windows");
}
