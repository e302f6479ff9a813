/* tests/engine/check_rebuilds.c - lists that are too old: how far atoms went, which pairs a list
 * lacks, and whether a run says so; skins that are measured. */
#include "engine/engine.h"
#include "engine/integrate/integrate.h"
#include "minimd/run/skin.h"
#include "tests/drive/engines.h"
#include "tests/ref/ref.h"
#include "tests/drive/run_lists.h"
#include "tests/test.h"

#include <stdio.h>

/* --- The reduction against its definition */

static const int64_t sizes[] = {0, 1, 2, 31, 33, 1000, 4099};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* Atoms anywhere in a box, that move. */
static md_atoms *moving_atoms(md_ctx *ctx, int64_t n)
{
  run_case c = {.box = {{-5, 0, 3}, {95, 70, 63}}, .n = n, .x = ref_alloc(3 * n, 8)};
  uint64_t seed = 29;
  for (int64_t k = 0; k < 3 * n; k++)
    c.x[k] = c.box.lo[k % 3] + 60 * ref_uniform(&seed);
  double *v = run_velocities(n, 1.3, 31);
  md_atoms *atoms = run_case_atoms(ctx, &c, v);
  free(v);
  run_case_free(&c);
  return atoms;
}

static double largest_sq(const run_snapshot *was, const run_snapshot *is, double back)
{
  double most = 0;
  for (int64_t i = 0; i < is->n; i++) {
    double sq = 0;
    for (int64_t k = 3 * i; k < 3 * i + 3; k++)
      sq += pow(is->x[k] - was->x[k] - back * is->v[k], 2);
    most = fmax(most, sq);
  }
  return most;
}

static double measured(comm *cm, const md_atoms *atoms)
{
  double moved_sq = -1;
  ck_ok(comm_max_move_sq(cm, atoms, &moved_sq));
  return moved_sq;
}

/* At once, and begun early; by the next rebuild, which also takes atoms back by the last step. */
START_TEST(displacement_is_the_largest)
{
  const md_precision precision = (md_precision)(_i % MD_PRECISION_COUNT);
  md_ctx *ctx = test_ctx(precision, 1 + _i % 3, false);
  const double reach = 2.8, dt = 0.07;
  comm *cm;
  ck_ok(comm_create(ctx, &cm));
  for (int k = 0; k < SIZES; k++) {
    md_atoms *atoms = moving_atoms(ctx, sizes[k]);
    double unknown;
    ck_ok(comm_max_move_early(cm, atoms));
    if (sizes[k] > 0) ck_assert_int_eq(comm_max_move_sq(cm, atoms, &unknown), MD_EINVAL);
    ck_ok(comm_migrate_early(cm, atoms, reach, dt));
    ck_ok(comm_borders(cm, atoms, reach));
    ck_assert(comm_moved_sq(cm) == 0 && measured(cm, atoms) == 0);
    for (int back = -1; back < 2; back++) {
      run_snapshot was = run_snapshot_take(atoms), is;
      for (int step = 0; step < 3; step++) {
        ck_ok(integrate_advance(atoms, NULL, 0, dt));
        if (step != 1) ck_ok(comm_max_move_early(cm, atoms));
        is = run_snapshot_take(atoms);
        const double want = largest_sq(&was, &is, 0);
        ck_assert_double_eq_tol(measured(cm, atoms), want, 1e-13 * (want + 1));
        if (step < 2) run_snapshot_free(&is);
      }
      const double want = back < 0 ? 0 : largest_sq(&was, &is, back * dt);
      ck_ok(comm_migrate_early(cm, atoms, reach, back * dt));
      ck_ok(comm_borders(cm, atoms, reach));
      ck_assert_double_eq_tol(comm_moved_sq(cm), want, 1e-13 * (want + 1));
      ck_assert(measured(cm, atoms) == 0);
      run_snapshot_free(&was), run_snapshot_free(&is);
    }
    run_snapshot last = run_snapshot_take(atoms);
    double *built = ref_alloc(3 * sizes[k], 8);
    ck_ok(md_atoms_read(atoms, atoms->x_at_build.data, built));
    ck_assert_mem_eq(built, last.x, (size_t)sizes[k] * 24);
    for (int64_t m = 0; m < 3 * sizes[k]; m++)
      built[m] = m == 1 ? NAN : built[m]; /* others come after it */
    ck_ok(md_atoms_place(atoms, built));
    if (sizes[k] > 0) ck_assert(isinf(measured(cm, atoms)));
    free(built);
    run_snapshot_free(&last);
    md_atoms_destroy(atoms);
  }
  comm_destroy(cm);
  md_ctx_destroy(ctx);
}
END_TEST

/* --- Runs: every step looked at from outside */

/* Positions by id, not wrapped: [n][3]. */
static double *unwrapped(const engine *sim)
{
  run_snapshot s = run_snapshot_take(sim->atoms);
  const md_box *box = &sim->atoms->box;
  for (int64_t k = 0; k < 3 * s.n; k++)
    s.x[k] += s.image[k] * (box->hi[k % 3] - box->lo[k % 3]);
  run_by_id(s.n, s.id, s.x);
  double *x = ref_alloc(3 * s.n, 8);
  memcpy(x, s.x, (size_t)s.n * 24);
  run_snapshot_free(&s);
  return x;
}

static double farthest(int64_t n, const double *from, const double *to)
{
  double most = 0;
  for (int64_t i = 0; i < n; i++) {
    double sq = 0;
    for (int64_t k = 3 * i; k < 3 * i + 3; k++)
      sq += (to[k] - from[k]) * (to[k] - from[k]);
    most = fmax(most, sqrt(sq));
  }
  return most;
}

static double apart_sq(const md_box *box, const double *x, const run_action *pair, const int s[3])
{
  double sq = 0;
  for (int d = 0; d < 3; d++) {
    const double edge = box->hi[d] - box->lo[d];
    sq += pow(x[3 * pair->j + d] + s[d] * edge - x[3 * pair->i + d], 2);
  }
  return sq;
}

/* Directed pairs within the cutoff that the present list does not hold: all of them by their
 * definition, less those of the list.  No atom was wrapped since the build. */
static int64_t missing_pairs(const engine *sim, const char *name)
{
  const double cut_sq = sim->spec->cutoff * sim->spec->cutoff;
  const md_box *box = &sim->atoms->box;
  run_snapshot s = run_snapshot_take(sim->atoms);
  run_list list = run_list_read(sim->ctx, sim->list);
  int64_t n, missing = 0;
  run_action *listed = run_list_actions(&list, &s, &n, name);
  run_by_id(s.n, s.id, s.x);
  for (int32_t i = 0; i < s.n; i++)
    for (int32_t j = 0; j < s.n; j++)
      for (int k = 0; k < 27; k++) {
        const int shift[3] = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1};
        if (i == j && k == 13) continue;
        missing += apart_sq(box, s.x, &(run_action){i, j, 0}, shift) < cut_sq;
      }
  for (int64_t k = 0; k < n; k++) {
    int shift[3];
    md_shift_unpack(listed[k].shift, shift);
    missing -= apart_sq(box, s.x, &listed[k], shift) < cut_sq;
  }
  free(listed);
  run_list_free(&list);
  run_snapshot_free(&s);
  return missing;
}

typedef struct {
  const char *settings;
  bool late; /* atoms move more than half the skin before they are listed anew */
} rebuild_case;
static const rebuild_case runs[] = {
    {"system.cells=4 neighbor.list=full system.temperature=4", true},
    {"system.cells=4,5,4 neighbor.list=half neighbor.every=17 system.temperature=4", true},
    {"system.cells=4 neighbor.list=full neighbor.every=check", false},
    {"system.cells=4 neighbor.list=half neighbor.every=check system.temperature=6 run.dt=0.002",
     false},
    {"system.cells=4 neighbor.list=full neighbor.every=check device.precision=single", false},
    {"system.cells=4 neighbor.list=full neighbor.every=5 run.dt=0.002", false},
    {"system.cells=4 neighbor.list=half system.temperature=0.01 device.precision=mixed", false},
    {"system.cells=4 neighbor.list=tile system.temperature=4", true},
    {"system.cells=4 neighbor.list=tile neighbor.every=check", false},
    {"system.cells=4 neighbor.list=tile neighbor.every=4 run.dt=0.002", false},
};
enum { N_RUNS = sizeof runs / sizeof *runs, N_GPU_RUNS = 3 };

/* A list that forces were computed with lacks pairs, and atoms had gone too far, exactly where the
 * run says so. */
START_TEST(late_lists_are_counted_and_lack_pairs)
{
  const rebuild_case *c = &runs[_i];
  config *cfg = engines_config(c->settings);
  engine *sim;
  engine_lists want = {0};
  int64_t missing = 0;
  ck_ok(engine_create(config_get(cfg), &sim));
  const double limit = sim->spec->skin / 2;
  const int64_t n = sim->atoms->n;
  double *built = unwrapped(sim), *last = unwrapped(sim);
  while (sim->step < 61) {
    const int64_t rebuilds = sim->rebuilds;
    ck_ok(engine_step(sim, sim->step % 3 == 0));
    double *now = unwrapped(sim);
    if (sim->rebuilds > rebuilds) {
      const double moved = farthest(n, built, last);
      want.ended++;
      want.dangerous += moved > limit;
      if (moved > want.moved) want.moved = moved, want.moved_at = sim->step;
      memcpy(built, now, (size_t)n * 24);
    }
    missing += missing_pairs(sim, c->settings);
    free(last);
    last = now;
  }
  const engine_lists *got = &sim->lists;
  ck_assert_int_eq(got->ended, want.ended);
  ck_assert_int_eq(got->ended, sim->rebuilds - 1);
  ck_assert_int_eq(got->dangerous, want.dangerous);
  ck_assert_int_eq(got->moved_at, want.moved_at);
  ck_assert_double_eq_tol(got->moved, want.moved, 100 * run_unit(sim->ctx->precision));
  ck_assert_msg((got->dangerous > 0) == c->late && (missing > 0) == c->late && missing >= 0,
                "%s: %lld dangerous builds, %lld pairs missed", c->settings,
                (long long)got->dangerous, (long long)missing);
  free(built), free(last);
  engine_destroy(sim);
  config_destroy(cfg);
}
END_TEST

/* Steps that are queued together count as one by one. */
START_TEST(steps_together_count_the_same)
{
  config *cfg = engines_config("system.cells=5 neighbor.every=8");
  engine *one, *many;
  ck_ok(engine_create(config_get(cfg), &one));
  ck_ok(engine_create(config_get(cfg), &many));
  for (int k = 0; k < 49; k++)
    ck_ok(engine_step(one, false));
  ck_ok(engine_steps(many, 49));
  ck_ok(engine_step(one, true));
  ck_ok(engine_step(many, true));
  ck_assert_int_eq(one->lists.ended, 6);
  ck_assert_mem_eq(&one->lists, &many->lists, sizeof one->lists);
  engine_destroy(one);
  engine_destroy(many);
  config_destroy(cfg);
}
END_TEST

/* The skin is one of the candidates, the fastest of those tried, and the run with it is the run
 * that names it. */
START_TEST(measured_skin_is_a_run_like_any)
{
  static const double candidates[] = SKIN_CANDIDATES;
  config *cfg =
      engines_config("system.cells=5 lj.sigma=1.1 neighbor.every=check neighbor.skin=auto");
  skin_choice choice;
  engine *sims[2];
  ck_assert_int_eq(engine_create(config_get(cfg), &sims[0]), MD_EINVAL);
  ck_ok(skin_choose(cfg, &choice));
  const double skin = config_get(cfg)->skin;
  ck_assert_double_eq_tol(skin, candidates[choice.best] * 1.1, 1e-5);
  int tried = 0;
  for (int k = 0; k < SKIN_N_CANDIDATES; k++) {
    tried += choice.trials[k].skin > 0;
    ck_assert(choice.trials[k].skin == 0 ||
              choice.trials[k].step_s >= choice.trials[choice.best].step_s);
  }
  ck_assert_int_ge(tried, 2);
  ck_assert_ptr_nonnull(strstr(choice.reason, "ms a step"));
  char settings[128];
  snprintf(settings, sizeof settings,
           "system.cells=5 lj.sigma=1.1 neighbor.every=check neighbor.skin=%.17g", skin);
  config *named = engines_config(settings);
  ck_ok(engine_create(config_get(cfg), &sims[0]));
  ck_ok(engine_create(config_get(named), &sims[1]));
  double *x[2];
  for (int e = 0; e < 2; e++) {
    while (sims[e]->step < 40)
      ck_ok(engine_step(sims[e], sims[e]->step == 39));
    x[e] = unwrapped(sims[e]);
  }
  ck_assert_mem_eq(x[0], x[1], (size_t)sims[0]->atoms->n * 24);
  for (int e = 0; e < 2; e++)
    free(x[e]), engine_destroy(sims[e]);
  skin_free(&choice);
  config_destroy(cfg);
  config_destroy(named);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("rebuilds");
  TCase *tc = tcase_create("rebuilds");
  tcase_set_timeout(tc, 120);
  tcase_add_loop_test(tc, displacement_is_the_largest, 0, MD_PRECISION_COUNT);
  tcase_add_test(tc, steps_together_count_the_same);
  tcase_add_test(tc, measured_skin_is_a_run_like_any);
  suite_add_tcase(suite, tc);
  TCase *late = test_long_case("late lists");
  tcase_add_loop_test(late, late_lists_are_counted_and_lack_pairs, 0,
                      test_backend() == MD_GPU ? N_RUNS : N_RUNS - N_GPU_RUNS);
  suite_add_tcase(suite, late);
  return test_main(suite);
}
