/* comm/ranks_gpu.prec.cu - atoms that move house between ranks, found on the GPU, packed and read
 * there where they go by messages (ranks_gpu.h; by mailboxes: trade_gpu.prec.cu). */
#include "comm/houses_gpu.h"
#include "comm/ranks_gpu.h"
#include "comm/carry/told_gpu.h"

enum { BLOCK = 256 };

static size_t atom_bytes(const md_atoms *atoms)
{
  (void)atoms;
  return sizeof(traveller);
}

/* Thread: one atom, where it belongs when it is wrapped. */
static __global__ void weigh_kernel(int64_t n, const partition p, const axes box, const houses a,
                                    unsigned long long *weight)
{
  const int64_t i = md_thread();
  if (i >= n) return;
  state4 x = a.x[i];
  int32_t image[3] = {a.image[3 * i], a.image[3 * i + 1], a.image[3 * i + 2]};
  wrap_all(&box, &x, image);
  atomicAdd(&weight[cell_of(&p, x, image)], 1ull);
}

static md_status weigh(comm *cm, const md_atoms *atoms, int64_t *weight)
{
  const partition *p = cm->ranks->part;
  md_buffer *on_device = &cm->ranks->gpu.weight;
  const size_t bytes = (size_t)p->cells * sizeof *weight;
  MD_TRY(md_buffer_reserve(cm->ctx, on_device, bytes, 0));
  MD_TRY(md_fill(cm->ctx, on_device->data, 0, bytes));
  weigh_kernel<<<md_blocks(atoms->n, BLOCK), BLOCK, 0, (cudaStream_t)cm->ctx->stream>>>(
      atoms->n, *p, axes_of(&atoms->frame), houses_of(atoms),
      (unsigned long long *)on_device->data);
  MD_LAUNCHED();
  return md_read(cm->ctx, weight, on_device->data, bytes);
}

/* What all blocks find of all atoms; now is zero between kernels. */
typedef struct {
  wrap_result now, found;
} wrap_totals;

/* Who leaves: what the kernel reads and writes. */
typedef struct {
  int64_t n;
  axes box;
  origin from;
  partition part;
  image_table table;
  houses at;
  int32_t *item;
  uint32_t *key;
  int rows;
  md_scan scan;
  wrap_totals *totals;
  item_counts counts;
  uint32_t *spare; /* counts of the rebuild before */
  count_post post; /* to the host, or */
  teller tell;     /* to all ranks, */
  int64_t room;    /* of which this one has so much more than for atoms that all stay */
} leaver;

/* The last block: what all found to those who wait for it. */
static __device__ __forceinline__ void tell_leavers(const leaver *a)
{
  wrap_totals *to = a->totals;
  const wrap_result found = {__ldcg(&to->now.lost), __ldcg(&to->now.not_id),
                             __ldcg(&to->now.moved)};
  __syncthreads();
  if (threadIdx.x == 0) to->found = found, to->now = (wrap_result){};
  if (a->tell.row > 0) {
    tell_all(&a->tell, found.lost > 0 ? MD_ENUMERIC : MD_OK, found.moved, a->room, a->counts.all);
    return;
  }
  if (threadIdx.x == 0) a->post.board->wrap = found;
  write_board(&a->counts, &a->post);
}

/* Thread: one of each row, which it wraps.  Those that another rank owns are
 * items, with it as key; images of all others are counted.  Bytes: 16 to 32 read of an atom, where
 * displacements are measured three times that. */
static __global__ void __launch_bounds__(BLOCK) leave_kernel(const __grid_constant__ leaver a)
{
  cudaGridDependencySynchronize();
  cudaTriggerProgrammaticLaunchCompletion();
  uint32_t *tally = open_tally(&a.counts);
  const int64_t first = md_scan_first(a.rows);
  int32_t head[MD_SCAN_ROWS] = {};
  uint32_t leaves[MD_SCAN_ROWS], at[MD_SCAN_ROWS];
  unsigned long long moved = 0;
  if (blockIdx.x == 0)
    for (int32_t k = (int32_t)threadIdx.x; k < a.counts.keys; k += BLOCK)
      a.spare[k] = 0;
#pragma unroll
  for (int u = 0; u < MD_SCAN_ROWS; u++) {
    const int64_t i = first + u * MD_WARP;
    if (u < a.rows && i < a.n) {
      state4 x = a.at.x[i];
      if (a.from.built) moved = max(moved, move_bits(&a.from, i, x));
      wrap_atom(&a.box, i, &x, a.at.x, a.at.image, a.at.id, &a.totals->now);
      head[u] = head_at(&a.table, &a.part, x, a.at.image + 3 * i);
    }
    leaves[u] = head[u] < 0;
  }
  const int64_t of_warp = md_scan_before_each(a.scan, a.rows, leaves, at);
  if (a.from.built) add_move(moved, &a.totals->now.moved); /* no block waits for it here */
#pragma unroll
  for (int u = 0; u < MD_SCAN_ROWS; u++) {
    const int64_t i = first + u * MD_WARP;
    if (head[u] < 0) {
      const int32_t rank = a.part.owner[cell_of(&a.part, a.at.x[i], a.at.image + 3 * i)];
      const int64_t k = of_warp + at[u];
      a.item[k] = (int32_t)i, a.key[k] = (uint32_t)rank;
      atomicAdd(&tally[rank], 1u);
    } else {
      tally_images(&a.counts, tally, &a.table, head[u]);
    }
  }
  close_tally(&a.counts, tally);
  if (md_last_block(a.post.come)) tell_leavers(&a);
}

/* Room for what a wrap finds. */
static md_status open_wrap(comm *cm)
{
  md_buffer *wrap = &cm->ranks->gpu.wrap;
  if (wrap->data) return MD_OK;
  MD_TRY(md_buffer_reserve(cm->ctx, wrap, sizeof(wrap_totals), 0));
  return md_fill(cm->ctx, wrap->data, 0, sizeof(wrap_totals));
}

md_status PREC(ranks_gpu_find_leavers)(comm *cm, md_atoms *atoms, double back, const teller *tell,
                                       int64_t room)
{
  const comm_ranks *ranks = cm->ranks;
  ranks_gpu *gpu = &cm->ranks->gpu;
  leaver a = {};
  MD_TRY(ranks_gpu_tables(cm));
  MD_TRY(open_wrap(cm));
  MD_TRY(open_items(cm, atoms->n));
  MD_TRY(open_counts(cm, &a.counts, &a.spare));
  MD_TRY(open_post(cm, 0, world_count(), &a.post));
  MD_TRY(md_scan_rows(atoms->n, BLOCK, &a.rows));
  const unsigned blocks = atoms->n > 0 ? md_blocks(atoms->n, BLOCK * a.rows) : 1;
  MD_TRY(md_scan_open(cm->ctx, &gpu->scan_status, &gpu->round, blocks, &a.scan));
  a.n = atoms->n;
  a.box = axes_of(&atoms->frame);
  a.from = origin_of(atoms, back);
  a.part = part_of(ranks), a.table = table_of(ranks);
  a.at = houses_of(atoms);
  a.item = (int32_t *)gpu->item.data, a.key = (uint32_t *)gpu->key.data;
  a.totals = (wrap_totals *)gpu->wrap.data;
  if (tell) a.tell = *tell, a.room = room - atoms->n;
  cudaLaunchAttribute overlap;
  cudaLaunchConfig_t config = md_launch_config(cm->ctx, dim3(blocks), BLOCK, true, &overlap);
  config.dynamicSmemBytes = near_bytes(&a.counts);
  MD_CUDA(cudaLaunchKernelEx(&config, leave_kernel, a));
  gpu->counted = true;
  return MD_OK;
}

static md_status count_leavers(comm *cm, md_atoms *atoms, double back)
{
  comm_ranks *ranks = cm->ranks;
  const count_board *found = NULL;
  MD_TRY(PREC(ranks_gpu_find_leavers)(cm, atoms, back, NULL, 0));
  MD_TRY(await_counts(cm, &found));
  for (int r = 0; r < world_count(); r++)
    ranks->to[r] = found->count[r];
  return check_wrap(&found->wrap, &cm->moved_sq);
}

/* Thread: one that leaves, in the order of ranks, to a message; place NULL: in that of items. */
static __global__ void pack_kernel(int64_t leavers, const houses a,
                                   const int32_t *__restrict__ item,
                                   const int32_t *__restrict__ place, traveller *out)
{
  const int64_t k = md_thread();
  if (k < leavers) out[k] = leave_house(&a, item[place ? place[k] : k]);
}

static md_status pack_leavers(comm *cm, md_atoms *atoms)
{
  comm_ranks *ranks = cm->ranks;
  const ranks_gpu *gpu = &ranks->gpu;
  const houses a = houses_of(atoms);
  const int64_t leavers = ranks->n_out;
  const unsigned blocks = md_blocks(leavers, BLOCK);
  const cudaStream_t stream = (cudaStream_t)cm->ctx->stream;
  bool one = false; /* rank that all go to */
  for (int r = 0; r < world_count(); r++)
    one = one || ranks->to[r] == leavers;
  if (!one)
    MD_TRY(ordering_sort(gpu->sorter, leavers, (const uint32_t *)gpu->key.data,
                         (uint32_t)world_count(), (int32_t *)gpu->place.data, NULL));
  pack_kernel<<<blocks, BLOCK, 0, stream>>>(leavers, a, (const int32_t *)gpu->item.data,
                                            one ? NULL : (const int32_t *)gpu->place.data,
                                            (traveller *)ranks->out.data);
  MD_LAUNCHED();
  return MD_OK;
}

/* Thread: one that arrives, whose images are counted where those of others are, keys > 0; or one
 * that closes a gap. */
static __global__ void arrive_kernel(const gaps g, int64_t arrivals, const houses a,
                                     const traveller *in, const partition p,
                                     const image_table table, const item_counts counts,
                                     const count_post post)
{
  uint32_t *tally = open_tally(&counts);
  const int64_t k = md_thread();
  close_gap(&a, &g, (int32_t)arrivals, k);
  if (k < arrivals) {
    const traveller t = in[k];
    enter_house(&a, place_of(&g, k), &t);
    if (counts.keys > 0) tally_images(&counts, tally, &table, head_at(&table, &p, t.x, t.image));
  }
  close_tally(&counts, tally);
  if (counts.keys > 0) post_counts(&counts, &post);
}

static md_status take_arrivals(comm *cm, md_atoms *atoms, int64_t arrivals, const void *from)
{
  const comm_ranks *ranks = cm->ranks;
  item_counts counts = {};
  count_post post = {};
  MD_TRY(ranks_gpu_tables(cm));
  if (ranks->gpu.counted) {
    counts = counts_of(ranks);
    MD_TRY(open_post(cm, counts.ranks, counts.keys, &post));
  }
  const gaps g = {atoms->n + ranks->n_out, (int32_t)ranks->n_out,
                  (const int32_t *)ranks->gpu.item.data};
  const int64_t most = arrivals > g.count ? arrivals : g.count;
  arrive_kernel<<<md_blocks(most + 1, BLOCK), BLOCK, near_bytes(&counts),
                  (cudaStream_t)cm->ctx->stream>>>(g, arrivals, houses_of(atoms),
                                                   (const traveller *)from, part_of(ranks),
                                                   table_of(ranks), counts, post);
  MD_LAUNCHED();
  return MD_OK;
}

const ranks_backend *PREC(ranks_on_gpu)(void)
{
  static const ranks_backend backend = {
      atom_bytes,
      PREC(ranks_gpu_name_bytes),
      weigh,
      count_leavers,
      PREC(ranks_gpu_trade),
      pack_leavers,
      take_arrivals,
      PREC(ranks_gpu_count_images),
      PREC(ranks_gpu_name_images),
      PREC(ranks_gpu_take_names),
      PREC(ranks_gpu_pack),
      PREC(ranks_gpu_images),
      PREC(ranks_gpu_unpack),
      PREC(ranks_gpu_exchange),
      PREC(ranks_gpu_pack_reals),
      PREC(ranks_gpu_unpack_reals),
  };
  return &backend;
}
