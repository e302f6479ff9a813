/* comm/world/world_mpi.c - messages by Open MPI, whose library is loaded when a launcher asks for
 * it.
 *
 * mpi.h names its communicator and types by addresses of variables in the library; they are looked
 * up here like its functions. */
#include "comm/world/world_impl.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>

/* The interface that mpi.h of Open MPI 3 to 5 describes. */
#define LIBRARY "libmpi.so.40"

#define FUNCTIONS(X)                                                                               \
  X(MPI_Init_thread)                                                                               \
  X(MPI_Finalize)                                                                                  \
  X(MPI_Abort)                                                                                     \
  X(MPI_Comm_rank)                                                                                 \
  X(MPI_Comm_size)                                                                                 \
  X(MPI_Allgather)                                                                                 \
  X(MPI_Bcast) X(MPI_Allreduce) X(MPI_Alltoall) X(MPI_Isend) X(MPI_Irecv) X(MPI_Waitall)
#define POINTER(name) __typeof__(name) *name##_;
static struct {
  FUNCTIONS(POINTER)
  MPI_Comm world;
  MPI_Datatype byte, int64, real64;
  MPI_Op sum, max;
} mpi;
#undef POINTER

static md_status load(void)
{
  /* Its plug-ins look for its symbols among those of the program. */
  void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_GLOBAL);
  if (!library)
    return MD_FAIL(MD_EINVAL,
                   "a launcher started several ranks, and %s cannot be loaded (%s): expected one "
                   "rank, or the Debian package openmpi-bin",
                   LIBRARY, dlerror());
  bool whole = true;
#define LOOK_UP(name) whole &= (*(void **)&mpi.name##_ = dlsym(library, #name)) != NULL;
  FUNCTIONS(LOOK_UP)
#undef LOOK_UP
  mpi.world = dlsym(library, "ompi_mpi_comm_world");
  mpi.byte = dlsym(library, "ompi_mpi_byte");
  mpi.int64 = dlsym(library, "ompi_mpi_int64_t");
  mpi.real64 = dlsym(library, "ompi_mpi_double");
  mpi.sum = dlsym(library, "ompi_mpi_op_sum");
  mpi.max = dlsym(library, "ompi_mpi_op_max");
  whole &= mpi.world && mpi.byte && mpi.int64 && mpi.real64 && mpi.sum && mpi.max;
  MD_REQUIRE(whole, MD_EINVAL, "%s is not the library of Open MPI that this program was built for",
             LIBRARY);
  return MD_OK;
}

md_status carrier_open(int *rank, int *count)
{
  MD_TRY(load());
  int provided; /* only the main thread calls MPI: any level does */
  mpi.MPI_Init_thread_(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
  mpi.MPI_Comm_rank_(mpi.world, rank);
  mpi.MPI_Comm_size_(mpi.world, count);
  return MD_OK;
}

/* MPI counts bytes in an int: longer messages go in pieces. */
enum { PIECE = 1 << 30 };

static struct {
  MPI_Request *request;
  int64_t count, room;
} under_way;

void carrier_close(void)
{
  free(under_way.request);
  mpi.MPI_Finalize_();
}

void carrier_abort(int exit_code)
{
  mpi.MPI_Abort_(mpi.world, exit_code);
}

void carrier_gather(const void *mine, size_t bytes, void *all)
{
  mpi.MPI_Allgather_(mine, (int)bytes, mpi.byte, all, (int)bytes, mpi.byte, mpi.world);
}

void carrier_broadcast(void *data, size_t bytes, int root)
{
  mpi.MPI_Bcast_(data, (int)bytes, mpi.byte, root, mpi.world);
}

void carrier_sum(int64_t *values, int64_t count)
{
  mpi.MPI_Allreduce_(MPI_IN_PLACE, values, (int)count, mpi.int64, mpi.sum, mpi.world);
}

void carrier_most(double *values, int count)
{
  mpi.MPI_Allreduce_(MPI_IN_PLACE, values, count, mpi.real64, mpi.max, mpi.world);
}

void carrier_trade(const int64_t *to, int64_t *from, int width)
{
  mpi.MPI_Alltoall_(to, width, mpi.int64, from, width, mpi.int64, mpi.world);
}

static void start(const world_message *m, bool receive)
{
  for (size_t at = 0; at < m->bytes; at += PIECE) {
    char *data = (char *)m->data + at;
    const int bytes = (int)(m->bytes - at < PIECE ? m->bytes - at : PIECE);
    if (under_way.count == under_way.room) abort(); /* who starts it reserves room for it */
    MPI_Request *request = &under_way.request[under_way.count++];
    if (receive)
      mpi.MPI_Irecv_(data, bytes, mpi.byte, m->rank, 0, mpi.world, request);
    else
      mpi.MPI_Isend_(data, bytes, mpi.byte, m->rank, 0, mpi.world, request);
  }
}

md_status carrier_reserve(int64_t messages, int64_t bytes)
{
  const int64_t pieces = messages + bytes / PIECE;
  if (pieces <= under_way.room) return MD_OK;
  MPI_Request *request = realloc(under_way.request, (size_t)pieces * sizeof(MPI_Request));
  MD_REQUIRE(request, MD_ENOMEM, "out of memory for %lld messages", (long long)pieces);
  under_way.request = request;
  under_way.room = pieces;
  return MD_OK;
}

void carrier_start(const world_message *in, int n_in, const world_message *out, int n_out)
{
  for (int k = 0; k < n_in; k++)
    start(&in[k], true);
  for (int k = 0; k < n_out; k++)
    start(&out[k], false);
}

void carrier_wait(void)
{
  mpi.MPI_Waitall_((int)under_way.count, under_way.request, MPI_STATUSES_IGNORE);
  under_way.count = 0;
}

const char *world_library(void)
{
  return "Open MPI, loaded under mpirun or Slurm";
}
