/* tests/engine/check_frames.c - a box divided into frames (core/atoms.h) holds the same atoms,
 * pairs, forces and trajectories as one that is not. */
#include "tests/drive/engines.h"
#include "tests/drive/files.h"
#include "tests/ref/ref.h"
#include "tests/drive/run_md.h"
#include "tests/test.h"

#include "engine/engine.h"

#include <stdio.h>

/* Case k, cut to frames of an n-th of its longest edge. */
static run_case cut_case(int k, md_precision precision, int n)
{
  run_case c = run_case_make(k, precision);
  double longest = 0;
  for (int d = 0; d < 3; d++)
    longest = fmax(longest, c.box.hi[d] - c.box.lo[d]);
  c.frame = longest / (n - 0.5);
  return c;
}

/* Positions in the box and ids, in the order of ids. */
static double *positions(const md_atoms *atoms)
{
  const int64_t n = atoms->n;
  double *x = ref_alloc(3 * n, sizeof *x);
  int64_t *id = ref_alloc(n, sizeof *id);
  ck_ok(md_atoms_get(atoms, x, NULL, NULL, id, NULL));
  run_by_id(n, id, x);
  free(id);
  return x;
}

/* Steps of a position in a frame. */
static double resolution(const md_atoms *atoms)
{
  double far = 0;
  for (int d = 0; d < 3; d++)
    far = fmax(far, fmax(fabs(atoms->frame.lo[d]), fabs(atoms->frame.hi[d])));
  return 2 * far * run_unit(atoms->ctx->precision);
}

START_TEST(frames_cover_the_box)
{
  md_ctx *ctx = test_ctx(MD_SINGLE, 1, false);
  const md_box box = {{-3, 0, 1e6}, {9, 1, 1e6 + 30}};
  md_atoms *atoms = NULL;
  ck_ok(md_atoms_create(ctx, &box, &atoms));
  ck_assert(!md_atoms_is_cut(atoms));
  ck_ok(md_atoms_cut(atoms, 5));
  static const int32_t want[3] = {3, 1, 6};
  for (int d = 0; d < 3; d++) {
    const double edge = (box.hi[d] - box.lo[d]) / want[d];
    ck_assert_int_eq(atoms->frames[d], want[d]);
    ck_assert_double_eq_tol(atoms->frame.hi[d] - atoms->frame.lo[d], edge, 1e-9);
    ck_assert_double_eq_tol(atoms->frame.hi[d] + atoms->frame.lo[d], box.hi[d] + box.lo[d], 1e-9);
    static const double gap[3] = {2, 3, 5};
    const md_box span = md_atoms_span(atoms, gap), whole = md_atoms_span(atoms, NULL);
    ck_assert_double_eq_tol(span.hi[d] - span.lo[d], box.hi[d] - box.lo[d] + gap[d] * (want[d] - 1),
                            1e-9);
    ck_assert_double_eq_tol(whole.hi[d] - whole.lo[d], box.hi[d] - box.lo[d], 1e-9);
  }
  ck_assert(md_atoms_is_cut(atoms));
  ck_assert_int_eq(md_atoms_cut(atoms, 0), MD_EINVAL);
  ck_assert_int_eq(md_atoms_cut(atoms, NAN), MD_EINVAL);
  ck_assert_int_eq(md_atoms_cut(atoms, 1e-6), MD_ECAPACITY);
  const double x[3] = {0, 0, 1e6};
  ck_ok(md_atoms_set(atoms, 1, x, NULL, NULL, NULL));
  ck_assert_int_eq(md_atoms_cut(atoms, 5), MD_EINVAL);
  md_atoms_destroy(atoms);
  md_ctx_destroy(ctx);
}
END_TEST

/* Positions and images come back, also of atoms outside the box, and after the wrap. */
START_TEST(atoms_keep_their_places)
{
  const md_precision precision = (md_precision)(_i % MD_PRECISION_COUNT);
  run_case c = cut_case(_i / MD_PRECISION_COUNT, precision, 4);
  md_ctx *ctx = test_ctx(precision, 2, false);
  int32_t *image = ref_alloc(3 * c.n, sizeof *image), *got = ref_alloc(3 * c.n, sizeof *got);
  for (int64_t k = 0; k < 3 * c.n; k++) {
    image[k] = (int32_t)(k % 5) - 2;
    if (k % 7 == 0) c.x[k] += (double)(k % 4 - 1) * (c.box.hi[k % 3] - c.box.lo[k % 3]);
  }
  md_atoms *atoms = run_case_atoms(ctx, &c, NULL);
  ck_ok(md_atoms_set(atoms, c.n, c.x, NULL, NULL, image));
  comm *cm = NULL;
  ck_ok(comm_create(ctx, &cm));
  for (int wrapped = 0; wrapped < 2; wrapped++) {
    double *x = positions(atoms);
    ck_ok(md_atoms_get(atoms, NULL, NULL, NULL, NULL, got));
    for (int64_t k = 0; k < 3 * c.n; k++) {
      const double lo = c.box.lo[k % 3], edge = c.box.hi[k % 3] - lo;
      const double error = x[k] - c.x[k] + edge * (got[k] - image[k]);
      const double step = (fabs(c.x[k]) + edge) * (precision == MD_SINGLE ? 0x1p-23 : 0x1p-49);
      ck_assert_msg(fabs(error) <= step, "%s: %.17g became %.17g, image %d", c.name, c.x[k], x[k],
                    got[k] - image[k]);
      ck_assert_msg(!wrapped || (x[k] >= lo - step && x[k] <= lo + edge + step),
                    "%s: %g is outside", c.name, x[k]);
    }
    free(x);
    ck_ok(comm_migrate(cm, atoms));
  }
  free(image), free(got);
  comm_destroy(cm);
  md_atoms_destroy(atoms);
  md_ctx_destroy(ctx);
  run_case_free(&c);
}
END_TEST

/* A ghost is its home as another frame sees it. */
START_TEST(ghosts_belong_to_frames)
{
  run_case c = cut_case(8, MD_DOUBLE, 5); /* very long */
  const neighbor_spec spec = run_near_spec(2.8, 0.5);
  run_near near = run_near_open(MD_DOUBLE, 2, &spec, &c);
  run_near_rebuild(&near);
  run_snapshot s = run_snapshot_take(near.atoms);
  const double edge = near.atoms->frame.hi[0] - near.atoms->frame.lo[0];
  ck_assert_int_eq(near.atoms->frames[0], 5);
  int64_t beside = 0;
  for (int64_t g = 0; g < s.n_ghost; g++) {
    int shift[3];
    md_shift_unpack(s.shift[g], shift);
    const double moved = s.x[3 * (s.n + g)] - s.x[3 * s.home[g]];
    ck_assert_double_eq_tol(moved, shift[0] * edge, 1e-12);
    beside += shift[0] != 0;
  }
  ck_assert_int_gt(beside, 5 * 2 * s.n / 30); /* atoms near the faces of five frames */
  run_snapshot_free(&s);
  run_near_close(&near);
  run_case_free(&c);
}
END_TEST

static void check_forces(run_md *md, const ref_forces *want, const char *name)
{
  const int64_t n = md->atoms->n;
  double *f = ref_alloc(3 * n, sizeof *f);
  force_tally tally;
  run_md_force(md, &tally);
  run_md_state(md, NULL, NULL, f);
  for (int64_t i = 0; i < n; i++) {
    double error = 0;
    for (int d = 0; d < 3; d++)
      error = hypot(error, f[3 * i + d] - want->f[3 * i + d]);
    ck_assert_msg(error <= want->slack[i], "%s, %s: force on %lld off by %g, at most %g", name,
                  run_spec_text(&md->spec), (long long)i, error, want->slack[i]);
  }
  const double goal = md->spec.precision == MD_DOUBLE ? 1e-12 : 1e-5;
  ck_assert_msg(fabs(tally.energy - want->energy) <= goal * want->u_scale + want->u_jump,
                "%s, %s: energy %.15g, not %.15g", name, run_spec_text(&md->spec), tally.energy,
                want->energy);
  ck_assert_msg(fabs(tally.virial - want->virial) <= goal * want->w_scale + want->w_jump,
                "%s, %s: virial %.15g, not %.15g", name, run_spec_text(&md->spec), tally.virial,
                want->virial);
  free(f);
}

/* Every list, several orderings, against direct sums over the box. */
START_TEST(forces_equal_direct_sums)
{
  const md_precision precision = (md_precision)(_i % MD_PRECISION_COUNT);
  const int k = _i / MD_PRECISION_COUNT;
  run_case c = cut_case(k, precision, 2 + k % 4);
  for (int l = 0; l < RUN_LISTS && c.spaced; l++) {
    run_spec spec = run_spec_default();
    spec.precision = precision;
    spec.threads = 1 + l % 2;
    spec.list.order = run_order(k + l);
    spec.deterministic = l == 1;
    run_set_list(&spec.list, l);
    run_md md = run_md_open(&spec, &c, NULL);
    const double step = precision == MD_MIXED ? md.atoms->coord_scale : 4 * resolution(md.atoms);
    const ref_exactness exact = {step, precision == MD_DOUBLE ? 0x1p-53 : 0x1p-24};
    double *x = positions(md.atoms);
    ref_forces want = ref_forces_find(&spec.force, &exact, &c.box, c.n, x);
    check_forces(&md, &want, c.name);
    ref_forces_free(&want);
    free(x);
    run_md_close(&md);
  }
  run_case_free(&c);
}
END_TEST

/* Atoms cross frames while they move. */
START_TEST(trajectories_do_not_depend_on_frames)
{
  run_case whole = run_case_make(1, MD_DOUBLE), cut = cut_case(1, MD_DOUBLE, 3);
  double *v = run_velocities(whole.n, 1.5, 4);
  double *x[2];
  for (int l = 0; l < RUN_LISTS; l++) {
    run_spec spec = run_spec_default();
    spec.every = l % 2 ? 0 : 10;
    run_set_list(&spec.list, l);
    for (int k = 0; k < 2; k++) {
      run_md md = run_md_open(&spec, k ? &cut : &whole, v);
      run_md_steps(&md, 120);
      x[k] = positions(md.atoms);
      int32_t *image = ref_alloc(3 * whole.n, sizeof *image);
      int64_t *id = ref_alloc(whole.n, sizeof *id);
      ck_ok(md_atoms_get(md.atoms, NULL, NULL, NULL, id, image));
      for (int64_t i = 0; i < 3 * whole.n; i++) {
        const int64_t to = 3 * (id[i / 3] - 1) + i % 3;
        x[k][to] += image[i] * (whole.box.hi[i % 3] - whole.box.lo[i % 3]);
      }
      free(image), free(id);
      run_md_close(&md);
    }
    for (int64_t i = 0; i < 3 * whole.n; i++)
      ck_assert_msg(fabs(x[0][i] - x[1][i]) <= 1e-9, "%s: %g and %g",
                    neighbor_list_words[spec.list.kind], x[0][i], x[1][i]);
    free(x[0]), free(x[1]);
  }
  free(v);
  run_case_free(&whole), run_case_free(&cut);
}
END_TEST

/* What the total energy per atom changes by in so many steps. */
static double energy_change(const char *settings, int64_t steps)
{
  config *cfg = engines_config(settings);
  engine *sim = NULL;
  engine_thermo first, last;
  ck_ok(engine_create(config_get(cfg), &sim));
  ck_ok(engine_measure(sim, &first));
  ck_ok(engine_steps(sim, steps - 1));
  ck_ok(engine_step(sim, true));
  ck_ok(engine_measure(sim, &last));
  engine_destroy(sim);
  config_destroy(cfg);
  return last.e_total - first.e_total;
}

/* In absolute floats this box gains 4e-5 an atom in as many steps. */
START_TEST(long_boxes_keep_their_energy)
{
  static const char *const lists[] = {"full", "half", "tile"};
  static const char *const precisions[] = {"single", "mixed"};
  enum { STEPS = 60 };
  char settings[256];
  const char *common = "system.cells=3,3,3000 lj.shift=force neighbor.every=check ";
  snprintf(settings, sizeof settings, "%sdevice.precision=double", common);
  const double want = energy_change(settings, STEPS);
  for (int k = 0; k < 6; k++) {
    snprintf(settings, sizeof settings, "%sneighbor.list=%s device.precision=%s", common,
             lists[k / 2], precisions[k % 2]);
    const double got = energy_change(settings, STEPS);
    ck_assert_msg(fabs(got - want) <= STEPS * 5e-8, "%s: the energy changed by %g, by %g in double",
                  settings, got, want);
  }
}
END_TEST

/* 256 atoms of a cold liquid in a box whose corner lies at `origin` along each axis. */
static void write_atoms(const char *name, double origin)
{
  run_case c = run_case_fcc("liquid", (int[]){4, 4, 4}, (double[]){0, 0, 0}, 0.05);
  FILE *file = fopen(files_path(name), "w");
  ck_assert_ptr_nonnull(file);
  const double edge = c.box.hi[0];
  fprintf(file, "%d\nLattice=\"%.17g 0 0 0 %.17g 0 0 0 %.17g\" Origin=\"%.17g %.17g %.17g\" ",
          (int)c.n, edge, edge, edge, origin, origin, origin);
  fprintf(file, "Properties=species:S:1:pos:R:3:velo:R:3 pbc=\"T T T\"\n");
  double *v = run_velocities(c.n, 1, 11); /* given: else they come from the positions */
  for (int64_t i = 0; i < c.n; i++) {
    fputs("Ar", file);
    for (int d = 0; d < 3; d++)
      fprintf(file, " %.17g", origin + c.x[3 * i + d]);
    for (int d = 0; d < 3; d++)
      fprintf(file, " %.17g", v[3 * i + d]);
    fputc('\n', file);
  }
  free(v);
  ck_assert_int_eq(fclose(file), 0);
  run_case_free(&c);
}

/* In absolute floats 200 steps at 1e6 change the energy by 9e-2. */
START_TEST(energy_does_not_depend_on_the_origin)
{
  static const double origins[] = {0, 1, 1e3, 1e4, 1e5, 1e6, -1e6};
  char settings[512];
  for (int k = 0; k < MD_PRECISION_COUNT * 3; k++) {
    double first = 0;
    for (size_t o = 0; o < sizeof origins / sizeof *origins; o++) {
      write_atoms("atoms.xyz", origins[o]);
      snprintf(
          settings, sizeof settings,
          "system.read=%s lj.shift=force neighbor.every=check neighbor.list=%s device.precision=%s",
          files_path("atoms.xyz"), neighbor_list_words[k / 3 % NEIGHBOR_LIST_COUNT],
          md_precision_words[k % 3]);
      const double change = energy_change(settings, 200);
      if (o == 0) first = change;
      ck_assert_msg(fabs(change - first) <= 2e-6,
                    "%s at %g: the energy changed by %.3g, at 0 by %.3g", settings, origins[o],
                    change, first);
    }
  }
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("frames");
  TCase *tc = tcase_create("frames");
  tcase_set_timeout(tc, 120);
  const int all = run_case_count() * MD_PRECISION_COUNT;
  tcase_add_checked_fixture(tc, files_begin, files_end);
  tcase_add_test(tc, frames_cover_the_box);
  tcase_add_loop_test(tc, atoms_keep_their_places, 0, all);
  tcase_add_test(tc, ghosts_belong_to_frames);
  tcase_add_loop_test(tc, forces_equal_direct_sums, 0, all);
  tcase_add_test(tc, trajectories_do_not_depend_on_frames);
  tcase_add_test(tc, energy_does_not_depend_on_the_origin);
  suite_add_tcase(suite, tc);
  TCase *slow = test_long_case("long boxes");
  tcase_add_test(slow, long_boxes_keep_their_energy);
  suite_add_tcase(suite, slow);
  return test_main(suite);
}
