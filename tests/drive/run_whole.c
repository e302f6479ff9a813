/* tests/drive/run_whole.c - see run_whole.h. */
#include "tests/drive/run_whole.h"
#include "comm/world.h"
#include "core/random.h"
#include "tests/drive/run_cases.h"
#include "tests/ref/ref.h"
#include "tests/test.h"

static const struct {
  md_box box;
  double reach;
  int64_t n;
  int32_t frames[3];
} kinds[RUN_WHOLES] = {{{{-4, 0, 1}, {5.5, 8, 9}}, 2.1, 150, {1, 1, 1}},
                       {{{0, 0, 0}, {12, 9, 7}}, 1.5, 150, {1, 1, 1}},
                       {{{0, 0, 0}, {9, 9, 9}}, 2.8, 30, {1, 1, 1}},
                       {{{0, 0, 0}, {2.8, 2.8, 2.8}}, 2.8, 40, {1, 1, 1}},
                       {{{-0.5, 0, 0}, {0.5, 6, 2}}, 2.3, 21, {1, 1, 1}},
                       {{{-3, 0, 1}, {21, 3, 4.5}}, 1.9, 150, {4, 1, 1}},
                       {{{0, -10, -9}, {3, 10, 9}}, 2, 150, {1, 4, 3}},
                       {{{0, 0, 0}, {1.4, 9, 1.2}}, 2.3, 30, {1, 6, 1}},
                       {{{0, 0, 0}, {22, 15, 7}}, 1.5, 150, {3, 2, 1}}};

double run_whole_edge(const run_whole *w, int d)
{
  return (w->box.hi[d] - w->box.lo[d]) / w->frames[d];
}

/* Where a frame begins. */
static double lo_of(const run_whole *w, int d)
{
  return (w->box.lo[d] + w->box.hi[d] - run_whole_edge(w, d)) / 2;
}

run_whole run_whole_make(int which, md_precision precision)
{
  run_whole w = {.box = kinds[which].box, .reach = kinds[which].reach, .n = kinds[which].n};
  int32_t seed = 4711 + which;
  memcpy(w.frames, kinds[which].frames, sizeof w.frames);
  w.x = ref_alloc(3 * w.n, sizeof(double));
  w.v = ref_alloc(3 * w.n, sizeof(double));
  w.image = ref_alloc(3 * w.n, sizeof(int64_t));
  for (int64_t k = 0; k < 3 * w.n; k++) {
    const int d = (int)(k % 3);
    double u = random_park_miller(&seed);
    if (which % 7 == 1 && k < 2 * w.n) u *= 0.25;
    if (which == 2) u *= 0.1;
    const double at = u * 0.9999 * w.frames[d];
    w.image[k] = (int64_t)at;
    w.x[k] = run_round(precision, lo_of(&w, d) + (at - (double)w.image[k]) * run_whole_edge(&w, d));
    w.v[k] = run_round(precision, random_park_miller(&seed) - 0.5);
  }
  return w;
}

void run_whole_free(run_whole *w)
{
  free(w->x);
  free(w->v);
  free(w->image);
}

bool run_whole_frame(const run_whole *w, int d, int64_t a, int64_t b)
{
  return (a - b) % w->frames[d] == 0;
}

md_atoms *run_whole_part(md_ctx *ctx, const run_whole *w)
{
  md_atoms *atoms;
  double longest = 0;
  for (int d = 0; d < 3; d++)
    longest = fmax(longest, (w->frames[d] > 1) * run_whole_edge(w, d) * (1 + 1e-12));
  ck_ok(md_atoms_create(ctx, &w->box, &atoms));
  if (longest > 0) ck_ok(md_atoms_cut(atoms, longest));
  ck_assert(memcmp(atoms->frames, w->frames, sizeof w->frames) == 0);
  const int64_t begin = w->n * world_rank() / world_count();
  const int64_t n = w->n * (world_rank() + 1) / world_count() - begin;
  int64_t *id = ref_alloc(n, sizeof *id);
  int32_t *image = ref_alloc(3 * n, sizeof *image);
  for (int64_t k = 0; k < n; k++)
    id[k] = w->n - (begin + k);
  for (int64_t k = 0; k < 3 * n; k++)
    image[k] = (int32_t)w->image[3 * begin + k];
  ck_ok(md_atoms_set_local(atoms, n, w->x + 3 * begin, w->v + 3 * begin, id, image));
  free(id);
  free(image);
  return atoms;
}
