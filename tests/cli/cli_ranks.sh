#!/bin/sh
# tests/cli/cli_ranks.sh MINIMD - several ranks under mpirun: what is refused, once, with one exit code.
. tests/cli/cli.sh

"$minimd" info --format csv >"$dir/info"
grep -qE '^mpi,"?(Open MPI|not in this build)' "$dir/info" || fail 'info does not name MPI'
cases=$((cases + 1))

# Several ranks without MPI: a launcher's environment alone.
if grep -q '^mpi,"*not in this build' "$dir/info"; then
  start() { OMPI_COMM_WORLD_SIZE=2 "$minimd" "$@"; }
  expect 2 run --steps 0 --cells 3
  says 'this build has no MPI'
fi
. tests/cli/ranks.sh

for command in tune ordering mobility info; do
  expect 2 $command
  says "minimd: error: .minimd $command. was started as $ranks ranks: expected one rank"
done
ranks=8
expect 2 profile
says 'minimd profile. was started as 8 ranks'
ranks=2
# Where ranks compute: on the GPU all of them share one.
where="--backend $backend --threads 1"
[ "$backend" = cpu ] || where="$where --share-gpu"
expect 2 --backend cpu --cells 4 --trace "$dir/trace"
says 'trace on 2 ranks: expected one rank'
# One rank more than there are GPUs.
[ "$backend" = cpu ] || ranks=$(($(nvidia-smi -L | grep -c '^GPU') + 1))
expect 2 $where --cells 4 --carrier nccl
if [ "$backend" = gpu ]; then
  says 'ranks share a GPU, which NCCL refuses: expected the carrier mpi, or auto'
  ranks=2
  expect 2 --backend gpu --share-gpu --cells 4 --list tile --deterministic
  says 'the same bits as others by full lists only'
  expect 2 --backend gpu --device 0 --cells 4
  says '2 of 2 ranks have one GPU: expected a rank a GPU .*, or --share-gpu'
else
  says 'atoms are on CPUs: expected the carrier mpi, or auto'
  expect 2 --backend cpu --cells 4 --carrier peer
  says 'expected the carrier mpi, or auto'
fi
ranks=3
expect 2 no-such-command
says "unknown command"
expect 2 --no-such-option
expect 0 --version
[ "$(wc -l <"$dir/out")" = 1 ] || fail 'more than one rank prints the version'
expect 0 --help
[ "$(grep -c '^usage' "$dir/out")" = 1 ] || fail 'more than one rank prints the help'
ranks=1
expect 0 run $where --cells 4 --steps 10
prints '^performance'

# Same bytes on any number of ranks: thermo lines, trajectory, checkpoint; by every cut.
melt="$where --list full --cells 6 --steps 30 --thermo 10 --quiet --deterministic --format csv"
minimd=$(realpath "$minimd")
for precision in double single mixed; do
  for n in 1 2 3; do
    run_in $precision$n $n $melt --precision $precision --dump d.lammpstrj --dump-every 10 --checkpoint c
    for file in out d.lammpstrj c; do
      same "$dir/${precision}1/$file" "$dir/$precision$n/$file" "$n ranks in $precision precision"
    done
  done
done
for cut in curve bricks bisection; do
  run_in cut 4 $melt --cut $cut --order row
  same "$dir/double1/out" "$dir/cut/out" "4 ranks cut by $cut"
done
# Two species: their types go with atoms and ghosts, and come back from a checkpoint.
salt='species=({name="A";mass=2;fraction=0.8;},{name="B";fraction=0.2;})'
pairs='lj.pairs=({types=["A","B"];epsilon=1.5;sigma=0.8;cutoff=2;})'
for precision in double mixed; do
  run_in species1 1 $melt --precision $precision --set "$salt" --set "$pairs" --dump d.xyz --checkpoint c
  grep -q '^B ' "$dir/species1/d.xyz" || fail 'a trajectory does not name its species'
  for n in 2 3; do
    run_in species$n $n $melt --precision $precision --set "$salt" --set "$pairs" --dump d.xyz --checkpoint c
    for file in out d.xyz c; do
      same "$dir/species1/$file" "$dir/species$n/$file" "two species on $n ranks in $precision precision"
    done
  done
done
run_in whole 1 $melt --precision mixed --set "$salt" --set "$pairs" --steps 60
run_in species3 2 --restart c $where --steps 60 --format csv --quiet
tail -n 3 "$dir/whole/out" >"$dir/last"
tail -n 3 "$dir/species3/out" | cmp -s - "$dir/last" || fail '2 ranks do not go on with two species of 3'
# Positions stored into the memory of other ranks, where they have GPUs.
if [ "$backend" = gpu ]; then
  for precision in double single mixed; do
    run_in peer 3 $melt --precision $precision --carrier peer
    same "$dir/${precision}1/out" "$dir/peer/out" "3 ranks in $precision precision, carrier peer"
  done
  # More images than a group of blocks of them has (comm/ranks_gpu.h).
  run_in whole 1 $melt --precision single --cells 48
  run_in many 2 $melt --precision single --cells 48
  same "$dir/whole/out" "$dir/many/out" '2 ranks with many images'
  tiles="--backend gpu --cells 6 --list tile --steps 30 --thermo 10 --quiet --format csv --precision double"
  run_in whole 1 $tiles --set "$salt" --set "$pairs"
  run_in peer 3 $tiles --share-gpu --carrier peer --set "$salt" --set "$pairs"
  paste -d, "$dir/whole/out" "$dir/peer/out" | awk -F, 'NR > 1 {
      for (c = 1; c <= NF / 2; c++) if (($c - $(c + NF / 2)) ^ 2 > 1e-18 * (1 + $c ^ 2)) exit bad = 1
      n++
    }
    END { exit bad || n < 3 }' || fail "two species by tiles on 3 ranks: $(cat "$dir/peer/out")"
  run_in whole 1 $melt --rebuild check --skin 0.1
  run_in peer 2 $melt --rebuild check --skin 0.1 --carrier peer
  same "$dir/whole/out" "$dir/peer/out" '2 ranks, rebuilds by displacement, carrier peer'
  # Steps by tiles that exchange ghosts themselves beside those that wait for messages; the last ones also have ranks without atoms.
  tiles="$where --list tile --steps 45 --thermo 20 --quiet --format csv"
  for precision in double single mixed; do
    for cells in 7,6,8 2; do
      for n in 2 4; do
        for carrier in peer mpi; do
          run_in $carrier $n $tiles --precision $precision --cells $cells --carrier $carrier
        done
        same "$dir/mpi/out" "$dir/peer/out" "tiles of $cells cells on $n ranks in $precision precision"
      done
    done
  done
  # Mailboxes that grow with the first list, and atoms that move house by them later.
  for carrier in peer mpi; do
    run_in $carrier 2 $tiles --precision single --cells 48 --carrier $carrier
  done
  same "$dir/mpi/out" "$dir/peer/out" 'tiles of 48 cells on 2 ranks'
fi
# Rank 0 does not hold all atoms when it writes files.
if [ "$backend" = cpu ] && [ -z "${ASAN_OPTIONS:-}" ] && command -v python3 >/dev/null 2>&1; then
  cases=$((cases + 1))
  cat >"$dir/peak.py" <<'END'
import os, resource, subprocess, sys
code = subprocess.call(sys.argv[2:], stdout=subprocess.DEVNULL)
with open(sys.argv[1] + os.environ["OMPI_COMM_WORLD_RANK"], "w") as to:
    print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=to)
sys.exit(code)
END
  mpirun $root --oversubscribe -n 4 python3 "$dir/peak.py" "$dir/peak" "$minimd" $where --cells 50 --steps 0 --quiet \
    --dump "$dir/peak.dcd" --checkpoint "$dir/peak.c" 2>"$dir/err" </dev/null || fail "peak memory: $(cat "$dir/err")"
  cat "$dir"/peak[0-3] | awk '{ kb[NR] = $1 } NR > 1 && $1 > most { most = $1 } END { exit !(NR == 4 && kb[1] < 1.2 * most) }' ||
    fail "rank 0 has a higher peak than the others [KiB]: $(cat "$dir"/peak[0-3])"
  rm -f "$dir/peak.dcd" "$dir/peak.c"
fi
# A box of one reach, more ranks than it has cells to give, and ranks without atoms.
for cells in 2 1,1,12; do
  run_in whole 1 $melt --cells $cells
  for n in 2 4; do
    run_in parts $n $melt --cells $cells
    same "$dir/whole/out" "$dir/parts/out" "$n ranks of $cells cells"
  done
done
# Rebuilds by displacement, and a dense quarter of the box.
run_in whole 1 $melt --rebuild check --skin 0.1
run_in parts 3 $melt --rebuild check --skin 0.1
same "$dir/whole/out" "$dir/parts/out" '3 ranks, rebuilds by displacement'
# A checkpoint of 3 ranks goes on at 1, 2 and 3, and in one of 1 rank: the run that never stopped.
run_in whole 1 $melt --steps 60
for n in 1 2 3; do
  mkdir -p "$dir/on$n"
  cp "$dir/double3/c" "$dir/double3/d.lammpstrj" "$dir/on$n/"
  run_in on$n $n --restart c --steps 60 --format csv --quiet
  tail -n 3 "$dir/whole/out" >"$dir/last"
  tail -n 3 "$dir/on$n/out" | cmp -s - "$dir/last" || fail "$n ranks do not go on with a checkpoint of 3"
  same "$dir/on1/d.lammpstrj" "$dir/on$n/d.lammpstrj" "trajectories gone on with, $n ranks"
  same "$dir/on1/c" "$dir/on$n/c" "checkpoints of runs gone on with, $n ranks"
done
# Not deterministic, and half lists: the same within rounding.
loose="$where --cells 6 --steps 30 --thermo 10 --quiet --format csv"
set -- full 'half --newton on' 'half --newton off'
[ "$backend" = cpu ] || set -- full 'half --newton on' 'half --carrier peer' tile 'tile --carrier peer' 'tile --order none'
for list in "$@"; do
  run_in whole 1 $loose --list $list
  run_in parts 3 $loose --list $list
  near "$dir/whole/out" "$dir/parts/out" 1e-12 "3 ranks, $list lists"
done
# Charges: one mesh of all ranks; more ranks than two a processor, and some without ions.
if [ "$backend" = gpu ] || ! grep -q '^fftw,"*not in this build' "$dir/info"; then
  salt="-i $PWD/inputs/in.nacl $where --cells 3 --steps 30 --thermo 10 --quiet --format csv"
  for list in 'full' 'half --newton on' 'half --newton off' 'full --deterministic'; do
    run_in whole 1 $salt --list $list
    run_in parts 3 $salt --list $list
    near "$dir/whole/out" "$dir/parts/out" 1e-12 "3 ranks, charges, $list lists"
  done
  ranks=2
  expect 0 $salt --format table
  [ "$backend" = gpu ] || prints '^meshes     added up by the hosts \(atoms are on CPUs\); ranks share their transforms$'
  run_in whole 1 $salt --steps 60 --dump d.xyz --dump-every 60
  run_in salt 8 $salt --checkpoint c --dump d.xyz --dump-every 60
  for n in 1 2; do
    rm -rf "$dir/on$n"
    cp -r "$dir/salt" "$dir/on$n"
    run_in on$n $n --restart c --steps 60 --format csv --quiet
    { head -n 1 "$dir/whole/out"; tail -n 4 "$dir/whole/out"; } >"$dir/last"
    near "$dir/last" "$dir/on$n/out" 1e-12 "$n ranks go on with charges of 8"
    awk 'NR == FNR { q[FNR] = $NF; n = FNR; next } $NF != q[FNR] { bad = 1 } END { exit bad || FNR != n }' \
      "$dir/whole/d.xyz" "$dir/on$n/d.xyz" || fail "$n ranks dump other charges"
  done
  for precision in single mixed; do
    run_in whole 1 $salt --precision $precision --cut bisection
    run_in parts 4 $salt --precision $precision --cut bisection
    awk -F, 'NR == FNR { e[$1] = $4; next } FNR > 1 { away = ($4 - e[$1]) / $4; if (away * away > 1e-10) exit 1 }' \
      "$dir/whole/out" "$dir/parts/out" || fail "4 ranks, charges in $precision precision"
  done
fi
# Embedded atoms: slopes of F of other ranks' atoms.  Same bytes where Lennard-Jones has them; five atoms on eight ranks.
"$minimd" potential -o "$dir/Cu.eam.alloy" || fail 'minimd potential'
cp inputs/in.eam "$dir/in.eam"
cat >"$dir/five.xyz" <<'END'
5
Lattice="13 0 0 0 14 0 0 0 12" Properties=species:S:1:pos:R:3
Cu 1 1 1
Cu 3 2 1
Cu 12.5 1 11.5
Cu 2 3 3
Cu 7 7 7
END
sed 's/lattice  *= "fcc"/read = "five.xyz"/; /lattice_constant/d; /cells/d' inputs/in.eam >"$dir/in.five"
metal="$where --thermo 10 --steps 20 --quiet --format csv"
copper="-i $dir/in.eam --cells 4 $metal"
set -- full 'half --newton on' 'half --newton off'
[ "$backend" = cpu ] || set -- full tile
for list in "$@"; do
  run_in whole 1 $copper --list $list
  run_in parts 3 $copper --list $list
  near "$dir/whole/out" "$dir/parts/out" 1e-12 "3 ranks, copper, $list lists"
done
for precision in double single mixed; do
  run_in whole 1 $copper --list full --deterministic --precision $precision
  run_in parts 4 $copper --list full --deterministic --precision $precision --cut bisection
  same "$dir/whole/out" "$dir/parts/out" "4 ranks, copper in $precision precision"
done
run_in whole 1 -i "$dir/in.five" $metal --list full --deterministic
run_in parts 8 -i "$dir/in.five" $metal --list full --deterministic
same "$dir/whole/out" "$dir/parts/out" 'five atoms of copper on 8 ranks'
# What a run says of its ranks.
ranks=4
expect 0 $loose --format table
prints '^ranks      4, cut by (curve|bricks): [0-9]+ to [0-9]+ atoms'
prints '^carrier    mpi \('
prints '^exchange '
[ "$(grep -c '^performance' "$dir/out")" = 1 ] || fail 'more than one rank reports'
expect 0 $loose --format json -o "$dir/json"
[ "$(grep -c '"bytes_per_step"' "$dir/json")" = 4 ] || fail 'not every rank is in the JSON report'
[ "$(grep -c '"carrier": "mpi"' "$dir/json")" = 1 ] || fail 'no carrier in the JSON report'
command -v python3 >/dev/null 2>&1 && { python3 tests/cli/schema.py docs/schema/run.json "$dir/json" || fail 'the JSON report'; }
# The state at the end has one hash, whatever ranks and orders made it.
hash_of() { grep '"state_hash"' "$1"; }
for ranks in 1 3; do
  expect 0 $melt --format json --order row -o "$dir/json$ranks"
done
[ -n "$(hash_of "$dir/json1")" ] && [ "$(hash_of "$dir/json1")" = "$(hash_of "$dir/json3")" ] || fail 'hashes of 1 and 3 ranks'
expect 0 $melt --format json --order row --seed 5 -o "$dir/json"
[ "$(hash_of "$dir/json1")" != "$(hash_of "$dir/json")" ] || fail 'other velocities have the same hash'

# Orders and cuts compared on several ranks, told once.
ranks=2
expect 0 compare $where --cells 5 --steps 20 --repeat 2 --order row,hilbert --cut curve,bricks --format csv -o "$dir/compared"
[ "$(wc -l <"$dir/compared")" = 5 ] || fail 'not four variants'
[ "$(grep -c ',2,curve$' "$dir/compared")$(grep -c ',2,bricks$' "$dir/compared")" = 22 ] || fail "cuts: $(cat "$dir/compared")"
expect 0 compare $where --cells 5 --steps 20 --repeat 1 --order row
prints '^1 +row by (curve|bricks) '
cases=$((cases + 1))
mpirun $root --oversubscribe -n 1 "$minimd" compare $where --cells 4 --order row,none --cut curve : \
  -n 1 "$minimd" compare $where --cells 4 --order row,none --cut bricks >"$dir/out" 2>"$dir/err" </dev/null
[ $? = 2 ] || fail 'ranks that compare different things: exit code'
[ "$(grep -c '^minimd: error: .* of rank 1 is not that of rank 0' "$dir/err")" = 1 ] ||
  fail "ranks that compare different things: $(cat "$dir/err")"

# Ranks that were given different runs.
cases=$((cases + 1))
mpirun $root --oversubscribe -n 1 "$minimd" $loose : -n 1 "$minimd" $loose --seed 5 \
  >"$dir/out" 2>"$dir/err" </dev/null
[ $? = 2 ] || fail 'ranks with different runs: exit code'
[ "$(grep -c '^minimd: error: the configuration of rank 1 is not that of rank 0' "$dir/err")" = 1 ] ||
  fail "ranks with different runs: $(cat "$dir/err")"
# Rank 0 reads the input for all; what it cannot read it says once.
cases=$((cases + 1))
mkdir -p "$dir/here" "$dir/there"
cp inputs/in.lj "$dir/here/in"
mpirun $root --oversubscribe -n 1 --wdir "$dir/here" "$minimd" -i in $loose : -n 2 --wdir "$dir/there" "$minimd" -i in $loose \
  >"$dir/out" 2>"$dir/err" </dev/null || fail "input on the host of rank 0 alone: $(cat "$dir/err")"
[ "$(grep -c '^30,' "$dir/out")" = 1 ] || fail "input on the host of rank 0 alone: $(cat "$dir/out")"
ranks=3
expect 3 -i "$dir/no-such-input"
cases=$((cases + 1))
mpirun $root --oversubscribe -n 1 "$minimd" -i inputs/in.lj $loose : -n 2 "$minimd" $loose >"$dir/out" 2>"$dir/err" </dev/null
[ $? = 2 ] || fail 'ranks with different inputs: exit code'
[ "$(grep -c '^minimd: error: the input file of rank 1 is not that of rank 0' "$dir/err")" = 1 ] ||
  fail "ranks with different inputs: $(cat "$dir/err")"
# A rank that cannot go on is the end of all, told once.
cases=$((cases + 1))
mpirun $root --oversubscribe -n 2 "$minimd" $loose --dt 5 >"$dir/out" 2>"$dir/err" </dev/null
[ $? = 5 ] || fail "atoms that fly away: exit code, $(cat "$dir/err")"
[ "$(grep -c '^minimd: error' "$dir/err")" = 1 ] || fail "atoms that fly away: $(cat "$dir/err")"
ranks=3
partial=yes # the heading is there
expect 3 $loose --dump "$dir/no/such/folder/d.xyz"
partial=no

# ranks_of JOB : mpirun's children, a line each.
ranks_of() { grep -lsx "PPid:.$1" /proc/[0-9]*/status | tr -dc '0-9\n'; }
has_ranks() { [ "$(ranks_of "$1" | wc -l)" = 3 ]; }

# A rank is killed: the job ends in seconds, the last checkpoint is good.
cases=$((cases + 1))
mkdir -p "$dir/killed"
mpirun $root --oversubscribe -n 3 "$minimd" $where --cells 6 --steps 1000000 --quiet --deterministic \
  --checkpoint "$dir/killed/c" --checkpoint-every 10 >"$dir/out" 2>"$dir/err" </dev/null &
job=$!
awaits [ -e "$dir/killed/c.prev" ]
kill -KILL "$(ranks_of $job | tail -n 1)" || fail 'no rank to kill'
began=$(date +%s)
wait $job && fail 'a rank was killed: exit code 0'
[ $(($(date +%s) - began)) -lt 30 ] || fail 'a rank was killed: the job went on'
grep -q 'signal 9' "$dir/err" || fail "a rank was killed: $(cat "$dir/err")"
step=$("$minimd" --restart "$dir/killed/c" --check 2>&1 | grep -c '^run.steps')
[ "$step" = 1 ] || fail 'a rank was killed: the checkpoint'

# begin NAME : a long run of 3 ranks as $job, which has made 20 steps; its checkpoint is $dir/NAME.
begin()
{
  cases=$((cases + 1))
  : >"$dir/out" # what is awaited there must come from this job
  mpirun $root --oversubscribe --timeout 300 -n 3 "$minimd" $where --cells 6 --steps 1000000 --quiet --thermo 10 \
    --checkpoint "$dir/$1" >"$dir/out" 2>"$dir/err" </dev/null &
  job=$!
  awaits grep -q '^ *20 ' "$dir/out"
  awaits has_ranks $job
}
# A signal to one rank stops all after the same step, with a checkpoint, whenever it comes.
for rank in 1 2 3; do
  begin told$rank
  kill -INT "$(ranks_of $job | sed -n "${rank}p")" || fail 'no rank to stop'
  wait $job
  [ $? = 130 ] || fail "a rank was told to stop: exit code, $(cat "$dir/err")"
  [ "$(grep -c '^minimd: error: stopped by signal 2 after a complete step' "$dir/err")" = 1 ] ||
    fail "a rank was told to stop: $(cat "$dir/err")"
  "$minimd" --restart "$dir/told$rank" --check >/dev/null || fail 'a rank was told to stop: the checkpoint'
done
# SIGUSR1 asks all ranks for a checkpoint, and mpirun goes on.  SIGINT to mpirun ends them: it may kill ranks before they
# have written what they are; what they wrote before is whole.
begin asked
kill -USR1 $job
awaits [ -e "$dir/asked" ]
kill -0 $job || fail 'SIGUSR1 ended the ranks'
kill -INT $job
wait $job && fail 'SIGINT: exit code 0'
"$minimd" --restart "$dir/asked" --check >/dev/null || fail 'SIGINT: the checkpoint'

# Messages, migration and ghosts of several ranks.
for name in check_world check_ranks check_ranks_before check_windows; do
  suite=$(dirname "$minimd")/tests/$name
  for ranks in 1 2 3 4; do
    [ -x "$suite" ] || break
    cases=$((cases + 1))
    OMP_WAIT_POLICY=passive mpirun $root --oversubscribe --timeout 120 -n $ranks "$suite" >"$dir/out" 2>"$dir/err" </dev/null ||
      fail "$name on $ranks ranks: $(cat "$dir/out" "$dir/err")"
  done
done

# No library of MPI: one line, too.
mkdir "$dir/empty"
cases=$((cases + 1))
mpirun $root --oversubscribe -n 3 -x LD_LIBRARY_PATH="$dir/empty" sh -c '
  : >"$0/libmpi.so.40"
  exec "$1"' "$dir/empty" "$minimd" >"$dir/out" 2>"$dir/err" </dev/null
[ $? = 2 ] || fail 'no library of MPI: exit code'
[ "$(grep -c '^minimd: error: .*libmpi.so.40 cannot be loaded' "$dir/err")" = 1 ] || fail "no library of MPI: $(cat "$dir/err")"
[ "$(grep -c '^minimd: error' "$dir/err")" = 1 ] || fail "no library of MPI: $(cat "$dir/err")"

# On the host of another rank than the first: that one says it.
cases=$((cases + 1))
mpirun $root --oversubscribe -n 1 "$minimd" $loose : -n 1 -x LD_LIBRARY_PATH="$dir/empty" "$minimd" $loose \
  >"$dir/out" 2>"$dir/err" </dev/null
[ $? = 2 ] || fail 'one rank has no library of MPI: exit code'
[ "$(grep -c '^minimd: error: .*libmpi.so.40 cannot be loaded' "$dir/err")" = 1 ] ||
  fail "one rank has no library of MPI: $(cat "$dir/err")"

# One rank whose command differs fails for all; the job ends and says why, once.
cases=$((cases + 1))
mpirun $root --oversubscribe -n 1 "$minimd" --version : -n 2 "$minimd" no-such-command \
  >"$dir/out" 2>"$dir/err" </dev/null
[ $? = 2 ] || fail 'ranks that disagree: exit code'
[ "$(grep -c '^minimd: error: unknown command' "$dir/err")" = 1 ] || fail 'ranks that disagree: no one error line'

finish
