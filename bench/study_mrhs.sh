#!/bin/sh
# bench/study_mrhs.sh BUILD cpu|gpu [PART...] - the tables and figures of [Liu], from minimd's own
# commands: docs/results/mrhs/*.csv and *.svg.  What they say: docs/mrhs.md.
#
#   counts               iterations in five packings each, mean and standard deviation (cpu only)
#   guesses              Fig. 5: the error of guesses (no times)
#   radii map            Table IV and Fig. 1 (cpu only)
#   products threads     Tables I and II, Figs. 2 and 8 (threads: cpu only)
#   nodes                Table III, Figs. 3 and 4, by the model (cpu only)
#   steps                Tables V to VII, Fig. 6
#   best                 the same step with block Jacobi, pair storage and looser guesses
#   sweep                Fig. 7, Table VIII: numbers of right-hand sides, measured and modelled
#   replicas             several noises on one matrix: iterations and time of the first solve
#   summary plots        averages, slopes, optima, tables to read; pictures (gnuplot)
#
# Without a PART: all.  `times` stands for all but counts and guesses, which hold no times and may
# be made on a busy machine.  Interrupted, it goes on where it was with the same commit.  RESULTS
# names another folder for results.  Packings are hard-sphere fluids in equilibrium, as `minimd pack`
# makes them; the cutoff is 2 where no other one is said.
set -eu
build=$1
backend=$2
shift 2
minimd=$build/minimd
results=${RESULTS:-docs/results/mrhs}
. bench/rows.sh
work=$build/study-mrhs-$backend-$commit
case $commit in
  *-dirty | unknown) rm -rf "$work" ;; # nothing says that it is still the same program
esac
mkdir -p "$results" "$work"

# packing SPHERES OCCUPANCY [SEED [RADII]] : the name of a packing, made when first asked for; what `pack`
# said of it is in NAME.csv.
packing()
{
  name=$build/study-mrhs-$1-$2-${3:-1}-$(basename "${4:-ecoli}").xyz
  [ -s "$name" ] || "$minimd" pack --particles "$1" --occupancy "$2" --seed "${3:-1}" --radii "${4:-ecoli}" \
    -o "$name" --quiet --format csv >"$name.csv"
  echo "$name"
}

# cell CSV COLUMN : of the only row.
cell() { awk -F, -v name="$2" 'NR == 1 { for (c = 1; c <= NF; c++) if ($c == name) at = c } NR == 2 { print $at }' "$1"; }

# firsts FILE CUT ALGORITHM STEPS : mean iterations of the first solves, with guesses if these are made.
firsts()
{
  "$minimd" stokes -i "$1" --gap-cut "$2" --root chebyshev --algorithm "$3" --rhs 16 --steps "$4" --guess-tolerance 1e-6 --backend cpu \
    --threads 1 --quiet --format csv 2>/dev/null |
    awk -F, -v guessed="$3" 'NR > 1 && (guessed == "original" || $4 > 0) { n++; sum += $2 } END { printf "%.3f", sum / n }'
}

counts()
{
  echo 30,1 >"$work/one-size"
  columns='edge iterations sweeps stationary z z_error z_theory g_contact g_theory gap_min gap_expected'
  for cut in 2 0.5; do
    for sizes in ecoli "$work/one-size"; do
      for occupancy in 0.1 0.3 0.5; do
        for seed in 1 2 3 4 5; do
          case_of="$(basename "$sizes"),3000,$occupancy,$seed"
          ! grep -qs ",$case_of,.*,$cut,[0-9.]*,[0-9.]*\$" "$work/counts.rows" || continue
          file=$(packing 3000 $occupancy $seed "$sizes")
          about=$(for c in $columns; do cell "$file.csv" "$c"; done | tr '\n' ,)
          echo "$(date -u +%F),$commit,$machine,$case_of,$about$cut,$(firsts "$file" $cut original 8),$(firsts "$file" $cut mrhs 16)" \
            >>"$work/counts.rows"
        done
      done
    done
  done
  echo "date,commit,machine,sizes,spheres,occupancy,seed,$(echo $columns | tr ' ' ,),gap_cut,original,mrhs" >"$work/counts.part"
  sort -t , -k 4,4 -k 19,19gr -k 6,7 "$work/counts.rows" >>"$work/counts.part"
  count_tables "$work/counts.part" >"$results/$backend-counts.md"
}

# Iterations and packings to read.
count_tables()
{
  echo '# Iterations in equilibrated packings'
  echo
  echo "$(awk -F, 'NR == 2 { printf "%s, commit %s, %s", $1, $2, $3 }' "$1"). Written by \`bench/study_mrhs.sh BUILD cpu counts\`; what it says: [docs/mrhs.md](../../mrhs.md)."
  echo
  echo 'Mean and standard deviation over five packings of 3000 spheres (seeds 1 to 5), to a residual of 1e-6: means over 8 steps of the original algorithm, and over the 15 steps with a guess of a group of 16.'
  echo
  echo '| sizes | occupancy | gap cut | original | with guesses | saved | paper |'
  echo '|---|---|---|---|---|---|---|'
  awk -F, "$statistics"' NR > 1 { add($4 "," $6 "," $(NF - 2), "o", $(NF - 1)); add($4 "," $6 "," $(NF - 2), "m", $NF) }
    END { paper["0.1"] = "16 / 8-9"; paper["0.3"] = "30 / 12-15"; paper["0.5"] = "162 / 80-89"
      for (i = 1; i <= keys; i++) { split(key[i], k, ",")
        printf "| %s | %s | %s | %s | %s | %.0f %% | %s |\n", k[1], k[2], k[3], both(key[i], "o", 0), both(key[i], "m", 0),
          100 * (1 - sum[key[i], "m"] / sum[key[i], "o"]), k[1] == "ecoli" ? paper[k[2]] : "-" } }' "$1"
  echo
  echo '| sizes | occupancy | sweeps | Z | theory | contact value | theory | smallest gap over its expectation |'
  echo '|---|---|---|---|---|---|---|---|'
  awk -F, "$statistics"' NR > 1 && $(NF - 2) == 2 { of = $4 "," $6; add(of, "s", $10); add(of, "z", $12)
      add(of, "t", $14); add(of, "g", $15); add(of, "h", $16); add(of, "x", $17 / $18) }
    END { for (i = 1; i <= keys; i++) { split(key[i], k, ",")
        printf "| %s | %s | %s | %s | %s | %s | %s | %s |\n", k[1], k[2], both(key[i], "s", 0), both(key[i], "z", 3),
          both(key[i], "t", 3), both(key[i], "g", 2), both(key[i], "h", 2), both(key[i], "x", 1) } }' "$1"
}

# For awk: means and standard deviations by key.
statistics='function add(k, what, x) { if (!(k in seen)) { seen[k] = 1; key[++keys] = k }
    n[k, what]++; sum[k, what] += x; square[k, what] += x * x }
  function both(k, what, digits,   m, v) { m = sum[k, what] / n[k, what]; v = square[k, what] / n[k, what] - m * m
    return sprintf("%.*f +- %.*f", digits, m, digits, sqrt(v > 0 ? v * n[k, what] / (n[k, what] - 1) : 0)) }'

# Without its times.
guesses()
{
  for occupancy in 0.1 0.3 0.5; do
    walk guesses 3000 $occupancy mrhs 32 32
  done
  cut -d, -f1-12 "$work/guesses.part" >"$work/guesses" && mv "$work/guesses" "$work/guesses.part"
  { echo 'date,commit,machine,spheres,occupancy,slope,constant' && growth; } >"$work/growth.csv"
}

radii()
{
  packing 30000 0.5 >/dev/null
  echo 'date,commit,machine,radius,percent' >"$work/radii.part"
  awk -v lead="$(date -u +%F),$commit,$machine" 'NR > 2 { n[$NF + 0]++ }
    END { for (a in n) printf "%s,%.2f,%.2f\n", lead, a, 100 * n[a] / (NR - 2) }' \
    "$(packing 30000 0.5)" | sort -t , -k 4 -n -r >>"$work/radii.part"
}

map()
{
  rows map -- gspmv --map
  [ -z "$(command -v gnuplot)" ] || "$minimd" gspmv --map --plot "$results/cpu-map.svg" --quiet >/dev/null
}

# m = 1 ... 42, as Fig. 2.
products()
{
  for matrix in mat1 mat2 mat3; do
    rows products -- gspmv --matrix $matrix --backend "$backend" --repeat 5 \
      --vectors 1,2,3,4,5,6,7,8,10,12,14,16,20,24,28,32,36,40,42
  done
}

# Machines like this one, linked as the paper's.
nodes()
{
  for matrix in mat1 mat2; do
    rows nodes -- gspmv --matrix $matrix --nodes 1,2,4,8,16,32,64 --vectors 1,2,4,8,12,16,20,24,28,32
  done
}

# [Liu] solves for guesses as exactly as for solutions.
tolerance=1e-6
# Forces by Chebyshev, as in [Liu], unless OPTIONS say otherwise.
# walk FILE SPHERES OCCUPANCY ALGORITHM RHS STEPS [THREADS [OPTIONS]] : steps of a run, and its wall time
# a step.  THREADS 0: all.
walk()
{
  more=${8:-}
  set -- "$1" "$2" "$3" "$4" "$5" "$6" "${7:-0}"
  [ "$7" = 0 ] || more="$more --threads $7"
  rows "$1" spheres="$2" occupancy="$3" algorithm="$4" rhs="$5" threads="$7" -- stokes \
    -i "$(packing "$2" "$3")" --gap-cut 2 --root chebyshev ${tolerance:+--guess-tolerance $tolerance} --algorithm "$4" --rhs "$5" --steps "$6" --backend "$backend" $more
  average=$(sed -n 's/.* ps, \([0-9.e+-]*\) s a step.*/\1/p' "$work/messages")
  echo "$1,$2,$3,$4,$5,$7,$6,$average" >>"$work/walks"
}

# Iterations of steps as in Table V; times of 16 right-hand sides as in Tables VI and VII.
steps()
{
  for occupancy in 0.1 0.3 0.5; do
    for spheres in 3000 30000; do
      walk steps $spheres $occupancy mrhs 16 32
      walk steps $spheres $occupancy original 1 16
    done
  done
  for occupancy in 0.1 0.3 0.5; do
    [ "$backend" = gpu ] || [ $occupancy != 0.5 ] && single=16 || single=3
    [ "$backend" = gpu ] && group=32 || group=16
    walk steps 300000 $occupancy mrhs 16 $group
    walk steps 300000 $occupancy original 1 $single
  done
}

best()
{
  tolerance=
  [ "$backend" = gpu ] && sizes='3000 30000 300000' || sizes='3000 30000'
  for spheres in $sizes; do
    walk best "$spheres" 0.5 mrhs 16 32 0 '--preconditioner jacobi --storage pair'
    walk best "$spheres" 0.5 original 1 16 0 '--preconditioner jacobi --storage pair'
    walk series "$spheres" 0.5 mrhs 16 32 0 '--preconditioner jacobi --storage pair --guess series'
  done
  tolerance=1e-6
}

# Cutoff 0.5, block Jacobi; one thread on a CPU.  The least time a noise of nine steps: three runs taken
# by turns, or TURNS.
replicas()
{
  [ "$backend" = gpu ] && sizes='30000 300000' || sizes=10000
  echo 'date,commit,machine,spheres,occupancy,replicas,iterations,seconds_a_noise' >"$work/replicas.part"
  for spheres in $sizes; do
    for occupancy in 0.1 0.3 0.5; do
      file=$(packing "$spheres" $occupancy)
      for turn in ${TURNS:-1 2 3}; do
        for count in 1 4 16 64; do
          "$minimd" stokes -i "$file" --algorithm original --replicas $count --preconditioner jacobi --steps 3 \
            --backend "$backend" --threads 1 --quiet --format csv 2>/dev/null |
            awk -F, -v lead="$(date -u +%F),$commit,$machine,$spheres,$occupancy,$count" '
              NR == 1 { for (c = 1; c <= NF; c++) at[$c] = c; next }
              !("replica" in at) || $at["replica"] == 0 { n++; sum += $at["iterations_first"]
                if (n == 1 || $at["time_first"] < least) least = $at["time_first"] }
              END { printf "%s,%.1f,%.6f\n", lead, sum / n, least }'
        done
      done
    done
  done | awk -F, -v OFS=, '{ key = $4 OFS $5 OFS $6; if (!(key in row)) order[++k] = key
      if (!(key in row) || $8 < least[key]) { row[key] = $0; least[key] = $8 } }
    END { for (i = 1; i <= k; i++) print row[order[i]] }' >>"$work/replicas.part"
}

sweep()
{
  [ "$backend" = gpu ] && sizes='3000 30000 300000' || sizes='3000 30000'
  for spheres in $sizes; do
    for m in 1 2 4 8 12 16 24 32; do
      walk sweep "$spheres" 0.5 mrhs $m $((m > 12 ? m : m * (23 / m + 1)))
    done
    walk sweep "$spheres" 0.5 original 1 12
    rows model spheres="$spheres" occupancy=0.5 -- stokes --model -i "$(packing "$spheres" 0.5)" --gap-cut 2 --root chebyshev \
      --backend "$backend"
  done
}

threads()
{
  for n in 1 2; do
    rows threads threads=$n -- gspmv --matrix mat2 --repeat 5 --threads $n --vectors 1,2,4,8,16,32
    walk speedup 30000 0.5 mrhs 16 16 $n
    walk speedup 30000 0.5 original 1 6 $n
  done
}

# Averages of every walk: Tables VI and VII.  A step of a group's beginning has the times of the group.
averages()
{
  echo 'part,spheres,occupancy,algorithm,rhs,threads,steps,average' >"$work/walks.head"
  for file in steps best series sweep speedup; do
    [ -s "$work/$file.csv" ] || continue
    awk -F, -v OFS=, -v part=$file -v walks="$work/walks" '
      BEGIN { while ((getline line < walks) > 0) { split(line, w, ",")
        if (w[1] == part) average[w[2] OFS w[3] OFS w[4] OFS w[5] OFS w[6]] = w[8] } }
      NR == 1 { next }
      { key = $4 OFS $5 OFS $6 OFS $7 OFS $8; if (!(key in n)) { order[++k] = key; lead[key] = $1 OFS $2 OFS $3 }
        n[key]++; second[key] += $11; t2[key] += $16
        if ($14 > 0) { groups[key]++; guess[key] += $14; if ($12 == 0) { block[key] += $10; cheb[key] += $13 } }
        if ($14 == 0 || $12 > 0) { singles[key]++; first[key] += $10; cheb1[key] += $13; t1[key] += $15 } }
      END { for (i = 1; i <= k; i++) { q = order[i]; g = groups[q] ? groups[q] : 1; s = singles[q] ? singles[q] : 1
        printf "%s,%s,%s,%d,%.4g,%.4g,%.4g,%.4g,%.4g,%.4g,%.4g,%.4g,%s\n", lead[q], part, q, n[q], block[q] / g,
          first[q] / s, second[q] / n[q], cheb[q] / g, guess[q] / g, cheb1[q] / s, t1[q] / s, t2[q] / n[q], average[q] } }' \
      "$work/$file.csv"
  done
}

# Fig. 5: least squares of log(guess error) = log(constant) + slope log(step).
growth()
{
  awk -F, -v OFS=, 'NR > 1 && $12 > 0 { key = $1 OFS $2 OFS $3 OFS $4 OFS $5; if (!(key in n)) order[++k] = key
      x = log($9); y = log($12); n[key]++; sx[key] += x; sy[key] += y; xx[key] += x * x; xy[key] += x * y }
    END { for (i = 1; i <= k; i++) { q = order[i]; slope = (n[q] * xy[q] - sx[q] * sy[q]) / (n[q] * xx[q] - sx[q] ^ 2)
      printf "%s,%.3f,%.5f\n", q, slope, exp((sy[q] - slope * sx[q]) / n[q]) } }' "$work/guesses.part"
}

# Table VIII: where arithmetic begins to bound a product, and the best m, modelled and measured.
optima()
{
  awk -F, -v OFS=, 'FNR == 1 { next }
    FILENAME ~ /model/ { if (!($4 in least) || $9 < least[$4]) { least[$4] = $9; model[$4] = $6 }
      if ($7 == "arithmetic" && !($4 in turn)) turn[$4] = $6; one[$4] = $6 == 1 ? $9 : one[$4]; next }
    $4 == "sweep" { lead = $1 OFS $2 OFS $3; if (!($5 in seen)) { seen[$5] = 1; order[++k] = $5 }
      if ($7 == "original") { old[$5] = $NF } else if (!($5 in time) || $NF < time[$5]) { time[$5] = $NF; best[$5] = $8 } }
    END { for (i = 1; i <= k; i++) { s = order[i]
      printf "%s,%s,0.5,%s,%d,%d,%.3f,%.3f\n", lead, s, turn[s] ? turn[s] : "none", model[s], best[s], one[s] / least[s],
        old[s] / time[s] } }' "$work/model.csv" "$work/summary.csv"
}

summary()
{
  {
    echo 'date,commit,machine,part,spheres,occupancy,algorithm,rhs,threads,steps,iterations_block,iterations_first,iterations_second,chebyshev_many,guesses,chebyshev_one,first,second,average'
    averages
  } >"$work/summary.csv"
  { echo 'date,commit,machine,spheres,occupancy,m_s,m_model,m_measured,speedup_model,speedup_measured' && optima; } \
    >"$work/optima.csv"
  tables >"$results/$backend-tables.md"
}

# What there is so far, to the results; of some parts the summary is enough.
publish()
{
  for file in "$work"/*.csv; do
    case ${file##*/} in
      '*.csv' | speedup.csv | sweep.csv | best.csv | series.csv) ;;
      *) cp "$file" "$results/$backend-${file##*/}" ;;
    esac
  done
}

# The paper's tables to read, from the files of the summary: BACKEND-tables.md.
tables()
{
  echo "# Tables of [Liu], measured on the $backend"
  echo
  echo "$(awk -F, 'NR > 1 && !seen[$1 $2 $3]++ { printf "%s%s, commit %s, %s", n++ ? "; " : "", $1, $2, $3 }' "$work/summary.csv"). Written by \`bench/study_mrhs.sh\`; what it says: [docs/mrhs.md](../../mrhs.md)."
  echo
  if [ -s "$work/nodes.csv" ]; then
    echo '## Table III: communication in products with mat1 on several machines, by the model'
    echo
    echo '| nodes | 1 vector | 8 | 32 |'
    echo '|---|---|---|---|'
    awk -F, '$4 == "mat1" && $5 > 1 { if ($6 == 1) printf "| %d ", $5
        if ($6 == 1 || $6 == 8 || $6 == 32) printf "| %.0f %% %s", 100 * $10, $6 == 32 ? "|\n" : "" }' "$work/nodes.csv"
    echo
  fi
  echo '## Table V: iterations of the first solve, with guesses and without'
  echo
  awk -F, 'NR > 1 && $9 % 2 == 0 && $9 > 0 && $9 < 16 { if (!($9 in steps)) { steps[$9] = 1; order[++k] = $9 }
      c = $4 " spheres, " $5; if (!(c in seen)) { seen[c] = 1; cases[++n] = c }; count[c, $6, $9] = $10 }
    END { printf "| step |"; for (i = 1; i <= n; i++) printf " %s |", cases[i]
      printf "\n|---|"; for (i = 1; i <= n; i++) printf "---|"
      for (j = 1; j <= k; j++) { printf "\n| %d |", order[j]
        for (i = 1; i <= n; i++) printf " %s / %s |", count[cases[i], "mrhs", order[j]],
          (cases[i], "original", order[j]) in count ? count[cases[i], "original", order[j]] : "-" }
      print "" }' "$work/steps.csv"
  echo
  echo '## Tables VI and VII: milliseconds of a step with 16 right-hand sides and without'
  echo
  echo 'Chebyshev with many vectors and the guesses are once in 16 steps. `best` has block Jacobi, pair storage and looser guesses, `series` guesses from a series besides.'
  echo
  echo '| | spheres | occupancy | algorithm | Chebyshev, many | guesses | Chebyshev, one | first solve | second solve | average | times the original |'
  echo '|---|---|---|---|---|---|---|---|---|---|---|'
  awk -F, 'NR == FNR { if ($7 == "original") old[$4, $5, $6] = $NF; next }
    $4 == "steps" || $4 == "best" || $4 == "series" { from = $4 == "series" ? "best" : $4
      printf "| %s | %s | %s | %s |", $4 == "steps" ? "" : $4, $5, $6, $7
      for (c = 14; c <= 18; c++) if ($c > 0) printf " %.3g |", 1e3 * $c; else printf " - |"
      printf " %.3g | %.2f |\n", 1e3 * $NF, $NF / old[from, $5, $6] }' "$work/summary.csv" "$work/summary.csv"
  echo
  echo '## Table VIII: where arithmetic begins to bound a product, and the best number of right-hand sides'
  echo
  echo '| spheres | occupancy | m_s | best m, model | best m, measured | model: times faster than m = 1 | measured: than the original |'
  echo '|---|---|---|---|---|---|---|'
  awk -F, 'NR > 1 { printf "| %s | %s | %s | %s | %s | %s | %s |\n", $4, $5, $6, $7, $8, $9, $10 }' "$work/optima.csv"
  [ -s "$work/growth.csv" ] || return 0
  echo
  echo '## Fig. 5: error of the guess = constant step^slope'
  echo
  echo '| spheres | occupancy | slope | constant |'
  echo '|---|---|---|---|'
  awk -F, 'NR > 1 { printf "| %s | %s | %s | %s |\n", $4, $5, $6, $7 }' "$work/growth.csv"
}

plots()
{
  command -v gnuplot >/dev/null 2>&1 || { echo 'no gnuplot: no pictures'; return 0; }
  bench=$(pwd)/bench
  (cd "$results" && gnuplot -e "backend = '$backend'" "$bench/style.gp" "$bench/study_mrhs.gp")
}

times='radii map products threads nodes steps best sweep replicas summary'
[ "$backend" = cpu ] || times='steps best sweep replicas products summary'
without_times='counts guesses'
[ "$backend" = cpu ] || without_times=guesses
parts=
for part in ${*:-$without_times times}; do
  [ "$part" != times ] || part="$times plots"
  parts="$parts $part"
done
for part in $parts; do
  case $part in
    summary | plots) ;;
    *) [ ! -e "$work/$part.done" ] || continue ;;
  esac
  echo "$part"
  rm -f "$work"/*.part
  $part
  for file in "$work"/*.part; do
    [ ! -e "$file" ] || mv "$file" "${file%.part}.csv"
  done
  publish
  touch "$work/$part.done"
done
rm -f "$build"/study-mrhs-*.xyz "$build"/study-mrhs-*.xyz.csv
echo "results are in $results"
