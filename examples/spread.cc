/* examples/spread.cc - one plan, two vectors: masses and charges of the same particles onto two
 * meshes at once, again and again while the particles move. */
#include <cmath>
#include <cstdio>
#include <memory>
#include <spread.h>
#include <vector>

struct destroy {
  void operator()(md_ctx *ctx) const { md_ctx_destroy(ctx); }
  void operator()(spread_plan *plan) const { spread_destroy(plan); }
};

static int stop()
{
  std::fprintf(stderr, "%s\n", md_message());
  return 1;
}

int main()
{
  md_ctx_spec where = {};
  where.backend = MD_CPU;
  where.precision = MD_DOUBLE;
  md_ctx *ctx_made = nullptr;
  if (md_ctx_create(&where, &ctx_made)) return stop();
  const std::unique_ptr<md_ctx, destroy> ctx(ctx_made);

  spread_spec spec = {};
  for (int a = 0; a < 3; a++)
    spec.hi[a] = 8, spec.mesh[a] = 16;
  spec.order = 4, spec.method = SPREAD_AUTO, spec.vectors = 2;
  spread_plan *plan_made = nullptr;
  if (spread_create(ctx.get(), &spec, &plan_made)) return stop();
  const std::unique_ptr<spread_plan, destroy> plan(plan_made);

  const int n = 100, points = 16 * 16 * 16;
  std::vector<double> x(3 * n), q(2 * n), mesh(2 * points);
  for (int i = 0; i < n; i++) {
    for (int a = 0; a < 3; a++)
      x[3 * i + a] = std::fmod(0.7 * (i + 1) * (a + 1.3), 8);
    q[i] = 1;                    /* vector 0: masses */
    q[n + i] = i % 2 ? -0.5 : 1; /* vector 1: charges */
  }
  for (int step = 0; step < 3; step++) {
    for (double &coordinate : x)
      coordinate += 0.01 * step;
    if (spread_set_positions(plan.get(), n, x.data(), 3)) return stop();
    if (spread_charges(plan.get(), q.data(), mesh.data())) return stop();
    double mass = 0, charge = 0;
    for (int k = 0; k < points; k++)
      mass += mesh[k], charge += mesh[points + k];
    std::printf("step %d: mass %.6f, charge %.6f\n", step, mass, charge);
    if (std::fabs(mass - 100) > 1e-10 || std::fabs(charge - 25) > 1e-10) return 1;
  }
}
