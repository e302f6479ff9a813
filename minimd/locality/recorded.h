/* minimd/locality/recorded.h - a recorded trace through caches, by region of memory and by line. */
#ifndef RECORDED_H
#define RECORDED_H

#include "cachemodel/cachemodel.h"
#include "cachemodel/machine/machine.h"
#include "cachemodel/trace/trace_file.h"
#include "minimd/locality/miss_plot.h"

MD_BEGIN_C

/* Addresses from start up to, not including, end.  An access belongs to the region where it
 * begins. */
typedef struct {
  char *name;
  uint64_t start, end;
} recorded_region;

/* Read `name=start-end,...`, decimal or hexadecimal with 0x; free with recorded_regions_free.
 * Errors: MD_EINVAL (what cannot be read, two of one name, regions that overlap), MD_ENOMEM. */
md_status recorded_regions_read(const char *text, recorded_region **out, int *n);
void recorded_regions_free(recorded_region *regions, int n);

/* Read a capacity: lines, or bytes with a unit (`32KB`; B, KB, MB, GB, KiB, ... of 1024).
 * Errors: MD_EINVAL (also: not a whole number of lines). */
md_status recorded_capacity(const char *text, int64_t line_bytes, int64_t *lines);

typedef struct {
  const char *path;
  trace_how how;
  int64_t line_bytes;
  bool every;                     /* all capacities of LRU, */
  const cachemodel_level *caches; /* else [n_caches], each a cache of its own, */
  int n_caches;
  const machine *m; /* else, unless NULL, the levels of a CPU */
  const recorded_region *regions;
  int n_regions;
  bool by_line; /* one cache, or a machine's first level: note each line */
} recorded_spec;

typedef struct {
  uint64_t address; /* of its first byte */
  int64_t accesses, misses;
  int part;
} recorded_line;

/* Counts of a part and cache: counts[part * n_caches + cache].  Parts are the regions, what is in
 * none, and the sum; without regions the sum alone. */
typedef struct {
  trace_format format;
  int n_parts;
  int64_t n_caches; /* capacities, or levels; capacity is in lines */
  miss_count *counts;
  recorded_line *lines; /* [n_lines], most misses first */
  int64_t n_lines;
} recorded_result;

/* Errors: those of the readers and models.  Free with recorded_free, also after a failure. */
md_status recorded_study(const recorded_spec *spec, recorded_result *out);
void recorded_free(recorded_result *result);

MD_END_C
#endif
