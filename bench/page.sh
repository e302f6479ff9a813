# bench/page.sh - measured parts of pages (sourced).

# fill PAGE BLOCK FILE : the text of FILE between the page's lines <!-- BLOCK: ... --> and
# <!-- BLOCK ends -->.
fill()
{
  filled=$(mktemp)
  awk -v block="$2" -v text="$3" '
    $0 ~ "^<!-- " block " ends" { within = 0; found++ }
    !within
    $0 ~ "^<!-- " block ":" {
      within = 1
      found++
      while ((getline line < text) > 0) print line
    }
    END { exit found != 2 }' "$1" >"$filled" || {
    rm "$filled"
    echo "$1: no block $2" >&2
    exit 1
  }
  cat "$filled" >"$1"
  rm "$filled"
}
