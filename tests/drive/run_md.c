/* tests/drive/run_md.c - velocity Verlet from the rooms' public functions only. */
#include "tests/drive/run_md.h"
#include "tests/ref/ref.h"
#include "tests/test.h"

#include <stdio.h>

run_spec run_spec_default(void)
{
  return (run_spec){.precision = MD_DOUBLE,
                    .threads = 1,
                    .list = run_near_spec(0, 0),
                    .force = {.epsilon = 1, .sigma = 1, .r_cut = 2.5, .shift = FORCE_SHIFT_FORCE},
                    .skin = 0.5,
                    .every = 10,
                    .dt = 0.005};
}

const char *run_spec_text(const run_spec *spec)
{
  static char text[256];
  snprintf(text, sizeof text, "%s %s%s %s %s shift %s, cut %g skin %g bin %g, %d threads%s",
           md_precision_words[spec->precision], neighbor_list_words[spec->list.kind],
           spec->list.kind != NEIGHBOR_HALF ? ""
           : spec->list.newton              ? " newton"
                                            : " no-newton",
           neighbor_stencil_words[spec->list.stencil], ordering_words[spec->list.order.kind],
           force_shift_words[spec->force.shift], spec->force.r_cut, spec->skin, spec->list.bin_size,
           spec->threads, spec->deterministic ? " deterministic" : "");
  return text;
}

run_md run_md_open(const run_spec *spec, const run_case *c, const double *v)
{
  run_md md = {.spec = *spec};
  neighbor_spec list = spec->list;
  list.r_list = spec->force.r_cut + spec->skin;
  if (!(list.bin_size > 0)) list.bin_size = list.r_list / 2;
  md.ctx = test_ctx(spec->precision, spec->threads, spec->deterministic);
  md.atoms = run_case_atoms(md.ctx, c, v);
  if (spec->types) md.atoms->n_types = spec->force.n_types;
  if (spec->types) ck_ok(md_atoms_set_types(md.atoms, spec->types));
  ck_ok(comm_create(md.ctx, &md.cm));
  ck_ok(neighbor_create(md.ctx, &list, &md.list));
  ck_ok(force_create(md.ctx, &spec->force, &md.fc));
  if (spec->eam) ck_ok(force_set_eam(md.fc, spec->eam));
  run_md_rebuild(&md);
  return md;
}

void run_md_close(run_md *md)
{
  force_destroy(md->fc);
  neighbor_destroy(md->list);
  comm_destroy(md->cm);
  md_atoms_destroy(md->atoms);
  md_ctx_destroy(md->ctx);
  *md = (run_md){0};
}

void run_md_rebuild(run_md *md)
{
  ck_ok(comm_migrate(md->cm, md->atoms));
  ck_ok(neighbor_sort(md->list, md->atoms));
  ck_ok(comm_borders(md->cm, md->atoms, md->spec.force.r_cut + md->spec.skin));
  ck_ok(neighbor_build(md->list, md->atoms));
  ck_ok(force_take_types(md->fc, md->atoms));
  md->rebuilds++;
}

void run_md_force(run_md *md, force_tally *tally)
{
  ck_ok(force_compute(md->fc, md->atoms, md->list, tally));
}

static bool rebuild_is_due(run_md *md)
{
  if (md->spec.every > 0) return md->step % md->spec.every == 0;
  double moved_sq = -1;
  ck_ok(comm_max_move_sq(md->cm, md->atoms, &moved_sq));
  return moved_sq > md->spec.skin * md->spec.skin / 4;
}

void run_md_steps(run_md *md, int64_t steps)
{
  double kick[MD_TYPES];
  for (int t = 0; t < md->atoms->n_types; t++)
    kick[t] = md->spec.dt / 2 / (md->spec.mass ? md->spec.mass[t] : 1);
  for (int64_t k = 0; k < steps; k++) {
    if (k == 0) run_md_force(md, NULL);
    ck_ok(integrate_advance(md->atoms, kick, k == 0 ? 1 : 2, md->spec.dt));
    md->step++;
    if (rebuild_is_due(md))
      run_md_rebuild(md);
    else
      ck_ok(comm_forward(md->cm, md->atoms));
    run_md_force(md, NULL);
  }
  if (steps > 0) ck_ok(integrate_advance(md->atoms, kick, 1, 0));
}

run_energy run_md_energy(run_md *md)
{
  force_tally tally = {0};
  integrate_sums sums = {0};
  run_md_force(md, &tally);
  ck_ok(integrate_sum(md->atoms, md->spec.mass, &sums));
  run_energy e = {sums.v_sq / 2, tally.energy, sums.v_sq / 2 + tally.energy, tally.virial, {0}};
  memcpy(e.momentum, sums.v, sizeof e.momentum);
  return e;
}

void run_md_state(run_md *md, double *x, double *v, double *f)
{
  run_snapshot s = run_snapshot_take(md->atoms);
  const md_box *box = &md->atoms->box;
  for (int64_t k = 0; k < 3 * s.n; k++)
    s.x[k] += s.image[k] * (box->hi[k % 3] - box->lo[k % 3]);
  double *const to[3] = {x, v, f};
  double *const from[3] = {s.x, s.v, s.f};
  for (int k = 0; k < 3; k++) {
    if (!to[k]) continue;
    run_by_id(s.n, s.id, from[k]);
    memcpy(to[k], from[k], (size_t)(3 * s.n) * sizeof *to[k]);
  }
  run_snapshot_free(&s);
}
