/* minimd/run/same.c - see same.h. */
#include "minimd/run/same.h"
#include "comm/world.h"
#include "minimd/shell/provenance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void write_config(const void *cfg, FILE *stream)
{
  config_write(cfg, stream);
}

static void write_options(const void *of, FILE *stream)
{
  const options *opts = of;
  for (int k = 0; k < opts->n_found; k++)
    fprintf(stream, "--%s %s\n", opts->table[opts->found[k].index].name, opts->found[k].value);
}

/* What `write` says of it, and the program. */
static md_status compare(const char *what, void (*write)(const void *of, FILE *stream),
                         const void *of)
{
  char *text;
  size_t size;
  if (world_count() == 1) return MD_OK;
  FILE *stream = open_memstream(&text, &size);
  if (stream) write(of, stream);
  if (stream && fclose(stream) != 0) stream = NULL;
  MD_TRY(world_agree(stream ? MD_OK : MD_FAIL(MD_ENOMEM, "out of memory for %s", what)));
  md_status status = world_same(what, text, size);
  free(text);
  const char *commit = provenance_commit(), *isa = md_isa_words[md_isa_detect()];
  if (!status) status = world_same("the program's version", commit, strlen(commit));
  if (!status) status = world_same("the instruction set (MINIMD_ISA)", isa, strlen(isa));
  return status;
}

md_status ranks_same_program(const config *cfg)
{
  return compare("the configuration", write_config, cfg);
}

md_status ranks_same_command(const options *opts)
{
  return compare("the command line", write_options, opts);
}
