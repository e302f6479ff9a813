/* minimd/config/read_lammps_pair.c - pair_style, pair_coeff and pair_modify: lj/cut, eam and
 * eam/alloy. */
#include "minimd/config/read_lammps.h"

/* Constants of the style before, which it takes along. */
static void forget_pairs(engine_types *types)
{
  for (int32_t k = 0; k < types->n * types->n; k++)
    types->pairs[k] = (force_lj){0};
}

md_status lammps_pair_style(lammps *in)
{
  in->eam = is(in, 0, "eam") || is(in, 0, "eam/alloy");
  if (!in->eam && !is(in, 0, "lj/cut")) return unsupported(in, 0);
  if (in->n != (in->eam ? 1 : 2)) return unsupported(in, 0);
  if (in->style) forget_pairs(&in->types); /* those of the first style may be a data file's */
  in->style = true;
  in->coeff = false;
  MD_TRY(put(in, "potential.style", CONFIG_STRING, in->eam ? "eam" : "lj"));
  return in->eam ? MD_OK : put(in, "lj.cutoff", CONFIG_NUMBER, in->args[1]);
}

/* pair_coeff * * FILE [ELEMENT]: the file's mass is that of `mass`, where no such command is. */
static md_status eam_coeff(lammps *in)
{
  if (in->n > 4) return unsupported(in, 4);
  MD_TRY(put(in, "potential.file", CONFIG_STRING, in->args[2]));
  MD_TRY(config_read_potential(in->cfg));
  const char *element = config_get(in->cfg)->eam->element;
  MD_REQUIRE(in->n == 3 || !*element || is(in, 3, element), MD_EINVAL,
             "%s:%d: pair_coeff: '%.60s' has '%s', not '%.60s'", in->sc.path, in->sc.line,
             config_get(in->cfg)->potential, element, in->args[3]);
  in->mass = true;
  return MD_OK;
}

/* Types i of the first range with those j >= i of the second, as LAMMPS takes them. */
static md_status lj_coeff(lammps *in, const int32_t lo[2], const int32_t hi[2])
{
  force_lj lj = {0};
  engine_types *types = &in->types;
  MD_TRY(lammps_number(in, "lj.pairs", "epsilon", in->args[2], &lj.epsilon));
  MD_TRY(lammps_number(in, "lj.pairs", "sigma", in->args[3], &lj.sigma));
  if (in->n == 5) MD_TRY(lammps_number(in, "lj.pairs", "cutoff", in->args[4], &lj.r_cut));
  MD_REQUIRE(lo[0] <= hi[1], MD_EINVAL,
             "%s:%d: pair_coeff %.40s %.40s: expected the lower type first", in->sc.path,
             in->sc.line, in->args[0], in->args[1]);
  for (int32_t i = lo[0]; i <= hi[0]; i++)
    for (int32_t j = lo[1] > i ? lo[1] : i; j <= hi[1]; j++)
      types->pairs[(i - 1) * types->n + j - 1] = types->pairs[(j - 1) * types->n + i - 1] = lj;
  return MD_OK;
}

md_status lammps_pair_coeff(lammps *in)
{
  int32_t lo[2], hi[2];
  if (!in->box && !in->data) return missing(in, "create_box");
  if (!in->style) return missing(in, "pair_style");
  for (int k = 0; k < 2; k++)
    MD_TRY(lammps_types(in, k, &lo[k], &hi[k]));
  MD_REQUIRE(!in->eam || !in->types.n, MD_EINVAL,
             "%s:%d: pair_coeff: %d atom types: expected one of pair_style eam", in->sc.path,
             in->sc.line, in->types.n);
  in->coeff = true;
  if (in->eam) return eam_coeff(in);
  if (in->n < 4) return unsupported(in, 2);
  if (in->types.n) return lj_coeff(in, lo, hi);
  MD_TRY(put(in, "lj.epsilon", CONFIG_NUMBER, in->args[2]));
  MD_TRY(put(in, "lj.sigma", CONFIG_NUMBER, in->args[3]));
  return in->n == 5 ? put(in, "lj.cutoff", CONFIG_NUMBER, in->args[4]) : MD_OK;
}

md_status lammps_have_coeffs(const lammps *in)
{
  const engine_types *types = &in->types;
  char command[40];
  if (!types->n && !in->coeff) return missing(in, "pair_coeff");
  for (int32_t t = 0; t < types->n; t++) {
    snprintf(command, sizeof command, "pair_coeff %d %d", t + 1, t + 1);
    if (!(types->pairs[t * types->n + t].epsilon > 0)) return missing(in, command);
  }
  return MD_OK;
}

md_status lammps_pair_modify(lammps *in)
{
  if (!in->style) return missing(in, "pair_style");
  if (in->eam) return unsupported(in, -1);
  for (int k = 0; k < in->n; k += 2) {
    if (k + 1 == in->n) return unsupported(in, k);
    const bool mix = is(in, k, "mix"), yes = is(in, k + 1, "yes");
    if (mix && (is(in, k + 1, "geometric") || is(in, k + 1, "arithmetic")))
      MD_TRY(put(in, "lj.mix", CONFIG_STRING, in->args[k + 1]));
    else if (is(in, k, "shift") && (yes || is(in, k + 1, "no")))
      MD_TRY(put(in, "lj.shift", CONFIG_STRING, yes ? "energy" : "none"));
    else
      return unsupported(in, mix ? k + 1 : k);
  }
  return MD_OK;
}
