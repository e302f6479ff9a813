# The look of every picture, written by `minimd docs`.
set linetype 1 lc rgb '#0072b2' lw 2 dt 1 pt 7
set linetype 2 lc rgb '#d55e00' lw 2 dt 2 pt 5
set linetype 3 lc rgb '#009e73' lw 2 dt 4 pt 9
set linetype 4 lc rgb '#cc79a7' lw 2 dt 3 pt 11
set linetype 5 lc rgb '#56b4e9' lw 2 dt 5 pt 13
set linetype 6 lc rgb '#8c510a' lw 2 dt (12,3,3,3,3,3) pt 6
set linetype 7 lc rgb '#000000' lw 2 dt (3,2) pt 4
set linetype 8 lc rgb '#7a7a7a' lw 2 dt (16,4) pt 8
set linetype 9 lc rgb '#5e3c99' lw 2 dt 6 pt 10
set linetype cycle 9
set palette defined (0 '#bcd9ee', 1 '#56a3d9', 2 '#0072b2', 3 '#08306b')
set border 3 lc rgb '#444444'
set tics nomirror
set grid lc rgb '#dddddd' lt 1 dt 1 lw 0.7
set style fill solid 0.8 noborder
set key above center horizontal noenhanced
set title noenhanced
