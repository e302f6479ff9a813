#!/bin/sh
# bench/stokes_ranks.sh BUILD [RESULTS] - steps of `minimd stokes` that ranks of this host share, a thread each; with BACKEND=gpu a
# GPU each, to stokes-ranks-gpu.csv.  Runs of 1, 2, ...
# ranks take turns, so that a busy machine slows all alike; rows, with medians over RUNS runs, go to stokes-ranks.csv: seconds a
# step in the second half of a run, of which mean seconds of a rank in messages of products and in sums over ranks (on GPUs both
# are within kernels), how many sums there are, rows of X that a product fetches at most, and the greatest memory of a rank.  mrhs
# has as many right-hand sides as half of the steps.  Packings of more than PART spheres are copies of one side by side.  RANKS,
# SIZES, OCCUPANCIES, ALGORITHMS and STEPS name others than those below.  Frames at the end must be the same bytes on CPUs.
set -eu
build=$1
results=${2:-docs/results}
minimd=$(realpath "$build/minimd")
backend=${BACKEND:-cpu}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. bench/rows.sh
. bench/mpi.sh
. bench/copies.sh
case $backend in
  cpu)
    ranks=${RANKS:-1 2 4 8} sizes=${SIZES:-20000} occupancies=${OCCUPANCIES:-0.4} part=${PART:-20000}
    steps=${STEPS:-16} runs=${RUNS:-3} on_backend='--threads 1' to=stokes-ranks.csv
    ;;
  gpu)
    gpus=$(nvidia-smi --list-gpus | wc -l)
    ranks=${RANKS:-$(for n in 1 2 4 8; do [ $n -gt "$gpus" ] || echo $n; done)}
    sizes=${SIZES:-300000 1000000} occupancies=${OCCUPANCIES:-0.1 0.3 0.5} part=${PART:-5000}
    steps=${STEPS:-32} runs=${RUNS:-1} on_backend='--backend gpu' to=stokes-ranks-gpu.csv
    ;;
esac
mkdir -p "$results"
cat >"$work/peak.py" <<'END'
import os, resource, subprocess, sys
code = subprocess.call(sys.argv[2:], stdout=subprocess.DEVNULL)
with open(sys.argv[1] + os.environ.get("OMPI_COMM_WORLD_RANK", "0"), "w") as to:
    print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024, file=to)
sys.exit(code)
END

# packing SPHERES OCCUPANCY : about so many, into a file of that name
packing()
{
  k=1
  while [ $(($1 / (k * k * k))) -gt "$part" ]; do k=$((k + 1)); done
  "$minimd" pack --particles $(($1 / (k * k * k))) --occupancy "$2" --seed 7 -o "$work/part-$1-$2.xyz" --quiet >/dev/null
  copies "$work/part-$1-$2.xyz" $k >"$work/$1-$2.xyz"
}

# take PACKING ALGORITHM RANKS : a line with seconds a step, in messages, in sums, sums, rows, MiB.
take()
{
  rm -f "$work"/peak[0-9]* "$work/walk"
  rhs= frames=
  [ "$2" = original ] || rhs="--rhs $((steps / 2))"
  [ "$backend" = gpu ] || frames="--trajectory $work/walk --trajectory-every $steps"
  on_ranks "$3" python3 "$work/peak.py" "$work/peak" "$minimd" stokes -i "$work/$1.xyz" --steps \
    "$steps" --algorithm "$2" $rhs $on_backend $frames 2>"$work/told" || { cat "$work/told" >&2; exit 1; }
  sort -n "$work"/peak[0-9]* | tail -n 1 >>"$work/told"
  [ ! -e "$work/walk" ] || [ -e "$work/$1,$2.first" ] || cp "$work/walk" "$work/$1,$2.first"
  [ ! -e "$work/walk" ] || cmp "$work/walk" "$work/$1,$2.first"
  awk '/ steps of / { for (k = 1; k < NF; k++) if ($(k + 1) == "in" && $k ~ /^\(/) step = substr($k, 2) }
    /^[0-9]+ ranks: / { for (k = 1; k < NF; k++) if ($k == "most") rows = $(k + 1) }
    /^a step, mean/ { messages = $6; sums = $12; n = $NF }
    END { print step, messages + 0, sums + 0, n + 0, rows + 0, $1 }' "$work/told" >>"$work/$1,$2,$3"
}

# note PACKING OCCUPANCY ALGORITHM RANKS : the row of these runs.
note()
{
  sort -g "$work/$1,$3,$4" |
    awk -v head="$(date -u +%F),$commit,$machine,$(head -n 1 "$work/$1.xyz"),$2,$3,$steps,$4" '
      { line[NR] = $0; step[NR] = $1 }
      END {
        split(line[int((NR + 1) / 2)], x)
        printf "%s,%d,%s,%s,%s,%s,%s,%s,%s,%.1f\n", head, NR, x[1], step[1], step[NR], x[2], x[3], x[4], x[5], x[6]
      }' | tee -a "$work/rows"
}

echo 'date,commit,machine,spheres,occupancy,algorithm,steps,ranks,runs,step_s,least,most,messages_s,sums_s,sums,rows_fetched,memory_mib' \
  >"$work/rows"
for spheres in $sizes; do
  for occupancy in $occupancies; do packing "$spheres" "$occupancy" & done
done
wait
for spheres in $sizes; do
  for occupancy in $occupancies; do
    for algorithm in ${ALGORITHMS:-original mrhs}; do
      for run in $(seq "$runs"); do
        for n in $ranks; do take "$spheres-$occupancy" "$algorithm" "$n"; done
      done
      for n in $ranks; do note "$spheres-$occupancy" "$occupancy" "$algorithm" "$n"; done
    done
  done
done
mv "$work/rows" "$results/$to"
