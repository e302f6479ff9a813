#!/bin/sh
# tests/cli/cli_stokes_restart.sh MINIMD - checkpoints and exact restarts of `minimd stokes`, signals.
. tests/cli/cli.sh

c=$dir/state
kept=$dir/kept
expect 0 pack --particles 300 --occupancy 0.3 --seed 5 -o "$dir/a.xyz" --quiet
run="stokes -i $dir/a.xyz --seed 3 --backend $backend"

# The columns that do not measure time.
numbers()
{
  cut -d, -f1-4 "$dir/out" | tail -n "$1"
}

# Stopped within a group, at its end, and with one right-hand side: rows and frames are those of a run
# that was never stopped.
for case in 'mrhs --rhs 4:6' 'mrhs --rhs 4 --root lanczos --storage pair:4' 'original:5' \
  'mrhs --rhs 4 --guess series:6' 'original --root cholesky:4' 'original --method cholesky:4' 'mrhs:3'; do
  options=${case%:*}
  stop=${case#*:}
  rm -f "$dir"/*.walk "$c" "$c.prev"
  expect 0 $run --algorithm $options --steps 9 --format csv --trajectory "$dir/whole.walk"
  numbers $((9 - stop)) >"$dir/whole"
  expect 0 $run --algorithm $options --steps "$stop" --trajectory "$dir/rest.walk" --checkpoint "$c"
  mv "$c" "$kept"
  expect 0 stokes --restart "$kept" --steps 9 --format csv --threads 3
  says "at step $stop, exactly"
  numbers $((9 - stop)) >"$dir/rest"
  same "$dir/whole" "$dir/rest" "rows of $options stopped at $stop"
  same "$dir/whole.walk" "$dir/rest.walk" "the trajectory of $options stopped at $stop"
  [ -s "$c" ] || fail 'a restart goes on writing checkpoints'
done
expect 0 stokes --restart "$kept" --steps 5 --dt 1 --trajectory "$dir/other.walk" -i "$dir/a.xyz"
says 'with another --dt'
[ "$(grep -c Lattice "$dir/other.walk")" = 2 ] || fail 'another trajectory begins anew'
expect 0 stokes --restart "$kept" --steps 4 --rhs auto --quiet
[ -s "$dir/err" ] && fail '--quiet is not'

expect 0 stokes --restart "$kept" --steps 4 --guess series
says 'Brownian forces by --root chebyshev'
says 'with another --guess'

# What cannot be gone on from.
expect 2 stokes --restart "$kept" --steps 4 --guess series --root pairs
says 'chebyshev., not .pairs'
expect 3 stokes --restart "$dir/none"
says 'none'
expect 2 stokes --restart "$dir/a.xyz"
says 'no checkpoint'
expect 2 stokes --restart "$kept" --steps 2
says 'step 3 already'
expect 0 --backend "$backend" --cells 4 --steps 1 --checkpoint "$dir/fluid"
expect 2 stokes --restart "$dir/fluid"
says 'fluid. is a checkpoint of `minimd run`, not of `minimd stokes`'
expect 2 --restart "$kept"
says 'kept. is a checkpoint of `minimd stokes`, not of `minimd run`'
expect 0 pack --particles 310 --occupancy 0.3 --seed 5 -o "$dir/more.xyz" --quiet
expect 2 stokes --restart "$kept" -i "$dir/more.xyz"
says 'more.xyz. has 310 spheres, but .*kept. has 300'
expect 0 pack --particles 300 --occupancy 0.25 --seed 5 -o "$dir/wide.xyz" --quiet
expect 2 stokes --restart "$kept" -i "$dir/wide.xyz"
says 'wide.xyz. are not those of .*kept'
cp "$kept" "$dir/cut"
cp "$kept" "$dir/cut.prev"
truncate -s 2000 "$dir/cut"
expect 3 stokes --restart "$dir/cut"
says "cut' is cut off in the section 'spheres'.*--restart $dir/cut.prev \(step 3\)"
rm "$dir/cut.prev"
size=$(wc -c <"$kept")
for at in 3 10 20 60 300 500 2000 $((size / 2)) $((size - 30)) $((size - 2)); do
  cp "$kept" "$dir/cut"
  byte=$(od -An -tu1 -j "$at" -N 1 "$kept" | tr -d ' ')
  printf "\\$(printf %o $(((byte + 1) % 256)))" | dd of="$dir/cut" bs=1 seek="$at" conv=notrunc 2>/dev/null
  "$minimd" stokes --restart "$dir/cut" --steps 4 >/dev/null 2>"$dir/err"
  code=$?
  [ $code = 2 ] || [ $code = 3 ] || fail "byte $at changed: exit $code"
  says "cut' (is damaged|is no checkpoint|is cut off|holds numbers)"
done
expect 3 $run --checkpoint "$dir/no/such"
expect 3 $run --steps 2 --checkpoint /dev/full
says 'regular file'
ln -s /dev/full "$dir/full.walk"
expect 3 $run --steps 2 --trajectory "$dir/full.walk"
says 'No space left'
printf x >"$dir/rest.walk"
expect 3 stokes --restart "$kept" --steps 9
says 'shorter'

# SIGUSR1 saves and goes on; SIGTERM saves and stops; the file before stays.
cases=$((cases + 1))
rm -f "$c" "$c.prev"
"$minimd" $run --steps 100000000 --rhs 8 --checkpoint "$c" --trajectory "$dir/long.walk" \
  --trajectory-every 3 >"$dir/out" 2>"$dir/err" &
pid=$!
awaits [ -s "$dir/long.walk" ]
saves_when_asked $pid "$c"
steps=$(tail -n 1 "$dir/out" | awk '{ print $1 + 2 }')
expect 0 stokes --restart "$c" --steps "$steps"
says "at step $((steps - 1)), exactly"
[ -e "$c.prev" ] || fail 'the checkpoint before is not kept'

# Killed in the middle of writing, again and again: there is always a whole one.
cases=$((cases + 1))
whole=0
expect 0 $run --threads 1 --steps 1 --rhs 2 --checkpoint "$c"
for k in $(seq 1 20); do
  "$minimd" $run --threads 1 --steps 100000000 --rhs 2 --checkpoint "$c" --checkpoint-every 1 >/dev/null 2>&1 &
  pid=$!
  sleep 0.1$((k % 7 + 2))$k
  kill -KILL $pid
  wait $pid 2>/dev/null
  step=$("$minimd" stokes --restart "$c" --steps 1 2>&1 | sed -n 's/.*at step \([0-9]*\) already.*/\1/p')
  if "$minimd" stokes --restart "$c" --steps "${step:-1}" >/dev/null 2>&1; then whole=$((whole + 1)); fi
done 2>/dev/null
[ $whole = 20 ] || fail "$whole of 20 killed runs left a whole checkpoint"
expect 0 $run --threads 1 --steps 1 --rhs 2 --checkpoint "$c"
[ ! -e "$c.tmp" ] || fail 'what a killed run left stays'

finish
