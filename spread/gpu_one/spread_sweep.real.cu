/* spread/gpu_one/spread_sweep.real.cu - tiled spreading on the GPU: pencils swept by warps.
 *
 * A warp sweeps along the slowest axis with a ring of p planes of its pencil's patch in registers.
 * Particles of plane z add to planes z .. z + p - 1 of the ring, up to 16 at once (8 in double
 * precision): mesh[x][(y, z)] is a product of their X with their Y Z, which tensor cores take
 * (pair_gpu.h).  Nothing is atomic and no two lanes meet.  When no particle can reach a plane any
 * more it is added to the mesh by one RED a point, in rows of eight.
 *
 * A batch costs 3 p products a tile (2 p in double precision) and for every eight particles 6 loads
 * of a word and 4 of 16 bytes from shared memory (8 in double); a plane of a pencil 16 REDs a line,
 * whatever it holds.  Slices are cut to equal sums of both (shares.real.cu): the slowest warp
 * of 1e6 particles on 128^3 points took 30 % longer than the mean, and takes 3 %.
 *
 * The mesh is zeroed by a kernel behind which sweeps begin early; they wait for it before they add.
 * Several vectors share what a particle costs, four at a time at order 6; groups follow each other
 * so that the meshes of one are found in the cache.  Slices shorter or longer than 32 planes where
 * meshes are beyond the cache cost 2 to 25 %.  Sixteen vectors in single precision are another
 * kernel's (spread_columns.single.cu).
 *
 * Deterministic plans add in fixed point (fixed_gpu.h), which no order changes. */
#include "spread/gpu_one/sweep_gpu.h"

enum { ZERO_BLOCK = 256 };

/* Zero the mesh; sweeps may begin at once and wait before they add to it. */
static __global__ void __launch_bounds__(ZERO_BLOCK) zero_kernel(real *__restrict__ mesh, int64_t n)
{
  cudaTriggerProgrammaticLaunchCompletion();
  for (int64_t i = md_thread(); i < n; i += (int64_t)gridDim.x * ZERO_BLOCK)
    mesh[i] = 0;
}

typedef void sweep_kernel(sweep s);

/* Blocks a multiprocessor that are asked for: unasked, the compiler saves registers that cost
 * more. */
#define LEAST_BLOCKS(p, vectors) (MD_PREC == 2 && (p) <= 6 && (vectors) == 1 ? 6 : 1)
#define SLICE_KERNEL(name, p, vectors, fixed)                                                      \
  static __global__ void __launch_bounds__(BLOCK, LEAST_BLOCKS(p, vectors)) name##_##p(sweep s)    \
  {                                                                                                \
    __shared__ quad                                                                                \
        records[WARPS][RECORDS * RECORD_LENGTH(p, (vectors) > 1 ? (vectors) : 0) / QUAD];          \
    sweep_slice(p, vectors, fixed, s, (real *)records[threadIdx.x / MD_WARP]);                     \
  }
#define KERNELS(p)                                                                                 \
  SLICE_KERNEL(add_kernel, p, 1, false)                                                            \
  SLICE_KERNEL(add_vectors_kernel, p, VECTORS(p), false)                                           \
  SLICE_KERNEL(fix_kernel, p, 1, true)
SPREAD_ORDERS(KERNELS)

/* The kernels of a plan: one vector at a time, and *vectors at a time. */
typedef struct {
  sweep_kernel *add, *add_vectors, *fix;
  int32_t vectors;
} sweep_kernels;

static sweep_kernels pick_kernels(const spread_plan *plan)
{
  sweep_kernels picked = {};
  switch (plan->grid.order) {
#define CASE(p)                                                                                    \
  case p:                                                                                          \
    picked = {add_kernel_##p, add_vectors_kernel_##p, fix_kernel_##p, VECTORS(p)};                 \
    break;
    SPREAD_ORDERS(CASE)
#undef CASE
  }
  return picked;
}

/* The part's view for the warps of the kernel that the device holds at once. */
static md_status view_part(spread_plan *plan, spread_part *part, const md_buffer *start,
                           sweep_kernel *kernel, int meshes, pencil_view *view)
{
  int blocks;
  MD_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, BLOCK, 0));
  const int64_t warps = (int64_t)plan->multiprocessors * blocks * WARPS;
  return PREC(spread_gpu_view)(plan, part, start, warps, meshes, view);
}

/* The kernel that takes most of the vectors, and how many it takes at once. */
static sweep_kernel *main_kernel(const spread_plan *plan, const sweep_kernels *kernels,
                                 int32_t *together)
{
  *together = 1;
  if (plan->ctx->deterministic) return kernels->fix;
  if (plan->spec.vectors < kernels->vectors || kernels->vectors == 1) return kernels->add;
  *together = kernels->vectors;
  return kernels->add_vectors;
}

md_status PREC(spread_gpu_cut)(spread_plan *plan, spread_part *part)
{
  const sweep_kernels kernels = pick_kernels(plan);
  int32_t together;
  pencil_view view;
  sweep_kernel *kernel = main_kernel(plan, &kernels, &together);
  if (spread_many_by_stacks(plan, part->n, plan->spec.vectors))
    MD_TRY(spread_gpu_sort_stacks(plan, part, &plan->counter.start));
  if (spread_many_by_columns(plan, part->n, plan->spec.vectors))
    MD_TRY(spread_gpu_list_columns(plan, part, &plan->counter.start));
  return view_part(plan, part, &plan->counter.start, kernel, together, &view);
}

/* Queue sweeps of s for so many groups of vectors; `early`: the kernel before, one of these, ends
 * while they begin. */
static md_status launch(const spread_plan *plan, sweep_kernel *kernel, int32_t groups, bool early,
                        sweep s)
{
  cudaLaunchAttribute overlap;
  s.blocks = md_blocks(s.view.slices, WARPS);
  const dim3 blocks(s.blocks * (unsigned)groups);
  const cudaLaunchConfig_t config = md_launch_config(plan->ctx, blocks, BLOCK, early, &overlap);
  MD_CUDA(cudaLaunchKernelEx(&config, kernel, s));
  return MD_OK;
}

/* Queue zeros for the meshes of so many vectors, behind which sweeps may be launched early. */
static md_status zero_meshes(const spread_plan *plan, real *mesh, int32_t vectors)
{
  const int64_t n = plan->grid.points * vectors;
  const unsigned blocks = min(md_blocks(n, 8 * ZERO_BLOCK), 8u * (unsigned)plan->multiprocessors);
  zero_kernel<<<blocks, ZERO_BLOCK, 0, (cudaStream_t)plan->ctx->stream>>>(mesh, n);
  MD_LAUNCHED();
  return MD_OK;
}

/* Groups of vectors in turn, so that what one adds to stays in the cache; then those left over. */
static md_status spread_unordered(spread_plan *plan, spread_part *part, const spread_job *job,
                                  const sweep_kernels *kernels, sweep s)
{
  const md_buffer *start = &part->buffer[SPREAD_START];
  const bool fresh = part->first == 0;
  int32_t together;
  sweep_kernel *kernel = main_kernel(plan, kernels, &together);
  int32_t done = 0;
  if (spread_many_by_columns(plan, part->n, job->vectors))
    MD_TRY(spread_gpu_many_spread(plan, part, job, &done));
  if (done == job->vectors) return MD_OK;
  s.q += done * s.q_stride, s.mesh += done * s.points;
  if (fresh) MD_TRY(zero_meshes(plan, s.mesh, job->vectors - done));
  const int32_t groups = (job->vectors - done) / together;
  const int32_t left = job->vectors - done - groups * together;
  if (groups > 0) {
    MD_TRY(view_part(plan, part, start, kernel, together, &s.view));
    MD_TRY(launch(plan, kernel, groups, fresh, s));
  }
  if (left == 0) return MD_OK;
  s.q += groups * together * s.q_stride, s.mesh += groups * together * s.points;
  MD_TRY(view_part(plan, part, start, kernels->add, 1, &s.view));
  return launch(plan, kernels->add, left, fresh && groups == 0, s);
}

static md_status spread_fixed(spread_plan *plan, spread_part *part, const spread_job *job,
                              const sweep_kernels *kernels, sweep s)
{
  const bool fresh = part->first == 0;
  real *mesh = (real *)job->mesh;
  MD_TRY(view_part(plan, part, &part->buffer[SPREAD_START], kernels->fix, 1, &s.view));
  for (int32_t v = 0; v < job->vectors; v++, s.q += s.q_stride, mesh += s.points) {
    unsigned long long *sum;
    MD_TRY(PREC(spread_gpu_fixed_begin)(plan, part, &s.view, s.q, fresh ? mesh : NULL, &sum,
                                        &s.facts));
    s.mesh = (real *)sum;
    MD_TRY(launch(plan, kernels->fix, 1, true, s));
    MD_TRY(PREC(spread_gpu_fixed_end)(plan, sum, s.facts, fresh, mesh));
  }
  return MD_OK;
}

md_status PREC(spread_gpu_tiled)(spread_plan *plan, spread_part *part, const spread_job *job)
{
  const sweep_kernels kernels = pick_kernels(plan);
  const bool dense = part->n >= pencils_keys(&plan->grid, &plan->pencils);
  const sweep s = {
      {}, (const real *)job->q, job->q_stride, plan->grid.points, (real *)job->mesh, NULL, dense,
      0};
  return plan->ctx->deterministic ? spread_fixed(plan, part, job, &kernels, s)
                                  : spread_unordered(plan, part, job, &kernels, s);
}
