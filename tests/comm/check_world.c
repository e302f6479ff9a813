/* tests/comm/check_world.c - what ranks tell each other; runs alone and under mpirun. */
#include "comm/comm.h"
#include "comm/world.h"
#include "tests/drive/run_ranks.h"
#include "tests/ref/ref.h"
#include "tests/test.h"

START_TEST(words_of_all_ranks)
{
  const int count = world_count(), me = world_rank();
  int32_t mine[2] = {me, 3 * me}, *all = ref_alloc(2 * count, sizeof *all);
  world_gather(mine, sizeof mine, all);
  for (int r = 0; r < count; r++)
    ck_assert(all[2 * r] == r && all[2 * r + 1] == 3 * r);
  free(all);
  int64_t sums[3] = {1, me, INT64_C(1) << 40};
  world_sum(sums, 3);
  ck_assert(sums[0] == count && sums[1] == count * (count - 1) / 2 &&
            sums[2] == count * (INT64_C(1) << 40));
  double most[2] = {me, -me};
  world_most(most, 2);
  ck_assert(most[0] == count - 1 && most[1] == 0);
  enum { WIDTH = 3 };
  int64_t *to = ref_alloc(2 * WIDTH * count, sizeof *to), *from = to + WIDTH * count;
  for (int width = 1; width <= WIDTH; width += 2) {
    for (int k = 0; k < width * count; k++)
      to[k] = 1000 * me + k;
    world_trade(to, from, width);
    for (int k = 0; k < width * count; k++)
      ck_assert_int_eq(from[k], 1000 * (k / width) + width * me + k % width);
  }
  free(to);
  for (int n = 0; n < 40; n = 3 * n + 1) { /* also fewer than ranks */
    double wide[40];
    float narrow[40];
    for (int k = 0; k < n; k++)
      wide[k] = me + 0.1 * k, narrow[k] = (float)(me * 1000 + k);
    ck_ok(world_add(wide, n, sizeof *wide));
    ck_ok(world_add(narrow, n, sizeof *narrow));
    for (int k = 0; k < n; k++) {
      double sum = 0;
      for (int r = 0; r < count; r++)
        sum += r + 0.1 * k;
      ck_assert(wide[k] == sum && narrow[k] == (float)(count * (count - 1) * 500 + count * k));
    }
  }
  int word = me + 7;
  world_broadcast(&word, sizeof word);
  ck_assert_int_eq(word, 7);
  int host, processors;
  world_share(&host, &processors);
  ck_assert(processors >= 1 && processors <= host && host <= count);
  ck_ok(world_same("the word", "word", 4));
}
END_TEST

/* Message k of rank r to rank q has this many bytes, each a function of all three. */
static size_t length(int r, int q, int k)
{
  return (size_t)((r * 7 + q * 13 + k * 5000) % 12000);
}

START_TEST(messages_arrive_whole_and_in_order)
{
  enum { EACH = 3 };
  const int count = world_count(), me = world_rank();
  world_message *in = ref_alloc(2 * count * EACH, sizeof *in), *out = in + count * EACH;
  int n = 0;
  for (int r = 0; r < count; r++)
    for (int k = 0; k < EACH && r != me; k++, n++) {
      in[n] = (world_message){r, ref_alloc(12000, 1), length(r, me, k)};
      out[n] = (world_message){r, ref_alloc(12000, 1), length(me, r, k)};
      memset(out[n].data, 1 + me * 5 + r * 11 + k, out[n].bytes);
    }
  ck_ok(world_reserve(2 * n, 2 * n * 12000));
  for (int again = 0; again < 3; again++) {
    world_start(in, n, out, n);
    world_wait();
    for (int m = 0; m < n; m++)
      for (size_t b = 0; b < in[m].bytes; b++) {
        unsigned char *at = (unsigned char *)in[m].data + b;
        ck_assert_int_eq(*at, 1 + in[m].rank * 5 + me * 11 + m % EACH);
        *at = 0;
      }
  }
  for (int m = 0; m < n; m++)
    free(in[m].data), free(out[m].data);
  free(in);
}
END_TEST

/* Item k is k in each of its numbers; rank 1 has none, others as many as their number says. */
START_TEST(parts_come_to_all_and_to_the_first)
{
  enum { WIDTH = 3 };
  const int count = world_count(), me = world_rank();
  int64_t *cut = ref_alloc(count + 1, sizeof *cut);
  for (int r = 0; r < count; r++)
    cut[r + 1] = cut[r] + (r == 1 ? 0 : 5 * r + 2);
  const int64_t n = cut[count], own = cut[me + 1] - cut[me];
  int32_t *all = ref_alloc(n * WIDTH, sizeof *all),
          *mine = ref_alloc(own * WIDTH + 1, sizeof *mine);
  int32_t *first = ref_alloc(n * WIDTH, sizeof *first);
  for (int64_t k = 0; k < own * WIDTH; k++)
    all[cut[me] * WIDTH + k] = mine[k] = (int32_t)(cut[me] + k / WIDTH);
  for (int again = 0; again < 2; again++) {
    ck_ok(world_complete(all, cut, WIDTH * sizeof *all));
    ck_ok(world_collect(mine, cut, WIDTH * sizeof *mine, me == 0 ? first : NULL));
    for (int64_t k = 0; k < n * WIDTH; k++) {
      ck_assert_int_eq(all[k], k / WIDTH);
      if (me == 0) ck_assert_int_eq(first[k], k / WIDTH);
    }
  }
  free(cut);
  free(all);
  free(mine);
  free(first);
}
END_TEST

START_TEST(sums_come_in_the_order_of_ranks)
{
  md_ctx *ctx = test_ctx(MD_DOUBLE, 1, false);
  comm *cm;
  ck_ok(comm_create(ctx, &cm));
  double values[2] = {1 / (3.0 + world_rank()), 1}, sum = 0;
  for (int r = 0; r < world_count(); r++)
    sum += 1 / (3.0 + r);
  ck_ok(comm_sum(cm, values, 2));
  ck_assert(values[0] == sum && values[1] == world_count());
  comm_destroy(cm);
  md_ctx_destroy(ctx);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("world");
  TCase *tc = tcase_create("world");
  tcase_set_timeout(tc, 120);
  tcase_add_test(tc, words_of_all_ranks);
  tcase_add_test(tc, messages_arrive_whole_and_in_order);
  tcase_add_test(tc, parts_come_to_all_and_to_the_first);
  tcase_add_test(tc, sums_come_in_the_order_of_ranks);
  suite_add_tcase(suite, tc);
  return run_ranks(suite, "check_world");
}
