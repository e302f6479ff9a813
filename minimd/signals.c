/* minimd/signals.c - see signals.h. */
#include "minimd/signals.h"
#include "core/output/output.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t gentle, stopped_by, save_asked;

/* "minimd: error: stopped by signal 15", by what a handler may call. */
static void say(int signal_number)
{
  char text[] = "minimd: error: stopped by signal 00\n";
  char *digits = text + sizeof text - 4;
  digits[0] = (char)('0' + signal_number / 10);
  digits[1] = (char)('0' + signal_number % 10);
  if (digits[0] == '0') memmove(digits, digits + 1, sizeof "0\n");
  (void)!write(STDERR_FILENO, text, strlen(text));
}

static void stop(int signal_number)
{
  if (gentle && !stopped_by) {
    stopped_by = signal_number;
    return;
  }
  md_output_abandon_all();
  if (signal_number != SIGPIPE) say(signal_number);
  _exit(128 + signal_number);
}

static void ask_save(int signal_number)
{
  save_asked = signal_number;
}

void signals_begin(void)
{
  static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
  struct sigaction action = {.sa_handler = stop, .sa_flags = SA_RESTART}, was;
  sigfillset(&action.sa_mask);
  gentle = stopped_by = save_asked = 0;
  for (size_t k = 0; k < sizeof ending / sizeof *ending; k++) {
    const bool kept = ending[k] == SIGHUP || ending[k] == SIGPIPE;
    if (!kept || sigaction(ending[k], NULL, &was) != 0 || was.sa_handler != SIG_IGN)
      sigaction(ending[k], &action, NULL);
  }
  signal(SIGXFSZ, SIG_IGN);
}

void signals_stop_gently(void)
{
  gentle = 1;
}

int signals_stopped_by(void)
{
  return (int)stopped_by;
}

void signals_stop_as(int signal_number)
{
  if (!stopped_by) stopped_by = signal_number;
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
