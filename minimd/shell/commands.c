/* minimd/shell/commands.c - the table of sub-commands. */
#include "minimd/shell/commands.h"
#include "core/parse/parse.h"

#include <string.h>

static const command table[] = {
    {"run", cmd_run, "molecular dynamics (the default)", {0}},
    {"ordering", cmd_ordering, "index tables, stencils and memory offsets of orderings", {0}},
    {"cachemodel",
     cmd_cachemodel,
     "cache misses of sweeps, force kernels and traces, by ordering",
     {"--machine=h200", "--trace=FILE"}},
    {"compare", cmd_compare, "the same run under each ordering: times, locality, ranking", {0}},
    {"tune", cmd_tune, "the fastest settings for a system on this machine", {0}},
    {"spread", cmd_spread, "charges of particles onto a mesh, by every method of [Guo]", {0}},
    {"stokes", cmd_stokes, "Stokesian dynamics of spheres in a viscous fluid", {0}},
    {"gspmv", cmd_gspmv, "products of a block matrix with many vectors", {0}},
    {"mobility", cmd_mobility, "velocities of spheres from forces, at any distance", {0}},
    {"pack", cmd_pack, "periodic packings of spheres", {0}},
    {"potential", cmd_potential, "an EAM potential of copper, as a setfl file", {0}},
    {"profile", cmd_profile, "hardware counters of the force kernel beside the model", {0}},
    {"config", cmd_config, "list every setting", {0}},
    {"convert", cmd_convert, "write any readable input as libconfig, its atoms as text", {0}},
    {"info", cmd_info, "what this build and this machine can do", {0}},
    {"help", cmd_help, "what a command is for, and its options", {0}},
    {"docs", cmd_docs, "manual page, completion for shells and reference, from these tables", {0}},
};
enum { N_COMMANDS = sizeof table / sizeof *table };

int commands(const command **out)
{
  *out = table;
  return N_COMMANDS;
}

bool command_has_ranks(const command *of)
{
  return of->function == cmd_run || of->function == cmd_compare || of->function == cmd_gspmv ||
         of->function == cmd_stokes;
}

md_status command_find(const char *name, const command **out)
{
  const char *names[N_COMMANDS];
  for (int k = 0; k < N_COMMANDS; k++)
    names[k] = table[k].name;
  const int found = md_word_index(name, names, N_COMMANDS);
  if (found >= 0) {
    *out = &table[found];
    return MD_OK;
  }
  const char *near = md_nearest(name, names, N_COMMANDS);
  if (near) return MD_FAIL(MD_EINVAL, "unknown command '%.60s'; did you mean '%s'?", name, near);
  return MD_FAIL(MD_EINVAL, "unknown command '%.60s'; see --help", name);
}
