/* minimd/spread/spread_run.h - one method on one set of particles: built, timed, compared. */
#ifndef SPREAD_RUN_H
#define SPREAD_RUN_H

#include "minimd/spread/spread_case.h"

#include "core/buffer.h"

MD_BEGIN_C

/* Particles and meshes on the backend, shared by the methods that are compared. */
typedef struct {
  md_ctx *ctx;
  const spread_case *particles;
  spread_spec spec; /* all but the method */
  md_buffer x, q, mesh;
  double *exact; /* [vectors][points] by the direct sum, or NULL: not compared */
} spread_bench;

typedef struct {
  spread_report report;
  char reason[256]; /* of the choice */
  double build_s;   /* spread_set_positions, memory in place: a median */
  double spread_s;  /* one spread_charges: the median over batches of repeats, after one */
  double gather_s;  /* one spread_interpolate of values, likewise; 0: not timed */
  double error;     /* relative L2, worst vector; NaN: not compared */
} spread_timing;

/* Bytes on the backend beside the plan's, and on the host.  Checked against what there is before
 * anything is allocated.  Errors: MD_ENOMEM (with both sizes). */
md_status spread_bench_open(md_ctx *ctx, const spread_spec *spec, const spread_case *particles,
                            bool compare, spread_bench *out);
void spread_bench_close(spread_bench *bench);

/* Build (memory, then time), spread once and then `repeats` times.  interpolate: time that
 * too. Errors: as spread_create, spread_set_positions, spread_charges. */
md_status spread_bench_run(spread_bench *bench, spread_method method, int64_t repeats,
                           bool interpolate, spread_timing *out);

/* cuSPARSE on the matrix of method single, on the GPU: spread_s and error; build_s is the matrix's.
 * Errors: as spread_peer_create. */
md_status spread_bench_peer(spread_bench *bench, int64_t repeats, spread_timing *out);

MD_END_C
#endif
