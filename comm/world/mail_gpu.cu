/* comm/world/mail_gpu.cu - mailboxes of ranks of one host, mapped by CUDA IPC. */
#include "comm/gpus.h"
#include "core/gpu/cuda.h"

#include <stdlib.h>
#include <string.h>

/* What the driver hands out for small allocations lies beside others: these bytes are alone. */
static const size_t ALONE = 2 << 20;

/* How another rank maps a mailbox. */
typedef struct {
  cudaIpcMemHandle_t handle;
  unsigned long long room;
} address;

static void unmap(gpus_mail *mail)
{
  for (int r = 0; r < world_count(); r++) {
    if (mail->theirs[r]) cudaIpcCloseMemHandle(mail->theirs[r]);
    mail->theirs[r] = NULL;
  }
}

/* But not what the host knows of others. */
static void free_own(md_ctx *ctx, gpus_mail *mail)
{
  if (mail->own) cudaFree(mail->own);
  ctx->bytes_allocated -= (int64_t)(mail->own ? gpus_mail_flags() + MD_SLOTS * mail->room : 0);
  mail->own = NULL;
  mail->room = 0;
}

void mail_gpu_close(md_ctx *ctx, gpus_mail *mail)
{
  if (!mail->theirs) return;
  unmap(mail);
  free_own(ctx, mail);
  md_shared_free(ctx, &mail->late);
  free(mail->theirs);
  free(mail->rooms);
  *mail = (gpus_mail){};
}

/* A mailbox with slots of so many bytes, its flags down. */
static md_status make_mail(md_ctx *ctx, gpus_mail *mail, size_t bytes, address *own)
{
  size_t room = (bytes + 255) / 256 * 256;
  if (gpus_mail_flags() + MD_SLOTS * room < ALONE)
    room = (ALONE - gpus_mail_flags()) / (MD_SLOTS * 256) * 256;
  if (room > mail->room) {
    free_own(ctx, mail);
    MD_CUDA(cudaMalloc(&mail->own, gpus_mail_flags() + MD_SLOTS * room));
    mail->room = room;
    ctx->bytes_allocated += (int64_t)(gpus_mail_flags() + MD_SLOTS * room);
  }
  MD_CUDA(cudaMemset(mail->own, 0, gpus_mail_flags()));
  MD_CUDA(cudaDeviceSynchronize());
  own->room = mail->room;
  MD_CUDA(cudaIpcGetMemHandle(&own->handle, mail->own));
  return MD_OK;
}

static md_status map_all(gpus_mail *mail, const address *all)
{
  for (int r = 0; r < world_count(); r++) {
    void *theirs;
    mail->rooms[r] = all[r].room;
    if (r == world_rank()) continue;
    MD_CUDA(cudaIpcOpenMemHandle(&theirs, all[r].handle, cudaIpcMemLazyEnablePeerAccess));
    mail->theirs[r] = (char *)theirs;
  }
  return MD_OK;
}

/* Whether it is so on any rank; what CUDA says of it is no error of later calls. */
static bool any_rank(bool here)
{
  double most = here;
  cudaGetLastError();
  world_most(&most, 1);
  return most > 0;
}

/* Where others will be. */
static md_status make_room(md_ctx *ctx, gpus_mail *mail)
{
  const size_t count = (size_t)world_count();
  if (!mail->theirs) mail->theirs = (char **)calloc(count, sizeof *mail->theirs);
  if (!mail->rooms) mail->rooms = (size_t *)calloc(count, sizeof *mail->rooms);
  MD_REQUIRE(mail->theirs && mail->rooms, MD_ENOMEM, "out of memory for %d ranks", world_count());
  return md_shared_reserve(ctx, &mail->late, sizeof(md_late));
}

md_status mail_gpu_open(md_ctx *ctx, gpus_mail *mail, size_t bytes, bool *failed)
{
  address own, *all = (address *)malloc((size_t)world_count() * sizeof *all);
  memset(&own, 0, sizeof own);
  md_status status =
      all ? make_room(ctx, mail) : MD_FAIL(MD_ENOMEM, "out of memory for %d ranks", world_count());
  if (!status) status = md_ctx_sync(ctx);
  if (mail->theirs) unmap(mail);
  *failed = any_rank(status != MD_OK); /* no rank has another one's memory mapped any more */
  if (!*failed) {
    md_late *late = (md_late *)mail->late.data;
    *late = (md_late){-1};
    mail->round = 0, mail->told = 0;
    *failed = any_rank(make_mail(ctx, mail, bytes, &own) != MD_OK);
  }
  if (!*failed) {
    world_gather(&own, sizeof own, all);
    *failed = any_rank(map_all(mail, all) != MD_OK);
  }
  free(all);
  return status;
}
