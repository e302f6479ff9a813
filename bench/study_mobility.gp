# bench/study_mobility.gp - pictures of products with mobilities, from the CSV files in the present folder (after
# bench/style.gp).
set terminal svg size 900,560 font 'sans,13' background rgb 'white' linewidth 1.2
set datafile separator ','
set datafile missing NaN
here(backend, part) = system('test -s '.backend.'-'.part.'.csv && echo 1') eq '1'
first(backend, part, column) = system('awk -F, "NR == 2 { print \$'.column.' }" '.backend.'-'.part.'.csv')
spheres(backend) = first(backend, 'times', 5)
name(backend) = first(backend, 'times', 3).', '.spheres(backend).' spheres'
chosen(backend, phi, y) = strcol(4) eq phi && strcol(5) eq spheres(backend) ? y : NaN

# Columns of times and map: occupancy 4, particles 5, vectors 6, tolerance 7, xi 8, ..., per_vector 16.
machines = (here('cpu', 'times') ? 'cpu ' : '').(here('gpu', 'times') ? 'gpu' : '')
set logscale x 2
set xlabel 'vectors'
set ylabel 'xi a of the best split'
set yrange [0:*]
set output 'splits.svg'
set title 'the best split depends on the number of vectors; tolerance 1e-3'
plot for [b in machines] for [phi in '0.1 0.3 0.5'] b.'-times.csv' skip 1 using 6:(chosen(b, phi, $8)) \
  with linespoints title phi.', '.name(b)

do for [b in machines] {
  set output b.'-times.svg'
  set title 'products, '.name(b).', tolerance 1e-3'
  set ylabel 'milliseconds a vector'
  plot for [phi in '0.1 0.3 0.5'] b.'-times.csv' skip 1 using 6:(chosen(b, phi, 1e3 * $16)) with linespoints title phi
}

set logscale x
set autoscale xfix
set xlabel 'xi a'
set yrange [0.9:3]
set xtics (0.1, 0.2, 0.3, 0.5, 0.8, 1.2)
set key above center horizontal maxrows 1 samplen 2
do for [b in machines] {
  if (here(b, 'map')) {
    # The occupancies of the file, side by side.
    n = first(b, 'map', 5)
    occupancies = system("awk -F, 'NR > 1 && !($4 in seen) { seen[$4]; print $4 }' ".b."-map.csv")
    least(m) = real(system("awk -F, -v m=".m." -v phi=".phi." -v n=".n." '$4 == phi && $5 == n && $6 == m && (!l || $15 < l) { l = $15 } END { print l }' ".b."-map.csv"))
    set terminal svg size 400 * words(occupancies),460 font 'sans,13' background rgb 'white' linewidth 1.2
    set output b.'-map.svg'
    set multiplot layout 1,words(occupancies) title 'products by split, '.n.' spheres, '.first(b, 'map', 3)."\n" noenhanced
    do for [phi in occupancies] {
      set title 'occupancy '.phi
      set ylabel phi eq word(occupancies, 1) ? 'time / that of the best split' : ''
      plot for [m in '1 4 16'] b.'-map.csv' skip 1 \
        using (strcol(4) eq phi && strcol(5) eq n && strcol(6) eq m ? $8 : NaN):($15 / least(m)) with linespoints title 'm = '.m
    }
    unset multiplot
  }
}
