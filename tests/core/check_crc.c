/* tests/core/check_crc.c - the check sum of binary files. */
#include "core/crc.h"
#include "tests/ref/ref.h"
#include "tests/test.h"

START_TEST(crc_is_castagnoli)
{
  ck_assert_uint_eq(md_crc32c(0, "123456789", 9), 0xe3069283);
  unsigned char data[200];
  uint64_t seed = 5;
  for (int k = 0; k < 200; k++)
    data[k] = (unsigned char)(256 * ref_uniform(&seed));
  for (size_t from = 0; from < 9; from++)
    for (size_t bytes = 0; from + bytes <= 100; bytes++) {
      const uint32_t expected = ref_crc32c(data + from, bytes);
      ck_assert_uint_eq(md_crc32c(0, data + from, bytes), expected);
      ck_assert_uint_eq(md_crc32c_table(0, data + from, bytes), expected);
      ck_assert_uint_eq(md_crc32c(md_crc32c(0, data + from, bytes), data + from + bytes, 100),
                        ref_crc32c(data + from, bytes + 100));
    }
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("crc");
  TCase *sums = tcase_create("sums");
  tcase_add_test(sums, crc_is_castagnoli);
  suite_add_tcase(suite, sums);
  return test_main(suite);
}
