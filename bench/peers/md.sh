#!/bin/sh
# bench/peers/md.sh BUILD - whole time steps beside LAMMPS on the CPU, run in turns.
#
# Writes docs/results/peers-md-cpu.csv; RESULTS names another folder.  CASES="copper" measures these cases only and keeps the
# rows of the others.  Without LAMMPS (Debian's package lammps) there are no rows, which is said.  A pair of runs gives a
# ratio, peer / minimd; the row has the median of REPEATS ratios (5), the least and the greatest, and the median of each
# program's seconds a step.
#
#   melt    131,072 atoms of inputs/in.lj; `lmp -sf opt`, one process, one thread
#   copper  32,000 embedded atoms of inputs/in.eam.lammps, which both programs read; the same
set -eu
build=$1
minimd=$build/minimd
results=${RESULTS:-docs/results}
repeats=${REPEATS:-5}
cases=${CASES:-melt copper}
backend=cpu
. bench/rows.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMP_NUM_THREADS=1

say() { echo "peers: $*" >&2; }
fail() { say "$1 failed:"; tail -5 "$2" >&2; exit 1; }

# Seconds a step.
lammps() # INPUT
{
  lmp -sf opt -in "$1" -log none >"$work/lmp.out" 2>&1 || fail lmp "$work/lmp.out"
  awk '/^Loop time/ { s = $4 / $9 } END { print s }' "$work/lmp.out"
}
ours() # ARGS...
{
  "$minimd" --backend cpu "$@" --quiet >"$work/minimd.out" 2>&1 || fail minimd "$work/minimd.out"
  awk '/^system/ { n = $2 } /^performance/ { for (i = 2; i <= NF; i++) if ($i == "ns") print $(i - 1) * n * 1e-9 }' \
    "$work/minimd.out"
}

# race CASE ATOMS PRECISION LIST 'COMMAND OF PEER' 'COMMAND OF OURS' : one thread each
race()
{
  : >"$work/pairs"
  for k in $(seq "$repeats"); do
    theirs=$(eval "$5") mine=$(eval "$6")
    echo "$theirs $mine" >>"$work/pairs"
  done
  awk -v head="$(date -u +%F),$commit,$machine,$1,$2,1,$3,$4,lammps-opt,$lammps_version,$repeats" '
    function sorted(a, n,   i, j, t) { for (i = 2; i <= n; i++) for (j = i; j > 1 && a[j - 1] > a[j]; j--) {
      t = a[j]; a[j] = a[j - 1]; a[j - 1] = t } }
    function median(a, n) { return n % 2 ? a[(n + 1) / 2] : (a[n / 2] + a[n / 2 + 1]) / 2 }
    { peer[NR] = $1; mine[NR] = $2; ratio[NR] = $1 / $2 }
    END { sorted(peer, NR); sorted(mine, NR); sorted(ratio, NR)
      printf "%s,%.4g,%.4g,%.3f,%.3f,%.3f\n", head, median(mine, NR), median(peer, NR), median(ratio, NR),
        ratio[1], ratio[NR] }' "$work/pairs" | tee -a "$work/rows.csv"
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
    race melt 131072 "$1" "$2" "lammps $work/in.melt" \
      "ours -i $work/in.melt --precision $1 --list $2 --threads 1 --thermo 0"
  done
}

copper()
{
  "$minimd" potential -o "$work/Cu.eam.alloy"
  cp inputs/in.eam.lammps "$work/in.eam"
  for precision in double mixed single; do
    race copper 32000 "$precision" half "(cd $work && lammps in.eam)" \
      "ours -i $work/in.eam --precision $precision --list half --threads 1"
  done
}

command -v lmp >/dev/null 2>&1 || { say "lmp is not installed (Debian's package lammps): no rows" && exit 0; }
file=$results/peers-md-cpu.csv
echo 'date,commit,machine,case,atoms,threads,precision,list,peer,version,repeats,step_s,peer_step_s,ratio,ratio_least,ratio_greatest' |
  tee "$work/rows.csv"
lammps_version=$(lmp -h | sed -n 's/^Large-scale.*Simulator - \([0-9A-Za-z ]*\).*/\1/p' | tr -d ' ')
for name in melt copper; do
  case " $cases " in
  *" $name "*) "$name" ;;
  *) [ ! -e "$file" ] || awk -F, -v name="$name" '$4 == name' "$file" >>"$work/rows.csv" ;;
  esac
done
mkdir -p "$results"
mv "$work/rows.csv" "$file"
