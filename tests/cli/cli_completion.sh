#!/bin/sh
# tests/cli/cli_completion.sh MINIMD - bash, zsh and fish complete commands, options, values, lists and files: each
# shell runs at a terminal, where type_keys.py types and reads the command line.
. tests/cli/cli.sh
[ "$backend" = cpu ] || { echo 'the CPU tests do that'; exit 0; }
command -v python3 >/dev/null 2>&1 || { echo '0 cases, 0 failures (no python3)'; exit 0; }
tab=$(printf '\t')

# What is typed, what the shell offers for its last word: without what stands before the last comma or =, in order.
cat >"$dir/offers" <<'EOF'
minimd comp > compare
minimd c > cachemodel compare config convert
minimd help sp > spread
minimd --dum > --dump --dump-every
minimd gspmv --ma > --map --matrix
minimd spread --he > --help
minimd --vers > --version
minimd run --order h > hilbert hybrid
minimd --order=h > hilbert hybrid
minimd compare --order mo > morton morton:kji
minimd compare --order hilbert,mo > morton morton:kji
minimd compare --order=row,h > hilbert hybrid
minimd compare --order morton:kji,ro > row
minimd compare --list full,h > half
minimd spread --order h > nothing
minimd spread --method g > gather group
minimd spread --method c > coloured
minimd --backend  > auto cpu gpu
minimd --backend=c > cpu
minimd stokes --root ch > chebyshev cholesky
minimd cachemodel --machine h20 > h200
minimd --set lj.s > lj.shift= lj.sigma=
minimd --set lj.shift= > nothing
minimd -i in. > in.one in.two
minimd --input=in. > in.one in.two
minimd compare -i in. > in.one in.two
minimd tune --out > --output
minimd run -o o > old
minimd run -o  > in.one in.two my input old
minimd cachemodel --machine o > old
EOF
# What Tab makes of the line, where its end is |: a space follows what is complete, a folder and a list may go on.
cat >"$dir/lines" <<'EOF'
minimd comp > minimd compare |
minimd spread --meth > minimd spread --method |
minimd compare --order hilbert,ro > minimd compare --order hilbert,row|
minimd compare --order=hilbert,ro > minimd compare --order=hilbert,row|
minimd --order morton: > minimd --order morton:kji |
minimd --order=morton:k > minimd --order=morton:kji |
minimd --set lj.shi > minimd --set lj.shift=|
minimd --set=lj.shi > minimd --set=lj.shift=|
minimd -i in.o > minimd -i in.one |
minimd -i my > minimd -i my\ input |
minimd --input=old/in > minimd --input=old/in.three |
minimd -i ol > minimd -i old/|
EOF
mkdir "$dir/files" "$dir/files/old"
touch "$dir/files/in.one" "$dir/files/in.two" "$dir/files/my input" "$dir/files/old/in.three"
n_offers=$(wc -l <"$dir/offers")

# type_all SHELL : types every line of both files; leaves what the command lines became in $dir/SHELL.all and .tab.
type_all()
{
  mkdir "$dir/$1"
  ln -s "$dir/files" "$dir/$1/files"
  {
    sed "s/^/all$tab/; s/ > .*//" "$dir/offers"
    sed "s/^/tab$tab/; s/ > .*//" "$dir/lines"
  } | python3 tests/cli/type_keys.py "$1" "$minimd" "$dir/$1" >"$dir/typed" 2>"$dir/log" ||
    fail "$1: $(tail -3 "$dir/log")"
  sed -n "1,${n_offers}p" "$dir/typed" >"$dir/$1.all"
  sed "1,${n_offers}d" "$dir/typed" >"$dir/$1.tab"
}

# offered SHELL : what it offered is expected.  An offer may begin with what was typed; folders may end in /.
offered()
{
  awk -F ' > ' -v shell="$1" '
    NR == FNR { typed[NR] = $1; expected[NR] = $2; n = NR; next }
    {
      begun = typed[FNR]
      sub(/[^ ]*$/, "", begun)
      got = substr($0, length(begun) + 1)
      if ($0 == typed[FNR] "|") got = "nothing"
      gsub(/\\/, "", got)
      gsub(/--[a-z-]*=/, "", got)
      gsub(/[^ ]*,/, "", got)
      sub(/ *[|]$/, "", got)
      gsub(/\//, "", got)
      if (got != expected[FNR]) print shell " offers for \"" typed[FNR] "\": " got ", not " expected[FNR]
    }
    END { if (FNR != n) print shell ": " FNR " answers of " n }' "$dir/offers" "$dir/$1.all"
}
# completed SHELL : so is what Tab made of lines.  fish puts a space behind a word of a list, too.
completed()
{
  awk -F ' > ' -v shell="$1" '
    NR == FNR { typed[NR] = $1; expected[NR] = $2; n = NR; next }
    shell == "fish" { sub(/,row [|]$/, ",row|") }
    $0 != expected[FNR] { print shell " makes of \"" typed[FNR] "\": " $0 ", not " expected[FNR] }
    END { if (FNR != n) print shell ": " FNR " answers of " n }' "$dir/lines" "$dir/$1.tab"
}

for shell in bash zsh fish; do
  command -v $shell >/dev/null 2>&1 || { echo "$shell is not installed: not asked"; continue; }
  cases=$((cases + $(cat "$dir/offers" "$dir/lines" | wc -l)))
  type_all $shell
  { offered $shell; completed $shell; } >"$dir/wrong"
  [ ! -s "$dir/wrong" ] || fail "$(cat "$dir/wrong")"
done
finish
