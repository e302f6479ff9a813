/* minimd/run/same.c - see same.h. */
#include "minimd/run/same.h"
#include "comm/world.h"
#include "minimd/shell/provenance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

md_status ranks_same_program(const config *cfg)
{
  char *text;
  size_t size;
  if (world_count() == 1) return MD_OK;
  FILE *stream = open_memstream(&text, &size);
  if (stream) config_write(cfg, stream);
  if (stream && fclose(stream) != 0) stream = NULL;
  MD_TRY(world_agree(stream ? MD_OK : MD_FAIL(MD_ENOMEM, "out of memory for the settings")));
  md_status status = world_same("the configuration", text, size);
  free(text);
  const char *commit = provenance_commit(), *isa = md_isa_words[md_isa_detect()];
  if (!status) status = world_same("the program's version", commit, strlen(commit));
  if (!status) status = world_same("the instruction set (MINIMD_ISA)", isa, strlen(isa));
  return status;
}
