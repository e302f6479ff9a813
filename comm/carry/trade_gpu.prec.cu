/* comm/carry/trade_gpu.prec.cu - atoms that move house between GPUs of one host: ranks tell each
 * other how many go to whom, and exchange them, while the hosts learn of it.
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
#include "comm/carry/told_gpu.h"

enum { BLOCK = 1024, WARPS = BLOCK / MD_WARP, ROW = TOLD_TO + PEER_RANKS };

/* Rows of all ranks, and what wrapping found here, in the host's memory; the round is written
 * last. */
typedef struct {
  unsigned long long round;
  wrap_result wrap;
  int64_t word[];
} told_board;

typedef struct {
  teller tell;
  md_round round;
  int64_t n;
  houses at;
  const int32_t *item;
  const uint32_t *key;
  partition part;
  image_table table;
  item_counts counts; /* of all ranks and images */
  count_post post;
  const wrap_result *wrap; /* of all atoms here; NULL: nobody looked */
  told_board *board;
  unsigned long long board_round;
} trader;

/* In shared memory: mailboxes, rows of all ranks; where in a mailbox the next atom goes. */
typedef struct {
  peer_box box[PEER_RANKS];
  int64_t told[PEER_RANKS * ROW], at[PEER_RANKS];
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
  if (a->wrap) a->board->wrap = *a->wrap;
  __threadfence_system(); /* for all of the block */
  *(volatile unsigned long long *)&a->board->round = a->board_round;
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
           (uint64_t)in * sizeof(traveller) <= s->box[r].room;
  }
  return __syncthreads_and(fits);
}

static __device__ __forceinline__ traveller *slot_of(const trader *a, const trade_store *s,
                                                     int32_t rank)
{
  const peer_box *box = &s->box[rank];
  return (traveller *)(box->mail + box->flags + a->round % MD_SLOTS * box->room);
}

/* An atom that leaves, and for which rank; -1: there is none. */
typedef struct {
  int32_t rank;
  traveller atom;
} departure;

static __device__ __forceinline__ void load_departure(const trader *a, int32_t p, int32_t leavers,
                                                      departure *out)
{
  out->rank = -1;
  if (p >= leavers) return;
  out->rank = (int32_t)a->key[p];
  out->atom = leave_house(&a->at, a->item[p]);
}

/* Block: atoms that leave to mailboxes, a block of them after the other, of which each thread has
 * its first: in the order of items for each rank. */
static __device__ __forceinline__ void send_leavers(const trader *a, trade_store *s,
                                                    int32_t leavers, departure *mine)
{
  const int32_t warp = (int32_t)threadIdx.x / MD_WARP, lane = (int32_t)threadIdx.x % MD_WARP;
  const int32_t ranks = a->tell.ranks;
  for (int32_t begin = 0; begin < leavers; begin += BLOCK) {
    if (begin > 0) load_departure(a, begin + (int32_t)threadIdx.x, leavers, mine);
    const int32_t rank = mine->rank;
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
      slot_of(a, s, rank)[s->at[rank] + k] = mine->atom;
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
  raise_flag((md_round *)s->box[r].mail + me, a->round);
}

/* Block: what comes may be read; false: a rank is late. */
static __device__ __forceinline__ bool await_flags(const trader *a, const trade_store *s)
{
  const int32_t r = (int32_t)threadIdx.x, me = a->tell.me;
  bool come = true;
  if (r < a->tell.ranks && from_to(a, s, r, me) > 0) {
    const md_round *flag = (const md_round *)s->box[me].mail + r;
    const unsigned long long began = nanoseconds();
    while (load_flag(flag) < a->round && come)
      come = !is_late(began);
    if (!come) a->tell.late->rank = r;
  }
  return __syncthreads_and(come);
}

/* Block: behind the n atoms that stayed; their images are counted where those of others are, and
 * the host is told. */
static __device__ __forceinline__ void take_all(const trader *a, const trade_store *s,
                                                uint32_t *tally, int64_t n)
{
  const traveller *in = slot_of(a, s, a->tell.me);
  int32_t arrivals = 0;
  for (int32_t q = 0; q < a->tell.ranks; q++)
    arrivals += from_to(a, s, q, a->tell.me);
  for (int32_t k = (int32_t)threadIdx.x; k < arrivals; k += BLOCK) {
    const traveller t = in[k];
    enter_house(&a->at, n + k, &t);
    tally_images(&a->counts, tally, &a->table, head_at(&a->table, &a->part, t.x, t.image));
  }
  __syncthreads();
  for (int32_t k = (int32_t)threadIdx.x; k < a->counts.keys; k += BLOCK)
    a->counts.all[k] = a->post.board->count[k] = *(volatile uint32_t *)&tally[k];
  __syncthreads();
  if (threadIdx.x > 0) return;
  __threadfence_system(); /* for all of the block */
  *(volatile unsigned long long *)&a->post.board->round = a->post.round;
}

/* Block: what is known here before others are heard: mailboxes, counts, and how many leave. */
static __device__ __forceinline__ int32_t open_trade(const trader *a, trade_store *s,
                                                     uint32_t **tally)
{
  extern __shared__ uint32_t near_counts[];
  int32_t leavers = 0;
  *tally = a->counts.keys > NEAR_COUNTS ? a->counts.all : near_counts;
  if ((int32_t)threadIdx.x < a->tell.ranks) s->box[threadIdx.x] = a->tell.boxes[threadIdx.x];
  if (*tally == near_counts)
    for (int32_t k = (int32_t)threadIdx.x; k < a->counts.keys; k += BLOCK)
      near_counts[k] = a->counts.all[k];
  __syncthreads();
  for (int32_t r = 0; r < a->tell.ranks && a->counts.keys > 0; r++)
    leavers += (int32_t)(*tally)[r];
  return leavers;
}

static __global__ void __launch_bounds__(BLOCK) trade_kernel(const __grid_constant__ trader a)
{
  __shared__ trade_store s;
  if (blockIdx.x > 0) {
    show_host(&a);
    return;
  }
  uint32_t *tally;
  departure mine;
  const int32_t leavers = open_trade(&a, &s, &tally);
  const int64_t kept = a.n - leavers;
  load_departure(&a, (int32_t)threadIdx.x, leavers, &mine);
  if (!hear_all(&a, s.told) || !plan(&a, &s)) return;
  send_leavers(&a, &s, leavers, &mine);
  raise_flags(&a, &s);
  const int32_t gaps = leavers_before(a.item, leavers, kept);
  for (int64_t i = kept + threadIdx.x; i < a.n; i += BLOCK)
    close_up(&a.at, i, kept, gaps, a.item, leavers);
  if (await_flags(&a, &s)) take_all(&a, &s, tally, kept);
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

static md_status make_trader(comm *cm, const md_atoms *atoms, const teller *tell, trader *out)
{
  const comm_ranks *ranks = cm->ranks;
  const ranks_gpu *gpu = &ranks->gpu;
  out->tell = *tell;
  out->round = ranks->peer.mail.round + 1;
  out->n = atoms->n;
  out->at = houses_of(atoms);
  out->item = (const int32_t *)gpu->item.data, out->key = (const uint32_t *)gpu->key.data;
  out->part = part_of(ranks), out->table = table_of(ranks);
  out->counts = counts_of(ranks);
  out->wrap = gpu->wrap.data ? (const wrap_result *)gpu->wrap.data + 1 : NULL;
  return open_post(cm, out->counts.ranks, out->counts.keys, &out->post);
}

/* What a rank that failed before tells is its status alone. */
md_status PREC(ranks_gpu_trade)(comm *cm, md_atoms *atoms, double back, md_status *mine,
                                const int64_t **told)
{
  const cudaStream_t stream = (cudaStream_t)cm->ctx->stream;
  trader a = {};
  MD_TRY(peer_map(cm));
  MD_TRY(open_board(cm, &a.board));
  a.board_round = ++cm->ranks->gpu.told_round;
  cm->ranks->peer.mail.told++;
  const teller tell = teller_of(cm);
  if (!*mine) *mine = PREC(ranks_gpu_find_leavers)(cm, atoms, back, &tell, ranks_atom_room(atoms));
  if (*mine) fail_kernel<<<1, BLOCK, 0, stream>>>(tell, *mine);
  MD_TRY(make_trader(cm, atoms, &tell, &a));
  trade_kernel<<<2, BLOCK, near_bytes(&a.counts), stream>>>(a);
  MD_LAUNCHED();
  MD_TRY(await_board(cm, &a.board->round, a.board_round));
  if (!*mine) *mine = check_wrap(&a.board->wrap, &cm->moved_sq);
  *told = a.board->word;
  return MD_OK;
}
