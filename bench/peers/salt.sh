#!/bin/sh
# bench/peers/salt.sh BUILD [STAGE...] - whole time steps of a molten salt at equal force error, beside LAMMPS and GROMACS, on two
# threads of a CPU.
#
# The salt is that of inputs/in.nacl, 32,768 ions, molten by MELT (500) steps; its LJ forces end at their cutoff unshifted, as all
# three programs can compute that.  In GROMACS one sigma, epsilon, mass and unit of time are 1 nm, 1 kJ/mol, 1 u and 1 ps.
# Positions are multiples of 2^-12, exact in every precision, so that all programs see the same pairs.
#
# Stages, all of them unless some are named (then WORK names a folder to keep between calls):
#
#   melt    positions and velocities; the exact forces: minimd's in double precision, order 10, cutoff 6.  LAMMPS' Ewald sum has
#           to agree to a hundredth of TARGET
#   meshes  for each program, cutoff and order: alpha as minimd chooses it for a force error of TARGET (1e-3), and the coarsest
#           mesh whose measured error, root mean square over the ions, is below TARGET
#   times   ms a step of each of those; what takes a program least processor time is raced
#   race    REPEATS (7) rounds: all programs take STEPS (100) steps in turn; called again it adds rounds
#   rows    RESULTS/charges-peers-cpu.csv: ms a step, processor time of a step, and their ratios to minimd's of the same round;
#           RESULTS/charges-peers-search-cpu.csv: what was tried
#
# minimd and LAMMPS check at every step whether lists must be built, with their skin of .3; GROMACS builds them every 10 steps,
# with the buffer that it chooses.  LAMMPS has two processes.  A peer that is not there (Debian's packages lammps and gromacs)
# has no rows, which is said.
set -eu
minimd=$1/minimd
shift
results=${RESULTS:-docs/results}
target=${TARGET:-1e-3} cells=${CELLS:-16} steps=${STEPS:-100} repeats=${REPEATS:-7}
cutoffs=${CUTOFFS:-3.5 4 4.5 5}
# shellcheck disable=SC2034 # for rows.sh, which gives commit and machine
backend=cpu commit='' machine=''
# shellcheck source=/dev/null
. bench/rows.sh
work=${WORK:-$(mktemp -d)}
[ -n "${WORK:-}" ] || trap 'rm -rf "$work"' EXIT
mkdir -p "$work" "$results"
export GMX_MAXBACKUP=-1
root=
[ "$(id -u)" = 0 ] && root=--allow-run-as-root
DT=9.5367431640625e-07 # 2^-20: a step from rest leaves positions as they are and makes velocities of forces

say() { echo "peers: $*" >&2; }
fail() { say "$1 failed:"; tail -5 "$2" >&2; exit 1; }
quietly() { "$@" >"$work/said" 2>&1 || fail "$1" "$work/said"; }
have() { command -v "$1" >/dev/null 2>&1 || { say "$1 is not installed (Debian's package $2): no rows of it"; false; }; }
processor_of() { (quietly "$@" && times) | awk -F'[ms ]' 'NR == 2 { print $1 * 60 + $2 + $4 * 60 + $5 }'; } # COMMAND... : seconds

# --- the salt: molten.xyz for minimd, salt.data for LAMMPS, conf.gro and topol.top for GROMACS ---
make_salt()
{
  quietly "$minimd" -i inputs/in.nacl --backend cpu --threads 2 --cells "$cells" --steps "${MELT:-500}" \
    --set 'lj.shift="none"' --dump "$work/melt.xyz"
  awk 'function exact(x) { return int(x * 4096 + .5) / 4096 }
    NR == 1 { n = $1 }
    NR == n + 3 { print }
    NR == n + 4 { split($1, a, "\""); edge = exact(a[2])
      printf "Lattice=\"%.12f 0 0 0 %.12f 0 0 0 %.12f\" ", edge, edge, edge
      print "Properties=species:S:1:pos:R:3:velo:R:3:id:I:1:charge:R:1 pbc=\"T T T\"" }
    NR > n + 4 { for (i = 2; i <= 4; i++) { $i = exact($i); if ($i >= edge) $i -= edge }
      printf "%s %.12f %.12f %.12f %.4f %.4f %.4f %d %s\n", $1, $2, $3, $4, $5, $6, $7, $8, $9 }' \
    "$work/melt.xyz" >"$work/molten.xyz"
  cat >"$work/in.salt" <<IN
species: ( { name = "Na"; charge = 3.0; }, { name = "Cl"; charge = -3.0; } );
system: { read = "molten.xyz"; };
lj: { cutoff = 2.5; };
coulomb: { method = "pme"; };
neighbor: { every = "check"; };
run: { dt = 0.001; thermo = 100; };
IN
  quietly "$minimd" convert -i "$work/in.salt" --to data -o "$work/salt.data"
}

make_topology() # of GROMACS; ions by species, their ids in gmx.ids
{
  tail -n +3 "$work/molten.xyz" | sort -s -k1,1r >"$work/sorted"
  awk '{ print $8 }' "$work/sorted" >"$work/gmx.ids"
  { echo salt && head -1 "$work/molten.xyz" &&
    awk '{ i = NR % 100000; printf "%5d%-5s%5s%5d%14.8f%14.8f%14.8f%14.9f%14.9f%14.9f\n",
      i, $1, $1, i, $2, $3, $4, $5, $6, $7 }' "$work/sorted" &&
    awk -F'[" ]' 'NR == 2 { print $2, $2, $2 }' "$work/molten.xyz"; } >"$work/conf.gro"
  awk 'function ion(name, number, q) {
      molecule = molecule "[ moleculetype ]\n" name " 0\n[ atoms ]\n1 " name " 1 " name " " name " 1 " q " 1.0\n"
      return name " " number " 1.0 0.0 A 4.0 4.0\n" }
    { n[$1]++; charge = $9 < 0 ? -$9 : $9 }
    END { q = sprintf("%.12f", charge / sqrt(138.935457644)) # charges in sqrt(kJ/mol nm)
      types = ion("Na", 11, q) ion("Cl", 17, "-" q)
      printf "[ defaults ]\n1 1 no 1 1\n[ atomtypes ]\n%s%s[ system ]\nsalt\n[ molecules ]\nNa %d\nCl %d\n", types,
        molecule, n["Na"], n["Cl"] }' "$work/sorted" >"$work/topol.top"
}

# --- runs: PROGRAM CUTOFF ALPHA ORDER MESH, where PROGRAM is minimd-PRECISION, lammps-ik, lammps-ad or gromacs ---
minimd_run() # PRECISION CUTOFF ALPHA ORDER MESH ARGS...
{
  precision=$1 pme="--set coulomb.cutoff=$2 --set coulomb.alpha=$3 --set coulomb.order=$4 --set coulomb.mesh=$5"
  shift 5
  # shellcheck disable=SC2086 # several words
  "$minimd" -i "$work/in.salt" --backend cpu --threads 2 --precision "$precision" $pme --quiet --format json \
    -o "$work/run.json" "$@"
}
lammps_run() # STYLE CUTOFF ALPHA ORDER MESH STEPS
{
  kspace="kspace_style pppm 1e-3
kspace_modify gewald $3 order $4 mesh $5 $5 $5 diff $1"
  [ "$1" != ewald ] || kspace='kspace_style ewald 1e-6'
  dump=
  [ "$6" != 0 ] || dump="write_dump all custom $work/forces id fx fy fz modify sort id format float %.9g"
  cat >"$work/in.lammps" <<IN
units lj
atom_style charge
read_data $work/salt.data
pair_style lj/cut/coul/long 2.5 $2
pair_coeff * * 1 1
$kspace
neighbor 0.3 bin
neigh_modify delay 0 every 1 check yes
fix 1 all nve
timestep 0.001
thermo 100
run $6
$dump
IN
  OMP_NUM_THREADS=1 mpirun $root --oversubscribe --bind-to none -n 2 lmp -sf opt -in "$work/in.lammps" -log "$work/lmp.log"
}
gromacs_make() # CUTOFF ALPHA ORDER MESH STEPS
{
  forces=0
  [ "$5" != 0 ] || forces=1
  cat >"$work/grompp.mdp" <<IN
integrator = md
dt = 0.001
nsteps = $5
coulombtype = PME
rcoulomb = $1
ewald-rtol = $(rtol "$1" "$2")
pme-order = $3
fourier-nx = $4
fourier-ny = $4
fourier-nz = $4
rvdw = 2.5
vdw-modifier = None
comm-mode = None
continuation = yes
nstcalcenergy = 100
nstenergy = 100
nstfout = $forces
IN
  (cd "$work" && gmx grompp -f grompp.mdp -c conf.gro -p topol.top -o salt.tpr -po out.mdp -maxwarn 9) \
    >"$work/grompp.said" 2>&1 || fail 'gmx grompp' "$work/grompp.said"
}
gromacs_run() { (cd "$work" && gmx mdrun -deffnm salt -ntmpi 1 -ntomp 2 -pin off -notunepme -noconfout "$@"); } # ARGS...
rtol() # CUTOFF ALPHA : erfc(alpha cutoff), by its continued fraction
{
  awk -v x="$1" -v a="$2" 'BEGIN { x *= a; f = x; for (k = 60; k; k--) f = x + k / 2 / f
    printf "%.9g", exp(-x * x) / (f * 1.7724538509055160) }'
}

# run_of PROGRAM CUTOFF ALPHA ORDER MESH STEPS : seconds of the steps in $seconds, of processors in $processor.  What GROMACS
# needs of processors before its steps is measured and taken off; the others say what their steps took.
run_of()
{
  rm -f "$work/run.json" "$work/lmp.log" "$work/salt.log"
  case $1 in
    minimd-*)
      quietly minimd_run "${1#*-}" "$2" "$3" "$4" "$5" --steps "$6"
      seconds=$(sed -n 's/^    "total": \([^,]*\),*$/\1/p' "$work/run.json")
      processor=$(sed -n 's/^    "ran_s": \([^,]*\),*$/\1/p' "$work/run.json") ;;
    lammps-*)
      quietly lammps_run "${1#*-}" "$2" "$3" "$4" "$5" "$6"
      seconds=$(awk '/^Loop time/ { print $4 }' "$work/lmp.log")
      processor=$(awk -v s="$seconds" '/CPU use with/ { print s * $1 / 100 * $5 * $9 }' "$work/lmp.log") ;;
    gromacs)
      gromacs_make "$2" "$3" "$4" "$5" "$6"
      before=$(processor_of gromacs_run -nsteps 0)
      processor=$(processor_of gromacs_run | awk -v b="$before" '{ print $1 - b }')
      seconds=$(awk '$1 == "Time:" { print $3 }' "$work/salt.log") ;;
  esac
}
by_step() { awk -v s="$1" -v n="$2" 'BEGIN { printf "%.4g", 1e3 * s / n }'; } # SECONDS STEPS
forces_of() # PROGRAM CUTOFF ALPHA ORDER MESH : $work/forces, lines of id and force
{
  case $1 in
    minimd-*)
      rm -f "$work/rest.xyz"
      quietly minimd_run "${1#*-}" "$2" "$3" "$4" "$5" --steps 1 --dt $DT --dump "$work/rest.xyz" \
        --set system.keep_velocities=false --set system.temperature=0
      awk -v dt=$DT 'NR == 1 { n = $1 } NR > n + 4 { printf "%d %.9g %.9g %.9g\n", $8, $5 / dt, $6 / dt, $7 / dt }' \
        "$work/rest.xyz" >"$work/forces" ;;
    lammps-*)
      quietly lammps_run "${1#*-}" "$2" "$3" "$4" "$5" 0
      sed -i 1,9d "$work/forces" ;;
    gromacs)
      gromacs_make "$2" "$3" "$4" "$5" 0
      quietly gromacs_run
      (cd "$work" && echo 0 | gmx traj -f salt.trr -s salt.tpr -of forces.xvg -fp -xvg none) >"$work/said" 2>&1 ||
        fail 'gmx traj' "$work/said"
      tr -s ' \t' '\n' <"$work/forces.xvg" | sed '/^$/d' | tail -n +2 | paste -d' ' - - - |
        paste -d' ' "$work/gmx.ids" - >"$work/forces" ;;
  esac
}
difference() # of $work/forces from the exact ones, root mean square over the ions
{
  awk 'NR == FNR { x[$1] = $2; y[$1] = $3; z[$1] = $4; next }
    { e += ($2 - x[$1])^2 + ($3 - y[$1])^2 + ($4 - z[$1])^2 }
    END { printf "%.4g", sqrt(e / FNR) }' "$work/exact" "$work/forces"
}
below() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a < b) }'; }

# --- stages ---
melt()
{
  make_salt
  make_topology
  forces_of minimd-double 6 .75 10 $((cells * 10))
  cp "$work/forces" "$work/exact"
  have lmp lammps || return 0
  forces_of lammps-ewald 5 0 0 0
  error=$(difference)
  say "LAMMPS' Ewald sum to 1e-6 differs from the exact forces by $error"
  below "$error" "$(awk -v t="$target" 'BEGIN { print t / 100 }')" || { say 'which is too much'; exit 1; }
}

orders_of() # PROGRAM : those that it has and that are of use at such errors
{
  case $1 in
    minimd-*) echo 5 6 7 8 ;;
    lammps-*) echo 5 6 7 ;;
    gromacs) echo 5 6 7 8 ;;
  esac
}
next_mesh() # PROGRAM MESH 1|-1 : the next of 2^a 3^b 5^c and, but for LAMMPS, 7
{
  awk -v n="$2" -v step="$3" -v seven="${1##lammps*}" 'BEGIN {
    do { n += 2 * step; m = n
      while (m % 2 == 0) m /= 2
      while (m % 3 == 0) m /= 3
      while (m % 5 == 0) m /= 5
      if (seven != "" && m % 7 == 0) m /= 7
    } while (m > 1)
    print n }'
}
passes() # PROGRAM CUTOFF ALPHA ORDER MESH : is the error, $error, below the target?
{
  forces_of "$@"
  error=$(difference)
  below "$error" "$target"
}
coarsest() # PROGRAM CUTOFF ORDER : a line of settings and error
{
  quietly minimd_run double "$2" 0 "$3" 0 --steps 0 --set coulomb.tolerance="$target"
  alpha=$(sed -n 's/^    "alpha": \([^,]*\),$/\1/p' "$work/run.json")
  mesh=$(sed -n '/^    "mesh": \[/{n;s/[ ,]//gp;q;}' "$work/run.json")
  mesh=$(next_mesh "$1" $((mesh + 2)) -1)
  until passes "$1" "$2" "$alpha" "$3" "$mesh"; do
    mesh=$(next_mesh "$1" "$mesh" 1)
    [ "$mesh" -lt $((cells * 10)) ] || { say "$1, cutoff $2, order $3: no mesh is fine enough"; return 0; }
  done
  found=$mesh,$error
  while mesh=$(next_mesh "$1" "$mesh" -1); passes "$1" "$2" "$alpha" "$3" "$mesh"; do found=$mesh,$error; done
  echo "$1,$2,$alpha,$3,$found" | tee -a "$work/meshes"
}
meshes()
{
  for program in $programs; do
    for cutoff in $cutoffs; do
      for order in $(orders_of "$program"); do coarsest "$program" "$cutoff" "$order"; done
    done
  done
}

times_of_all() # 20 steps of each
{
  while IFS=, read -r program cutoff alpha order mesh error; do
    case " $programs " in *" $program "*) ;; *) continue ;; esac
    run_of "$program" "$cutoff" "$alpha" "$order" "$mesh" 20 </dev/null
    echo "$program,$cutoff,$alpha,$order,$mesh,$error,$(by_step "$seconds" 20),$(by_step "$processor" 20)" | tee -a "$work/times"
  done <"$work/meshes"
}
in_turn() { if [ $(($1 % 2)) = 1 ]; then cat "$work/racers"; else tac "$work/racers"; fi; }
race()
{
  # The cheapest of each program; of LAMMPS one, by ik or ad.
  sort -t, -k8,8g "$work/times" | awk -F, '{ name = $1; sub(/^lammps.*/, "lammps", name) } !seen[name]++' |
    sort >"$work/racers"
  for round in $(seq "$repeats"); do
    in_turn "$round" | while IFS=, read -r program cutoff alpha order mesh error _; do
      run_of "$program" "$cutoff" "$alpha" "$order" "$mesh" "$steps" </dev/null
      echo "$round.$$,$program,$(by_step "$seconds" "$steps"),$(by_step "$processor" "$steps")" | tee -a "$work/rounds"
    done
  done
}

version_of() # PROGRAM
{
  case $1 in
    minimd-*) "$minimd" --version | awk '{ print $2 }' ;;
    lammps-*) lmp -h | sed -n 's/^Large-scale.*Simulator - \([0-9A-Za-z ]*\).*/\1/p' | tr -d ' ' ;;
    gromacs) gmx --version 2>/dev/null | awk '/^GROMACS version/ { print $3 }' ;;
  esac
}
rows_of_race()
{
  force=$(awk '{ f += $2^2 + $3^2 + $4^2 } END { print sqrt(f / NR) }' "$work/exact")
  out=$results/charges-peers-cpu.csv
  { printf 'date,commit,machine,ions,threads,program,version,cutoff,alpha,mesh,order,error,relative_error,rounds,step_ms,'
    echo 'step_ms_least,step_ms_greatest,processor_ms,beside,ratio,ratio_least,ratio_greatest,processor_ratio'; } >"$out.part"
  while IFS=, read -r program cutoff alpha order mesh error _; do
    head=$(date -u +%F),$commit,$machine,$(head -1 "$work/molten.xyz"),2,$program,$(version_of "$program")
    for beside in minimd-single minimd-mixed minimd-double; do
      case $program in "$beside" | lammps* | gromacs) ;; *) continue ;; esac
      awk -F, -v program="$program" -v beside="$beside" -v head="$head,$cutoff,$alpha,$mesh,$order" \
        -v error="$error" -v force="$force" '
        function median(a, n,   i, j, t) {
          for (i = 2; i <= n; i++) for (j = i; j > 1 && a[j - 1] > a[j]; j--) { t = a[j]; a[j] = a[j - 1]; a[j - 1] = t }
          return (a[int((n + 1) / 2)] + a[int(n / 2) + 1]) / 2
        }
        $2 == program { ms[++n] = $3; cpu[n] = $4; at[n] = $1 }
        $2 == beside { other[$1] = $3; other_cpu[$1] = $4 }
        END {
          for (i = 1; i <= n; i++) { ratio[i] = ms[i] / other[at[i]]; ratio_cpu[i] = cpu[i] / other_cpu[at[i]] }
          middle = median(ms, n); r = median(ratio, n)
          printf "%s,%s,%.3g,%d,%.4g,%.4g,%.4g,%.4g,", head, error, error / force, n, middle, ms[1], ms[n], median(cpu, n)
          printf "%s,%.3f,%.3f,%.3f,%.3f\n", beside, r, ratio[1], ratio[n], median(ratio_cpu, n)
        }' "$work/rounds"
    done
  done <"$work/racers" | tee -a "$out.part"
  mv "$out.part" "$out"
  { echo 'date,commit,machine,program,cutoff,alpha,order,mesh,error,step_ms,processor_ms' &&
    sed "s/^/$(date -u +%F),$commit,$machine,/" "$work/times"; } >"$results/charges-peers-search-cpu.csv"
}

programs=${PROGRAMS:-minimd-single minimd-mixed minimd-double}
if [ -z "${PROGRAMS:-}" ]; then
  ! have lmp lammps || programs="$programs lammps-ik lammps-ad"
  ! have gmx gromacs || programs="$programs gromacs"
fi
[ $# -gt 0 ] || set -- melt meshes times race rows
for stage; do
  case $stage in
    melt) melt ;;
    meshes) meshes ;;
    times) times_of_all ;;
    race) race ;;
    rows) rows_of_race ;;
    *)
      say "no stage $stage"
      exit 2
      ;;
  esac
done
