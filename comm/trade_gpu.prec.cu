/* comm/trade_gpu.prec.cu - atoms that move house between GPUs of one host: ranks tell each other
 * how many go to whom, and exchange them, while the hosts learn of it.
 *
 * The kernel that finds them ends with a row to all ranks (told_gpu.h).  The next one has two
 * blocks.  One waits for the rows of all and writes them on a board for the host.  The other one
 * waits for them, too: where all fit it stores leaving atoms into mailboxes, in the order of ranks,
 * raises flags, closes up those that stay, waits for flags, takes what came behind them, and posts
 * the counts of images.  All ranks decide alike, and so do their hosts, which launch what follows
 * meanwhile.
 *
 * In a liquid a hundredth of the atoms at a border moves house: one or a few turns of a block. */
#include "comm/houses_gpu.h"
#include "comm/ranks_gpu.h"
#include "comm/told_gpu.h"
#include "core/gpu/launch_gpu.h"

enum { BLOCK = 1024, WARPS = BLOCK / MD_WARP, ROW = TOLD_TO + PEER_RANKS };

/* Rows of all ranks, and what wrapping found here, in the host's memory; row is written last. */
typedef struct {
  unsigned long long row;
  wrap_result wrap;
  int64_t word[];
} told_board;

typedef struct {
  teller tell;
  md_round round;
  int64_t n;
  houses at;
  const int32_t *before, *item;
  const uint32_t *key;
  partition part;
  image_table table;
  item_counts counts; /* of all ranks and images */
  count_post post;
  const wrap_result *wrap; /* of all atoms here; NULL: nobody looked */
  told_board *board;
} trader;

/* Where atoms go to and come from, by rank; in shared memory. */
typedef struct {
  int64_t told[PEER_RANKS * ROW];
  int64_t at[PEER_RANKS]; /* place in its mailbox */
  int32_t count[WARPS][PEER_RANKS];
} trade_store;

static __device__ __forceinline__ int32_t from_to(const trader *a, const trade_store *s,
                                                  int32_t from, int32_t to)
{
  return (int32_t)s->told[from * (TOLD_TO + a->tell.ranks) + TOLD_TO + to];
}

/* Block: the rows of all, to `to`; false: a rank is late. */
static __device__ __forceinline__ bool hear_all(const trader *a, int64_t *to)
{
  bool come = true;
  const int32_t words = a->tell.ranks * (TOLD_TO + a->tell.ranks);
  for (int32_t k = (int32_t)threadIdx.x; k < words && come; k += BLOCK)
    come = hear(&a->tell, k, &to[k]);
  return __syncthreads_and(come);
}

/* Block: what all were told, for the host. */
static __device__ __forceinline__ void show_host(const trader *a)
{
  if (!hear_all(a, a->board->word) || threadIdx.x > 0) return;
  cudaGridDependencySynchronize();
  if (a->wrap) a->board->wrap = *a->wrap;
  __threadfence_system(); /* for all of the block */
  *(volatile unsigned long long *)&a->board->row = a->tell.row;
}

/* Block: whether no rank failed and all have room (as peer_hear); then where atoms go. */
static __device__ __forceinline__ bool plan(const trader *a, trade_store *s)
{
  const int32_t r = (int32_t)threadIdx.x, me = a->tell.me, ranks = a->tell.ranks;
  bool fits = true;
  if (r < ranks) {
    const int64_t *row = s->told + r * (TOLD_TO + ranks);
    int64_t in = 0;
    for (int32_t q = 0; q < ranks; q++) {
      if (q == me) s->at[r] = in;
      in += from_to(a, s, q, r);
    }
    fits = row[TOLD_STATUS] == MD_OK && in <= row[TOLD_ROOM] &&
           (uint64_t)in * sizeof(traveller) <= a->tell.boxes[r].room;
  }
  return __syncthreads_and(fits);
}

/* Items between this rank and all others. */
static __device__ __forceinline__ int32_t sum_of(const trader *a, const trade_store *s, bool out)
{
  int32_t sum = 0;
  for (int32_t q = 0; q < a->tell.ranks; q++)
    sum += out ? from_to(a, s, a->tell.me, q) : from_to(a, s, q, a->tell.me);
  return sum;
}

static __device__ __forceinline__ traveller *slot_of(const trader *a, int32_t rank)
{
  const peer_box *box = a->tell.boxes + rank;
  return (traveller *)(box->mail + box->flags + a->round % MD_SLOTS * box->room);
}

/* Block: atoms that leave to mailboxes, a block of them after the other: in the order of items for
 * each rank. */
static __device__ __forceinline__ void send_leavers(const trader *a, trade_store *s,
                                                    int32_t leavers)
{
  const int32_t warp = (int32_t)threadIdx.x / MD_WARP, lane = (int32_t)threadIdx.x % MD_WARP;
  const int32_t ranks = a->tell.ranks;
  for (int32_t begin = 0; begin < leavers; begin += BLOCK) {
    const int32_t p = begin + (int32_t)threadIdx.x;
    const int32_t rank = p < leavers ? (int32_t)a->key[p] : -1;
    for (int32_t r = lane; r < ranks; r += MD_WARP)
      s->count[warp][r] = 0;
    __syncwarp();
    const unsigned alike = __match_any_sync(MD_ALL_LANES, rank);
    int32_t k = __popc(alike & ((1u << lane) - 1));
    if (rank >= 0 && k == 0) s->count[warp][rank] = __popc(alike);
    __syncthreads();
    if (rank >= 0) {
      for (int32_t w = 0; w < warp; w++)
        k += s->count[w][rank];
      slot_of(a, rank)[s->at[rank] + k] = leave_house(&a->at, a->item[p]);
    }
    __syncthreads();
    for (int32_t r = (int32_t)threadIdx.x; r < ranks; r += BLOCK)
      for (int32_t w = 0; w < WARPS; w++)
        s->at[r] += s->count[w][r];
    __syncthreads();
  }
}

/* Block: what this one stored is on its way to those who wait for it. */
static __device__ __forceinline__ void raise_flags(const trader *a, const trade_store *s)
{
  __syncthreads();
  const int32_t r = (int32_t)threadIdx.x, me = a->tell.me;
  if (r >= a->tell.ranks || from_to(a, s, me, r) == 0) return;
  raise_flag((md_round *)a->tell.boxes[r].mail + me, a->round);
}

/* Block: what comes may be read; false: a rank is late. */
static __device__ __forceinline__ bool await_flags(const trader *a, const trade_store *s)
{
  const int32_t r = (int32_t)threadIdx.x, me = a->tell.me;
  bool come = true;
  if (r < a->tell.ranks && from_to(a, s, r, me) > 0) {
    const md_round *flag = (const md_round *)a->tell.boxes[me].mail + r;
    const unsigned long long began = nanoseconds();
    while (load_flag(flag) < a->round && come)
      come = !is_late(began);
    if (!come) a->tell.late->rank = r;
  }
  return __syncthreads_and(come);
}

/* Block: behind the n atoms that stayed; their images are counted where those of others are. */
static __device__ __forceinline__ void take_all(const trader *a, int64_t n, int32_t arrivals)
{
  const traveller *in = slot_of(a, a->tell.me);
  uint32_t *tally = open_tally(&a->counts);
  for (int32_t k = (int32_t)threadIdx.x; k < arrivals; k += BLOCK) {
    const traveller t = in[k];
    enter_house(&a->at, n + k, &t);
    tally_images(&a->counts, tally, &a->table, head_at(&a->table, &a->part, t.x, t.image));
  }
  close_tally(&a->counts, tally);
  __threadfence(); /* of what was added, before it is read past the L1 */
  __syncthreads();
  write_board(&a->counts, &a->post);
}

static __global__ void __launch_bounds__(BLOCK) trade_kernel(const __grid_constant__ trader a)
{
  __shared__ trade_store s;
  if (blockIdx.x > 0) {
    show_host(&a);
    return;
  }
  if (!hear_all(&a, s.told) || !plan(&a, &s)) return;
  cudaGridDependencySynchronize();
  const int32_t leavers = sum_of(&a, &s, true), arrivals = sum_of(&a, &s, false);
  const int64_t kept = a.n - leavers;
  send_leavers(&a, &s, leavers);
  raise_flags(&a, &s);
  for (int64_t i = kept + threadIdx.x; i < a.n; i += BLOCK)
    close_up(&a.at, i, kept, a.before, a.item);
  if (await_flags(&a, &s)) take_all(&a, kept, arrivals);
}

/* A row of a rank that failed before. */
static __global__ void fail_kernel(const teller tell, int32_t status)
{
  tell_all(&tell, status, 0, 0, NULL);
}

/* Where the host is told. */
static md_status open_board(comm *cm, told_board **out)
{
  md_buffer *told = &cm->ranks->gpu.told;
  const size_t ranks = (size_t)world_count();
  if (!told->data) {
    MD_TRY(md_shared_reserve(cm->ctx, told,
                             sizeof(told_board) + ranks * (TOLD_TO + ranks) * sizeof(int64_t)));
    memset(told->data, 0, told->bytes);
  }
  *out = (told_board *)told->data;
  return MD_OK;
}

static md_status open_trade(comm *cm, const md_atoms *atoms, const teller *tell, trader *out)
{
  const comm_ranks *ranks = cm->ranks;
  const ranks_gpu *gpu = &ranks->gpu;
  out->tell = *tell;
  out->round = ranks->peer.mail.round + 1;
  out->n = atoms->n;
  out->at = houses_of(atoms);
  out->before = (const int32_t *)gpu->before.data, out->item = (const int32_t *)gpu->item.data;
  out->key = (const uint32_t *)gpu->key.data;
  out->part = part_of(ranks), out->table = table_of(ranks);
  out->counts = counts_of(ranks);
  out->wrap = gpu->wrap.data ? (const wrap_result *)gpu->wrap.data + 1 : NULL;
  return open_post(cm, out->counts.ranks, out->counts.keys, &out->post);
}

/* Owned atoms that there is room for. */
md_status PREC(ranks_gpu_trade)(comm *cm, md_atoms *atoms, double back, md_status *mine,
                                const int64_t **told)
{
  const cudaStream_t stream = (cudaStream_t)cm->ctx->stream;
  trader a = {};
  MD_TRY(peer_map(cm));
  MD_TRY(open_board(cm, &a.board));
  cm->ranks->peer.mail.told++;
  const teller tell = teller_of(cm);
  if (!*mine) *mine = PREC(ranks_gpu_find_leavers)(cm, atoms, back, &tell, ranks_atom_room(atoms));
  if (*mine) fail_kernel<<<1, BLOCK, 0, stream>>>(tell, *mine);
  MD_TRY(open_trade(cm, atoms, &tell, &a));
  cudaLaunchAttribute overlap;
  cudaLaunchConfig_t config = md_launch_config(cm->ctx, dim3(2), BLOCK, true, &overlap);
  config.dynamicSmemBytes = near_bytes(&a.counts);
  MD_CUDA(cudaLaunchKernelEx(&config, trade_kernel, a));
  MD_TRY(await_board(cm, &a.board->row, tell.row));
  if (!*mine) *mine = check_wrap(&a.board->wrap, &cm->moved_sq);
  *told = a.board->word;
  return MD_OK;
}
