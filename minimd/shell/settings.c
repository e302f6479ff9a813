/* minimd/shell/settings.c - see settings.h. */
#include "minimd/shell/settings.h"
#include "comm/world.h"

#include <stdio.h>
#include <string.h>

static const struct {
  option spec;
  const char *key;
} keyed[SETTINGS_N_KEYED] = {
#define ROW(name, word, value, help, key) {{word, 0, value, help}, key},
    SETTINGS_KEYED(ROW)
#undef ROW
};

void settings_table(option *table)
{
  for (int k = 0; k < SETTINGS_N_KEYED; k++)
    table[k] = keyed[k].spec;
  table[SETTINGS_INPUT] = (option){
      "input", 'i', "FILE", "libconfig, miniMD or LAMMPS input; without one: the built-in in.lj"};
  table[SETTINGS_FORMAT_IN] =
      (option){"format-in", 0, "libconfig|minimd|lammps", "language of the input, not detected"};
  table[SETTINGS_SET] = (option){"set", 0, "KEY=VALUE", "one setting; may be repeated"};
}

md_status settings_read(config *cfg, const options *opts, unsigned lists)
{
  int format = CONFIG_FORMAT_AUTO;
  MD_TRY(options_word(opts, SETTINGS_FORMAT_IN, config_format_words, CONFIG_FORMAT_COUNT, &format));
  const char *input = options_value(opts, SETTINGS_INPUT), *named = input ? input : "";
  MD_TRY(world_agree(MD_OK)); /* ranks that failed before this are not waited for */
  MD_TRY(world_same("the input file", named, strlen(named)));
  if (input) MD_TRY(config_read(cfg, input, (config_format)format));
  for (int k = 0; k < opts->n_found; k++)
    if (opts->found[k].index == SETTINGS_SET) MD_TRY(config_set_pair(cfg, opts->found[k].value));
  for (int k = 0; k < SETTINGS_N_KEYED; k++) {
    const char *value = options_value(opts, k);
    if (!value || lists >> k & 1) continue;
    char origin[32];
    snprintf(origin, sizeof origin, "--%s", keyed[k].spec.name);
    MD_TRY(config_set(cfg, keyed[k].key, keyed[k].spec.value ? value : "true", origin));
  }
  return config_check(cfg);
}
