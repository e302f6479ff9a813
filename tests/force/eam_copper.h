/* tests/force/eam_copper.h - displaced copper and its potentials, for tests of embedded atoms. */
#ifndef EAM_COPPER_H
#define EAM_COPPER_H

#include "minimd/shell/commands.h"
#include "tests/drive/files.h"
#include "tests/drive/run_md.h"
#include "tests/ref/ref_eam.h"
#include "tests/test.h"

static eam_potential eam;
static ref_eam table;

/* The potential that `minimd potential` writes, read by the program and by the reference. */
static void read_copper(const char *knots)
{
  char *path = (char *)files_path("cu");
  char *argv[] = {"potential", "--knots", (char *)knots, "-o", path};
  ck_ok(cmd_potential(5, argv));
  ck_ok(eam_read(path, &eam));
  table = ref_eam_read(path);
}

static void end(void)
{
  eam_free(&eam);
  ref_eam_free(&table);
  files_end();
}

enum { CASES = 5, CLOSE = 4, LARGE = CASES, HUGE_CASE, ORDERS = 3 };

static run_case oracle_case(void)
{
  ref_eam_oracle oracle = ref_eam_oracle_read();
  run_case c = {.name = "oracle", .box = oracle.box, .n = oracle.n, .x = oracle.x};
  free(oracle.f), free(oracle.own), free(oracle.density);
  return c;
}

/* Copper, displaced: the oracle's; images of atoms in small boxes; off the origin and dense; pairs
 * at 1.6 A and more; many atoms; 16 tiles for each of up to 210 multiprocessors. */
static run_case copper_case(int k, md_precision precision)
{
  static const int cells[][3] = {{0},       {2, 2, 2},    {1, 1, 3},   {5, 4, 3},
                                 {4, 6, 5}, {24, 24, 24}, {60, 60, 60}};
  static const double lo[][3] = {{0}, {0}, {0}, {-3, 1, 0.5}, {0}, {0}, {0}};
  static const double edge[] = {0, 3.615, 3.615, 3.3, 3.9, 3.615, 3.615};
  run_case c = k == 0 ? oracle_case() : run_case_fcc("copper", cells[k], lo[k], 0.08);
  const double scale = k == 0 ? 1 : edge[k] / cbrt(4 / 0.8442);
  for (int64_t i = 0; i < 3 * c.n; i++)
    c.x[i] *= scale;
  for (int64_t i = 0; k >= CLOSE && i < 3 * c.n; i += 3 * 16) { /* the next atom comes nearer */
    c.x[i + 3] = c.x[i] + 1.6 + fmod(0.001 * (double)i, 1.4);
    c.x[i + 4] = c.x[i + 1], c.x[i + 5] = c.x[i + 2];
  }
  for (int64_t i = 0; i < 3 * c.n; i++)
    c.x[i] = run_round(precision, c.x[i]);
  for (int d = 0; d < 3; d++)
    c.box.lo[d] *= scale, c.box.hi[d] *= scale;
  return c;
}

/* Half lists of embedded atoms are for the CPU. */
static bool has_list(int list)
{
  return test_backend() == MD_CPU || list == 0 || list == RUN_TRACED;
}

static run_spec copper_spec(void)
{
  run_spec spec = run_spec_default();
  spec.eam = &eam;
  spec.force.r_cut = eam.cutoff;
  return spec;
}

/* The same, of a potential of so many knots. */
static run_spec spec_of(const char *knots, md_precision precision)
{
  read_copper(knots);
  run_spec spec = copper_spec();
  spec.precision = precision;
  return spec;
}

/* One computation of forces f [n][3], or NULL, and sums, or NULL. */
static void compute(const run_spec *spec, const run_case *c, force_tally *tally, double *f)
{
  run_md md = run_md_open(spec, c, NULL);
  run_md_force(&md, tally);
  run_md_state(&md, NULL, NULL, f);
  run_md_close(&md);
}

/* Knots of a file that tiles on the GPU read in packed words, or not: 180 are too rough in float,
 * and words of 3000 too many in double. */
static const char *knots_of(bool packed, md_precision precision)
{
  return packed ? "500" : precision == MD_DOUBLE ? "3000" : "180";
}

#endif
