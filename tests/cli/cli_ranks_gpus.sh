#!/bin/sh
# tests/cli/cli_ranks_gpus.sh MINIMD - a GPU for each of two ranks: messages by NCCL, the bytes of one rank or of messages by MPI.
. tests/cli/cli.sh
. tests/cli/ranks.sh
gpus=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU')
if [ "$backend" != gpu ] || [ "$gpus" -lt 2 ]; then
  echo 'skipped: messages between GPUs need two of them'
  finish
  exit
fi
minimd=$(realpath "$minimd")
run="--backend gpu --quiet --format csv --thermo 10 --steps 40"
ranks=3
expect 2 $run --share-gpu --cells 4 --carrier nccl
says 'ranks share a GPU, which NCCL refuses: expected the carrier mpi, or auto'

# alike WHAT ARGS... : thermo lines and trajectory on two GPUs are those of one.  (A checkpoint has the input, and so the carrier.)
alike()
{
  what=$1
  shift
  run_in one 1 "$@" --dump d.lammpstrj
  run_in two 2 "$@" --dump d.lammpstrj --carrier nccl
  for file in out d.lammpstrj; do
    same "$dir/one/$file" "$dir/two/$file" "$what by NCCL"
  done
}
exact="$run --list full --deterministic"
salt='species=({name="A";mass=2;fraction=0.8;},{name="B";fraction=0.2;})'
pairs='lj.pairs=({types=["A","B"];epsilon=1.5;sigma=0.8;cutoff=2;})'
"$minimd" potential -o "$dir/Cu.eam.alloy" || fail 'minimd potential'
cp inputs/in.eam "$dir/in.eam"
for precision in double single mixed; do
  alike "a melt in $precision precision" $exact --cells 6 --precision $precision
  alike "two species in $precision precision" $exact --cells 6 --precision $precision --set "$salt" --set "$pairs"
  alike "copper in $precision precision" -i "$dir/in.eam" $exact --cells 4 --precision $precision
done
alike 'rebuilds by displacement' $exact --cells 6 --rebuild check --skin 0.1
alike 'two frames' $exact --cells 3,3,140 --precision single
alike 'a rank without atoms' $exact --cells 1 --steps 20
for cells in 7,6,8 20; do
  for carrier in mpi nccl; do
    run_in $carrier 2 $run --list tile --cells $cells --precision single --carrier $carrier
  done
  same "$dir/mpi/out" "$dir/nccl/out" "tiles of $cells cells by NCCL"
done
# So many tiles that each waits for those near it by peer, for all of the step before by NCCL; 64 steps and more of one list.
for precision in double single mixed; do
  for carrier in peer nccl; do
    run_in $carrier 2 $run --list tile --cells 52 --precision $precision --rebuild 70 --thermo 75 --steps 75 --carrier $carrier
  done
  same "$dir/peer/out" "$dir/nccl/out" "tiles that wait for those near in $precision precision"
done
# A rank without atoms, which gets its first ones at rebuilds, from a slab that ends at its border; few
# tiles, and so many that each waits for those near it.  slab CELLS: a face-centred lattice below the middle of a box thrice as high.
slab()
{
  awk -v cells="$1" 'BEGIN {
    half = (4 / .8442) ^ (1 / 3) / 2
    printf "a slab\n\n%d atoms\n1 atom types\n\n", 4 * cells ^ 3
    printf "0 %.9f xlo xhi\n0 %.9f ylo yhi\n0 %.9f zlo zhi\n", 2 * cells * half, 2 * cells * half, 6 * cells * half
    printf "\nMasses\n\n1 1\n\nAtoms # atomic\n\n"
    for (z = 0; z < 2 * cells; z++)
      for (y = 0; y < 2 * cells; y++)
        for (x = (z + y) % 2; x < 2 * cells; x += 2)
          printf "%d 1 %.6f %.6f %.6f\n", ++n, (x + .5) * half, (y + .5) * half, (z + cells + .5) * half
  }'
}
for case in '8 double' '8 mixed' '8 single' '52 double' '52 mixed' '52 single'; do
  set -- $case
  slab "$1" >"$dir/slab.data"
  for carrier in peer nccl; do
    run_in $carrier 2 $run --list tile --cut bricks --set "system.read=\"$dir/slab.data\"" --precision "$2" --steps 60 \
      --thermo 20 --carrier $carrier
  done
  same "$dir/peer/out" "$dir/nccl/out" "a rank without atoms beside a slab of $1 cells in $2 precision"
done
# Embedded atoms by tiles: F' of ghosts comes from another GPU.
for precision in double single mixed; do
  limit=1e-12
  [ $precision = double ] || limit=1e-6
  for carrier in peer mpi nccl; do
    metal="-i $dir/in.eam $run --list tile --cells 8 --precision $precision"
    run_in one 1 $metal
    run_in two 2 $metal --carrier $carrier
    near "$dir/one/out" "$dir/two/out" $limit "copper by tiles in $precision precision by $carrier"
  done
done
# Charges: meshes are added up by NCCL or by the hosts, to the same bits; beside the pairs or after them.
salt="-i $PWD/inputs/in.nacl $run --cells 6"
for precision in double single mixed; do
  for carrier in mpi peer nccl; do
    run_in $carrier 2 $salt --precision $precision --deterministic --carrier $carrier
  done
  for carrier in peer nccl; do
    same "$dir/mpi/out" "$dir/$carrier/out" "a salt in $precision precision by $carrier"
  done
done
run_in one 1 $salt --precision double
run_in two 2 $salt --precision double
near "$dir/one/out" "$dir/two/out" 1e-12 'a salt'
ranks=2
expect 0 $run --format table --cells 6 --carrier nccl
prints '^carrier    nccl \(as asked\)'
grep -q '^meshes' "$dir/out" && fail 'meshes where there are no charges'
expect 0 $salt --format table
prints '^meshes     added up in memory of the GPUs'
expect 0 $salt --format table --carrier nccl
prints '^meshes     added up on the GPUs, by NCCL'
expect 0 $salt --format table --carrier mpi
prints '^meshes     added up by the hosts \(as asked\)'

# A rank that is killed ends the other, which waits for its message on the GPU.
for carrier in nccl peer; do
  cases=$((cases + 1))
  began=$(date +%s)
  job "$minimd" --backend gpu --cells 20 --steps 100000000 --quiet --carrier $carrier >"$dir/out" 2>"$dir/err" </dev/null &
  sleep 8
  rank=$(pgrep -n -f '^[^ ]*minimd .*steps 100000000') || fail "no rank to kill: $carrier"
  kill -KILL "$rank"
  wait $! && fail "a job whose rank was killed succeeds: $carrier"
  [ $(($(date +%s) - began)) -lt 40 ] || fail "a job whose rank was killed does not end: $carrier"
done
finish
