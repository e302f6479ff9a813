#!/bin/sh
# tests/cli/cli_stokes_ranks.sh MINIMD - products of a matrix whose rows several ranks have: the suite under mpirun, and
# `minimd gspmv`.
. tests/cli/cli.sh
minimd=$(realpath "$minimd")
. tests/cli/ranks.sh
export OMP_WAIT_POLICY=passive

# What is not for several ranks.
for what in '--map' '--matrix mat1 --nodes 2' "--matrix mat1 --write $dir/w.mtx" "--matrix mat1 --plot $dir/p.svg"; do
  expect 2 gspmv $what
  says '(map|nodes|write|plot) on 2 ranks: expected one rank'
done
expect 3 gspmv --matrix "$dir/none.mtx"
cpu='--backend cpu --threads 1 --quiet --format csv'

suite=$(dirname "$minimd")/tests/check_stokes_ranks
for ranks in 2 3 4 8; do
  [ -x "$suite" ] || break
  [ "$backend" = cpu ] || [ $ranks -lt 4 ] || break # they may share a GPU
  cases=$((cases + 1))
  job "$suite" >"$dir/out" 2>"$dir/err" </dev/null ||
    fail "check_stokes_ranks on $ranks ranks: $(cat "$dir/out" "$dir/err")"
done

# On GPUs: shared rows of spheres and of a file, in either layout; every rank needs rows.
if [ "$backend" = gpu ]; then
  ranks=2
  "$minimd" gspmv --matrix mat1 --rows 1500 --write "$dir/m.mtx" --vectors 1 --repeat 1 --backend cpu --quiet >/dev/null
  for matrix in "mat1 --rows 1500" "mat1 --rows 1500 --storage pair" "$dir/m.mtx"; do
    expect 0 gspmv --matrix $matrix --vectors 1,3,16 --repeat 2 --backend gpu --quiet --format csv
    awk -F, 'NR > 1 && !($2 == 2 && $3 == 1500 && $6 > 0 && $8 >= 0 && $8 < 1 && $10 > 0 && $16 < 1e-13) { bad = 1 }
      END { exit bad || NR != 4 }' "$dir/out" || fail "2 ranks on a GPU, $matrix: $(cat "$dir/out")"
  done
  expect 0 gspmv --matrix mat1 --rows 1500 --vectors 2 --repeat 1 --backend gpu
  prints 'messages by (mpi|peer|nccl) of [0-9]'
  ranks=3
  printf '%s\n3 3 3\n1 1 2\n2 2 2\n3 3 2\n' '%%MatrixMarket matrix coordinate real general' >"$dir/one.mtx"
  expect 2 gspmv --matrix "$dir/one.mtx" --vectors 1 --backend gpu
  says 'rank [0-2] of 3 would have none of the 1 rows: expected fewer ranks, or the backend cpu'
  finish
  exit
fi

# One rank under a launcher prints what it prints alone; several print their own columns, once, and the same shape.
alone=matrix,backend,block_rows,blocks,vectors,time_s,gb_per_s,gflop_per_s,relative_time,model_relative_time,error
shared=matrix,ranks,block_rows,blocks,vectors,time_s,gflop_per_s,communication,relative_time,remote_rows,messages
shared=$shared,fetched_bytes,model_time_s,model_communication,model_relative_time,error
ranks=1
expect 0 gspmv --matrix mat1 --rows 1500 --vectors 1 --repeat 1 $cpu
[ "$(head -n 1 "$dir/out")" = $alone ] || fail 'header of one rank'
cut -d, -f3,4 "$dir/out" | tail -n 1 >"$dir/shape"
ranks=3
"$minimd" gspmv --matrix mat1 --rows 1500 --write "$dir/m.mtx" --vectors 1 --repeat 1 --backend cpu --quiet >/dev/null
"$minimd" gspmv --matrix "$dir/m.mtx" --nodes $ranks --vectors 1 --format csv --quiet >"$dir/nodes"
for storage in bcrs pair; do
  expect 0 gspmv --matrix mat1 --rows 1500 --vectors 1,3,16 --repeat 2 --storage $storage $cpu
  [ "$(head -n 1 "$dir/out")" = $shared ] || fail "header of 3 ranks"
  awk -F, 'NR > 1 && !($2 == 3 && $6 > 0 && $8 > 0 && $8 < 1 && $12 == 24 * $5 * $10 && $13 > 0 && $16 < 1e-13) { bad = 1 }
    END { exit bad || NR != 4 }' "$dir/out" || fail "3 ranks, $storage: $(cat "$dir/out")"
  cut -d, -f3,4 "$dir/out" | tail -n 1 | cmp -s - "$dir/shape" || fail "3 ranks, $storage: another matrix"
  [ "$(tail -n 1 "$dir/out" | cut -d, -f10,11)" = "$(tail -n 1 "$dir/nodes" | cut -d, -f4,5)" ] ||
    fail "3 ranks, $storage: not the rows that --nodes counts"
done
expect 0 gspmv --matrix "$dir/m.mtx" --vectors 2 --repeat 1 --backend cpu --threads 1 --latency 1000000 --network 1
prints '^rank 2: [0-9]+ rows .[0-9]+ inner., [0-9]+ blocks; fetches [0-9]+ rows from [12] of the others, sends [0-9]+'
prints 'messages by mpi of 1e\+06 us and 1 GB/s'
awk '/^\/.*m.mtx/ { exit !($13 > 1) }' "$dir/out" || fail 'messages of a second take less by the model'
expect 0 gspmv --matrix "$dir/m.mtx" --vectors 2 --repeat 1 --backend cpu --threads 1 --quiet --format json -o "$dir/json"
[ "$(grep -c '"ghosts"' "$dir/json")" = 3 ] || fail 'not every rank is in the JSON report'
command -v python3 >/dev/null 2>&1 &&
  { python3 tests/cli/schema.py docs/schema/gspmv-ranks.json "$dir/json" || fail 'the JSON report'; }
# More ranks than rows: some have none.
printf '%s\n3 3 3\n1 1 2\n2 2 2\n3 3 2\n' '%%MatrixMarket matrix coordinate real general' >"$dir/one.mtx"
expect 0 gspmv --matrix "$dir/one.mtx" --vectors 4 --repeat 1 $cpu
awk -F, 'NR == 2 { exit !($10 == 0 && $11 == 0 && $12 == 0 && $16 == 0) }' "$dir/out" || fail "one row on 3 ranks: $(cat "$dir/out")"

# Ranks that were given different work, by their words or by a file.
sed 's/^3 3 2$/3 3 4/' "$dir/one.mtx" >"$dir/two.mtx"
mkdir "$dir/here" "$dir/there"
cp "$dir/one.mtx" "$dir/here/a.mtx"
cp "$dir/two.mtx" "$dir/there/a.mtx"
cases=$((cases + 2))
mpirun $root --oversubscribe -n 1 "$minimd" gspmv --matrix mat1 --rows 300 $cpu : -n 1 "$minimd" gspmv --matrix mat1 --rows 301 $cpu \
  >"$dir/out" 2>"$dir/err" </dev/null
[ $? = 2 ] || fail 'ranks with different options: exit code'
[ "$(grep -c '^minimd: error: the command line of rank 1 is not that of rank 0' "$dir/err")" = 1 ] ||
  fail "ranks with different options: $(cat "$dir/err")"
mpirun $root --oversubscribe -n 1 --wdir "$dir/here" "$minimd" gspmv --matrix a.mtx $cpu : -n 1 --wdir "$dir/there" "$minimd" gspmv \
  --matrix a.mtx $cpu >"$dir/out" 2>"$dir/err" </dev/null
[ $? = 2 ] || fail 'ranks with different matrices: exit code'
[ "$(grep -c '^minimd: error: the matrix of rank 1 is not that of rank 0' "$dir/err")" = 1 ] ||
  fail "ranks with different matrices: $(cat "$dir/err")"
# What rank 0 cannot write it says once.
ranks=2
expect 3 gspmv --matrix "$dir/m.mtx" --vectors 1 --repeat 1 $cpu -o "$dir/no/such/folder/rows"
finish
