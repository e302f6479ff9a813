/* comm/ghosts_gpu.prec.cu - ghosts of other ranks' atoms: their names, made and read on the GPU,
 * and their positions (ranks_gpu.h).
 *
 * Bytes of a step: an image that is sent takes 4 of index, a gathered position and 3 states across
 * the bus; one that is received the same and a position written. */
#include "comm/images_gpu.h"
#include "comm/ranks_gpu.h"
#include "core/gpu/readback_gpu.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK = 256 };

/* Thread: one atom, or the end of all; images before it.  They are counted for each target where
 * keys > 0. */
static __global__ void __launch_bounds__(BLOCK)
    count_kernel(int64_t n, const partition p, const partition_halo halo,
                 const state4 *__restrict__ x, md_scan scan, int32_t *before,
                 const item_counts counts)
{
  uint32_t *tally = open_tally(&counts);
  const int64_t i = md_thread();
  const int32_t *first;
  int32_t at[3];
  place_of(&p, x[min(i, n - 1)], at);
  const int32_t images = i < n ? images_at(&halo, at, &first) : 0;
  const int64_t k = md_scan_before(scan, (uint32_t)images);
  if (i <= n) before[i] = (int32_t)k;
  if (i < n && counts.keys > 0) tally_images(&counts, tally, &halo, at);
  close_tally(&counts, tally);
}

/* Thread: one atom; its images are items, with their targets as keys. */
static __global__ void list_kernel(int64_t n, const partition p, const partition_halo halo,
                                   const state4 *__restrict__ x, const int32_t *__restrict__ before,
                                   int32_t *__restrict__ item, uint32_t *__restrict__ key)
{
  const int64_t i = md_thread();
  if (i >= n || before[i] == before[i + 1]) return;
  const int32_t *first;
  int32_t at[3];
  place_of(&p, x[i], at);
  const int32_t images = images_at(&halo, at, &first);
  for (int32_t k = 0; k < images; k++) {
    item[before[i] + k] = (int32_t)i;
    key[before[i] + k] = (uint32_t)first[k];
  }
}

/* host start [targets + 1]: where the images of each target begin. */
static md_status find_starts(comm *cm, const md_atoms *atoms, int32_t *start)
{
  comm_ranks *ranks = cm->ranks;
  ranks_gpu *gpu = &ranks->gpu;
  const int32_t targets = ranks->halo.n_targets;
  const unsigned blocks = md_blocks(atoms->n + 1, BLOCK);
  const size_t bytes = (size_t)targets * sizeof *start;
  const bool counted = gpu->counted;
  const void *found = NULL;
  item_counts counts = {};
  md_scan scan;
  start[0] = 0;
  gpu->counted = false;
  MD_TRY(PREC(ranks_gpu_tables)(cm));
  MD_TRY(open_items(cm, atoms->n, 0));
  if (!counted) MD_TRY(open_counts(cm, &counts));
  MD_TRY(md_scan_open(cm->ctx, &gpu->scan_status, &gpu->round, blocks, &scan));
  count_kernel<<<blocks, BLOCK, near_bytes(&counts), (cudaStream_t)cm->ctx->stream>>>(
      atoms->n, part_of(ranks), halo_of(ranks), (const state4 *)atoms->x.data, scan,
      (int32_t *)gpu->before.data, counts);
  MD_LAUNCHED();
  if (!counted) {
    MD_TRY(md_read(cm->ctx, start + 1, counts.all + counts.ranks, bytes));
  } else if (bytes > 0) {
    MD_TRY(md_readback_wait(gpu->readback, &found));
    memcpy(start + 1, found, bytes);
  }
  for (int32_t t = 0; t < targets; t++)
    start[t + 1] += start[t];
  return MD_OK;
}

static md_status list_images(comm *cm, const md_atoms *atoms, int64_t items)
{
  comm_ranks *ranks = cm->ranks;
  ranks_gpu *gpu = &ranks->gpu;
  MD_TRY(open_items(cm, atoms->n, items));
  MD_TRY(md_buffer_reserve(cm->ctx, &ranks->index, (size_t)items * sizeof(int32_t), 0));
  list_kernel<<<md_blocks(atoms->n, BLOCK), BLOCK, 0, (cudaStream_t)cm->ctx->stream>>>(
      atoms->n, part_of(ranks), halo_of(ranks), (const state4 *)atoms->x.data,
      (const int32_t *)gpu->before.data, (int32_t *)gpu->item.data, (uint32_t *)gpu->key.data);
  MD_LAUNCHED();
  return sort_items(cm, items, ranks->halo.n_targets);
}

md_status PREC(ranks_gpu_count_images)(comm *cm, const md_atoms *atoms)
{
  comm_ranks *ranks = cm->ranks;
  const partition_halo *halo = &ranks->halo;
  const int32_t targets = halo->n_targets;
  int32_t *start = (int32_t *)malloc((size_t)(targets + 1) * sizeof *start);
  MD_REQUIRE(start, MD_ENOMEM, "out of memory for the neighbours of a rank");
  md_status status = find_starts(cm, atoms, start);
  if (!status) status = list_images(cm, atoms, start[targets]);
  int32_t at = ranks->gpu.n_own_targets;
  if (!status) ranks->n_own = start[at];
  for (int32_t t = 0; t < targets && !status; t++) {
    if (halo->target[t].rank == world_rank()) continue;
    ranks->to[halo->target[t].rank] += start[at + 1] - start[at];
    at++;
  }
  free(start);
  return status;
}

/* What ghosts are made of, and what they become. */
typedef struct {
  const int32_t *item, *place;
  const uint32_t *key;
  const partition_target *target;
  const state4 *x;
  const int64_t *id;
  int32_t *index, *home, *shift;
  int64_t *ghost_id;
  md_image *image; /* of items, or NULL */
  ghost_name *out; /* a message to all, */
  int n_ways;      /* or mailboxes */
  const md_way *ways;
  md_round round;
} namer;

/* Thread: one image, in the order of targets. */
static __global__ void name_kernel(int64_t n_own, int64_t items, const namer a)
{
  const int64_t k = md_thread();
  if (k >= items) return;
  const int32_t p = a.place[k], i = a.item[p], by = a.target[a.key[p]].shift;
  a.index[k] = i;
  if (k < n_own) {
    a.home[k] = i, a.shift[k] = by, a.ghost_id[k] = a.id[i];
    if (a.image) a.image[p] = (md_image){(int32_t)k, -1, by, 0};
    return;
  }
  ghost_name name = {a.id[i], by, 0, ""};
  const state charge = a.x[i].w;
  memcpy(name.charge, &charge, sizeof charge);
  if (!a.image) {
    a.out[k - n_own] = name;
    return;
  }
  md_image image = sent_to(a.n_ways, a.ways, k - n_own);
  image.shift = by;
  a.image[p] = image;
  ((ghost_name *)a.ways[image.way].half[a.round % 2])[image.to] = name;
}

md_status PREC(ranks_gpu_name_images)(comm *cm, md_atoms *atoms)
{
  comm_ranks *ranks = cm->ranks;
  const ranks_gpu *gpu = &ranks->gpu;
  const ranks_peer *peer = &ranks->peer;
  const int64_t items = ranks->n_own + ranks->n_out;
  const bool by_peers = ranks->carrier == COMM_PEER;
  if (items == 0) return MD_OK;
  if (by_peers)
    MD_TRY(md_buffer_reserve(cm->ctx, &cm->ranks->gpu.image, (size_t)items * sizeof(md_image), 0));
  const namer a = {(const int32_t *)gpu->item.data,
                   (const int32_t *)gpu->place.data,
                   (const uint32_t *)gpu->key.data,
                   (const partition_target *)gpu->target.data,
                   (const state4 *)atoms->x.data,
                   (const int64_t *)atoms->id.data,
                   (int32_t *)ranks->index.data,
                   (int32_t *)atoms->home.data,
                   (int32_t *)atoms->shift.data,
                   (int64_t *)atoms->ghost_id.data,
                   by_peers ? (md_image *)gpu->image.data : NULL,
                   (ghost_name *)ranks->out.data,
                   peer->n_ways,
                   (const md_way *)peer->ways.data,
                   peer->round};
  name_kernel<<<md_blocks(items, BLOCK), BLOCK, 0, (cudaStream_t)cm->ctx->stream>>>(ranks->n_own,
                                                                                    items, a);
  MD_LAUNCHED();
  return MD_OK;
}

/* Thread: one ghost of another rank's atom; x and fixed are those of the ghosts. */
static __global__ void take_kernel(int64_t ghosts, const ghost_name *__restrict__ in, state4 *x,
                                   coord4 *fixed, int32_t *home, int32_t *shift, int64_t *ghost_id)
{
  const int64_t k = md_thread();
  if (k >= ghosts) return;
  const ghost_name name = in[k];
  state4 place = {};
  memcpy(&place.w, name.charge, sizeof place.w);
  home[k] = -1, shift[k] = name.shift, ghost_id[k] = name.id;
  x[k] = place;
  if (fixed) fixed[k] = (coord4){};
}

/* Thread: one atom, or the end of all.  Kernels that move atoms along with their images find none
 * in `first`: ranks_gpu_images moves them. */
static __global__ void built_kernel(int64_t n, double inv_scale, const state4 *__restrict__ x,
                                    state4 *__restrict__ built, coord4 *__restrict__ fixed,
                                    int32_t *__restrict__ first)
{
  const int64_t i = md_thread();
  if (i <= n) first[i] = 0;
  if (i >= n) return;
  built[i] = x[i];
  if (fixed) fixed[i] = verlet_coord(x[i], inv_scale);
}

static coord4 *fixed_of(const md_atoms *atoms)
{
  return MD_PREC == 1 ? (coord4 *)atoms->fixed.data : NULL;
}

md_status PREC(ranks_gpu_take_names)(comm *cm, md_atoms *atoms, const void *from)
{
  const comm_ranks *ranks = cm->ranks;
  const cudaStream_t stream = (cudaStream_t)cm->ctx->stream;
  const int64_t at = ranks->n_own, first = atoms->n + at;
  state4 *x = (state4 *)atoms->x.data;
  coord4 *fixed = fixed_of(atoms);
  if (ranks->n_in > 0)
    take_kernel<<<md_blocks(ranks->n_in, BLOCK), BLOCK, 0, stream>>>(
        ranks->n_in, (const ghost_name *)from, x + first, fixed ? fixed + first : NULL,
        (int32_t *)atoms->home.data + at, (int32_t *)atoms->shift.data + at,
        (int64_t *)atoms->ghost_id.data + at);
  const size_t ends = (size_t)(atoms->n + 1) * sizeof(int32_t);
  MD_TRY(md_buffer_reserve(cm->ctx, &atoms->first, ends, 0));
  built_kernel<<<md_blocks(atoms->n + 1, BLOCK), BLOCK, 0, stream>>>(
      atoms->n, 1 / atoms->coord_scale, x, (state4 *)atoms->x_at_build.data, fixed,
      (int32_t *)atoms->first.data);
  MD_LAUNCHED();
  return MD_OK;
}

/* Thread: one coordinate of a position that is sent. */
static __global__ void send_kernel(int64_t words, const int32_t *__restrict__ index,
                                   const state *__restrict__ x, state *__restrict__ out)
{
  const int64_t w = md_thread();
  if (w < words) out[w] = x[4 * (int64_t)index[w / 3] + w % 3];
}

md_status PREC(ranks_gpu_pack)(comm *cm, const md_atoms *atoms)
{
  const comm_ranks *ranks = cm->ranks;
  const int64_t words = 3 * ranks->n_out;
  if (words == 0) return MD_OK;
  send_kernel<<<md_blocks(words, BLOCK), BLOCK, 0, (cudaStream_t)cm->ctx->stream>>>(
      words, sent_of(ranks), (const state *)atoms->x.data, (state *)ranks->out.data);
  MD_LAUNCHED();
  return MD_OK;
}

md_status PREC(ranks_gpu_images)(comm *cm, md_atoms *atoms)
{
  return PREC(comm_gpu_images)(atoms, cm->ranks->n_own);
}

/* Thread: one coordinate of a ghost, shifted; x and fixed are those of the ghosts. */
static __global__ void receive_kernel(int64_t words, const axes box, double inv_scale,
                                      const int32_t *__restrict__ shift,
                                      const state *__restrict__ in, state *__restrict__ x,
                                      coord *__restrict__ fixed)
{
  const int64_t w = md_thread();
  if (w >= words) return;
  const int64_t g = w / 3;
  const int d = (int)(w % 3);
  int s[3];
  md_shift_unpack(shift[g], s);
  const state at = image_at(in[w],
                            d == 0   ? s[0]
                            : d == 1 ? s[1]
                                     : s[2],
                            d == 0   ? box.d[0].edge
                            : d == 1 ? box.d[1].edge
                                     : box.d[2].edge);
  x[4 * g + d] = at;
  if (fixed) fixed[4 * g + d] = coord_from(at, inv_scale);
}

md_status PREC(ranks_gpu_unpack)(comm *cm, md_atoms *atoms, const void *from)
{
  const comm_ranks *ranks = cm->ranks;
  const int64_t words = 3 * ranks->n_in, first = 4 * (atoms->n + ranks->n_own);
  if (words == 0) return MD_OK;
  receive_kernel<<<md_blocks(words, BLOCK), BLOCK, 0, (cudaStream_t)cm->ctx->stream>>>(
      words, axes_of(&atoms->frame), 1 / atoms->coord_scale,
      (const int32_t *)atoms->shift.data + ranks->n_own, (const state *)from,
      (state *)atoms->x.data + first, MD_PREC == 1 ? (coord *)atoms->fixed.data + first : NULL);
  MD_LAUNCHED();
  return MD_OK;
}

/* Thread: one real; index NULL: in their order. */
static __global__ void reals_kernel(int64_t n, const int32_t *__restrict__ index,
                                    const real *__restrict__ from, real *__restrict__ to)
{
  const int64_t k = md_thread();
  if (k < n) to[k] = from[index ? index[k] : k];
}

md_status PREC(ranks_gpu_pack_reals)(comm *cm, const void *values)
{
  const comm_ranks *ranks = cm->ranks;
  if (ranks->n_out == 0) return MD_OK;
  reals_kernel<<<md_blocks(ranks->n_out, BLOCK), BLOCK, 0, (cudaStream_t)cm->ctx->stream>>>(
      ranks->n_out, sent_of(ranks), (const real *)values, (real *)ranks->out.data);
  MD_LAUNCHED();
  return MD_OK;
}

md_status PREC(ranks_gpu_unpack_reals)(comm *cm, const md_atoms *atoms, void *values)
{
  const comm_ranks *ranks = cm->ranks;
  if (ranks->n_in == 0) return MD_OK;
  reals_kernel<<<md_blocks(ranks->n_in, BLOCK), BLOCK, 0, (cudaStream_t)cm->ctx->stream>>>(
      ranks->n_in, NULL, (const real *)ranks->in.data, (real *)values + atoms->n + ranks->n_own);
  MD_LAUNCHED();
  return MD_OK;
}
