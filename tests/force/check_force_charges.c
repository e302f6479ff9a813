/* tests/force/check_force_charges.c - real space of charged atoms on the CPU, with every
 * instruction set: forces, energy and virial against plain sums, for cutoffs that are near and far
 * (force/coulomb_near.h), and the same forces to the bit where energies are summed beside them. */
#include "force/lj.h"
#include "tests/drive/run_md.h"
#include "tests/ref/ref.h"
#include "tests/test.h"

static const double R_CUT = 2.9; /* of charges; that of Lennard-Jones is 2.5, lists reach 3 */
/* (alpha R_CUT)^2 is 0.8, 9.99, 10.01 and 21; in double precision all but the last are in reach. */
static const double alphas[] = {0.31, 1.0899, 1.091, 1.58};
enum { ALPHAS = sizeof alphas / sizeof *alphas, KINDS = 3 };

typedef struct {
  double *f, energy, virial, f_max;
} sums;

/* Charges of atoms by id. */
static double charge_of(int64_t i)
{
  return (i % 2 ? -1 : 1) * (1 + 0.25 * (double)(i % 5));
}

static sums plain(const run_case *c, const double *x, const force_spec *lj, double alpha)
{
  sums s = {.f = ref_alloc(3 * c->n, sizeof *s.f)};
  ref_pairs pairs = ref_pairs_find(&c->box, c->n, x, R_CUT);
  memset(s.f, 0, (size_t)(3 * c->n) * sizeof *s.f);
  for (int64_t k = 0; k < pairs.n; k++) {
    const ref_pair *p = &pairs.pair[k];
    const ref_lj core = ref_lj_pair(lj, p->r);
    const long double z = alpha * p->r, qq = charge_of(p->i) * charge_of(p->j);
    const long double u = qq * erfcl(z) / p->r;
    const long double pull = core.f + (u + qq * 2 * alpha / sqrtl(acosl(-1)) * expl(-z * z)) / p->r;
    s.energy += (double)(core.u + u) / 2;
    s.virial += (double)(pull * p->r) / 2;
    for (int d = 0; d < 3; d++)
      s.f[3 * p->i + d] += (double)(pull * p->d[d] / p->r);
  }
  for (int64_t k = 0; k < 3 * c->n; k++)
    s.f_max = fmax(s.f_max, fabs(s.f[k]));
  ref_pairs_free(&pairs);
  return s;
}

/* Charges to the atoms, wherever sorting has put them, and to their ghosts. */
static void charge(run_md *md, double alpha)
{
  const int64_t n = md->atoms->n;
  int64_t *id = ref_alloc(n, sizeof *id);
  double *q = ref_alloc(n, sizeof *q);
  ck_ok(md_atoms_get(md->atoms, NULL, NULL, NULL, id, NULL));
  for (int64_t i = 0; i < n; i++)
    q[i] = charge_of(id[i] - 1);
  ck_ok(md_atoms_set_charges(md->atoms, q));
  ck_ok(force_set_coulomb(md->fc, alpha, R_CUT));
  run_md_rebuild(md);
  free(id), free(q);
}

static void compare(run_md *md, const sums *want, double alpha)
{
  static const double most[] = {3e-5, 3e-5, 3e-14};
  const int64_t n = md->atoms->n;
  const double off = most[md->spec.precision];
  const char *isa = md_isa_words[md->ctx->isa];
  double *f = ref_alloc(3 * n, sizeof *f), *alone = ref_alloc(3 * n, sizeof *alone), error = 0;
  force_tally tally;
  charge(md, alpha);
  run_md_force(md, NULL);
  run_md_state(md, NULL, NULL, alone);
  run_md_force(md, &tally);
  run_md_state(md, NULL, NULL, f);
  for (int64_t k = 0; k < 3 * n; k++)
    error = fmax(error, fabs(alone[k] - want->f[k]));
  ck_assert_msg(error <= off * want->f_max, "%s, %s, alpha %g: force off by %g of %g",
                run_spec_text(&md->spec), isa, alpha, error, want->f_max);
  ck_assert_double_eq_tol(tally.energy, want->energy, off * 4 * (double)n);
  ck_assert_double_eq_tol(tally.virial, want->virial, off * 40 * (double)n);
  if (md->spec.list.kind == NEIGHBOR_FULL)
    ck_assert_msg(memcmp(alone, f, (size_t)(3 * n) * sizeof *f) == 0, "%s, %s: other bits",
                  run_spec_text(&md->spec), isa);
  free(f), free(alone);
}

START_TEST(forces_against_plain_sums)
{
  run_spec spec = run_spec_default();
  spec.precision = (md_precision)_i;
  run_case c = run_case_fcc("ions", (int[]){3, 3, 4}, (double[]){0, -3, 1}, 0.2);
  for (int64_t i = 0; i < 3 * c.n; i++)
    c.x[i] = run_round(spec.precision, c.x[i]);
  for (int k = 0; k < ALPHAS; k++)
    for (int form = 0; form < LJ_FORM_COUNT; form++) {
      spec.threads = 1 + k % 3;
      spec.force.shift = form == LJ_PLAIN ? FORCE_SHIFT_NONE : FORCE_SHIFT_FORCE;
      const sums want = plain(&c, c.x, &spec.force, alphas[k]);
      for (int set = 0; set < MD_ISA_COUNT * KINDS; set++) {
        ck_assert_int_eq(setenv("MINIMD_ISA", md_isa_words[set / KINDS], 1), 0);
        run_set_list(&spec.list, set % KINDS);
        run_md md = run_md_open(&spec, &c, NULL);
        compare(&md, &want, alphas[k]);
        run_md_close(&md);
      }
      free(want.f);
    }
  run_case_free(&c);
}
END_TEST

int main(void)
{
  if (test_needs_cpu()) return EXIT_SUCCESS;
  Suite *suite = suite_create("force_charges");
  TCase *tc = tcase_create("force_charges");
  tcase_set_timeout(tc, 120);
  tcase_add_loop_test(tc, forces_against_plain_sums, 0, MD_PRECISION_COUNT);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
