/* minimd/config/read_lammps_pair.c - pair_style and pair_coeff: lj/cut, eam and eam/alloy. */
#include "minimd/config/read_lammps.h"

md_status lammps_pair_style(lammps *in)
{
  in->eam = is(in, 0, "eam") || is(in, 0, "eam/alloy");
  if (!in->eam && !is(in, 0, "lj/cut")) return unsupported(in, 0);
  if (in->n != (in->eam ? 1 : 2)) return unsupported(in, 0);
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

md_status lammps_pair_coeff(lammps *in)
{
  if (!in->style) return missing(in, "pair_style");
  for (int k = 0; k < 2; k++)
    if (!is(in, k, "1") && !is(in, k, "*")) return unsupported(in, k);
  in->coeff = true;
  if (in->eam) return eam_coeff(in);
  if (in->n < 4) return unsupported(in, 2);
  MD_TRY(put(in, "lj.epsilon", CONFIG_NUMBER, in->args[2]));
  MD_TRY(put(in, "lj.sigma", CONFIG_NUMBER, in->args[3]));
  return in->n == 5 ? put(in, "lj.cutoff", CONFIG_NUMBER, in->args[4]) : MD_OK;
}
