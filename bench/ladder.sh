#!/bin/sh
# bench/ladder.sh BUILD cpu|gpu [PART...] - the same melt climbed rung by rung, each rung one
# command of the program.  What the rungs are and why they gain: docs/ladder.md.
#
#   rows       docs/results/ladder-BACKEND.csv: times, and what a rung moves through which cache
#   page       from it the tables of docs/ladder.md and, with gnuplot, docs/results/ladder.svg
#   commands   only print the commands
#
# Without a PART: rows, page.  SIZES names the sizes, as CELLS:STEPS:REPEATS; RESULTS another folder
# for results, PAGE another page.  Every repeat climbs the whole ladder, and the median counts.
# Runs on the CPU have one thread: the caches are those of one core.
#
# What the force kernel moves is modelled (minimd cachemodel, caches as the last step left them) and
# counted: on a GPU by ncu, on a CPU by perf, there for all phases.  Columns of counters are empty
# where a machine has none.
set -eu
build=$1 backend=$2
shift 2
minimd=$build/minimd
here=$(cd "$(dirname "$0")" && pwd)
. "$here/page.sh"
results=${RESULTS:-docs/results}
page=${PAGE:-docs/ladder.md}
table=$results/ladder-$backend.csv
# 60 cells, not 64: with a power of two the atoms of a lattice in creation order fall into few sets
# of a cache, as 32 cells show.
case $backend in
  cpu) sizes=${SIZES:-10:100:5 32:100:5 60:20:3} place='--backend cpu --threads 1' model=host ;;
  gpu) sizes=${SIZES:-10:100:5 32:200:5 60:200:5} place='--backend gpu' model=h200 ;;
  *) echo "unknown backend '$backend'" >&2 && exit 2 ;;
esac
work=$(mktemp -d)
models= # what computes them beside the counters
trap '[ -z "$models" ] || kill "$models" 2>/dev/null || true; rm -rf "$work"' EXIT

# Half a diagonal of the box, less the cutoff: every atom's list then holds every other atom.
all_pairs_skin()
{
  awk -v cells="$1" 'BEGIN { x = cells * (4 / 0.8442) ^ (1 / 3) * sqrt(3) / 2 - 2.5
    printf "%.1f", int(10 * x + 1) / 10 }'
}

# rungs CELLS : a line NAME:OPTIONS for each.  Lists of all pairs grow with the square of the atoms.
# To sort every 1000000 steps is to shuffle at the start, and to leave atoms there.
rungs()
{
  shuffled='--list full --order random --sort-every 1000000'
  [ "$1" -gt 10 ] ||
    echo "all pairs:--rebuild check --list full --order none --skin $(all_pairs_skin "$1")"
  echo "cells:--rebuild 1 $shuffled"
  echo "list in random order:--rebuild check $shuffled"
  echo 'list in creation order:--rebuild check --list full --order none'
  echo 'list in row order:--rebuild check --list full --order row'
  echo 'list in Morton order:--rebuild check --list full --order morton'
  echo 'list in Hilbert order:--rebuild check --list full --order hilbert'
  echo 'half list:--rebuild check --list half --order hilbert'
  [ "$backend" = cpu ] || echo 'tiles:--rebuild check --list tile --order hilbert'
}

# options CELLS STEPS OPTIONS : all of a rung's command.
options() { echo "-i inputs/in.lj $place --thermo 0 --cells $1 --steps $2 $3"; }
command_of() { echo "build/minimd $(options "$@")"; }

# each FUNCTION : call it with cells, steps, repeats, name and options of every rung of every size.
each()
{
  for size in $sizes; do
    IFS=: read -r cells steps repeats <<END
$size
END
    rungs "$cells" | while IFS=: read -r name options; do
      "$1" "$cells" "$steps" "$repeats" "$name" "$options" </dev/null
    done
  done
}

commands() { echo "$4: $(command_of "$1" "$2" "$5")"; }

# value NAME : the last number of this name in the JSON of a run.
value() { sed -n "s/^ *\"$1\": \([-+.0-9e]*\),*\$/\1/p" "$work/run.json" | tail -1; }

# A rung once, while there are repeats of its size to come.
climb()
{
  [ "$repeat" -le "$3" ] || return 0
  # shellcheck disable=SC2046 # words
  "$minimd" $(options "$1" "$2" "$5") --format json --quiet -o "$work/run.json"
  list=$(value neighbors_per_atom):$(value rebuilds)
  echo "$1:$4:$(value total):$(value atoms):$list:$(value e_total)" >>"$work/runs"
}

# modelled CELLS STEPS OPTIONS : requests, hits of L1 and L2, bytes L1-L2, L2-L3, from memory.
modelled()
{
  # shellcheck disable=SC2046
  "$minimd" cachemodel $(options "$@") --machine "$model" --warm --format csv --quiet >"$work/model"
  awk -F, -v OFS=, 'NR == 1 { for (c = 1; c <= NF; c++) at[$c] = c }
    function of(name) { return name in at ? $at[name] : "" }
    $at["stream"] == "all" { print of("requests_per_atom"), of("l1_hit"), of("l2_hit"),
      of("l1_l2_bytes_per_atom"), of("l2_l3_bytes_per_atom"), of("memory_read_bytes_per_atom") }' \
    "$work/model"
}

# perf_lines FILE COMMAND... : lines of cache that loads missed.
perf_lines()
{
  LC_ALL=C perf stat -x, -e L1-dcache-load-misses,LLC-load-misses -o "$@" >/dev/null 2>&1
}
# counted_BACKEND CELLS STEPS OPTIONS : bytes L1-L2 and from memory, or nothing on either side of
# the comma.  perf counts a process from its start: a run of half the steps is taken off.
counted_cpu()
{
  if ! perf_lines "$work/all" true || ! grep -q '^[0-9]' "$work/all"; then
    echo ,
    return
  fi
  # shellcheck disable=SC2046
  perf_lines "$work/half" "$minimd" $(options "$1" $(($2 / 2)) "$3")
  # shellcheck disable=SC2046
  perf_lines "$work/all" "$minimd" $(options "$@")
  awk -F, -v atom_steps="$((4 * $1 * $1 * $1 * ($2 - $2 / 2)))" '
    function bytes(event) { return event in lines ? 64 * lines[event] / atom_steps : "" }
    FNR == 1 { sign = FILENAME ~ /half$/ ? -1 : 1 }
    $1 ~ /^[0-9]+$/ { lines[substr($3, 1, 3)] += sign * $1 }
    END { print bytes("L1-") "," bytes("LLC") }' "$work/half" "$work/all"
}
counted_gpu()
{
  # shellcheck disable=SC2046
  if ! "$minimd" profile $(options "$@") --caches warm --model off --format csv --quiet \
    >"$work/profile" 2>"$work/messages"; then
    cat "$work/messages" >&2
    echo ,
    return
  fi
  awk -F, 'NR == 1 { for (c = 1; c <= NF; c++) at[$c] = c }
    { n[$at["quantity"]] = $at["measured"] }
    function sectors(kind) { return n[kind "_requests_per_atom"] * n[kind "_sectors_per_request"] }
    END {
      asked = n["l1_l2_read_sectors_per_atom"] + sectors("store") + sectors("reduction")
      print 32 * asked "," n["memory_read_bytes_per_atom"]
    }' "$work/profile"
}

# Model and counters look at the force kernel: the walk of the cells is another kernel's, and tiles
# have no trace.
is_traced() { case $1 in cells | tiles) return 1 ;; esac; }
model()
{
  is_traced "$4" || return 0
  by_model=$(modelled "$1" "$2" "$5")
  echo "$1:$4:$by_model" >>"$work/models"
}
count()
{
  is_traced "$4" || return 0
  by_counters=$("counted_$backend" "$1" "$2" "$5")
  echo "$1:$4:$by_counters" >>"$work/counters"
}

# found FILE CELLS NAME COLUMNS : what model or counters found, or as many empty columns.
found()
{
  sed -n "s/^$2:$3://p" "$work/$1" | grep . || echo "$4"
}

columns='date commit machine rung command atoms steps repeats ms_per_step m_atom_steps_per_s gain
  list_entries_per_atom rebuilds e_total requests_per_atom l1_hit l2_hit l1_l2_bytes_per_atom
  l2_l3_bytes_per_atom memory_read_bytes_per_atom counted_l1_l2_bytes_per_atom
  counted_memory_read_bytes_per_atom'

# A row of a rung from its repeats.  All rungs of a size end at one energy: they are one physics.
gather()
{
  [ "$1" = "$below" ] || ms_below='' energy=''
  grep "^$1:$4:" "$work/runs" | sort -t : -k 3 -g >"$work/repeats"
  moves=$(found models "$1" "$4" ,,,,,),$(found counters "$1" "$4" ,)
  awk -F: -v lead="$(date -u +%F),$commit,$device,$4,$(command_of "$1" "$2" "$5")" -v steps="$2" \
    -v below="$ms_below" -v energy="$energy" -v moves="$moves" '
    { s[NR] = $3; atoms = $4; entries = $5; rebuilds = $6; e = $7
      if (energy == "") energy = e
      if ((e / energy - 1) ^ 2 > 1e-18) wrong = e }
    END {
      if (wrong) {
        print $2 ": ends at energy " wrong ", and the rungs before at " energy >"/dev/stderr"
        exit 1
      }
      ms = 1e3 * (s[int((NR + 1) / 2)] + s[int(NR / 2) + 1]) / 2 / steps
      printf "%s,%d,%d,%d,%.6g,%.6g,%s,%s,%d,%s,%s\n", lead, atoms, steps, NR, ms, atoms / ms / 1e3,
        below == "" ? "" : sprintf("%.6g", below / ms), entries, rebuilds, e, moves
    }' "$work/repeats" >"$work/row"
  cat "$work/row"
  below=$1 ms_below=$(cut -d , -f 9 "$work/row") energy=$(cut -d , -f 14 "$work/row")
}

rows()
{
  commit=$("$minimd" --version | sed 's/.*(\(.*\))/\1/')
  device=$("$minimd" info | sed -n "s/^$backend  *//p" | head -1 | sed 's/, .*//' | tr , ';')
  most=$(for size in $sizes; do echo "${size##*:}"; done | sort -n | tail -1)
  repeat=1
  while [ $repeat -le "$most" ]; do
    each climb
    repeat=$((repeat + 1))
  done
  each model & # no run is timed any more
  models=$!
  each count
  wait "$models"
  below=
  # shellcheck disable=SC2086 # words
  echo $columns | tr ' ' , >"$work/ladder.csv"
  each gather >>"$work/ladder.csv"
  mkdir -p "$results"
  mv "$work/ladder.csv" "$table"
}

# For awk: numbers to read.
reading='
  function commas(n) {
    n += 0
    return n < 1000 ? n : commas(int(n / 1000)) sprintf(",%03d", n % 1000)
  }
  function whole(n) { return n == "" ? "-" : commas(sprintf("%.0f", n)) }'

# How fast, and how much faster than the rung before.
speeds()
{
  awk -F, "$reading"'
    NR == 1 { next }
    !($6 in size) { size[$6] = ++sizes; atoms[sizes] = $6 }
    !($4 in rung) { rung[$4] = ++rungs; name[rungs] = $4 }
    { rate[$4, $6] = $10 < 1000 ? sprintf("%.3g", $10) : whole($10); gain[$4, $6] = $11 == "" ? "-" : sprintf("%.2f", $11) }
    END {
      printf "| rung |"
      for (k = 1; k <= sizes; k++) printf " %s atoms | gain |", commas(atoms[k])
      printf "\n|---|"
      for (k = 1; k <= sizes; k++) printf "---|---|"
      for (r = 1; r <= rungs; r++) {
        printf "\n| %s |", name[r]
        for (k = 1; k <= sizes; k++) {
          if ((name[r], atoms[k]) in rate)
            printf " %s | %s |", rate[name[r], atoms[k]], gain[name[r], atoms[k]]
          else
            printf " - | - |"
        }
      }
      print ""
    }' "$table"
}

# What moves, at the largest size of each rung.
movements()
{
  awk -F, "$reading"'
    NR == 1 { next }
    !($4 in row) { name[++rungs] = $4 }
    { row[$4] = sprintf("| %s | %s | %s | %s | %s | %s | %s | %s |", $4, whole($6), whole($12),
        $16 == "" ? "-" : $16, whole($18), whole($20), whole($21), whole($22)) }
    END {
      print "| rung | atoms | list entries | L1 hits | L1-L2 | from memory " \
        "| counted: L1-L2 | from memory |"
      print "|---|---|---|---|---|---|---|---|"
      for (r = 1; r <= rungs; r++) print row[name[r]]
    }' "$table"
}

# Between the lines of the page that name this backend.
tables()
{
  file=ladder-$backend.csv
  [ "$backend" = cpu ] && of='one core of the machine' || of='an H200'
  sed 1d "$table" | cut -d , -f 21,22 | grep -q '[0-9]' && none='' || none=' (the machine had none)'
  echo
  echo 'M atom-steps/s, and how many times as fast as the rung before'
  sed -n '2s/\([^,]*\),\([^,]*\),\([^,]*\),.*/(\1, commit \2, \3,/p' "$table"
  echo "[$file](results/$file)):"
  echo
  speeds
  if [ "$backend" = cpu ] && [ -s "$results/ladder.svg" ]; then
    echo
    echo '![time and bytes of every rung](results/ladder.svg)'
    echo
    echo '*See: above times, below the bytes that the kernel moves, on logarithmic axes: from all pairs to lists is the great'
    echo 'step, orders come next; dots are counters.*'
  fi
  echo
  echo 'What the force kernel moves in the largest system of each rung, in bytes an atom and step:'
  echo "by the model of $of, and by counters$none:"
  echo
  movements
  echo
}

page()
{
  if command -v gnuplot >/dev/null 2>&1; then
    (cd "$results" && gnuplot "$here/style.gp" "$here/ladder.gp")
  else
    echo 'no picture: gnuplot is not installed (Debian package gnuplot-nox)'
  fi
  tables >"$work/tables"
  fill "$page" "ladder-$backend" "$work/tables"
}

[ $# -gt 0 ] || set -- rows page
for part; do
  case $part in
    rows | page) $part ;;
    commands) each commands ;;
    *) echo "unknown part '$part'" >&2 && exit 2 ;;
  esac
done
