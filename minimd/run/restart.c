/* minimd/run/restart.c - see restart.h. */
#include "minimd/run/restart.h"
#include "minimd/config/config_impl.h"

#include <stdlib.h>
#include <string.h>

static md_status settings_text(const config *cfg, char **out)
{
  size_t size;
  FILE *stream = open_memstream(out, &size);
  if (stream) config_write(cfg, stream);
  MD_REQUIRE(stream && fclose(stream) == 0, MD_ENOMEM, "out of memory for a checkpoint");
  return MD_OK;
}

md_status restart_save(const char *path, const config *cfg, const engine *sim,
                       const md_file_mark *dump, bool keep)
{
  char *settings;
  MD_TRY(settings_text(cfg, &settings));
  const md_status status = checkpoint_write(path, settings, sim, dump, keep);
  free(settings);
  return status;
}

/* Whether a setting has another value than in the checkpoint. */
static bool differs_in(const config *saved, const config *cfg, const char *key)
{
  static char was[CONFIG_TEXT_SIZE], is[CONFIG_TEXT_SIZE]; /* too much for a small stack */
  return config_format_value(saved, key, was, sizeof was) ||
         config_format_value(cfg, key, is, sizeof is) || strcmp(was, is) != 0;
}

/* True for a setting on which the order of atoms, or the bits of a step, depend. */
static bool shapes(const char *key)
{
  static const char *const shaping[] = {
      "lj.",    "potential.", "coulomb.",         "neighbor.",
      "order.", "run.dt",     "device.precision", "device.deterministic"};
  for (size_t s = 0; s < sizeof shaping / sizeof *shaping; s++)
    if (strncmp(key, shaping[s], strlen(shaping[s])) == 0) return true;
  return false;
}

/* A file of potentials that was named already holds what it did. */
static md_status check_potential(const checkpoint *from, const config *saved, const config *cfg)
{
  const eam_potential *eam = config_get(cfg)->eam;
  if (!eam || from->potential < 0 || differs_in(saved, cfg, "potential.file")) return MD_OK;
  MD_REQUIRE(eam_check_sum(eam) == from->potential, MD_EINVAL,
             "%s: potential.file = \"%s\" is no longer what the run of '%s' read (check sum %08x, "
             "not %08x): expected the same tables, or another file by --potential",
             config_origin(cfg, "potential.file"), config_get(cfg)->potential, from->path,
             eam_check_sum(eam), (unsigned)from->potential);
  return MD_OK;
}

static md_status compare(const checkpoint *from, const config *saved, const config *cfg,
                         restart_plan *out)
{
  const config_entry *entries;
  const int n = config_entries(&entries);
  MD_TRY(check_potential(from, saved, cfg));
  for (int k = 0; k < n; k++) {
    const char *key = entries[k].key;
    if (!differs_in(saved, cfg, key)) continue;
    const bool atoms = strncmp(key, "system.", 7) == 0 || strcmp(key, "species") == 0;
    MD_REQUIRE(!atoms, MD_EINVAL,
               "%s: %s is not that of '%s': a restart takes its atoms from the checkpoint",
               config_origin(cfg, key), key, from->path);
    if (shapes(key) && !out->differs) out->differs = key;
  }
  engine_choice choice;
  MD_TRY(engine_choose(config_get(cfg), 0, NULL, &choice)); /* the backend */
  if (choice.backend != from->backend && !out->differs) out->differs = "device.backend";
  const char *dump = config_output(cfg)->dump;
  if (!dump || differs_in(saved, cfg, "output.dump")) return MD_OK;
  return md_file_plan(dump, &from->dump, &out->dump_keep);
}

md_status restart_configure(const checkpoint *from, config *cfg)
{
  MD_TRY(config_read_text(cfg, from->path, from->settings));
  return config_describe(cfg, "%s (checkpoint)", from->path);
}

md_status restart_compare(const checkpoint *from, const config *cfg, restart_plan *out)
{
  *out = (restart_plan){0};
  MD_REQUIRE(config_get(cfg)->skin >= 0, MD_EINVAL,
             "%s: neighbor.skin = \"auto\": expected a number: '%s' holds the skin of its run",
             config_origin(cfg, "neighbor.skin"), from->path);
  const int64_t steps = config_get(cfg)->steps;
  MD_REQUIRE(steps >= from->state.step, MD_EINVAL,
             "%s: run.steps = %lld: '%s' is at step %lld already", config_origin(cfg, "run.steps"),
             (long long)steps, from->path, (long long)from->state.step);
  config *saved;
  MD_TRY(config_create(&saved));
  md_status status = restart_configure(from, saved);
  if (!status) status = compare(from, saved, cfg, out);
  config_destroy(saved);
  return status;
}
