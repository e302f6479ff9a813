#!/bin/sh
# tests/cli/cli_ranks_model.sh MINIMD - bench/ranks_model.sh: parameters come back from rows that
# were made with them, predictions are the formula, what cannot be fitted is refused in words;
# what is committed was made from the rows that are committed.
. tests/cli/cli.sh

# Rows of a machine with the parameters step, atom, ghost, several, carried [us], for cuts of which
# every ghost is counted by hand: one GPU, two halves of a cube, two cubes, eight cubes.
rows()
{
  awk -v step="$1" -v atom="$2" -v ghost="$3" -v several="$4" -v carried="$5" 'BEGIN {
    print "date,commit,machine,case,backend,precision,list,ranks,threads,atoms,steps,repeats," \
      "m_atom_steps_per_s,least,most,carrier,cut,imbalance"
    print "2026-01-01,abc,Some CPU,processors,cpu,double,full,2,1,131072,100,3,15,14,20,mpi,bricks,1"
    for (s = 32; s <= 128; s *= 2) {
      e = s * (4 / .8442) ^ (1 / 3)
      n = 4 * s * s * s
      w = e + 5.6
      around = .8442 * (w * w * w - e * e * e)
      tell("strong " s, 1, n, 1, step + atom * n + ghost * around)
      tell("strong " s, 2, n, 1.25, step + several + atom * n / 2 * 1.25 + \
        ghost * .8442 * (w * w * (e / 2 + 5.6) - e * e * e / 2) + carried * .8442 * 5.6 * w * w)
      tell("weak " s, 2, 2 * n, 1, step + several + atom * n + ghost * around + carried * .8442 * 5.6 * w * w)
      if (s == 32) tell("weak " s, 8, 8 * n, 1, step + several + atom * n + (ghost + carried) * around)
    }
  }
  function tell(name, ranks, atoms, imbalance, us) {
    printf("2026-01-01,abc,Some GPU,%s,gpu,single,tile,%d,1,%d,500,3,%.9g,1,2,%s,curve,%s\n",
      name, ranks, atoms, atoms / us, ranks > 1 ? "peer" : "", imbalance)
  }' >"$dir/rows.csv"
}

# model CODE : fit them.
printf 'before\n<!-- ranks-model: here -->\nold\n<!-- ranks-model ends -->\nafter\n' >"$dir/page.md"
model()
{
  cases=$((cases + 1))
  RESULTS=$dir PAGE=$dir/page.md NET_US=7 NET_GBYTES=2 sh bench/ranks_model.sh "$dir/rows.csv" \
    >"$dir/out" 2>"$dir/err" </dev/null
  got=$?
  [ $got = "$1" ] || fail "exit $got, not $1: $(cat "$dir/err")"
}
# found NAME VALUE : a fitted parameter.
found()
{
  cases=$((cases + 1))
  awk -F, -v name="$1" -v value="$2" '
    $4 == name { found = ($5 - value) ^ 2 <= (1e-4 * value) ^ 2 }
    END { exit !found }' "$dir/ranks-model-parameters.csv" ||
    fail "$1 is not $2: $(cat "$dir/ranks-model-parameters.csv")"
}

rows 4 1.3e-4 2e-4 21 6e-4
model 0
found step 4
found atom 0.13
found ghost 0.2
found 'step on several' 21
found 'ghost of another GPU' 0.6
awk -F, '
  function near(a, b) { return (a - b) ^ 2 <= (1e-3 * b) ^ 2 }
  NR == 1 { for (c = 1; c <= NF; c++) at[$c] = c; columns = NF; next }
  function of(name) {
    if (!(name in at)) print "no column " name
    return $at[name]
  }
  NF != columns { print NF " columns: " $0 }
  of("basis") == "fitted" {
    fitted++
    if (of("error_percent") ^ 2 > 1e-3 || of("left_out_percent") ^ 2 > 1e-2) print "error: " $0
    next
  }
  { predicted++ }
  of("ranks") == 1 { one[of("kind") of("cells")] = of("us_per_step") }
  {
    p = of("kind") == "weak" ? of("ranks") : 1
    if (!near(of("times_one"), p * one[of("kind") of("cells")] / of("us_per_step"))) print "times: " $0
    if (of("basis") != (of("ranks") > 8 ? "assumed network" : "model")) print "basis: " $0
  }
  # A million atoms a GPU: of a host of eight each has one neighbour on either side of an axis in
  # another host.
  of("kind") == "weak" && of("cells") == 64 && (of("ranks") == 8 || of("ranks") == 512) {
    e = 64 * (4 / .8442) ^ (1 / 3)
    g = .8442 * ((e + 5.6) ^ 3 - e ^ 3)
    us = 25 + 1.3e-4 * 4 * 64 ^ 3 + 8e-4 * g
    distant = of("ranks") == 8 ? 0 : .8442 * ((e + 5.6) ^ 3 - (e + 2.8) ^ 3)
    if (of("ranks") == 512) us += 7 * (1 + (2 + 6 * 6) / 20) + distant * 16 / 2000
    if (!near(of("us_per_step"), us)) print us ": " $0
    if (!near(of("ghosts_a_rank"), g) || !near(of("of_other_ranks"), g)) print g ": " $0
    if (!near(of("of_other_hosts") + 1, distant + 1)) print distant ": " $0
    seen++
  }
  # Of sixteen each has one on either side of one axis.
  of("kind") == "weak" && of("cells") == 64 && of("ranks") == 16 {
    distant = .8442 * 2.8 * (e + 5.6) ^ 2
    if (!near(of("of_other_hosts"), distant)) print distant ": " $0
    seen++
  }
  END { if (fitted != 10 || predicted != 50 || seen != 3) print fitted, predicted, seen }' \
  "$dir/ranks-model.csv" >"$dir/wrong"
[ ! -s "$dir/wrong" ] || fail "ranks-model.csv: $(cat "$dir/wrong")"
[ "$(sed -n '1p; $p' "$dir/page.md" | tr '\n' ' ')" = 'before after ' ] || fail 'the page around it'
grep -q old "$dir/page.md" && fail 'the page keeps what it had'
[ "$(grep -c '^| 1,048,576 | .* us |' "$dir/page.md")" = 1 ] || [ "$(grep -c '^| 1,048,576 | ' "$dir/page.md")" = 2 ] ||
  fail "tables: $(cat "$dir/page.md")"
if command -v gnuplot >/dev/null 2>&1; then
  grep -q 'as many atoms a GPU' "$dir/ranks-model.svg" || fail 'the picture'
fi

# No parameter is negative, whatever the rows say.
rows 4 1.3e-4 -1e-5 21 6e-4
model 0
found ghost 0
awk -F, '$8 == "model" && $15 < $14 && $14 < $16 { found = 1 } END { exit !found }' "$dir/ranks-model.csv" ||
  fail 'fits without a row do not differ'

# What cannot be fitted.
rows 4 1.3e-4 2e-4 21 6e-4
refused() # WORDS
{
  model 2
  [ "$(wc -l <"$dir/err")" = 1 ] || fail "not one line: $(cat "$dir/err")"
  says "$1"
}
cp "$dir/page.md" "$dir/kept.md"
edit() { sed "$1" "$dir/rows.csv" >"$dir/edited" && mv "$dir/edited" "$dir/rows.csv"; }
edit '/weak/d'
edit '/strong 128.*,tile,2,/d'
refused '5 parameters .* 3 sizes on one GPU and 3 of several GPUs: there are 3 and 2$'
rows 4 1.3e-4 2e-4 21 6e-4
edit '/strong 64.*,tile,1,/d'
refused 'there are 2 and 7$'
edit 2q
refused 'there are 0 and 0$'
rows 4 1.3e-4 2e-4 21 6e-4
edit '$s/Some GPU/Other GPU/'
refused 'rows of machine Some GPU and Other GPU'
rows 4 1.3e-4 2e-4 21 6e-4
edit '1s/imbalance/balance/'
refused 'no column imbalance'
rows 4 1.3e-4 2e-4 21 6e-4
edit '$s/,16777216,/,16770000,/'
refused 'rows.csv:12: '
same "$dir/kept.md" "$dir/page.md" 'the page after rows that were refused'

# What is committed.
cp docs/results/engine-ranks.csv "$dir/rows.csv"
cp docs/ranks.md "$dir/page.md"
cases=$((cases + 1))
RESULTS=$dir PAGE=$dir/page.md sh bench/ranks_model.sh >"$dir/out" 2>&1 || fail "$(cat "$dir/out")"
for file in ranks-model.csv ranks-model-parameters.csv; do
  cmp -s "$dir/$file" docs/results/$file || fail "docs/results/$file is stale: run make ranks-model"
done
words() { grep -v '^!\[speed and efficiency' "$1" | cat -s; } # without the picture, for which gnuplot may be missing
words docs/ranks.md >"$dir/committed"
words "$dir/page.md" | cmp -s - "$dir/committed" || fail 'docs/ranks.md is stale: run make ranks-model'

finish
