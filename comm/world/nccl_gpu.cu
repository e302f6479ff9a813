/* comm/world/nccl_gpu.cu - messages between GPUs by NVIDIA's library, also between hosts: one a
 * neighbour and exchange, queued on the stream, so that the host waits for none.
 *
 * libnccl is loaded when it is asked for (core/library.h).  It refuses two ranks on one GPU. */
#include "comm/gpus.h"
#include "core/gpu/cuda.h"
#include "core/library.h"

/* What is used of the library, whose header may not be there: names without `nccl`. */
enum { SUCCESS = 0, CHAR = 0 };
typedef struct {
  char bytes[128];
} unique_id;
typedef struct {
  int (*get_id)(unique_id *id);
  int (*init)(void **communicator, int ranks, unique_id id, int rank);
  int (*abandon)(void *communicator);
  int (*begin)(void);
  int (*end)(void);
  int (*send)(const void *data, size_t count, int type, int rank, void *communicator,
              cudaStream_t stream);
  int (*receive)(void *data, size_t count, int type, int rank, void *communicator,
                 cudaStream_t stream);
  const char *(*words)(int result);
} nccl_library;

static md_status open_library(const nccl_library **out)
{
  static nccl_library library;
  static const char *const names[] = {"ncclGetUniqueId", "ncclCommInitRank",  "ncclCommAbort",
                                      "ncclGroupStart",  "ncclGroupEnd",      "ncclSend",
                                      "ncclRecv",        "ncclGetErrorString"};
  void **const places[] = {(void **)&library.get_id,  (void **)&library.init,
                           (void **)&library.abandon, (void **)&library.begin,
                           (void **)&library.end,     (void **)&library.send,
                           (void **)&library.receive, (void **)&library.words};
  *out = &library;
  if (library.words) return MD_OK;
  return md_library_open("libnccl.so.2", "the carrier nccl needs NCCL",
                         sizeof names / sizeof *names, names, places);
}

static md_status check(const nccl_library *nccl, int result, const char *call)
{
  if (result == SUCCESS) return MD_OK;
  return MD_FAIL(MD_ECUDA, "%s: NCCL says: %s", call, nccl->words(result));
}

md_status nccl_gpu_open(void **communicator)
{
  const nccl_library *nccl;
  unique_id id = {};
  *communicator = NULL;
  MD_TRY(world_agree(open_library(&nccl)));
  md_status status = MD_OK;
  if (world_rank() == 0) status = check(nccl, nccl->get_id(&id), "ncclGetUniqueId");
  MD_TRY(world_agree(status));
  world_broadcast(&id, sizeof id);
  status =
      check(nccl, nccl->init(communicator, world_count(), id, world_rank()), "ncclCommInitRank");
  return world_agree(status);
}

md_status nccl_gpu_start(md_ctx *ctx, void *communicator, const world_message *in, int n_in,
                         const world_message *out, int n_out)
{
  const nccl_library *nccl;
  const cudaStream_t stream = (cudaStream_t)ctx->stream;
  MD_TRY(open_library(&nccl));
  MD_TRY(check(nccl, nccl->begin(), "ncclGroupStart"));
  for (int k = 0; k < n_in; k++)
    MD_TRY(check(nccl,
                 nccl->receive(in[k].data, in[k].bytes, CHAR, in[k].rank, communicator, stream),
                 "ncclRecv"));
  for (int k = 0; k < n_out; k++)
    MD_TRY(check(nccl,
                 nccl->send(out[k].data, out[k].bytes, CHAR, out[k].rank, communicator, stream),
                 "ncclSend"));
  return check(nccl, nccl->end(), "ncclGroupEnd");
}

/* The orderly end would wait for ranks that may have failed; nothing is under way at a run's end.
 */
void nccl_gpu_close(void *communicator)
{
  const nccl_library *nccl;
  if (communicator && !open_library(&nccl)) nccl->abandon(communicator);
}
