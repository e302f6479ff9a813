# bench/study_mrhs.gp - pictures of the study of many right-hand sides, from the CSV files in the
# present folder (after bench/style.gp) whose names begin with `backend`.  Columns 1 to 3 are date, commit and machine.
set terminal svg size 900,560 font 'sans,13' background rgb 'white' linewidth 1.2
set datafile separator ','
set style data linespoints
name(part) = backend.'-'.part
file(part) = name(part).'.csv'
here(part) = system('test -s '.file(part).' && echo 1') eq '1'
on(part) = system("awk -F, 'NR == 2 { print $3 }' ".file(part))
only(column, word, value) = strcol(column) eq word ? value : NaN

# Fig. 2: columns matrix, backend, rows, blocks, vectors, time, rates, relative time, model's.
if (here('products')) {
  set xlabel 'vectors m'
  set ylabel 'time of m vectors / time of one'
  set output name('relative.svg')
  set title 'products with m vectors, double precision, '.on('products')
  plot for [m in 'mat1 mat2 mat3'] file('products') skip 1 using 8:(only(4, m, $12)) pt 7 ps 0.5 title m.' measured', \
    for [m in 'mat1 mat2 mat3'] '' skip 1 using 8:(only(4, m, $13)) with lines dt 2 title m.' model'
}

# Figs. 3 and 4: columns matrix, nodes, vectors, remote rows, messages, time, communication, relative time.
if (here('nodes')) {
  set ylabel 'time of m vectors / time of one, by the model'
  do for [matrix in 'mat1 mat2'] {
    chosen(n, y) = strcol(4) eq matrix && strcol(5) eq n ? y : NaN
    set xlabel 'vectors m'
    set output name('nodes-'.matrix.'.svg')
    set title matrix.' shared by several nodes, by the model'
    plot for [n in '1 4 16 32 64'] file('nodes') skip 1 using 6:(chosen(n, $11)) pt 7 ps 0.5 \
      title matrix.', '.n.(n eq '1' ? ' node' : ' nodes')
  }
  set xlabel 'nodes'
  set logscale x 2
  set datafile missing NaN
  set output name('nodes.svg')
  set title 'matrices shared by several nodes, by the model'
  plot for [matrix in 'mat1 mat2'] for [m in '8 16 32'] file('nodes') skip 1 \
    using 5:(strcol(4) eq matrix && strcol(6) eq m ? $11 : NaN) pt 7 ps 0.5 title matrix.', m = '.m
  unset logscale
  unset datafile missing
}

# Fig. 5: columns spheres, occupancy, algorithm, rhs, threads, step, iterations, error.
if (here('guesses')) {
  set xlabel 'step'
  set ylabel 'relative error of the guess'
  set logscale xy
  set output name('guess-error.svg')
  set title 'guesses from a block of right-hand sides, 3000 spheres, double precision, '.on('guesses')
  plot for [o in '0.1 0.3 0.5'] file('guesses') skip 1 using 9:(only(5, o, $12 > 0 ? $12 : NaN)) pt 7 ps 0.5 \
    title 'occupancy '.o, 0.01 * sqrt(x) with lines dt 2 title '0.01 sqrt(step)'
  unset logscale
}

# Fig. 6: iterations of the first solve with guesses.
if (here('steps')) {
  set ylabel 'iterations of the first solve with a guess'
  set yrange [0:*]
  set output name('iterations.svg')
  set title 'occupancy 0.5, double precision, '.on('steps')
  plot for [n in '3000 30000 300000'] file('steps') skip 1 using 9:(strcol(4) eq n && strcol(5) eq '0.5' && \
    strcol(6) eq 'mrhs' && $12 > 0 ? $10 : NaN) pt 7 ps 0.5 title n.' spheres'
}

# Fig. 7: columns part, spheres, occupancy, algorithm, rhs, ..., average; model: spheres, occupancy, rhs, ...,
# time of a step.
if (here('summary') && here('model')) {
  set xlabel 'right-hand sides m'
  set ylabel 'time of a step / time of the model with m = 1'
  set xrange [0:33]
  one(n) = real(system("awk -F, '$4 == ".n." && $6 == 1 { print $9 }' ".file('model')))
  sizes = system("awk -F, 'NR > 1 && !($4 in seen) { seen[$4] = 1; print $4 }' ".file('model'))
  set output name('sweep.svg')
  set title 'Stokesian dynamics with m right-hand sides, double precision, '.on('summary')
  set logscale y
  set yrange [*:*]
  plot for [n in sizes] file('summary') skip 1 using 8:(strcol(4) eq 'sweep' && strcol(5) eq n && \
    strcol(7) eq 'mrhs' ? $19 / one(n) : NaN) pt 7 ps 0.5 title n.' measured', \
    for [n in sizes] file('model') skip 1 using 6:(only(4, n, $9 / one(n))) with lines dt 2 title n.' model'
  unset logscale
  set xrange [*:*]
}

# Fig. 8: columns threads, matrix, ..., vectors, time.
if (here('threads')) {
  set xlabel 'vectors m'
  set ylabel 'time of a product / s'
  set output name('threads.svg')
  set yrange [0:*]
  set title 'products of mat2 with m vectors, '.on('threads')
  plot for [n in '1 2'] file('threads') skip 1 using 9:(only(4, n, $10)) pt 7 ps 0.5 title 'mat2, '.n.' threads'
}
