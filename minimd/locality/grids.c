/* minimd/locality/grids.c - see grids.h. */
#include "minimd/locality/grids.h"
#include "core/parse/parse.h"

#include <stdlib.h>

md_status grid_require(const options *opts, int index, const char *why)
{
  MD_REQUIRE(options_value(opts, index), MD_EINVAL, "--%s is missing: %s", opts->table[index].name,
             why);
  return MD_OK;
}

md_status grid_orders_read(const options *opts, int index, grid_orders *out)
{
  *out = (grid_orders){0};
  MD_TRY(grid_require(opts, index, "expected orderings, as row,morton,hilbert"));
  MD_TRY(options_blame(
      opts, index, md_parse_list(options_value(opts, index), "orderings", &out->words, &out->n)));
  out->orders = calloc((size_t)out->n, sizeof *out->orders);
  md_status status = out->orders ? MD_OK : MD_FAIL(MD_ENOMEM, "out of memory for orderings");
  for (int k = 0; !status && k < out->n; k++)
    status = ordering_parse(out->words[k], &out->orders[k]);
  if (status) grid_orders_free(out);
  return options_blame(opts, index, status);
}

void grid_orders_free(grid_orders *list)
{
  free(list->words);
  free(list->orders);
  *list = (grid_orders){0};
}

static md_status parse_size(const char *text, int32_t n[3])
{
  char **items;
  int count;
  MD_TRY(md_parse_list(text, "M or M,N,P", &items, &count));
  int64_t size[3] = {0};
  md_status status = count == 1 || count == 3
                         ? MD_OK
                         : MD_FAIL(MD_EINVAL, "expected M or M,N,P, not '%.60s'", text);
  for (int a = 0; !status && a < count; a++)
    status = md_parse_int64(items[a], 1, INT32_MAX, &size[a]);
  free(items);
  for (int a = 0; a < 3; a++)
    n[a] = (int32_t)size[count == 1 ? 0 : a];
  return status;
}

md_status grid_size_read(const options *opts, int index, int32_t n[3])
{
  MD_TRY(grid_require(opts, index, "expected the number of cells, as 16 or 16,8,8"));
  return options_blame(opts, index, parse_size(options_value(opts, index), n));
}

md_status grid_stencil_read(const options *opts, int index, ordering_stencil *out)
{
  MD_TRY(grid_require(opts, index, "expected block:G or sphere:G"));
  return options_blame(opts, index, ordering_stencil_parse(options_value(opts, index), out));
}
