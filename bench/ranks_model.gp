# bench/ranks_model.gp - picture of docs/ranks.md, from ranks-model.csv in the present folder (after
# bench/style.gp).  Columns: 4 kind, 5 cells, 6 ranks, 8 basis, 14 us a step, 15 least, 16 most,
# 20 times one GPU, 21 the same measured.
set terminal svg size 1100,480 font 'sans,13' background rgb 'white' linewidth 1.3
set datafile separator ','
set datafile missing NaN
set output 'ranks-model.svg'
set multiplot layout 1,2
set logscale x 2
set xlabel 'GPUs (8 in a host; beyond, the network is assumed)'
set xrange [0.9:570]
set xtics (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
set arrow from 8, graph 0 to 8, graph 1 nohead lc rgb '#444444' dt (4,4)
# Rows of a kind: measured (1) or predicted (0); cells of those that there are.
chosen(kind, measured) = sprintf("$4 == \"%s\" && ($8 == \"fitted\") == %d", kind, measured)
rows(kind, measured, cells) = \
  "< awk -F, '".chosen(kind, measured).' && $5 == '.cells."' ranks-model.csv"
sizes(kind, measured) = \
  system("awk -F, '".chosen(kind, measured)." && !seen[$5]++ { print $5 }' ranks-model.csv")
atoms(cells) = sprintf('%.3g million atoms', 4e-6 * cells ** 3)
style(cells) = cells <= 32 ? 4 : cells <= 64 ? 1 : cells <= 128 ? 2 : 3
# Of y(times as fast as one GPU, GPUs): lines, the range of all fits, points that were measured.
panel = "plot for [s in sizes(kind, 0)] rows(kind, 0, s) using 6:(y($20, $6)) ".\
  "with lines ls style(s) title atoms(s), for [s in sizes(kind, 0)] rows(kind, 0, s) ".\
  "using 6:(y($20 * $14 / $16, $6)):(y($20 * $14 / $15, $6)) ".\
  "with filledcurves fs transparent solid 0.2 noborder ls style(s) notitle, ".\
  "for [s in sizes(kind, 1)] rows(kind, 1, s) using 6:(y($21, $6)) ".\
  "with points ls style(s) title atoms(s).', measured'"

kind = 'strong'
y(times, gpus) = times
set title 'as many atoms in all'
set ylabel 'times as fast as one GPU'
set logscale y 2
set yrange [0.25:570]
set key inside left top Left reverse
eval panel

kind = 'weak'
y(times, gpus) = 100 * times / gpus
set title 'as many atoms a GPU'
set ylabel 'per cent of the rate of one GPU'
unset logscale y
set yrange [0:105]
set key inside left bottom
eval panel
unset multiplot
