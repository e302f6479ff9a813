#!/bin/sh
# bench/study_tune.sh BUILD cpu|gpu - does `minimd tune` find the fastest settings?  A melt and a
# salt, tuned by search and by trying every combination; then both winners run in turn.
#
#   docs/results/tune-BACKEND.csv   a row a system: points of the space, runs, times of both winners,
#                                   median of their ratio (searched / exhaustive) over the pairs with
#                                   the 95 % interval between order statistics
#   docs/results/tune_NAME.csv      CPU: every run of the exhaustive search, which check_tune replays
#
# MINUTES bounds the search of each, LONG the exhaustive one, PAIRS the pairs of runs (6 at least);
# SYSTEMS="melt": one of them, whose row takes the place of the old one.  AGAIN=1: no search, only pairs
# of the winners in the table anew, where the machine's noise wants more of them.
set -eu
build=$1 backend=$2
minimd=$build/minimd
minutes=${MINUTES:-1} long=${LONG:-8} pairs=${PAIRS:-15}
here=$(cd "$(dirname "$0")" && pwd)
results=${RESULTS:-$here/../docs/results}
case $backend in
  cpu)
    place='--backend cpu --threads 1'
    melt='-i inputs/in.lj --rebuild check --cells 6' salt='-i inputs/in.nacl --cells 4'
    ;;
  gpu)
    place='--backend gpu'
    melt='-i inputs/in.lj --rebuild check --cells 32' salt='-i inputs/in.nacl --cells 24'
    ;;
  *) echo "unknown backend '$backend'" >&2 && exit 2 ;;
esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$here/rows.sh"
# value NAME FILE : the first number or text of this name in a JSON file.
value() { sed -n "s/^ *\"$1\": \"\{0,1\}\([^\",]*\)\"\{0,1\},*\$/\1/p" "$2" | head -1; }

# options FILE : the fastest point of a tuning as options of a run.
options()
{
  sed -n '/"fastest"/,/}/s/^ *"\([a-z-]*\)": "\(.*\)",*$/\1 \2/p' "$1" | while read -r name value; do
    if [ "$name" = pme ]; then
      echo "$value" | awk -F: '{ gsub("x", ",", $4)
        printf "--set coulomb.order=%s --set coulomb.cutoff=%s --set coulomb.alpha=%s --set coulomb.mesh=%s ", $1, $2, $3, $4 }'
    else
      printf -- '--%s %s ' "$name" "$value"
    fi
  done
}

# ns OPTIONS... : of an atom and step; of the one thread of a CPU its processor time, so that other programs count little.
ns()
{
  "$minimd" "$@" --rebuild check --format json --quiet --thermo 0 -o "$work/run.json"
  case $backend in
    cpu) value ran_s "$work/run.json" | awk -v n="$atoms" -v steps="$steps" '{ print 1e9 * $1 / (n * steps) }' ;;
    gpu) value ns_per_atom_step "$work/run.json" ;;
  esac
}

# keep : the row of $name in the place of the old one.
keep()
{
  table=$results/tune-$backend.csv
  [ ! -e "$table" ] || awk -F, -v s="$name" 'NR > 1 && $4 != s' "$table" >>"$work/row"
  {
    echo date,commit,machine,system,atoms,points,runs_exhaustive,runs_search,ns_exhaustive,ns_search,ratio,ratio_low,ratio_high,pairs,exhaustive,search
    sort -t, -k4,4 "$work/row"
  } >"$work/table"
  cp "$work/table" "$table"
}

# lowest N : the order statistic of N pairs below which their median lies with a probability of 2.5 % at most
lowest()
{
  awk -v n="$1" 'BEGIN { for (p = sum = 0.5 ^ n; sum <= 0.025; sum += p) p *= (n - k) / ++k; print k }'
}

# search NAME OVER OPTIONS : both winners in $all and $found, what is known of the searches in $tried
search()
{
  # shellcheck disable=SC2086 # words
  "$minimd" tune $3 $place --over "$2" --for "$long" --exhaustive --trials "$work/$1.csv" \
    --format json --quiet >"$work/all.json"
  # shellcheck disable=SC2086
  "$minimd" tune $3 $place --over "$2" --for "$minutes" --format json --quiet >"$work/found.json"
  all=$(options "$work/all.json") found=$(options "$work/found.json")
  atoms=$(value atoms "$work/all.json") once=$(value ns_per_atom_step "$work/all.json")
  points=$(awk -F, 'NR > 2 { $10 = $11 = ""; seen[$0] } END { for (p in seen) n++; print n }' "$work/$1.csv")
  tried=$points,$(value runs "$work/all.json"),$(value runs "$work/found.json")
  [ "$backend" = gpu ] || cp "$work/$1.csv" "$results/tune_$1.csv"
}

# recall NAME : the same from the table.
recall()
{
  row=$(awk -F, -v s="$1" '$4 == s' "$results/tune-$backend.csv")
  [ -n "$row" ] || { echo "no row of $1 in tune-$backend.csv" >&2; exit 2; }
  all=$(echo "$row" | cut -d'"' -f2) found=$(echo "$row" | cut -d'"' -f4)
  atoms=$(echo "$row" | cut -d, -f5) tried=$(echo "$row" | cut -d, -f6-8) once=$(echo "$row" | cut -d, -f9)
}

# study NAME OVER OPTIONS
study()
{
  name=$1
  if [ -n "${AGAIN:-}" ]; then recall "$1"; else search "$@"; fi
  # As many steps as take half a second.
  steps=$(echo "$once" | awk -v n="$atoms" '{ print int(5e8 / ($1 * n)) + 20 }')
  for pair in $(seq "$pairs"); do
    # shellcheck disable=SC2086
    case $((pair % 2)) in
      0) a=$(ns $3 $place $found --steps "$steps") b=$(ns $3 $place $all --steps "$steps") ;;
      *) b=$(ns $3 $place $all --steps "$steps") a=$(ns $3 $place $found --steps "$steps") ;;
    esac
    echo "$a $b $(awk "BEGIN { print $a / $b }")"
  done >"$work/pairs"
  middle() { sort -g -k"$1" "$work/pairs" | awk -v c="$1" -v k="$2" 'NR == k { print $c }'; }
  half=$(((pairs + 1) / 2)) low=$(lowest "$pairs")
  printf '%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,"%s","%s"\n' "$(date -u +%F)" "$commit" \
    "$machine" "$name" "$atoms" "$tried" "$(middle 2 $half)" "$(middle 1 $half)" "$(middle 3 $half)" "$(middle 3 $low)" "$(middle 3 $((pairs + 1 - low)))" "$pairs" "$all" "$found" >"$work/row"
  keep
}

last=$([ "$backend" = gpu ] && echo block-size || echo sort-every)
for system in ${SYSTEMS:-melt salt}; do
  case $system in
    melt) study melt "order,list,bin-size,skin,$last" "$melt" ;;
    salt) study salt order,list,skin,pme "$salt" ;;
    *) echo "no such system: $system" >&2 && exit 2 ;;
  esac
done
