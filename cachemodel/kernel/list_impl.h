/* cachemodel/kernel/list_impl.h - parts of the list traces. */
#ifndef LIST_IMPL_H
#define LIST_IMPL_H

#include "cachemodel/kernel/list_trace.h"

MD_BEGIN_C

/* A request to elements of one of the kernel's arrays. */
static inline list_request list_request_of(const list_kernel *kernel, list_array_name name,
                                           trace_stream stream, trace_op op, int32_t lanes,
                                           const int32_t *index)
{
  const list_array *a = &kernel->array[name];
  return (list_request){stream, op, a->base, a->stride, 0,    a->stride,
                        lanes,  1,  index,   false,     false};
}

/* Room for n entries in every row of a slice. */
md_status list_slice_reserve(list_slice *slice, int32_t n);

/* Positions of atoms and ghosts, in host memory. */
typedef struct {
  const void *x;
  bool single;
  double r_cut_sq;
} list_positions;

static inline double list_distance_sq(const list_positions *at, int32_t i, int32_t j)
{
  double sum = 0;
  for (int d = 0; d < 3; d++) {
    const int64_t a = 4 * (int64_t)i + d, b = 4 * (int64_t)j + d;
    const double difference = at->single ? ((const float *)at->x)[a] - ((const float *)at->x)[b]
                                         : ((const double *)at->x)[a] - ((const double *)at->x)[b];
    sum += difference * difference;
  }
  return sum;
}

/* Rows of the GPU's kernel from a full list of the CPU. */
typedef struct list_rows list_rows;
md_status list_rows_open(const list_input *in, const list_kernel *kernel, list_rows **out);
void list_rows_close(list_rows *rows); /* NULL is allowed */
/* The n entries of atom i; *entry is valid until the next call.  Errors: MD_ENOMEM. */
md_status list_rows_of(list_rows *rows, int32_t i, const int32_t **entry, int32_t *n);

/* The CPU's kernel. */
md_status list_run_cpu(const list_input *in, const list_kernel *kernel, int64_t rows,
                       list_sink *sink, void *to);

MD_END_C
#endif
