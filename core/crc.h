/* core/crc.h - CRC-32C (Castagnoli): the check sum of every binary file this program writes.
 *
 * Polynomial 0x1EDC6F41, bits reflected, all ones before and after: the one of iSCSI, ext4 and the
 * processor's own instruction; of "123456789" it is 0xE3069283. */
#ifndef CRC_H
#define CRC_H

#include "core/md.h"

MD_BEGIN_C

/* Check sum of bytes that follow those with check sum crc; 0 for the first.  The processor's
 * instruction where it has one (10 GB/s), else a table (2 GB/s). */
uint32_t md_crc32c(uint32_t crc, const void *data, size_t bytes);

/* The table's way, on every machine: for tests. */
uint32_t md_crc32c_table(uint32_t crc, const void *data, size_t bytes);

MD_END_C
#endif
