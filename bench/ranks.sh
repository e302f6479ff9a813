#!/bin/sh
# bench/ranks.sh BUILD [RESULTS] - one system on several ranks: as many processors as ranks or as threads of one rank, and
# GPUs where there are some, all with as many atoms (strong) or as many a GPU (weak); on GPUs a salt, too.  Runs of a case take turns,
# so that a busy machine slows all alike; rows, with medians, go to engine-ranks.csv and charges-ranks.csv.  REPEATS, CELLS and STEPS
# name others than 5, 32 and 100, GPUS fewer GPUs, PARTS="melts" or "charges" one file.
#
# One rank on a GPU is measured on all of them at once, one run each: so they draw as much power and are as warm as where they work
# together.  The rate is that of the slowest, since ranks wait for each other; least and most are of all.
#
# Rates are of whole steps, with rebuilds; `steady` is of what every step has: phases integrate, force, exchange and coulomb.  Buffers of
# several ranks grow in the first rebuilds, so a GPU makes as many steps as are 2^31 atom-steps of a strong case, at least 1000.
set -eu
build=$1
results=${2:-docs/results}
minimd=$build/minimd
repeats=${REPEATS:-5} cells=${CELLS:-32} steps=${STEPS:-100}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. bench/mpi.sh
commit=$("$minimd" --version | sed 's/.*(\(.*\))/\1/')
mkdir -p "$results"

# The number of a key that a report has once, or its word.
value() { sed -n "s/^ *\"$1\": \"\{0,1\}\([^\",]*\).*/\1/p" "$2" | head -n 1; }

# rates REPORT : whole and steady.
rates()
{
  value atom_steps_per_s "$1"
  for key in atoms steps integrate force exchange coulomb; do
    sed -n '/^  "timing": {/,/^  "ranks"/p' "$1" | value "$key" -
  done | paste -s -d ' ' | awk '{ printf "%.17g\n", $1 * $2 / ($3 + $4 + $5 + $6) }'
}

# take CASE RANKS THREADS ARGS... : one run, of a rank on a GPU one on each; the rates of the slowest to files of the case.
take()
{
  place=$work/$1,$2,$3
  ranks=$2
  threads=$3
  shift 3
  copies=1
  case "$ranks $*" in '1 --backend gpu '*) copies=$gpus ;; esac
  for copy in $(seq "$copies"); do
    device=
    [ "$copies" = 1 ] || device="--device $((copy - 1))"
    on_ranks "$ranks" "$minimd" --threads "$threads" --quiet --format json "$@" $device >"$place.json$copy" &
    eval "job$copy=\$!"
  done
  for copy in $(seq "$copies"); do
    eval "wait \$job$copy"
    rates "$place.json$copy" | paste -s -d ' '
  done >"$place.copies"
  mv "$place.json1" "$place.json"
  cut -d ' ' -f 1 "$place.copies" >>"$place.all"
  sort -g "$place.copies" | head -n 1 | cut -d ' ' -f 1 >>"$place.rates"
  cut -d ' ' -f 2 "$place.copies" | sort -g | head -n 1 >>"$place.steady"
}

# Median, least and most of a file of numbers, in millions.
spread()
{
  sort -g "$1" | awk '{ of[NR] = $1 / 1e6 }
    END { printf "%.4g,%.4g,%.4g\n", (of[int((NR + 1) / 2)] + of[int(NR / 2) + 1]) / 2, of[1], of[NR] }'
}

# note CASE RANKS THREADS : the row of a case.
note()
{
  place=$work/$1,$2,$3
  report=$place.json
  machine=$(value cpu "$report")
  [ "$(value backend "$report")" = gpu ] && machine=$(value gpu "$report")
  for key in backend precision list atoms steps carrier cut imbalance; do
    case $key in
      backend | list) found=$(sed -n '/"choice": {/,/}/p' "$report" | sed -n "s/^ *\"$key\": \"\([^\"]*\).*/\1/p" | head -n 1) ;;
      precision) found=$(sed -n '/"device.precision"/,/}/p' "$report" | sed -n 's/^ *"value": "\([^"]*\).*/\1/p' | head -n 1) ;;
      atoms | steps) found=$(sed -n '/"counts": {/,/}/p' "$report" | sed -n "s/^ *\"$key\": \([0-9]*\).*/\1/p") ;;
      *) found=$(sed -n '/"ranks": {/,$p' "$report" | sed -n "s/^ *\"$key\": \"\{0,1\}\([^\",]*\).*/\1/p" | head -n 1) ;;
    esac
    eval "$key=\$found"
  done
  run=$backend,$precision,$list,$2,$3,$atoms,$steps,$repeats
  rates=$(spread "$place.rates" | cut -d , -f 1),$(spread "$place.all" | cut -d , -f 2-),$(spread "$place.steady" | cut -d , -f 1)
  echo "$(date -u +%F),$commit,$machine,$1,$run,$rates,$carrier,$cut,$imbalance" >>"$work/rows"
}

# compare CASE ARGS... : standard input has a line RANKS THREADS [ARGS] for each.
compare()
{
  name=$1
  shift
  cat >"$work/lines"
  for _ in $(seq "$repeats"); do
    while read -r ranks threads more; do take "$name" "$ranks" "$threads" "$@" $more </dev/null; done <"$work/lines"
  done
  while read -r ranks threads more; do note "$name" "$ranks" "$threads"; done <"$work/lines"
}

# Numbers of GPUs, and how often the box repeats along each axis.
gpus=${GPUS:-$(nvidia-smi -L 2>/dev/null | grep -c '^GPU')} || gpus=0
counted() { printf '%s\n' '1 1 1 1' '2 1 1 2' '4 1 2 2' '8 2 2 2' | awk -v most="$gpus" '$1 <= most'; }

# by_message CASE ARGS... : two ranks whose messages go by NCCL, and by MPI.
by_message()
{
  of=$1
  shift
  for carrier in nccl mpi; do
    counted | awk -v by=$carrier '$1 == 2 { print $1, 1, "--carrier", by }' | compare "$of by $carrier" --backend gpu "$@"
  done
}

melts()
{
  compare processors --backend cpu --cells "$cells" --steps "$steps" <<END
1 2
2 1
END
  for size in 32 64 128; do
    [ "$gpus" -gt 0 ] || break
    gpu_steps=$((536870912 / (size * size * size)))
    [ $gpu_steps -ge 1000 ] || gpu_steps=1000
    args="--precision single --steps $gpu_steps"
    counted | awk '{ print $1, 1 }' | compare "strong $size" --backend gpu $args --cells $size
    by_message "strong $size" $args --cells $size
    counted | awk -v s=$size '{ print $1, 1, "--cells", $2 * s "," $3 * s "," $4 * s }' |
      compare "weak $size" --backend gpu $args
  done
}

charges()
{
  for size in '16 1000' '40 100'; do
    [ "$gpus" -gt 0 ] || break
    args="-i inputs/in.nacl --set coulomb.order=8 --set coulomb.cutoff=3.5 --cells ${size% *} --steps ${size#* }"
    for precision in single double; do
      counted | awk '{ print $1, 1 }' | compare "salt ${size% *} $precision" --backend gpu $args --precision $precision
    done
    by_message "salt ${size% *} single" $args --precision single
  done
}

for part in ${PARTS:-melts charges}; do
  case $part in
    melts) file=engine-ranks.csv ;;
    charges) file=charges-ranks.csv ;;
    *) echo "bench/ranks.sh: no part '$part': expected melts, charges" >&2; exit 2 ;;
  esac
  echo date,commit,machine,case,backend,precision,list,ranks,threads,atoms,steps,repeats,m_atom_steps_per_s,least,most,steady,carrier,cut,imbalance \
    >"$work/rows"
  $part
  [ "$(wc -l <"$work/rows")" -gt 1 ] || continue
  mv "$work/rows" "$results/$file"
  cat "$results/$file"
done
