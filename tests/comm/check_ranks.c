/* tests/comm/check_ranks.c - atoms that several ranks share, against brute force; runs alone and
 * under mpirun. */
#include "comm/comm.h"
#include "comm/world.h"
#include "core/random.h"
#include "tests/drive/run_cases.h"
#include "tests/drive/run_ranks.h"
#include "tests/ref/ref.h"
#include "tests/test.h"

/* A system that every rank knows whole. */
typedef struct {
  md_box box;
  double reach;
  int64_t n;
  double *x, *v; /* [n][3], as precision keeps them */
} whole;

enum { SYSTEMS = 5 };

/* Uniform; a dense corner; all in one place, so that ranks are empty; a box of one reach; atoms
 * with many images of their own. */
static whole make_whole(int which, md_precision precision)
{
  static const whole kinds[SYSTEMS] = {{{{-4, 0, 1}, {5.5, 8, 9}}, 2.1, 150, NULL, NULL},
                                       {{{0, 0, 0}, {12, 9, 7}}, 1.5, 150, NULL, NULL},
                                       {{{0, 0, 0}, {9, 9, 9}}, 2.8, 30, NULL, NULL},
                                       {{{0, 0, 0}, {2.8, 2.8, 2.8}}, 2.8, 40, NULL, NULL},
                                       {{{-0.5, 0, 0}, {0.5, 6, 2}}, 2.3, 21, NULL, NULL}};
  whole w = kinds[which];
  int32_t seed = 4711 + which;
  w.x = ref_alloc(3 * w.n, sizeof(double));
  w.v = ref_alloc(3 * w.n, sizeof(double));
  for (int64_t k = 0; k < 3 * w.n; k++) {
    const int d = (int)(k % 3);
    double u = random_park_miller(&seed);
    if (which == 1 && k < 2 * w.n) u *= 0.25;
    if (which == 2) u *= 0.1;
    w.x[k] = run_round(precision, w.box.lo[d] + u * (w.box.hi[d] - w.box.lo[d]) * 0.9999);
    w.v[k] = run_round(precision, random_park_miller(&seed) - 0.5);
  }
  return w;
}

/* This rank's block of them, ids 1.. in reverse order of places. */
static md_atoms *make_part(md_ctx *ctx, const whole *w)
{
  md_atoms *atoms;
  ck_ok(md_atoms_create(ctx, &w->box, &atoms));
  const int64_t begin = w->n * world_rank() / world_count();
  const int64_t n = w->n * (world_rank() + 1) / world_count() - begin;
  int64_t *id = ref_alloc(n, sizeof *id);
  for (int64_t k = 0; k < n; k++)
    id[k] = w->n - (begin + k);
  ck_ok(md_atoms_set(atoms, n, w->x + 3 * begin, w->v + 3 * begin, id, NULL));
  free(id);
  return atoms;
}

/* A charge that tells of which atom it is, in any precision. */
static double charge_of(int64_t id)
{
  return 0.5 * (double)id;
}

static void set_charges(md_atoms *atoms)
{
  double *q = ref_alloc(atoms->n + 1, sizeof *q);
  int64_t *id = ref_alloc(atoms->n + 1, sizeof *id);
  ck_ok(md_atoms_get(atoms, NULL, NULL, NULL, id, NULL));
  for (int64_t i = 0; i < atoms->n; i++)
    q[i] = charge_of(id[i]);
  ck_ok(md_atoms_set_charges(atoms, q));
  free(q);
  free(id);
}

/* Ids of atoms and of the atoms that ghosts are images of: those of other ranks' came with them. */
static int64_t *ids_of(const md_atoms *atoms)
{
  int64_t *id = ref_alloc(atoms->n + atoms->n_ghost + 1, sizeof *id), *ghost = id + atoms->n;
  run_snapshot s = run_snapshot_take(atoms);
  memcpy(id, s.id, (size_t)s.n * sizeof *id);
  if (atoms->ghost_id.data)
    ck_ok(md_read(atoms->ctx, ghost, atoms->ghost_id.data, (size_t)s.n_ghost * sizeof *ghost));
  for (int64_t g = 0; g < s.n_ghost && world_count() == 1; g++)
    ghost[g] = id[s.home[g]];
  run_snapshot_free(&s);
  return id;
}

/* Charges went with their atoms, also to ghosts. */
static void check_charges(const md_atoms *atoms)
{
  const int64_t all = atoms->n + atoms->n_ghost;
  const size_t bytes = (size_t)all * 4 * md_state_size(atoms->ctx->precision);
  void *x = ref_alloc(4 * all + 1, sizeof(double));
  int64_t *id = ids_of(atoms);
  ck_ok(md_read(atoms->ctx, x, atoms->x.data, bytes));
  for (int64_t i = 0; i < all; i++) {
    const double q = atoms->ctx->precision == MD_SINGLE ? (double)((const float *)x)[4 * i + 3]
                                                        : ((const double *)x)[4 * i + 3];
    ck_assert(q == charge_of(id[i]));
  }
  free(x);
  free(id);
}

/* Where the atom with this id is in the whole. */
static int64_t place_of(const whole *w, int64_t id)
{
  ck_assert_msg(id >= 1 && id <= w->n, "id %lld of %lld", (long long)id, (long long)w->n);
  return w->n - id;
}

/* Every atom is on one rank, with what belonged to it; positions: those of the whole plus whole
 * edges, which image counts.  The whole then gets the wrapped positions, to the bit. */
static void check_owned(const md_atoms *atoms, whole *w)
{
  run_snapshot s = run_snapshot_take(atoms);
  int64_t *seen = ref_alloc(w->n, sizeof *seen), *bits = ref_alloc(3 * w->n, sizeof *bits);
  memset(seen, 0, (size_t)w->n * sizeof *seen);
  memset(bits, 0, 3 * (size_t)w->n * sizeof *bits);
  for (int64_t i = 0; i < s.n; i++) {
    const int64_t k = place_of(w, s.id[i]);
    seen[k]++;
    for (int d = 0; d < 3; d++) {
      const double x = s.x[3 * i + d], edge = w->box.hi[d] - w->box.lo[d];
      ck_assert(x >= w->box.lo[d] && x < w->box.hi[d] && s.v[3 * i + d] == w->v[3 * k + d]);
      const double back = x + s.image[3 * i + d] * edge;
      ck_assert_msg(fabs(back - w->x[3 * k + d]) < 1e-5, "atom %lld went from %g to %g",
                    (long long)s.id[i], w->x[3 * k + d], back);
      memcpy(&bits[3 * k + d], &x, sizeof x);
    }
  }
  world_sum(seen, w->n);
  world_sum(bits, 3 * w->n);
  for (int64_t k = 0; k < w->n; k++)
    ck_assert_msg(seen[k] == 1, "atom %lld is on %lld ranks", (long long)(w->n - k),
                  (long long)seen[k]);
  memcpy(w->x, bits, 3 * (size_t)w->n * sizeof *bits);
  free(seen);
  free(bits);
  run_snapshot_free(&s);
}

/* An image of atom k of the whole, as precision keeps it. */
static double image_at(const whole *w, md_precision precision, int64_t k, int d, int shift)
{
  return run_round(precision, w->x[3 * k + d] + shift * (w->box.hi[d] - w->box.lo[d]));
}

/* Whether atom or ghost j is atom k of the whole shifted by s. */
static bool is_image(const run_snapshot *s, const int64_t *ghost_id, const whole *w, int64_t g,
                     int64_t k, int32_t shift)
{
  return ghost_id[g] == w->n - k && s->shift[g] == shift;
}

/* Every image within reach of an owned atom is there; every ghost lies where its image lies. */
static void check_images(const md_atoms *atoms, const whole *w)
{
  const md_precision precision = atoms->ctx->precision;
  run_snapshot s = run_snapshot_take(atoms);
  int64_t *id = ids_of(atoms);
  const int64_t *ghost_id = id + atoms->n;
  int most[3], t[3];
  for (int64_t g = 0; g < s.n_ghost; g++) {
    const int64_t k = place_of(w, ghost_id[g]);
    md_shift_unpack(s.shift[g], t);
    for (int d = 0; d < 3; d++)
      ck_assert_msg(s.x[3 * (s.n + g) + d] == image_at(w, precision, k, d, t[d]),
                    "a ghost of atom %lld lies at %.17g, not %.17g", (long long)ghost_id[g],
                    s.x[3 * (s.n + g) + d], image_at(w, precision, k, d, t[d]));
    if (s.home[g] >= 0) ck_assert(s.id[s.home[g]] == ghost_id[g] && s.shift[g] != 0);
  }
  for (int d = 0; d < 3; d++)
    most[d] = (int)ceil(w->reach / (w->box.hi[d] - w->box.lo[d]));
  for (int64_t k = 0; k < w->n; k++)
    for (t[0] = -most[0]; t[0] <= most[0]; t[0]++)
      for (t[1] = -most[1]; t[1] <= most[1]; t[1]++)
        for (t[2] = -most[2]; t[2] <= most[2]; t[2]++) {
          double nearest = INFINITY, at[3];
          bool here = false;
          for (int d = 0; d < 3; d++)
            at[d] = image_at(w, precision, k, d, t[d]);
          for (int64_t i = 0; i < s.n; i++) {
            double sq = 0;
            for (int d = 0; d < 3; d++)
              sq += (s.x[3 * i + d] - at[d]) * (s.x[3 * i + d] - at[d]);
            nearest = fmin(nearest, sq);
            here = here || (s.id[i] == w->n - k && !t[0] && !t[1] && !t[2]);
          }
          if (here || nearest >= w->reach * w->reach) continue;
          int found = 0;
          for (int64_t g = 0; g < s.n_ghost; g++)
            found += is_image(&s, ghost_id, w, g, k, md_shift_pack(t[0], t[1], t[2]));
          ck_assert_msg(found == 1, "rank %d: atom %lld shifted by %d %d %d is there %d times",
                        world_rank(), (long long)(w->n - k), t[0], t[1], t[2], found);
        }
  free(id);
  run_snapshot_free(&s);
}

/* Every atom moves, some across several ranks. */
static void move(md_atoms *atoms, whole *w, double by)
{
  double *x = ref_alloc(3 * atoms->n + 3, sizeof *x);
  int64_t *id = ref_alloc(atoms->n + 1, sizeof *id);
  int32_t *image = ref_alloc(3 * atoms->n + 3, sizeof *image);
  ck_ok(md_atoms_get(atoms, x, NULL, NULL, id, image));
  for (int64_t k = 0; k < 3 * w->n; k++)
    w->x[k] = run_round(atoms->ctx->precision, w->x[k] + by * w->v[k]);
  for (int64_t i = 0; i < atoms->n; i++)
    memcpy(&x[3 * i], &w->x[3 * place_of(w, id[i])], 3 * sizeof *x);
  ck_ok(md_atoms_place(atoms, x));
  ck_ok(md_fill(atoms->ctx, atoms->image.data, 0, (size_t)atoms->n * 12));
  free(x);
  free(id);
  free(image);
}

/* Every ghost is where its image is, as precision keeps it. */
static void check_ghosts(const md_atoms *atoms, const whole *w)
{
  run_snapshot s = run_snapshot_take(atoms);
  int64_t *id = ids_of(atoms);
  for (int64_t g = 0; g < s.n_ghost; g++) {
    int t[3];
    md_shift_unpack(s.shift[g], t);
    const int64_t k = place_of(w, id[s.n + g]);
    for (int d = 0; d < 3; d++)
      ck_assert(s.x[3 * (s.n + g) + d] == image_at(w, atoms->ctx->precision, k, d, t[d]));
  }
  free(id);
  run_snapshot_free(&s);
}

/* A number of each atom comes to its images on other ranks. */
static void check_reals(comm *cm, const md_atoms *atoms)
{
  const int64_t all = atoms->n + atoms->n_ghost;
  const bool wide = md_real_size(atoms->ctx->precision) == sizeof(double);
  const size_t bytes = (size_t)all * md_real_size(atoms->ctx->precision);
  md_buffer values = {NULL, 0};
  int64_t *id = ids_of(atoms);
  double *host = ref_alloc(all + 1, sizeof *host);
  run_snapshot s = run_snapshot_take(atoms);
  for (int64_t i = 0; i < all; i++) {
    const double value = i < s.n ? 3.0 * (double)id[i] : -1;
    if (wide)
      host[i] = value;
    else
      ((float *)host)[i] = (float)value;
  }
  ck_ok(md_buffer_reserve(atoms->ctx, &values, bytes + 1, 0));
  ck_ok(md_write(atoms->ctx, values.data, host, bytes));
  ck_ok(comm_forward_reals(cm, atoms, values.data));
  ck_ok(md_read(atoms->ctx, host, values.data, bytes));
  for (int64_t i = 0; i < all; i++) {
    const bool other = i >= s.n && s.home[i - s.n] < 0;
    const double value = wide ? host[i] : (double)((const float *)host)[i];
    ck_assert(value == (i < s.n || other ? 3.0 * (double)id[i] : -1));
  }
  md_buffer_free(atoms->ctx, &values);
  run_snapshot_free(&s);
  free(host);
  free(id);
}

START_TEST(atoms_and_ghosts_are_where_they_belong)
{
  static const ordering hilbert = {.kind = ORDERING_HILBERT};
  for (int which = 0; which < SYSTEMS; which++)
    for (int cut = 0; cut < PARTITION_CUT_COUNT; cut++) {
      const md_precision precision = (md_precision)_i;
      md_ctx *ctx = test_ctx(precision, 2, true);
      whole w = make_whole(which, precision);
      md_atoms *atoms = make_part(ctx, &w);
      comm *cm;
      ck_ok(comm_create(ctx, &cm));
      comm_cut(cm, (partition_cut)cut, &hilbert);
      /* On a GPU every other cut has another carrier. */
      const bool peer = test_backend() == MD_GPU && cut % 2 == 1;
      const char *reason;
      ck_ok(comm_carry(cm, peer ? COMM_PEER : COMM_MPI));
      if (world_count() > 1) ck_assert(comm_carried(cm, &reason) == (peer ? COMM_PEER : COMM_MPI));
      set_charges(atoms);
      for (int round = 0; round < 4; round++) {
        ck_ok(comm_migrate_early(cm, atoms, w.reach, -1));
        check_owned(atoms, &w);
        ck_ok(comm_borders(cm, atoms, w.reach));
        check_images(atoms, &w);
        check_charges(atoms);
        double moved_sq;
        ck_ok(comm_max_move_sq(cm, atoms, &moved_sq));
        ck_assert(moved_sq == 0);
        move(atoms, &w, round < 2 ? 0.3 : 11);
        ck_ok(comm_forward(cm, atoms));
        check_charges(atoms);
        check_ghosts(atoms, &w);
        check_reals(cm, atoms);
      }
      const comm_load load = comm_describe(cm, atoms);
      int64_t cuts;
      ck_assert(load.atoms == atoms->n && load.ghosts == atoms->n_ghost);
      if (world_count() > 1) ck_assert(comm_cut_made(cm, &cuts) != PARTITION_AUTO && cuts >= 1);
      comm_destroy(cm);
      md_atoms_destroy(atoms);
      md_ctx_destroy(ctx);
      free(w.x);
      free(w.v);
    }
}
END_TEST

/* A position of one rank that is nowhere is the error of all. */
START_TEST(what_one_rank_loses_all_report)
{
  md_ctx *ctx = test_ctx(MD_DOUBLE, 1, false);
  whole w = make_whole(0, MD_DOUBLE);
  w.x[3 * (w.n - 1)] = NAN;
  md_atoms *atoms = make_part(ctx, &w);
  comm *cm;
  ck_ok(comm_create(ctx, &cm));
  md_status status = comm_migrate_early(cm, atoms, w.reach, -1);
  if (!status) status = comm_borders(cm, atoms, w.reach); /* where nothing waits for a GPU */
  ck_assert_int_eq(status, MD_ENUMERIC);
  ck_assert_msg(strstr(md_message(), "atom 1 "), "%s", md_message());
  comm_destroy(cm);
  md_atoms_destroy(atoms);
  md_ctx_destroy(ctx);
  free(w.x);
  free(w.v);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("ranks");
  TCase *tc = tcase_create("ranks");
  tcase_set_timeout(tc, 120);
  tcase_add_loop_test(tc, atoms_and_ghosts_are_where_they_belong, 0, MD_PRECISION_COUNT);
  tcase_add_test(tc, what_one_rank_loses_all_report);
  suite_add_tcase(suite, tc);
  return run_ranks(suite, "check_ranks");
}
