/* minimd/config/config_read.c - settings from a whole input, in any language. */
#include "minimd/config/config_impl.h"

#include <string.h>

/* All or nothing. */
static md_status read_as(config *cfg, config_text *text, config_format format)
{
  static md_status (*const read[CONFIG_FORMAT_COUNT])(config *, config_text *) = {
      [CONFIG_FORMAT_LIBCONFIG] = read_libconfig,
      [CONFIG_FORMAT_MINIMD] = read_minimd,
      [CONFIG_FORMAT_LAMMPS] = read_lammps,
  };
  config *draft;
  MD_TRY(config_copy(cfg, &draft));
  const md_status status = read[format](draft, text);
  if (!status) config_swap(cfg, draft);
  config_destroy(draft);
  return status;
}

md_status config_read(config *cfg, const char *path, config_format format)
{
  config_text text;
  MD_TRY(config_text_load(path, &text));
  md_status status = MD_OK;
  if (format == CONFIG_FORMAT_AUTO) status = config_text_detect(&text, &format);
  if (!status) status = read_as(cfg, &text, format);
  config_text_free(&text);
  return status;
}

md_status config_read_text(config *cfg, const char *name, const char *text)
{
  config_text lines = {name, strdup(text), strlen(text)};
  MD_REQUIRE(lines.data, MD_ENOMEM, "out of memory for '%s'", name);
  const md_status status = read_as(cfg, &lines, CONFIG_FORMAT_LIBCONFIG);
  config_text_free(&lines);
  return status;
}
