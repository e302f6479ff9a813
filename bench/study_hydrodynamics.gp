# bench/study_hydrodynamics.gp - pictures of what suspensions do as a whole, from the CSV files in the present folder (after
# bench/style.gp).
set terminal svg size 900,560 font 'sans,13' background rgb 'white' linewidth 1.2
set datafile separator ','
set datafile missing NaN
limit(kind, what, y) = strcol(4) eq kind && strcol(5) eq what ? y : NaN
words = 'rpy full lubrication'

# Columns of limits: hydrodynamics, observable, occupancy, three sizes with errors, viscosity, limit, error.
set xlabel 'occupancy'
set xrange [0:0.55]
set yrange [0:1.1]
set output 'diffusion.svg'
set title 'short-time self-diffusion of spheres of one size, without images'
set ylabel 'D_s / D_0'
plot for [k in words] 'cpu-limits.csv' skip 1 using 6:(limit(k, 'diffusion', $14)):15 with yerrorlines title k, \
  [0:0.2] 1 - 1.83 * x with lines lt 7 title '1 - 1.83 phi', \
  '-' using 1:2 with points pt 12 ps 1.4 lc rgb '#000000' title 'literature'
0.1,0.82
0.3,0.49
0.45,0.26
e

set output 'sedimentation.svg'
set title 'sedimentation velocity of spheres of one size, without images'
set ylabel 'U / U_0'
plot for [k in 'rpy full'] 'cpu-limits.csv' skip 1 using 6:(limit(k, 'sedimentation', $14)):15 with yerrorlines title k, \
  [0:0.5] (1 - x) ** 3 / (1 + 2 * x) + x * x / 5 with lines lt 5 title 'M alone, theory', \
  [0:0.12] 1 - 6.55 * x with lines lt 7 title '1 - 6.55 phi'

# Columns of cubic: kind 6, value 10.
set output 'cubic.svg'
set title 'drag of a cubic array over that of a sphere alone'
set ylabel 'drag'
set yrange [1:12]
set xrange [0:0.47]
plot for [k in 'rpy full'] 'cpu-cubic.csv' skip 1 using 5:(strcol(6) eq k ? 1 / $10 : NaN) with linespoints title k, \
  '-' using 1:2 with points pt 12 ps 1.4 lc rgb '#000000' title 'Zick and Homsy'
0.125,4.292
0.216,7.442
e

# Columns of suspension: seed 4, spheres 5, occupancy 6, kind 7, observable 8, wave 9, structure 10, value 11.
set xlabel 'q a'
set xrange [0:6.2]
set yrange [0:1.6]
set ylabel 'H(q)'
set output 'hq.svg'
set title 'hydrodynamic function, 1000 spheres, mean of six packings'
one(kind, phi, y) = strcol(8) eq 'hq' && strcol(5) eq '1000' && strcol(7) eq kind && strcol(6) eq phi ? y : NaN
plot for [k in 'rpy full'] for [phi in '0.1 0.3 0.5'] 'cpu-suspension.csv' skip 1 \
  using (column(9)):(one(k, phi, $11)) smooth unique with linespoints title k.', '.phi
