/* core/md.h - status codes, messages and the words every room shares.
 *
 * Every function that can fail returns md_status and leaves one sentence for the user in
 * md_message().  Only main() prints it and turns the status into an exit code. */
#ifndef MD_H
#define MD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define MD_BEGIN_C extern "C" {
#define MD_END_C }
#else
#define MD_BEGIN_C
#define MD_END_C
#endif

/* A formula that host and device share. */
#ifdef __CUDACC__
#define MD_INLINE static __host__ __device__ __forceinline__
#else
#define MD_INLINE static inline __attribute__((always_inline, unused))
#endif

/* Entry of a dispatch table: the GPU function, or NULL in a build without CUDA. */
#ifdef MD_HAVE_CUDA
#define MD_GPU(function) function
#else
#define MD_GPU(function) NULL
#endif

MD_BEGIN_C

typedef enum {
  MD_OK = 0,
  MD_EINVAL,    /* usage or input: exit 2 */
  MD_ENOMEM,    /* host or device memory: exit 4 */
  MD_EIO,       /* a file: exit 3 */
  MD_ECAPACITY, /* more than a format or an index can hold: exit 2 */
  MD_ENOGPU,    /* no such device: exit 4 */
  MD_ECUDA,     /* a CUDA call failed: exit 4 */
  MD_ENUMERIC   /* NaN, lost atoms, no convergence: exit 5 */
} md_status;

typedef struct md_ctx md_ctx;
typedef struct md_atoms md_atoms;

/* Store the message of a failure and return code.  file and line are the place in the source; they
 * are shown for MD_ECUDA only, where a user can do nothing but report them. */
md_status md_fail(md_status code, const char *file, int line, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* The message of this thread's last failure, without a line end. */
const char *md_message(void);

/* The version of this program or library, such as "1.0.0"; behind a tag "1.0.0-N-gCOMMIT". */
const char *md_version(void);

/* The exit code of a status, as `minimd --help` lists them. */
int md_exit_code(md_status code);

#define MD_TRY(call)                                                                               \
  do {                                                                                             \
    const md_status s_ = (call);                                                                   \
    if (s_) return s_;                                                                             \
  } while (0)
/* The value is code itself, so that a static analyser sees that it is no MD_OK. */
MD_INLINE md_status md_failed(md_status code, md_status stored)
{
  (void)stored;
  return code;
}
#define MD_FAIL(code, ...) md_failed((code), md_fail((code), __FILE__, __LINE__, __VA_ARGS__))
#define MD_REQUIRE(cond, code, ...)                                                                \
  do {                                                                                             \
    if (!(cond)) return MD_FAIL(code, __VA_ARGS__);                                                \
  } while (0)

/* Index of word in words[n], or -1.  Words come from the X-macro list of their enum. */
int md_word_index(const char *word, const char *const *words, int n);

MD_END_C
#endif
