# bench/copies.sh - large packings from small ones, for studies (sourced).

# copies FILE K : K^3 copies of a cubic packing side by side
copies()
{
  awk -v k="$2" '
    NR == 1 { print $1 * k * k * k; next }
    NR == 2 { match($0, /"[0-9.e+-]+ /); edge = substr($0, RSTART + 1, RLENGTH - 2) + 0
      rest = $0; sub(/Lattice="[^"]*"/, "", rest)
      printf "Lattice=\"%.17g 0 0 0 %.17g 0 0 0 %.17g\"%s\n", k * edge, k * edge, k * edge, rest; next }
    { for (a = 0; a < k; a++) for (b = 0; b < k; b++) for (c = 0; c < k; c++)
        printf "%s %.12g %.12g %.12g %s\n", $1, $2 + a * edge, $3 + b * edge, $4 + c * edge, $5 }' "$1"
}
