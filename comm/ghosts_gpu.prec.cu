/* comm/ghosts_gpu.prec.cu - ghosts of other ranks' atoms after a rebuild, made and read on the GPU
 * (ranks_gpu.h).
 *
 * One kernel finds the place of each image from counts of those before it (list_gpu.prec.cu), makes
 * ghosts of the own rank and sends the others, positions along with names, and takes what comes.
 * Bytes: an image is 8 of item and key, and 48 to 64 where it becomes a ghost. */
#include "comm/images_gpu.h"
#include "comm/ranks_gpu.h"

#include <string.h>

enum {
  BLOCK = 256,
  ITEMS = SHARE_ITEMS, /* of a block that sorts them */
  KEYS = SHARE_KEYS    /* targets that it takes at once */
};

/* What another rank is told of a ghost, as words of 16 bytes: where it is, with its charge; the
 * halves of its id, its shift and md_frame_home. */
typedef struct {
  state4 x;
  uint4 name;
} ghost_letter;

size_t PREC(ranks_gpu_name_bytes)(const md_atoms *atoms)
{
  (void)atoms;
  return sizeof(ghost_letter);
}

/* Ghosts of other ranks' atoms, and what they become; x and fixed are those of the ghosts. */
typedef struct {
  int64_t ghosts;
  const ghost_letter *in;
  double inv_scale;
  state4 *x;
  coord4 *fixed; /* or NULL */
  int32_t *home, *shift;
  int64_t *ghost_id;
} taker;

static __device__ __forceinline__ void take_ghost(const taker *t, int64_t k)
{
  if (k >= t->ghosts) return;
  const ghost_letter letter = t->in[k];
  t->home[k] = (int32_t)letter.name.w, t->shift[k] = (int32_t)letter.name.z;
  t->ghost_id[k] = (int64_t)((uint64_t)letter.name.y << 32 | letter.name.x);
  t->x[k] = letter.x;
  if (t->fixed) t->fixed[k] = verlet_coord(letter.x, t->inv_scale);
}

static taker taker_of(const comm_ranks *ranks, const md_atoms *atoms, const void *from)
{
  const int64_t at = ranks->n_own, first = atoms->n + at;
  coord4 *fixed = fixed_of(atoms);
  return (taker){ranks->n_in,
                 (const ghost_letter *)from,
                 1 / atoms->coord_scale,
                 (state4 *)atoms->x.data + first,
                 fixed ? fixed + first : NULL,
                 (int32_t *)atoms->home.data + at,
                 (int32_t *)atoms->shift.data + at,
                 (int64_t *)atoms->ghost_id.data + at};
}

/* What ghosts are made of, and what they become. */
typedef struct {
  int64_t n, n_own, items;
  int32_t targets;
  const uint32_t *count; /* of each target */
  const int32_t *share;
  const int32_t *item;
  const uint32_t *key;
  const partition_target *target;
  axes box;
  double inv_scale;
  state4 *x;
  coord4 *fixed; /* or NULL */
  const int64_t *id;
  const int32_t *crossed; /* images of atoms [n][3]; NULL: one frame */
  int32_t frames[3];
  int32_t *index, *home, *shift;
  int64_t *ghost_id;
  md_image *image;   /* of items, for kernels that send them (core/mail.h); else NULL */
  ghost_letter *out; /* a message to all, but by mailboxes */
  mail_round by;
  peer_part part[PEER_RANKS]; /* of each way */
  unsigned blocks; /* that name images; behind them are those that take ghosts of others */
  taker take;
} namer;

/* Where item k of those that are sent goes. */
static __device__ __forceinline__ md_image sent_to(const namer *a, int64_t k)
{
  int32_t w = 0;
  while (w + 1 < a->by.n_ways && k >= a->part[w + 1].first)
    w++;
  return (md_image){(int32_t)(a->part[w].at + (k - a->part[w].first)), w, 0, 0};
}

/* Ghost k, image of item p. */
static __device__ __forceinline__ void name_image(const namer *a, int64_t k, int64_t p)
{
  const int32_t i = a->item[p], by = a->target[a->key[p]].shift;
  int s[3];
  md_shift_unpack(by, s);
  const state4 x = shifted(&a->box, a->x[i], s);
  a->index[k] = i;
  if (k < a->n_own) {
    a->home[k] = i, a->shift[k] = by, a->ghost_id[k] = a->id[i];
    a->x[a->n + k] = x;
    if (a->fixed) a->fixed[a->n + k] = verlet_coord(x, a->inv_scale);
    if (a->image) a->image[p] = (md_image){(int32_t)k, -1, by, 0};
    return;
  }
  ghost_letter *to = a->out + (k - a->n_own);
  md_image image = {(int32_t)(k - a->n_own), 0, by, 0}; /* by way of the outbox (relay.h) */
  if (a->by.on) {
    image = sent_to(a, k - a->n_own);
    image.shift = by;
    to = (ghost_letter *)a->by.ways[image.way].slot[a->by.round % MD_SLOTS] + image.to;
  }
  if (a->image) a->image[p] = image;
  const uint64_t id = (uint64_t)a->id[i];
  const int32_t home = a->crossed ? md_frame_home(a->frames, a->crossed + 3 * (int64_t)i, by) : -1;
  to->x = x;
  to->name = make_uint4((uint32_t)id, (uint32_t)(id >> 32), (uint32_t)by, (uint32_t)home);
}

/* Warp: this lane's place among those with its key, in the order of lanes; *all: how many there
 * are. */
static __device__ __forceinline__ int32_t rank_in_warp(int32_t key, int32_t *all)
{
  const unsigned alike = __match_any_sync(MD_ALL_LANES, key);
  *all = __popc(alike);
  return __popc(alike & ((1u << threadIdx.x % MD_WARP) - 1));
}

/* Block: where the items of target t0 + t before this block's end, to first[t] for t < end.  They
 * are those of the groups of blocks before, and of the blocks before in its own. */
static __device__ __forceinline__ void find_firsts(const namer *a, int32_t t0, int32_t end,
                                                   int32_t first[KEYS])
{
  const int32_t t = (int32_t)threadIdx.x % KEYS, slice = (int32_t)threadIdx.x / KEYS;
  if (slice == 0) first[t] = 0;
  __syncthreads();
  if (t < end) {
    const int64_t group = blockIdx.x / SHARE_GROUP, all = a->blocks;
    int32_t sum = 0;
    for (int64_t g = slice; g < group; g += ITEMS / KEYS)
      sum += a->share[(all + g) * a->targets + t0 + t];
    for (int64_t b = group * SHARE_GROUP + slice; b < blockIdx.x; b += ITEMS / KEYS)
      sum += a->share[b * a->targets + t0 + t];
    for (int32_t q = slice; q < t0 + t; q += ITEMS / KEYS)
      sum += (int32_t)a->count[q];
    if (sum > 0) atomicAdd(&first[t], sum);
  }
  __syncthreads();
}

/* Block: parts of ways to where kernels of later steps find them. */
static __device__ __forceinline__ void place_parts(const namer *a)
{
  const int32_t w = (int32_t)threadIdx.x;
  if (!a->by.on || w >= a->by.n_ways) return;
  md_way *way = (md_way *)a->by.ways + w;
  way->at = a->part[w].at, way->first = a->part[w].first, way->count = a->part[w].count;
}

/* Thread: one item: its place in the order of targets, the order of items within.  Of the last
 * blocks: a ghost of another rank's atom, where mailboxes carry them.  Blocks begin in their order,
 * and those that name images wait for nobody. */
static __global__ void __launch_bounds__(ITEMS) name_kernel(const __grid_constant__ namer a)
{
  cudaGridDependencySynchronize();
  cudaTriggerProgrammaticLaunchCompletion();
  if (blockIdx.x >= a.blocks) {
    await_round(&a.by);
    take_ghost(&a.take, md_thread() - (int64_t)a.blocks * ITEMS);
    return;
  }
  __shared__ int32_t first[KEYS], count[ITEMS / MD_WARP][KEYS];
  const int64_t p = md_thread();
  if (blockIdx.x == 0) place_parts(&a);
  const int32_t warp = (int32_t)threadIdx.x / MD_WARP, t = (int32_t)threadIdx.x % KEYS;
  const int32_t mine = p < a.items ? (int32_t)a.key[p] : -1;
  for (int32_t t0 = 0; t0 < a.targets; t0 += KEYS) {
    const int32_t end = min(a.targets - t0, (int32_t)KEYS);
    for (int32_t w = (int32_t)threadIdx.x / KEYS; w < ITEMS / MD_WARP; w += ITEMS / KEYS)
      count[w][t] = 0;
    find_firsts(&a, t0, end, first);
    const bool now = mine >= t0 && mine < t0 + end;
    int32_t alike;
    const int32_t rank = rank_in_warp(now ? mine : -1, &alike);
    if (now && rank == 0) count[warp][mine - t0] = alike;
    __syncthreads();
    if (now) {
      int32_t k = first[mine - t0] + rank;
      for (int32_t w = 0; w < warp; w++)
        k += count[w][mine - t0];
      name_image(&a, k, p);
    }
    __syncthreads();
  }
  if (a.by.on) close_round(a.by.come, a.blocks, a.by.n_ways, a.by.ways, a.by.round);
}

md_status PREC(ranks_gpu_name_images)(comm *cm, md_atoms *atoms)
{
  comm_ranks *ranks = cm->ranks;
  const ranks_gpu *gpu = &ranks->gpu;
  const int64_t items = ranks->n_own + ranks->n_out;
  const bool by_peers = ranks->carrier == COMM_PEER, inside = comm_sends_inside(cm);
  if (items == 0 && !by_peers) return MD_OK;
  if (inside)
    MD_TRY(md_buffer_reserve(cm->ctx, &cm->ranks->gpu.image, (size_t)items * sizeof(md_image), 0));
  namer a = {};
  a.n = atoms->n, a.n_own = ranks->n_own, a.items = items;
  a.targets = items > 0 ? ranks->halo.n_targets : 0;
  a.count = counts_of(ranks).all + world_count();
  a.share = (const int32_t *)gpu->share.data;
  a.item = (const int32_t *)gpu->item.data, a.key = (const uint32_t *)gpu->key.data;
  a.target = (const partition_target *)gpu->target.data;
  a.box = axes_of(&atoms->frame), a.inv_scale = 1 / atoms->coord_scale;
  a.x = (state4 *)atoms->x.data, a.fixed = fixed_of(atoms);
  a.id = (const int64_t *)atoms->id.data;
  a.crossed = md_atoms_is_cut(atoms) ? (const int32_t *)atoms->image.data : NULL;
  memcpy(a.frames, atoms->frames, sizeof a.frames);
  a.index = (int32_t *)ranks->index.data;
  a.home = (int32_t *)atoms->home.data, a.shift = (int32_t *)atoms->shift.data;
  a.ghost_id = (int64_t *)atoms->ghost_id.data;
  a.image = inside ? (md_image *)gpu->image.data : NULL, a.out = (ghost_letter *)ranks->out.data;
  a.by = round_of(ranks, by_peers);
  a.blocks = md_blocks(items > 0 ? items : 1, ITEMS);
  unsigned takers = 0;
  if (by_peers) {
    a.take = taker_of(ranks, atoms, peer_mail(cm));
    for (int w = 0; w < a.by.n_ways; w++) {
      const md_way *way = &ranks->peer.way[w];
      a.part[w] = (peer_part){way->at, way->first, way->count};
    }
    takers = md_blocks(ranks->n_in + 1, ITEMS);
  }
  cudaLaunchAttribute overlap;
  const cudaLaunchConfig_t config =
      md_launch_config(cm->ctx, dim3(a.blocks + takers), ITEMS, true, &overlap);
  MD_CUDA(cudaLaunchKernelEx(&config, name_kernel, a));
  return MD_OK;
}

/* Thread: one ghost of another rank's atom. */
static __global__ void take_kernel(const taker t)
{
  take_ghost(&t, md_thread());
}

md_status PREC(ranks_gpu_take_names)(comm *cm, md_atoms *atoms, const void *from)
{
  const comm_ranks *ranks = cm->ranks;
  if (ranks->n_in == 0) return MD_OK;
  take_kernel<<<md_blocks(ranks->n_in, BLOCK), BLOCK, 0, (cudaStream_t)cm->ctx->stream>>>(
      taker_of(ranks, atoms, from));
  MD_LAUNCHED();
  return MD_OK;
}
