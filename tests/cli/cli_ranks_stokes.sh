#!/bin/sh
# tests/cli/cli_ranks_stokes.sh MINIMD - `minimd stokes` on several ranks: the bits of one rank, restarts, what is refused.
. tests/cli/cli.sh
minimd=$(realpath "$minimd")
. tests/cli/ranks.sh
export OMP_WAIT_POLICY=passive
home=$(pwd)

"$minimd" pack --particles 700 --occupancy 0.4 --seed 5 -o "$dir/a.xyz" --quiet
run="stokes -i $dir/a.xyz --seed 3 --dt 400 --threads 1 --format csv"

# What is not for several ranks.
ranks=2
for what in 'hydrodynamics rpy' 'hydrodynamics full' 'method cholesky' 'root chebyshev' 'root lanczos' 'guess series'; do
  expect 2 $run --$what
  says "2 ranks share steps .* only, not .(${what#* }|chebyshev)"
done
expect 2 $run --model
says 'model on 2 ranks: expected one rank'
expect 2 $run --rhs auto
says 'rhs auto on 2 ranks'
expect 2 $run --rhs 0
expect 3 stokes -i "$dir/none.xyz"

# On GPUs: where spheres are after a few steps is the same for 1, 2 and 3 ranks within the tolerance of solves; a checkpoint that 2
# ranks wrote within a group of right-hand sides goes on with 1.
near() # FRAMES FRAMES WHAT
{
  awk -v other="$2" '
    { if ((getline line <other) <= 0) bad = 1; split(line, x) }
    NF == 5 && $1 == "S" { rows++; for (d = 2; d < 5; d++) if (($d - x[d]) ^ 2 > 1e-6) bad = 1 }
    END { exit bad || rows < 700 }' "$1" || fail "$3"
}
if [ "$backend" = gpu ]; then
  for case in 'original' 'mrhs --rhs 4 --preconditioner jacobi' 'mrhs --rhs 3 --storage pair'; do
    for ranks in 1 2 3; do
      expect 0 $run --backend gpu --steps 3 --algorithm $case --trajectory "$dir/walk$ranks" --quiet
      near "$dir/walk$ranks" "$dir/walk1" "frames of $case on $ranks ranks"
    done
  done
  ranks=1
  expect 0 $run --backend gpu --steps 5 --rhs 4 --trajectory "$dir/whole" --quiet
  ranks=2
  expect 0 $run --backend gpu --steps 2 --rhs 4 --trajectory "$dir/part" --checkpoint "$dir/state" --quiet
  ranks=1
  expect 0 stokes --restart "$dir/state" --steps 3
  near "$dir/part" "$dir/whole" 'frames of 2 ranks and 1'
  ranks=2
  expect 0 $run --backend gpu --steps 2 --algorithm original --replicas 3
  says 'replicas: D_s/D_0'
  says '^2 ranks: [0-9]+ to [0-9]+ rows; .* from 1 of the others, by (mpi|peer|nccl)'
  finish
  exit
fi

# The columns that do not measure time.
counts() { cut -d, -f1-4 "$dir/out"; }

# walk PLACE RANKS ARGS... : frames, checkpoint and rows of a run in a folder of its own, under the same names.
walk()
{
  mkdir "$dir/$1"
  cd "$dir/$1" || exit
  ranks=$2
  shift 2
  expect 0 "$@" --trajectory walk --checkpoint state
  counts >rows
  cd "$dir" || exit
}

# Rows, frames and checkpoints are the same bytes; 11 parts of vectors for up to 12 ranks, one of which has no rows.
for case in 'original --rhs 1' 'original --preconditioner jacobi' 'mrhs --rhs 4' 'mrhs --rhs 3 --storage pair --preconditioner jacobi'; do
  for ranks in 1 2 3 12; do
    [ $ranks != 12 ] || [ "$case" = 'mrhs --rhs 4' ] || continue
    rm -rf "$dir/now"
    walk now $ranks $run --steps 5 --algorithm $case --quiet
    [ $ranks = 1 ] && rm -rf "$dir/one" && mv "$dir/now" "$dir/one" && continue
    same "$dir/one/walk" "$dir/now/walk" "frames of $case on $ranks ranks"
    same "$dir/one/rows" "$dir/now/rows" "rows of $case on $ranks ranks"
    same "$dir/one/state" "$dir/now/state" "checkpoints of $case on $ranks ranks"
  done
done
[ "$(grep -c Lattice "$dir/now/walk")" = 5 ] || fail 'not every step is a frame'
rm -rf "$dir/now"
ranks=2
expect 0 $run --steps 2 --algorithm original --replicas 3
counts >"$dir/rows"
says 'replicas: D_s/D_0'
grep 'replicas: D_s' "$dir/err" >"$dir/diffusion"
ranks=1
expect 0 $run --steps 2 --algorithm original --replicas 3
counts | cmp -s - "$dir/rows" || fail 'replicas of 2 ranks'
grep 'replicas: D_s' "$dir/err" | cmp -s - "$dir/diffusion" || fail 'diffusion by 2 ranks'

# Within a group of right-hand sides 2 ranks stop, 1 goes on, then 3; the frames are those of a run that one rank never stopped.
walk whole 1 $run --steps 7 --algorithm mrhs --rhs 4 --quiet
walk two 2 $run --steps 2 --algorithm mrhs --rhs 4 --quiet
cd "$dir/two" || exit
ranks=1
expect 0 stokes --restart state --steps 3 --threads 1
says 'at step 2, exactly'
ranks=3
expect 0 stokes --restart state --steps 7 --threads 1
says 'at step 3, exactly'
says '^3 ranks: [0-9]+ to [0-9]+ rows; a product fetches at most [1-9][0-9]* rows, .* from 2 of the others'
says 'in sums over ranks, of which there are [0-9]+'
same "$dir/whole/walk" walk 'frames of 2, 1 and 3 ranks'
cd "$dir" || exit

# JSON says what each rank had: rows of all spheres, as many rows sent as fetched, as many sums on all.
ranks=3
expect 0 $run --steps 2 --format json -o "$dir/json"
command -v python3 >/dev/null 2>&1 && {
  python3 "$home/tests/cli/schema.py" "$home/docs/schema/stokes.json" "$dir/json" || fail 'the JSON report'
  python3 - "$dir/json" <<'PY' || fail 'ranks in the JSON report'
import json, sys
ranks = json.load(open(sys.argv[1]))["ranks"]
total = lambda name: sum(rank[name] for rank in ranks)
assert len(ranks) == 3 and total("rows") == 700, ranks
assert total("sent") == total("ghosts") > 0, ranks
assert all(rank["sums"] == ranks[0]["sums"] > 0 for rank in ranks), ranks
assert all(0 <= rank["inner"] <= rank["rows"] for rank in ranks) and total("time_products") > 0, ranks
PY
}

# One error line, whichever rank it is: a file of another rank, a solve that does not converge, a trajectory that cannot be written.
ranks=3
mkdir "$dir/here" "$dir/there"
cp "$dir/a.xyz" "$dir/here/b.xyz"
"$minimd" pack --particles 700 --occupancy 0.4 --seed 6 -o "$dir/there/b.xyz" --quiet
cases=$((cases + 1))
mpirun $root --oversubscribe -n 2 --wdir "$dir/here" "$minimd" stokes -i b.xyz --steps 1 --threads 1 : -n 1 --wdir "$dir/there" \
  "$minimd" stokes -i b.xyz --steps 1 --threads 1 >"$dir/out" 2>"$dir/err" </dev/null
[ $? = 2 ] || fail 'ranks with different packings: exit code'
[ "$(grep -c '^minimd: error: the packing of rank 2 is not that of rank 0' "$dir/err")" = 1 ] ||
  fail "ranks with different packings: $(cat "$dir/err")"
cases=$((cases + 1))
rm "$dir/there/b.xyz"
mpirun $root --oversubscribe -n 2 --wdir "$dir/here" "$minimd" stokes -i b.xyz --steps 1 --threads 1 : -n 1 --wdir "$dir/there" \
  "$minimd" stokes -i b.xyz --steps 1 --threads 1 >"$dir/out" 2>"$dir/err" </dev/null
[ $? = 3 ] || fail 'a packing that one rank lacks: exit code'
[ "$(grep -c '^minimd: error: .*b.xyz' "$dir/err")" = 1 ] || fail "a packing that one rank lacks: $(cat "$dir/err")"
expect 5 $run --max-iterations 2 --quiet
says '^minimd: error: (block )?conjugate gradients reached'
expect 3 $run --trajectory "$dir/no/such/walk" --quiet
expect 3 $run --checkpoint "$dir/no/such/state" --quiet
finish
