#!/bin/sh
# tests/hostile/storms.sh MINIMD COUNT [BACKEND] - walks that are killed, or meet storms of signals, COUNT times at
# moments drawn at random, each time gone on with from their checkpoint.  Every walk that reaches its
# end has left the trajectory and the rows of one that nobody disturbed, byte for byte, and no other file.
set -u
minimd=$1
count=$2
backend=${3:-cpu}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export OMP_WAIT_POLICY=passive
disturbed=0
walks=0

fail()
{
  echo "FAILED after $disturbed of $count: $*"
  ls -l "$dir"
  cat "$dir/err"
  exit 1
}

# drawn MOST : a whole number below MOST.
drawn() { echo $(($(od -An -N4 -tu4 /dev/urandom) % $1)); }
# pause MOST : so many thousandths of a second at most.
pause() { sleep "$(printf '0.%03d' "$(drawn "$1")")"; }

# disturb PID : half of them are killed at once; the rest get up to eight other signals first.
disturb()
{
  if [ "$(drawn 2)" = 1 ]; then
    for _ in $(seq "$(drawn 8)"); do
      kill -"$(echo USR1 INT TERM HUP STOP CONT | cut -d ' ' -f $(($(drawn 6) + 1)))" "$1" 2>/dev/null || return
      [ "$(drawn 3)" != 0 ] || pause 20
    done
    kill -CONT "$1" 2>/dev/null
    [ "$(drawn 2)" != 0 ] || return
  fi
  kill -KILL "$1" 2>/dev/null
}

# ended CODE : whether the walk is at its end; anything but that and the signals sent is a failure.
ended()
{
  case $1 in
    0) return 0 ;;
    2) grep -q 'already' "$dir/err" || fail "exit 2" ;; # killed between its last checkpoint and its end
    129 | 130 | 137 | 138 | 143) return 1 ;;
    *) fail "exit $1" ;;
  esac
}

# storm NAME MOST TOTAL WORDS... : walks of a command, disturbed after up to MOST ms until TOTAL were.  Each
# writes the trajectory $dir/walk.xyz and the checkpoint $dir/c.
storm()
{
  name=$1
  most=$2
  total=$3
  shift 3
  command=$1
  shift
  "$minimd" "$command" "$@" >/dev/null 2>"$dir/err" || fail "undisturbed: $command $*"
  mv "$dir/walk.xyz" "$dir/whole.xyz"
  rm -f "$dir"/c "$dir"/c.prev
  until [ "$disturbed" -ge "$total" ]; do
    from=
    for saved in "$dir/c.prev" "$dir/c"; do
      [ ! -e "$saved" ] || from=$saved
    done
    if [ -n "$from" ]; then
      "$minimd" "$command" --restart "$from" --steps "$steps" --checkpoint "$dir/c" >/dev/null 2>"$dir/err" &
    else
      "$minimd" "$command" "$@" >/dev/null 2>"$dir/err" &
    fi
    pid=$!
    pause "$most"
    disturb $pid
    wait $pid 2>/dev/null
    code=$?
    disturbed=$((disturbed + 1))
    if ended $code; then
      cmp -s "$dir/walk.xyz" "$dir/whole.xyz" || fail "$name: another trajectory than undisturbed"
      others=$(ls "$dir" | grep -vxE 'walk.xyz|whole.xyz|err|c|c\.prev|spheres')
      [ -z "$others" ] || fail "$name: left behind: $others"
      walks=$((walks + 1))
      rm -f "$dir"/walk.xyz "$dir"/c "$dir"/c.prev
    fi
  done
  rm -f "$dir"/walk.xyz "$dir"/c "$dir"/c.prev
}

steps=400
saves="--steps $steps --checkpoint $dir/c --checkpoint-every 3 --quiet --backend $backend --threads 2"
fluid="--cells 6 --deterministic --dump $dir/walk.xyz --dump-every 7"
storm 'full lists' 900 $((count * 3 / 10)) run $fluid --list full $saves
storm 'half lists' 900 $((count * 6 / 10)) run $fluid --list half --order hilbert $saves
"$minimd" pack --particles 300 --occupancy 0.3 --seed 5 -o "$dir/spheres" --quiet >/dev/null
steps=60
saves="--steps $steps --checkpoint $dir/c --checkpoint-every 3 --quiet --backend $backend --threads 2"
walk="-i $dir/spheres --seed 3 --trajectory $dir/walk.xyz"
storm 'original' 900 $((count * 8 / 10)) stokes $walk --algorithm original $saves
storm 'mrhs' 900 "$count" stokes $walk --algorithm mrhs --rhs 4 $saves
echo "$disturbed runs killed or in a storm of signals, $walks walks to their end: nothing lost"
