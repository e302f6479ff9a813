# bench/study_spread.gp - pictures of the study of spreading, from the CSV files in the present
# folder; after bench/style.gp; backend is cpu or gpu.  Columns: 4 method, 5 variant, 6 distribution, 7 precision,
# 8 particles, 9 mesh, 10 order, 13 asm, 14 build_s, 15 spread_s.
set terminal svg size 900,560 font 'sans,13' background rgb 'white' linewidth 1.2
set datafile separator ','
set style data linespoints
set logscale xy
set format xy '10^{%T}'
set xlabel 'particles'
set ylabel 'seconds'
gpu = backend eq 'gpu'
methods = gpu ? 'particle gather single group hybrid cusparse tiled' : 'particle single coloured tiled'
of(file, filter) = sprintf("< awk -F, 'NR > 1 && %s' %s-%s.csv", filter, file, backend)
case(method, distribution, mesh, order) = \
  sprintf('$4 == "%s" && $6 == "%s" && $9 == %d && $10 == %d', method, distribution, mesh, order)
mesh = gpu ? 128 : 64
machine = system("awk -F, 'NR == 2 { print $3 }' methods-single-".backend.".csv")
about(what) = what.', '.machine
set title noenhanced

# Figs. 8 and 9: one spreading, and building, by method; the same for other distributions and meshes.
precisions = system("ls methods-*-".backend.".csv | sed 's/methods-//; s/-.*//' | xargs")
do for [precision in precisions] {
  do for [d in "uniform lattice clustered"] {
    set output sprintf('spreading-%s-%s-%s.svg', d, precision, backend)
    set title about(d.' particles, mesh '.mesh.'^3, order 6, '.precision.' precision')
    plot for [m in methods] of('methods-'.precision, case(m, d, mesh, 6)) using 8:15 title m
  }
  set output sprintf('building-%s-%s.svg', precision, backend)
  set title about('building, mesh '.mesh.'^3, order 6, '.precision.' precision')
  plot for [m in methods] of('methods-'.precision, case(m, 'uniform', mesh, 6).' && $4 != "cusparse"') \
    using 8:14 title m
}
set output 'meshes-'.backend.'.svg'
set terminal svg size 1000,gpu ? 900 : 480
set multiplot layout gpu ? 2 : 1,2 title about('one spreading, order 6, single precision') noenhanced
set key above maxrows 2 font ',10'
do for [k in gpu ? "32 64 128 256" : "32 64"] {
  set title 'mesh '.k.'^3'
  plot for [m in methods] of('methods-single', case(m, 'uniform', int(k), 6)) using 8:15 title m
}
unset multiplot
set terminal svg size 900,560
set key above font ',13' maxrows auto
set title about('mesh '.mesh.'^3, single precision')
set output 'orders-'.backend.'.svg'
plot for [p in gpu ? "4 5 6 8" : "4 6 8"] for [m in "particle tiled"] \
  of('methods-single', case(m, 'uniform', mesh, int(p))) using 8:15 title m.', order '.p

# Section 4.5: the time of R spreadings of one set of 1e6 (CPU: 1e5) particles, building included.
set output 'repeats-'.backend.'.svg'
set xlabel 'spreadings of one set of positions'
set title about((gpu ? '10^6' : '10^5').' particles, mesh '.mesh.'^3, order 6, single precision')
set xrange [1:10000]
set samples 200
times(m) = of('methods-single', case(m, 'uniform', mesh, 6).sprintf(' && $8 == %d && $5 == ""', gpu ? 1000000 : 100000))
build_s(m) = real(system(sprintf("%s", substr(times(m), 3, strlen(times(m)))." | cut -d, -f14")))
spread_s(m) = real(system(sprintf("%s", substr(times(m), 3, strlen(times(m)))." | cut -d, -f15")))
array b[words(methods)]
array s[words(methods)]
do for [i = 1:words(methods)] {
  b[i] = build_s(word(methods, i))
  s[i] = spread_s(word(methods, i))
}
plot for [i = 1:words(methods)] b[i] + x * s[i] with lines title word(methods, i)
set xrange [*:*]

if (gpu) {
  # Fig. 7: particle and gather.
  set output 'fig7-gather-gpu.svg'
  set xlabel 'particles'
  set title about('mesh 64^3, order 6, single precision')
  plot for [m in "particle gather tiled"] of('methods-single', case(m, 'uniform', 64, 6)) using 8:15 title m
  # Fig. 3: lanes a row; Fig. 5: what shuffles gain over shared memory.
  set output 'fig3-units-gpu.svg'
  set xlabel 'entries a matrix row (ASM)'
  set xrange [0.08:150]
  set title about('spreading by matrix rows: lanes a row, mesh 128^3, single precision')
  plot for [u in "1 2 4 8 16"] of('units', '$5 == "'.u.' shuffle" && $9 == 128') using 13:15 title u.' lanes'
  set output 'fig5-shuffle-gpu.svg'
  unset logscale y
  set format y '%.2f'
  set ylabel 'time with shared memory / time with shuffles'
  set title about('the same by shuffles and by shared memory')
  plot for [u in "2 4 8 16"] sprintf("< awk -F, 'NR > 1 && $9 == 128 { split($5, of, \" \"); t[of[2], of[1], $13] = $15; a[$13] } END { for (k in a) print k \",\" t[\"shared\", %s, k] / t[\"shuffle\", %s, k] }' units-gpu.csv | sort -t, -g", u, u) \
    using 1:2 title u.' lanes'
  set logscale y
  set format y '10^{%T}'
  set ylabel 'seconds'
  # Fig. 4: rows a group.
  set output 'fig4-groups-gpu.svg'
  set xrange [*:*]
  set xlabel 'rows a group'
  set title about('group, mesh 128^3, order 6, single precision')
  set logscale x 2
  set format x '%.0f'
  plot for [n in "1000 10000 100000 1000000"] of('groups', '$8 == '.n) using 5:15 title n.' particles'
  set logscale x 10
  set format x '10^{%T}'
  # Fig. 6: atomic additions against stores.
  set output 'fig6-atomics-gpu.svg'
  set xlabel 'particles'
  set title about('atomic additions and plain stores')
  plot for [v in "'6 lanes atomic' '6 lanes stores' '1 lane atomic' '1 lane stores'"] \
    of('atomics', '$5 == "'.v.'"') using 8:15 title v
}
