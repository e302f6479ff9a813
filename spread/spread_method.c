/* spread/spread_method.c - the methods by name, and the kernels of each. */
#include "spread/spread_impl.h"

#define WORD(name, word, help) word,
const char *const spread_method_words[SPREAD_METHOD_COUNT] = {SPREAD_METHODS(WORD)};
#undef WORD

typedef spread_build_fn *const cpu_build[MD_PRECISION_COUNT][MD_ISA_COUNT];
typedef spread_apply_fn *const cpu_apply[MD_PRECISION_COUNT][MD_ISA_COUNT];
typedef spread_build_fn *const gpu_build[MD_PRECISION_COUNT];
typedef spread_apply_fn *const gpu_apply[MD_PRECISION_COUNT];

static cpu_build cpu_matrix = SPREAD_TABLE(spread_cpu_matrix);
static cpu_apply cpu_particle = SPREAD_TABLE(spread_cpu_particle);
static cpu_apply cpu_coloured = SPREAD_TABLE(spread_cpu_coloured);
static cpu_apply cpu_single = SPREAD_TABLE(spread_cpu_single);
static cpu_apply cpu_tiled = SPREAD_TABLE(spread_cpu_tiled);
static cpu_apply cpu_direct_interpolate = SPREAD_TABLE(spread_cpu_direct_interpolate);
static cpu_apply cpu_tiled_interpolate = SPREAD_TABLE(spread_cpu_tiled_interpolate);

static gpu_build gpu_matrix = SPREAD_GPU_TABLE(spread_gpu_matrix);
static gpu_build gpu_slots = SPREAD_GPU_TABLE(spread_gpu_slots);
static gpu_build gpu_cut = SPREAD_GPU_TABLE(spread_gpu_cut);
static gpu_apply gpu_particle = SPREAD_GPU_TABLE(spread_gpu_particle);
static gpu_apply gpu_gather = SPREAD_GPU_TABLE(spread_gpu_gather);
static gpu_apply gpu_single = SPREAD_GPU_TABLE(spread_gpu_single);
static gpu_apply gpu_group = SPREAD_GPU_TABLE(spread_gpu_group);
static gpu_apply gpu_hybrid = SPREAD_GPU_TABLE(spread_gpu_hybrid);
static gpu_apply gpu_tiled = SPREAD_GPU_TABLE(spread_gpu_tiled);
static gpu_apply gpu_particle_interpolate = SPREAD_GPU_TABLE(spread_gpu_particle_interpolate);
static gpu_apply gpu_tiled_interpolate = SPREAD_GPU_TABLE(spread_gpu_tiled_interpolate);

/* What each method needs; a NULL apply: the backend has no such method. */
typedef struct {
  spread_layout layout;
  cpu_build *build;
  cpu_apply *apply, *back;
} cpu_method;
typedef struct {
  spread_layout layout;
  gpu_build *build;
  gpu_apply *apply, *back;
  bool ordered;   /* sums in a fixed order when the context asks for it */
  bool zeroes;    /* the first part overwrites the mesh */
  gpu_build *cut; /* from what was sorted last, whether the part takes it over or not */
} gpu_method;

static const cpu_method cpu_methods[SPREAD_METHOD_COUNT] = {
    [SPREAD_PARTICLE] = {SPREAD_GIVEN, NULL, &cpu_particle, &cpu_direct_interpolate},
    [SPREAD_COLOURED] = {SPREAD_TILES, NULL, &cpu_coloured, &cpu_tiled_interpolate},
    [SPREAD_SINGLE] = {SPREAD_TILES, &cpu_matrix, &cpu_single, &cpu_tiled_interpolate},
    [SPREAD_TILED] = {SPREAD_TILES, NULL, &cpu_tiled, &cpu_tiled_interpolate},
};
static const gpu_method gpu_methods[SPREAD_METHOD_COUNT] = {
    [SPREAD_PARTICLE] = {SPREAD_GIVEN, NULL, &gpu_particle, &gpu_particle_interpolate, false, false,
                         NULL},
    [SPREAD_GATHER] = {SPREAD_GIVEN, &gpu_slots, &gpu_gather, &gpu_particle_interpolate, false,
                       false, NULL},
    [SPREAD_SINGLE] = {SPREAD_CELLS, &gpu_matrix, &gpu_single, &gpu_particle_interpolate, true,
                       false, NULL},
    [SPREAD_GROUP] = {SPREAD_CELLS, &gpu_matrix, &gpu_group, &gpu_particle_interpolate, true, false,
                      NULL},
    [SPREAD_HYBRID] = {SPREAD_CELLS, &gpu_matrix, &gpu_hybrid, &gpu_particle_interpolate, true,
                       false, NULL},
    [SPREAD_TILED] = {SPREAD_PENCILS, NULL, &gpu_tiled, &gpu_tiled_interpolate, true, true,
                      &gpu_cut},
};

bool spread_method_on(spread_method method, md_backend backend)
{
  return method == SPREAD_AUTO || (backend == MD_GPU ? gpu_methods[method].apply != NULL
                                                     : cpu_methods[method].apply != NULL);
}

bool spread_method_ordered(spread_method method, md_backend backend)
{
  return backend == MD_CPU || method == SPREAD_AUTO || gpu_methods[method].ordered;
}

#define CPU_KERNEL(table) ((table) ? (*(table))[ctx->precision][ctx->isa] : NULL)
#define GPU_KERNEL(table) ((table) ? (*(table))[ctx->precision] : NULL)

spread_kernels spread_method_kernels(const md_ctx *ctx, spread_method method)
{
  if (ctx->backend == MD_CPU) {
    const cpu_method *m = &cpu_methods[method];
    return (spread_kernels){.layout = m->layout,
                            .build = CPU_KERNEL(m->build),
                            .apply = CPU_KERNEL(m->apply),
                            .back = CPU_KERNEL(m->back)};
  }
  const gpu_method *m = &gpu_methods[method];
  return (spread_kernels){.layout = m->layout,
                          .build = GPU_KERNEL(m->build),
                          .cut = GPU_KERNEL(m->cut),
                          .apply = GPU_KERNEL(m->apply),
                          .back = GPU_KERNEL(m->back),
                          .zeroes = m->zeroes};
}
