#!/bin/sh
# tests/cli/cli_profile.sh MINIMD - `profile` with a profiler that only pretends: what it is asked, what
# is made of what it prints, and what is said when it fails.
. tests/cli/cli.sh
mkdir "$dir/bin" "$dir/none"
# With a profiler that only pretends.
start() { PATH=${TOOLS:-$dir/bin:$PATH} "$minimd" "$@"; }

# Prints launches that were recorded on an H200: two of each case, or what PRETEND asks for.
cat >"$dir/bin/ncu" <<'NCU'
#!/bin/sh
printf '%s\n' "$@" >>"$ASKED"
full=tests/profile/ncu-full-warm.csv
half=tests/profile/ncu-half-warm.csv
case "$*" in *'--cache-control all'*) half=tests/profile/ncu-half-cold.csv ;; esac
table()
{
  sed '/^"0"/,$d' $full
  for list in $full $full $half $half; do grep -E '^"[01]"' $list; done
}
case $PRETEND in
  permission)
    echo '==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters'
    exit 1
    ;;
  crash)
    echo '==ERROR== An internal error came up' >&2
    exit 9
    ;;
  signal) kill -SEGV $$ ;;
  program)
    echo 'minimd: error: --cells: too many' >&2
    echo '==ERROR== The application returned an error code (5).'
    exit 1
    ;;
  nothing) echo '==WARNING== No kernels were profiled.' ;;
  short) table | sed '$d' ;;
  cut) table | head -c 4000 ;;
  metric) table | sed 's/dram__bytes_read.sum/dram__bytes_other.sum/' ;;
  *) table ;;
esac
NCU
chmod +x "$dir/bin/ncu"
export ASKED="$dir/asked"
study="profile --cells 4 --steps 0 --order row,hilbert --list full,half --launches 2 --format csv --quiet"

expect 0 $study
[ "$(head -1 "$dir/out")" = figure,quantity,order,list,precision,step,atoms,block_size,caches,measured,spread_percent,modelled ] ||
  fail "header: $(head -1 "$dir/out")"
awk -F, 'NF != 12 { exit 1 }' "$dir/out" || fail 'CSV columns'
prints '^table4,cycles,row,full,double,0,256,0,warm,6900939\.0000,3\.23,[0-9.]+$'
prints '^fig24,load_sectors_per_request,hilbert,full,double,0,256,0,cold,18\.1122,0\.00,[0-9.]+$'
prints '^fig25,l2_read_hit_percent,hilbert,half,double,0,256,0,warm,35\.6314,[0-9.]+,[0-9.]+$'
prints '^fig25,l2_read_hit_percent,hilbert,half,double,0,256,0,cold,35\.1324,[0-9.]+,[0-9.]*$'
prints '^fig21-22,memory_dependency_percent,row,half,double,0,256,0,warm,[0-9.]+,[0-9.]+,$'
prints '^fig24,NC_sectors_per_request,row,full,double,0,256,0,warm,,,[0-9.]+$'
for word in none all application kernel off 'regex:\^\(full\|half\)_\.\*' profile --times --backend=gpu \
  --order=row,hilbert --list=full,half --cells=4 --steps=0 --launches=2; do
  grep -qxE -- "$word" "$ASKED" || fail "the profiler was not asked for '$word'"
done
for metric in $(cat tests/oracle/ncu_metrics_sm90.txt); do
  grep -q "[,^]$metric[,\$]\|^$metric,\|,$metric\$" "$ASKED" || fail "the profiler was not asked for $metric"
done

# What order lists and orders come in is the profiler's too: full lists first.
[ "$(grep -c '^fig24,store_requests_per_atom,.*,full,' "$dir/out")" = 4 ] || fail 'stores of full lists'

expect 0 $study --caches cold --replay kernel --model off
[ "$(head -1 "$dir/out")" = figure,quantity,order,list,precision,step,atoms,block_size,caches,measured,spread_percent ] ||
  fail 'header without the model'
grep -q ,warm, "$dir/out" && fail 'warm caches were not asked for'

expect 0 $study --format json
if command -v python3 >/dev/null 2>&1; then
  python3 - "$dir/out" <<'PY' || fail 'JSON content'
import json, sys
out = json.load(open(sys.argv[1]))
assert out["schema"] == 2 and out["command"] == "profile" and "provenance" in out
rows = {(r["quantity"], r["order"], r["list"], r["caches"]): r for r in out["rows"]}
hit = rows["l1_hit_percent", "row", "full", "warm"]
assert abs(hit["measured"] - 88.758) < 0.01 and 50 < hit["modelled"] < 100
assert rows["NC_sectors_per_request", "row", "full", "warm"]["measured"] is None
assert rows["time_us", "row", "half", "cold"]["modelled"] is None
PY
fi
expect 0 $study --format table
prints '^figure +quantity +order +list'

# No counters: what is missing, and the model alone.
modelled=figure,quantity,order,list,precision,step,atoms,block_size,caches,modelled
alone() { [ "$(head -1 "$dir/out")" = $modelled ] || fail "$1: not the model alone: $(head -1 "$dir/out")"; }
PRETEND=permission expect 0 $study
says 'ERR_NVGPUCTRPERM.*CAP_SYS_ADMIN.*NVreg_RestrictProfilingToAdminUsers=0'
alone permission
TOOLS=$dir/none expect 0 $study
says 'ncu is not on the PATH: .*CUDA Toolkit'
alone absent
expect 0 $study --counters off
[ -s "$dir/err" ] && fail 'a warning nobody needs'
alone 'counters off'

PRETEND=metric expect 0 $study
prints '^fig25,memory_read_bytes_per_atom,row,full,double,0,256,0,warm,,,[0-9.]+$'
prints '^fig25,l1_hit_percent,row,full,double,0,256,0,warm,88\.7'

PRETEND=crash expect 4 $study
says 'ncu failed with exit code 9: An internal error came up'
PRETEND=signal expect 4 $study
says 'ncu was ended by signal 11'
PRETEND=program expect 5 $study
says 'minimd: error: --cells: too many$'
PRETEND=nothing expect 3 $study
says 'no table of metrics'
PRETEND=short expect 3 $study
says '7 launches, not the 8'
PRETEND=cut expect 3 $study
says 'cut off'

expect 2 $study --at 20,10
says '20'
expect 2 $study --at x
expect 2 $study --caches lukewarm
says 'warm'
expect 2 $study --machine host
expect 2 $study --deterministic
expect 2 $study --counters off --model off
expect 2 $study --launches 0
expect 2 profile --cells 4 --order row,hilbrt
says 'hilbert'
expect 2 profile --cells 4 --replay range
if "$minimd" info | grep -q '^gpu *none'; then
  expect 4 $study --times
  # The profiler is there, a GPU is not: the program says so under the profiler.
  printf '#!/bin/sh\nwhile [ "$1" != profile ]; do program=$1; shift; done\nexec "$program" "$@"\n' >"$dir/bin/ncu"
  expect 0 $study
  says 'warning: no counters: .*CUDA'
  alone 'no GPU'
fi

if command -v gnuplot >/dev/null 2>&1; then
  expect 0 $study --counters off --plot "$dir/profile.svg"
  grep -q '<svg' "$dir/profile.svg" || fail 'no SVG'
fi

finish
