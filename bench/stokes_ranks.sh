#!/bin/sh
# bench/stokes_ranks.sh BUILD [RESULTS] - steps of `minimd stokes` that ranks of this host share, a thread each; with BACKEND=gpu a
# GPU each, to stokes-ranks-gpu.csv.  Runs of 1, 2, ...
# ranks take turns, so that a busy machine slows all alike; rows, with medians over RUNS runs, go to stokes-ranks.csv: seconds a
# step, of which mean seconds of a rank in messages of products and in sums over ranks, how many sums there are, rows of X that a
# product fetches at most, and the greatest memory of a rank.  mrhs has as many right-hand sides as there are steps.  RANKS, SIZES,
# ALGORITHMS and STEPS name others than those below.  Frames at the end must be the same bytes on CPUs.
set -eu
build=$1
results=${2:-docs/results}
minimd=$(realpath "$build/minimd")
backend=${BACKEND:-cpu}
case $backend in
  cpu) ranks=${RANKS:-1 2 4 8} sizes=${SIZES:-20000} occupancy=0.4 on_backend='--threads 1' to=stokes-ranks.csv ;;
  gpu) ranks=${RANKS:-1 2} sizes=${SIZES:-300000 1000000} occupancy=0.5 on_backend='--backend gpu' to=stokes-ranks-gpu.csv ;;
esac
runs=${RUNS:-5}
steps=${STEPS:-8}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. bench/rows.sh
. bench/mpi.sh
mkdir -p "$results"
cat >"$work/peak.py" <<'END'
import os, resource, subprocess, sys
code = subprocess.call(sys.argv[2:], stdout=subprocess.DEVNULL)
with open(sys.argv[1] + os.environ.get("OMPI_COMM_WORLD_RANK", "0"), "w") as to:
    print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024, file=to)
sys.exit(code)
END

# take SPHERES ALGORITHM RANKS : a line with seconds a step, in messages, in sums, sums, rows, MiB.
take()
{
  rm -f "$work"/peak[0-9]*
  rhs=
  [ "$2" = original ] || rhs="--rhs $steps"
  on_ranks "$3" python3 "$work/peak.py" "$work/peak" "$minimd" stokes -i "$work/$1.xyz" --steps \
    "$steps" --algorithm "$2" $rhs $on_backend --trajectory "$work/walk" --trajectory-every "$steps" 2>"$work/told"
  sort -n "$work"/peak[0-9]* | tail -n 1 >>"$work/told"
  [ -e "$work/$1,$2.first" ] || mv "$work/walk" "$work/$1,$2.first"
  [ ! -e "$work/walk" ] || [ "$backend" = gpu ] || cmp "$work/walk" "$work/$1,$2.first"
  awk '/ steps of / { step = $6 }
    /^[0-9]+ ranks: / { for (k = 1; k < NF; k++) if ($k == "most") rows = $(k + 1) }
    /^a step, mean/ { messages = $6; sums = $12; n = $NF }
    END { print step, messages + 0, sums + 0, n + 0, rows + 0, $1 }' "$work/told" >>"$work/$1,$2,$3"
}

echo 'date,commit,machine,spheres,algorithm,steps,ranks,runs,step_s,least,most,messages_s,sums_s,sums,rows_fetched,memory_mib' \
  >"$work/rows"
for spheres in $sizes; do
  "$minimd" pack --particles "$spheres" --occupancy $occupancy --seed 7 -o "$work/$spheres.xyz" --quiet
  for algorithm in ${ALGORITHMS:-original mrhs}; do
    for run in $(seq "$runs"); do
      for n in $ranks; do take "$spheres" "$algorithm" "$n"; done
    done
    for n in $ranks; do
      sort -g "$work/$spheres,$algorithm,$n" | awk -v head="$(date -u +%F),$commit,$machine,$spheres,$algorithm,$steps,$n" '
        { line[NR] = $0; step[NR] = $1 }
        END {
          split(line[int((NR + 1) / 2)], x)
          printf "%s,%d,%s,%s,%s,%s,%s,%s,%s,%.1f\n", head, NR, x[1], step[1], step[NR], x[2], x[3], x[4], x[5], x[6]
        }' | tee -a "$work/rows"
    done
  done
done
mv "$work/rows" "$results/$to"
