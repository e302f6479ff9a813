/* minimd/locality/locality.c - see locality.h. */
#include "minimd/locality/locality.h"
#include "minimd/shell/settings.h"

#include <math.h>
#include <string.h>

enum { ROWS_MOST = 1 << 22 };

list_input locality_input(const engine *sim)
{
  const engine_spec *spec = sim->spec;
  const list_reads reads = spec->pair == ENGINE_PAIR_EAM ? LIST_EMBEDDED
                           : engine_pair_kinds(spec) > 1 ? LIST_TYPED
                                                         : LIST_ALIKE;
  const double r_cut = spec->eam ? spec->eam->cutoff : spec->cutoff;
  const double *of_pairs = reads == LIST_TYPED ? &spec->types->pairs->r_cut : NULL;
  return (list_input){.atoms = sim->atoms,
                      .list = sim->list,
                      .r_cut = r_cut,
                      .reads = reads,
                      .cutoff = of_pairs,
                      .step = (int32_t)(sizeof(force_lj) / sizeof(double))};
}

md_status locality_choose(config *cfg, engine_choice *out)
{
  MD_REQUIRE(
      config_get(cfg)->list != NEIGHBOR_TILE, MD_EINVAL,
      "%s: the kernel for lists by tiles reads coordinates from shared memory and has no trace "
      "of its own: use a full or half list",
      config_origin(cfg, "neighbor.list"));
  MD_TRY(engine_choose(config_get(cfg), INT64_MAX, NULL, out)); /* lists of few are full anyway */
  if (out->list != NEIGHBOR_TILE) return MD_OK;
  MD_TRY(config_set(cfg, "neighbor.list", neighbor_list_words[NEIGHBOR_FULL], "the trace"));
  return engine_choose(config_get(cfg), 0, NULL, out);
}

/* Whether a GPU has the kernel that is made from the CPU's list. */
static md_status check_translated(const config *cfg, neighbor_kind kind)
{
  MD_REQUIRE(config_get(cfg)->pair == ENGINE_PAIR_LJ || kind == NEIGHBOR_FULL, MD_EINVAL,
             "%s: neighbor.list = \"%s\": a GPU has no kernel for embedded atoms and half lists: "
             "expected \"full\"",
             config_origin(cfg, "neighbor.list"), neighbor_list_words[kind]);
  return MD_OK;
}

static md_status configure(const options *opts, unsigned lists, const char *order, const char *list,
                           machine_kind kind, bool one_thread, locality_run *run)
{
  MD_TRY(config_create(&run->cfg));
  MD_TRY(settings_read(run->cfg, opts, lists));
  MD_TRY(config_set(run->cfg, "order.curve", order, "--order"));
  if (list) MD_TRY(config_set(run->cfg, "neighbor.list", list, "--list"));
  if (one_thread) MD_TRY(config_set(run->cfg, "device.threads", "1", "the model"));
  engine_choice choice;
  MD_TRY(locality_choose(run->cfg, &choice));
  run->kind = choice.list;
  if (kind == MACHINE_GPU && choice.backend == MD_GPU) return config_check(run->cfg);
  run->translated = kind == MACHINE_GPU;
  if (run->translated) MD_TRY(check_translated(run->cfg, run->kind));
  const neighbor_kind built = run->translated ? NEIGHBOR_FULL : run->kind;
  MD_TRY(config_set(run->cfg, "device.backend", "cpu", "the model"));
  MD_TRY(config_set(run->cfg, "neighbor.list", neighbor_list_words[built], "the model"));
  return config_check(run->cfg);
}

md_status locality_check(const options *opts, unsigned lists, const char *order, const char *list,
                         machine_kind kind)
{
  locality_run run = {0};
  const md_status status = configure(opts, lists, order, list, kind, false, &run);
  config_destroy(run.cfg);
  return status;
}

/* A translated list is put into the bins that atoms and ghosts were in when it was built. */
static md_status keep_built(locality_run *run)
{
  const md_atoms *atoms = run->sim->atoms;
  if (!run->translated || run->sim->rebuilt_at != run->sim->step) return MD_OK;
  const size_t bytes =
      (size_t)(atoms->n + atoms->n_ghost) * 4 * md_state_size(atoms->ctx->precision);
  MD_TRY(md_buffer_reserve(atoms->ctx, &run->built, bytes, 0));
  memcpy(run->built.data, neighbor_list_positions(run->sim->list, atoms), bytes);
  return MD_OK;
}

md_status locality_begin(const options *opts, unsigned lists, const char *order, const char *list,
                         machine_kind kind, bool one_thread, locality_run *out)
{
  *out = (locality_run){0};
  md_status status = configure(opts, lists, order, list, kind, one_thread, out);
  if (!status) status = engine_create(config_get(out->cfg), &out->sim);
  if (!status) status = keep_built(out);
  if (status) locality_close(out);
  return status;
}

md_status locality_advance(locality_run *run, int64_t step)
{
  while (run->sim->step < step) {
    MD_TRY(engine_step(run->sim, false));
    MD_TRY(keep_built(run));
  }
  return MD_OK;
}

md_status locality_open(const options *opts, unsigned lists, const char *order, const char *list,
                        machine_kind kind, bool one_thread, locality_run *out)
{
  MD_TRY(locality_begin(opts, lists, order, list, kind, one_thread, out));
  const md_status status = locality_advance(out, config_get(out->cfg)->steps);
  if (status) locality_close(out);
  return status;
}

void locality_close(locality_run *run)
{
  if (run->sim) md_buffer_free(run->sim->ctx, &run->built);
  engine_destroy(run->sim);
  config_destroy(run->cfg);
  *run = (locality_run){0};
}

md_status locality_model(const locality_run *run, const machine *m, const hierarchy_options *model,
                         hierarchy_result *cold, hierarchy_result *warm)
{
  list_input in = locality_input(run->sim);
  hierarchy_options chosen = *model;
  list_kernel kernel;
  if (chosen.block_size == 0) chosen.block_size = run->sim->spec->block_size;
  in.built = run->built.data;
  if (run->translated)
    MD_TRY(list_kernel_gpu(&in, run->kind, run->sim->spec->newton, &kernel));
  else
    MD_TRY(list_kernel_of(&in, &kernel));
  return hierarchy_run(&in, &kernel, m, &chosen, cold, warm);
}

/* The machine that an engine runs on. */
static md_status own_machine(const engine *sim, machine *out)
{
  if (sim->ctx->backend == MD_CPU) return machine_find("host", out);
  md_gpu_info info;
  MD_TRY(md_gpu_describe(&info));
  machine_gpu(&info, out);
  return MD_OK;
}

static md_status model_own(const engine *sim, const list_input *in,
                           double figure[LOCALITY_FIGURE_COUNT])
{
  machine m;
  list_kernel kernel;
  hierarchy_result result;
  hierarchy_options chosen = hierarchy_default();
  chosen.rows = ROWS_MOST;
  chosen.block_size = sim->spec->block_size;
  if (own_machine(sim, &m)) return MD_OK; /* the figures stay NaN */
  MD_TRY(list_kernel_of(in, &kernel));
  MD_TRY(hierarchy_run(in, &kernel, &m, &chosen, &result, NULL));
  const hierarchy_counts *nc = &result.stream[TRACE_NC], all = hierarchy_total(&result);
  for (int k = 0; k < 2 && k < m.n_levels; k++)
    if (nc->level[k].sectors > 0)
      figure[LOCALITY_L1_HIT + k] = (double)nc->level[k].hits / (double)nc->level[k].sectors;
  figure[LOCALITY_MEMORY] = (double)all.memory_read * m.level[0].sector / (double)result.rows;
  return MD_OK;
}

md_status locality_of(const engine *sim, double figure[LOCALITY_FIGURE_COUNT])
{
  const list_input in = locality_input(sim);
  list_figures own;
  for (int k = 0; k < LOCALITY_FIGURE_COUNT; k++)
    figure[k] = NAN;
  const neighbor_view *view = neighbor_list_view(sim->list);
  if (view->n_rows == 0 || view->kind == NEIGHBOR_TILE) return MD_OK;
  MD_TRY(list_measure(&in, ROWS_MOST, &own));
  figure[LOCALITY_SECTORS] = own.sectors_per_request;
  figure[LOCALITY_LINES] = own.lines_per_row;
  return model_own(sim, &in, figure);
}
