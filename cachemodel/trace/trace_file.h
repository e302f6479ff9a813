/* cachemodel/trace/trace_file.h - recorded memory accesses: files, and what is in them.
 *
 * A trace is a sequence of runs: `count` accesses of `bytes` bytes each, whose addresses start at
 * `address` and lie `stride` apart.  Files are read as streams of any length, plain or, where this
 * build has zlib, compressed by gzip.  Kinds of text, an access a line; lines that are empty or
 * begin with # are skipped; numbers are decimal, or hexadecimal with 0x:
 *
 * text    `address,size,r|w`, or words: `R|W address [size]`, `address R|W [size]`, also behind
 *         `PC:` as Pin's pinatrace writes; or what DynamoRIO's memtrace sample (`address: size,
 *         r|w`) and its drmemtrace view tool print; without a size an access is one byte
 * lackey  valgrind --tool=lackey --trace-mem=yes: ` L 1ffe,8`, hexadecimal; `==` lines are skipped
 * dinero  `0|1|2 address` (read, write, fetch; 4 bytes) or `r|w|i|m address size`, hexadecimal
 * csv     a header that names the columns (address, and where they are: size, op), separated by
 *         commas, semicolons or tabs
 *
 * Instruction fetches are skipped unless asked for; a modified datum is a read, then a write.
 *
 * binary  (minimd) little endian.  Header: "mdtrace\n", uint32 version (1), uint32 CRC-32C of these
 *         12 bytes.  Blocks: uint64 number of accesses before it, uint32 bytes of payload (at most
 *         2^20), uint32 CRC-32C of these 12 bytes and the payload, payload.  The last block has no
 *         payload.  Payload: records, each a byte stream | op << 3 | form << 5 and integers of
 *         variable length (LEB128; z: zigzag); addresses are differences to the last address of
 *         the same stream in this block:
 *           0 run    bytes, count, z address, z stride
 *           1 list   bytes, count, log2 of unit, count times z difference / unit
 *           2 again  bytes, z offset: the last list's addresses plus offset
 *         2 bytes an access is typical. */
#ifndef TRACE_FILE_H
#define TRACE_FILE_H

#include "core/md.h"

MD_BEGIN_C

/* What the force kernel accesses ([AK] section 6.2). */
#define TRACE_STREAMS(X)                                                                           \
  X(AC, "AC", "coordinates of a row's own atom")                                                   \
  X(NI, "NI", "neighbour indices, with the lengths and starts of rows")                            \
  X(NC, "NC", "coordinates of neighbours, all components")                                         \
  X(NT, "NT", "types of neighbours, of atoms that have several")                                   \
  X(FUI, "FUI", "forces on neighbours (half lists), on a ghost's home; densities likewise")        \
  X(FUO, "FUO", "force on a row's own atom; density and F' of an embedded one")                    \
  X(OTHER, "other", "anything else")                                                               \
  X(NF, "NF", "F' of embedded neighbours")
/* update: read and written in one, by an instruction or a reduction in memory. */
#define TRACE_OPS(X) X(READ) X(WRITE) X(UPDATE)
/* Kinds of file, and what a line of each is called where one is not. */
#define TRACE_FORMATS(X)                                                                           \
  X(AUTO, "auto", "an access")                                                                     \
  X(MINIMD, "minimd", "a record")                                                                  \
  X(TEXT, "text", "`address,size,r|w`, `R|W address [size]` or a line of DynamoRIO's")             \
  X(LACKEY, "lackey", "`I  address,size`, ` L address,size`, ` S ...` or ` M ...`")                \
  X(DINERO, "dinero", "`0|1|2 address` or `r|w|i|m address size`, hexadecimal")                    \
  X(CSV, "csv", "an address (decimal or with 0x), a size and an operation as the header names them")
#define MD_ENUM_(name, ...) TRACE_##name,
typedef enum { TRACE_STREAMS(MD_ENUM_) TRACE_STREAM_COUNT } trace_stream;
typedef enum { TRACE_OPS(MD_ENUM_) TRACE_OP_COUNT } trace_op;
#undef MD_ENUM_
#define MD_ENUM_(name, ...) TRACE_FORMAT_##name,
typedef enum { TRACE_FORMATS(MD_ENUM_) TRACE_FORMAT_COUNT } trace_format;
#undef MD_ENUM_
extern const char *const trace_stream_words[TRACE_STREAM_COUNT];
extern const char *const trace_format_words[TRACE_FORMAT_COUNT];

typedef struct {
  trace_stream stream;
  trace_op op;
  int32_t bytes; /* of one access, >= 1 */
  int64_t count; /* >= 1 */
  uint64_t address;
  int64_t stride;
} trace_run;

typedef struct trace_writer trace_writer;

/* Begin a binary file.  It appears under its name when it is complete.  Errors: MD_EIO, MD_ENOMEM.
 */
md_status trace_writer_open(const char *path, trace_writer **out);
/* Errors: MD_EINVAL (no access, or addresses beyond 2^64), MD_EIO. */
md_status trace_write_run(trace_writer *w, const trace_run *run);
/* n accesses of `like`'s stream, op and bytes at these addresses; like->count is not read. */
md_status trace_write_list(trace_writer *w, const trace_run *like, int n, const uint64_t *address);
/* Finish the file, or leave nothing behind; the writer is gone either way.  Errors: MD_EIO. */
md_status trace_writer_close(trace_writer *w);
void trace_writer_discard(trace_writer *w); /* NULL is allowed */

typedef struct trace_reader trace_reader;

typedef struct {
  trace_format format; /* auto: by its first bytes, or its first line */
  bool instructions;   /* fetches of instructions are accesses, too */
} trace_how;

/* Begin to read a file; "-" is standard input; how NULL: auto, without instructions.  Memory does
 * not grow with its length.
 * Errors: MD_EIO (cannot be read), MD_EINVAL (another version or kind, a header that does not
 * check). */
md_status trace_reader_open(const char *path, const trace_how *how, trace_reader **out);
/* What the file was found to be; auto until the first access was read. */
trace_format trace_reader_format(const trace_reader *r);
/* Whether this build reads compressed traces. */
bool trace_reads_gzip(void);
void trace_reader_close(trace_reader *r); /* NULL is allowed */
/* The next runs, at most room; *n = 0 at the end.  Errors: MD_EINVAL (naming block and byte or
 * line: truncated, check sum, not a trace, a record or line that cannot be; damaged by the word of
 * gzip), MD_EIO. */
md_status trace_read(trace_reader *r, int64_t room, trace_run *runs, int64_t *n);

/* Numbers for the lines that a trace touches: groups of `group` lines that lie together get 0, 1,
 * 2, ... in the order of first touch, and keep their lines in order.  So a cache whose number of
 * sets divides `group` puts a line into the set of its address. */
typedef struct trace_lines trace_lines;

/* Errors: MD_EINVAL (line_bytes or group < 1), MD_ENOMEM. */
md_status trace_lines_create(int64_t line_bytes, int64_t group, trace_lines **out);
void trace_lines_destroy(trace_lines *lines); /* NULL is allowed */
/* Lines of the accesses of a run from access *from on, at most room of them; an access over several
 * lines touches each.  *from advances to the first access that did not fit; returns the number of
 * lines in *n, 0 when the run is done.
 * Errors: MD_ENOMEM, MD_ECAPACITY (2^32 - 1 lines, or one access over more than room lines). */
md_status trace_lines_of(trace_lines *lines, const trace_run *run, int64_t *from, int64_t room,
                         uint32_t *line, int64_t *n);

MD_END_C
#endif
