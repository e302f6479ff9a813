#!/bin/sh
# tests/cli/cli_limits.sh MINIMD - under limits of the shell's `ulimit`, a command either does its work or
# ends with exit 3 or 4 and one line.  Steps between limits of memory: LIMITS_STEP percent.
. tests/cli/cli.sh

if [ -n "${ASAN_OPTIONS:-}" ] || [ "$backend" != cpu ]; then
  echo "0 cases, 0 failures (a sanitizer's or a device's memory has limits of its own)"
  exit 0
fi
step=${LIMITS_STEP:-100}
unset OMP_NUM_THREADS
export OMP_WAIT_POLICY=passive

spheres=$dir/spheres.xyz
trace=$dir/trace
expect 0 pack --particles 60 --radii inputs/radii.two --occupancy 0.1 --sweeps 1 -o "$spheres" --quiet
expect 0 --backend cpu --cells 4 --steps 2 --quiet --trace "$trace"
printf '%%%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 4\n2 2 4\n3 3 4\n' >"$dir/m.mtx"
salt='--set system.lattice=nacl --set system.charges=2 --set coulomb.method=pme --set lj.cutoff=2
  --set coulomb.cutoff=2 --set coulomb.mesh=16 --set coulomb.alpha=1.2'
cat >"$dir/commands" <<END
run --backend cpu --cells 8 --steps 2 --threads 4 --dump $dir/out.xyz --dump-every 1 --checkpoint $dir/c
run --backend cpu --cells 4 --steps 2 --threads 4 $(echo $salt)
compare --backend cpu --cells 4 --steps 2 --repeat 2 --threads 4 --order row,hilbert
profile --backend cpu --cells 4 --steps 2 --order row --model on --counters off
stokes --backend cpu -i $spheres --steps 2 --rhs 2 --threads 4
stokes --backend cpu -i $spheres --steps 1 --algorithm original --method cholesky --threads 4
gspmv --backend cpu --matrix $dir/m.mtx --vectors 1,4 --repeat 1 --threads 4
spread --backend cpu --particles 5000 --mesh 24 --order 4 --repeat 1 --threads 4 --check
pack --particles 400 --occupancy 0.1 --radii inputs/radii.two -o $dir/packed.xyz --threads 4
ordering --order row,hilbert --size 16 --stencil sphere:1 --offsets
cachemodel --order row,hilbert,morton --size 16 --stencil block:1 --line 2 --capacity all
cachemodel --trace $trace --line-bytes 64 --capacity 8
cachemodel -i inputs/in.lj --backend cpu --cells 4 --steps 2 --machine h200
convert -i inputs/in.lj
config --list
info
END

cat >"$dir/limit" <<'END'
#!/bin/sh
ulimit $1 $2 && shift 2 && exec "$@"
END
chmod +x "$dir/limit"

# limited LIMIT COMMAND... : LIMIT are the words that start a program under a limit.  The error line goes
# through a pipe, as a limit may be that of files.
limited()
{
  limit=$1
  shift
  cases=$((cases + 1))
  message=$(timeout -s KILL 20 $limit "$minimd" "$@" 2>&1 >"$dir/out" </dev/null)
  got=$?
  lines=$(echo "$message" | grep -c '^minimd: error:')
  case $got in
    0)
      well=$((well + 1))
      [ "$lines" = 0 ] && [ -s "$dir/out" ] || fail "exit 0 without results under $limit: minimd $*"
      ;;
    3 | 4) [ "$lines" = 1 ] || fail "exit $got with $lines lines under $limit: minimd $* : $message" ;;
    *) fail "exit $got under $limit: minimd $* : $message" ;;
  esac
}

# every LIMIT : each command under it; how many go well is in `well`.
every()
{
  while read -r line; do
    limited "$1" $line
  done <"$dir/commands"
}

# Memory that can be addressed, from where the system can load the program to what all of them need.
well=0
at=20000
until "$dir/limit" -v $at "$minimd" --version >/dev/null 2>&1; do
  at=$((at + 1000))
done
while [ $at -lt 1200000 ]; do
  every "$dir/limit -v $at"
  at=$((at + at * step / 100))
done
few=$well

# Open files: three are there already, and the system opens one to load the program.
for files in 4 5 6 8 12; do
  every "$dir/limit -n $files"
done

# Sizes of files: without a block, and with few.
for blocks in 0 1 8; do
  every "$dir/limit -f $blocks"
done

# The stack, of this thread and of those that it starts: the hard limit, and one that can be raised.
for stack in 32 128 1024; do
  every "$dir/limit -s $stack"
  every "$dir/limit -Ss $stack"
done

# Threads: root may start as many as it likes.
ordinary=
[ "$(id -u)" != 0 ] || ordinary='setpriv --reuid=65534 --regid=65534 --clear-groups'
chmod -R a+rwX "$dir"
if $ordinary prlimit --nproc=1000 "$minimd" --version >/dev/null 2>&1; then
  for processes in 1 2 3; do
    every "$ordinary prlimit --nproc=$processes"
  done
fi
[ "$few" -gt 20 ] && [ "$well" -gt $((few + 20)) ] || fail "only $well commands went well, $few with limited memory"

finish
