#!/bin/sh
# bench/ranks.sh BUILD [RESULTS] - one system on several ranks: as many processors as ranks or as threads of one rank, and
# GPUs where there are some, all with as many atoms (strong) or as many a GPU (weak).  Runs of a case take turns, so that a busy
# machine slows all alike; rows, with medians, go to engine-ranks.csv.  REPEATS, CELLS and STEPS name others than 5, 32 and 100,
# GPUS fewer GPUs.
#
# One rank on a GPU is measured on all of them at once, one run each: so they draw as much power and are as warm as where they work
# together.  The rate is that of the slowest, since ranks wait for each other; least and most are of all.
#
# Rates are of whole steps, with rebuilds; `steady` is of what every step has: phases integrate, force and exchange.  Buffers of
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
  for key in atoms steps integrate force exchange; do
    sed -n '/^  "timing": {/,/^  "ranks"/p' "$1" | value "$key" -
  done | paste -s -d ' ' | awk '{ printf "%.17g\n", $1 * $2 / ($3 + $4 + $5) }'
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

echo date,commit,machine,case,backend,precision,list,ranks,threads,atoms,steps,repeats,m_atom_steps_per_s,least,most,steady,carrier,cut,imbalance \
  >"$work/rows"
compare processors --backend cpu --cells "$cells" --steps "$steps" <<END
1 2
2 1
END
# Numbers of GPUs, and how often the box repeats along each axis.
gpus=${GPUS:-$(nvidia-smi -L 2>/dev/null | grep -c '^GPU')} || gpus=0
counted() { printf '%s\n' '1 1 1 1' '2 1 1 2' '4 1 2 2' '8 2 2 2' | awk -v most="$gpus" '$1 <= most'; }
for size in 32 64 128; do
  [ "$gpus" -gt 0 ] || break
  gpu_steps=$((536870912 / (size * size * size)))
  [ $gpu_steps -ge 1000 ] || gpu_steps=1000
  counted | awk '{ print $1, 1 }' |
    compare "strong $size" --backend gpu --precision single --cells $size --steps $gpu_steps
  for carrier in nccl mpi; do
    counted | awk -v by=$carrier '$1 == 2 { print $1, 1, "--carrier", by }' |
      compare "strong $size by $carrier" --backend gpu --precision single --cells $size --steps $gpu_steps
  done
  counted | awk -v s=$size '{ print $1, 1, "--cells", $2 * s "," $3 * s "," $4 * s }' |
    compare "weak $size" --backend gpu --precision single --steps $gpu_steps
done
mv "$work/rows" "$results/engine-ranks.csv"
cat "$results/engine-ranks.csv"
