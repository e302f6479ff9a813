/* tests/comm/check_ranks.c - atoms that several ranks share, against brute force; runs alone and
 * under mpirun. */
#include "comm/comm.h"
#include "comm/world.h"
#include "tests/drive/run_cases.h"
#include "tests/drive/run_ranks.h"
#include "tests/drive/run_whole.h"
#include "tests/ref/ref.h"
#include "tests/test.h"

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
static int64_t place_of(const run_whole *w, int64_t id)
{
  ck_assert_msg(id >= 1 && id <= w->n, "id %lld of %lld", (long long)id, (long long)w->n);
  return w->n - id;
}

/* Every atom is on one rank, with what belonged to it; positions: those of the whole plus whole
 * edges of frames, which image counts.  The whole then gets the wrapped positions, to the bit. */
static void check_owned(const md_atoms *atoms, run_whole *w)
{
  run_snapshot s = run_snapshot_take(atoms);
  int64_t *seen = ref_alloc(w->n, sizeof *seen), *bits = ref_alloc(3 * w->n, sizeof *bits);
  int64_t *image = ref_alloc(3 * w->n, sizeof *image);
  memset(seen, 0, (size_t)w->n * sizeof *seen);
  memset(bits, 0, 3 * (size_t)w->n * sizeof *bits);
  memset(image, 0, 3 * (size_t)w->n * sizeof *image);
  for (int64_t i = 0; i < s.n; i++) {
    const int64_t k = place_of(w, s.id[i]);
    seen[k]++;
    for (int d = 0; d < 3; d++) {
      const double x = s.x[3 * i + d], lo = atoms->frame.lo[d], hi = atoms->frame.hi[d];
      ck_assert(x >= lo && x < hi && s.v[3 * i + d] == w->v[3 * k + d]);
      image[3 * k + d] = s.image[3 * i + d];
      const double back =
          x + (double)(image[3 * k + d] - w->image[3 * k + d]) * run_whole_edge(w, d);
      ck_assert_msg(fabs(back - w->x[3 * k + d]) < 1e-5, "atom %lld went from %g to %g",
                    (long long)s.id[i], w->x[3 * k + d], back);
      memcpy(&bits[3 * k + d], &x, sizeof x);
    }
  }
  world_sum(seen, w->n);
  world_sum(bits, 3 * w->n);
  world_sum(image, 3 * w->n);
  for (int64_t k = 0; k < w->n; k++)
    ck_assert_msg(seen[k] == 1, "atom %lld is on %lld ranks", (long long)(w->n - k),
                  (long long)seen[k]);
  memcpy(w->x, bits, 3 * (size_t)w->n * sizeof *bits);
  memcpy(w->image, image, 3 * (size_t)w->n * sizeof *image);
  free(seen);
  free(bits);
  free(image);
  run_snapshot_free(&s);
}

/* An image of atom k of the whole, as precision keeps it. */
static double image_at(const md_atoms *atoms, const run_whole *w, int64_t k, int d, int shift)
{
  const double edge = atoms->frame.hi[d] - atoms->frame.lo[d];
  return run_round(atoms->ctx->precision, w->x[3 * k + d] + shift * edge);
}

/* Whether atom or ghost j is atom k of the whole shifted by s. */
static bool is_image(const run_snapshot *s, const int64_t *ghost_id, const run_whole *w, int64_t g,
                     int64_t k, int32_t shift)
{
  return ghost_id[g] == w->n - k && s->shift[g] == shift;
}

/* Whether an owned atom is where atom k of the whole, shifted by t, is seen within reach. */
static bool is_near(const md_atoms *atoms, const run_snapshot *s, int64_t i, const run_whole *w,
                    int64_t k, const int t[3])
{
  double sq = 0;
  for (int d = 0; d < 3; d++) {
    const double away = s->x[3 * i + d] - image_at(atoms, w, k, d, t[d]);
    if (!run_whole_frame(w, d, s->image[3 * i + d], w->image[3 * k + d] - t[d])) return false;
    sq += away * away;
  }
  return sq < w->reach * w->reach;
}

/* Ghost g, of atom k of the whole, is of the frame that its shift says. */
static void check_frame(const run_snapshot *s, int64_t g, const run_whole *w, int64_t k,
                        const int t[3])
{
  int32_t frame[3];
  md_ghost_frame(w->frames, s->image, s->home[g], s->shift[g], frame);
  for (int d = 0; d < 3; d++)
    ck_assert_msg(run_whole_frame(w, d, frame[d], w->image[3 * k + d] - t[d]),
                  "a ghost of frame %d of %d, not %lld", frame[d], w->frames[d],
                  (long long)(w->image[3 * k + d] - t[d]));
}

/* Every image within reach of an owned atom is there; every ghost lies where its image lies. */
static void check_images(const md_atoms *atoms, const run_whole *w)
{
  run_snapshot s = run_snapshot_take(atoms);
  int64_t *id = ids_of(atoms);
  const int64_t *ghost_id = id + atoms->n;
  int most[3], t[3];
  for (int64_t g = 0; g < s.n_ghost; g++) {
    const int64_t k = place_of(w, ghost_id[g]);
    md_shift_unpack(s.shift[g], t);
    for (int d = 0; d < 3; d++)
      ck_assert_msg(s.x[3 * (s.n + g) + d] == image_at(atoms, w, k, d, t[d]),
                    "a ghost of atom %lld lies at %.17g, not %.17g", (long long)ghost_id[g],
                    s.x[3 * (s.n + g) + d], image_at(atoms, w, k, d, t[d]));
    check_frame(&s, g, w, k, t);
    if (s.home[g] >= 0) ck_assert(s.id[s.home[g]] == ghost_id[g] && s.shift[g] != 0);
  }
  for (int d = 0; d < 3; d++)
    most[d] = (int)ceil(w->reach / run_whole_edge(w, d));
  for (int64_t k = 0; k < w->n; k++)
    for (t[0] = -most[0]; t[0] <= most[0]; t[0]++)
      for (t[1] = -most[1]; t[1] <= most[1]; t[1]++)
        for (t[2] = -most[2]; t[2] <= most[2]; t[2]++) {
          bool here = false, near = false;
          for (int64_t i = 0; i < s.n; i++) {
            near = near || is_near(atoms, &s, i, w, k, t);
            here = here || (s.id[i] == w->n - k && !t[0] && !t[1] && !t[2]);
          }
          if (here || !near) continue;
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
static void move(md_atoms *atoms, run_whole *w, double by)
{
  double *x = ref_alloc(3 * atoms->n + 3, sizeof *x);
  int64_t *id = ref_alloc(atoms->n + 1, sizeof *id);
  ck_ok(md_atoms_get(atoms, NULL, NULL, NULL, id, NULL));
  for (int64_t k = 0; k < 3 * w->n; k++)
    w->x[k] = run_round(atoms->ctx->precision, w->x[k] + by * w->v[k]);
  for (int64_t i = 0; i < atoms->n; i++)
    memcpy(&x[3 * i], &w->x[3 * place_of(w, id[i])], 3 * sizeof *x);
  ck_ok(md_atoms_place(atoms, x));
  free(x);
  free(id);
}

/* Every ghost is where its image is, as precision keeps it. */
static void check_ghosts(const md_atoms *atoms, const run_whole *w)
{
  run_snapshot s = run_snapshot_take(atoms);
  int64_t *id = ids_of(atoms);
  for (int64_t g = 0; g < s.n_ghost; g++) {
    int t[3];
    md_shift_unpack(s.shift[g], t);
    const int64_t k = place_of(w, id[s.n + g]);
    for (int d = 0; d < 3; d++)
      ck_assert(s.x[3 * (s.n + g) + d] == image_at(atoms, w, k, d, t[d]));
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
  for (int which = 0; which < RUN_WHOLES; which++)
    for (int cut = 0; cut < PARTITION_CUT_COUNT; cut++) {
      const md_precision precision = (md_precision)_i;
      md_ctx *ctx = test_ctx(precision, 2, true);
      run_whole w = run_whole_make(which, precision);
      md_atoms *atoms = run_whole_part(ctx, &w);
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
      run_whole_free(&w);
    }
}
END_TEST

/* Real k of a rank's array: of very different sizes, so that the order of a sum shows. */
static double real_of(int rank, int64_t k)
{
  return (double)((k * 7 + rank * 13) % 1009 - 504) * pow(3, (double)((k + 5 * rank) % 9 - 4));
}

static void put_real(char *host, bool wide, int64_t k, double value)
{
  if (wide)
    ((double *)host)[k] = value;
  else
    ((float *)host)[k] = (float)value;
}

static double get_real(const char *host, bool wide, int64_t k)
{
  return wide ? ((const double *)host)[k] : (double)((const float *)host)[k];
}

/* Three arrays, one after the other, against sums in the order of ranks. */
static void check_sums(md_ctx *ctx, comm *cm, int64_t count)
{
  const bool wide = ctx->precision == MD_DOUBLE;
  const size_t bytes = (size_t)count * md_real_size(ctx->precision);
  md_buffer reals = {NULL, 0};
  char *host = ref_alloc(count, sizeof(double)), *of_rank = ref_alloc(1, sizeof(double));
  ck_ok(md_buffer_reserve(ctx, &reals, bytes, 0));
  for (int turn = 0; turn < 3; turn++) {
    for (int64_t k = 0; k < count; k++)
      put_real(host, wide, k, real_of(world_rank(), k + turn));
    ck_ok(md_write(ctx, reals.data, host, bytes));
    ck_ok(comm_add(cm, reals.data, count));
    ck_ok(md_read(ctx, host, reals.data, bytes));
    for (int64_t k = 0; k < count; k++) {
      double sum = 0;
      for (int r = 0; r < world_count(); r++) {
        put_real(of_rank, wide, 0, real_of(r, k + turn));
        sum += get_real(of_rank, wide, 0);
      }
      put_real(of_rank, wide, 0, sum);
      const double got = get_real(host, wide, k), right = get_real(of_rank, wide, 0);
      ck_assert_msg(got == right, "real %lld of %lld: %g, not %g", (long long)k, (long long)count,
                    got, right);
    }
  }
  free(host);
  free(of_rank);
  md_buffer_free(ctx, &reals);
}

/* By every carrier that there is. */
START_TEST(arrays_are_added_up_in_the_order_of_ranks)
{
  static const int64_t counts[] = {1, 15, 16, 17, 70, 1000, 30011};
  static const comm_carrier carriers[] = {COMM_MPI, COMM_PEER, COMM_NCCL};
  md_ctx *ctx = test_ctx((md_precision)_i, 2, false);
  for (int way = 0; way < (test_backend() == MD_GPU ? 3 : 1); way++)
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
      comm *cm;
      ck_ok(comm_create(ctx, &cm));
      const md_status status = comm_carry(cm, carriers[way]);
      if (carriers[way] == COMM_NCCL && status == MD_EINVAL) { /* ranks share a GPU */
        comm_destroy(cm);
        break;
      }
      ck_ok(status);
      ck_ok(comm_add_open(cm, counts[c]));
      const bool queued = comm_adds_queued(cm);
      const char *how = comm_adds_how(cm);
      ck_assert(world_count() == 1 ? !how[0] : how[0] && queued == (carriers[way] != COMM_MPI));
      check_sums(ctx, cm, counts[c]);
      comm_destroy(cm);
    }
  md_ctx_destroy(ctx);
}
END_TEST

/* A position of one rank that is nowhere is the error of all. */
START_TEST(what_one_rank_loses_all_report)
{
  md_ctx *ctx = test_ctx(MD_DOUBLE, 1, false);
  run_whole w = run_whole_make(0, MD_DOUBLE);
  w.x[3 * (w.n - 1)] = NAN;
  md_atoms *atoms = run_whole_part(ctx, &w);
  comm *cm;
  ck_ok(comm_create(ctx, &cm));
  md_status status = comm_migrate_early(cm, atoms, w.reach, -1);
  if (!status) status = comm_borders(cm, atoms, w.reach); /* where nothing waits for a GPU */
  ck_assert_int_eq(status, MD_ENUMERIC);
  ck_assert_msg(strstr(md_message(), "atom 1 "), "%s", md_message());
  comm_destroy(cm);
  md_atoms_destroy(atoms);
  md_ctx_destroy(ctx);
  run_whole_free(&w);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("ranks");
  TCase *tc = tcase_create("ranks");
  tcase_set_timeout(tc, 120);
  tcase_add_loop_test(tc, atoms_and_ghosts_are_where_they_belong, 0, MD_PRECISION_COUNT);
  tcase_add_loop_test(tc, arrays_are_added_up_in_the_order_of_ranks, 0, MD_PRECISION_COUNT);
  tcase_add_test(tc, what_one_rank_loses_all_report);
  suite_add_tcase(suite, tc);
  return run_ranks(suite, "check_ranks");
}
