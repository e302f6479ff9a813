# bench/ladder.gp - picture of docs/ladder.md, from ladder-cpu.csv and ladder-gpu.csv in the present
# folder (after bench/style.gp), whichever there are: a column of two panels for each.  Columns: 4 rung, 6 atoms,
# 9 ms a step, 18 bytes L1 to L2 (model), 21 the same (counted).
there = ''
do for [b in "cpu gpu"] {
  if (system('[ -s ladder-'.b.'.csv ] && echo yes') eq 'yes') { there = there.' '.b }
}
set terminal svg size 760 * words(there),860 font 'sans,13' background rgb 'white' linewidth 1.3
set datafile separator ','
set output 'ladder.svg'
set multiplot layout 2,words(there) columnsfirst
set xtics rotate by -25 noenhanced
set logscale y
set boxwidth 0.26
rungs = '"all pairs" cells "list in random order" "list in creation order" "list in row order" '.\
  '"list in Morton order" "list in Hilbert order" "half list" tiles'
label(rung) = rung[1:8] eq 'list in ' ? rung[9:] : rung
bars(y) = "plot for [k=1:words(sizes)] of(word(sizes, k)) ".\
  "using (at(strcol(4)) + place(k)):(".y.") with boxes title word(sizes, k).' atoms'"
counted = ", for [k=1:words(sizes)] of(word(sizes, k)) ".\
  "using (at(strcol(4)) + place(k)):21 with points pt 7 lc 'black' title k == 1 ? 'counted' : ''"
do for [b in there] {
  file = 'ladder-'.b.'.csv'
  n = words(rungs) - (b eq 'cpu')
  set xrange [0.4:n + 0.6]
  set for [k=1:n] xtics add (label(word(rungs, k)) k)
  sizes = system("awk -F, 'NR > 1 && !seen[$6]++ { print $6 }' ".file)
  place(k) = (k - 0.5 * (words(sizes) + 1)) * 0.28
  at(name) = 1 + sum [k=1:n] (word(rungs, k) eq name ? k - 1 : 0)
  of(size) = sprintf("< awk -F, '$6 == %s' %s", size, file)
  metered = system("awk -F, 'NR > 1 && $21 != \"\" { n++ } END { print n + 0 }' ".file)
  least(y) = real(system(sprintf("awk -F, 'NR > 1 && %s { y = %s; if (!n++ || y < x) x = y } ".\
    "END { print x }' %s", y, y, file)))
  set ylabel 'ns an atom and step'
  set title (b eq 'cpu' ? 'one core of ' : '').system("awk -F, 'NR == 2 { print $3 }' ".file).', double precision'
  set yrange [0.7 * least('1e6 * $9 / $6'):*]
  eval bars('1e6 * $9 / $6')
  set ylabel 'bytes L1-L2, an atom and step (model)'
  unset title
  set yrange [0.7 * least('$18'):*]
  eval bars('$18').(metered > 0 ? counted : '')
}
unset multiplot
