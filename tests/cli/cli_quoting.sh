#!/bin/sh
# tests/cli/cli_quoting.sh MINIMD - file names of any bytes give JSON that is valid UTF-8 and CSV of RFC 4180;
# a word of MINIMD_ISA that is none is refused.
. tests/cli/cli.sh

cases=$((cases + 1))
for isa in foo AVX2 '' 'avx2 '; do
  MINIMD_ISA=$isa "$minimd" --cells 3 --steps 1 --backend cpu >"$dir/out" 2>"$dir/err"
  [ $? = 2 ] || fail "MINIMD_ISA='$isa' is accepted"
  grep -q 'minimd: error: MINIMD_ISA: expected one of portable, avx2, avx512' "$dir/err" ||
    fail "MINIMD_ISA='$isa': $(cat "$dir/err")"
done

if command -v python3 >/dev/null 2>&1; then
  cases=$((cases + 1))
  python3 - "$minimd" "$dir" <<'PY' || fail 'names of any bytes'
import csv, io, json, os, subprocess, sys
minimd, folder = os.fsencode(sys.argv[1]), os.fsencode(sys.argv[2])
text = b'run: { steps = 0; };\nsystem: { cells = 3; };\n'
names = [b'plain', b'a b', b'com,ma', b'quo"te', b'both,"', b'line\nend', b'return\r', b'tab\t\x01\x7f',
         b'back\\slash', 'gr\u00fc\u00df \u4e2d \U0001f600'.encode(), b'\xff\xfe', b'cut\xc3', b'over\xc0\xaf',
         b'long\xe0\x80\x80', b'surrogate\xed\xa0\x80', b'beyond\xf4\x90\x80\x80', b'\x80\xbf', b"apos'"]
for name in names:
    path = folder + b'/' + name
    with open(path, 'wb') as file:
        file.write(text)
    def out(*words):
        done = subprocess.run([minimd, b'-i', path, b'--backend', b'cpu', b'--threads', b'1', *words],
                              stdout=subprocess.PIPE, check=True)
        return done.stdout
    shown = path.decode('utf-8', 'replace')
    for words in ([b'--check', b'--format', b'json'], [b'--format', b'json', b'--quiet']):
        found = json.loads(out(*words).decode('utf-8')) # strict
    both = [name.decode('utf-8')] if name.decode('utf-8', 'replace').encode() == name else []
    for part in both:
        assert part in json.dumps(found, ensure_ascii=False) or json.dumps(part)[1:-1] in json.dumps(found), name
    rows = list(csv.reader(io.StringIO(out(b'--check', b'--format', b'csv').decode('utf-8', 'replace'),
                                       newline='')))
    assert rows[0] == ['key', 'value', 'origin'] and all(len(row) == 3 for row in rows), rows
    origins = {row[0]: row[2] for row in rows}
    assert origins['run.steps'].startswith(shown), (origins['run.steps'], shown)
rows = list(csv.reader(io.StringIO(subprocess.run([minimd, b'info', b'--format', b'csv'],
    stdout=subprocess.PIPE, check=True).stdout.decode(), newline='')))
assert all(len(row) == 2 for row in rows)
PY
fi

echo "$cases cases, $failures failures"
[ $failures = 0 ]
