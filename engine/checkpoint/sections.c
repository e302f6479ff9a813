/* engine/checkpoint/sections.c - see sections.h.  Nothing in a file is believed before its check
 * sum was. */
#include "engine/checkpoint/sections.h"
#include "core/crc.h"
#include "core/output/files.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "arrays are written as they lie");

typedef struct {
  char letters[8];
  uint32_t version, crc; /* of what stands before it */
} file_head;

typedef struct {
  uint32_t tag, content_crc;
  uint64_t bytes;
  uint32_t crc; /* of what stands before it */
  uint32_t zero;
} section_head;

static const struct {
  const char *letters;
  uint32_t version;
  const char *command;
} kinds[SECTIONS_KIND_COUNT] = {
#define ROW(name, letters, version, command) {letters, version, command},
    SECTIONS_KINDS(ROW)
#undef ROW
};

static void put(sections_writer *to, const void *data, size_t bytes)
{
  if (to->error || bytes == 0 || fwrite(data, 1, bytes, to->out.stream) == bytes) return;
  to->error = errno;
}

md_status sections_create(const char *path, sections_kind kind, sections_writer *out)
{
  *out = (sections_writer){.path = path};
  MD_TRY(md_output_open(path, &out->out));
  if (!out->out.temporary) {
    md_output_discard(&out->out);
    return MD_FAIL(MD_EIO, "cannot write '%s': expected a regular file", path);
  }
  file_head head = {.version = kinds[kind].version};
  memcpy(head.letters, kinds[kind].letters, sizeof head.letters);
  head.crc = md_crc32c(0, &head, offsetof(file_head, crc));
  put(out, &head, sizeof head);
  return MD_OK;
}

static void put_section_head(sections_writer *to, int tag, uint32_t content_crc, size_t bytes)
{
  section_head head = {(uint32_t)tag, content_crc, bytes, 0, 0};
  head.crc = md_crc32c(0, &head, offsetof(section_head, crc));
  put(to, &head, sizeof head);
}

void sections_put(sections_writer *to, int tag, const void *data, size_t bytes)
{
  put_section_head(to, tag, md_crc32c(0, data, bytes), bytes);
  put(to, data, bytes);
}

static void move(sections_writer *to, int64_t offset, int from)
{
  if (!to->error && fseeko(to->out.stream, offset, from) != 0) to->error = errno;
}

sections_place sections_hold(sections_writer *to, int tag, size_t bytes)
{
  const int64_t begin = ftello(to->out.stream) + (int64_t)sizeof(section_head);
  move(to, begin + (int64_t)bytes, SEEK_SET);
  return (sections_place){.tag = tag, .begin = begin, .bytes = bytes};
}

void sections_fill(sections_writer *to, sections_place *place, const void *data, size_t bytes)
{
  move(to, place->begin + (int64_t)place->filled, SEEK_SET);
  put(to, data, bytes);
  place->crc = md_crc32c(place->crc, data, bytes);
  place->filled += bytes;
}

void sections_seal(sections_writer *to, const sections_place *place)
{
  move(to, place->begin - (int64_t)sizeof(section_head), SEEK_SET);
  put_section_head(to, place->tag, place->crc, place->bytes);
  move(to, 0, SEEK_END);
}

/* The file gets a second name, that of the one before it, which is there until then. */
static bool link_previous(const char *target, const char *previous, const char *between)
{
  unlink(between);
  const bool good =
      (link(target, between) == 0 && rename(between, previous) == 0) || errno == ENOENT;
  const int error = errno;
  unlink(between); /* the rename leaves it where both are names of one file */
  errno = error;
  return good;
}

static md_status keep_previous(const sections_writer *to, bool replace)
{
  char *previous = NULL, *between = NULL;
  const char *target = to->out.target;
  const bool named =
      asprintf(&previous, "%s.prev", target) >= 0 && asprintf(&between, "%s.prev.tmp", target) >= 0;
  bool good = named;
  if (named && (replace || access(previous, F_OK) != 0))
    good = link_previous(target, previous, between);
  const int error = errno;
  free(previous);
  free(between);
  MD_REQUIRE(named, MD_ENOMEM, "out of memory for a file name");
  MD_REQUIRE(good, MD_EIO, "cannot keep '%s' as '%s.prev': %s", to->path, target, strerror(error));
  return MD_OK;
}

void sections_discard(sections_writer *to)
{
  md_output_discard(&to->out);
}

md_status sections_finish(sections_writer *to, int last, bool keep)
{
  sections_put(to, last, NULL, 0);
  if (!to->error && fflush(to->out.stream) != 0) to->error = errno;
  const md_status status =
      to->error ? MD_FAIL(MD_EIO, "cannot write '%s': %s", to->path, strerror(to->error))
                : keep_previous(to, keep);
  if (!status) return md_output_close(&to->out);
  md_output_discard(&to->out);
  return status;
}

static md_status get(sections_reader *in, const char *what, void *to, size_t bytes)
{
  MD_REQUIRE(bytes <= in->left, MD_EIO, "'%s' is cut off in the section '%s'", in->path, what);
  MD_REQUIRE(bytes == 0 || fread(to, 1, bytes, in->file) == bytes, MD_EIO, "cannot read '%s': %s",
             in->path, ferror(in->file) ? strerror(errno) : "it became shorter");
  in->left -= bytes;
  return MD_OK;
}

static md_status get_head(sections_reader *in, sections_kind kind)
{
  file_head head;
  MD_REQUIRE(in->left >= sizeof head, MD_EIO, "'%s' is cut off in its head", in->path);
  MD_TRY(get(in, "head", &head, sizeof head));
  int found = 0;
  while (found < SECTIONS_KIND_COUNT &&
         memcmp(head.letters, kinds[found].letters, sizeof head.letters) != 0)
    found++;
  MD_REQUIRE(found < SECTIONS_KIND_COUNT, MD_EINVAL, "'%s' is no checkpoint of this program",
             in->path);
  MD_REQUIRE(head.crc == md_crc32c(0, &head, offsetof(file_head, crc)), MD_EIO,
             "'%s' is damaged in its head", in->path);
  MD_REQUIRE(found == (int)kind, MD_EINVAL, "'%s' is a checkpoint of `%s`, not of `%s`", in->path,
             kinds[found].command, kinds[kind].command);
  MD_REQUIRE(head.version == kinds[kind].version, MD_EINVAL,
             "'%s' is a checkpoint of version %u; this program reads version %u", in->path,
             head.version, kinds[kind].version);
  return MD_OK;
}

md_status sections_open(const char *path, sections_kind kind, const char *const *words,
                        sections_reader *out)
{
  struct stat info;
  *out = (sections_reader){.path = path, .words = words};
  MD_TRY(md_file_claim(path, MD_FILE_RESTART, "the checkpoint"));
  MD_TRY(md_file_open(path, &out->file));
  md_status status = MD_OK;
  if (fstat(fileno(out->file), &info) != 0 || !S_ISREG(info.st_mode))
    status = MD_FAIL(MD_EIO, "cannot read '%s': expected a regular file", path);
  out->left = status ? 0 : (uint64_t)info.st_size;
  if (!status) status = get_head(out, kind);
  if (status) sections_close(out);
  return status;
}

void sections_close(sections_reader *in)
{
  fclose(in->file);
  in->file = NULL;
}

/* The next section begins, with this tag. */
static md_status get_section_head(sections_reader *in, int tag, int64_t expected,
                                  section_head *head)
{
  const char *what = in->words[tag];
  MD_TRY(get(in, what, head, sizeof *head));
  const bool good = head->crc == md_crc32c(0, head, offsetof(section_head, crc)) &&
                    head->zero == 0 && head->tag == (uint32_t)tag &&
                    (expected < 0 || head->bytes == (uint64_t)expected);
  MD_REQUIRE(good, MD_EIO, "'%s' is damaged at the section '%s'", in->path, what);
  MD_REQUIRE(head->bytes <= in->left, MD_EIO, "'%s' is cut off in the section '%s'", in->path,
             what);
  return MD_OK;
}

/* So many bytes of a section to data, or only to its check sum. */
static md_status get_bytes(sections_reader *in, const char *what, uint64_t bytes, char *data,
                           uint32_t *crc)
{
  char passing[1 << 16];
  for (uint64_t at = 0; at < bytes; at += sizeof passing) {
    const size_t now = bytes - at < sizeof passing ? (size_t)(bytes - at) : sizeof passing;
    char *to = passing;
    if (data) to = data + at;
    MD_TRY(get(in, what, to, now));
    *crc = md_crc32c(*crc, to, now);
  }
  return MD_OK;
}

/* What the section holds from `begin` on, `count` bytes of it. */
static md_status get_part(sections_reader *in, const char *what, const section_head *head,
                          uint64_t begin, uint64_t count, void *out)
{
  uint32_t crc = 0;
  char *data = malloc(count + 2);
  MD_REQUIRE(data, MD_ENOMEM, "out of memory for the %s of '%s'", what, in->path);
  md_status status = get_bytes(in, what, begin, NULL, &crc);
  if (!status) status = get_bytes(in, what, count, data, &crc);
  if (!status) status = get_bytes(in, what, head->bytes - begin - count, NULL, &crc);
  if (!status && crc != head->content_crc)
    status = MD_FAIL(MD_EIO, "'%s' is damaged in the section '%s'", in->path, what);
  if (status) {
    free(data);
    return status;
  }
  data[count] = data[count + 1] = '\0';
  *(void **)out = data;
  return MD_OK;
}

md_status sections_get(sections_reader *in, int tag, int64_t expected, void *out)
{
  section_head head;
  MD_TRY(get_section_head(in, tag, expected, &head));
  return get_part(in, in->words[tag], &head, 0, head.bytes, out);
}

md_status sections_get_part(sections_reader *in, int tag, int64_t expected, int64_t begin,
                            int64_t count, void *out)
{
  section_head head;
  MD_TRY(get_section_head(in, tag, expected, &head));
  return get_part(in, in->words[tag], &head, (uint64_t)begin, (uint64_t)count, out);
}

md_status sections_end(sections_reader *in, int last)
{
  void *nothing;
  MD_TRY(sections_get(in, last, 0, &nothing));
  free(nothing);
  MD_REQUIRE(in->left == 0, MD_EIO, "'%s' has %llu bytes behind its end", in->path,
             (unsigned long long)in->left);
  return MD_OK;
}

md_status sections_offer_previous(const char *path, md_status status, sections_step_fn *step_of)
{
  if (status != MD_EIO && status != MD_EINVAL) return status;
  char *message = strdup(md_message()), *previous = NULL, *target = NULL;
  int64_t step;
  const bool named = message && md_file_target(path, &target) == MD_OK &&
                     asprintf(&previous, "%s.prev", target) >= 0;
  if (named && step_of(previous, &step) == MD_OK)
    MD_FAIL(status, "%s; the one before it is whole: --restart %s (step %lld)", message, previous,
            (long long)step);
  else if (message)
    MD_FAIL(status, "%s", message);
  free(previous);
  free(target);
  free(message);
  return status;
}
