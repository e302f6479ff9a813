#!/bin/sh
# bench/ranks_model.sh [ROWS] - what a step takes on 1 to 512 GPUs, by a model fitted to ROWS (else
# docs/results/engine-ranks.csv): docs/results/ranks-model.csv, ranks-model-parameters.csv and
# ranks-model.svg, and the tables of docs/ranks.md.  RESULTS and PAGE name other places.
#
# A step of a GPU with n atoms takes, with several GPUs (P > 1) in one host,
#
#   t = step + atom n + ghost g + [P > 1] (step on several + ghost of another GPU c)
#
# where g counts its ghosts, periodic images of own atoms too, and c those that are other ranks'
# atoms; n is that of the most loaded rank.  Ghosts fill a shell one reach wide around a brick.
# A rebuild's share is in every term: all rows rebuild every 20 steps and cannot tell it apart.
#
# The five parameters are fitted to all rows at once, none negative, by least squares of relative
# errors.  left_out_percent is the error of a row whose size and number of GPUs the fit did not see,
# least and most are those of all such fits.
#
# More hosts than one have not been measured.  There every step waits for one message, a rebuild for
# two and for 6 exchanges of all with all, log2(hosts) messages each, and ghosts from other hosts
# come at the network's rate.  Nothing is hidden behind forces.  What the network does is assumed:
# HOST GPUs of a host, NET_US of a message, NET_GBYTES a second and GPU.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
results=${RESULTS:-docs/results}
page=${PAGE:-docs/ranks.md}
rows=${1:-docs/results/engine-ranks.csv}
. "$here/page.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

awk -v parameters="$work/parameters" -v host="${HOST:-8}" -v net_us="${NET_US:-20}" \
  -v net_gbytes="${NET_GBYTES:-40}" -f "$here/ranks_model.awk" \
  "$rows" "$here/../docs/results/partition-cpu.csv" >"$work/model"
mkdir -p "$results"
cp "$work/model" "$results/ranks-model.csv"
cp "$work/parameters" "$results/ranks-model-parameters.csv"
if command -v gnuplot >/dev/null 2>&1; then
  (cd "$results" && gnuplot "$here/style.gp" "$here/ranks_model.gp")
else
  echo 'no picture: gnuplot is not installed (Debian package gnuplot-nox)'
fi

# For awk: the columns of a line by name.
reading='
  NR == 1 { for (c = 1; c <= NF; c++) at[$c] = c; next }
  function of(column) { return $at[column] }
  function commas(n) { return n < 1000 ? n : commas(int(n / 1000)) sprintf(",%03d", n % 1000) }
  function three(x) { return sprintf(x < 99.95 ? "%.3g" : "%.0f", x) }'

constants()
{
  awk -F, "$reading"'
    NR == 2 { print "| parameter | value | fits without one | from |"; print "|---|---|---|---|" }
    {
      value = of("value") (of("unit") == "" ? "" : " " of("unit"))
      range = of("least") == "" ? "" : of("least") " to " of("most")
      printf "| %s | %s | %s | %s |\n", of("parameter"), value, range, of("basis")
    }' "$results/ranks-model-parameters.csv"
}

errors()
{
  awk -F, "$reading"'
    NR == 2 {
      print "| row | GPUs | atoms | measured us | model us | error | left out |"
      print "|---|---|---|---|---|---|---|"
    }
    of("basis") == "fitted" {
      printf "| %s %s | %s | %s | %s | %s | %+.1f %% | %+.1f %% |\n", of("kind"), of("cells"),
        of("ranks"), commas(of("atoms")), three(of("measured")), three(of("us_per_step")),
        of("error_percent"), of("left_out_percent")
    }' "$results/ranks-model.csv"
}

# predicted KIND : a line for each size, a column for each number of GPUs.
predicted()
{
  awk -F, -v kind="$1" "$reading"'
    function cell() {
      worth = kind == "strong" ? three(of("times_one")) "x" \
        : sprintf("%.0f %%", 100 * of("times_one") / of("ranks"))
      return three(of("us_per_step")) " us, " worth
    }
    of("kind") != kind || of("basis") == "fitted" || of("ranks") !~ /^(1|2|4|8|64|512)$/ { next }
    {
      if (!(of("cells") in line)) size[++sizes] = of("cells")
      if (of("ranks") == 1)
        line[of("cells")] = "| " commas(of("atoms")) " | " three(of("us_per_step")) " us |"
      else
        line[of("cells")] = line[of("cells")] " " cell() " |"
    }
    END {
      print "| atoms" (kind == "weak" ? " a GPU" : "") " | 1 GPU | 2 | 4 | 8 | 64 | 512 |"
      print "|---|---|---|---|---|---|---|"
      for (k = 1; k <= sizes; k++) print line[size[k]]
    }' "$results/ranks-model.csv"
}

{
  echo
  awk -F, "$reading"'
    NR == 2 { by = of("machine") ", commit " of("commit") ", " of("date") }
    of("basis") != "fitted" { next }
    {
      rows++
      key = of("atoms_a_rank") " " of("ranks")
      if (!(key in seen)) places++
      seen[key] = 1
      error = of("error_percent") ^ 2
      left = of("left_out_percent") ^ 2
      sum += error
      sum_left += left
      if (error > worst) worst = error
      if (left > worst_left) worst_left = left
      if (of("ranks") > most) most = of("ranks")
    }
    END {
      printf "Rows of %s.\nFive parameters are fitted to %d rows, %d of which differ in size or " \
        "number of GPUs; at most %d GPUs.\nErrors of the fit: %.1f %% (root of the mean square), " \
        "%.1f %% at most. Errors of rows that a fit\ndid not see: %.1f %%, %.1f %% at most.\n",
        by, rows, places, most, sqrt(sum / rows), sqrt(worst), sqrt(sum_left / rows),
        sqrt(worst_left)
    }' "$results/ranks-model.csv"
  echo
  constants
  echo
  errors
  echo
  echo 'As many atoms in all: us a step, and how many times as fast as one GPU.'
  echo
  predicted strong
  echo
  echo 'As many atoms a GPU: us a step, and what is left of the rate of one GPU.'
  echo
  predicted weak
  if [ -s "$results/ranks-model.svg" ]; then
    echo
    echo '![speed and efficiency on 1 to 512 GPUs by the model](results/ranks-model.svg)'
  fi
  echo
} >"$work/text"
fill "$page" ranks-model "$work/text"
