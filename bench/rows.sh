# bench/rows.sh - rows of results from minimd's own output, for studies (sourced).
#
# rows FILE NAME=VALUE... -- ARGS... : run minimd and append its rows to $work/FILE.part, each with date,
# commit, machine and the columns that are given; messages stay in $work/messages.
#
# Wants minimd, backend or machine, and then work; gives commit and machine.
commit=$("$minimd" --version | sed 's/.*(\(.*\))/\1/')
machine=${machine:-$("$minimd" info | sed -n "s/^$backend  *//p" | head -1 | sed 's/, .*//' | tr , ';')}

rows()
{
  file=$work/$1.part names= values=
  shift
  while [ "$1" != -- ]; do
    names=$names${1%%=*}, values=$values${1#*=},
    shift
  done
  shift
  "$minimd" "$@" --format csv >"$work/rows" 2>"$work/messages" || { cat "$work/messages" >&2; exit 1; }
  [ -e "$file" ] || : >"$file"
  awk -v names="date,commit,machine,$names" -v values="$(date -u +%F),$commit,$machine,$values" \
    -v headed="$(wc -l <"$file")" \
    'NR > 1 { print values $0; next } headed == 0 { print names $0 }' "$work/rows" >>"$file"
}
