#!/bin/sh
# tests/coverage.sh BUILD - line and branch coverage of product code after tests/run.sh in a build with --coverage
#
# A line counts once, whatever the number of objects that it is compiled into (precisions, instruction sets,
# headers): it is covered if one of them ran it.  A branch is an outcome of a condition, as gcov counts them: two
# for each `if`, `&&`, `||`, `?:` and loop, one for each case of a switch; it is covered if it was taken at least
# once.  The compiler inlines and optimises nothing, so that branches are those of the source, and those of OpenMP's
# schedules.  Threads count without locks: gcov infers some branches from others, so that one in a parallel loop may
# seem to be taken.
#
# tests/coverage.txt lists what no test on the CPU can reach, by reason.  Raw figures are of all code, the others of
# what is not on the list.  What neither a test nor the list covers goes to BUILD/uncovered.txt.  Exit 1: an entry
# of the list matches no line, or fewer than 95 % of these lines or 85 % of these branches are covered.
set -eu
build=$1
list=${COVERAGE_LIST:-tests/coverage.txt}
export LC_ALL=C

# Every line of the product as FILE, LINE, FUNCTION, whether it ran, branches, branches taken, TEXT: gcov's text of all
# objects.  Tests run functions of its headers in objects of their own.
find "$build/obj" -name '*.gcno' -print0 |
  xargs -0 -n 1 gcov -r -t -b -c 2>/dev/null |
  awk -v OFS='\t' '
    function place() { return file SUBSEP line }
    /^ *-: *0:Source:/ { file = $0; sub(/^.*0:Source:/, "", file); name = next_name = ""; next }
    /^ *-: *0:Graph:/ { ours = !index($0, "/obj/tests/") }
    /^ *-: *0:/ { next }
    /^function / { next_name = $2; sub(/\..*/, "", next_name); next }
    /^(call|unconditional) / { next }
    /^branch / {
      n++
      if (ours && n > branches[place()]) branches[place()] = n
      if ($0 ~ / taken [1-9]/) taken[place(), n] = 1
      next
    }
    /^[- #=0-9*]*: *[0-9]+:/ {
      count = $0; sub(/:.*/, "", count); gsub(/[ *]/, "", count)
      text = $0; sub(/^[^:]*: */, "", text); line = text + 0; sub(/^[0-9]+:[ \t]*/, "", text)
      n = 0
      if (next_name != "") { name = next_name; next_name = "" }
      if (count == "-") next
      if (ours && !(place() in shown)) { shown[place()] = text; within[place()] = name }
      if (count ~ /^[0-9]/ && count != "0") ran[place()] = 1
    }
    END {
      for (p in shown) {
        split(p, at, SUBSEP)
        got = 0
        for (k = 1; k <= branches[p]; k++) got += ((p, k) in taken)
        print at[1], at[2], within[p], ran[p] + 0, branches[p] + 0, got, shown[p]
      }
    }' | sort -t "$(printf '\t')" -k1,1 -k2,2n >"$build/lines.txt"

awk -F '\t' -v list="$list" -v uncovered="$build/uncovered.txt" '
  function wrong(what) { printf "%s:%d: %s\n", list, FNR, what; bad = 1 }
  function percent(part, all) { return all ? sprintf("%6.2f", 100 * part / all) : "     -" }
  # Bare name of a function that is compiled for each precision and instruction set.
  function bare(name) { sub(/_(portable|avx2|avx512)$/, "", name); sub(/_(single|mixed|double)$/, "", name); return name }
  # row ROOM: lines and branches, raw and without what the list names.
  function row(r) {
    printf "%-12s %6d %s %s %7d %s %s\n", r, lines[r], percent(ran[r], lines[r]),
      percent(ran[r], lines[r] - line_reasons[r]), branches[r], percent(taken[r], branches[r]),
      percent(taken[r], branches[r] - branch_reasons[r])
  }
  FILENAME != list {
    n++
    file[n] = $1; line[n] = $2; whole[n] = $3; name[n] = bare($3); did[n] = $4; all[n] = $5; got[n] = $6
    text[n] = substr($0, length($1 $2 $3 $4 $5 $6) + 7)
    if (!($1 in first)) first[$1] = n
    last[$1] = n
    next
  }
  /^#/ || /^$/ { next }
  /^= ./ { reason = substr($0, 3); order[++reasons] = reason; next }
  {
    entry = $0; most = 1e9
    if (match(entry, /^[0-9]+ /)) { most = entry + 0; entry = substr(entry, RLENGTH + 1) }
    at = index(entry, ": ")
    if (!at || reason == "") { wrong("expected = REASON, or FILE: TEXT after one"); next }
    where = substr(entry, 1, at - 1); what = substr(entry, at + 2); scope = ""
    if (match(what, /^[A-Za-z_0-9]+\(\)(: |$)/)) {
      scope = substr(what, 1, index(what, "(") - 1)
      what = substr(what, RLENGTH + 1)
    }
    from = where == "*" ? 1 : first[where]
    to = where == "*" ? n : last[where]
    found = missed = 0
    for (k = from; from && k <= to; k++) {
      if ((scope != "" && name[k] != scope && whole[k] != scope) || (what != "" && !index(text[k], what))) continue
      found++
      if (did[k] && got[k] == all[k]) continue
      missed++
      split(file[k], part, "/")
      if (!did[k] && !(k in excused)) { line_reasons[part[1]]++; line_reasons["all"]++; why_lines[reason]++ }
      left = all[k] - got[k] - excused[k]
      if (left > most) left = most
      excused[k] += left
      branch_reasons[part[1]] += left; branch_reasons["all"] += left; why_branches[reason] += left
    }
    if (!found) wrong("gone: " $0)
    else if (!missed) printf "%s:%d: now covered: %s\n", list, FNR, $0
    else if (found > 1 && where != "*" && what != "") wrong(found " places: " $0)
  }
  END {
    printf "" >uncovered
    for (k = 1; k <= n; k++) {
      split(file[k], part, "/")
      rooms[part[1]] = 1
      for (pass = 0; pass < 2; pass++) {
        r = pass ? "all" : part[1]
        lines[r]++; ran[r] += did[k]; branches[r] += all[k]; taken[r] += got[k]
      }
      missed = !did[k] && !(k in excused)
      left = all[k] - got[k] - excused[k]
      if (left > 0 || missed)
        printf "%s:%d: %s %s\n", file[k], line[k], did[k] ? left " of " all[k] " branches:" : "not run:", text[k] >uncovered
    }
    print "not covered, by reason:"
    for (k = 1; k <= reasons; k++)
      printf "%6d lines %6d branches  %s\n", why_lines[order[k]], why_branches[order[k]], order[k]
    print "covered, in % of all code (raw) and of what the list does not name:"
    print "room          lines    raw listed branches   raw listed"
    m = split("core ordering comm neighbor force spread cachemodel stokes engine minimd", room, " ")
    for (k = 1; k <= m; k++) if (room[k] in rooms) row(room[k])
    row("all")
    print "the rest: " uncovered
    few = ran["all"] < 0.95 * (lines["all"] - line_reasons["all"]) || \
          taken["all"] < 0.85 * (branches["all"] - branch_reasons["all"])
    if (few) print "too little: 95 % of lines and 85 % of branches are asked for"
    exit bad || few
  }' "$build/lines.txt" "$list"
