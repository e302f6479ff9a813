#!/bin/sh
# bench/peers/md.sh BUILD - whole time steps beside LAMMPS and GROMACS on the CPU, run in turns.
#
# Writes docs/results/peers-md-cpu.csv; RESULTS names another folder.  A program that is not found (Debian's
# packages lammps and gromacs) is left out, in words.  A pair of runs gives a ratio, peer / minimd; the row has the
# median of REPEATS ratios (5), the least and the greatest, and the median of each program's seconds a step.
#
#   melt    131,072 atoms of inputs/in.lj; `lmp -sf opt`, one process, one thread
#   copper  32,000 embedded atoms of inputs/in.eam.lammps, which both programs read; the same
#   salt    32,768 ions of inputs/in.nacl, melted; two threads of each program.  All at a root mean square force
#           error of at most 1e-3, measured for each program against a finer LAMMPS run (Ewald sums to 1e-6) at the same
#           positions; cutoffs and meshes are the fastest that were tried for each (see the functions).
set -eu
build=$1
minimd=$build/minimd
results=${RESULTS:-docs/results}
repeats=${REPEATS:-5}
backend=cpu
. bench/rows.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
TOLERANCE=1e-3
export OMP_NUM_THREADS=1

say() { echo "peers: $*" >&2; }
have() { command -v "$1" >/dev/null 2>&1 || { say "$1 is not installed (Debian package $2): no rows of it"; false; }; }
fail() { say "$1 failed:"; tail -5 "$2" >&2; exit 1; }

# Seconds a step.
lammps() # PROCESSES INPUT
{
  if [ "$1" = 1 ]; then lmp -sf opt -in "$2" -log none; else
    mpirun --allow-run-as-root --oversubscribe -n "$1" lmp -sf opt -in "$2" -log none
  fi >"$work/lmp.out" 2>&1 || fail lmp "$work/lmp.out"
  awk '/^Loop time/ { s = $4 / $9 } END { print s }' "$work/lmp.out"
}
ours() # ARGS...
{
  "$minimd" --backend cpu "$@" --quiet >"$work/minimd.out" 2>&1 || fail minimd "$work/minimd.out"
  awk '/^system/ { n = $2 } /^performance/ { for (i = 2; i <= NF; i++) if ($i == "ns") print $(i - 1) * n * 1e-9 }' \
    "$work/minimd.out"
}
gromacs() # FOLDER THREADS STEPS
{
  (cd "$1" && OMP_NUM_THREADS=$2 gmx mdrun -s topol.tpr -ntmpi 1 -ntomp "$2" -nsteps "$3" -resethway -notunepme -pin off) \
    >"$work/gmx.out" 2>&1 || fail gmx "$work/gmx.out"
  awk -v steps="$3" '$1 == "Time:" { print $3 / int(steps / 2 + 1) }' "$1/md.log"
}

# race CASE ATOMS THREADS PRECISION LIST PEER VERSION ERROR PEER_ERROR 'COMMAND OF PEER' 'COMMAND OF OURS'
race()
{
  : >"$work/pairs"
  for k in $(seq "$repeats"); do
    theirs=$(eval "${10}") mine=$(eval "${11}")
    echo "$theirs $mine" >>"$work/pairs"
  done
  awk -v head="$(date -u +%F),$commit,$machine,$1,$2,$3,$4,$5,$6,$7,$repeats" -v errors="$8,$9" '
    function sorted(a, n,   i, j, t) { for (i = 2; i <= n; i++) for (j = i; j > 1 && a[j - 1] > a[j]; j--) {
      t = a[j]; a[j] = a[j - 1]; a[j - 1] = t } }
    function median(a, n) { return n % 2 ? a[(n + 1) / 2] : (a[n / 2] + a[n / 2 + 1]) / 2 }
    { peer[NR] = $1; mine[NR] = $2; ratio[NR] = $1 / $2 }
    END { sorted(peer, NR); sorted(mine, NR); sorted(ratio, NR)
      printf "%s,%.4g,%.4g,%.3f,%.3f,%.3f,%s\n", head, median(mine, NR), median(peer, NR), median(ratio, NR),
        ratio[1], ratio[NR], errors }' "$work/pairs" | tee -a "$work/rows.csv"
}

melt()
{
  cat >"$work/in.melt" <<IN
units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 32 0 32 0 32
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify delay 0 every 20 check no
fix 1 all nve
run 100
IN
  for setting in 'double full' 'mixed full' 'single full' 'double half' 'mixed half' 'single half'; do
    set -- $setting
    race melt 131072 1 "$1" "$2" lammps-opt "$lammps_version" '' '' "lammps 1 $work/in.melt" \
      "ours -i $work/in.melt --precision $1 --list $2 --threads 1 --thermo 0"
  done
}

copper()
{
  "$minimd" potential -o "$work/Cu.eam.alloy"
  cp inputs/in.eam.lammps "$work/in.eam"
  for precision in double mixed single; do
    race copper 32000 1 "$precision" half lammps-opt "$lammps_version" '' '' "(cd $work && lammps 1 in.eam)" \
      "ours -i $work/in.eam --precision $precision --list half --threads 1"
  done
}

# Positions of the melted salt, for all: $work/salt.xyz, salt.data.
melt_# The fastest settings of each program within the tolerance.
fastest_ours() # PRECISION: our_cutoff, our_error
{
  best=
  for cutoff in 2.5 3 3.5 4; do
    forces_of_ours $cutoff "$1"
    error=$(error_of "$work/forces")
    seconds=$(salt_ours $cutoff --precision "$1" --steps 20)
    say "minimd $1, cutoff $cutoff: error $error, $seconds s a step"
    if good "$error" && faster "$seconds" "$best"; then best=$seconds our_cutoff=$cutoff our_error=$error; fi
  done
  [ -n "$best" ] || say "minimd: no setting met the error"
}
fastest_lammps() # in.salt, lammps_error
{
  best=
  for cutoff in 2.5 3 3.5 4; do
    for accuracy in 1e-3 5e-4; do
      forces_of_lammps $cutoff pppm $accuracy
      error=$(error_of "$work/forces")
      salt_lammps $cutoff pppm $accuracy 20 >"$work/in.try"
      seconds=$(lammps 2 "$work/in.try")
      say "lammps, cutoff $cutoff, accuracy $accuracy: error $error, $seconds s a step"
      if good "$error" && faster "$seconds" "$best"; then
        best=$seconds lammps_error=$error
        salt_lammps $cutoff pppm $accuracy 60 >"$work/in.salt"
      fi
    done
  done
  [ -n "$best" ] || say "lammps: no setting met the error"
}
fastest_gromacs() # the folder gmx, gromacs_error
{
  best=
  for cutoff in 3 3.5 4; do
    for rtol in 1e-5 3e-6; do
      for spacing in 0.5 0.4 0.35 0.3 0.25 0.2 0.15; do
        forces_of_gromacs $cutoff $rtol $spacing
        error=$(error_of "$work/forces")
        good "$error" || continue
        salt_gromacs "$work/gmx" $cutoff $rtol $spacing 60
        seconds=$(gromacs "$work/gmx" 2 60)
        say "gromacs, cutoff $cutoff, rtol $rtol, spacing $spacing: error $error, $seconds s a step"
        if faster "$seconds" "$best"; then best=$seconds gromacs_error=$error choice="$cutoff $rtol $spacing"; fi
        break
      done
    done
  done
  [ -n "$best" ] || say "gromacs: no setting met the error"
  # shellcheck disable=SC2086 # three words
  [ -z "$best" ] || salt_gromacs "$work/gmx" $choice 200
}

salt()
{
  melt_salt
  forces_of_lammps 5 ewald 1e-6
  mv "$work/forces" "$work/exact"
  fastest_lammps
  lammps_best=$best gromacs_best=
  if have gmx gromacs; then
    gromacs_version=$(gmx --version 2>/dev/null | awk '/^GROMACS version/ { print $3 }')
    fastest_gromacs
    gromacs_best=$best
  fi
  for precision in double single; do
    fastest_ours $precision
    [ -n "$best" ] || continue
    mine="salt_ours $our_cutoff --precision $precision --steps 60"
    [ -z "$lammps_best" ] || race salt "$ions" 2 $precision full lammps-opt-pppm "$lammps_version" "$our_error" \
      "$lammps_error" "lammps 2 $work/in.salt" "$mine"
    [ -z "$gromacs_best" ] || race salt "$ions" 2 $precision full gromacs "$gromacs_version" "$our_error" \
      "$gromacs_error" "gromacs $work/gmx 2 200" "$mine"
  done
}

CELLS=${CELLS:-16}
echo 'date,commit,machine,case,atoms,threads,precision,list,peer,version,repeats,step_s,peer_step_s,ratio,ratio_least,ratio_greatest,error,peer_error' |
  tee "$work/rows.csv"
have lmp lammps || exit 0 # the salt's exact forces are LAMMPS' too
lammps_version=$(lmp -h | sed -n 's/^Large-scale.*Simulator - \([0-9A-Za-z ]*\).*/\1/p' | tr -d ' ')
melt
copper
salt
mkdir -p "$results"
mv "$work/rows.csv" "$results/peers-md-cpu.csv"
