/* minimd/signals.c - see signals.h. */
#include "minimd/signals.h"

#include <signal.h>
#include <stdio.h>

static volatile sig_atomic_t stopped_by, save_asked;

static void stop(int signal_number)
{
  stopped_by = signal_number;
}

static void ask_save(int signal_number)
{
  save_asked = signal_number;
}

void signals_stop_gently(void)
{
  signal(SIGINT, stop);
  signal(SIGTERM, stop);
}

int signals_stopped_by(void)
{
  return (int)stopped_by;
}

void signals_save_when_asked(void)
{
  signal(SIGUSR1, ask_save);
}

bool signals_save_asked(const char *checkpoint)
{
  const bool asked = save_asked != 0;
  save_asked = 0;
  if (asked && !checkpoint)
    fputs("minimd: warning: asked for a checkpoint, but --checkpoint names no file\n", stderr);
  return asked;
}
