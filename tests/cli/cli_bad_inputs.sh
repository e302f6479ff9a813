#!/bin/sh
# tests/cli/cli_bad_inputs.sh MINIMD - every bad input of tests/cli/bad_inputs.tsv is refused: its exit
# code, one line on stderr that begins with "minimd: error:" and holds the words of the table,
# nothing on stdout, within a second of processor time (and a minute, for one that only waits).  So are
# values that no option and no setting takes, for every one of them: at least 800 cases in all.
#
# Columns, separated by tabs: name, exit code, words of the message, arguments, text of the input.
# @ in the arguments is the input's path, @.mtx another name of it; escapes in the text are those of
# printf's %b.  In place of a text: -big (too large), -binary (the program itself), -folder, -absent.
minimd=$1
table=$(dirname "$0")/bad_inputs.tsv
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
tab=$(printf '\t')
cases=0
failures=0

fail()
{
  echo "FAILED: $name: $*"
  failures=$((failures + 1))
}

# refused CODE WORDS ARGUMENT...
refused()
{
  code=$1
  words=$2
  shift 2
  cases=$((cases + 1))
  (ulimit -S -t 1 && exec timeout 60 "$minimd" "$@") >"$dir/out" 2>"$dir/err" </dev/null
  got=$?
  err=$(cat "$dir/err")
  [ $got = 124 ] && fail "waited for a minute"
  [ $got = 152 ] && fail "took more than a second of processor time"
  [ $got = "$code" ] || fail "exit $got instead of $code: $err"
  case $err in
    *"
"*) fail "not one line on stderr: $err" ;;
    'minimd: error: '*) ;;
    *) fail "no error line: $err" ;;
  esac
  case $err in *"$words"*) ;; *) fail "no '$words' in: $err" ;; esac
  [ -s "$dir/out" ] && fail "results on stdout: $(head -3 "$dir/out")"
}

set -f # no file names in place of arguments
while IFS=$tab read -r name code words args text; do
  case $name in '' | '#'*) continue ;; esac
  input=$dir/in
  case $text in
    -big) head -c 70000 /dev/zero | tr '\0' ' ' >"$input" ;;
    -binary) input=$minimd ;;
    -folder) input=$dir ;;
    -absent) input=$dir/absent ;;
    *) printf '%b' "$text" >"$input" && ln -f "$input" "$input.mtx" ;;
  esac
  [ "$args" = - ] && args=
  set --
  for arg in $args; do
    case $arg in *@*) arg=${arg%@*}$input${arg##*@} ;; esac
    set -- "$@" "$arg"
  done
  refused "$code" "$words" "$@"
done <"$table"

# Every option of every command that takes no file, with values that none takes: the message names
# the option.  Each line: a command that would be right without it.
printf '%s\n' 1 'Lattice="900 0 0 0 900 0 0 0 900" Properties=pos:R:3:radius:R:1' '0 0 0 5' >"$dir/p.xyz"
printf 'run: { steps = 1; };\n' >"$dir/good"
while read -r command rest; do
  "$minimd" "$command" --help </dev/null |
    sed -n 's/^ *\(-[a-zA-Z],\)\{0,1\} *--\([a-z-]*\) *\([^ ]*\).*/\2 \3/p' >"$dir/options"
  while read -r option value; do
    case $option:$value in help:* | *FILE*) continue ;; esac
    name="$command --$option"
    for bad in -7 nonsense 1e400 0x10 10x ''; do
      refused 2 "--$option" "$command" $rest "--$option=$bad"
    done
  done <"$dir/options"
done <<EOF
run --cells 3 --steps 0 --backend cpu
ordering --order row --size 4
cachemodel --order row --size 8 --stencil block:1 --line 4 --capacity 8
compare --cells 3 --steps 1 --order row --backend cpu
spread --particles 10 --mesh 8 --order 4 --method single --backend cpu
stokes -i $dir/p.xyz --backend cpu
gspmv --matrix mat1 --backend cpu
pack --particles 50 --occupancy 0.1 --radii ecoli -o $dir/o
profile --cells 3 --order row
convert -i $dir/good
EOF

# Every setting but file names, with values that none takes, by --set and in a file.
"$minimd" config --list --format csv | grep -v ',string,' | sed '1d; s/,.*//' >"$dir/keys"
while read -r key; do
  name="setting $key"
  for bad in -7 nonsense 1e400 0x10 10x '' nan; do
    refused 2 "$key" --check --set "$key=$bad"
  done
  for bad in -7 1e400 '"nonsense"' '[ -1, 2 ]' '{ }' '""'; do
    case $key in
      *.*) printf '%s: {\n  %s = %s;\n};\n' "${key%%.*}" "${key#*.}" "$bad" >"$dir/file" ;;
      *) printf '\n%s = %s;\n' "$key" "$bad" >"$dir/file" ;;
    esac
    refused 2 "$dir/file:2" --check -i "$dir/file"
  done
done <"$dir/keys"

echo "$cases cases, $failures failures"
[ $cases -ge 800 ] && [ $failures = 0 ]
