/* core/crc.c - see crc.h.  The table's way takes eight bytes at a time: table[k][b] is what byte b
 * does to the sum when k more bytes follow it. */
#include "core/crc.h"

#include <pthread.h>
#include <string.h>

static const uint32_t POLYNOMIAL = 0x82f63b78; /* 0x1EDC6F41 with its bits reversed */

static uint32_t table[8][256];
static pthread_once_t table_made = PTHREAD_ONCE_INIT;

static void make_table(void)
{
  for (uint32_t byte = 0; byte < 256; byte++) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; bit++)
      crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
    table[0][byte] = crc;
  }
  for (int k = 1; k < 8; k++)
    for (int byte = 0; byte < 256; byte++)
      table[k][byte] = table[k - 1][byte] >> 8 ^ table[0][table[k - 1][byte] & 0xff];
}

uint32_t md_crc32c_table(uint32_t crc, const void *data, size_t bytes)
{
  const unsigned char *at = data;
  pthread_once(&table_made, make_table);
  crc = ~crc;
  for (; bytes >= 8; bytes -= 8, at += 8) {
    uint32_t next = 0;
    for (int k = 0; k < 8; k++) {
      const uint32_t byte = k < 4 ? at[k] ^ (crc >> 8 * k & 0xff) : at[k];
      next ^= table[7 - k][byte];
    }
    crc = next;
  }
  for (; bytes > 0; bytes--, at++)
    crc = crc >> 8 ^ table[0][(crc ^ *at) & 0xff];
  return ~crc;
}

#if defined(__x86_64__)
#include <nmmintrin.h>

__attribute__((target("sse4.2"))) static uint32_t hardware(uint32_t crc, const void *data,
                                                           size_t bytes)
{
  const unsigned char *at = data;
  uint64_t sum = ~crc;
  for (; bytes >= 8; bytes -= 8, at += 8) {
    uint64_t word;
    memcpy(&word, at, sizeof word);
    sum = _mm_crc32_u64(sum, word);
  }
  crc = (uint32_t)sum;
  for (; bytes > 0; bytes--, at++)
    crc = _mm_crc32_u8(crc, *at);
  return ~crc;
}

uint32_t md_crc32c(uint32_t crc, const void *data, size_t bytes)
{
  return __builtin_cpu_supports("sse4.2") ? hardware(crc, data, bytes)
                                          : md_crc32c_table(crc, data, bytes);
}
#else
uint32_t md_crc32c(uint32_t crc, const void *data, size_t bytes)
{
  return md_crc32c_table(crc, data, bytes);
}
#endif
