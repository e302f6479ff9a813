/* tests/minimd/check_dump.c - trajectories: every number of every frame against the engine's
 * state. */
#include "minimd/run/dump.h"
#include "tests/drive/engines.h"
#include "tests/drive/files.h"
#include "tests/test.h"

#include <inttypes.h>
#include <stdio.h>

/* An fcc box of 4 cells, as it is when a frame is written. */
enum { ATOMS = 256, FRAMES = 3, EVERY = 20 };
static const char settings[] = "system.cells=4 system.temperature=9 lj.cutoff=2 lj.shift=force "
                               "run.dt=0.003 device.threads=2";
typedef struct {
  int64_t step;
  md_box box;
  double x[3 * ATOMS], v[3 * ATOMS]; /* by id */
  int32_t image[3 * ATOMS];
} frame;

static void read_frame(const engine *sim, frame *out)
{
  double x[3 * ATOMS], v[3 * ATOMS];
  int64_t id[ATOMS];
  int32_t image[3 * ATOMS];
  ck_ok(engine_get(sim, x, v, NULL, NULL, id, image));
  out->step = sim->step, out->box = engine_box(sim);
  for (int k = 0; k < 3 * ATOMS; k++) {
    const int64_t to = 3 * (id[k / 3] - 1) + k % 3;
    out->x[to] = x[k], out->v[to] = v[k], out->image[to] = image[k];
  }
}

/* Run, with a frame after every EVERY steps; opened anew in the middle, as a restart does. */
static void write_frames(const char *path, frame at[FRAMES])
{
  config *cfg = engines_config(settings);
  engine *sim;
  dump *to;
  bool images = false, sorted = true;
  ck_ok(engine_create(config_get(cfg), &sim));
  ck_ok(dump_open(path, sim, NULL, EVERY, &to));
  for (int k = 0; k < FRAMES; k++) {
    for (int step = EVERY; step > 0; step--)
      ck_ok(engine_step(sim, step == 1));
    if (k == 2) {
      md_file_mark keep;
      ck_ok(dump_mark(to, &keep));
      ck_ok(dump_frame(to, sim)); /* to be cut off */
      ck_ok(dump_close(to));
      ck_ok(dump_open(path, sim, &keep, EVERY, &to));
    }
    ck_ok(dump_frame(to, sim));
    read_frame(sim, &at[k]);
  }
  ck_ok(dump_close(to));
  int64_t id[ATOMS];
  ck_ok(md_atoms_get(sim->atoms, NULL, NULL, NULL, id, NULL));
  for (int i = 0; i < ATOMS; i++) {
    sorted = sorted && id[i] == i + 1;
    images = images || at[FRAMES - 1].image[3 * i] != 0;
  }
  ck_assert(images && !sorted); /* or the test shows little */
  engine_destroy(sim);
  config_destroy(cfg);
}

START_TEST(extended_xyz)
{
  static frame at[FRAMES];
  const char *path = files_path("a.xyz");
  write_frames(path, at);
  FILE *in = fopen(path, "r");
  ck_assert_ptr_nonnull(in);
  for (int k = 0; k < FRAMES; k++) {
    double edge[3], lo[3], time, x[3], v[3];
    int64_t n, step, id;
    char properties[100], species[8];
    ck_assert_int_eq(fscanf(in,
                            "%" SCNd64 "\nLattice=\"%lf 0 0 0 %lf 0 0 0 %lf\" Origin=\"%lf %lf %lf"
                            "\" Properties=%99s pbc=\"T T T\" Step=%" SCNd64 " Time=%lf\n",
                            &n, &edge[0], &edge[1], &edge[2], &lo[0], &lo[1], &lo[2], properties,
                            &step, &time),
                     10);
    ck_assert(n == ATOMS && step == EVERY * (k + 1) && step == at[k].step);
    ck_assert_double_eq_tol(time, 0.003 * (double)step, 1e-15);
    ck_assert_str_eq(properties, "species:S:1:pos:R:3:velo:R:3:id:I:1");
    for (int d = 0; d < 3; d++)
      ck_assert(lo[d] == at[k].box.lo[d] && edge[d] == at[k].box.hi[d] - lo[d]);
    for (int i = 0; i < ATOMS; i++) {
      ck_assert_int_eq(fscanf(in, "%7s %lf %lf %lf %lf %lf %lf %" SCNd64 "\n", species, &x[0],
                              &x[1], &x[2], &v[0], &v[1], &v[2], &id),
                       8);
      ck_assert(id == i + 1 && memcmp(x, at[k].x + 3 * (size_t)i, sizeof x) == 0);
      ck_assert(memcmp(v, at[k].v + 3 * (size_t)i, sizeof v) == 0);
    }
  }
  ck_assert_int_eq(fgetc(in), EOF);
  fclose(in);
}
END_TEST

START_TEST(lammps_text)
{
  static frame at[FRAMES];
  const char *path = files_path("a.lammpstrj");
  write_frames(path, at);
  FILE *in = fopen(path, "r");
  ck_assert_ptr_nonnull(in);
  for (int k = 0; k < FRAMES; k++) {
    int64_t n, step, id;
    double lo[3], hi[3], x[3], v[3];
    int type, image[3];
    ck_assert_int_eq(fscanf(in,
                            "ITEM: TIMESTEP\n%" SCNd64 "\nITEM: NUMBER OF ATOMS\n%" SCNd64
                            "\nITEM: BOX BOUNDS pp pp pp\n%lf %lf %lf %lf %lf %lf\n",
                            &step, &n, &lo[0], &hi[0], &lo[1], &hi[1], &lo[2], &hi[2]),
                     8);
    ck_assert(n == ATOMS && step == at[k].step);
    for (int d = 0; d < 3; d++)
      ck_assert(lo[d] == at[k].box.lo[d] && hi[d] == at[k].box.hi[d]);
    char head[80];
    ck_assert_str_eq(fgets(head, sizeof head, in), "ITEM: ATOMS id type x y z vx vy vz ix iy iz\n");
    for (int i = 0; i < ATOMS; i++) {
      ck_assert_int_eq(fscanf(in, "%" SCNd64 " %d %lf %lf %lf %lf %lf %lf %d %d %d\n", &id, &type,
                              &x[0], &x[1], &x[2], &v[0], &v[1], &v[2], &image[0], &image[1],
                              &image[2]),
                       11);
      ck_assert(id == i + 1 && type == 1 && memcmp(x, at[k].x + 3 * (size_t)i, sizeof x) == 0);
      ck_assert(memcmp(v, at[k].v + 3 * (size_t)i, sizeof v) == 0);
      ck_assert(memcmp(image, at[k].image + 3 * (size_t)i, sizeof image) == 0);
    }
  }
  ck_assert_int_eq(fgetc(in), EOF);
  fclose(in);
}
END_TEST

/* One Fortran record. */
static void read_record(FILE *in, void *to, uint32_t bytes)
{
  uint32_t count[2];
  ck_assert(fread(&count[0], 4, 1, in) == 1 && count[0] == bytes);
  ck_assert(fread(to, 1, bytes, in) == bytes);
  ck_assert(fread(&count[1], 4, 1, in) == 1 && count[1] == bytes);
}

START_TEST(charmm_binary)
{
  static frame at[FRAMES];
  const char *path = files_path("a.dcd");
  write_frames(path, at);
  FILE *in = fopen(path, "rb");
  ck_assert_ptr_nonnull(in);
  int32_t control[21], n;
  char title[84];
  float dt, x[ATOMS];
  double cell[6];
  read_record(in, control, sizeof control);
  read_record(in, title, sizeof title);
  read_record(in, &n, sizeof n);
  memcpy(&dt, &control[10], sizeof dt);
  ck_assert(memcmp(control, "CORD", 4) == 0 && memcmp(title, "\1\0\0\0minimd ", 11) == 0);
  ck_assert(control[1] == FRAMES && control[2] == 0 && control[3] == EVERY);
  ck_assert(control[4] == FRAMES * EVERY && control[11] == 1 && control[20] == 24);
  ck_assert(dt == 0.003F && n == ATOMS);
  for (int k = 0; k < FRAMES; k++) {
    read_record(in, cell, sizeof cell);
    static const int edge_at[] = {0, 2, 5};
    for (int d = 0; d < 3; d++) {
      ck_assert(cell[edge_at[d]] == at[k].box.hi[d] - at[k].box.lo[d]);
      read_record(in, x, sizeof x);
      for (int i = 0; i < ATOMS; i++)
        ck_assert(x[i] == (float)at[k].x[3 * i + d]);
    }
    ck_assert(cell[1] == 90 && cell[3] == 90 && cell[4] == 90);
  }
  ck_assert_int_eq(fgetc(in), EOF);
  fclose(in);
}
END_TEST

/* A restart counts the frames that stay by their bytes: many frames of few atoms. */
START_TEST(frames_that_stay_are_counted)
{
  enum { KEPT = 60 };
  config *cfg = engines_config("system.cells=1");
  const char *path = files_path("b.dcd");
  engine *sim;
  dump *to;
  ck_ok(engine_create(config_get(cfg), &sim));
  ck_ok(dump_open(path, sim, NULL, 2, &to));
  for (int k = 0; k < KEPT; k++) {
    ck_ok(dump_frame(to, sim));
    ck_ok(engine_steps(sim, 2));
  }
  md_file_mark keep, more;
  ck_ok(dump_mark(to, &keep));
  ck_assert_int_eq((keep.bytes - 196) % KEPT, 0); /* behind the head all frames are alike */
  ck_ok(dump_close(to));
  ck_ok(dump_open(path, sim, &keep, 2, &to));
  ck_ok(dump_frame(to, sim));
  ck_ok(dump_mark(to, &more));
  ck_assert_int_eq(more.bytes - keep.bytes, (keep.bytes - 196) / KEPT);
  ck_ok(dump_close(to));
  int32_t control[21];
  FILE *in = fopen(path, "rb");
  read_record(in, control, sizeof control);
  fclose(in);
  ck_assert(control[1] == KEPT + 1 && control[4] == 2 * (KEPT + 1));
  engine_destroy(sim);
  config_destroy(cfg);
}
END_TEST

START_TEST(other_names_are_refused)
{
  static const char *const bad[] = {"a.pdb", "a.xyz.gz", ".xyz", "xyz", "", "a.XYZ"};
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    ck_assert_int_eq(dump_check(bad[k]), MD_EINVAL);
    ck_assert(strstr(md_message(), ".lammpstrj") != NULL);
  }
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("dump");
  TCase *tc = tcase_create("dump");
  tcase_add_checked_fixture(tc, files_begin, files_end);
  tcase_add_test(tc, extended_xyz);
  tcase_add_test(tc, lammps_text);
  tcase_add_test(tc, charmm_binary);
  tcase_add_test(tc, frames_that_stay_are_counted);
  tcase_add_test(tc, other_names_are_refused);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
