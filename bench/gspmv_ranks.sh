#!/bin/sh
# bench/gspmv_ranks.sh BUILD [RESULTS] - products of matrices like those of [Liu] Table I, whose rows several ranks of this host
# have, a thread each, beside what the model says (Table III, Figs. 3 and 4).  Runs of 1, 2, ... ranks take turns, so that a busy
# machine slows all alike; rows, with medians over RUNS runs, each the median of REPEAT products, go to gspmv-ranks.csv.  Where
# there are more ranks than processors a row has what ranks fetch, and no times.  RANKS, VECTORS and MATRICES name others than those
# below, ROWS fewer spheres.  BACKEND=gpu: a GPU a rank, to gspmv-ranks-gpu.csv.
set -eu
build=$1
results=${2:-docs/results}
minimd=$build/minimd
backend=${BACKEND:-cpu}
vectors=${VECTORS:-1,4,8,16,32}
runs=${RUNS:-1}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. bench/rows.sh
. bench/mpi.sh
case $backend in
  cpu) ranks=${RANKS:-1 2 4 8} processors=$(nproc) what='--threads 1' to=gspmv-ranks.csv ;;
  gpu)
    processors=$(nvidia-smi --list-gpus | wc -l) what= to=gspmv-ranks-gpu.csv
    ranks=${RANKS:-$(for n in 1 2 4 8; do [ $n -gt "$processors" ] || echo $n; done)}
    ;;
esac
what="--vectors $vectors --repeat ${REPEAT:-15} --backend $backend $what --quiet --format csv"
mkdir -p "$results"

# take MATRIX RANKS : one run of all numbers of vectors; rows in the columns of several ranks.
take()
{
  which="--matrix $1 ${ROWS:+--rows $ROWS}"
  if [ "$2" = 1 ]; then
    "$minimd" gspmv $which $what | tail -n +2 >"$work/measured"
    [ -s "$work/$1.model" ] || "$minimd" gspmv $which $what --nodes 1 | tail -n +2 >"$work/$1.model"
    paste -d, "$work/measured" "$work/$1.model" |
      awk -F, -v OFS=, '{ print $1, 1, $3, $4, $5, $6, $8, 0, $9, 0, 0, 0, $17, 0, $19, $11 }'
  else
    on_ranks "$2" "$minimd" gspmv $which $what | tail -n +2
  fi >>"$work/$1,$2"
}

# note MATRIX RANKS : a row for each number of vectors: medians, least and most time.
note()
{
  sort -t, -k5,5n -k6,6g "$work/$1,$2" | awk -F, -v OFS=, -v head="$(date -u +%F),$commit,$machine" -v most="$processors" '
    function middle(a, n,   i, j, x) {
      for (i = 2; i <= n; i++) {
        x = a[i]
        for (j = i - 1; j >= 1 && a[j] > x; j--) a[j + 1] = a[j]
        a[j + 1] = x
      }
      return (a[int((n + 1) / 2)] + a[int(n / 2) + 1]) / 2
    }
    function row(   busy) {
      if (!n) return
      busy = ranks > most
      print head, shape, vectors, n, busy ? ",,," : sprintf("%.6g,%.6g,%.6g,%.3f", middle(time, n), time[1], time[n], middle(part, n)), \
        busy ? "" : sprintf("%.4f", middle(relative, n)), fetched, \
        busy ? ",," : sprintf("%.6g,%.3f,%.4f", middle(model, n), middle(model_part, n), middle(model_relative, n))
      n = 0
    }
    $5 != vectors { row() }
    {
      ranks = $2; vectors = $5; shape = $1 OFS $2 OFS $3 OFS $4; fetched = $10 OFS $11 OFS $12
      time[++n] = $6; part[n] = $8; relative[n] = $9; model[n] = $13; model_part[n] = $14; model_relative[n] = $15
    }
    END { row() }' >>"$work/rows"
}

echo "date,commit,machine,matrix,ranks,block_rows,blocks,vectors,runs,time_s,least,most,communication,relative_time,\
remote_rows,messages,fetched_bytes,model_time_s,model_communication,model_relative_time" >"$work/rows"
for matrix in ${MATRICES:-mat1 mat2}; do
  for run in $(seq "$runs"); do
    for n in $ranks; do
      [ "$n" -gt "$processors" ] && [ "$run" -gt 1 ] || take "$matrix" "$n"
    done
  done
  for n in $ranks; do note "$matrix" "$n"; done
done
mv "$work/rows" "$results/$to"
cat "$results/$to"
