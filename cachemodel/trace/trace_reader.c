/* cachemodel/trace/trace_reader.c - binary traces, read block by block (trace_file.h).  A block is
 * handed out only after its check sum was compared. */
#include "cachemodel/trace/trace_impl.h"
#include "core/crc.h"
#include "core/output/files.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint64_t get_little(const uint8_t *from, int bytes)
{
  uint64_t value = 0;
  for (int k = bytes - 1; k >= 0; k--)
    value = value << 8 | from[k];
  return value;
}

/* Read exactly `bytes`; what says what they are. */
static md_status get_bytes(trace_reader *r, void *data, int64_t bytes, const char *what)
{
  const size_t got = fread(data, 1, (size_t)bytes, r->stream);
  r->offset += (int64_t)got;
  MD_REQUIRE(!ferror(r->stream), MD_EIO, "cannot read '%s': %s", r->path, strerror(errno));
  MD_REQUIRE((int64_t)got == bytes, MD_EINVAL,
             "'%s' is truncated: it ends at byte %" PRId64 " within %s; a complete trace ends with "
             "a block without payload",
             r->path, r->offset, what);
  return MD_OK;
}

static md_status open_binary(trace_reader *r)
{
  uint8_t head[TRACE_FILE_HEAD];
  MD_TRY(get_bytes(r, head, sizeof head, "the header"));
  MD_REQUIRE(memcmp(head, TRACE_MAGIC, 8) == 0, MD_EINVAL,
             "'%s' is no trace: expected a binary file that begins with 'mdtrace', or text lines "
             "`address,size,r|w`",
             r->path);
  const uint32_t crc = md_crc32c(0, head, 12), said = (uint32_t)get_little(head + 12, 4);
  MD_REQUIRE(crc == said, MD_EINVAL,
             "'%s' is corrupted: the header's check sum is %08x, expected %08x", r->path, crc,
             said);
  const uint64_t version = get_little(head + 8, 4);
  MD_REQUIRE(version == TRACE_VERSION, MD_EINVAL,
             "'%s' is a trace of version %" PRIu64 "; this program reads version %d", r->path,
             version, TRACE_VERSION);
  return MD_OK;
}

/* Binary files begin with the magic number, those that are forced to be as well. */
static md_status find_kind(trace_reader *r)
{
  errno = 0;
  const int first = getc(r->stream);
  MD_REQUIRE(first != EOF || !ferror(r->stream), MD_EIO, "cannot read '%s': %s", r->path,
             strerror(errno));
  MD_REQUIRE(first != EOF, MD_EINVAL, "'%s' is empty: expected a trace", r->path);
  ungetc(first, r->stream);
  if (r->how.format == TRACE_FORMAT_AUTO && first == TRACE_MAGIC[0])
    r->how.format = TRACE_FORMAT_MINIMD;
  return r->how.format == TRACE_FORMAT_MINIMD ? open_binary(r) : MD_OK;
}

static md_status open_stream(trace_reader *r)
{
  if (strcmp(r->path, "-") != 0) {
    MD_TRY(md_file_read(r->path, &r->stream));
  } else {
    const int fd = dup(STDIN_FILENO);
    r->stream = fd < 0 ? NULL : fdopen(fd, "r");
    if (!r->stream && fd >= 0) close(fd);
    MD_REQUIRE(r->stream, MD_EIO, "cannot read standard input: %s", strerror(errno));
  }
  return trace_gzip_open(r->path, &r->stream, &r->gzip);
}

/* What gzip found comes before what followed from it. */
static md_status blame_gzip(const trace_reader *r, md_status status)
{
  const char *fault = status ? trace_gzip_fault(r->gzip) : NULL;
  return fault ? MD_FAIL(MD_EINVAL, "'%s' is corrupted: gzip: %s", r->path, fault) : status;
}

md_status trace_reader_open(const char *path, const trace_how *how, trace_reader **out)
{
  *out = NULL;
  trace_reader *r = calloc(1, sizeof *r);
  MD_REQUIRE(r, MD_ENOMEM, "out of memory for a trace");
  if (how) r->how = *how;
  r->path = strdup(path);
  md_status status = r->path ? open_stream(r) : MD_FAIL(MD_ENOMEM, "out of memory for a file name");
  if (!status) status = blame_gzip(r, find_kind(r));
  if (status)
    trace_reader_close(r);
  else
    *out = r;
  return status;
}

trace_format trace_reader_format(const trace_reader *r)
{
  return r->how.format;
}

void trace_reader_close(trace_reader *r)
{
  if (!r) return;
  trace_gzip_close(r->gzip, r->stream);
  free(r->path);
  free(r->payload);
  free(r->listed);
  free(r->line);
  free(r);
}

static md_status bad_block(const trace_reader *r, const char *what)
{
  return MD_FAIL(MD_EINVAL,
                 "'%s' is corrupted: block %" PRId64 " (it ends at byte %" PRId64
                 ", after access %" PRId64 "): %s",
                 r->path, r->block, r->offset, r->count, what);
}

/* Room for a payload, and for as many addresses as its lists can hold: each takes a byte. */
static md_status reserve(trace_reader *r, int64_t size)
{
  if (size <= r->room) return MD_OK;
  free(r->payload);
  free(r->listed);
  r->room = 0;
  r->payload = malloc((size_t)size);
  r->listed = malloc((size_t)size * sizeof *r->listed);
  MD_REQUIRE(r->payload && r->listed, MD_ENOMEM, "out of memory for a trace");
  r->room = size;
  return MD_OK;
}

static md_status next_block(trace_reader *r)
{
  uint8_t head[TRACE_BLOCK_HEAD];
  char what[96];
  r->block++;
  snprintf(what, sizeof what, "block %" PRId64 ", after %" PRId64 " accesses", r->block, r->count);
  MD_TRY(get_bytes(r, head, sizeof head, what));
  const int64_t size = (int64_t)get_little(head + 8, 4);
  if (size > TRACE_PAYLOAD_MOST) return bad_block(r, "its payload is larger than 2^20 bytes");
  MD_TRY(reserve(r, size));
  MD_TRY(get_bytes(r, r->payload, size, what));
  const uint32_t crc = md_crc32c(md_crc32c(0, head, 12), r->payload, (size_t)size);
  const uint32_t said = (uint32_t)get_little(head + 12, 4);
  if (crc != said) {
    snprintf(what, sizeof what, "its check sum is %08x, expected %08x", crc, said);
    return bad_block(r, what);
  }
  if (get_little(head, 8) != (uint64_t)r->count)
    return bad_block(r, "a block before it is missing");
  r->used = 0;
  r->size = size;
  r->n_listed = r->next_listed = 0;
  memset(r->last, 0, sizeof r->last);
  if (size > 0) return MD_OK;
  r->ended = true;
  if (getc(r->stream) != EOF) return bad_block(r, "something follows the last block");
  MD_REQUIRE(r->count > 0, MD_EINVAL, "'%s' holds no accesses", r->path);
  return MD_OK;
}

static bool get_number(trace_reader *r, uint64_t *value)
{
  *value = 0;
  for (int shift = 0; shift < 64 && r->used < r->size; shift += 7) {
    const uint8_t byte = r->payload[r->used++];
    if (shift == 63 && byte > 1) return false;
    *value |= (uint64_t)(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

static bool get_difference(trace_reader *r, uint64_t *value)
{
  if (!get_number(r, value)) return false;
  *value = *value >> 1 ^ (0 - (*value & 1));
  return true;
}

static bool read_addresses(trace_reader *r, int form)
{
  uint64_t count, unit, difference, address = r->last[r->like.stream];
  if (form == TRACE_FORM_AGAIN) {
    if (r->n_listed == 0 || !get_difference(r, &difference)) return false;
    for (int64_t k = 0; k < r->n_listed; k++)
      r->listed[k] += difference;
  } else {
    if (!get_number(r, &count) || !get_number(r, &unit) || unit > 63) return false;
    if (count < 1 || count > (uint64_t)(r->size - r->used)) return false; /* a byte each at least */
    for (uint64_t k = 0; k < count; k++) {
      if (!get_difference(r, &difference)) return false;
      address += difference << unit;
      r->listed[k] = address;
    }
    r->n_listed = (int64_t)count;
  }
  r->next_listed = 0;
  r->like.count = 1;
  r->like.stride = 0;
  for (int64_t k = 0; k < r->n_listed; k++) {
    r->like.address = r->listed[k];
    if (!trace_run_valid(&r->like)) return false;
  }
  r->last[r->like.stream] = r->listed[r->n_listed - 1];
  r->count += r->n_listed;
  return true;
}

static bool read_run(trace_reader *r)
{
  uint64_t count, difference, stride;
  trace_run *run = &r->like;
  if (!get_number(r, &count) || !get_difference(r, &difference) || !get_difference(r, &stride))
    return false;
  if (count < 1 || count > (uint64_t)(INT64_MAX - r->count)) return false;
  run->count = (int64_t)count;
  run->address = r->last[run->stream] + difference;
  run->stride = (int64_t)stride;
  if (!trace_run_valid(run)) return false;
  r->last[run->stream] = run->address + stride * (count - 1);
  r->count += run->count;
  return true;
}

/* The next record into r->like and r->listed; *is_run: it is a run, not a list. */
static bool read_record(trace_reader *r, bool *is_run)
{
  const uint8_t head = r->payload[r->used++];
  const int stream = head & 7, op = head >> 3 & 3, form = head >> 5;
  uint64_t bytes;
  if (stream >= TRACE_STREAM_COUNT || op >= TRACE_OP_COUNT || form > TRACE_FORM_AGAIN) return false;
  if (!get_number(r, &bytes) || bytes < 1 || bytes > INT32_MAX) return false;
  r->like = (trace_run){(trace_stream)stream, (trace_op)op, (int32_t)bytes, 0, 0, 0};
  *is_run = form == TRACE_FORM_RUN;
  return *is_run ? read_run(r) : read_addresses(r, form);
}

static md_status read_binary(trace_reader *r, int64_t room, trace_run *runs, int64_t *n)
{
  *n = 0;
  while (*n < room) {
    if (r->next_listed < r->n_listed) {
      runs[*n] = r->like;
      runs[(*n)++].address = r->listed[r->next_listed++];
      continue;
    }
    if (r->used == r->size) {
      if (*n > 0 || r->ended) break;
      MD_TRY(next_block(r));
      if (r->ended) break;
    }
    bool is_run;
    if (!read_record(r, &is_run)) return bad_block(r, "it holds a record that cannot be");
    if (is_run) {
      runs[(*n)++] = r->like;
      r->next_listed = r->n_listed;
    }
  }
  return MD_OK;
}

md_status trace_read(trace_reader *r, int64_t room, trace_run *runs, int64_t *n)
{
  const bool binary = r->how.format == TRACE_FORMAT_MINIMD;
  return blame_gzip(r, (binary ? read_binary : trace_read_text)(r, room, runs, n));
}
