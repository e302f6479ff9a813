#!/bin/sh
# tests/cli/cli_ladder.sh MINIMD - bench/ladder.sh in small: every rung runs and is what its name
# says, all end at one energy, rows and page are whole; docs/ladder.md shows the same commands.
. tests/cli/cli.sh
if [ -n "${ASAN_OPTIONS:-}" ]; then
  echo 'not climbed: the tests without sanitizers do that'
  finish
  exit
fi
build=$(dirname "$minimd")
mkdir "$dir/bin"
cp docs/ladder.md "$dir/page.md"

# Counters that only pretend: perf's are 1000 lines a step and half of that, ncu's fail.
cat >"$dir/bin/perf" <<'PERF'
#!/bin/sh
while [ "$1" != -o ]; do shift; done
file=$2 steps=0
shift 2
"$@" || exit
while [ $# -gt 1 ]; do
  [ "$1" != --steps ] || steps=$2
  shift
done
echo "# started
$((7 + 1000 * steps)),,L1-dcache-load-misses:u,1,100.00,,
$((9 + 500 * steps)),,LLC-load-misses:u,1,100.00,," >"$file"
PERF
printf '#!/bin/sh\nexit 1\n' >"$dir/bin/ncu"
# A GPU that only pretends: runs are the CPU's, counters those that were recorded on an H200.
mkdir "$dir/pretend"
cat >"$dir/pretend/minimd" <<'GPU'
#!/bin/sh
if [ "$1" = profile ]; then
  case "$*" in *'--list half'*) list=half ;; *) list=full ;; esac
  exec sed -n "1p; /,hilbert,$list,double,40,3114752,0,warm,/p" \
    docs/results/orderings/gpu-profile.csv
fi
for word; do
  shift
  if [ "$word" = gpu ]; then
    set -- "$@" cpu --threads 1
  else
    set -- "$@" "$word"
  fi
done
exec "$REAL" "$@"
GPU
export REAL="$minimd"
chmod +x "$dir/bin/perf" "$dir/bin/ncu" "$dir/pretend/minimd"

# ladder CODE ARGS... : climb it at these sizes.
sizes='4:20:1 11:4:2'
ladder()
{
  code=$1
  shift
  cases=$((cases + 1))
  PATH=$dir/bin:$PATH SIZES=$sizes RESULTS=$dir/results PAGE=$dir/page.md \
    sh bench/ladder.sh "$@" >"$dir/out" 2>"$dir/err" </dev/null
  got=$?
  [ $got = "$code" ] || fail "exit $got, not $code: ladder.sh $*: $(cat "$dir/out" "$dir/err")"
}

# climbed BACKEND COUNTERS : nine rungs on a GPU, eight on a CPU; all pairs in the small one only.
climbed()
{
  awk -F, -v rungs="$([ "$1" = cpu ] && echo 8 || echo 9)" -v backend="$1" -v counters="$2" '
    function column(name) {
      if (!(name in at)) { print "no column " name; exit }
      return $at[name]
    }
    function near(a, b) { return (a / b - 1) ^ 2 < 1e-9 }
    NR == 1 { for (c = 1; c <= NF; c++) at[$c] = c; columns = NF; next }
    {
      atoms = column("atoms"); rung = column("rung"); entries = column("list_entries_per_atom")
      n[atoms]++
      if (NF != columns) print NF " columns: " $0
      for (c = 1; c <= 10; c++) if ($c == "") print "no " c ": " $0
      if (column("command") !~ "^build/minimd .*--backend " backend " ") print "command: " $0
      if (column("repeats") != (atoms == 256 ? 1 : 2)) print "repeats: " $0
      rate = atoms / 1000 / column("ms_per_step")
      if ((column("m_atom_steps_per_s") / rate - 1) ^ 2 > 1e-5) print "rate: " $0
      if ((column("gain") == "") != (n[atoms] == 1)) print "gain: " $0
      if (n[atoms] > 1 && (column("gain") * column("ms_per_step") / before - 1) ^ 2 > 1e-4)
        print "times the rung before: " $0
      before = column("ms_per_step")
      if (n[atoms] == 1) energy = column("e_total")
      if ((column("e_total") / energy - 1) ^ 2 > 1e-18) print "energy: " $0
      # What makes a rung.
      if (rung == "all pairs" && !(entries >= atoms - 1)) print "not all pairs: " $0
      if (rung != "all pairs" && !(entries < 90)) print "entries: " $0
      if (rung == "cells" && column("rebuilds") < column("steps")) print "lists that last: " $0
      if (rung != "cells" && 2 * column("rebuilds") > column("steps")) print "lists of a step: " $0
      if (rung ~ /^list/) full[atoms] = entries
      if (rung == "half list" && (2 * entries / full[atoms] - 1) ^ 2 > 1e-2) print "not half: " $0
      # What it moves.
      kernel = rung != "cells" && rung != "tiles"
      if ((column("l1_hit") > 0) != kernel) print "hits: " $0
      if ((column("l1_l2_bytes_per_atom") > 0) != kernel) print "bytes: " $0
      if ((column("memory_read_bytes_per_atom") != "") != kernel) print "memory: " $0
      counted = column("counted_l1_l2_bytes_per_atom")
      read = column("counted_memory_read_bytes_per_atom")
      if ((counted != "") != (kernel && counters != "none")) print "counted: " $0
      if (!kernel || counters == "none") next
      expected = counters == "perf" ? 64000 / atoms : 32 * 15.7370 + 32 * 0.0625 * 32
      expected_read = counters == "perf" ? 32000 / atoms : 358.2327
      if (rung == "half list" && counters == "ncu") {
        expected = 32 * 9.7497 + 32 * 5.2063 * 5.4695
        expected_read = 241.5541
      }
      if (!near(counted, expected) || !near(read, expected_read)) print "not " expected ": " $0
    }
    END {
      if (n[256] != rungs || n[5324] != rungs - 1) print n[256] " and " n[5324] " rungs"
    }' "$dir/results/ladder-$1.csv" >"$dir/wrong"
  [ -s "$dir/wrong" ] && fail "$1: $(cat "$dir/wrong")"
}
ladder 0 "$build" "$backend"
climbed "$backend" "$([ "$backend" = cpu ] && echo perf || echo none)"
rows=$dir/results/ladder-$backend.csv
# The page: a line for each rung in the backend's two tables, the rest as it was.
sed -n "/^<!-- ladder-$backend:/,/^<!-- ladder-$backend ends/p" "$dir/page.md" >"$dir/tables"
[ "$(grep -c '^| half list | ' "$dir/tables")" = 2 ] || fail "tables: $(cat "$dir/tables")"
grep -q '^| rung | 256 atoms | gain | 5,324 atoms | gain |$' "$dir/tables" || fail 'sizes'
unmeasured() { sed '/^<!-- ladder-[a-z]*:/,/^<!-- ladder-[a-z]* ends/d' "$1"; }
unmeasured docs/ladder.md >"$dir/before"
unmeasured "$dir/page.md" >"$dir/after"
same "$dir/before" "$dir/after" 'the page outside the tables'
cp "$dir/page.md" "$dir/once"
ladder 0 "$build" "$backend" page
same "$dir/once" "$dir/page.md" 'the page written twice'
if command -v gnuplot >/dev/null 2>&1; then
  grep -q 'Hilbert order' "$dir/results/ladder.svg" || fail 'the picture does not name its rungs'
fi

# The commands that docs/ladder.md shows are those of the script.
tiny=$sizes sizes='10:100:1 32:100:1'
ladder 0 "$build" cpu commands
[ "$(wc -l <"$dir/out")" = 15 ] || fail "commands: $(cat "$dir/out")"
sed -n '1p; 9,$p' "$dir/out" | sed 's/^[^:]*: //' >"$dir/commands"
sizes=32:200:1
ladder 0 "$build" gpu commands
sizes=$tiny
sed -n 's/^tiles: //p' "$dir/out" >>"$dir/commands"
grep '^build/minimd -i' docs/ladder.md >"$dir/shown"
same "$dir/commands" "$dir/shown" 'commands of docs/ladder.md'

# A rung that fails, or ends elsewhere, leaves no rows.
rm "$rows"
mkdir "$dir/broken"
broken()
{
  script=$dir/broken/ladder.sh
  sed "s|^here=.*|here=$PWD/bench|; /^rungs/,/^}/s/--rebuild check --list half/$1/" \
    bench/ladder.sh >"$script"
  cases=$((cases + 1))
  SIZES=4:20:1 RESULTS=$dir/results PAGE=$dir/page.md \
    sh "$script" "$build" "$backend" >"$dir/out" 2>"$dir/err" && fail "no error: $1"
  grep -qE "$2" "$dir/err" || fail "no '$2' of $1: $(cat "$dir/err")"
  [ ! -e "$rows" ] || fail "rows of a broken rung: $1"
}
broken '--rebuild check --list hlaf' "hlaf.*'half'"
broken '--rebuild check --list half --cutoff 2.4' '^half list: ends at energy '

if [ "$backend" = cpu ]; then
  cases=$((cases + 1))
  ladder 0 "$dir/pretend" gpu
  climbed gpu ncu
  [ "$(grep -c '^| tiles | ' "$dir/page.md")" = 2 ] || fail "tables of a GPU: $(cat "$dir/page.md")"
fi
ladder 2 "$build" "$backend" towns
ladder 2 "$build" tpu

finish
