#!/bin/sh
# tests/cli/cli_run.sh MINIMD - the command line of a run: exit codes, streams, formats, precedence.
. tests/cli/cli.sh
partial=yes

run="--backend $backend --cells 4 --steps 20"

expect 0 --version
prints '^minimd [0-9]+\.[0-9]+\.[0-9]+ '
expect 0 --help
prints 'exit codes'
for command in run ordering config convert info; do
  expect 0 $command --help
  prints '^usage: minimd'
done
expect 0 info
prints '^cpu '
expect 0 info --format json
expect 0 $run
prints '^ +step +temp +e_pair +e_total +pressure$'
prints '^ +0 +1\.44000000'
prints '^ +20 '
prints 'performance: [0-9.]+ M atom-steps/s'
prints 'per steady step: 0 bytes'
expect 0 run $run --order hilbert --list half
expect 0 $run --order none --sort-every 0

expect 0 $run --thermo 5 --format csv
[ "$(head -1 "$dir/out")" = 'step,temp,e_pair,e_total,pressure' ] || fail 'CSV header'
[ "$(wc -l <"$dir/out")" = 6 ] || fail 'CSV lines'
awk -F, 'NF != 5 { exit 1 }' "$dir/out" || fail 'CSV columns'

expect 0 $run --format json -o "$dir/run.json"
[ -s "$dir/out" ] && fail 'results on stdout in spite of -o'
if command -v python3 >/dev/null 2>&1; then
  cases=$((cases + 1))
  python3 - "$dir/run.json" <<'PY' || fail 'JSON content'
import json, sys
run = json.load(open(sys.argv[1]))
assert run["schema"] == 2
assert [line["step"] for line in run["thermo"]] == [0, 20]
assert set(run["thermo"][0]) == {"step", "temp", "e_pair", "e_total", "pressure"}
assert abs(run["thermo"][0]["e_pair"] + 6.77336805325296) < 1e-9
rate, each = run["performance"]["atom_steps_per_s"], run["performance"]["ns_per_atom_step"]
assert rate > 0 and abs(rate * each - 1e9) < 1
assert {"version", "commit", "compiler", "cpu"} <= set(run["provenance"])
assert run["config"]["system.cells"]["origin"] == "--cells"
value = {key: entry["value"] for key, entry in run["config"].items()}
assert value["system.cells"] == [4, 4, 4] and value["run.steps"] == 20
assert value["system.density"] == 0.8442 and value["neighbor.every"] == 20
assert value["neighbor.newton"] is True and value["device.deterministic"] is False
assert value["lj.shift"] == "none" and value["neighbor.bin_size"] == "/2"
assert value["order.curve"] == "hilbert" and value["order.sort_every"] == "rebuild"
assert value["device.threads"] == "all" and value["output.dump"] == ""
assert run["config"]["lj.cutoff"]["origin"] == "default"
assert run["counts"]["atoms"] == 256
assert run["timing"]["force"] > 0 and run["timing"]["total"] >= run["timing"]["force"]
PY
fi

# Values as input files write them; integers with exponents.
expect 0 --set 'lj.shift="none"' --set 'coulomb.mesh=[8,8,8]' --steps 1e6 --check
prints 'lj\.shift +"none" +--set'
prints 'coulomb\.mesh +\[8, 8, 8\] +--set'
prints 'run\.steps +1000000 +--steps'
for steps in 1.5e0 1e-3 1e400 9223372036854775808 1e19; do
  expect 2 --steps $steps
  says "run\.steps = $steps: expected an integer in 0\.\."
done
expect 2 --thermo 1e1
says "run\.thermo = 1e1: expected an integer"

# defaults < input < --set < named options
printf 'run = { steps = 7; dt = 0.001; };\nlj = { cutoff = 2.0; };\n' >"$dir/a.in"
expect 0 -i "$dir/a.in" --set run.steps=9 --set lj.cutoff=2.2 --cutoff 2.3 --check
prints 'run\.steps +9 +--set'
prints 'lj\.cutoff +2\.3 +--cutoff'
prints 'run\.dt +0?\.001 +.*a\.in:1'
prints 'system\.density +0?\.8442 +default'

# Rebuilds: every dialect keeps its meaning, and libconfig that says nothing checks.
inputs=$(dirname "$0")/../../inputs
expect 0 --check
prints 'neighbor\.every +20 +default$'
for name in in.lj in.lj.lammps in.lj.minimd; do
  expect 0 -i "$inputs/$name" --check
  prints "neighbor\.every +20 +.*$name:"
done
expect 0 -i "$inputs/in.read" --check
prints 'neighbor\.every +"check" +default:libconfig$'
expect 0 -i "$inputs/in.read" --rebuild 10 --check
prints 'neighbor\.every +10 +--rebuild'

# A list that is too old is told of: a note, and in JSON.
hot="--backend $backend --cells 4 --steps 60 --set system.temperature=4"
expect 0 $hot
prints '^dangerous builds 3 of 3 \(largest displacement 0\.[0-9]+, half the skin 0\.15, at step [246]0\)'
expect 0 $hot --format json
prints '"dangerous_builds": 3,'
prints '"largest_displacement": 0\.[2-9]'
expect 0 $hot --rebuild check --format json
prints '"dangerous_builds": 0,'
prints '"largest_displacement": 0\.1'
expect 0 $hot --rebuild check
grep -q dangerous "$dir/out" && fail 'check has dangerous builds'
prints 'per steady step: [0-8] bytes'
expect 0 $hot --format csv
[ "$(wc -l <"$dir/out")" = 3 ] || fail 'CSV lines of a late list'
# The count goes on in a restart.
expect 0 $hot --steps 33 --checkpoint "$dir/state" --format json
prints '"dangerous_builds": 1,'
expect 0 --restart "$dir/state" --steps 60
prints '^dangerous builds 3 of 3 '

# A measured skin is printed with its reason, and is the run that names it; where it cannot be, exit 2.
auto="$run --rebuild check --skin auto"
expect 0 $auto --check
prints 'neighbor\.skin +"auto" +--skin'
expect 0 $auto --dump "$dir/auto.xyz" --checkpoint "$dir/state"
prints '^skin +[0-9.]+ \(measured fastest, ms a step: .*; a build every [0-9.]+ steps\)$'
skin=$(awk '$1 == "skin" { print $2 }' "$dir/out")
expect 0 $run --rebuild check --skin "$skin" --dump "$dir/named.xyz"
same "$dir/auto.xyz" "$dir/named.xyz" "--skin auto and --skin $skin"
expect 0 --restart "$dir/state" --steps 21
prints 'at step 20, exactly'
expect 2 --restart "$dir/state" --steps 21 --skin auto
says 'holds the skin of its run'
expect 0 $auto --format json
prints '"skin_reason": "measured fastest'
expect 2 $run --skin auto
says 'expected neighbor\.every = "check" \(--rebuild check\), not 20'
expect 2 $auto --deterministic
says 'expected a number with device\.deterministic'
expect 2 $auto --skin quick
for command in compare profile "cachemodel --machine host"; do
  expect 2 $command $auto
  says 'only .minimd run. measures it'
done

expect 2 --frobnicate
says "unknown option"
expect 2 --prder hilbert
says "did you mean '--order'"
expect 2 --order hilbrt
says "hilbert"
expect 2 frob
says 'unknown command'
expect 2 $run --steps 10x
expect 2 $run --steps
expect 2 $run --dt nan
expect 2 $run --dt 0,005
expect 2 $run --cutoff -1
expect 2 $run --list quarter
expect 2 $run --block-size 33
expect 2 $run --sort-every 30 --rebuild 20
expect 2 $run --format xml
expect 2 $run --plot picture.bmp
says '.png, .svg, .pdf or .html'
expect 3 -i "$dir/absent.in"
says 'absent\.in'
expect 3 -i "$dir"
expect 3 $run -o "$dir/no/such/file"
expect 3 $run -o /dev/full
expect 4 --backend "$backend" --cells 30000
says 'at most [0-9]+ atoms'
if [ "$backend" = cpu ] && "$minimd" info | grep -q '^gpu *none'; then
  expect 4 --backend gpu
  says 'CUDA'
fi
expect 5 --backend "$backend" --cells 6 --steps 2000 --dt 0.2 --thermo 1

# An interrupted run stops after a complete step and says so.
cases=$((cases + 1))
"$minimd" --backend "$backend" --cells 10 --steps 100000000 >"$dir/out" 2>"$dir/err" &
pid=$!
sleep 2
kill -TERM $pid
wait $pid
[ $? = 143 ] || fail 'SIGTERM: exit code'
says '^minimd: error: stopped by signal 15'

# On a terminal, a line says how far the run is; --quiet leaves it out.
if command -v script >/dev/null 2>&1; then
  cases=$((cases + 2))
  script -qfec "'$minimd' --backend $backend --cells 8 --steps 100000000 -o '$dir/out'" "$dir/shown" >/dev/null 2>&1 </dev/null &
  pid=$!
  awaits grep -q 'step .*left' "$dir/shown" 2>/dev/null
  kill $pid
  wait $pid
  grep -qE 'step [1-9][0-9]* of 100000000, [0-9.]+ steps/s, [0-9]+ s left' "$dir/shown" ||
    fail "no progress: $(cat "$dir/shown")"
  script -qfec "'$minimd' --backend $backend --cells 8 --steps 200 --quiet -o '$dir/out'" "$dir/shown" >/dev/null 2>&1 </dev/null
  grep -q 'steps/s' "$dir/shown" && fail "progress in spite of --quiet: $(cat "$dir/shown")"
fi

# Reruns are identical where they must be; threads do not matter then.
for list in full half; do
  "$minimd" $run --list $list --deterministic --threads 1 --format csv >"$dir/one"
  "$minimd" $run --list $list --deterministic --threads 2 --format csv >"$dir/two"
  cases=$((cases + 1))
  same "$dir/one" "$dir/two" "deterministic $list"
done

if command -v gnuplot >/dev/null 2>&1; then
  expect 0 $run --thermo 2 --plot "$dir/run.svg"
  grep -q '<svg' "$dir/run.svg" || fail 'no SVG'
  expect 0 $run --plot "$dir/run.png"
  expect 3 $run --plot "$dir/no/such/run.svg"
  expect 2 $run --plot "$dir/run.gif"
  says '.png, .svg, .pdf or .html'
  expect 0 $run --plot "$dir/run.pdf"
  head -c 5 "$dir/run.pdf" | grep -q '%PDF-' || fail 'no PDF'
  # A page: the picture and every thermo line in one file that loads nothing from elsewhere.
  expect 0 $run --thermo 2 --format csv --plot "$dir/run.html"
  grep -q '^<svg' "$dir/run.html" && grep -q '^</svg>' "$dir/run.html" || fail 'no picture in the page'
  [ "$(grep -c '<tr><td' "$dir/run.html")" = "$(($(grep -c '^[0-9]' "$dir/out")))" ] || fail 'rows of the page'
  ! grep -E '(src|href)="?(http|/)' "$dir/run.html" || fail 'the page loads something'
  expect 0 compare $run --order row,hilbert --repeat 2 --plot "$dir/compare.html"
  grep -q '<td>hilbert</td>' "$dir/compare.html" || fail 'no table in the page'
  if command -v python3 >/dev/null 2>&1; then
    python3 - "$dir/run.html" "$dir/compare.html" <<'END' >"$dir/log" 2>&1 || fail "a page is not well formed: $(cat "$dir/log")"
import html.parser, sys
class Tags(html.parser.HTMLParser):
    open_tags = []
    def handle_starttag(self, tag, attrs):
        if tag not in ('meta', 'br'): self.open_tags.append(tag)
    def handle_endtag(self, tag):
        assert self.open_tags.pop() == tag, tag
for path in sys.argv[1:]:
    tags = Tags()
    tags.feed(open(path, encoding='utf-8').read())
    assert not tags.open_tags, tags.open_tags
END
  fi
fi

finish
