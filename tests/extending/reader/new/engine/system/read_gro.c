/* engine/system/read_gro.c - GROMACS .gro files, the first frame.
 *
 * Line 1: a title.  Line 2: number of atoms.  Then a line for each atom in columns: 20 of residue,
 * name and number, three numbers of 8 columns, the position, and, in all lines or in none, three
 * more, the velocity.  Last line: the edges of the box, which begins at 0.  Names must be the same
 * for all atoms; residues and numbers are not used.  Numbers are taken in the units of the run. */
#include "comm/world.h"
#include "engine/system/system_impl.h"

#include <string.h>

enum { NAME = 10, NAME_WIDTH = 5, HEAD = 20, FIELD = 8, LINE_BYTES = HEAD + 3 * FIELD };

typedef struct {
  md_text *in;
  system_state *out;
  char name[NAME_WIDTH]; /* of the first atom */
} gro_file;

static md_status next_line(gro_file *gro, const char *expected, char **line)
{
  MD_TRY(md_text_next(gro->in, line));
  return *line ? MD_OK : md_text_fail(gro->in, "the file ends; expected %s", expected);
}

static md_status get_field(const gro_file *gro, const char *what, const char *line, int k,
                           double *out)
{
  char word[FIELD + 1] = {0};
  memcpy(word, line + HEAD + k * FIELD, FIELD);
  return md_text_double(gro->in, what, word + strspn(word, " "), out);
}

static md_status read_atom(gro_file *gro, int64_t k)
{
  static const char *const axes[6] = {"x", "y", "z", "vx", "vy", "vz"};
  system_state *out = gro->out;
  char *line;
  MD_TRY(next_line(gro, "an atom", &line));
  const size_t length = strlen(line);
  const bool moves = length >= HEAD + 6 * FIELD;
  if (length < LINE_BYTES)
    return md_text_fail(gro->in, "%zu columns: expected %d and three numbers of %d", length,
                        (int)HEAD, (int)FIELD);
  if (k == 0) {
    MD_TRY(system_reserve_block(out, moves, false, true));
    memcpy(gro->name, line + NAME, NAME_WIDTH);
  }
  if (memcmp(line + NAME, gro->name, NAME_WIDTH) != 0)
    return md_text_fail(gro->in, "'%.5s' beside '%.5s': expected one name of atoms", line + NAME,
                        gro->name);
  if (moves != (out->v != NULL))
    return md_text_fail(gro->in, "expected velocities of all atoms or of none");
  const int64_t i = read_place(out, k);
  if (i < 0) return MD_OK; /* another rank keeps it */
  for (int d = 0; d < 3; d++) {
    MD_TRY(get_field(gro, axes[d], line, d, &out->x[3 * i + d]));
    if (moves) MD_TRY(get_field(gro, axes[3 + d], line, 3 + d, &out->v[3 * i + d]));
    out->image[3 * i + d] = 0;
  }
  return MD_OK;
}

static md_status read_box(gro_file *gro)
{
  char *line;
  int words;
  MD_TRY(next_line(gro, "the edges of the box", &line));
  MD_TRY(md_text_split(gro->in, line, &words));
  if (words != 3)
    return md_text_fail(gro->in, "%d words: expected the three edges of an orthogonal box", words);
  for (int d = 0; d < 3; d++) {
    gro->out->box.lo[d] = 0;
    MD_TRY(md_text_double(gro->in, "box", gro->in->words[d], &gro->out->box.hi[d]));
    if (!(gro->out->box.hi[d] > 0)) return md_text_fail(gro->in, "box: expected edges > 0");
  }
  return MD_OK;
}

md_status read_gro(md_text *in, bool header, const engine_types *types, system_state *out)
{
  gro_file gro = {.in = in, .out = out};
  char *line;
  int words;
  if (types && types->n > 1)
    return md_text_fail(in, "%d species: expected one: names of atoms are not read", types->n);
  MD_TRY(next_line(&gro, "a title", &line));
  MD_TRY(next_line(&gro, "the number of atoms", &line));
  MD_TRY(md_text_split(in, line, &words));
  MD_TRY(md_text_int64(in, "number of atoms", in->words[0], 1, INT64_MAX, &out->n));
  MD_TRY(md_text_fit(in, out->n, LINE_BYTES));
  out->all = out->n;
  md_status status = header ? MD_OK : world_agree(MD_OK); /* a rank may have failed alone by now */
  for (int64_t k = 0; k < out->all && !status; k++)       /* the box is behind them */
    status = header ? next_line(&gro, "an atom", &line) : read_atom(&gro, k);
  if (!status) status = read_box(&gro);
  for (int64_t i = 0; !header && i < out->n && !status; i++)
    status = read_wrap(in, &out->box, &out->x[3 * i], &out->image[3 * i]);
  return header ? status : read_agree(in, status);
}
