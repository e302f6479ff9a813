/* tests/comm/check_ranks_before.c - what one rank did before ghosts are made, and could not do, is
 * the error of all; alone and under mpirun.  A suite of its own: ranks agree on one failure. */
#include "comm/comm.h"
#include "comm/world.h"
#include "tests/drive/run_ranks.h"
#include "tests/test.h"

enum { ATOMS = 60 };

/* This rank's block of atoms in rows along z. */
static md_atoms *make_part(md_ctx *ctx)
{
  static const md_box box = {{0, 0, 0}, {9, 8, 10}};
  const int64_t begin = ATOMS * world_rank() / world_count();
  const int64_t end = ATOMS * (world_rank() + 1) / world_count();
  double x[ATOMS][3];
  int64_t id[ATOMS];
  for (int64_t k = begin; k < end; k++) {
    id[k - begin] = k + 1;
    x[k - begin][0] = 0.1 + (double)(k % 3) * 3;
    x[k - begin][1] = 0.2 + (double)(k / 3 % 4) * 2;
    x[k - begin][2] = 0.3 + (double)(k / 12) * 2;
  }
  md_atoms *atoms;
  ck_ok(md_atoms_create(ctx, &box, &atoms));
  ck_ok(md_atoms_set(atoms, end - begin, x[0], NULL, id, NULL));
  return atoms;
}

START_TEST(what_one_rank_could_not_do_all_report)
{
  md_ctx *ctx = test_ctx(MD_DOUBLE, 1, false);
  md_atoms *atoms = make_part(ctx);
  comm *cm;
  ck_ok(comm_create(ctx, &cm));
  ck_ok(comm_migrate_early(cm, atoms, 2, -1));
  ck_ok(comm_borders_after(cm, atoms, 2, MD_OK));
  ck_assert_int_gt(atoms->n_ghost, 0);
  ck_ok(comm_migrate_early(cm, atoms, 2, -1));
  const bool fails = world_rank() == world_count() - 1;
  const md_status before = fails ? MD_FAIL(MD_ENOMEM, "no memory for a sort") : MD_OK;
  ck_assert_int_eq(comm_borders_after(cm, atoms, 2, before), MD_ENOMEM);
  ck_assert_msg(strstr(md_message(), "no memory for a sort"), "%s", md_message());
  ck_assert_int_eq(atoms->n_ghost, 0);
  comm_destroy(cm);
  md_atoms_destroy(atoms);
  md_ctx_destroy(ctx);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("ranks before");
  TCase *tc = tcase_create("ranks before");
  tcase_add_test(tc, what_one_rank_could_not_do_all_report);
  suite_add_tcase(suite, tc);
  return run_ranks(suite, "check_ranks_before");
}
