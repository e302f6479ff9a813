#!/bin/sh
# bench/pictures.sh PROGRAM - draw the pictures of docs/results again, from the rows that are there.
set -eu
minimd=$(realpath "$1")
cd "$(dirname "$0")"
bench=$(pwd)
results=$bench/../docs/results
draw() { (cd "$results/$1" && shift && gnuplot "$@"); }
draw orderings "$bench/style.gp" "$bench/study_orderings.gp"
draw orderings "$bench/style.gp" "$bench/study_orderings_gpu.gp"
for backend in cpu gpu; do
  draw spreading -e "backend = '$backend'" "$bench/style.gp" "$bench/study_spread.gp"
  draw mrhs -e "backend = '$backend'" "$bench/style.gp" "$bench/study_mrhs.gp"
done
draw mobility "$bench/style.gp" "$bench/study_mobility.gp"
draw hydrodynamics "$bench/style.gp" "$bench/study_hydrodynamics.gp"
draw . "$bench/style.gp" "$bench/ladder.gp"
draw . "$bench/style.gp" "$bench/ranks_model.gp"
"$minimd" gspmv --map --plot "$results/mrhs/cpu-map.svg" --quiet >/dev/null
"$minimd" ordering --order hilbert,morton --size 4 --plot "$results/orderings/paths.svg" >/dev/null
"$minimd" ordering --stencil sphere:1,sphere:2,sphere:3,sphere:4,sphere:5,sphere:6,sphere:7,sphere:8,sphere:9 \
  --plot "$results/orderings/stencils.svg" >/dev/null
