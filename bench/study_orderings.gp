# bench/study_orderings.gp - pictures of the study, from the CSV files in the present folder; after
# bench/style.gp.  Columns 1 to 3 of each are date, commit and machine.
set terminal svg size 900,560 font 'sans,13' background rgb 'white' linewidth 1.2
set datafile separator ','
three = "row hilbert morton"
on(file) = system("awk -F, 'NR == 2 { print $3 }' ".file)
only(column, word, value) = strcol(column) eq word ? value : NaN

# Figs. 6 and 7: columns order, stencil, offset, count.
do for [g in "1 3"] {
  set output 'offsets-block'.g.'.svg'
  set xlabel 'memory offset / bins'
  set ylabel 'count'
  set yrange [0:*]
  set xrange [g == 1 ? -300 : -900 : g == 1 ? 300 : 900]
  outside = system(sprintf("awk -F, '$5 == \"block:%s\" { all[$4] += $7; if ($6 > %d || $6 < -%d) out[$4] += $7 } ".\
    "END { printf \"row %%.0f %%%%, hilbert %%.0f %%%%, morton %%.0f %%%%\", 100 * out[\"row\"] / all[\"row\"], ".\
    "100 * out[\"hilbert\"] / all[\"hilbert\"], 100 * out[\"morton\"] / all[\"morton\"] }' offsets.csv", g, 300 * g, 300 * g))
  set title 'block:'.g.' over 16 x 16 x 16 bins; beyond the picture: '.outside
  plot for [o in three] 'offsets.csv' skip 1 using \
    (strcol(5) eq 'block:'.g ? only(4, o, $6) : NaN):7 with impulses dt 1 lw (o eq 'row' && g == 1 ? 3 : 1) title o
}

# Figs. 8 and 9: columns order, stencil, within, fraction.
set style data histograms
do for [g in "1 3"] {
  set output 'within-block'.g.'.svg'
  set xlabel 'within a memory offset / bins'
  set ylabel 'fraction of bins'
  set title 'block:'.g.' over 16 x 16 x 16 bins'
  set xrange [*:*]
  set yrange [0:1]
  plot for [o in three] sprintf("< awk -F, '$4 == \"%s\" && $5 == \"block:%s\"' within.csv", o, g) \
    using 7:xtic(6) title o
}

# Figs. 10 to 13: columns figure, order, size, stencil, half, line, capacity, accesses, misses, rate.
set style data lines
set logscale x 2
set logscale y 10
set xlabel 'capacity / lines'
set ylabel 'miss rate'
do for [f=10:13] {
  set output sprintf('misses-fig%d.svg', f)
  set xrange [1:f == 13 ? 32768 : f == 10 ? 16384 : 4096]
  set yrange [*:*]
  set title system(sprintf("awk -F, '$4 == %d { print $7 \" over \" $6 \"^3 bins, \" $9 \" bins in a line\"; exit }' misses.csv", f)) enhanced
  plot for [o in three.' hybrid:hilbert/row:4 hybrid:row/row:4'] \
    sprintf("< awk -F, '$4 == %d && $5 == \"%s\"' misses.csv", f, o) using 10:13 title o
}

# Hilbert against row: columns order, size, stencil, half, line, capacity, accesses, misses.
set output 'dependence.svg'
set multiplot layout 1,2 title 'misses of row-major order / misses of Hilbert order'
set xlabel 'line / bins'
set ylabel 'cache / bins'
set logscale xy 2
set logscale cb 2
set cbrange [0.25:4]
set palette defined (0 '#b2182b', 1 '#f7f7f7', 2 '#2166ac')
set xrange [0.7:46]
set yrange [22:24000]
unset key
do for [s in "block:1 sphere:3"] {
  set title s
  plot sprintf("< awk -F, '$6 == \"%s\" { key = $8 \",\" $8 * $9; if ($4 == \"row\") row[key] = $11; ".\
    "if ($4 == \"hilbert\") h[key] = $11 } END { for (k in h) print k \",\" row[k] / h[k] }' ".\
    "dependence.csv", s) using 1:2:3 with points pt 5 ps 2.6 lc palette
}
unset multiplot
unset title
unset logscale
set key above center horizontal noenhanced

# Kernels: bins, order, list, precision, machine, schedule, caches, stream, 3 figures, hit rates.
set style data histograms
set xtics rotate by -30 noenhanced
set xrange [*:*]
set xlabel ''
set yrange [0:*]
do for [m in "h200 GTX_960 host"] {
  file = m eq 'host' ? 'kernel-host.csv' : 'kernel-gpu.csv'
  name = m eq 'GTX_960' ? 'GTX 960' : m
  set output 'kernel-'.(m eq 'GTX_960' ? 'gtx960' : m).'.svg'
  set ylabel 'bytes an atom asked of L2'
  set title 'force kernel, 131,072 atoms, double precision, model of '.name
  plot for [l in "full half"] sprintf("< awk -F, '$4 == \"/2\" && $6 == \"%s\" && ".\
    "$8 == \"%s\" && $11 == \"all\"' %s", l, name, file) using 17:xtic(5) title l.' lists'
}

# Creation order with time: steps, sorted, order, ..., machine, schedule, caches, stream, ...
set style data linespoints
set xtics norotate
set output 'decay.svg'
set xlabel 'steps'
set ylabel 'bytes an atom from L2'
set title 'force kernel, double precision, model of h200'
plot "< awk -F, '$6 == \"none\" && $12 == \"all\"' decay.csv" using 4:18 title 'creation order', \
  "< awk -F, '$5 == \"once\" && $6 == \"hilbert\" && $12 == \"all\"' decay.csv" using 4:18 \
  title 'Hilbert, sorted at the start', \
  "< awk -F, '$5 == \"always\" && $12 == \"all\"' decay.csv" using 4:18 \
  title 'Hilbert, sorted at every rebuild'

# Times: order, list, atoms, steps, repeats, confidence, ranks, rate, force, neighbor, sort, total.
set style data histograms
set style histogram errorbars gap 1 lw 1
set errorbars lc rgb '#222222' dt 1
set xtics rotate by -30 noenhanced
set xlabel ''
set output 'compare.svg'
set ylabel 'processor time: ns an atom and step'
set title '131,072 atoms, 100 steps, one core of '.on('compare.csv')
plot for [l in "full half"] sprintf("< awk -F, '$6 == 131072 && $5 == \"%s\"' compare.csv | ".\
  "LC_ALL=C sort -t, -k4,4", l) using (1e9 * $25 / ($6 * $7)):(1e9 * $26 / ($6 * $7)): \
  (1e9 * $27 / ($6 * $7)):xtic(4) title l.' lists'

# What a sort is worth: sort_every before those columns.
set style histogram clustered gap 1
set output 'sort-period.svg'
set xlabel 'steps between sorts'
set title '131,072 atoms, 2000 steps, one core of '.on('sort-period.csv')
plot "< sed 's/,1000000,/,never,/' sort-period.csv" skip 1 using (1e9 * $26 / ($7 * $8)):xtic(4) \
  title 'Hilbert order'

# Fig. 16: cells before those columns; the force's share of the total is one of wall times.
set output 'sizes.svg'
set xlabel 'N (4 N^3 atoms)'
set ylabel 'processor time: seconds, 100 steps'
set title 'row order, double precision, one core of '.on('sizes.csv')
set xtics norotate
plot for [l in "full half"] for [part in "force total"] \
  sprintf("< awk -F, '$6 == \"%s\"' sizes.csv", l) \
  using ($26 * (part eq 'force' ? $14 / $23 : 1)):xtic(4) title l.', '.part
