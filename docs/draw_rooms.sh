#!/bin/sh
# docs/draw_rooms.sh >docs/rooms.svg - draws the rooms and who includes whom, from the #include lines.
#
# A room is a folder with sources that other rooms may include; programs and tests beside them are none.
# Rooms stand right of all that they include.  An arrow that a chain of others implies is left out, one
# that passes a column keeps a place of its own there.  What a room is for is the first line of its README.
set -eu
LC_ALL=C
export LC_ALL
cd "$(dirname "$0")/.."

# rooms: the folders; includes: "ROOM INCLUDED", once each; questions: "ROOM: text".
rooms()
{
  find . -mindepth 2 \( -name '*.c' -o -name '*.cu' \) ! -path './.*' | cut -d/ -f2 |
    grep -vE '^(tests|bench|examples|docs|build.*)$' | sort -u
}
includes()
{
  for room in $(rooms); do
    find "$room" \( -name '*.[ch]' -o -name '*.cu' \) -exec cat {} + |
      sed -n 's|^ *# *include "\([a-z_]*\)/.*|\1|p' | sort -u | sed "s/^/$room /"
  done
}
questions()
{
  for room in $(rooms); do
    [ ! -f "$room/README.md" ] || sed -n '1s/^# *//p' "$room/README.md"
  done
}

{ rooms | sed 's/^/room /'; includes | sed 's/^/include /'; questions | sed 's/^/question /'; } | awk '
  function fail(text) { print "docs/draw_rooms.sh: " text >"/dev/stderr"; failed = 1; exit 1 }
  # reached(a, b): b is included by a, perhaps through others, other than directly.
  function implied(a, b,   k) {
    for (k = 1; k <= n; k++)
      if (uses[a, name[k]] && all[name[k], b]) return 1
    return 0
  }
  function add(column, what) { node[column, ++height[column]] = what; at[column, what] = height[column] }
  # Sort a column by the mean place of what lies left of it, ties by the order so far.
  function arrange(c,   i, j, key, what) {
    for (i = 1; i <= height[c]; i++) weight[i] = mean(c, node[c, i])
    for (i = 2; i <= height[c]; i++) {
      key = weight[i]; what = node[c, i]
      for (j = i - 1; j >= 1 && weight[j] > key + 1e-9; j--) {
        weight[j + 1] = weight[j]; node[c, j + 1] = node[c, j]
      }
      weight[j + 1] = key; node[c, j + 1] = what
    }
    for (i = 1; i <= height[c]; i++) at[c, node[c, i]] = i
  }
  function mean(c, what,   k, sum, count) {
    for (k = 1; k <= links; k++)
      if (column[k] == c && to[k] == what) { sum += y(c - 1, from[k]); count++ }
    return count ? sum / count : 0
  }
  function x(c) { return 10 + c * (W + GAP) }
  function y(c, what) { return (at[c, what] - 0.5) * TALL / height[c] }
  function escape(text) { gsub(/&/, "\\&amp;", text); gsub(/</, "\\&lt;", text); return text }
  # The text in lines of at most 25 characters below the name.
  function lines(text, left, top,   words, count, k, line) {
    count = split(text, words, " ")
    for (k = 1; k <= count + 1; k++)
      if (k > count || (line != "" && length(line " " words[k]) > 25)) {
        if (line != "") printf "<text class=\"q\" x=\"%d\" y=\"%d\">%s</text>\n", left, top, escape(line)
        top += 14; line = k > count ? "" : words[k]
      } else line = line == "" ? words[k] : line " " words[k]
  }
  $1 == "room" { name[++n] = $2; room[$2] = 1 }
  $1 == "include" && $2 != $3 && room[$3] { uses[$2, $3] = all[$2, $3] = 1 }
  $1 == "question" { who = $2; sub(/:$/, "", who); sub(/^question [^ ]* */, ""); asks[who] = $0 }
  END {
    if (failed) exit 1
    W = 176; H = 88; GAP = 48
    for (k = 1; k <= n; k++) for (i = 1; i <= n; i++) for (j = 1; j <= n; j++)
      if (all[name[i], name[k]] && all[name[k], name[j]]) all[name[i], name[j]] = 1
    for (i = 1; i <= n; i++) if (all[name[i], name[i]]) fail(name[i] " includes itself through others")
    for (round = 1; round <= n; round++) for (i = 1; i <= n; i++) for (j = 1; j <= n; j++)
      if (uses[name[i], name[j]] && level[name[i]] <= level[name[j]]) level[name[i]] = level[name[j]] + 1
    for (i = 1; i <= n; i++) {
      if (level[name[i]] > last) last = level[name[i]]
      add(level[name[i]] + 0, name[i])
    }
    for (i = 1; i <= n; i++) for (j = 1; j <= n; j++) {
      a = name[j]; b = name[i]
      if (!uses[b, a] || implied(b, a)) continue
      left = a
      for (c = level[a] + 1; c <= level[b]; c++) {
        place = c == level[b] ? b : a ">" b
        if (c < level[b]) add(c, place)
        column[++links] = c; from[links] = left; to[links] = place; left = place
      }
    }
    for (c = 0; c <= last; c++) if (height[c] > most) most = height[c]
    TALL = most * (H + 18)
    for (c = 1; c <= last; c++) arrange(c)
    wide = x(last) + W + 10
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\">\n", wide, TALL
    print "<!-- docs/draw_rooms.sh wrote this from the #include lines: run `make docs`. -->"
    print "<title>Rooms: a room includes only rooms to its left</title>"
    print "<style>.r{fill:#eef3f8;stroke:#5b7a99}.n{font-size:15px;font-weight:bold;fill:#1b2733}" \
      ".q{font-size:11px;fill:#33475b}.a{fill:none;stroke:#8795a3;stroke-width:1.6}.p{fill:#8795a3}</style>"
    for (k = 1; k <= links; k++) {
      c = column[k]; y0 = y(c - 1, from[k]); y1 = y(c, to[k]); x0 = x(c - 1) + W; x1 = x(c); m = (x0 + x1) / 2
      printf "<path class=\"a\" d=\"M%d %.1fC%d %.1f %d %.1f %d %.1f%s\"/>\n", x0, y0, m, y0, m, y1, x1, y1,
        room[to[k]] ? "" : sprintf("H%d", x1 + W)
      if (room[from[k]]) printf "<path class=\"p\" d=\"M%d %.1fl9 -4.5v9z\"/>\n", x0, y0
    }
    for (c = 0; c <= last; c++) for (i = 1; i <= height[c]; i++) if (room[node[c, i]]) {
      who = node[c, i]; top = y(c, who) - H / 2
      printf "<rect class=\"r\" x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%d\" rx=\"6\"/>\n", x(c), top, W, H
      printf "<text class=\"n\" x=\"%d\" y=\"%d\">%s/</text>\n", x(c) + 10, top + 22, who
      lines(asks[who], x(c) + 10, top + 40)
    }
    print "</svg>"
  }'
