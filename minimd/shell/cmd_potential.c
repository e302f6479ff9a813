/* minimd/shell/cmd_potential.c - `minimd potential`: an EAM potential of copper from published
 * parameters, as a setfl file.
 *
 * Cleri and Rosato, Phys. Rev. B 48:22 (1993), second-moment tight binding:
 *     E_i = sum_j A exp(-p (r_ij / r_0 - 1)) - xi sqrt(sum_j exp(-2 q (r_ij / r_0 - 1)))
 * Both sums are switched off over the last 0.9 A before the cutoff by 1 - t^3 (10 - 15 t + 6 t^2),
 * which keeps forces and their slopes continuous. */
#include "core/output/output.h"
#include "minimd/shell/commands.h"
#include "minimd/shell/options.h"

#include <inttypes.h>
#include <math.h>

enum { KNOTS, CUTOFF, OUTPUT, N_OPTIONS };

/* Copper: energies [eV], lattice constant [A], and how far the table of F goes: four times the
 * density of the perfect crystal. */
static const double a_repulsion = 0.0855, xi = 1.224, p = 10.960, q = 2.278, a_lattice = 3.615;
static const double most_density = 60, switch_length = 0.9;

static double switch_at(double r, double cutoff)
{
  const double t = (r - (cutoff - switch_length)) / switch_length;
  if (t <= 0) return 1;
  return t >= 1 ? 0 : 1 - t * t * t * (10 - 15 * t + 6 * t * t);
}

static double density(double r, double cutoff)
{
  const double r_0 = a_lattice / sqrt(2);
  return exp(-2 * q * (r / r_0 - 1)) * switch_at(r, cutoff);
}

static double pair(double r, double cutoff)
{
  const double r_0 = a_lattice / sqrt(2);
  return 2 * a_repulsion * exp(-p * (r / r_0 - 1)) * switch_at(r, cutoff);
}

/* Five numbers a line. */
static void print_value(FILE *to, int64_t *n, double value)
{
  fprintf(to, "%.16e%c", value, ++*n % 5 ? ' ' : '\n');
}

static void print_setfl(FILE *to, int64_t knots, double cutoff)
{
  const double d_r = cutoff / (double)(knots - 1), d_rho = most_density / (double)(knots - 1);
  int64_t n = 0;
  fprintf(to,
          "copper after Cleri and Rosato, Phys. Rev. B 48:22 (1993), cutoff %g\n"
          "made by `minimd potential` from the published parameters\n"
          "units metal: eV, Angstrom\n"
          "1 Cu\n"
          "%" PRId64 " %.17g %" PRId64 " %.17g %.17g\n"
          "29 63.55 %g fcc\n",
          cutoff, knots, d_rho, knots, d_r, cutoff, a_lattice);
  for (int64_t k = 0; k < knots; k++)
    print_value(to, &n, -xi * sqrt((double)k * d_rho));
  for (int64_t k = 0; k < knots; k++)
    print_value(to, &n, density((double)k * d_r, cutoff));
  for (int64_t k = 0; k < knots; k++)
    print_value(to, &n, (double)k * d_r * pair((double)k * d_r, cutoff));
  if (n % 5) fputc('\n', to);
}

md_status cmd_potential(int argc, char **argv)
{
  static const option table[N_OPTIONS] = {
      [KNOTS] = {"knots", 0, "N", "of each of the three tables (2000)"},
      [CUTOFF] = {"cutoff", 0, "X", "where interactions end, in Angstrom (4.95)"},
      [OUTPUT] = OPTION_OUTPUT};
  options opts;
  int64_t knots = 2000;
  double cutoff = 4.95;
  md_status status = options_parse(table, N_OPTIONS, argc, argv, &opts);
  if (!status && opts.help) {
    options_help(stdout, "minimd potential [-o FILE]",
                 "An EAM potential of copper from published parameters, as a setfl file for\n"
                 "--potential.",
                 table, N_OPTIONS);
    options_free(&opts);
    return MD_OK;
  }
  if (!status) status = options_integer(&opts, KNOTS, 10, 1000000, &knots);
  if (!status) status = options_number(&opts, CUTOFF, 2, 20, &cutoff);
  md_output out = {0};
  if (!status) status = md_output_open(options_value(&opts, OUTPUT), &out);
  options_free(&opts);
  if (status) return status;
  print_setfl(out.stream, knots, cutoff);
  return md_output_close(&out);
}
