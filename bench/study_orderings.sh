#!/bin/sh
# bench/study_orderings.sh BUILD - every table and figure of [AK] that needs no GPU, from minimd's
# own commands: docs/results/orderings/*.csv and *.svg.  What they say: docs/orderings.md.
#
# Interrupted, it goes on where it was when started again with the same commit.  RESULTS names
# another folder for results, PARTS some of the tables ("kernel_gpu decay").  Runs have one thread:
# the caches are those of one core.
set -eu
build=$1
minimd=$build/minimd
results=${RESULTS:-docs/results/orderings}
machine=$("$minimd" info | sed -n 's/^cpu  *//p' | tr , ';')
. bench/rows.sh
work=$build/study-$commit
case $commit in
  *-dirty | unknown) rm -rf "$work" ;; # nothing says that it is still the same program
esac
mkdir -p "$results" "$work"

# Table 2.  Deviations fall below 10 % beyond g = 40.
stencils()
{
  rows "$part" -- ordering --stencil block:1,block:2,block:3,sphere:1,sphere:2,sphere:3,sphere:4,sphere:5,sphere:6,sphere:7,sphere:8,sphere:9,sphere:40,sphere:41,sphere:42,sphere:50
}

# Figs. 5, 6, 7.
offsets()
{
  rows "$part" -- ordering --order row,hilbert,morton --size 16 --stencil block:1,block:3 --offsets
}

# Figs. 8 and 9: the fraction of bins within an offset.
within()
{
  awk -F, -v OFS=, 'NR == 1 { $6 = "within"; $7 = "fraction"; print; next }
    { key = $1 OFS $2 OFS $3 OFS $4 OFS $5; if (!(key in all)) order[++n] = key
      all[key] += $7; d = $6 < 0 ? -$6 : $6
      for (w = 1; w <= 12; w++) { limit = w < 11 ? 100 * w - 1 : 500 * (w - 8) - 1
        if (d <= limit) sum[key, w] += $7 } }
    END { for (k = 1; k <= n; k++) for (w = 1; w <= 12; w++) {
      limit = w < 11 ? 100 * w - 1 : 500 * (w - 8) - 1
      printf "%s,%d,%.5f\n", order[k], limit, sum[order[k], w] / all[order[k]] } }' \
    "$work/offsets.csv" >"$work/$part.part"
}

# About eight capacities an octave.
capacities=$(awk 'BEGIN { for (o = 0; o < 8 * 15; o++) { c = int(2 ^ (o / 8) + 0.5)
  if (c != last) printf "%s%d", o ? "," : "", c; last = c } }')

# Figs. 10-13, with two hybrids that the paper describes but does not measure.
misses()
{
  for figure in 10:32:block:1:2 11:32:block:1:8 12:32:sphere:3:8 13:64:block:1:8; do
    IFS=: read -r number size shape g line <<END
$figure
END
    rows "$part" figure=$number -- cachemodel --order row,hilbert,morton,hybrid:hilbert/row:4,hybrid:row/row:4 \
      --size "$size" --stencil "$shape:$g" --line "$line" --capacity "$capacities"
  done
}

# Which ordering misses least, by stencil, line and cache, both in bins.
dependence()
{
  for stencil in block:1 sphere:2 sphere:3 sphere:4; do
    for line in 1 2 4 8 16 32; do
      lines=$(awk -v line=$line 'BEGIN { for (bins = 32; bins <= 16384; bins *= 2) if (bins >= line) {
        printf "%s%d", some ? "," : "", bins / line; some = 1 } }')
      rows "$part" -- cachemodel --order row,hilbert,morton --size 32 --stencil $stencil --line $line \
        --capacity "$lines"
    done
  done
}

# Caches that are not fully associative LRU: does the ranking stay?
policies()
{
  for cache in lru:0 fifo:0 lru:8 fifo:8; do
    ways=${cache#*:}
    rows "$part" policy="${cache%:*}" ways="$ways" -- cachemodel --order row,hilbert,morton --size 64 \
      --stencil block:1 --line 8 --policy "${cache%:*}" $([ "$ways" = 0 ] || echo --ways "$ways") \
      --capacity 8,16,32,64,128,256,512,1024,2048,4096
  done
}

# The force kernel on three machines, [AK]'s GPU with its blocks of 1024 among them (section 6.2); in
# bins of half the list radius, and as large as it.
on_machine()
{
  rows "$part" bins=/2 -- cachemodel --order none,row,column,morton,hilbert,gilbert,hybrid:hilbert/row:4,random \
    --list full,half --cells 32 --steps 100 --threads 1 "$@"
  rows "$part" bins=/1 -- cachemodel --order row,morton,hilbert --list full --cells 32 --steps 100 --threads 1 \
    --bin-size /1 "$@"
}
kernel_gpu()
{
  on_machine --machine h200
  on_machine --machine bench/gtx960.machine --block-size 1024
}
kernel_host()
{
  on_machine --machine host
}

# How creation order and an order that is never renewed decay; a Hilbert order renewed at every
# rebuild beside them.
decay()
{
  for steps in 0 100 200 400 1000 2000 4000; do
    rows "$part" steps=$steps sorted=once -- cachemodel --cells 20 --steps $steps --threads 1 \
      --order none,hilbert --sort-every 1000000 --machine h200
    rows "$part" steps=$steps sorted=always -- cachemodel --cells 20 --steps $steps --threads 1 \
      --order hilbert --machine h200
  done
}

# Times: the same run under each ordering.
compare()
{
  rows "$part" -- compare --order none,row,column,morton,hilbert,gilbert,hybrid:hilbert/row:4,random \
    --list full,half --cells 32 --steps 100 --threads 1 --repeat 7
  rows "$part" -- compare --order none,row,morton,hilbert,random --list full --cells 64 --steps 40 --threads 1 \
    --repeat 5
}

# What a re-sort now and then is worth; 1000000: only at the start.
sort_period()
{
  for every in 20 100 400 1000 1000000; do
    rows "$part" sort_every=$every -- compare --order hilbert --list full --cells 32 --threads 1 \
      --sort-every $every --steps 2000 --repeat 1
  done
}

# Fig. 16: total and force time on the CPU.
sizes()
{
  for cells in 32 42 52 62 72; do
    rows "$part" cells=$cells -- compare --order row --list full,half --cells $cells --threads 1 \
      --steps 100 --repeat 1
  done
}

# Is the best order for embedded atoms the best for pairs?  As many atoms of either.
embedded()
{
  "$minimd" potential -o "$work/Cu.eam.alloy"
  cp inputs/in.eam "$work/in.eam"
  for size in 32:40:5 64:20:3; do
    IFS=: read -r cells steps repeats <<END
$size
END
    set -- --order row,morton,hilbert,random --list full --precision single --threads 1 --cells "$cells" \
      --steps "$steps" --repeat "$repeats"
    rows "$part" pair=lj -- compare "$@"
    rows "$part" pair=eam -- compare -i "$work/in.eam" "$@"
  done
}

# The force kernel of portable instructions under valgrind's cachegrind, beside the model of the same two caches.
cachegrind()
{
  printf 'name = "two"; kind = "cpu"; levels = ( { bytes = 32768; ways = 8; line = 64; }, { bytes = 1048576; ways = 16; line = 64; } );\n' \
    >"$work/two.machine"
  rows "$part" cells=20 -- profile --with cachegrind --machine "$work/two.machine" --cells 20 --steps 20 --launches 2 \
    --order none,row,column,morton,hilbert,random --list full,half
}

for part in ${PARTS:-stencils offsets within misses dependence policies kernel_gpu kernel_host decay compare \
  sort_period sizes embedded cachegrind}; do
  [ -e "$work/$part.csv" ] && continue
  echo "$part"
  rm -f "$work/$part.part"
  $part
  mv "$work/$part.part" "$work/$part.csv"
done

# Pictures: the program's own, and those of bench/study_orderings.gp.
"$minimd" ordering --order hilbert,morton --size 4 --plot "$work/paths.svg" >"$work/rows"
"$minimd" ordering --stencil sphere:1,sphere:2,sphere:3,sphere:4,sphere:5,sphere:6,sphere:7,sphere:8,sphere:9 \
  --plot "$work/stencils.svg" >"$work/rows"
for file in "$work"/*.csv "$work"/*.svg; do
  mv "$file" "$results/$(basename "$file" | tr _ -)"
done
bench=$(pwd)/bench
(cd "$results" && gnuplot "$bench/style.gp" "$bench/study_orderings.gp")
rm -r "$work"
echo "results are in $results"
