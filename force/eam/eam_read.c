/* force/eam/eam_read.c - funcfl and setfl files.
 *
 *   funcfl  a comment; `Z mass ...`; `n_rho d_rho n_r d_r cutoff`; F [n_rho], Z [n_r], rho [n_r]
 *   setfl   three comments; `1 NAME`; `n_rho d_rho n_r d_r cutoff`; `Z mass ...`; F, rho, r phi
 *
 * Tables are numbers in any layout of lines.  A setfl file is told by its fourth line, a count and
 * a name; that of a funcfl file holds numbers of a table. */
#include "core/parse/parse.h"
#include "core/parse/text.h"
#include "force/eam/eam.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* phi = 27.2 0.529 Z^2 / r: Hartree [eV] times Bohr radius [A], rounded as all readers do. */
static const double hartree_bohr = 27.2 * 0.529;

typedef struct {
  md_text text;
  int word, n_words; /* the next word of the present line, and all of them */
  int64_t n_rho, n_r;
  double d_rho, d_r;
  double *f, *rho, *pair;
} eam_file;

/* The next line, split; it must have at least so many words. */
static md_status next_line(eam_file *in, int least, const char *expected)
{
  char *line;
  MD_TRY(md_text_next(&in->text, &line));
  if (!line) return md_text_fail(&in->text, "the file ends: expected %s", expected);
  MD_TRY(md_text_split(&in->text, line, &in->n_words));
  in->word = in->n_words;
  return in->n_words >= least ? MD_OK : md_text_fail(&in->text, "expected %s", expected);
}

/* n numbers of a table. */
static md_status read_values(eam_file *in, const char *what, int64_t n, double *out)
{
  for (int64_t k = 0; k < n; k++) {
    while (in->word == in->n_words) {
      char *line;
      MD_TRY(md_text_next(&in->text, &line));
      if (!line)
        return md_text_fail(&in->text, "the file ends after %lld of %lld values of %s",
                            (long long)k, (long long)n, what);
      MD_TRY(md_text_split(&in->text, line, &in->n_words));
      in->word = 0;
    }
    MD_TRY(md_text_double(&in->text, what, in->text.words[in->word++], &out[k]));
  }
  return MD_OK;
}

/* Nothing but blank lines may follow the last table. */
static md_status read_end(eam_file *in)
{
  char *line = "";
  while (in->word == in->n_words && line) {
    MD_TRY(md_text_next(&in->text, &line));
    if (line) MD_TRY(md_text_split(&in->text, line, &in->n_words));
    in->word = 0;
    if (!line) return MD_OK;
  }
  return md_text_fail(&in->text,
                      "'%.40s' behind the last table: expected %lld values of F and twice %lld "
                      "more, as the header says",
                      in->text.words[in->word], (long long)in->n_rho, (long long)in->n_r);
}

static md_status read_grid(eam_file *in, double *cutoff)
{
  static const char expected[] = "'n_rho d_rho n_r d_r cutoff'";
  MD_TRY(next_line(in, 5, expected));
  const md_text *text = &in->text;
  char *const *word = text->words;
  MD_TRY(md_text_int64(text, "n_rho", word[0], EAM_KNOTS_LEAST, EAM_KNOTS_MOST, &in->n_rho));
  MD_TRY(md_text_double(text, "d_rho", word[1], &in->d_rho));
  MD_TRY(md_text_int64(text, "n_r", word[2], EAM_KNOTS_LEAST, EAM_KNOTS_MOST, &in->n_r));
  MD_TRY(md_text_double(text, "d_r", word[3], &in->d_r));
  MD_TRY(md_text_double(text, "cutoff", word[4], cutoff));
  if (!(in->d_rho > 0) || !(in->d_r > 0) || !(*cutoff > 0) || !isnormal(1 / in->d_rho) ||
      !isnormal(1 / in->d_r))
    return md_text_fail(text, "d_rho %g, d_r %g, cutoff %g: expected all > 0", in->d_rho, in->d_r,
                        *cutoff);
  if (*cutoff > (double)in->n_r * in->d_r)
    return md_text_fail(text, "cutoff %g: expected at most n_r d_r = %g, where the tables end",
                        *cutoff, (double)in->n_r * in->d_r);
  const int64_t values = in->n_rho + 2 * in->n_r;
  if (values > text->bytes / 2) /* a digit and a blank each */
    return md_text_fail(text, "%lld values cannot be in a file of %lld bytes", (long long)values,
                        (long long)text->bytes);
  in->f = malloc((size_t)in->n_rho * sizeof *in->f);
  in->rho = malloc((size_t)in->n_r * sizeof *in->rho);
  in->pair = malloc((size_t)in->n_r * sizeof *in->pair);
  MD_REQUIRE(in->f && in->rho && in->pair, MD_ENOMEM, "out of memory for '%s'", text->path);
  return MD_OK;
}

static md_status read_mass(eam_file *in, double *mass)
{
  MD_TRY(next_line(in, 2, "'Z mass lattice_constant lattice'"));
  MD_TRY(md_text_double(&in->text, "mass", in->text.words[1], mass));
  return *mass > 0 ? MD_OK : md_text_fail(&in->text, "expected a mass > 0, not %g", *mass);
}

static md_status read_funcfl(eam_file *in, eam_potential *out)
{
  MD_TRY(next_line(in, 0, "a comment"));
  MD_TRY(read_mass(in, &out->mass));
  MD_TRY(read_grid(in, &out->cutoff));
  MD_TRY(read_values(in, "F", in->n_rho, in->f));
  MD_TRY(read_values(in, "Z", in->n_r, in->pair));
  MD_TRY(read_values(in, "rho", in->n_r, in->rho));
  for (int64_t m = 0; m < in->n_r; m++) {
    in->pair[m] *= hartree_bohr * in->pair[m];
    if (!isfinite(in->pair[m])) return md_text_fail(&in->text, "Z: its square is not finite");
  }
  return MD_OK;
}

static md_status read_setfl(eam_file *in, eam_potential *out)
{
  int64_t elements;
  for (int k = 0; k < 3; k++)
    MD_TRY(next_line(in, 0, "a comment"));
  MD_TRY(next_line(in, 2, "'1 NAME'"));
  MD_TRY(md_text_int64(&in->text, "elements", in->text.words[0], 1, INT32_MAX, &elements));
  if (elements > 1)
    return md_text_fail(&in->text, "%lld elements: expected 1, others are not supported",
                        (long long)elements);
  const char *name = in->text.words[1];
  if (strlen(name) >= sizeof out->element)
    return md_text_fail(&in->text, "'%.40s': expected the name of an element", name);
  strcpy(out->element, name);
  MD_TRY(read_grid(in, &out->cutoff));
  MD_TRY(read_mass(in, &out->mass));
  MD_TRY(read_values(in, "F", in->n_rho, in->f));
  MD_TRY(read_values(in, "rho", in->n_r, in->rho));
  return read_values(in, "r phi", in->n_r, in->pair);
}

/* Whether the fourth line holds a count and names. */
static md_status find_setfl(eam_file *in, bool *setfl)
{
  char *line = "";
  double number;
  for (int k = 0; k < 4 && line; k++)
    MD_TRY(md_text_next(&in->text, &line));
  in->n_words = 0;
  if (line) MD_TRY(md_text_split(&in->text, line, &in->n_words));
  char *const *word = in->text.words;
  *setfl = in->n_words > 1 && word[0][strspn(word[0], "0123456789")] == '\0' &&
           md_parse_double(word[1], &number) != MD_OK;
  md_text_rewind(&in->text);
  return MD_OK;
}

static md_status read_tables(eam_file *in, eam_potential *out)
{
  bool setfl;
  MD_TRY(find_setfl(in, &setfl));
  MD_TRY((setfl ? read_setfl : read_funcfl)(in, out));
  MD_TRY(read_end(in));
  MD_TRY(eam_curve_make(in->f, in->n_rho, in->d_rho, &out->embed));
  MD_TRY(eam_curve_make(in->rho, in->n_r, in->d_r, &out->density));
  return eam_curve_make(in->pair, in->n_r, in->d_r, &out->pair);
}

md_status eam_read(const char *path, eam_potential *out)
{
  eam_file in = {0};
  *out = (eam_potential){0};
  MD_TRY(md_text_open(path, &in.text));
  const md_status status = read_tables(&in, out);
  md_text_close(&in.text);
  free(in.f);
  free(in.rho);
  free(in.pair);
  if (status) eam_free(out);
  return status;
}
