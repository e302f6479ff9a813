/* tests/ref/ref_threads.h - the force kernels of the GPU read thread by thread: each thread notes
 * what it accesses and at which place of the program; what the threads of a warp access at one
 * place is one request. */
#ifndef REF_THREADS_H
#define REF_THREADS_H

#include "cachemodel/kernel/list_trace.h"
#include "tests/drive/run_lists.h"

/* One thread's access at one place of the program. */
typedef struct {
  int64_t warp, label;
  trace_stream stream;
  trace_op op;
  bool no_keep;
  int thread;
  uint64_t address;
  int32_t bytes;
} ref_event;

typedef struct {
  ref_event *event;
  int64_t n, room;
} ref_events;

void ref_event_note(ref_events *all, ref_event e);

/* Everything the kernel's threads access in kernel->pass, sorted by warp, place and address; rows
 * as the GPU's builder would make them from this full list of the CPU.  Pairs act within r_cut, of
 * several types within cutoff [n_types][n_types], which is NULL where atoms are alike.  Free the
 * events. */
ref_events ref_threads(const run_near *near, const list_kernel *kernel, double r_cut,
                       const double *cutoff);

/* The end of the request that begins with event `from`. */
int64_t ref_request_end(const ref_events *all, int64_t from);

/* The list of a case made on the CPU, whatever backend is under test; end with run_near_close. */
run_near ref_near_cpu(md_precision precision, const neighbor_spec *spec, const run_case *c);

#endif
