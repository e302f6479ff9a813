/* engine/system/read_atom.c - what files of every format say of an atom. */
#include "engine/system/system_impl.h"
#include "comm/world.h"

#include <math.h>

int64_t read_place(const system_state *state, int64_t k)
{
  return k >= state->first && k < state->first + state->n ? k - state->first : -1;
}

md_status read_agree(const md_text *in, md_status status)
{
  return world_agree_first(status, in->line, 0);
}

md_status read_charge(const md_text *in, const char *word, double *out)
{
  MD_TRY(md_text_double(in, "charge", word, out));
  if (fabs(*out) <= 1e6) return MD_OK;
  return md_text_fail(in, "charge: expected -1e6..1e6, not %g", *out);
}

md_status read_kind(const md_text *in, const engine_types *types, const char *name, int32_t *out)
{
  *out = engine_types_find(types, name);
  if (*out >= 0) return MD_OK;
  return md_text_fail(in, "'%.30s': expected a name among species", name);
}

md_status read_agrees(const md_text *in, const char *what, double found, double set)
{
  if (found == set) return MD_OK;
  return md_text_fail(in, "%s is %g, and %g in species or lj.pairs", what, found, set);
}

md_status read_wrap(const md_text *in, const md_box *box, double x[3], int32_t image[3])
{
  for (int d = 0; d < 3; d++) {
    const double edge = box->hi[d] - box->lo[d];
    double crossed = floor((x[d] - box->lo[d]) / edge);
    if (!(fabs(crossed + image[d]) <= 1 << 30))
      return md_text_fail(in, "%c = %g is too far from the box, %g to %g", 'x' + d, x[d],
                          box->lo[d], box->hi[d]);
    double inside = crossed == 0 ? x[d] : x[d] - crossed * edge;
    if (inside < box->lo[d]) inside = box->lo[d]; /* by rounding */
    if (inside >= box->hi[d]) {
      inside = box->lo[d];
      crossed++;
    }
    x[d] = inside;
    image[d] += (int32_t)crossed;
  }
  return MD_OK;
}
