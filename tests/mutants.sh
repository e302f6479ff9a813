#!/bin/sh
# tests/mutants.sh list            - every entry of tests/mutants.txt matches one place (else exit 1)
# tests/mutants.sh run BUILD JOBS  - break one line at a time, in copies of the tree, and see which test notices
#
# Rows go to BUILD-mutants/COMMIT.csv, and on from there when interrupted; once every entry has one, they become
# docs/results/mutants.csv.  ROOMS="spread stokes" or MUTANTS="12 17" pick some entries.
#
# A mutant is built with -O1 and shared libraries, and what is compiled for each precision only for this machine's
# instruction set.  The tests that its entry names run first, then every other one, after a whole build; `survived`
# means that all of them passed.  A test counts only if it passes without the mutation (this is seen when it first fails
# with one).  One that computes longer than LIMIT seconds ends the mutant too: `timeout`.  CUDA code has no place in the
# list: no test without a GPU runs it.
set -eu
LIMIT=${LIMIT:-150}
list=${MUTANT_LIST:-tests/mutants.txt}
export LC_ALL=C

# The entries as lines: id, file, line, kind, tests, reason if equivalent, text, what replaces it.
entries()
{
  awk -F '\t' -v OFS='\t' -v tests="$(echo tests/*/check_*.c tests/cli/cli_*.sh)" '
    function wrong(what) { printf "%s:%d: %s\n", FILENAME, begun, what >"/dev/stderr"; bad = 1 }
    function add(  line, n, at, rest, found, t) {
      if (head == "") return
      n = split(head, part, ": ")
      if (n != 3 || !had_from || !had_to) return wrong("expected FILE: KIND: TESTS, then - and + lines")
      while ((got = (getline line <part[1])) > 0) {
        n++
        for (rest = line; (at = index(rest, from)) > 0; rest = substr(rest, at + 1)) { found++; place = n - 3 }
      }
      close(part[1])
      if (got < 0) return wrong("no file " part[1])
      if (found != 1) return wrong(sprintf("%d places in %s have: %s", found, part[1], from))
      if (from == to) return wrong("nothing is replaced")
      for (t = split(part[3], test, " "); t > 0; t--) {
        n = split(test[t], name, "/")
        file = name[1] ~ /^cli_/ ? name[1] ".sh" : "check_" name[1] ".c"
        at = file in path ? path[file] : file
        for (found = n < 2; (got = (getline line <at)) > 0;)
          if (index(line, "_case(\"" name[2] "\"") || index(line, "case_create(\"" name[2] "\"")) found = 1
        close(at)
        if (got < 0 || !found) return wrong("no test " test[t])
      }
      print ++id, part[1], place, part[2], part[3], reason == "" ? "-" : reason, from, to
    }
    BEGIN { for (n = split(tests, part, " "); n > 0; n--) { at = part[n]; sub(/.*\//, "", at); path[at] = part[n] } }
    /^#/ { next }
    /^$/ { add(); head = reason = from = to = ""; had_from = had_to = 0; next }
    head == "" { head = $0; begun = NR; next }
    /^- ./ { from = substr($0, 3); had_from = 1; next }
    /^\+/ { to = substr($0, 3); had_to = 1; next }
    /^= ./ { reason = substr($0, 3); next }
    { begun = NR; wrong("expected - TEXT, + TEXT or = REASON") }
    END { add(); exit bad }' "$list"
}

# mutate TREE ENTRY : the file of an entry with its text replaced.
mutate()
{
  file=$(field 2) from=$(field 7) to=$(field 8) awk '
    (at = index($0, ENVIRON["from"])) > 0 {
      $0 = substr($0, 1, at - 1) ENVIRON["to"] substr($0, at + length(ENVIRON["from"]))
    }
    { print }' "$1/$(field 2)" >"$1/mutated"
  mv "$1/mutated" "$1/$(field 2)"
}
field() { printf '%s\n' "$entry" | cut -f "$1"; }

# passes TREE TEST : run it; its name is that of a suite, or suite/case, or cli_script.  124: it hangs.
passes()
{
  case $2 in
    cli_*) (cd "$1" && limited sh "tests/cli/$2.sh" build/minimd) >"$1/log" 2>&1 ;;
    */*) (cd "$1" && CK_RUN_CASE=${2#*/} limited "build/tests/check_${2%/*}") >"$1/log" 2>&1 ;;
    *) (cd "$1" && limited "build/tests/check_$2") >"$1/log" 2>&1 ;;
  esac
}
# Neither memory nor a file nor its own time may grow without end; others may have the processors, so that time on the
# clock says little.  Wrong programs are not run as root: one removed /dev/full.
limited()
{
  ulimit -v 16000000
  ulimit -f 8000000
  ulimit -t "$LIMIT"
  OMP_WAIT_POLICY=passive CK_TIMEOUT_MULTIPLIER=20 timeout -k 5 $((20 * LIMIT)) $nobody "$@"
}
nobody=
[ "$(id -u)" != 0 ] || nobody='setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs'

# make_in TREE ARGS...
make_in()
{
  tree=$1
  shift
  env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -s -C "$tree" NVCC= BUILD=build CFLAGS=-O1 VERSION=mutant "$@" >"$tree/build.log" 2>&1
}
# What make leaves as it is: objects of other instruction sets and precisions.
unused()
{
  isa=$(grep -m1 -oE 'avx512vl|avx2' /proc/cpuinfo | sort | tail -1)
  case $isa in avx512vl) isa=2 ;; avx2) isa=1 ;; *) isa=0 ;; esac
  (cd "$1" && find build/obj -name '*.p?.i?.o' ! -name "*.i$isa.o" -printf '-o %p ')
}

# sure TREE TEST : it passes without a mutation.  Asked once for each test.
sure()
{
  verdict=$work/sure/$(echo "$2" | tr / .)
  if [ ! -e "$verdict" ]; then
    if passes "$work/clean" "$2"; then echo yes >"$verdict"; else echo no >"$verdict"; fi
  fi
  [ "$(cat "$verdict")" = yes ] || { echo "$2 fails without a mutation: it does not count" >&2; return 1; }
}

# killer TREE TEST... : the first test that fails, and the name of its first failed case.
killer()
{
  tree=$1
  shift
  for test; do
    code=0
    passes "$tree" "$test" || code=$?
    [ $code != 0 ] || continue
    sure "$tree" "$test" || continue
    result=killed
    if [ $code = 124 ] || [ $code = 137 ] || grep -qE 'Test timeout expired|signal 24' "$tree/log"; then
      result=timeout
    fi
    killed_by=$test:$(sed -n 's/^tests\/[a-z_\/]*\.c:[0-9]*:[FE]:[^:]*:\([a-z_0-9]*\):.*/\1/p' "$tree/log" | head -1)
    return 0
  done
  return 1
}

# All tests but those that build, and those that other programs' limits would disturb.
others()
{
  (cd "$1" && ls tests/*/check_*.c tests/cli/cli_*.sh) | sed 's/.*\/check_//; s/.*\///; s/\.c$//; s/\.sh$//' |
    grep -vE '^(cli_library|cli_build|cli_extending|cli_mutants)$'
}

# One mutant, in this tree.
try()
{
  began=$(date +%s) result=survived killed_by= whole=
  tests=$(field 5)
  cp -p "$1/$(field 2)" "$1/original"
  mutate "$1"
  programs=$(for t in $tests; do
    case $t in cli_*) echo build/minimd ;; *) echo "build/tests/check_${t%/*}" ;; esac
  done | sort -u)
  if ! make_in "$1" $(unused "$1") $programs; then
    result='does not build'
  elif [ "$(field 6)" != - ]; then
    result=equivalent
    if killer "$1" $tests; then echo "$(field 1): said to be equivalent, but $killed_by sees it" >&2; fi
  elif ! killer "$1" $tests; then
    whole=yes
    make_in "$1" tests && killer "$1" $(others "$1") || true
  fi
  mv "$1/original" "$1/$(field 2)"
  touch "$1/$(field 2)"
  [ -z "$whole" ] || make_in "$1" tests # also what the next one leaves as it is
  mutation=$(printf '%s -> %s' "$(field 7)" "$(field 8)" | sed 's/"/""/g')
  printf '%s,%s,%s,%s,%s,%s,%s,"%s",%s,%s,%s\n' "$(date -u +%F)" "$commit" "$machine" "$(field 1)" "$(field 2)" \
    "$(field 3)" "$(field 4)" "$mutation" "$result" "${killed_by%:}" $(($(date +%s) - began)) >>"$rows"
  echo "$(field 1) $(field 2):$(field 3) $(field 4): $result ${killed_by%:}"
}

# Take entries that no other worker has, until none is left.
work_off()
{
  while IFS= read -r entry <&3; do
    mkdir "$work/taken/$(field 1)" 2>/dev/null || continue
    try "$1"
  done 3<"$work/picked"
}

prepare()
{
  rm -rf "$work/taken" "$work/sure" "$work"/tree.*
  mkdir -p "$work/taken" "$work/sure" "$work/clean"
  find "$work/clean" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
  git ls-files -z --cached --others --exclude-standard | tar --null -T - -cf - --ignore-failed-read 2>/dev/null |
    tar -xf - -C "$work/clean"
  echo 'building without a mutation' >&2
  make_in "$work/clean" -j"$jobs" tests || { tail "$work/clean/build.log" >&2; exit 1; }
  (cd "$work/clean" && $nobody test -x build/minimd) || { echo "$nobody: cannot enter $work" >&2; exit 1; }
}

summary()
{
  awk -F, -v rows="$rows" '
    { sub(/"([^"]|"")*"/, "", $0); split($0, f, ","); n[f[9]]++ }
    f[9] == "survived" || f[9] == "does not build" { bad = bad " " f[4] }
    END { printf "%d mutants:", NR; for (r in n) printf " %d %s", n[r], r; print ""
          if (bad != "") print "see" bad " in " rows; exit bad != "" }' "$rows"
}

case ${1:-} in
  list) entries >/dev/null ;;
  run)
    work=$2-mutants jobs=$3
    mkdir -p "$work"
    entries >"$work/entries"
    commit=$(git describe --always --dirty) # with the working tree's files, as git knows them
    machine=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1 | tr , ';')
    rows=$work/$commit.csv
    case $commit in *-dirty) rm -f "$rows" ;; esac # nothing says that it is still the same program
    touch "$rows"
    awk -F '\t' -v rooms="${ROOMS:-}" -v ids="${MUTANTS:-}" -v rows="$rows" '
      BEGIN {
        while ((getline line <rows) > 0) { split(line, f, ","); done[f[4]] = 1 }
        n = split(rooms, r, " "); for (k = 1; k <= n; k++) room[r[k]] = 1
        m = split(ids, i, " "); for (k = 1; k <= m; k++) id[i[k]] = 1
      }
      { split($2, p, "/") }
      !($1 in done) && (n == 0 || p[1] in room) && (m == 0 || $1 in id)' "$work/entries" >"$work/picked"
    if [ -s "$work/picked" ]; then
      prepare
      for job in $(seq "$jobs"); do
        cp -a "$work/clean" "$work/tree.$job"
        work_off "$work/tree.$job" &
      done
      wait
      rm -rf "$work"/tree.*
    fi
    sort -t, -k4,4n -o "$rows" "$rows"
    if [ "$(wc -l <"$rows")" = "$(wc -l <"$work/entries")" ]; then
      echo 'date,commit,machine,id,file,line,kind,mutation,result,killed_by,seconds' | cat - "$rows" >docs/results/mutants.csv
    fi
    summary
    exit
    ;;
  *) sed -n '2,3s/^# //p' "$0" >&2; exit 2 ;;
esac
