# bench/study_orderings_gpu.gp - pictures of the GPU's part of the study, from the CSV files in the
# present folder; after bench/style.gp.  Columns 1 to 4 of each are date, commit, machine, cells.
set terminal svg size 900,560 font 'sans,13' background rgb 'white' linewidth 1.2
set datafile separator ','
orders = "row column morton hilbert gilbert hybrid:hilbert/row:4 hybrid:row/hilbert:4 none"
few = "row morton hilbert hybrid:hilbert/row:4"
on(file) = system("awk -F, 'NR == 2 { print $3 }' ".file)
here(file) = int(system("test -s ".file." && echo 1 || echo 0"))

# Figs. 19 and 20: columns order, list, precision, step, atoms, block_size, bin_size, carveout,
# sort_every, launches, force_us.
set style data linespoints
if (here("gpu-times.csv")) do for [l in "full half"] {
  set output 'gpu-times-'.l.'.svg'
  set xlabel 'N (4 N^3 atoms)'
  set logscale x 2
  set xrange [30:280]
  set xtics (32, 40, 48, 56, 64, 80, 92, 128, 192, 256)
  set title 'force kernel, double precision, '.l.' lists, '.on('gpu-times.csv')
  set ylabel 'ns an atom'
  plot for [o in orders] sprintf("< awk -F, '$5 == \"%s\" && $6 == \"%s\" && $7 == \"double\"' gpu-times.csv", o, l) \
    using 4:(1e3 * $15 / $9) title o
}
unset logscale
set xrange [*:*]
set xtics autofreq

# Fig. 18.
if (here("gpu-blocks.csv")) do for [l in "full half"] {
  set output 'gpu-blocks-'.l.'.svg'
  set xlabel 'threads in a block'
  set ylabel 'ms'
  set title 'force kernel, 3,114,752 atoms, double precision, '.l.' lists, '.on('gpu-blocks.csv')
  plot for [o in few] sprintf("< awk -F, '$5 == \"%s\" && $6 == \"%s\" && $7 == \"double\"' gpu-blocks.csv", o, l) \
    using 10:(1e-3 * $15) title o
}

if (here("gpu-carveout.csv")) {
  set output 'gpu-carveout.svg'
  set xlabel 'shared memory set apart / %'
  set ylabel 'ms'
  set title 'force kernel, 3,114,752 atoms, double precision, full lists, '.on('gpu-carveout.csv')
  plot for [o in few] sprintf("< awk -F, '$5 == \"%s\" && $6 == \"full\" && $7 == \"double\"' gpu-carveout.csv", o) \
    using 12:(1e-3 * $15) title o
}

if (here("gpu-decay.csv")) {
  set output 'gpu-decay.svg'
  set xlabel 'steps'
  set ylabel 'ms'
  set title 'force kernel, 3,114,752 atoms, double precision, full lists, '.on('gpu-decay.csv')
  plot for [e in "20 100 200 400 1000 2000 1000000"] \
    sprintf("< awk -F, '$5 == \"hilbert\" && $13 == %s' gpu-decay.csv", e) using 8:(1e-3 * $15) \
    title e eq '1000000' ? 'hilbert, sorted at the start' : 'every '.e.' steps', \
    "< awk -F, '$5 == \"none\"' gpu-decay.csv" using 8:(1e-3 * $15) title 'creation order', \
    "< awk -F, '$5 == \"row\"' gpu-decay.csv" using 8:(1e-3 * $15) title 'row, sorted at the start'
}

set style data histograms
set xtics rotate by -30 noenhanced
set xlabel ''
if (here("gpu-bins.csv")) {
  set output 'gpu-bins.svg'
  set ylabel 'ms'
  set title 'force kernel, 3,114,752 atoms, double precision, full lists, '.on('gpu-bins.csv')
  set yrange [0:*]
  plot for [b in "2.8000 1.4000 0.9333"] \
    sprintf("< awk -F, '$6 == \"full\" && $7 == \"double\" && $11 == \"%s\"' gpu-bins.csv", b) \
    using (1e-3 * $15):xtic(5) title 'bins of '.b
}

# Figs. 21 to 25, measured and modelled: columns figure, quantity, order, list, precision, step,
# atoms, block_size, caches, measured, spread_percent, modelled.
set yrange [0:*]
largest = system("awk -F, 'NR > 1 && $4 > n { n = $4 } END { print n + 0 }' gpu-profile.csv") # N
rows(q, l) = sprintf("< awk -F, '$4 == ".largest." && $6 == \"%s\" && $8 == \"%s\" && $9 == \"double\" && ".\
  "$13 == \"warm\"' gpu-profile.csv", q, l)
called(q) = q eq 'time_us' ? 'time / us' : q eq 'eligible_percent' ? 'cycles with an eligible warp / %' : \
  q eq 'memory_dependency_percent' ? 'stalls that wait for memory / %' : q eq 'l1_hit_percent' ? 'hits in L1 / %' : \
  q eq 'l2_read_hit_percent' ? 'reads that hit in L2 / %' : \
  q eq 'load_sectors_per_request' ? 'sectors of 32 bytes a load' : 'active lanes of a warp / %'
about(l) = 'force kernel, N = '.largest.' (4 N^3 atoms), double precision, '.l.' lists, '.on('gpu-profile.csv')
if (here("gpu-profile.csv")) do for [l in "full half"] {
  do for [q in "time_us eligible_percent memory_dependency_percent"] {
    set output 'gpu-'.q.'-'.l.'.svg'
    set ylabel called(q) noenhanced
    set title about(l) noenhanced
    plot rows(q, l) using 14:xtic(7) title 'measured'
  }
  do for [q in "l1_hit_percent l2_read_hit_percent load_sectors_per_request warp_execution_efficiency_percent"] {
    set output 'gpu-'.q.'-'.l.'.svg'
    set ylabel called(q) noenhanced
    set title about(l) noenhanced
    plot rows(q, l) using 14:xtic(7) title 'measured', rows(q, l) using 16 title 'modelled'
  }
}
