#!/bin/sh
# tests/cli/cli_stokes.sh MINIMD - `pack`, `gspmv` and `stokes`: files, tables, what bad input says.
. tests/cli/cli.sh

# Packings: seeded, the same for any number of threads, as dense as asked for.
expect 0 pack --particles 500 --occupancy 0.4 --seed 7 --threads 1 -o "$dir/a.xyz" --format csv
prints '^particles,occupancy,edge,iterations,sweeps,stationary,z,z_error,z_theory,g_contact,g_theory,gap_min,gap_expected,time_s$'
prints '^500,0\.400000,[0-9.]*,[0-9]*,[0-9]*,yes,'
awk -F, 'NR == 2 { exit !($7 > 0.95 * $9 && $7 < 1.05 * $9 && $10 > 0.9 * $11 && $10 < 1.1 * $11) }' "$dir/out" ||
  fail "Z and g far from theory: $(cat "$dir/out")"
says 'GB of memory'
expect 0 pack --particles 500 --occupancy 0.4 --seed 7 --threads 3 -o "$dir/b.xyz" --quiet
[ -s "$dir/err" ] && fail "--quiet is not"
same "$dir/a.xyz" "$dir/b.xyz" "packings by 1 and 3 threads"
expect 0 pack --particles 500 --occupancy 0.4 --seed 8 -o "$dir/c.xyz" --format json
prints '"schema": 2'
cmp -s "$dir/a.xyz" "$dir/c.xyz" && fail "the seed changes nothing"
expect 0 pack --particles 500 --occupancy 0.4 --sweeps 20 -o "$dir/early.xyz" --format csv --quiet
says '^minimd: warning: the walk ended after 20 sweeps, before Z was stationary'
prints '^500,.*,20,no,'
expect 0 pack --particles 500 --occupancy 0.4 --sweeps 0 -o "$dir/early.xyz" --format csv --quiet
says 'ended after 0 sweeps'
prints ',0,no,,,[0-9.]+,,'
[ "$(head -1 "$dir/a.xyz")" = 500 ] || fail "extended XYZ begins with the number of spheres"
sed -n 2p "$dir/a.xyz" | grep -q 'Lattice=".*Properties=.*radius:R:1' || fail "line 2 of the packing"
cp "$(dirname "$0")/../../inputs/radii.two" "$dir/radii"
expect 0 pack --particles 200 --occupancy 0.3 --radii "$dir/radii" -o "$dir/two.xyz"
awk 'NR > 2 { n[$NF + 0]++ } END { exit !(n[30] == 150 && n[60] == 50) }' "$dir/two.xyz" ||
  fail "150 and 50 spheres of two sizes"
expect 0 pack --particles 500 --occupancy 0.3 --radii "$dir/radii" -o "$dir/two.xyz" --contacts "$dir/g" --format csv
[ "$(head -1 "$dir/g")" = radius_a,radius_b,g_contact,g_theory ] || fail "header of contacts"
awk -F, 'NR > 1 && !($1 <= $2 && $3 > 0.8 * $4 && $3 < 1.2 * $4) { bad = 1 } END { exit bad || NR != 4 }' "$dir/g" ||
  fail "contact values: $(cat "$dir/g")"

# Bad input.
expect 2 pack --occupancy 0.3 -o "$dir/x.xyz"
says '--particles'
expect 2 pack --particles 100 --occupancy 0.3
says '-o FILE'
for phi in 0 1 1.2 nan -0.1 0,3; do
  expect 2 pack --particles 100 --occupancy "$phi" -o "$dir/x.xyz"
  says '--occupancy'
done
for n in 0 -1 1.5 1e3; do
  expect 2 pack --particles "$n" --occupancy 0.3 -o "$dir/x.xyz"
  says '--particles'
done
expect 2 pack --particles 200 --occupancy 0.9 -o "$dir/x.xyz"
says 'must be below 0\.723, not 0\.9: '
echo 30,1 >"$dir/one"
expect 2 pack --particles 200 --occupancy 0.55 --radii "$dir/one" -o "$dir/x.xyz"
says 'must be at most 0\.54, not 0\.55: .* freeze'
expect 5 pack --particles 200 --occupancy 0.6 --radii "$dir/radii" --iterations 3 -o "$dir/x.xyz"
says 'not pushed apart to gaps of 0\.02 in 3 iterations'
expect 2 pack --particles 200 --occupancy 0.3 --gap 0.1 -o "$dir/x.xyz"
[ -e "$dir/x.xyz" ] && fail "a failed command leaves a file"
expect 3 pack --particles 100 --occupancy 0.3 --radii "$dir/none" -o "$dir/x.xyz"
printf '30;0.75\n' >"$dir/bad"
expect 2 pack --particles 100 --occupancy 0.3 --radii "$dir/bad" -o "$dir/x.xyz"
says 'bad:1'
expect 3 pack --particles 200 --occupancy 0.2 --radii "$dir/radii" -o "$dir/none/x.xyz"
expect 3 pack --particles 200 --occupancy 0.2 --radii "$dir/radii" -o "$dir/x.xyz" --contacts "$dir/none/g"
[ -e "$dir/x.xyz" ] && fail "a failed command leaves a file"

# A killed run leaves nothing.
cases=$((cases + 1))
mkdir "$dir/killed"
"$minimd" pack --particles 100000 --occupancy 0.5 -o "$dir/killed/x.xyz" >/dev/null 2>"$dir/err" &
pid=$!
for wait in 1 2 3 4 5 6 7 8 9 10; do # until it says what it needs
  grep -q GB "$dir/err" && break
  sleep 1
done
sleep 1
kill -KILL $pid
wait $pid 2>/dev/null
[ $? = 137 ] || fail "the run was over before it was killed"
[ -z "$(ls "$dir/killed")" ] || fail "a killed run leaves $(ls "$dir/killed")"

# Products: header, rows, the error against plain sums.
expect 0 gspmv --matrix mat1 --rows 1500 --vectors 1,3,8 --repeat 2 --format csv --backend "$backend" \
  --write "$dir/m.mtx"
[ "$(head -1 "$dir/out")" = matrix,backend,block_rows,blocks,vectors,time_s,gb_per_s,gflop_per_s,relative_time,model_relative_time,error ] ||
  fail "header of gspmv"
awk -F, 'NR > 1 && !($3 == 1500 && $4 / $3 > 4.8 && $4 / $3 < 6.5 && $6 > 0 && $10 >= 1 && $11 < 1e-14) { bad = 1 }
  END { exit bad || NR != 4 }' "$dir/out" || fail "rows of mat1: $(cat "$dir/out")"
cut -d, -f3,4 "$dir/out" | sort -u >"$dir/shape"
expect 0 gspmv --matrix "$dir/m.mtx" --vectors 1,3,8 --repeat 1 --format csv --backend "$backend" -o "$dir/table"
[ -s "$dir/out" ] && fail "-o leaves standard output empty"
cut -d, -f3,4 "$dir/table" | sort -u >"$dir/shape2"
same "$dir/shape" "$dir/shape2" "a matrix written and read"
for storage in single pair; do
  expect 0 gspmv --matrix mat2 --rows 1500 --vectors 4 --repeat 1 --storage $storage --format csv \
    --backend "$backend"
  awk -F, 'NR == 2 { exit !($4 / $3 > 20 && $4 / $3 < 29 && $11 < 1e-13) }' "$dir/out" ||
    fail "$storage: $(cat "$dir/out")"
done
expect 0 gspmv --map --format csv
[ "$(wc -l <"$dir/out")" = 421 ] || fail "the map has 14 x 30 points"
prints '^6,0\.02,8$' # 72 m + 460 bytes at most twice 532
prints '^84,0\.60,14$' # 18 x 84 x 0.6 m at most twice 6460
expect 0 gspmv --matrix "$dir/m.mtx" --vectors 2 --repeat 1 --format json --backend "$backend"
prints '"model_relative_time"'
prints '"parts": "'
prints '"fits": '
# More vectors than solvers take; how products are made, which goes to standard error beside CSV; a matrix
# that a cache holds, and one that none does.
expect 0 gspmv --matrix "$dir/m.mtx" --vectors 1,9,65,130 --repeat 1 --format csv --backend "$backend"
awk -F, 'NR > 1 && !($5 ~ /^(1|9|65|130)$/ && $6 > 0 && $11 < 1e-13) { bad = 1 } END { exit bad || NR != 5 }' "$dir/out" ||
  fail "rows of many vectors: $(cat "$dir/out")"
says 'products by ranges of columns: 1 as 1, 9 .*as .*, 65 .*as .*, 130 .*as '
says 'arithmetic (bounds from m_s = [1-9][0-9]* vectors on|never bounds)'
if [ "$backend" = gpu ] || [ -e /sys/devices/system/cpu/cpu0/cache/index0/size ]; then
  says 'the matrix \(0\.6[0-9]* MB\) fits the last-level cache \([0-9.]+ MB\)'
fi
expect 0 gspmv --matrix "$dir/m.mtx" --vectors 2 --repeat 1 --quiet --format csv --backend "$backend"
[ -s "$dir/err" ] && fail "--quiet is not"
expect 0 gspmv --matrix "$dir/m.mtx" --vectors 2 --repeat 1 --backend "$backend"
prints 'products by ranges of columns: 2 .*as '
# Several machines: one is the model of this one; more fetch more in all, and a slower network takes longer.
expect 0 gspmv --matrix "$dir/m.mtx" --nodes 1,3,8 --vectors 1,16 --format csv --backend "$backend"
[ "$(head -1 "$dir/out")" = matrix,nodes,vectors,remote_rows,messages,model_time_s,communication,model_relative_time ] ||
  fail "header of gspmv --nodes"
awk -F, 'NR > 1 && !($6 > 0 && $3 == 1 ? $8 == 1 : $8 > 1) { bad = 1 }
  NR > 1 && $2 == 1 && ($4 || $5 || $7) { bad = 1 }
  NR > 1 && $2 > 1 && !($4 > 0 && $5 >= 1 && $5 < $2 && $7 > 0 && $7 < 1) { bad = 1 }
  END { exit bad || NR != 7 }' "$dir/out" || fail "rows of nodes: $(cat "$dir/out")"
expect 0 gspmv --matrix "$dir/m.mtx" --nodes 8 --vectors 1 --latency 1000 --network 0.001 --format csv --backend "$backend"
awk -F, 'NR == 2 { exit !($6 > 1e-3 * $5 + 24e-6 * $4 && $7 > 0.9) }' "$dir/out" || fail "a slow network"
for value in 0 1,x 1501; do
  expect 2 gspmv --matrix "$dir/m.mtx" --nodes "$value" --backend "$backend"
done
says '1501 nodes'
expect 2 gspmv --matrix "$dir/m.mtx" --nodes 2 --latency -1
says '--latency'
expect 2 gspmv --matrix "$dir/m.mtx" --nodes 2 --network 0
says '--network'
expect 2 gspmv --matrix "$dir/m.mtx" --vectors 1 --latency x
says '--latency'
if command -v gnuplot >/dev/null 2>&1; then
  expect 0 gspmv --matrix "$dir/m.mtx" --nodes 1,4 --plot "$dir/nodes.svg" --backend "$backend"
  expect 0 gspmv --map --plot "$dir/map.png" --quiet
  expect 0 gspmv --matrix "$dir/m.mtx" --repeat 1 --plot "$dir/times.svg" --backend "$backend"
  expect 0 pack --particles 200 --occupancy 0.3 --radii "$dir/radii" -o "$dir/two.xyz" --plot "$dir/cut.png"
  for picture in map.png times.svg cut.png; do
    [ -s "$dir/$picture" ] || fail "no $picture"
  done
fi

# Bad matrices and numbers of vectors.
expect 2 gspmv
says '--matrix'
expect 2 gspmv --matrix mat4
says 'mat1, mat2, mat3'
expect 3 gspmv --matrix "$dir/none.mtx"
for m in 0 1048577 -1 2x 1,,2 nan; do
  expect 2 gspmv --matrix mat1 --vectors "$m"
  says '--vectors'
done
head='%%MatrixMarket matrix coordinate real general'
printf '%s\n4 4 1\n1 1 1\n' "$head" >"$dir/rows.mtx"
printf '%s\n3 6 1\n1 1 1\n' "$head" >"$dir/square.mtx"
printf '%s\n3 3 3\n1 1 1\n2 2 1\n' "$head" >"$dir/short.mtx"
printf '%s\n3 3 1\n1 1 1\n' "$head" | tr r x >"$dir/head.mtx"
for file in rows:2 square:2 short:5 head:1; do
  expect 2 gspmv --matrix "$dir/${file%:*}.mtx"
  says "${file%:*}.mtx:${file#*:}: "
done
expect 4 gspmv --matrix mat3 --rows 200000000 --quiet
says 'GB of memory'

# Stokesian dynamics: header, one row a step, both algorithms walk the same way.
run="stokes -i $dir/a.xyz --steps 5 --seed 3 --backend $backend"
expect 0 $run --rhs 3 --format csv --trajectory "$dir/mrhs.xyz" --threads 1
[ "$(head -1 "$dir/out")" = step,iterations_first,iterations_second,guess_error,time_chebyshev,time_guess,time_first,time_second ] ||
  fail "header of stokes"
awk -F, 'NR > 1 && !($1 == NR - 2 && $2 > 3 && $3 > 0 && ($4 > 0) == ($1 % 3 != 0) && ($6 > 0) == ($1 % 3 == 0)) { bad = 1 }
  END { exit bad || NR != 6 }' "$dir/out" || fail "rows of stokes: $(cat "$dir/out")"
says 'overlapping pairs moved apart'
expect 0 $run --algorithm original --format csv --trajectory "$dir/original.xyz" --quiet
awk -F, 'NR > 1 && ($4 != 0 || $6 != 0) { bad = 1 } END { exit bad || NR != 6 }' "$dir/out" ||
  fail "rows of the original: $(cat "$dir/out")"
[ "$(wc -l <"$dir/mrhs.xyz")" = 2510 ] || fail "five frames of 500 spheres"
paste -d' ' "$dir/mrhs.xyz" "$dir/original.xyz" | awk '$1 == "S" { for (k = 2; k < 5; k++) {
    d = $k - $(k + 5); if (d * d > 1e-6) bad = 1; } } END { exit bad }' || fail "trajectories differ"
cmp -s "$dir/mrhs.xyz" "$dir/original.xyz" && fail "a trajectory was not computed anew"
expect 0 $run --rhs 3 --trajectory "$dir/threads.xyz" --trajectory-every 1 --threads 3 --deterministic
same "$dir/mrhs.xyz" "$dir/threads.xyz" "trajectories by 1 and 3 threads"
expect 0 $run --rhs auto --format json --preconditioner jacobi --root lanczos
prints '"guess_error"'
says 'auto: B = .* m_s = ([1-9][0-9]*|never): m = [1-5],'
expect 0 $run --model --format csv
prints '^rhs,bound_by,time_product,time_step$'
prints '^1,(bandwidth|arithmetic),'
[ "$(wc -l <"$dir/out")" = 65 ] || fail "the model has 64 rows"
expect 0 $run --algorithm original --method cholesky
# Forces pair by pair are the default; guesses from a series choose Chebyshev's and say so.
expect 0 $run --rhs 3 --root pairs --trajectory "$dir/pairs.xyz"
same "$dir/mrhs.xyz" "$dir/pairs.xyz" "forces by default and by pairs"
for root in chebyshev lanczos cholesky; do
  expect 0 $run --rhs 3 --root $root --trajectory "$dir/root.xyz"
  cmp -s "$dir/mrhs.xyz" "$dir/root.xyz" && fail "forces by $root are those by pairs"
done
expect 0 $run --rhs 3 --guess series --trajectory "$dir/series.xyz"
says '^--guess series: Brownian forces by --root chebyshev$'
expect 0 $run --rhs 3 --guess series --root chebyshev --trajectory "$dir/root.xyz"
grep -q 'Brownian forces by' "$dir/err" && fail "a root that was asked for is announced"
same "$dir/series.xyz" "$dir/root.xyz" "forces of --guess series"
tail -502 "$dir/mrhs.xyz" >"$dir/last.xyz"
expect 0 stokes -i "$dir/last.xyz" --steps 1 # a frame is a packing
if command -v gnuplot >/dev/null 2>&1; then
  expect 0 $run --plot "$dir/steps.svg" -o "$dir/steps" --quiet
  [ -s "$dir/steps.svg" ] && [ -s "$dir/steps" ] || fail "no picture of steps"
fi

# A signal ends a run after a complete step; what was done is printed.
cases=$((cases + 1))
"$minimd" stokes -i "$dir/a.xyz" --steps 1000000 --format csv --backend "$backend" -o "$dir/stopped" \
  --trajectory "$dir/stopped.xyz" --trajectory-every 1000000 2>"$dir/err" &
pid=$!
for wait in 1 2 3 4 5 6 7 8 9 10; do # until its files are open
  [ -e "$dir/stopped.xyz" ] && break
  sleep 1
done
sleep 1
kill -TERM $pid
wait $pid
[ $? = 143 ] || fail "SIGTERM: exit code"
says 'stopped by signal 15'
awk -F, 'NR > 1 && !($1 == NR - 2 && $2 > 0) { bad = 1 } END { exit bad || NR < 2 }' "$dir/stopped" ||
  fail "rows of a stopped run: $(head -3 "$dir/stopped")"

# What cannot work says why.
expect 5 $run --max-iterations 8 --algorithm original --root lanczos --root-tolerance 0.4
says 'residual of [0-9.e-]+ in 8 iterations, not 1e-06'
[ -s "$dir/out" ] && fail "a failed run prints rows"
expect 5 $run --max-iterations 2 --root chebyshev
says 'order 2 has an error of'
for m in 0 65 x 2.5; do
  expect 2 $run --rhs "$m"
  says '--rhs'
done
expect 2 stokes
says '-i FILE'
expect 3 stokes -i "$dir/none.xyz"
expect 3 $run -o "$dir/none/rows"
expect 3 $run --trajectory "$dir/none/walk.xyz"
expect 3 gspmv --matrix "$dir/m.mtx" -o "$dir/none/rows"
ls "$dir" | grep -q tmp && fail "a temporary file is left: $(ls "$dir")"
expect 2 $run --method cholesky
for root in pairs lanczos cholesky; do
  expect 2 $run --guess series --root $root
  says "^minimd: error: .*--guess series.*\`chebyshev\`, not \`$root\`"
done
expect 2 $run --root cheb
says '^minimd: error: .*--root.*pairs'
expect 0 pack --particles 2001 --occupancy 0.1 --sweeps 0 -o "$dir/many.xyz" --quiet
expect 2 stokes -i "$dir/many.xyz" --steps 1 --root cholesky
says '^minimd: error: .*at most 2000 spheres, not 2001'
expect 2 $run --algorithm original --gap-cut 30
says 'too short'
expect 2 $run --gap-min 0.9
says 'smallest gap'
awk 'NR == 9 { $2 = "nan" } { print }' "$dir/a.xyz" >"$dir/nan.xyz"
expect 2 stokes -i "$dir/nan.xyz"
says 'nan.xyz:9'
awk 'NR == 3 { first = $0 } NR == 9 { $0 = first } { print }' "$dir/a.xyz" >"$dir/overlap.xyz"
expect 2 stokes -i "$dir/overlap.xyz"
says 'spheres [0-9]+ and [0-9]+ overlap'
head -100 "$dir/a.xyz" >"$dir/cut.xyz"
expect 2 stokes -i "$dir/cut.xyz"
says 'cut.xyz:101'
if "$minimd" info --format csv | grep -q '^gpu,"none'; then expect 4 $run --backend gpu; fi

# A program that waits for its input has no thread but itself, whatever libraries would like.
mkfifo "$dir/slow"
env -u OPENBLAS_NUM_THREADS "$minimd" stokes -i /dev/stdin --backend cpu <"$dir/slow" >/dev/null 2>&1 &
exec 3>"$dir/slow"
waits_for_input()
{
  [ "$(readlink "/proc/$1/exe")" = "$(readlink -f "$minimd")" ] && grep -q '^State:.*S' "/proc/$1/status"
}
awaits waits_for_input $!
[ "$(awk '/^Threads/ { print $2 }' /proc/$!/status)" = 1 ] || fail "threads before there is work"
exec 3>&-
wait

for command in pack gspmv stokes; do
  expect 0 $command --help
  prints "usage: minimd $command"
done

# Several noises on one matrix: a row for each replica, diffusion beside it, nothing to go on from.
expect 0 stokes -i "$dir/a.xyz" --replicas 3 --steps 2 --preconditioner jacobi --format csv
prints '^replica,step,iterations_first,iterations_second,guess_error,time_chebyshev,time_guess,time_first,time_second$'
awk -F, 'NR > 1 && ($1 != (NR - 2) % 3 || $2 != int((NR - 2) / 3) || ($4 > 0) != ($1 == 0) || $3 < 2) { bad = 1 }
  END { exit bad || NR != 7 }' "$dir/out" || fail "replicas: $(cat "$dir/out")"
says '^short-time diffusion of 3 replicas: D_s/D_0 = 0[.][1-9][0-9]* [+]- 0[.]0[0-9]*$'
for other in '--trajectory t' '--checkpoint c' '--rhs 4' '--algorithm mrhs' '--root lanczos' '--hydrodynamics rpy'; do
  expect 2 stokes -i "$dir/a.xyz" --replicas 2 $other
  says 'replicas'
done
expect 2 stokes -i "$dir/a.xyz" --replicas 65

finish
