/* ordering/ordering_impl.h - what a backend or an instruction set provides to ordering.c. */
#ifndef ORDERING_IMPL_H
#define ORDERING_IMPL_H

#include "core/simd.h"
#include "ordering/ordering.h"

MD_BEGIN_C

struct ordering_sorter {
  md_ctx *ctx;
  md_buffer keys;     /* uint32 [n], sorted */
  md_buffer pairs[2]; /* CPU: uint64 [n], between passes of the sort */
  md_buffer iota;     /* GPU: int32 [n] 0, 1, 2, ... */
  md_buffer scratch;  /* CPU: counters; GPU: CUB's temporary storage, starts of keys */
  md_buffer
      particle; /* uint32 [n], keys of particles; before them, 8 B, the first without a cell */
  int64_t n_iota;
  /* GPU, counting sort: int32 [keys], zero between sorts; the scan's (core/gpu/scan_gpu.h). */
  md_buffer count, scan_status;
  uint32_t round;
  bool counted; /* the keys of the next sort, since ordering_count_keys */
};

/* Bits that keys < key_end differ in. */
static inline int ordering_key_bits(uint32_t key_end)
{
  int bits = 0;
  while (bits < 32 && (int64_t)1 << bits < key_end)
    bits++;
  return bits;
}

/* Whether an ordering has an index for each cell of a grid.  Errors: MD_EINVAL, MD_ECAPACITY. */
md_status ordering_check(const ordering *order, const int32_t n[3]);

/* A table for a grid that was checked: index[cell], or cell[index] when inverse. */
typedef md_status ordering_table_fn(md_ctx *ctx, const ordering *order, const int32_t n[3],
                                    bool inverse, uint32_t *table);
typedef md_status ordering_sort_fn(ordering_sorter *sorter, int64_t n, const uint32_t *keys,
                                   uint32_t key_end, int32_t *order, int32_t *start);
typedef md_status ordering_sort_move_fn(ordering_sorter *sorter, int64_t n, const uint32_t *keys,
                                        uint32_t key_end, int32_t *order, int32_t *start,
                                        int n_items, const ordering_items *items);
typedef md_status ordering_counter_fn(ordering_sorter *sorter, int64_t n, uint32_t key_end,
                                      ordering_counter *out);
typedef md_status ordering_permute_fn(md_ctx *ctx, int64_t n, const int32_t *order,
                                      size_t item_bytes, const void *from, void *to);
ordering_table_fn ordering_cpu_table, ordering_gpu_table;
ordering_sort_fn ordering_cpu_sort;
ordering_sort_move_fn ordering_gpu_sort_move;
ordering_counter_fn ordering_gpu_counter;
ordering_permute_fn ordering_cpu_permute, ordering_gpu_permute;

/* Keys of the octree curve that starts in `state`, for n cells. */
typedef void ordering_encode_fn(int state, int levels, int64_t n, const int32_t *i,
                                const int32_t *j, const int32_t *k, uint64_t *key);
SIMD_DECLARE_(ordering_encode_fn, ordering_encode);
extern ordering_encode_fn *const ordering_encoders[MD_ISA_COUNT];

MD_END_C
#endif
