#!/bin/sh
# bench/study_orderings_gpu.sh BUILD [PART...] - the study of orderings on a GPU, from minimd's own
# commands: docs/results/orderings/gpu-*.csv and *.svg.  What they say: docs/orderings.md.
#
#   times large blocks bins carveout decay      times of the force computation
#   embedded                                    whole steps: Lennard-Jones and embedded atoms
#   profile32 profile64 profile92 profile-bins profile-carveout profile-decay
#                                               counters of the kernel beside the model (ncu);
#                                               profile92-double: in one precision
#   species                                     the same of atoms of two types
#   l2                                          what the L2 keeps from launch to launch (ncu); not
#                                               part of all
#   gather                                      files from the rows in BUILD, put there by several
#                                               GPUs that each had some of the parts
#   model                                       the model's columns of the profiles anew, counters as
#                                               they are (no GPU: lists of the CPU); not part of all;
#                                               small systems first
#   remodel                                     the same from the rows that `model` has made so far;
#                                               others keep theirs, as the column model_commit says
#   errors                                      model-errors.csv, gpu-gains.csv from the files above
#   plots                                       pictures from them (gnuplot)
#
# Without a PART: all.  Every call's rows are kept in BUILD, and a part goes on where it was when it
# is started again with the same commit; its file holds what there is.  RESULTS names another folder
# for results.
set -u
build=$1
shift
minimd=$build/minimd
results=${RESULTS:-docs/results/orderings}
commit=$("$minimd" --version | sed 's/.*(\(.*\))/\1/')
machine=$("$minimd" info | sed -n 's/^gpu  *//p' | sed 's/,.*//' | head -1)
work=$build/study-gpu-$commit
mkdir -p "$results" "$work"
failures=0

sorted=row,column,morton,hilbert,gilbert,hybrid:hilbert/row:4,hybrid:row/hilbert:4
few=row,morton,hilbert,hybrid:hilbert/row:4

plain() { "$minimd" "$@" --backend gpu --format csv --quiet; }

# Counters one after the other, then the model of each order on a processor of its own; the model's
# column is the last.
beside()
{
  orders= rest=
  while [ $# -gt 0 ]; do
    case $1 in
      --order) orders=$2 && shift ;;
      *) rest="$rest $1" ;;
    esac
    shift
  done
  plain $rest --order "$orders" --model off >"$work/counters" || return 1
  rm -f "$work"/model.*
  k=0
  for order in $(echo "$orders" | tr , ' '); do
    k=$((k + 1))
    plain $rest --order "$order" --counters off >"$work/model.$k" 2>"$work/messages.$k" ||
      echo failed >"$work/model.$k.failed" &
  done
  wait
  cat "$work"/messages.* >&2
  if ls "$work"/model.*.failed >/dev/null 2>&1; then return 1; fi
  awk -F, -v OFS=, -v last="$work/counters" '
    { key = $1; for (k = 2; k <= 9; k++) key = key OFS $k }
    FILENAME != last { model[key] = $10; next }
    { print $0, (FNR == 1 ? "modelled" OFS "model_commit" : model[key] OFS commit) }' commit="$commit" \
    "$work"/model.* "$work/counters"
}

# call FILE NAME=VALUE... -- ARGS... : $run them (plain or beside); the rows go to FILE.csv, each with
# date, commit, machine and the columns that are given.
run=plain
call()
{
  file=$1 names=date,commit,machine, values=$(date -u +%F),$commit,$machine,
  shift
  while [ "$1" != -- ]; do
    names=$names${1%%=*}, values=$values${1#*=},
    shift
  done
  shift
  mkdir -p "$work/$file"
  rows=$work/$file/$(echo "$*" | cksum | cut -d ' ' -f 1).csv
  if [ ! -s "$rows" ]; then
    if ! "$run" "$@" >"$rows.part" 2>"$work/messages"; then
      echo "FAILED: $minimd $*"
      cat "$work/messages"
      failures=$((failures + 1))
      return
    fi
    cat "$work/messages"
    awk -v names="$names" -v values="$values" 'NR == 1 { print names $0; next } { print values $0 }' \
      "$rows.part" >"$rows.done"
    mv "$rows.done" "$rows"
    rm "$rows.part"
  fi
  gather "$file"
}
# The file of results from its calls' rows.
gather()
{
  (cd "$work/$1" && ls -tr *.csv | xargs awk 'NR == 1 || FNR > 1') >"$results/$1.csv"
}
# timed FILE CELLS ARGS... : the force computation after 100 steps, median of 9 launches.
timed()
{
  file=$1 cells=$2
  shift 2
  call "$file" cells="$cells" -- profile --times --launches 9 --cells "$cells" --steps 100 "$@"
}
# counted FILE CELLS ARGS... : counters and model after 40 steps.
counted()
{
  file=$1 cells=$2
  shift 2
  run=beside
  call "$file" cells="$cells" -- profile --cells "$cells" --steps 40 "$@"
  run=plain
}

part_times()
{
  for cells in 32 40 48 56 64 72 80 92 128; do
    for precision in double single mixed; do
      timed gpu-times $cells --precision $precision --list full,half --order $sorted,none,random
    done
  done
}
part_large()
{
  for precision in double single; do
    timed gpu-times 256 --precision $precision --list full --order row,hilbert,hybrid:hilbert/row:4
  done
}
part_blocks()
{
  for precision in double single; do
    for block in 64 128 192 256 320 384 512 576 640 768 1024; do
      timed gpu-blocks 92 --precision $precision --list full,half --block-size $block --order $few
    done
  done
}
part_bins()
{
  for precision in double single; do
    for bins in /1 /2 /3; do
      timed gpu-bins 92 --precision $precision --list full,half --bin-size $bins --order $sorted
    done
  done
}
part_carveout()
{
  for precision in double single; do
    for percent in 1 14 28 43 57 71 85 100; do
      timed gpu-carveout 92 --precision $precision --list full,half --set device.carveout=$percent \
        --order $few
    done
  done
}

# Between two sorts, and the list just built; 1000000: sorted at the start and never again.
part_decay()
{
  at=0$(awk 'BEGIN { for (s = 180; s <= 8000; s += 400) printf ",%d", s }')
  for every in 20 100 200 400 1000 2000 1000000; do
    call gpu-decay cells=92 -- profile --times --launches 5 --cells 92 --order hilbert \
      --sort-every $every --list full --at "$at"
  done
  for order in row none; do
    call gpu-decay cells=92 -- profile --times --launches 5 --cells 92 --order $order \
      --sort-every 1000000 --list full --at "$at"
  done
}

# Is the best order for embedded atoms the best for pairs?  As many atoms of either.
part_embedded()
{
  "$minimd" potential -o "$work/Cu.eam.alloy"
  cp inputs/in.eam "$work/in.eam"
  for cells in 32 64; do
    for list in full tile; do
      set -- --order row,morton,hilbert,random --list $list --precision single --cells $cells --steps 200 \
        --repeat 5
      call gpu-embedded pair=lj -- compare "$@"
      call gpu-embedded pair=eam -- compare -i "$work/in.eam" "$@"
    done
  done
}

# Precision by precision, so that several GPUs can share the work.
profile_at()
{
  for precision in ${2:-double single mixed}; do
    counted gpu-profile "$1" --precision "$precision" --list full,half --order $sorted,random
  done
}
# [AK]'s launch, and each order's best bin.
part_profile_bins()
{
  call gpu-profile-block1024 cells=92 -- profile --cells 92 --steps 40 --list full,half \
    --block-size 1024 --order row,morton,hilbert --caches warm --replay kernel --model off
  for bins in /1 /2 /3; do
    call gpu-profile-bins cells=92 bins=$bins -- profile --cells 92 --steps 40 --bin-size $bins \
      --list full --order $sorted,random --caches warm --replay kernel --model off
  done
}
part_profile_carveout()
{
  for percent in 1 43 71 100; do
    call gpu-profile-carveout cells=64 carveout=$percent -- profile --cells 64 --steps 40 \
      --set device.carveout=$percent --list full --order row,hilbert,hybrid:hilbert/row:4 \
      --caches warm --replay kernel
  done
}
part_profile_decay()
{
  call gpu-profile-decay cells=64 -- profile --cells 64 --order none --sort-every 0 --list full \
    --at 0,1000,2000,4000,8000 --caches warm --replay kernel
}

# [AK] has none: a byte more is read beside each position, and constants of each pair.
part_species()
{
  for precision in double single mixed; do
    call gpu-species cells=32 -- profile -i inputs/in.kob-andersen --cells 32 --steps 40 --list full,half \
      --order hilbert,random --precision $precision --caches warm --replay kernel --launches 1
  done
}
# Three launches after each other, the last three of a kernel; bytes an atom.
part_l2()
{
  from=lts__t_sectors_srcunit
  metrics=dram__bytes_read.sum,dram__bytes_write.sum,${from}_tex_op_read.sum,${from}_tex_op_read_lookup_miss.sum
  metrics=$metrics,${from}_ltcfabric.sum,${from}_ltcfabric_lookup_miss.sum
  echo date,commit,machine,cells,order,list,precision,launch,quantity,bytes_per_atom >"$results/gpu-l2.csv"
  for cells in 24 28 32 36 40 48; do
    LC_ALL=C ncu --cache-control none --replay-mode application -k 'regex:^(full|half)_plain' --csv \
      --print-units base --metrics "$metrics" "$minimd" profile --cells $cells --steps 40 --backend gpu \
      --list full,half --order hilbert --precision single --block-size 256 --times --launches 3 --quiet \
      >"$work/l2" || failures=$((failures + 1))
    awk -F'","' -v origin="$(date -u +%F),$commit,$machine,$cells,hilbert" -v atoms=$((4 * cells * cells * cells)) '
      BEGIN { n = split("dram__bytes_read memory_read dram__bytes_write memory_written " \
        "lts__t_sectors_srcunit_tex_op_read l1_asked lts__t_sectors_srcunit_tex_op_read_lookup_miss l1_asked_missed " \
        "lts__t_sectors_srcunit_ltcfabric other_part_asked " \
        "lts__t_sectors_srcunit_ltcfabric_lookup_miss other_part_missed", word, " ")
        for (k = 1; k < n; k += 2) name[word[k] ".sum"] = word[k + 1] }
      /^"[0-9]/ { list = substr($5, 1, 4); sub(/"$/, "", $15); gsub(/,/, "", $15)
        if (!((list, $13) in last)) keys[++n_keys] = list SUBSEP $13
        value[list, $13, ++last[list, $13]] = $15 * ($14 == "sector" ? 32 : 1) / atoms }
      END { for (k = 1; k <= n_keys; k++) { split(keys[k], of, SUBSEP)
        for (l = 1; l <= 3; l++) printf "%s,%s,single,%d,%s,%.2f\n", origin, of[1], l, name[of[2]], value[keys[k], last[keys[k]] - 3 + l] } }
      ' "$work/l2" >>"$results/gpu-l2.csv"
  done
}

# modelled FILE CELLS CARVEOUT ARGS : rows of the model alone, behind what FILE has before them.
modelled()
{
  rows=$work/model-$1/$(echo "$*" | cksum | cut -d ' ' -f 1).csv
  at=$2,${3:+$3,}
  [ -s "$rows" ] && return
  "$minimd" profile --cells "$2" ${3:+--set device.carveout=$3} --counters off $4 --format csv --quiet \
    >"$rows.part" 2>"$rows.messages" || {
    echo "FAILED: $*"
    cat "$rows.messages"
    return
  }
  awk -v at="$at" 'FNR > 1 { print at $0 }' "$rows.part" >"$rows"
}
# put_model FILE APART : those rows take the place of its last columns; APART columns tell its calls
# apart.
put_model()
{
  [ -s "$results/$1.csv" ] && ls "$work/model-$1"/*.csv >/dev/null 2>&1 || return
  cat "$work/model-$1"/*.csv | awk -F, -v OFS=, -v apart="$2" -v commit="$commit" '
    function part(first, n,   k, text) { for (k = first; k < first + n; k++) text = text $k OFS; return text }
    FILENAME == "-" { model[part(1, apart + 9)] = $(apart + 10) OFS commit; next }
    { key = part(4, apart + 9); before = $(apart + 15) OFS $(apart + 16)
      after = FNR == 1 ? "modelled" OFS "model_commit" : key in model ? model[key] : before
      print part(1, apart + 14) after }
    ' - "$results/$1.csv" >"$work/remodel" && mv "$work/remodel" "$results/$1.csv"
}
# As many at a time as there are processors (OMP_NUM_THREADS=1: one).  gpu-species was counted on an
# H100, the others on an H200.
part_model()
{
  mkdir -p "$work/model-gpu-profile" "$work/model-gpu-profile-carveout" "$work/model-gpu-profile-decay" \
    "$work/model-gpu-species"
  {
    for order in hilbert random; do
      for precision in double single mixed; do
        for list in full half; do
          echo "modelled gpu-species 32 '' '-i inputs/in.kob-andersen --machine bench/h100.machine --steps 40 --precision $precision --list $list --order $order --caches warm'"
        done
      done
    done
    for cells in 32 64 92; do
      for order in random $(echo $sorted | tr , ' '); do
        for precision in double single mixed; do
          for list in full half; do
            echo "modelled gpu-profile $cells '' '--steps 40 --precision $precision --list $list --order $order'"
          done
        done
      done
      [ $cells = 64 ] || continue
      for percent in 1 43 71 100; do
        for order in row hilbert hybrid:hilbert/row:4; do
          echo "modelled gpu-profile-carveout 64 $percent '--steps 40 --list full --order $order --caches warm'"
        done
      done
      echo "modelled gpu-profile-decay 64 '' '--order none --sort-every 0 --list full --at 0,1000,2000,4000,8000 --caches warm'"
    done
  } | xargs -d '\n' -n 1 -P "$(nproc)" sh "$0" "$build"
  part_remodel
}
part_remodel()
{
  put_model gpu-profile 1
  put_model gpu-profile-carveout 2
  put_model gpu-profile-decay 1
  put_model gpu-species 1
}
part_gather()
{
  for rows in "$work"/gpu-*; do
    gather "$(basename "$rows")"
  done
}

# How good the model is, each commit of it by itself: columns 5 to 15 of gpu-profile.csv are figure,
# quantity, order, list, precision, step, atoms, block_size, caches, measured, spread_percent; 16 and
# 17 are modelled, model_commit.
part_errors()
{
  [ -s "$results/gpu-profile.csv" ] && awk -F, -v OFS=, '
    NR == 1 { next }
    function note(quantity, kind, list, apart, caches, error, name,   key) {
      key = quantity OFS list OFS apart OFS caches OFS kind OFS model
      if (!(key in n)) keys[++n_keys] = key
      n[key]++
      error = error < 0 ? -error : error
      total[key] += error
      if (error >= most[key]) { most[key] = error; worst[key] = name }
    }
    {
      origin = $1 OFS $2 OFS $3
      model = $17
      apart = $7 == "random" || $7 == "none" ? "random" : "sorted"
      run = $4 OFS $8 OFS $9 OFS $13
      name = $7 " " $9 " N=" $4
      if ($6 == "time_us") time[run, $7] = $14
      if ($6 == "cycles" && $16 != "") { cycles[run, $7] = $16; by[run, $7] = model; runs[run] = $8 OFS $13; orders[$7] = apart }
      if ($6 ~ /^memory_/ && $14 != "" && $16 != "") {
        key = run SUBSEP $7
        memory[key] += $14; expected[key] += $16
        if (++parts[key] == 2)
          note("memory_bytes_per_atom", "percent", $8, apart, $13, 100 * (expected[key] / memory[key] - 1), name)
      }
      if ($14 == "" || $16 == "" || $14 + 0 == 0) next
      if ($6 ~ /_(hit|efficiency)_percent$/) note($6, "points", $8, apart, $13, $16 - $14, name)
      else if ($6 !~ /^memory_|^occupancy/) note($6, "percent", $8, apart, $13, 100 * ($16 / $14 - 1), name)
    }
    END {
      for (run in runs) for (a in orders) for (b in orders) {
        if (a >= b || orders[a] != "sorted" || orders[b] != "sorted") continue
        if (!((run, a) in time) || !((run, b) in time) || !((run, a) in cycles) || !((run, b) in cycles)) continue
        if (by[run, a] != by[run, b]) continue
        ratio = time[run, a] / time[run, b]
        if (ratio < 1.03 && ratio > 1 / 1.03) continue
        key = runs[run] OFS by[run, a]
        pairs[key]++
        if ((ratio > 1) == (cycles[run, a] > cycles[run, b])) right[key]++
      }
      print "date,commit,machine,quantity,list,orders,caches,unit,model_commit,cases,mean_error,largest_error,worst"
      for (k = 1; k <= n_keys; k++)
        printf "%s,%s,%d,%.3f,%.3f,%s\n", origin, keys[k], n[keys[k]], total[keys[k]] / n[keys[k]], most[keys[k]], worst[keys[k]]
      for (p in pairs) { split(p, of, OFS)
        printf "%s,ranking_right,%s,sorted,%s,percent_of_pairs,%s,%d,%.3f,,\n", origin, of[1], of[2], of[3], pairs[p], 100 * right[p] / pairs[p] }
    }' "$results/gpu-profile.csv" >"$results/model-errors.csv"
  # What order is worth to the kernel: columns 5 bins, 6 figure, 7 quantity, 8 order, 10 precision, 15 measured.
  [ -s "$results/gpu-profile-bins.csv" ] && awk -F, -v OFS=, '
    NR > 1 && $7 == "time_us" { origin = $1 OFS $2 OFS $3; us[$5, $8] = $15; bins[$5]; orders[$8] }
    END {
      for (b in bins) if (!row || us[b, "row"] < row) row = us[b, "row"]
      print "date,commit,machine,bins,best_order,best_us,row_us,row_best_bins_us,random_us,gain_over_row,gain_over_best_row,gain_over_random"
      for (b in bins) {
        best = ""
        for (o in orders)
          if (o ~ /morton|hilbert|gilbert|hybrid/ && (best == "" || us[b, o] < us[b, best])) best = o
        t = us[b, best]
        printf "%s,%s,%s,%.2f,%.2f,%.2f,%.2f,%.4f,%.4f,%.4f\n", origin, b, best, t, us[b, "row"], row, us[b, "random"], us[b, "row"] / t, row / t, us[b, "random"] / t
      }
    }' "$results/gpu-profile-bins.csv" >"$results/gpu-gains.csv"
  return 0
}

part_plots()
{
  if ! command -v gnuplot >/dev/null 2>&1; then
    echo 'no pictures: gnuplot is not installed (Debian package gnuplot-nox)'
    return
  fi
  bench=$(cd "$(dirname "$0")" && pwd)
  (cd "$results" && gnuplot "$bench/style.gp" "$bench/study_orderings_gpu.gp") || failures=$((failures + 1))
}

[ $# -gt 0 ] || set -- times large blocks bins carveout decay embedded profile32 profile64 profile92 \
  profile-bins profile-carveout profile-decay species errors plots
for part; do
  case $part in
    'modelled '*) eval "$part" && continue ;; # one of part_model's, by itself
    times | large | blocks | bins | carveout | decay | embedded | model | remodel | \
      profile32* | profile64* | profile92* | profile-bins | profile-carveout | profile-decay | species | l2 | gather | \
      errors | plots) ;;
    *) echo "unknown part '$part'" >&2; exit 2 ;;
  esac
  began=$(date +%s)
  case $part in
    profile[0-9]*) at=${part#profile} && profile_at $(echo "$at" | tr - ' ') ;;
    *) "part_$(echo "$part" | tr - _)" ;;
  esac
  echo "$part: $(($(date +%s) - began)) s"
done
[ $failures = 0 ]
