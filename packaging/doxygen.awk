# packaging/doxygen.awk - a header's comments as Doxygen reads them: the first describes the file, one behind a
# declaration belongs to it, any other to all declarations that follow it without an empty line or another comment.

# What was read since the last empty line or comment: a group where one comment is for several declarations.
function flush()
{
  grouped = comment && !braces && declarations > 1
  if (grouped) print "///@{"
  printf "%s", lines
  if (grouped) print "///@}"
  lines = ""
  comment = braces = declarations = 0
}

/^$/ { flush() }
/^\/\*/ {
  flush()
  comment = 1
}
{
  if (!inside && $0 ~ /[{}]/) braces = 1
  if (match($0, /^[ \t]*\/\*/)) {
    inside = 1
    sub(/\/\*/, FNR == 1 ? "/** @file\n" : "/**")
  } else if (!inside && sub(/[ \t]\/\*/, " /**<")) inside = 1
  if (!inside && /;$/ || /; *\/\*\*</) declarations++
  if (/\*\//) inside = 0
  lines = lines $0 "\n"
}
END { flush() }
