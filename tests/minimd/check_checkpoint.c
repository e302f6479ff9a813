/* tests/minimd/check_checkpoint.c - runs that go on from a file are the runs that were never
 * stopped; files that are not whole are refused. */
#include "minimd/run/restart.h"
#include "tests/drive/engines.h"
#include "tests/drive/files.h"
#include "tests/test.h"

#include <stdio.h>
#include <unistd.h>

static const char *const systems[] = {("species=({name=\"A\";},{name=\"B\";mass=3;}) "
                                       "lj.pairs=({types=[\"A\",\"B\"];epsilon=1.5;sigma=0.8;})"),
                                      "neighbor.list=full",
                                      "neighbor.list=half",
                                      "neighbor.list=full neighbor.every=check",
                                      "neighbor.list=half order.curve=row order.sort_every=40",
                                      "neighbor.list=full order.curve=none order.sort_every=0",
                                      "system.lattice=nacl system.charges=0.7 coulomb.method=pme",
                                      ("system.lattice=cscl system.charges=0.7 coulomb.method=pme "
                                       "neighbor.list=half coulomb.tolerance=1e-2"),
                                      ("neighbor.list=half system.lattice=nacl coulomb.method=pme "
                                       "species=({name=\"A\";charge=0.7;},{name=\"B\";mass=3;"
                                       "charge=-0.7;})"),
                                      "neighbor.list=tile",
                                      "neighbor.list=tile order.curve=row neighbor.every=check",
                                      "neighbor.list=tile order.curve=morton order.sort_every=40",
                                      ("neighbor.list=tile species=({name=\"A\";},{name=\"B\";}) "
                                       "lj.pairs=({types=[\"A\",\"B\"];epsilon=1.5;sigma=0.8;})"),
                                      ("neighbor.list=tile species=({name=\"A\";},{name=\"B\";},"
                                       "{name=\"C\";}) lj.shift=force "
                                       "lj.pairs=({types=[\"A\",\"C\"];epsilon=1.5;sigma=0.8;})")};
/* The last are full lists on the CPU. */
enum { N_SYSTEMS = sizeof systems / sizeof *systems, N_GPU = 5, STOP = 33, END = 61 };

static config *make_config(const char *settings)
{
  char text[512];
  snprintf(text, sizeof text,
           "system.cells=5,4,6 device.deterministic=true output.checkpoint=unused run.steps=%d %s",
           END, settings);
  return engines_config(text);
}

/* Steps up to `end`; only the last with a tally. */
static void run_to(engine *sim, int64_t end)
{
  while (sim->step < end)
    ck_ok(engine_step(sim, sim->step + 1 == end));
}

static void same_state(const engine_state *a, const engine_state *b)
{
  ck_assert_int_eq(a->n, b->n);
  ck_assert_int_eq(a->step, b->step);
  ck_assert_int_eq(a->rebuilt_at, b->rebuilt_at);
  ck_assert_mem_eq(&a->lists, &b->lists, sizeof a->lists);
  ck_assert_mem_eq(&a->box, &b->box, sizeof a->box);
  const size_t three = (size_t)a->n * 3 * sizeof(double);
  ck_assert_mem_eq(a->x, b->x, three);
  ck_assert_mem_eq(a->x_at_build, b->x_at_build, three);
  ck_assert_mem_eq(a->v, b->v, three);
  ck_assert((a->q == NULL) == (b->q == NULL));
  if (a->q) ck_assert_mem_eq(a->q, b->q, (size_t)a->n * sizeof *a->q);
  ck_assert((a->type == NULL) == (b->type == NULL));
  if (a->type) ck_assert_mem_eq(a->type, b->type, (size_t)a->n);
  ck_assert_mem_eq(a->id, b->id, (size_t)a->n * sizeof *a->id);
  ck_assert_mem_eq(a->image, b->image, (size_t)a->n * 3 * sizeof *a->image);
}

/* Stopped, written, read and gone on, against never stopped: every bit, in every precision. */
START_TEST(restarts_are_exact)
{
  for (int precision = 0; precision < MD_PRECISION_COUNT; precision++) {
    config *cfg = make_config(systems[_i]), *again = NULL;
    ck_ok(config_set(cfg, "device.precision", md_precision_words[precision], "test"));
    engine *whole, *part, *rest;
    engine_state one, two;
    checkpoint from;
    restart_plan plan;
    const char *path = files_path("state");
    ck_ok(engine_create(config_get(cfg), &whole));
    run_to(whole, END);
    ck_ok(engine_save(whole, &one));
    ck_ok(engine_create(config_get(cfg), &part));
    run_to(part, STOP);
    ck_ok(restart_save(path, cfg, part, NULL, true));
    ck_ok(checkpoint_read(path, &from));
    ck_ok(config_create(&again));
    ck_ok(restart_configure(&from, again));
    ck_ok(config_check(again));
    ck_ok(restart_compare(&from, again, &plan));
    ck_assert_ptr_null(plan.differs);
    ck_assert_ptr_null(plan.dump_keep);
    ck_ok(engine_restore(config_get(again), &from.state, true, &rest));
    engine_thermo was, is;
    ck_ok(engine_measure(part, &was));
    ck_ok(engine_measure(rest, &is));
    ck_assert_mem_eq(&was, &is, sizeof was);
    run_to(rest, END);
    ck_ok(engine_save(rest, &two));
    same_state(&one, &two);
    engine_state_free(&one);
    engine_state_free(&two);
    checkpoint_free(&from);
    engine_destroy(whole);
    engine_destroy(part);
    engine_destroy(rest);
    config_destroy(cfg);
    config_destroy(again);
  }
}
END_TEST

/* With another ordering and list the atoms are the same and so is the physics. */
START_TEST(another_order_goes_on_from_the_same_atoms)
{
  config *cfg = make_config("neighbor.list=full neighbor.every=check output.dump=a.xyz"),
         *again = NULL;
  engine *part, *rest;
  checkpoint from;
  restart_plan plan;
  engine_thermo was, is;
  ck_ok(engine_create(config_get(cfg), &part));
  run_to(part, STOP);
  ck_ok(restart_save(files_path("state"), cfg, part, &(md_file_mark){7, 8}, true));
  ck_ok(checkpoint_read(files_path("state"), &from));
  ck_ok(config_create(&again));
  ck_ok(restart_configure(&from, again));
  ck_ok(config_set(again, "order.curve", "row", "test"));
  ck_ok(config_set(again, "neighbor.list", "half", "test"));
  ck_ok(restart_compare(&from, again, &plan));
  ck_assert_str_eq(plan.differs, "neighbor.list");
  ck_assert_ptr_nonnull(plan.dump_keep);
  ck_assert_int_eq(plan.dump_keep->bytes, 7);
  ck_assert_int_eq(plan.dump_keep->crc, 8);
  ck_ok(engine_restore(config_get(again), &from.state, false, &rest));
  run_to(part, END);
  run_to(rest, END);
  ck_ok(engine_measure(part, &was));
  ck_ok(engine_measure(rest, &is));
  ck_assert_double_eq_tol(is.e_pair, was.e_pair, 1e-9);
  ck_assert_double_eq_tol(is.temperature, was.temperature, 1e-9);
  ck_ok(config_set(again, "system.temperature", "2", "--set"));
  ck_assert_int_eq(restart_compare(&from, again, &plan), MD_EINVAL);
  ck_assert_ptr_nonnull(strstr(md_message(), "system.temperature"));
  checkpoint_free(&from);
  engine_destroy(part);
  engine_destroy(rest);
  config_destroy(cfg);
  config_destroy(again);
}
END_TEST

/* A small checkpoint's bytes. */
static char *make_file(size_t *size)
{
  config *cfg = make_config("system.cells=3 system.lattice=sc lj.cutoff=1.2 system.density=1");
  engine *sim;
  const char *path = files_path("state");
  ck_ok(engine_create(config_get(cfg), &sim));
  ck_ok(restart_save(path, cfg, sim, NULL, true));
  engine_destroy(sim);
  config_destroy(cfg);
  FILE *file = fopen(path, "rb");
  fseek(file, 0, SEEK_END);
  *size = (size_t)ftell(file);
  rewind(file);
  char *data = malloc(*size);
  ck_assert_uint_eq(fread(data, 1, *size, file), *size);
  fclose(file);
  return data;
}

static void refused(const char *data, size_t size)
{
  checkpoint from;
  const char *path = files_write("broken", data, size);
  const md_status status = checkpoint_read(path, &from);
  ck_assert_msg(status == MD_EIO || status == MD_EINVAL, "a broken file of %zu bytes was read",
                size);
  ck_assert_msg(strstr(md_message(), path) && !strchr(md_message(), '\n'), "%s", md_message());
  ck_assert_ptr_null(from.settings);
}

START_TEST(every_cut_file_is_refused)
{
  size_t size;
  char *data = make_file(&size);
  for (size_t cut = 0; cut < size; cut++)
    refused(data, cut);
  char *longer = calloc(1, size + 1);
  memcpy(longer, data, size);
  refused(longer, size + 1);
  free(longer);
  free(data);
}
END_TEST

START_TEST(every_flipped_bit_is_found)
{
  size_t size;
  char *data = make_file(&size);
  uint64_t random = 88172645463325252u; /* xorshift */
  for (int k = 0; k < 2000; k++) {
    random ^= random << 13, random ^= random >> 7, random ^= random << 17;
    const size_t bit = random % (8 * size);
    data[bit / 8] ^= (char)(1 << bit % 8);
    refused(data, size);
    data[bit / 8] ^= (char)(1 << bit % 8);
  }
  free(data);
}
END_TEST

/* What check sums cannot tell: a whole file with numbers that no run has. */
START_TEST(numbers_that_no_run_has_are_refused)
{
  config *cfg = make_config("system.cells=3 system.lattice=sc lj.cutoff=1.2 system.density=1");
  engine *sim;
  checkpoint from;
  ck_ok(engine_create(config_get(cfg), &sim));
  run_to(sim, 3);
  for (int k = 0; k < 6; k++) {
    const engine was = *sim;
    const md_box box = sim->atoms->box;
    if (k == 1) sim->rebuilt_at = 4;
    if (k == 2) sim->rebuilt_at = -1;
    if (k == 3) sim->mass = 0;
    if (k == 4) sim->step = -1;
    if (k == 5) sim->atoms->box.hi[1] = sim->atoms->box.lo[1];
    ck_ok(restart_save(files_path("state"), cfg, sim, NULL, true));
    *sim = was;
    sim->atoms->box = box;
    const md_status status = checkpoint_read(files_path("state"), &from);
    ck_assert_int_eq(status, k ? MD_EIO : MD_OK);
    if (k) ck_assert_msg(strstr(md_message(), "numbers that no run has"), "%s", md_message());
    checkpoint_free(&from);
  }
  engine_destroy(sim);
  config_destroy(cfg);
}
END_TEST

/* The file before stays, and is offered in place of a broken one. */
START_TEST(the_previous_file_is_kept)
{
  config *cfg = make_config("neighbor.list=full");
  engine *sim;
  checkpoint from;
  char path[256];
  snprintf(path, sizeof path, "%s", files_path("twice"));
  ck_ok(engine_create(config_get(cfg), &sim));
  ck_ok(restart_save(path, cfg, sim, NULL, true));
  run_to(sim, 5);
  ck_ok(restart_save(path, cfg, sim, NULL, true));
  ck_ok(checkpoint_read(files_path("twice.prev"), &from));
  ck_assert_int_eq(from.state.step, 0);
  checkpoint_free(&from);
  ck_assert_int_eq(truncate(path, 1000), 0);
  ck_assert_int_eq(checkpoint_read(path, &from), MD_EIO);
  ck_assert_msg(strstr(md_message(), "twice.prev (step 0)"), "%s", md_message());
  engine_destroy(sim);
  config_destroy(cfg);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("checkpoint");
  TCase *tc = tcase_create("files");
  tcase_add_checked_fixture(tc, files_begin, files_end);
  tcase_set_timeout(tc, 120);
  const bool gpu = test_backend() == MD_GPU;
  tcase_add_loop_test(tc, restarts_are_exact, 0, gpu ? N_SYSTEMS : N_SYSTEMS - N_GPU);
  tcase_add_test(tc, another_order_goes_on_from_the_same_atoms);
  tcase_add_test(tc, every_cut_file_is_refused);
  tcase_add_test(tc, every_flipped_bit_is_found);
  tcase_add_test(tc, numbers_that_no_run_has_are_refused);
  tcase_add_test(tc, the_previous_file_is_kept);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
