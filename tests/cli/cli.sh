# tests/cli/cli.sh - what command-line tests share; read by them with `. tests/cli/cli.sh`, $1 is the program.
minimd=$1
backend=${MINIMD_TEST_BACKEND:-cpu}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cases=0
failures=0

fail()
{
  echo "FAILED: $*"
  failures=$((failures + 1))
}

# How the program is started; a test may put words in front.
start() { "$minimd" "$@"; }
# Whether a failed command may have printed something: thermo lines of steps that went well.
partial=no

# expect CODE ARGS... : start, check the exit code, the error line's form, and that a failed command
# prints no results.
expect()
{
  code=$1
  shift
  cases=$((cases + 1))
  start "$@" >"$dir/out" 2>"$dir/err" </dev/null
  got=$?
  [ $got = "$code" ] || fail "exit $got instead of $code: minimd $* : $(cat "$dir/err")"
  lines=$(grep -c '^minimd: error:' "$dir/err")
  if [ "$code" = 0 ]; then
    [ "$lines" = 0 ] || fail "an error line and exit 0: minimd $*"
  else
    [ "$lines" = 1 ] || fail "$lines error lines: minimd $* : $(cat "$dir/err")"
    if [ $partial = no ] && [ -s "$dir/out" ]; then fail "a failed command prints results: minimd $*"; fi
    if grep -q 'performance' "$dir/out"; then fail "a failed run prints a rate: minimd $*"; fi
  fi
}
# says PATTERN : the error line matches; prints PATTERN : so does the output.
says() { grep -qE -- "$1" "$dir/err" || fail "no '$1' in: $(cat "$dir/err")"; }
prints() { grep -qE -- "$1" "$dir/out" || fail "no '$1' in: $(head -5 "$dir/out")"; }
same() { cmp -s "$1" "$2" || fail "$3: $1 and $2 differ"; }

# awaits COMMAND... : run it until it succeeds, two minutes at most: a busy machine starts ranks slowly.
awaits()
{
  tries=0
  until "$@"; do
    [ $tries = 1200 ] && fail "waited two minutes for: $*" && return
    sleep 0.1
    tries=$((tries + 1))
  done
}
# saves_when_asked PID FILE : a run that is on its way saves to FILE and goes on upon SIGUSR1, saves
# and stops upon SIGTERM.
saves_when_asked()
{
  kill -USR1 "$1"
  awaits [ -e "$2" ]
  kill -0 "$1" || fail 'SIGUSR1 ended the run'
  kill -TERM "$1"
  wait "$1"
  [ $? = 143 ] || fail 'SIGTERM: exit code'
}

finish()
{
  echo "$cases cases, $failures failures"
  [ $failures = 0 ]
}
