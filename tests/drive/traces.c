/* tests/drive/traces.c - see traces.h. */
#include "tests/drive/traces.h"
#include "tests/drive/files.h"
#include "tests/ref/ref.h"
#include "tests/test.h"

#include <stdio.h>

const char *traces_path(void)
{
  return files_path("trace");
}

traces_accesses traces_spread(const trace_run *runs, int64_t n_runs)
{
  traces_accesses all = {NULL, 0};
  for (int64_t r = 0; r < n_runs; r++)
    all.n += runs[r].count;
  all.access = ref_alloc(all.n, sizeof *all.access);
  int64_t at = 0;
  for (int64_t r = 0; r < n_runs; r++)
    for (int64_t k = 0; k < runs[r].count; k++) {
      all.access[at] = runs[r];
      all.access[at].address += (uint64_t)(runs[r].stride * k);
      all.access[at].count = 1;
      all.access[at++].stride = 0;
    }
  return all;
}

md_status traces_read(int64_t room, trace_run **runs, int64_t *n_runs)
{
  trace_reader *r;
  *runs = NULL;
  *n_runs = 0;
  md_status status = trace_reader_open(traces_path(), NULL, &r);
  if (status) return status;
  for (int64_t n = 1, had = 0; !status && n > 0;) {
    if (*n_runs + room > had) {
      had = 2 * (*n_runs + room);
      *runs = realloc(*runs, (size_t)had * sizeof **runs);
      ck_assert_ptr_nonnull(*runs);
    }
    status = trace_read(r, room, *runs + *n_runs, &n);
    if (!status) *n_runs += n;
  }
  trace_reader_close(r);
  return status;
}

static bool same_access(const trace_run *a, const trace_run *b)
{
  return a->stream == b->stream && a->op == b->op && a->bytes == b->bytes &&
         a->address == b->address;
}

void traces_check(const traces_accesses *expected, int64_t room)
{
  trace_run *runs;
  int64_t n_runs;
  ck_ok(traces_read(room, &runs, &n_runs));
  traces_accesses back = traces_spread(runs, n_runs);
  ck_assert_int_eq(back.n, expected->n);
  for (int64_t k = 0; k < back.n; k++)
    ck_assert_msg(same_access(&back.access[k], &expected->access[k]), "access %lld of %lld",
                  (long long)k, (long long)back.n);
  free(back.access);
  free(runs);
}

trace_run traces_any(uint64_t *seed)
{
  static const uint64_t tops[] = {1000, (uint64_t)1 << 33, (uint64_t)1 << 62};
  trace_run run = {.stream = (trace_stream)(TRACE_STREAM_COUNT * ref_uniform(seed)),
                   .op = (trace_op)(TRACE_OP_COUNT * ref_uniform(seed)),
                   .bytes = (int32_t)(1 + 300 * ref_uniform(seed)),
                   .count = (int64_t)(1 + 20 * ref_uniform(seed))};
  const double top = (double)tops[(int)(3 * ref_uniform(seed))];
  run.address = (uint64_t)(1e5 + top * ref_uniform(seed));
  run.stride = (int64_t)(4000 * (ref_uniform(seed) - 0.5));
  return run;
}

void traces_write(const unsigned char *data, size_t bytes)
{
  FILE *file = fopen(traces_path(), "wb");
  ck_assert_ptr_nonnull(file);
  ck_assert_uint_eq(fwrite(data, 1, bytes, file), bytes);
  fclose(file);
}

void traces_refused(const char *expected)
{
  trace_run *runs;
  int64_t n;
  const md_status status = traces_read(10, &runs, &n);
  ck_assert_msg(status == MD_EINVAL, "status %d: %s", (int)status, md_message());
  ck_assert_msg(strstr(md_message(), expected), "no '%s' in: %s", expected, md_message());
  ck_assert_msg(strstr(md_message(), traces_path()), "no file name in: %s", md_message());
  free(runs);
}
