/* minimd/checkpoint_read.c - reads checkpoints; nothing in a file is believed before its check sum
 * was. */
#include "core/crc.h"
#include "minimd/checkpoint_impl.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define WORD(name, word) word,
static const char *const section_words[CHECKPOINT_SECTION_COUNT] = {CHECKPOINT_SECTIONS(WORD)};
#undef WORD

typedef struct {
  const char *path;
  FILE *file;
  uint64_t left; /* bytes behind what was read */
} source;

static md_status get(source *in, const char *what, void *to, size_t bytes)
{
  MD_REQUIRE(bytes <= in->left, MD_EIO, "'%s' is cut off in the section '%s'", in->path, what);
  MD_REQUIRE(bytes == 0 || fread(to, 1, bytes, in->file) == bytes, MD_EIO, "cannot read '%s': %s",
             in->path, ferror(in->file) ? strerror(errno) : "it became shorter");
  in->left -= bytes;
  return MD_OK;
}

static md_status get_head(source *in)
{
  checkpoint_head head;
  MD_REQUIRE(in->left >= sizeof head, MD_EIO, "'%s' is cut off in its head", in->path);
  MD_TRY(get(in, "head", &head, sizeof head));
  MD_REQUIRE(memcmp(head.magic, CHECKPOINT_MAGIC, sizeof head.magic) == 0, MD_EINVAL,
             "'%s' is no checkpoint of this program", in->path);
  MD_REQUIRE(head.crc == md_crc32c(0, &head, offsetof(checkpoint_head, crc)), MD_EIO,
             "'%s' is damaged in its head", in->path);
  MD_REQUIRE(head.version == CHECKPOINT_VERSION, MD_EINVAL,
             "'%s' is a checkpoint of version %u; this program reads version %d", in->path,
             head.version, CHECKPOINT_VERSION);
  return MD_OK;
}

/* The content of the next section, which must be `tag` and hold `expected` bytes (any number where
 * that is negative), with a NUL behind it. */
static md_status get_section(source *in, checkpoint_section tag, int64_t expected, void *out)
{
  checkpoint_section_head head;
  const char *what = section_words[tag];
  MD_TRY(get(in, what, &head, sizeof head));
  const bool good = head.crc == md_crc32c(0, &head, offsetof(checkpoint_section_head, crc)) &&
                    head.zero == 0 && head.tag == (uint32_t)tag &&
                    (expected < 0 || head.bytes == (uint64_t)expected);
  MD_REQUIRE(good, MD_EIO, "'%s' is damaged at the section '%s'", in->path, what);
  MD_REQUIRE(head.bytes <= in->left, MD_EIO, "'%s' is cut off in the section '%s'", in->path, what);
  char *data = malloc(head.bytes + 1);
  MD_REQUIRE(data, MD_ENOMEM, "out of memory for the %s of '%s'", what, in->path);
  md_status status = get(in, what, data, head.bytes);
  if (!status && md_crc32c(0, data, head.bytes) != head.content_crc)
    status = MD_FAIL(MD_EIO, "'%s' is damaged in the section '%s'", in->path, what);
  if (status) {
    free(data);
    return status;
  }
  data[head.bytes] = '\0';
  *(void **)out = data;
  return MD_OK;
}

static md_status get_numbers(source *in, checkpoint *out, bool *charged)
{
  checkpoint_step *numbers;
  MD_TRY(get_section(in, CHECKPOINT_STEP, sizeof *numbers, &numbers));
  const checkpoint_step found = *numbers;
  free(numbers);
  bool good = found.n >= 0 && found.n <= INT32_MAX && found.step >= 0 && found.mass > 0 &&
              found.rebuilt_at >= 0 && found.rebuilt_at <= found.step && found.backend >= 0 &&
              found.backend < MD_BACKEND_COUNT && (found.charged == 0 || found.charged == 1);
  for (int d = 0; d < 3; d++)
    good = good && isfinite(found.lo[d]) && isfinite(found.hi[d]) && found.hi[d] > found.lo[d];
  MD_REQUIRE(good, MD_EIO, "'%s' holds numbers that no run has in the section '%s'", in->path,
             section_words[CHECKPOINT_STEP]);
  engine_state *state = &out->state;
  state->n = found.n;
  state->step = found.step;
  state->rebuilt_at = found.rebuilt_at;
  state->mass = found.mass;
  memcpy(state->box.lo, found.lo, sizeof found.lo);
  memcpy(state->box.hi, found.hi, sizeof found.hi);
  out->dump_bytes = found.dump_bytes;
  out->backend = (md_backend)found.backend;
  *charged = found.charged != 0;
  return MD_OK;
}

static md_status get_all(source *in, checkpoint *out)
{
  engine_state *state = &out->state;
  void *nothing = NULL;
  bool charged;
  MD_TRY(get_head(in));
  MD_TRY(get_section(in, CHECKPOINT_CONF, -1, &out->config));
  MD_TRY(get_numbers(in, out, &charged));
  MD_TRY(get_section(in, CHECKPOINT_PLACE, 24 * state->n, &state->x));
  MD_TRY(get_section(in, CHECKPOINT_BUILT, 24 * state->n, &state->built));
  MD_TRY(get_section(in, CHECKPOINT_V, 24 * state->n, &state->v));
  MD_TRY(get_section(in, CHECKPOINT_ID, 8 * state->n, &state->id));
  MD_TRY(get_section(in, CHECKPOINT_IMAGE, 12 * state->n, &state->image));
  if (charged)
    MD_TRY(get_section(in, CHECKPOINT_CHARGE, 8 * state->n, &state->q));
  else
    MD_TRY(get_section(in, CHECKPOINT_CHARGE, 0, &nothing));
  free(nothing);
  nothing = NULL;
  MD_TRY(get_section(in, CHECKPOINT_END, 0, &nothing));
  free(nothing);
  MD_REQUIRE(in->left == 0, MD_EIO, "'%s' has %llu bytes behind its end", in->path,
             (unsigned long long)in->left);
  return MD_OK;
}

static md_status read_file(const char *path, checkpoint *out)
{
  *out = (checkpoint){0};
  source in = {path, fopen(path, "rb"), 0};
  MD_REQUIRE(in.file, MD_EIO, "cannot read '%s': %s", path, strerror(errno));
  struct stat info;
  md_status status = MD_OK;
  if (fstat(fileno(in.file), &info) != 0 || !S_ISREG(info.st_mode))
    status = MD_FAIL(MD_EIO, "cannot read '%s': expected a regular file", path);
  in.left = status ? 0 : (uint64_t)info.st_size;
  if (!status) status = get_all(&in, out);
  fclose(in.file);
  if (!status) out->path = strdup(path);
  if (!status && !out->path) status = MD_FAIL(MD_ENOMEM, "out of memory for a file name");
  if (status) checkpoint_free(out);
  return status;
}

/* A broken file's message ends in what can be used in its place. */
static md_status offer_previous(const char *path, md_status status)
{
  char *message = strdup(md_message()), *previous = NULL;
  checkpoint older;
  const bool named = message && asprintf(&previous, "%s.prev", path) >= 0;
  if (named && read_file(previous, &older) == MD_OK) {
    MD_FAIL(status, "%s; the one before it is whole: --restart %s (step %lld)", message, previous,
            (long long)older.state.step);
    checkpoint_free(&older);
  } else if (message) {
    MD_FAIL(status, "%s", message);
  }
  free(previous);
  free(message);
  return status;
}

md_status checkpoint_read(const char *path, checkpoint *out)
{
  const md_status status = read_file(path, out);
  return status == MD_EIO || status == MD_EINVAL ? offer_previous(path, status) : status;
}
