// examples/orderings.cc - two questions to libminimd from C++: in which order do these particles
// lie along a curve, and how often does a sweep over cells in that order miss in a cache.
#include <cachemodel/cachemodel.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ordering/ordering.h>
#include <vector>

namespace
{
void check(md_status status)
{
  if (!status) return;
  std::fprintf(stderr, "%s\n", md_message());
  std::exit(md_exit_code(status));
}

// Misses of a sweep of 16^3 cells with all neighbours, in a cache of `lines` lines of 8 cells.
std::int64_t misses(const ordering &order, std::int64_t lines)
{
  cachemodel_sweep sweep = {order, {16, 16, 16}, {ORDERING_STENCIL_BLOCK, 1}, false, 8};
  cachemodel_trace *trace;
  cachemodel_stack *stack;
  check(cachemodel_trace_create(&sweep, &trace));
  check(cachemodel_stack_create(md_isa_detect(), &stack));
  std::vector<std::uint32_t> line(4096);
  while (const std::int64_t n = cachemodel_trace_next(trace, 4096, line.data()))
    check(cachemodel_stack_feed(stack, n, line.data()));
  std::vector<std::int64_t> all(static_cast<std::size_t>(lines));
  cachemodel_stack_misses(stack, lines, all.data());
  cachemodel_stack_destroy(stack);
  cachemodel_trace_destroy(trace);
  return all.back();
}
} // namespace

int main()
{
  md_ctx_spec where = {MD_CPU, MD_DOUBLE, 1, false};
  md_ctx *ctx;
  ordering_sorter *sorter;
  check(md_ctx_create(&where, &ctx));
  check(ordering_sorter_create(ctx, &sorter));
  const double x[][3] = {{0.5, 0.5, 0.5}, {1.5, 1.5, 0.5}, {0.5, 1.5, 0.5}, {1.5, 0.5, 0.5}};
  ordering_particles particles = {{0, 0, 0}, {2, 2, 2}, {2, 2, 2}, 4, x, 3};
  for (const char *word : {"row", "hilbert"}) {
    ordering order;
    std::int32_t place[4];
    check(ordering_parse(word, &order));
    check(ordering_sort_particles(sorter, &order, &particles, place));
    std::printf("%s: particles %d %d %d %d, misses %lld\n", word, place[0], place[1], place[2],
                place[3], static_cast<long long>(misses(order, 64)));
  }
  ordering_sorter_destroy(sorter);
  md_ctx_destroy(ctx);
}
