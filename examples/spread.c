/* examples/spread.c - charges of three particles onto a mesh, and the mesh read at the particles.
 *
 * Two things hold of any spreading: the mesh adds up to the charges, and reading it back at the
 * particles is its transpose. */
#include <math.h>
#include <spread.h>
#include <stdio.h>

enum { N = 3, POINTS = 12 * 10 * 9 };

static double mesh[POINTS], value[N];

static md_status spread_and_read(const double x[N][3], const double q[N])
{
  const md_ctx_spec where = {.backend = MD_CPU, .precision = MD_DOUBLE};
  const spread_spec spec = {
      .hi = {4, 3, 2}, .mesh = {12, 10, 9}, .order = 5, .method = SPREAD_AUTO, .vectors = 1};
  md_ctx *ctx;
  spread_plan *plan = NULL;
  if (md_ctx_create(&where, &ctx)) return MD_EINVAL;
  md_status status = spread_create(ctx, &spec, &plan);
  if (!status) status = spread_set_positions(plan, N, x, 3);
  if (!status) status = spread_charges(plan, q, mesh);
  if (!status) status = spread_interpolate(plan, mesh, value, NULL);
  spread_destroy(plan);
  md_ctx_destroy(ctx);
  return status;
}

int main(void)
{
  const double x[N][3] = {{0.1, 0.2, 0.3}, {3.9, 2.5, -7.0}, {1.0, 1.0, 1.0}}, q[N] = {1, -2, 4};
  if (spread_and_read(x, q)) {
    fprintf(stderr, "%s\n", md_message());
    return 1;
  }
  double sum = 0, squares = 0, products = 0;
  for (int k = 0; k < POINTS; k++)
    sum += mesh[k], squares += mesh[k] * mesh[k];
  for (int i = 0; i < N; i++)
    products += q[i] * value[i];
  printf("sum of the mesh %.6f, sum of the charges %.6f\n", sum, q[0] + q[1] + q[2]);
  return fabs(sum - 3) > 1e-12 || fabs(squares - products) > 1e-12 || !(squares > 0);
}
