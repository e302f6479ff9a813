#!/bin/sh
# tests/cli/cli_full_disk.sh MINIMD - every writer on a full disk: exit 3 and a message that says so, no
# result, nothing left behind, what was there before unchanged.
. tests/cli/cli.sh
partial=yes

run="--backend $backend --cells 4 --steps 3 --quiet"
lists="--order row,hilbert --size 4"
spheres=$dir/spheres.xyz
matrix=$dir/m.mtx
trace=$dir/trace
expect 0 pack --particles 60 --radii inputs/radii.two --occupancy 0.1 --sweeps 1 -o "$spheres" --quiet
expect 0 $run --trace "$trace"
cat >"$matrix" <<'END'
%%MatrixMarket matrix coordinate real general
3 3 3
1 1 4
2 2 4
3 3 4
END

# A command of each kind that prints results, one a line.
cat >"$dir/commands" <<END
run $run
run $run --format csv
run $run --format json
run $run --check
ordering $lists
ordering $lists --stencil sphere:1 --offsets --format json
cachemodel $lists --stencil block:1 --line 2 --capacity all --quiet
cachemodel -i inputs/in.lj $run --machine h200
cachemodel --trace $trace --line-bytes 64 --capacity 8
compare $run --order row --repeat 2
profile $run --order row --model on --counters off
spread --backend $backend --particles 50 --mesh 8 --order 4 --repeat 1 --quiet
stokes --backend $backend -i $spheres --steps 2 --rhs 2 --quiet
gspmv --backend $backend --matrix $matrix --vectors 1 --repeat 1 --quiet
gspmv --map --quiet
pack --particles 60 --radii inputs/radii.two --occupancy 0.1 --sweeps 1 --quiet
config --list
config --list --format json
convert -i inputs/in.lj
info
docs --form man
docs --form bash
docs --form guide
END

# full CODE ARGS... : standard output is the full device.
full()
{
  cases=$((cases + 1))
  "$minimd" "$@" >/dev/full 2>"$dir/err" </dev/null
  got=$?
  [ $got = 3 ] || fail "exit $got instead of 3 with a full standard output: minimd $* : $(cat "$dir/err")"
  [ "$(grep -c '^minimd: error:' "$dir/err")" = 1 ] || fail "no error line: minimd $*"
}

while read -r words; do
  case $words in
    pack*) ;;
    *) full $words ;;
  esac
  expect 3 $words -o /dev/full
  says 'No space left'
done <"$dir/commands"

# Files that are written as the work goes on, and those that have an option of their own.
for form in xyz lammpstrj dcd; do
  ln -s /dev/full "$dir/full.$form"
  expect 3 run $run --dump "$dir/full.$form"
  says 'No space left'
done
expect 3 run $run --trace /dev/full
says 'No space left'
expect 3 run $run --checkpoint /dev/full
says 'regular file'
expect 3 gspmv --matrix "$matrix" --vectors 1 --repeat 1 --quiet --write /dev/full
says 'No space left'
expect 3 stokes --backend $backend -i "$spheres" --steps 2 --rhs 2 --quiet --trajectory /dev/full
says 'No space left'
expect 3 stokes --backend $backend -i "$spheres" --steps 2 --rhs 2 --quiet --checkpoint /dev/full
says 'regular file'

# The same on a disk of 1 MiB with nothing left on it: an older file stays as it was.
disk=$dir/disk
mkdir "$disk"
# on_full_disk FILE ARGS... : the command writes FILE.
on_full_disk()
{
  file=$1
  shift
  echo old >"$disk/kept"
  rm -f "$disk/fill"
  cp "$disk/kept" "$file"
  dd if=/dev/zero of="$disk/fill" bs=4k 2>/dev/null
  expect 3 "$@"
  case $* in
    *--plot*) says 'cannot draw' ;;
    *) says 'No space left' ;;
  esac
  same "$disk/kept" "$file" "minimd $*"
  rm -f "$disk/fill" "$file"
  [ "$(ls "$disk")" = kept ] || fail "minimd $* leaves $(ls "$disk")"
}
if [ "$(id -u)" = 0 ] && mount -t tmpfs -o size=1m tmpfs "$disk" 2>/dev/null; then
  while read -r words; do
    on_full_disk "$disk/out" $words -o "$disk/out"
  done <"$dir/commands"
  on_full_disk "$disk/trace" run $run --trace "$disk/trace"
  on_full_disk "$disk/saved" run $run --checkpoint "$disk/saved"
  on_full_disk "$disk/m.mtx" gspmv --matrix "$matrix" --vectors 1 --repeat 1 --quiet --write "$disk/m.mtx"
  on_full_disk "$disk/saved" stokes --backend $backend -i "$spheres" --steps 2 --rhs 2 --quiet --checkpoint "$disk/saved"
  if command -v gnuplot >/dev/null 2>&1; then
    on_full_disk "$disk/a.svg" run $run --plot "$disk/a.svg"
    on_full_disk "$disk/a.png" ordering $lists --stencil sphere:1 --offsets --quiet --plot "$disk/a.png"
  fi
  for form in xyz lammpstrj dcd; do # trajectories grow in place
    expect 3 run $run --steps 20000 --dump-every 1 --dump "$disk/a.$form"
    says 'No space left'
    rm -f "$disk/a.$form"
  done
  umount "$disk"
fi

finish
