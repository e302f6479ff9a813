/* minimd/run/saves.c - see saves.h. */
#include "minimd/run/saves.h"
#include "comm/world.h"
#include "core/output/output.h"
#include "core/time/timer.h"

/* Frames are `every` steps apart, whether the run ends there, is stopped, or goes on later. */
static bool frame_due(const saves *to, int64_t step, bool last)
{
  const int32_t every = config_output(to->cfg)->dump_every;
  return to->trajectory && (every > 0 ? step % every == 0 : last);
}

static bool checkpoint_due(const saves *to, int64_t step, bool last, bool asked)
{
  const config_outputs *output = config_output(to->cfg);
  const int32_t every = output->checkpoint_every;
  return output->checkpoint && (asked || last || (every > 0 && step % every == 0));
}

static md_status open_files(const config_outputs *output, const restart_plan *plan, saves *out)
{
  const md_file_mark *keep = plan ? plan->dump_keep : NULL;
  if (output->checkpoint && world_rank() == 0) MD_TRY(md_output_hold(output->checkpoint));
  if (!output->dump) return MD_OK;
  return dump_open(output->dump, out->sim, keep, output->dump_every, &out->trajectory);
}

md_status saves_open(const config *cfg, engine *sim, const restart_plan *plan, saves *out)
{
  *out = (saves){cfg, sim, NULL, plan ? sim->step : -1};
  md_status status = world_agree(open_files(config_output(cfg), plan, out));
  const bool begins = out->trajectory && !(plan && plan->dump_keep);
  if (!status && begins) status = world_agree(dump_frame(out->trajectory, sim));
  if (status) {
    dump_close(out->trajectory);
    out->trajectory = NULL;
  }
  return status;
}

bool saves_due(const saves *to, int64_t step, bool last, bool asked)
{
  return frame_due(to, step, last) || checkpoint_due(to, step, last, asked);
}

/* The trajectory is on the disk before the checkpoint that counts on it.  A checkpoint whose state
 * a list build has not seen yet may be of a run that is blowing up: the one before it stays. */
static md_status save_checkpoint(saves *to)
{
  const engine *sim = to->sim;
  const bool seen = sim->rebuilt_at > to->saved;
  md_file_mark mark = {-1, 0};
  if (to->trajectory) MD_TRY(dump_mark(to->trajectory, &mark));
  MD_TRY(restart_save(config_output(to->cfg)->checkpoint, to->cfg, sim, &mark, seen));
  to->saved = sim->step;
  return MD_OK;
}

md_status saves_step(saves *to, bool last, bool asked)
{
  const engine *sim = to->sim;
  if (!saves_due(to, sim->step, last, asked)) return MD_OK;
  const bool saving = checkpoint_due(to, sim->step, last, asked);
  engine_thermo thermo;
  if (saving) MD_TRY(engine_measure(to->sim, &thermo)); /* it did not run away */
  md_status status = MD_OK;
  md_phase_begin(sim->ctx, MD_PHASE_OUTPUT);
  if (frame_due(to, sim->step, last)) status = dump_frame(to->trajectory, sim);
  if (!status && saving) status = save_checkpoint(to);
  md_phase_end(sim->ctx, MD_PHASE_OUTPUT);
  return world_agree(status);
}

md_status saves_close(saves *to)
{
  dump *trajectory = to->trajectory;
  to->trajectory = NULL;
  return dump_close(trajectory);
}
