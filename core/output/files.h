/* core/output/files.h - the files of a command: which it uses, and how they are opened.
 *
 * A command names all its files before it writes the first byte, so that none is written over one
 * that is read or over another.  Files are the same when device and inode are, whatever their
 * names; one that does not exist yet is known by its folder and its name there.
 *
 * Nothing here waits for another process: a pipe without a writer or a reader is refused, and so is
 * a file that another process writes. */
#ifndef CORE_FILES_H
#define CORE_FILES_H

#include "core/md.h"
#include <stdio.h>

MD_BEGIN_C

/* A run may go on from the checkpoint that it replaces. */
typedef enum { MD_FILE_INPUT, MD_FILE_RESTART, MD_FILE_CHECKPOINT, MD_FILE_OUTPUT } md_file_use;

/* This command uses the file, for what messages call `what`; NULL, "-", devices and pipes may be
 * used more than once.  A file that is written includes path.tmp, a checkpoint path.prev.
 * Errors: MD_EINVAL (names both uses), MD_ENOMEM. */
md_status md_file_claim(const char *path, md_file_use use, const char *what);
/* The command has ended: forget its claims. */
void md_file_forget(void);

/* Open a file to read it.  Errors: MD_EIO (cannot be read; a folder; a device or a named pipe,
 * whose bytes may never come: standard input and the shell's pipes are none). */
md_status md_file_open(const char *path, FILE **out);
/* Open an input, and claim it.  Errors: those of both. */
md_status md_file_read(const char *path, FILE **out);

/* The name of the file that writing to `path` writes, behind symbolic links; free it.
 * Errors: MD_EIO (a circle), MD_ENOMEM. */
md_status md_file_target(const char *path, char **out);
/* Open what is no regular file, to write; a pipe must have a reader.  Errors: MD_EIO. */
md_status md_file_open_device(const char *path, FILE **out);
/* Lock a file until its descriptor, and those made of it by dup, are closed, which the end of the
 * process does, too.  *named: whether `name` stands for this file.  Errors: MD_EIO (another process
 * has locked it); path: what its message names. */
md_status md_file_lock(int fd, const char *name, const char *path, bool *named);

/* A file that grows in place: a trajectory.  It is locked.  Begin it anew.  Errors: MD_EIO. */
md_status md_file_begin(const char *path, FILE **out);
/* What a checkpoint keeps of such a file: its length [B], and the check sum (crc.h) of the last
 * MD_FILE_TAIL of them, or of all behind the first `head`, whose bytes may change later. */
enum { MD_FILE_TAIL = 64 << 10 };
typedef struct {
  int64_t bytes; /* -1: it has no length (a pipe), or there is no file */
  int64_t crc;
} md_file_mark;
/* Bring what was written to the disk, and mark it.  Errors: MD_EIO. */
md_status md_file_take_mark(FILE *stream, const char *path, int64_t head, md_file_mark *out);
/* *keep: the mark, or NULL where the file had no length and begins anew.
 * Errors: MD_EIO (a file has come to its place). */
md_status md_file_plan(const char *path, const md_file_mark *mark, const md_file_mark **keep);
/* Go on behind a mark; what is there behind it is cut off, after the check sum was compared.
 * Errors: MD_EIO (cannot be opened; is shorter, or another file: it stays as it was). */
md_status md_file_continue(const char *path, int64_t head, const md_file_mark *mark, FILE **out);

MD_END_C
#endif
