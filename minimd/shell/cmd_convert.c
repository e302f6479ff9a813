/* minimd/shell/cmd_convert.c - `minimd convert`: any readable input, written as libconfig; or the
 * atoms that a run of it starts from, for other programs, along any curve. */
#include "core/output/output.h"
#include "engine/system/system.h"
#include "minimd/run/atoms_text.h"
#include "minimd/shell/commands.h"
#include "minimd/shell/memory.h"
#include "minimd/shell/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONVERT_FORMATS(X) X(LIBCONFIG, "libconfig") X(DATA, "data") X(XYZ, "xyz")
#define MD_ENUM_(name, word) TO_##name,
enum { CONVERT_FORMATS(MD_ENUM_) N_FORMATS };
#undef MD_ENUM_
#define WORD_(name, word) word,
static const char *const formats[N_FORMATS] = {CONVERT_FORMATS(WORD_)};
#undef WORD_

enum { OUTPUT = SETTINGS_COUNT, TO, N_OPTIONS };

/* order: the atoms along the curve, through cells of one to eight of them. */
static md_status sort(const engine_spec *spec, const system_state *state, int64_t *order)
{
  const ordering_particles atoms = {.lo = {state->box.lo[0], state->box.lo[1], state->box.lo[2]},
                                    .hi = {state->box.hi[0], state->box.hi[1], state->box.hi[2]},
                                    .n = state->n,
                                    .x = state->x,
                                    .stride = 3};
  int32_t *place = malloc(((size_t)state->n + 1) * sizeof *place);
  md_ctx *ctx = NULL;
  ordering_sorter *sorter = NULL;
  md_status status = place ? MD_OK : MD_FAIL(MD_ENOMEM, "out of memory for an order of atoms");
  if (!status) status = md_ctx_create(&(md_ctx_spec){MD_CPU, MD_DOUBLE, spec->threads, true}, &ctx);
  if (!status) status = ordering_sorter_create(ctx, &sorter);
  if (!status) status = ordering_sort_particles(sorter, &spec->curve, &atoms, place);
  for (int64_t k = 0; k < state->n && !status; k++)
    order[k] = place[k];
  ordering_sorter_destroy(sorter);
  md_ctx_destroy(ctx);
  free(place);
  return status;
}

/* Position, velocity, charge, id, images and type; keys and places of a sort. */
enum { ATOM_BYTES = 24 + 24 + 8 + 8 + 12 + 1 + 20 };

static md_status write_atoms(const engine_spec *spec, int format, bool sorted, FILE *stream)
{
  int64_t n;
  md_box box;
  system_state state;
  MD_TRY(system_size(spec, &n, &box));
  MD_TRY(memory_announce("a system of so many atoms", (double)n * ATOM_BYTES, true));
  MD_TRY(system_create(spec, &state));
  int64_t *order = sorted ? malloc(((size_t)state.n + 1) * sizeof *order) : NULL;
  md_status status = MD_OK;
  if (sorted) status = order ? sort(spec, &state, order) : MD_FAIL(MD_ENOMEM, "out of memory");
  const atoms_text atoms = {.spec = spec,
                            .box = state.box,
                            .n = state.n,
                            .x = state.x,
                            .v = state.v,
                            .q = state.q,
                            .type = state.type,
                            .id = state.id,
                            .image = state.image,
                            .mass = state.mass};
  if (!status) (format == TO_DATA ? atoms_text_data : atoms_text_xyz)(&atoms, order, stream);
  free(order);
  system_state_free(&state);
  return status;
}

/* An order on the command line is that of the file; an input's own is that of its runs. */
static bool is_asked(const config *cfg)
{
  return strncmp(config_origin(cfg, "order.curve"), "--", 2) == 0;
}

static md_status convert(const options *opts, config *cfg)
{
  int format = TO_LIBCONFIG;
  md_output out;
  MD_TRY(options_word(opts, TO, formats, N_FORMATS, &format));
  const md_status read = settings_read(cfg, opts, 0);
  for (int k = 0; config_warning(cfg, k); k++)
    fprintf(stderr, "minimd: warning: %s\n", config_warning(cfg, k));
  MD_TRY(read);
  MD_TRY(md_output_open(options_value(opts, OUTPUT), &out));
  md_status status = MD_OK;
  if (format == TO_LIBCONFIG)
    config_write(cfg, out.stream);
  else
    status = write_atoms(config_get(cfg), format, is_asked(cfg), out.stream);
  if (!status) return md_output_close(&out);
  md_output_discard(&out);
  return status;
}

md_status cmd_convert(int argc, char **argv)
{
  option table[N_OPTIONS];
  settings_table(table);
  table[OUTPUT] = (option)OPTION_OUTPUT;
  table[TO] = (option){"to", 0, "libconfig|data|xyz",
                       "settings as libconfig (default), or the atoms that a run starts from as\n"
                       "LAMMPS data or extended XYZ, along the curve of --order where it is given"};
  options opts;
  config *cfg = NULL;
  md_status status = options_parse(table, N_OPTIONS, argc, argv, &opts);
  if (!status && opts.help) {
    options_help(stdout, "minimd convert [-i FILE] [--to FORMAT] [-o FILE] [options]",
                 "Write any readable input, with --set and options applied, as libconfig, or its "
                 "atoms for other programs.",
                 table, N_OPTIONS);
    options_free(&opts);
    return MD_OK;
  }
  if (!status) status = config_create(&cfg);
  if (!status) status = convert(&opts, cfg);
  config_destroy(cfg);
  options_free(&opts);
  return status;
}
