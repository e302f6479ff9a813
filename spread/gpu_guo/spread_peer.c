/* spread/gpu_guo/spread_peer.c - which plans a library can be measured beside. */
#include "spread/spread_impl.h"

typedef md_status create_fn(spread_plan *plan, void *mesh, spread_peer **out);
typedef md_status charges_fn(spread_peer *peer, const void *q);
typedef void destroy_fn(spread_peer *peer);
static create_fn *const create = MD_GPU(spread_gpu_peer_create);
static charges_fn *const charges = MD_GPU(spread_gpu_peer_charges);
static destroy_fn *const destroy = MD_GPU(spread_gpu_peer_destroy);

md_status spread_peer_create(spread_plan *plan, void *mesh, spread_peer **out)
{
  *out = NULL;
  MD_REQUIRE(create && plan->ctx->backend == MD_GPU && plan->method == SPREAD_SINGLE &&
                 plan->n_parts == 1 && plan->spec.vectors == 1,
             MD_EINVAL,
             "cuSPARSE is measured on the GPU, with one vector and the matrix of method single");
  MD_REQUIRE(spread_entries(plan, plan->n) <= INT32_MAX, MD_ECAPACITY,
             "cuSPARSE is measured on matrices of at most %d entries, not %lld", INT32_MAX,
             (long long)spread_entries(plan, plan->n));
  return create(plan, mesh, out);
}

md_status spread_peer_charges(spread_peer *peer, const void *q)
{
  return charges(peer, q);
}

void spread_peer_destroy(spread_peer *peer)
{
  if (peer) destroy(peer);
}
