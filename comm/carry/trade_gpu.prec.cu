/* comm/carry/trade_gpu.prec.cu - atoms that move house between GPUs of one host: ranks tell each
 * other how many go to whom, and exchange them, while the hosts learn of it.
 *
 * The kernel that finds them ends with a row to all ranks (told_gpu.h).  Of the next one a block
 * waits for the rows of all and writes them on a board for the host.  The others wait for them,
 * too: where all fit each stores its share of the leaving atoms into mailboxes, in the order of
 * ranks; the last of them raises flags.  Then they wait for flags, and what came behind them takes
 * the places of atoms that left: a block takes those of its own share, which it has read.  The last
 * one posts the counts of images.  All ranks decide alike, and so do their hosts, which launch what
 * follows meanwhile.
 *
 * In a liquid a hundredth of the atoms at a border moves house: a turn of each block or two. */
#include "comm/houses_gpu.h"
#include "comm/ranks_gpu.h"
#include "comm/carry/told_gpu.h"

enum {
  BLOCK = 256,
  WARPS = BLOCK / MD_WARP,
  TRADERS = 32, /* blocks; one more shows the host */
  ROW = TOLD_TO + PEER_RANKS
};

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
  come_counts *come;       /* traders */
  const wrap_result *wrap; /* of all atoms here; NULL: nobody looked */
  told_board *board;
  unsigned long long board_round;
} trader;

/* In shared memory: mailboxes, rows of all ranks; where in a mailbox the next atom goes. */
typedef struct {
  peer_box box[PEER_RANKS];
  int64_t told[PEER_RANKS * ROW], at[PEER_RANKS];
  int32_t count[WARPS][PEER_RANKS];
  bool last;
} trade_store;

/* A block's share of the leaving atoms. */
typedef struct {
  int32_t all, begin, end;
} trade_share;

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

/* Block: whether no rank failed and all have room (as peer_hear); then where its share goes, which
 * lies behind s->at others. */
static __device__ __forceinline__ bool plan(const trader *a, trade_store *s)
{
  const int32_t r = (int32_t)threadIdx.x, me = a->tell.me, ranks = a->tell.ranks;
  bool fits = true;
  if (r < ranks) {
    const int64_t *row = s->told + r * (TOLD_TO + ranks);
    int64_t in = 0;
    for (int32_t q = 0; q < ranks; q++) {
      if (q == me) s->at[r] += in;
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

static __device__ __forceinline__ void load_departure(const trader *a, int32_t p, int32_t end,
                                                      departure *out)
{
  out->rank = -1;
  if (p >= end) return;
  out->rank = (int32_t)a->key[p];
  out->atom = leave_house(&a->at, a->item[p]);
}

/* Block: its share to mailboxes, a block of them after the other, of which each thread has its
 * first: in the order of items for each rank. */
static __device__ __forceinline__ void send_leavers(const trader *a, trade_store *s,
                                                    const trade_share *share, departure *mine)
{
  const int32_t warp = (int32_t)threadIdx.x / MD_WARP, lane = (int32_t)threadIdx.x % MD_WARP;
  const int32_t ranks = a->tell.ranks;
  for (int32_t begin = share->begin; begin < share->end; begin += BLOCK) {
    if (begin > share->begin) load_departure(a, begin + (int32_t)threadIdx.x, share->end, mine);
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

/* Block: whether it is the last of the traders that comes here: it sees what all wrote before. */
static __device__ __forceinline__ bool is_last_trader(trade_store *s, uint32_t *come)
{
  __syncthreads();
  if (threadIdx.x == 0) {
    s->last = arrive(come) == TRADERS - 1;
    if (s->last) *come = 0;
  }
  __syncthreads();
  return s->last;
}

/* Block: what all traders stored is on its way to those who wait for it. */
static __device__ __forceinline__ void raise_flags(const trader *a, const trade_store *s)
{
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

static __device__ __forceinline__ int32_t arrivals_of(const trader *a, const trade_store *s)
{
  int32_t arrivals = 0;
  for (int32_t q = 0; q < a->tell.ranks; q++)
    arrivals += from_to(a, s, q, a->tell.me);
  return arrivals;
}

/* The k-th that arrives; its images are counted where those of others are. */
static __device__ __forceinline__ void take_one(const trader *a, const gaps *g, const traveller *in,
                                                int32_t k, uint32_t *tally)
{
  const traveller t = in[k];
  enter_house(&a->at, place_of(g, k), &t);
  tally_images(&a->counts, tally, &a->table, head_at(&a->table, &a->part, t.x, t.image));
}

/* Block: to the places of its share, and of those behind all every TRADERS-th. */
static __device__ __forceinline__ void take_share(const trader *a, const trade_store *s,
                                                  const trade_share *share, const gaps *g,
                                                  int32_t arrivals)
{
  const traveller *in = slot_of(a, s, a->tell.me);
  uint32_t *tally = open_tally(&a->counts);
  const int32_t end = min(share->end, arrivals), t = (int32_t)threadIdx.x;
  for (int32_t k = share->begin + t; k < end; k += BLOCK)
    take_one(a, g, in, k, tally);
  for (int32_t k = share->all + (int32_t)blockIdx.x * BLOCK + t; k < arrivals; k += TRADERS * BLOCK)
    take_one(a, g, in, k, tally);
  close_tally(&a->counts, tally);
}

/* Block: what is known here before others are heard: mailboxes, its share, and how many of those
 * before it leave for each rank. */
static __device__ __forceinline__ trade_share open_trade(const trader *a, trade_store *s)
{
  int32_t all = 0;
  for (int32_t r = 0; r < a->tell.ranks && a->counts.keys > 0; r++)
    all += (int32_t)a->counts.all[r];
  const int32_t each = (all + TRADERS - 1) / TRADERS, begin = min((int32_t)blockIdx.x * each, all);
  const int32_t r = (int32_t)threadIdx.x, lane = r % MD_WARP;
  if (r < a->tell.ranks) s->box[r] = a->tell.boxes[r], s->at[r] = 0;
  __syncthreads();
  for (int32_t k = r; k - lane < begin; k += BLOCK) {
    const int32_t rank = k < begin ? (int32_t)a->key[k] : -1;
    const unsigned alike = __match_any_sync(MD_ALL_LANES, rank);
    if (rank >= 0 && (alike & ((1u << lane) - 1)) == 0)
      atomicAdd((unsigned long long *)&s->at[rank], (unsigned long long)__popc(alike));
  }
  return (trade_share){all, begin, min(begin + each, all)};
}

static __global__ void __launch_bounds__(BLOCK) trade_kernel(const __grid_constant__ trader a)
{
  __shared__ trade_store s;
  cudaGridDependencySynchronize();
  if (blockIdx.x == TRADERS) {
    show_host(&a);
    return;
  }
  departure mine;
  const trade_share share = open_trade(&a, &s);
  load_departure(&a, share.begin + (int32_t)threadIdx.x, share.end, &mine);
  if (!hear_all(&a, s.told) || !plan(&a, &s)) return;
  send_leavers(&a, &s, &share, &mine);
  const gaps left = {a.n, share.all, a.item};
  const int32_t arrivals = arrivals_of(&a, &s);
  if (is_last_trader(&s, &a.come->sent)) {
    raise_flags(&a, &s);
    for (int32_t k = (int32_t)threadIdx.x; k < share.all - arrivals; k += BLOCK)
      close_gap(&a.at, &left, arrivals, k);
  }
  if (!await_flags(&a, &s)) return;
  take_share(&a, &s, &share, &left, arrivals);
  if (is_last_trader(&s, &a.come->taken)) write_board(&a.counts, &a.post);
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
  MD_TRY(open_post(cm, out->counts.ranks, out->counts.keys, &out->post));
  out->come = (come_counts *)gpu->come.data;
  return MD_OK;
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
  cudaLaunchAttribute overlap;
  cudaLaunchConfig_t config = md_launch_config(cm->ctx, dim3(TRADERS + 1), BLOCK, true, &overlap);
  config.dynamicSmemBytes = near_bytes(&a.counts);
  MD_CUDA(cudaLaunchKernelEx(&config, trade_kernel, a));
  MD_TRY(await_board(cm, &a.board->round, a.board_round));
  if (!*mine) *mine = check_wrap(&a.board->wrap, &cm->moved_sq);
  *told = a.board->word;
  return MD_OK;
}
