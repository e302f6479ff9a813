# bench/study_orderings.gp - pictures of the study, from the CSV files in the present folder.
# Columns 1 to 3 of each are date, commit and machine.
set terminal svg size 900,560 font 'sans,13' background rgb 'white' linewidth 1.3
set datafile separator ','
set grid
set key outside top center horizontal noenhanced
three = "row hilbert morton"
only(column, word, value) = strcol(column) eq word ? value : NaN

# Figs. 6 and 7: columns order, stencil, offset, count.
do for [g in "1 3"] {
  set output 'offsets-block'.g.'.svg'
  set xlabel 'memory offset / bins'
  set ylabel 'count'
  set yrange [0:*]
  set xrange [g == 1 ? -300 : -900 : g == 1 ? 300 : 900]
  plot for [o in three] 'offsets.csv' skip 1 using \
    (strcol(5) eq 'block:'.g ? only(4, o, $6) : NaN):7 with impulses lw (o eq 'row' && g == 1 ? 3 : 1) title o
}

# Figs. 8 and 9: columns order, stencil, within, fraction.
set style data histograms
set style fill solid 0.7
do for [g in "1 3"] {
  set output 'within-block'.g.'.svg'
  set xlabel 'within a memory offset / bins'
  set ylabel 'fraction of bins'
  set xrange [*:*]
  set yrange [0:1]
  plot for [o in three] sprintf("< awk -F, '$4 == \"%s\" && $5 == \"block:%s\"' within.csv", o, g) \
    using 7:xtic(6) title o
}

# Figs. 10 to 13: columns figure, order, size, stencil, half, line, capacity, accesses, misses, rate.
set style data lines
set logscale x 2
set xlabel 'capacity / lines'
set ylabel 'miss rate'
do for [f=10:13] {
  set output sprintf('misses-fig%d.svg', f)
  set xrange [1:f == 13 ? 32768 : f == 10 ? 16384 : 4096]
  set yrange [0:*]
  plot for [o in three.' hybrid:hilbert/row:4 hybrid:row/row:4'] \
    sprintf("< awk -F, '$4 == %d && $5 == \"%s\"' misses.csv", f, o) using 10:13 lw 2 title o
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
set key outside top center horizontal noenhanced

# Kernels: bins, order, list, precision, machine, schedule, caches, stream, 3 figures, hit rates.
set style data histograms
set xtics rotate by -30 noenhanced
set xrange [*:*]
set xlabel ''
set yrange [0:*]
do for [m in "h200 GTX_960 host"] {
  file = m eq 'host' ? 'kernel_host.csv' : 'kernel_gpu.csv'
  name = m eq 'GTX_960' ? 'GTX 960' : m
  set output 'kernel-'.(m eq 'GTX_960' ? 'gtx960' : m).'.svg'
  set ylabel 'bytes an atom asked of L2, '.name
  plot for [l in "full half"] sprintf("< awk -F, '$4 == \"/2\" && $6 == \"%s\" && ".\
    "$8 == \"%s\" && $11 == \"all\"' %s", l, name, file) using 17:xtic(5) title l.' lists'
}

# Creation order with time: steps, sorted, order, ..., machine, schedule, caches, stream, ...
set style data linespoints
set xtics norotate
set output 'decay.svg'
set xlabel 'steps'
set ylabel 'bytes an atom from L2, h200'
plot "< awk -F, '$6 == \"none\" && $12 == \"all\"' decay.csv" using 4:18 lw 2 title 'creation order', \
  "< awk -F, '$5 == \"once\" && $6 == \"hilbert\" && $12 == \"all\"' decay.csv" using 4:18 lw 2 \
  title 'Hilbert, sorted at the start', \
  "< awk -F, '$5 == \"always\" && $12 == \"all\"' decay.csv" using 4:18 lw 2 \
  title 'Hilbert, sorted at every rebuild'

# Times: order, list, atoms, steps, repeats, confidence, ranks, rate, force, neighbor, sort, total.
set style data histograms
set style histogram errorbars gap 1 lw 1
set xtics rotate by -30 noenhanced
set xlabel ''
set output 'compare.svg'
set ylabel 'processor time: ns an atom and step'
plot for [l in "full half"] sprintf("< awk -F, '$6 == 131072 && $5 == \"%s\"' compare.csv | ".\
  "LC_ALL=C sort -t, -k4,4", l) using (1e9 * $25 / ($6 * $7)):(1e9 * $26 / ($6 * $7)): \
  (1e9 * $27 / ($6 * $7)):xtic(4) title l.' lists, 131,072 atoms'

# What a sort is worth: sort_every before those columns.
set style histogram clustered gap 1
set output 'sort-period.svg'
set xlabel 'steps between sorts'
plot "< sed 's/,1000000,/,never,/' sort_period.csv" skip 1 using (1e9 * $26 / ($7 * $8)):xtic(4) \
  title 'Hilbert order, 131,072 atoms'

# Fig. 16: cells before those columns; the force's share of the total is one of wall times.
set output 'sizes.svg'
set xlabel 'N (4 N^3 atoms)'
set ylabel 'processor time: seconds, 100 steps'
set xtics norotate
plot for [l in "full half"] for [part in "force total"] \
  sprintf("< awk -F, '$6 == \"%s\"' sizes.csv", l) \
  using ($26 * (part eq 'force' ? $14 / $23 : 1)):xtic(4) title l.', '.part
