/* engine/checkpoint/sections.h - files made of sections with check sums: whole, or refused by name.
 *
 * Little-endian:
 *
 *   head     eight letters for the kind, u32 version, u32 check sum of these 12 bytes
 *   section  u32 tag, u32 check sum of what it holds, u64 bytes, u32 check sum of these 16 bytes,
 *            u32 zero, then what it holds
 *
 * The last section is empty; the file ends there.  Check sums are CRC-32C. */
#ifndef SECTIONS_H
#define SECTIONS_H

#include "core/output/output.h"

MD_BEGIN_C

#define SECTIONS_KINDS(X)                                                                          \
  X(RUN, "MINIMDCK", 4, "minimd run")                                                              \
  X(STOKES, "MINIMDSD", 3, "minimd stokes")
#define MD_ENUM_(name, letters, version, command) SECTIONS_##name,
typedef enum { SECTIONS_KINDS(MD_ENUM_) SECTIONS_KIND_COUNT } sections_kind;
#undef MD_ENUM_

typedef struct {
  const char *path;
  md_output out;
  int error; /* errno of the first write that failed; 0: none did */
} sections_writer;

/* Begin a file beside `path`.  Errors: MD_EIO (cannot be written, is no regular file), MD_ENOMEM.
 */
md_status sections_create(const char *path, sections_kind kind, sections_writer *out);
/* Whether all was written is told by sections_finish. */
void sections_put(sections_writer *to, int tag, const void *data, size_t bytes);
/* A section whose bytes come in parts, between those of others: place it, where the one before it
 * ends; fill it up; seal it. */
typedef struct {
  int tag;
  int64_t begin; /* of what it holds, in the file */
  size_t bytes, filled;
  uint32_t crc;
} sections_place;
sections_place sections_hold(sections_writer *to, int tag, size_t bytes);
void sections_fill(sections_writer *to, sections_place *place, const void *data, size_t bytes);
void sections_seal(sections_writer *to, const sections_place *place);
/* Forget the new file. */
void sections_discard(sections_writer *to);
/* Write the last section.  A file named `path` becomes path.prev, if `keep` or where there is none,
 * and the new one takes its place: at every moment one of the two is whole.  Errors: MD_EIO,
 * MD_ENOMEM; then path is as it was. */
md_status sections_finish(sections_writer *to, int last, bool keep);

typedef struct {
  const char *path;
  const char *const *words; /* what messages call the section of each tag */
  FILE *file;
  uint64_t left; /* bytes behind what was read */
} sections_reader;

/* Open a file and check its head.  *out needs sections_close only on success.  Errors: MD_EIO,
 * MD_EINVAL (another kind of file: says which; another version). */
md_status sections_open(const char *path, sections_kind kind, const char *const *words,
                        sections_reader *out);
void sections_close(sections_reader *in);
/* The next section must have this tag and hold `expected` bytes, any number if that is negative.
 * *out: what it holds, with two NULs behind it, so that text and lists of words end in any file;
 * free with free.  Errors: MD_EIO (damaged or cut off:
 * names the section), MD_ENOMEM. */
md_status sections_get(sections_reader *in, int tag, int64_t expected, void *out);
/* The same of a section of `expected` bytes, of which bytes begin .. begin + count - 1 are kept: it
 * is read and checked to its end through a small piece of memory. */
md_status sections_get_part(sections_reader *in, int tag, int64_t expected, int64_t begin,
                            int64_t count, void *out);
/* The last section, with nothing behind it. */
md_status sections_end(sections_reader *in, int last);

/* Reads a whole file for its step.  Errors: any. */
typedef md_status sections_step_fn(const char *path, int64_t *step);
/* For a file that was refused with `status`: when path.prev is whole, end the message in an offer
 * of it.  Returns status. */
md_status sections_offer_previous(const char *path, md_status status, sections_step_fn *step_of);

MD_END_C
#endif
