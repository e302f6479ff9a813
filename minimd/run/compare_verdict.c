/* minimd/run/compare_verdict.c - what the ranks of a comparison say in one sentence (compare.h). */
#include "minimd/run/compare.h"

#include <stdlib.h>
#include <string.h>

static bool lists_differ(const comparison *all)
{
  for (int k = 1; k < all->n; k++)
    if (strcmp(all->variants[k].list, all->variants[0].list) != 0) return true;
  return false;
}

/* Decimal places that show a number above 1 as more than 1. */
static int places(double value)
{
  int n = 2;
  for (double unit = 0.01; value < 1 + 0.5 * unit && n < 9; unit /= 10)
    n++;
  return n;
}

static void print_name(const comparison *all, int k, bool named, FILE *stream)
{
  const compare_variant *v = &all->variants[k];
  if (named)
    fprintf(stream, lists_differ(all) ? "%s %s" : "%s", v->order, v->list);
  else if (k == 0)
    fputs("the fastest", stream);
  else
    fprintf(stream, "line %d", k + 1);
}

/* The first variant is ahead of those from `slow` on. */
static void print_claim(const comparison *all, int slow, bool named, FILE *stream)
{
  const compare_estimate *ratio = &all->variants[slow].ratio;
  const int digits = places(ratio->low), after = all->n - slow - 1;
  const char *others = all->n == 3 ? "the other" : "the others";
  fputs("speed: ", stream);
  print_name(all, 0, named, stream);
  fprintf(stream, " is %.*fx ", digits, ratio->median);
  print_name(all, slow, named, stream);
  fprintf(stream, ", 95 %%: %.*f-%.*f", digits, ratio->low, digits, ratio->high);
  if (slow > 1) /* those before `slow` are not told from the first, nor from each other */
    fprintf(stream, "; %s cannot be told apart", after ? "those between" : others);
  else if (after && all->variants[slow].worst_rank == all->n)
    fprintf(stream, "; %s cannot be told apart", others);
  else if (after)
    fputs("; the ranks tell others apart, too", stream);
}

static void print_verdict(const comparison *all, bool named, FILE *stream)
{
  const int64_t least = compare_repeats(all->n, 0);
  const int slow = all->variants[0].worst_rank;
  if (all->n == 1)
    fputs("one variant: nothing to compare", stream);
  else if (all->repeats < least)
    fprintf(stream, "no ranks: 95 %% needs %lld repeats of %d variants, there are %lld",
            (long long)least, all->n, (long long)all->repeats);
  else if (slow == all->n)
    fprintf(stream, "the %d variants cannot be told apart at 95 %%", all->n);
  else
    print_claim(all, slow, named, stream);
}

static md_status write_verdict(const comparison *all, bool named, char **out)
{
  size_t length;
  FILE *stream = open_memstream(out, &length);
  MD_REQUIRE(stream, MD_ENOMEM, "out of memory for a line of text");
  print_verdict(all, named, stream);
  MD_REQUIRE(fclose(stream) == 0, MD_ENOMEM, "out of memory for a line of text");
  return MD_OK;
}

md_status compare_verdict(const comparison *all, size_t columns, char **out)
{
  MD_TRY(write_verdict(all, true, out));
  if (strlen(*out) <= columns) return MD_OK;
  free(*out);
  return write_verdict(all, false, out);
}
