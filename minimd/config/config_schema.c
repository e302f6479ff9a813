/* minimd/config/config_schema.c - the table of settings.
 *
 * A row holds what is printed about a key and the rule that makes a value of text.  A range is
 * written once: the text shown is made of the same tokens as the numbers checked. */
#include "minimd/config/config_impl.h"
#include "core/parse/parse.h"

#include <stdlib.h>
#include <string.h>

#define WORD_(name, word) word,
static const char *const lattice_words[] = {ENGINE_LATTICES(WORD_)};
static const char *const velocity_words[] = {ENGINE_VELOCITIES(WORD_)};
static const char *const coulomb_words[] = {ENGINE_COULOMBS(WORD_)};
static const char *const units_words[] = {ENGINE_UNITS(WORD_)};
static const char *const pair_words[] = {ENGINE_PAIRS(WORD_)};
static const char *const mix_words[] = {FORCE_MIXES(WORD_)};
static const char *const backend_words[] = {ENGINE_BACKENDS(WORD_)};
const char *const config_format_words[CONFIG_FORMAT_COUNT] = {CONFIG_FORMATS(WORD_)};
#undef WORD_

/* "one | two | three" of an X-macro list. */
#define BAR_WORD_(name, word) " | " word
#define BAR_CURVE_(name, word, ...) " | " word
#define CHOICE(list) (&list(BAR_WORD_)[3])

#define STRING_(text) #text
#define STRING(text) STRING_(text)
#define CONFIG_BINS_RANGE STRING(CONFIG_BINS_LEAST) ".." STRING(CONFIG_BINS_MOST)

#define FIELD(field) offsetof(config_values, field), sizeof(((config_values *)0)->field)
#define RULE(...)                                                                                  \
  &(const config_rule)                                                                             \
  {                                                                                                \
    __VA_ARGS__                                                                                    \
  }

#define INTEGER(key, field, unit, min, max, fallback, help)                                        \
  {                                                                                                \
    key, "integer", unit, #min ".." #max, fallback, help,                                          \
        RULE(CONFIG_INTEGER, FIELD(field), min, max, false, NULL, 0, NULL, 0)                      \
  }
#define COUNT(key, field, unit, min, max, fallback, help)                                          \
  {                                                                                                \
    key, "integer", unit, #min ".." #max, fallback, help,                                          \
        RULE(CONFIG_COUNT, FIELD(field), min, max, false, NULL, 0, NULL, 0)                        \
  }
#define INTEGER_OR(key, field, unit, min, max, word, meaning, fallback, help)                      \
  {                                                                                                \
    key, "integer", unit, #min ".." #max " | " word, fallback, help,                               \
        RULE(CONFIG_INTEGER, FIELD(field), min, max, false, word, meaning, NULL, 0)                \
  }
#define REAL_FROM(key, field, unit, min, max, fallback, help)                                      \
  {                                                                                                \
    key, "real", unit, ">= " #min " and <= " #max, fallback, help,                                 \
        RULE(CONFIG_REAL, FIELD(field), min, max, false, NULL, 0, NULL, 0)                         \
  }
#define REAL_OR(key, field, unit, min, max, word, meaning, fallback, help)                         \
  {                                                                                                \
    key, "real", unit, ">= " #min " and <= " #max " | " word, fallback, help,                      \
        RULE(CONFIG_REAL, FIELD(field), min, max, false, word, meaning, NULL, 0)                   \
  }
#define REAL_ABOVE(key, field, unit, min, max, fallback, help)                                     \
  {                                                                                                \
    key, "real", unit, "> " #min " and <= " #max, fallback, help,                                  \
        RULE(CONFIG_REAL, FIELD(field), min, max, true, NULL, 0, NULL, 0)                          \
  }
#define WORD(key, field, list, words, count, fallback, help)                                       \
  {                                                                                                \
    key, "word", "", CHOICE(list), fallback, help,                                                 \
        RULE(CONFIG_WORD, FIELD(field), 0, 0, false, NULL, 0, words, count)                        \
  }
#define WORD_HELP(key, field, list, words, count, fallback, help)                                  \
  {                                                                                                \
    key, "word", "", (&list(BAR_CURVE_)[3]), fallback, help,                                       \
        RULE(CONFIG_WORD, FIELD(field), 0, 0, false, NULL, 0, words, count)                        \
  }
#define WORD_OR(key, field, list, words, count, word, meaning, fallback, help)                     \
  {                                                                                                \
    key, "word", "", word BAR(list), fallback, help,                                               \
        RULE(CONFIG_WORD, FIELD(field), 0, 0, false, word, meaning, words, count)                  \
  }
#define BAR(list) list(BAR_WORD_)
#define FLAG(key, field, fallback, help)                                                           \
  {                                                                                                \
    key, "boolean", "", "true | false", fallback, help,                                            \
        RULE(CONFIG_FLAG, FIELD(field), 0, 0, false, NULL, 0, NULL, 0)                             \
  }
#define CELLS(key, field, unit, min, max, fallback, help)                                          \
  {                                                                                                \
    key, "integer or list of 3", unit, #min ".." #max, fallback, help,                             \
        RULE(CONFIG_CELLS, FIELD(field), min, max, false, NULL, 0, NULL, 0)                        \
  }
#define BINS(key, field, unit, min, max, fallback, help)                                           \
  {                                                                                                \
    key, "real or \"/N\"", unit, "> " #min " and <= " #max " | /N with N in " CONFIG_BINS_RANGE,   \
        fallback, help, RULE(CONFIG_BINS, FIELD(field), min, max, true, NULL, 0, NULL, 0)          \
  }
#define CURVE(key, field, list, fallback, help)                                                    \
  {                                                                                                \
    key, "ordering", "", (&list(BAR_CURVE_)[3]), fallback, help,                                   \
        RULE(CONFIG_CURVE, FIELD(field), 0, 0, false, NULL, 0, NULL, 0)                            \
  }
#define PATH(key, field, fallback, help)                                                           \
  {                                                                                                \
    key, "string", "", "a file name", fallback, help,                                              \
        RULE(CONFIG_PATH, FIELD(field), 0, 0, false, NULL, 0, NULL, 0)                             \
  }
#define TARGET(key, field, fallback, help)                                                         \
  {                                                                                                \
    key, "string", "", "a file name", fallback, help,                                              \
        RULE(CONFIG_TARGET, FIELD(field), 0, 0, false, NULL, 0, NULL, 0)                           \
  }

#define RECORDS(key, field, form, help)                                                            \
  {                                                                                                \
    key, "list of groups", "", form, "( )", help,                                                  \
        RULE(CONFIG_RECORDS, FIELD(field), 0, 0, false, NULL, 0, NULL, 0)                          \
  }

static const config_entry table[] = {
    WORD("system.units", engine.units, ENGINE_UNITS, units_words, ENGINE_UNITS_COUNT, "lj",
         "lj: reduced; metal: eV, Angstrom, ps, g/mol, K and bar, as LAMMPS has them"),
    WORD("system.lattice", engine.lattice, ENGINE_LATTICES, lattice_words, ENGINE_LATTICE_COUNT,
         "fcc",
         "lattice that fills the box; of two species each has a sublattice of nacl, cscl and zns"),
    CELLS("system.cells", engine.cells, "", 1, 100000, "20", "unit cells along x, y and z"),
    REAL_FROM("system.lattice_constant", engine.lattice_constant, "length", 0, 1e6, "0",
              "edge of a unit cell; 0: from system.density"),
    REAL_ABOVE("system.density", engine.density, "1/length^3", 0, 1e9, "0.8442",
               "atoms per volume"),
    REAL_FROM("system.temperature", engine.temperature, "energy/k_B", 0, 1e9, "1.44",
              "of the initial velocities; units metal: K"),
    INTEGER("system.seed", engine.seed, "", 1, 2147483647, "87287",
            "of the initial velocities (lammps generator)"),
    WORD("system.velocity", engine.velocity, ENGINE_VELOCITIES, velocity_words,
         ENGINE_VELOCITY_COUNT, "lammps",
         "generator of the initial velocities; minimd needs lattice fcc"),
    REAL_ABOVE("system.mass", engine.mass, "mass", 0, 1e9, "1", "of every atom"),
    REAL_FROM("system.charges", engine.charges, "sqrt(energy length)", 0, 1e6, "0",
              "of the two kinds of sites of lattice nacl, cscl or zns: + and - this"),
    PATH("system.read", engine.read, "",
         "LAMMPS data file or extended XYZ to start from in place of a lattice; relative to the "
         "input file"),
    FLAG("system.keep_velocities", engine.keep_velocities, "true",
         "use the velocities of system.read where it has some"),
    RECORDS(
        "species", kinds.species,
        "( { name = \"A\"; mass = 1; charge = 0; fraction = 0.5; }, ... )",
        "kinds of atoms, up to 64, in place of system.mass and system.charges; fraction: of the "
        "sites of a lattice, alike where none is given; without any, those of a data file"),
    WORD("potential.style", engine.pair, ENGINE_PAIRS, pair_words, ENGINE_PAIR_COUNT, "lj",
         "forces between atoms: Lennard-Jones, or embedded atoms by the tables of potential.file"),
    PATH("potential.file", engine.potential, "",
         "funcfl or setfl file of one element, for style eam; relative to the input file"),
    REAL_ABOVE("lj.epsilon", engine.epsilon, "energy", 0, 1e9, "1", "depth of the potential"),
    REAL_ABOVE("lj.sigma", engine.sigma, "length", 0, 1e6, "1",
               "distance where the potential is 0"),
    REAL_ABOVE("lj.cutoff", engine.cutoff, "length", 0, 1e6, "2.5",
               "pairs further apart do not interact"),
    WORD("lj.shift", engine.shift, FORCE_SHIFTS, force_shift_words, FORCE_SHIFT_COUNT, "none",
         "what vanishes at the cutoff: nothing, the energy, or energy and force"),
    RECORDS(
        "lj.pairs", kinds.pairs,
        "( { types = [ \"A\", \"B\" ]; epsilon = 1; sigma = 1; cutoff = 2.5; }, ... )",
        "constants of two species, or of one with itself; else those of lj.epsilon, lj.sigma and "
        "lj.cutoff for one, and mixed for two"),
    WORD("lj.mix", kinds.mix, FORCE_MIXES, mix_words, FORCE_MIX_COUNT, "geometric",
         "of two species that lj.pairs does not name: sqrt(e_i e_j) for epsilon; the geometric or "
         "arithmetic mean of their sigmas and of their cutoffs"),
    WORD("coulomb.method", engine.coulomb, ENGINE_COULOMBS, coulomb_words, ENGINE_COULOMB_COUNT,
         "none", "forces between charges; none: charges have no effect"),
    CELLS("coulomb.mesh", engine.mesh, "", 0, 65536, "0",
          "mesh points along x, y and z; 0: the coarsest that meets coulomb.tolerance"),
    INTEGER("coulomb.order", engine.spline_order, "", 3, 10, "6", "of the B-splines"),
    REAL_FROM("coulomb.alpha", engine.alpha, "1/length", 0, 1e6, "0",
              "splits real and reciprocal space; 0: the smallest that meets coulomb.tolerance"),
    REAL_FROM("coulomb.cutoff", engine.coulomb_cutoff, "length", 0, 1e6, "0",
              "of the real-space part; 0: lj.cutoff"),
    REAL_ABOVE("coulomb.tolerance", engine.tolerance, "energy/length", 0, 1e9, "1e-3",
               "root mean square error of forces to aim at, for what is to be chosen"),
    WORD_HELP("coulomb.spread", engine.spread, SPREAD_METHODS, spread_method_words,
              SPREAD_METHOD_COUNT, "auto", "how charges are spread onto the mesh"),
    REAL_OR("neighbor.skin", engine.skin, "length", 0, 1e6, "auto", -1, "0.3",
            "list radius beyond the cutoff; auto, with check: the fastest of a few, measured"),
    INTEGER_OR("neighbor.every", engine.every, "steps", 1, 2147483647, "check", 0, "20",
               "between list builds; check: when an atom moved half the skin, the default of "
               "libconfig inputs"),
    WORD_OR("neighbor.list", engine.list, NEIGHBOR_LISTS, neighbor_list_words, NEIGHBOR_LIST_COUNT,
            "auto", -1, "auto", "kind of neighbour list; auto: chosen, with the reason printed"),
    WORD("neighbor.stencil", engine.stencil, NEIGHBOR_STENCILS, neighbor_stencil_words,
         NEIGHBOR_STENCIL_COUNT, "sphere", "bins searched around a bin"),
    BINS("neighbor.bin_size", engine.bin_size, "length", 0, 1e6, "/2",
         "edge of a bin; /N: N bins per cutoff + skin; tiles of up to 2^18 atoms along a "
         "Hilbert or Morton curve: the nearest power of two of bins, of more atoms never one bin "
         "more than a multiple of four"),
    FLAG("neighbor.newton", engine.newton, "true",
         "half lists: compute each pair across a ghost once, not twice (ranks on GPUs: twice)"),
    CURVE("order.curve", engine.curve, ORDERINGS, "hilbert",
          "order of bins, and so of atoms, in memory; hybrid:OUTER/INNER:T"),
    INTEGER_OR("order.sort_every", engine.sort_every, "steps", 0, 2147483647, "rebuild", -1,
               "rebuild",
               "between sorts, a multiple of neighbor.every; 0: never; rebuild: at every list "
               "build"),
    COUNT("run.steps", engine.steps, "steps", 0, 1000000000000, "100",
          "time steps; 1e6 is an integer here"),
    REAL_ABOVE("run.dt", engine.dt, "time", 0, 1e3, "0.005", "length of a time step"),
    INTEGER("run.thermo", output.thermo, "steps", 0, 2147483647, "0",
            "between thermo lines; 0: first and last step only"),
    WORD("device.backend", engine.backend, ENGINE_BACKENDS, backend_words, ENGINE_BACKEND_COUNT,
         "auto", "where to compute; auto: the GPU if there is one"),
    INTEGER_OR("device.index", engine.index, "", 0, 1023, "first", -1, "first",
               "CUDA device, as CUDA counts them; without meaning on the CPU"),
    WORD("device.precision", engine.precision, MD_PRECISIONS, md_precision_words,
         MD_PRECISION_COUNT, "double", "number types; mixed: pairs in single, the rest in double"),
    INTEGER_OR("device.threads", engine.threads, "", 1, 1024, "all", 0, "all", "OpenMP threads"),
    INTEGER_OR("device.block_size", engine.block_size, "threads", 32, 1024, "tuned", 0, "tuned",
               "of a block of the force kernel, a multiple of 32"),
    INTEGER_OR("device.carveout", engine.carveout, "percent", 1, 100, "auto", 0, "auto",
               "of the GPU's greatest shared memory that the force kernel sets apart from the L1"),
    FLAG("device.deterministic", engine.deterministic, "false",
         "bit-identical reruns on the same machine"),
    WORD("device.cut", engine.cut, PARTITION_CUTS, partition_cut_words, PARTITION_CUT_COUNT, "auto",
         "how several ranks (mpirun) share the box; auto: curve or bricks, whichever costs less"),
    WORD("device.carrier", engine.carrier, COMM_CARRIERS, comm_carrier_words, COMM_CARRIER_COUNT,
         "auto", "how positions come to other ranks"),
    FLAG("device.share_gpu", engine.share_gpu, "false", "several ranks on one GPU, for tests"),
    TARGET("output.dump", output.dump, "", "trajectory: .xyz (extended XYZ), .lammpstrj or .dcd"),
    INTEGER("output.dump_every", output.dump_every, "steps", 0, 2147483647, "0",
            "frames are of multiples of so many steps; 0: of the first and last step only"),
    TARGET("output.checkpoint", output.checkpoint, "",
           "state to restart from exactly; the one before stays as FILE.prev"),
    INTEGER("output.checkpoint_every", output.checkpoint_every, "steps", 0, 2147483647, "0",
            "between checkpoints; 0: at the end only"),
};
enum { N_KEYS = sizeof table / sizeof *table };

int config_entries(const config_entry **out)
{
  *out = table;
  return N_KEYS;
}

/* The part of a key behind the dot. */
static const char *short_name(const char *key)
{
  const char *dot = strrchr(key, '.');
  return dot ? dot + 1 : key;
}

md_status config_find(const char *key, const config_entry **out)
{
  const char *names[N_KEYS], *shorts[N_KEYS];
  for (int k = 0; k < N_KEYS; k++) {
    names[k] = table[k].key;
    shorts[k] = short_name(names[k]);
  }
  const int found = md_word_index(key, names, N_KEYS);
  if (found >= 0) {
    *out = &table[found];
    return MD_OK;
  }
  const char *near = md_nearest(key, names, N_KEYS);
  if (!near) near = md_nearest(short_name(key), shorts, N_KEYS);
  for (int k = 0; near && k < N_KEYS; k++)
    if (near == shorts[k]) near = names[k];
  if (near) return MD_FAIL(MD_EINVAL, "unknown key '%.60s'; did you mean '%s'?", key, near);
  return MD_FAIL(MD_EINVAL, "unknown key '%.60s'; `minimd config --list` prints all", key);
}
