#!/bin/sh
# tests/cli/cli_waiting.sh MINIMD - how threads wait for each other, how many there are, and what a busy
# machine is told.
. tests/cli/cli.sh

start() { env -u OMP_WAIT_POLICY -u GOMP_SPINCOUNT -u KMP_BLOCKTIME OMP_DISPLAY_ENV=verbose $setting "$minimd" "$@"; }

# GCC's OpenMP says what it reads; LLVM's says nothing before its first parallel region.
waits() { tail -n "+$(grep -n 'DISPLAY ENVIRONMENT BEGIN' "$dir/err" | tail -1 | cut -d: -f1)" "$dir/err" | grep -q "$1" || fail "$setting: no $1"; }
setting=OMP_DYNAMIC=false
expect 0 --version
if grep -q 'GOMP_SPINCOUNT' "$dir/err"; then
  waits "GOMP_SPINCOUNT = '1000'"
  setting=OMP_WAIT_POLICY=active
  expect 0 --version
  waits "OMP_WAIT_POLICY = 'ACTIVE'"
  waits "GOMP_SPINCOUNT = '30000000000'"
  setting=GOMP_SPINCOUNT=77
  expect 0 --version
  waits "GOMP_SPINCOUNT = '77'"
fi

# Arguments, streams and exit codes are those of the first start.
setting=OMP_DYNAMIC=false
expect 2 --cells 'four five' --steps 1
says "'four five'"

start() { env $setting "$minimd" "$@"; }
setting=OMP_NUM_THREADS=3
run="--backend cpu --cells 4 --steps 2 --format json"
expect 0 $run
prints '"threads": 3'
expect 0 $run --threads 2
prints '"threads": 2'
expect 0 cachemodel --order row --size 8 --stencil block:1 --line 1 --capacity 8 --format json
prints '"threads": 3'

# Four threads on one processor wait for it most of the time.
if command -v taskset >/dev/null 2>&1 && [ -r /proc/self/schedstat ]; then
  cpu=$(taskset -cp $$ | sed 's/.*: *\([0-9]*\).*/\1/')
  setting="OMP_WAIT_POLICY=passive taskset -c $cpu"
  expect 0 --backend cpu --cells 12 --steps 40 --threads 4
  prints '^busy machine: threads waited for a processor for [0-9]+% of their time'
  setting="taskset -c $cpu"
  expect 0 $run
  prints '"threads": 1$|"threads": 1,'
fi

finish
