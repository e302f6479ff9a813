#!/bin/sh
# bench/study_spread.sh BUILD cpu|gpu [PART...] - the study of [Guo] on a backend, from the rows of
# study_spread: docs/results/spreading/PART-BACKEND.csv and pictures.  What they say:
# docs/spreading.md.
#
#   methods-single methods-double   every method by N, K, distribution, order (Figs. 7 to 9)
#   units groups atomics            GPU: compute units, groups, what atomics cost (Figs. 3 to 6)
#   derived                         methods, repeats (section 4.5) and auto from the files above
#   plots                           pictures from them (gnuplot)
#
# Without a PART: all.  A part goes on where it was when it is started again with the same commit.
# RESULTS names another folder for results.
set -eu
build=$1 backend=$2
shift 2
results=${RESULTS:-docs/results/spreading}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$results"

rows()
{
  file=$results/$1-$backend.csv
  "$build/bench/study_spread" "$backend" "$1" >"$file.part"
  mv "$file.part" "$file"
}

# Columns: 4 method, 5 variant, 6 distribution, 7 precision, 8 particles, 9 mesh, 10 order, 13 asm,
# 14 build_s, 15 spread_s.
derived()
{
  # Which method is cheapest for how many spreadings of one set of positions, building included: all,
  # and those of the paper alone.
  awk -F, -v OFS=, '
    FNR == 1 { next }
    $4 == "auto" || $4 == "cusparse" || $5 != "" { next }
    { key = $6 OFS $7 OFS $8 OFS $9 OFS $10
      if (!(key in n)) { keys[++n_keys] = key; origin = $1 OFS $2 OFS $3 }
      k = ++n[key]; method[key, k] = $4; build[key, k] = $14; spread[key, k] = $15 }
    END {
      print "date,commit,machine,distribution,precision,particles,mesh,order,repeats,methods,cheapest,seconds"
      for (i = 1; i <= n_keys; i++) for (paper = 0; paper < 2; paper++)
        for (r = 1; r <= 100000; r *= 10) {
          key = keys[i]; best = 0
          for (k = 1; k <= n[key]; k++) {
            if (paper && (method[key, k] == "tiled" || method[key, k] == "coloured")) continue
            cost = build[key, k] + r * spread[key, k]
            if (!best || cost < least) { best = k; least = cost }
          }
          printf "%s,%s,%d,%s,%s,%.6g\n", origin, key, r, paper ? "paper" : "all", method[key, best], least
        } }' "$results"/methods-*-"$backend.csv" >"$results/repeats-$backend.csv"
  # What auto chose against the best method of the same configuration.
  awk -F, -v OFS=, '
    FNR == 1 || $4 == "cusparse" { next }
    { key = $6 OFS $7 OFS $8 OFS $9 OFS $10 }
    $4 == "auto" { split($5, of, " "); keys[++n_keys] = key; repeats[n_keys] = of[1]; chosen[n_keys] = of[2]
      cost[n_keys] = $14 + of[1] * $15; origin = $1 OFS $2 OFS $3; next }
    { k = ++n[key]; method[key, k] = $4; build[key, k] = $14; spread[key, k] = $15 }
    END {
      print "date,commit,machine,distribution,precision,particles,mesh,order,repeats,chosen,seconds,best,best_seconds,ratio"
      for (i = 1; i <= n_keys; i++) {
        key = keys[i]; best = 0
        for (k = 1; k <= n[key]; k++) {
          c = build[key, k] + repeats[i] * spread[key, k]
          if (!best || c < least) { best = k; least = c }
        }
        printf "%s,%s,%d,%s,%.6g,%s,%.6g,%.4f\n", origin, key, repeats[i], chosen[i], cost[i], method[key, best], least, cost[i] / least
      } }' "$results"/methods-*-"$backend.csv" >"$results/auto-$backend.csv"
  awk -F, 'NR > 1 { n++; if ($14 <= 1.1) good++; if ($14 > most) { most = $14; worst = $0 } }
    END { printf "auto: %d of %d choices within 10 %% of the best; worst %s\n", good, n, worst }' \
    "$results/auto-$backend.csv"
}

plots()
{
  command -v gnuplot >/dev/null 2>&1 || {
    echo 'no pictures: gnuplot is not installed (Debian package gnuplot-nox)'
    return
  }
  (cd "$results" && gnuplot -e "backend = '$backend'" "$here/style.gp" "$here/study_spread.gp")
}

if [ $# = 0 ]; then
  set -- methods-single methods-double
  [ "$backend" = cpu ] || set -- "$@" units groups atomics
  set -- "$@" derived plots
fi
commit=$("$build/minimd" --version 2>/dev/null | sed 's/.*(\(.*\))/\1/')
for part; do
  began=$(date +%s)
  case $part in
    derived | plots) $part ;;
    methods-single | methods-double | units | groups | atomics)
      grep -q ",$commit," "$results/$part-$backend.csv" 2>/dev/null || rows "$part" ;;
    *) echo "unknown part '$part'" >&2; exit 2 ;;
  esac
  echo "$part: $(($(date +%s) - began)) s"
done
