/* cachemodel/trace/trace_writer.c - binary traces, written block by block (trace_file.h). */
#include "cachemodel/trace/trace_impl.h"
#include "core/crc.h"
#include "core/output/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WORD(name, word, ...) word,
const char *const trace_stream_words[TRACE_STREAM_COUNT] = {TRACE_STREAMS(WORD)};
#undef WORD

enum { LIST_MOST = 4096, NUMBER_MOST = 10 };

struct trace_writer {
  md_output out;
  uint8_t *payload;                  /* [TRACE_PAYLOAD_MOST] */
  int64_t used, count, before;       /* accesses in all, and before this block */
  uint64_t last[TRACE_STREAM_COUNT]; /* address */
  uint64_t listed[LIST_MOST];        /* the last list of this block */
  int n_listed;
};

static uint64_t zigzag(uint64_t difference)
{
  return difference << 1 ^ (0 - (difference >> 63));
}

static void put_number(trace_writer *w, uint64_t value)
{
  for (; value >= 0x80; value >>= 7)
    w->payload[w->used++] = (uint8_t)(value | 0x80);
  w->payload[w->used++] = (uint8_t)value;
}

static void put_little(uint8_t *to, uint64_t value, int bytes)
{
  for (int k = 0; k < bytes; k++)
    to[k] = (uint8_t)(value >> 8 * k);
}

static md_status put_bytes(trace_writer *w, const void *data, size_t bytes)
{
  MD_REQUIRE(fwrite(data, 1, bytes, w->out.stream) == bytes, MD_EIO, "cannot write a trace: %s",
             strerror(errno));
  return MD_OK;
}

static md_status put_block(trace_writer *w)
{
  uint8_t head[TRACE_BLOCK_HEAD];
  put_little(head, (uint64_t)w->before, 8);
  put_little(head + 8, (uint64_t)w->used, 4);
  const uint32_t crc = md_crc32c(md_crc32c(0, head, 12), w->payload, (size_t)w->used);
  put_little(head + 12, crc, 4);
  MD_TRY(put_bytes(w, head, sizeof head));
  MD_TRY(put_bytes(w, w->payload, (size_t)w->used));
  w->before = w->count;
  w->used = 0;
  w->n_listed = 0;
  memset(w->last, 0, sizeof w->last);
  return MD_OK;
}

/* Begin a record that takes at most `numbers` numbers. */
static md_status begin(trace_writer *w, const trace_run *run, int form, int numbers)
{
  MD_REQUIRE(run->bytes >= 1, MD_EINVAL, "an access of %d bytes cannot be recorded", run->bytes);
  if (w->used + 1 + (int64_t)(numbers + 1) * NUMBER_MOST > TRACE_PAYLOAD_MOST) MD_TRY(put_block(w));
  w->payload[w->used++] = (uint8_t)(run->stream | run->op << 3 | form << 5);
  put_number(w, (uint64_t)run->bytes);
  return MD_OK;
}

md_status trace_write_run(trace_writer *w, const trace_run *run)
{
  MD_REQUIRE(trace_run_valid(run), MD_EINVAL, "a run of no accesses, or one beyond 2^64");
  MD_TRY(begin(w, run, TRACE_FORM_RUN, 3));
  put_number(w, (uint64_t)run->count);
  put_number(w, zigzag(run->address - w->last[run->stream]));
  put_number(w, zigzag((uint64_t)run->stride));
  w->last[run->stream] = run->address + (uint64_t)run->stride * (uint64_t)(run->count - 1);
  w->count += run->count;
  return MD_OK;
}

/* True if the addresses are those of this block's last list, moved by one offset. */
static bool is_again(const trace_writer *w, int n, const uint64_t *address)
{
  if (n != w->n_listed) return false;
  for (int k = 1; k < n; k++)
    if (address[k] - address[0] != w->listed[k] - w->listed[0]) return false;
  return true;
}

static md_status write_list(trace_writer *w, const trace_run *like, int n, const uint64_t *address)
{
  uint64_t *last = &w->last[like->stream], every = 0;
  if (is_again(w, n, address) && w->used + 3 * NUMBER_MOST <= TRACE_PAYLOAD_MOST) {
    MD_TRY(begin(w, like, TRACE_FORM_AGAIN, 1));
    put_number(w, zigzag(address[0] - w->listed[0]));
  } else {
    MD_TRY(begin(w, like, TRACE_FORM_LIST, n + 2));
    for (int k = 0; k < n; k++)
      every |= address[k] - (k ? address[k - 1] : *last);
    const int unit = every ? __builtin_ctzll(every) : 0;
    put_number(w, (uint64_t)n);
    put_number(w, (uint64_t)unit);
    for (int k = 0; k < n; k++) {
      const int64_t difference = (int64_t)(address[k] - (k ? address[k - 1] : *last));
      put_number(w, zigzag((uint64_t)(difference >> unit)));
    }
  }
  memcpy(w->listed, address, (size_t)n * sizeof *address);
  w->n_listed = n;
  *last = address[n - 1];
  w->count += n;
  return MD_OK;
}

md_status trace_write_list(trace_writer *w, const trace_run *like, int n, const uint64_t *address)
{
  for (int from = 0; from < n; from += LIST_MOST)
    MD_TRY(write_list(w, like, n - from < LIST_MOST ? n - from : LIST_MOST, address + from));
  return MD_OK;
}

md_status trace_writer_open(const char *path, trace_writer **out)
{
  *out = NULL;
  trace_writer *w = calloc(1, sizeof *w);
  MD_REQUIRE(w, MD_ENOMEM, "out of memory for a trace");
  w->payload = malloc(TRACE_PAYLOAD_MOST);
  md_status status =
      w->payload ? md_output_open(path, &w->out) : MD_FAIL(MD_ENOMEM, "out of memory for a trace");
  if (!status) {
    uint8_t head[TRACE_FILE_HEAD];
    memcpy(head, TRACE_MAGIC, 8);
    put_little(head + 8, TRACE_VERSION, 4);
    put_little(head + 12, md_crc32c(0, head, 12), 4);
    status = put_bytes(w, head, sizeof head);
  }
  if (status)
    trace_writer_discard(w);
  else
    *out = w;
  return status;
}

static void release(trace_writer *w)
{
  free(w->payload);
  free(w);
}

md_status trace_writer_close(trace_writer *w)
{
  md_status status = w->used > 0 ? put_block(w) : MD_OK;
  if (!status) status = put_block(w); /* the end */
  if (status)
    md_output_discard(&w->out);
  else
    status = md_output_close(&w->out);
  release(w);
  return status;
}

void trace_writer_discard(trace_writer *w)
{
  if (!w) return;
  md_output_discard(&w->out);
  release(w);
}
