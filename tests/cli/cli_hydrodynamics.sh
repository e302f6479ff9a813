#!/bin/sh
# tests/cli/cli_hydrodynamics.sh MINIMD - `stokes --hydrodynamics rpy` and `full`: rows, restarts, drift under a force, what
# bad input says.
. tests/cli/cli.sh
start() { "$minimd" stokes --quiet --backend "$backend" "$@"; }
"$minimd" pack --particles 120 --occupancy 0.2 --radii ecoli --seed 5 -o "$dir/a.xyz" --quiet >/dev/null || fail pack
run="-i $dir/a.xyz --hydrodynamics rpy --seed 3"

expect 0 $run --lambda 4 --steps 6 --format csv
[ "$(head -1 "$dir/out")" = step,iterations,residual,time_root,time_solve,time_far,time_near ] || fail "header: $(head -1 "$dir/out")"
# A group begins every four steps, and only there is anything computed.
awk -F, 'NR > 1 && ($2 > 0) != ($1 % 4 == 0) { bad = 1 } END { exit bad || NR != 7 }' "$dir/out" ||
  fail "groups: $(cat "$dir/out")"

# A run that goes on from within a group, or from between two, takes the same steps, with any number of threads.
for stop in 4 6; do
  rm -f "$dir"/*.walk
  expect 0 $run --lambda 4 --force 0,0,-0.1 --steps 9 --format csv --trajectory "$dir/whole.walk"
  expect 0 $run --lambda 4 --force 0,0,-0.1 --steps $stop --trajectory "$dir/rest.walk" --checkpoint "$dir/state"
  expect 0 --restart "$dir/state" --steps 9 --threads 3
  same "$dir/whole.walk" "$dir/rest.walk" "a restart at $stop"
done

# Under a force on all of them spheres fall, and do not drift aside: mean displacements along x and z.
expect 0 $run --lambda 8 --force 0,0,-10 --steps 8 --dt 20 --trajectory "$dir/fall.walk" --trajectory-every 8
cat "$dir/a.xyz" "$dir/fall.walk" | awk 'NF == 5 { x[++n] = $2; z[n] = $4 }
  END {
    for (k = 1; k <= n / 2; k++) { aside += x[n / 2 + k] - x[k]; fall += z[n / 2 + k] - z[k] }
    print n, fall / 120, aside / 120
    exit !(n == 240 && fall / 120 < -1 && fall / 120 > -10 && aside * aside < 120 * 120 / 4)
  }' >"$dir/means" || fail "spheres do not fall: $(cat "$dir/means")"

# Errors under such a force add up: the mobility is as exact as where 1e-5 is asked for, without a force as with 1e-3.
for pair in '0,0,-0.1 1e-5' '0,0,0 1e-3'; do
  rm -f "$dir/usual.walk" "$dir/asked.walk"
  expect 0 $run --lambda 2 --force ${pair% *} --steps 2 --trajectory "$dir/usual.walk"
  expect 0 $run --lambda 2 --force ${pair% *} --steps 2 --root-tolerance ${pair#* } --trajectory "$dir/asked.walk"
  same "$dir/usual.walk" "$dir/asked.walk" "the tolerance of a mobility under the force ${pair% *}"
done

# With lubrication: every step solves, to the tolerance; restarts take the same steps.
full="-i $dir/a.xyz --hydrodynamics full --seed 3 --tolerance 1e-5"
expect 0 $full --steps 4 --format csv
[ "$(head -1 "$dir/out")" = step,iterations,residual,time_root,time_solve,time_far,time_near ] || fail "header: $(head -1 "$dir/out")"
awk -F, 'NR > 1 && !($2 >= 4 && $3 > 0 && $3 <= 1e-5) { bad = 1 } END { exit bad || NR != 5 }' "$dir/out" ||
  fail "iterations and residuals: $(cat "$dir/out")"
rm -f "$dir"/*.walk
expect 0 $full --force 0,0,-0.1 --steps 4 --trajectory "$dir/whole.walk"
expect 0 $full --force 0,0,-0.1 --steps 2 --trajectory "$dir/rest.walk" --checkpoint "$dir/state"
expect 0 --restart "$dir/state" --steps 4 --threads 3
same "$dir/whole.walk" "$dir/rest.walk" 'a restart with lubrication'
cmp -s "$dir/whole.walk" "$dir/fall.walk" && fail 'the force is lost'

# What bad input says.
expect 2 $full --lambda 4
says '--lambda goes with --hydrodynamics rpy only'
expect 2 $full --preconditioner jacobi
says '--preconditioner goes with --hydrodynamics lubrication only'
expect 5 $full --max-iterations 2 --tolerance 1e-10
says 'GMRES reached a residual'
expect 2 $run --tolerance 1e-3
says '--tolerance goes with --hydrodynamics lubrication or full only'
expect 2 $run --algorithm mrhs
says '--algorithm goes with --hydrodynamics lubrication only'
expect 2 -i "$dir/a.xyz" --lambda 4
says '--lambda goes with --hydrodynamics rpy only'
expect 2 -i "$dir/a.xyz" --force 0,0,1
says '--force goes with --hydrodynamics rpy or full only'
expect 2 $run --force 0,0
says '--force: expected FX,FY,FZ'
expect 2 $run --force 0,0,nan
says '--force'
expect 2 $run --lambda 65
says '--lambda'
expect 2 -i "$dir/a.xyz" --hydrodynamics rpi
says 'rpy'
finish
