#!/bin/sh
# bench/ranks_memory.sh PROGRAM LABEL RANKS... - the greatest memory of ranks whose atoms come from a lattice, a data file, a
# shuffled one, extended XYZ and a checkpoint: 500,000 atoms, one step on the CPU.  CSV on standard output.
set -eu
. bench/mpi.sh
program=$(realpath "$1")
label=$2
shift 2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
run='--backend cpu --threads 1 --quiet --steps 1'
"$program" convert --cells 50 --to data -o a.data
"$program" convert --cells 50 --to xyz -o a.xyz
"$program" $run --cells 50 --checkpoint state >/dev/null
a=$(grep -n '^Atoms' a.data | cut -d: -f1)
v=$(grep -n '^Velocities' a.data | cut -d: -f1)
mix() { awk '{ print (NR * 7919) % 500009, $0 }' | sort -s -k1,1n | cut -d' ' -f2-; }
{
  head -n $((a + 1)) a.data
  sed -n "$((a + 2)),$((v - 2))p" a.data | mix
  sed -n "$((v - 1)),$((v + 1))p" a.data
  tail -n +$((v + 2)) a.data | tac | mix
} >shuffled.data
cat >peak.py <<'END'
import os, resource, subprocess, sys
code = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL)
with open("peak" + os.environ["OMPI_COMM_WORLD_RANK"], "w") as to:
    print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=to)
sys.exit(code)
END
echo 'program,ranks,source,rank_0_mib,most_mib'
for ranks in "$@"; do
  for source in lattice data shuffled xyz restart; do
    case $source in
      lattice) from='--cells 50' ;;
      data) from='--set system.read=a.data' ;;
      shuffled) from='--set system.read=shuffled.data' ;;
      xyz) from='--set system.read=a.xyz' ;;
      restart) from='--restart state --steps 2' ;;
    esac
    rm -f peak[0-9]*
    on_ranks "$ranks" python3 peak.py "$program" $run $from </dev/null
    awk -v head="$label,$ranks,$source" '{ if (FILENAME == "peak0") first = $1; if ($1 > most) most = $1 }
      END { printf "%s,%.1f,%.1f\n", head, first / 1024, most / 1024 }' peak[0-9]*
  done
done
