#!/bin/sh
# tests/cli_build.sh MINIMD - objects are made again when what they were made with changes, and only then.
. tests/cli.sh

for tool in make gcc; do
  if ! command -v $tool >/dev/null 2>&1; then
    echo "0 cases, 0 failures ($tool is not installed)"
    exit 0
  fi
done

# A compiler that says when it makes an object.
cat >"$dir/cc" <<END
#!/bin/sh
case " \$* " in *' -c '*) echo made >>"$dir/made" ;; esac
exec gcc "\$@"
END
chmod +x "$dir/cc"

# makes COUNT SETTING... - make one object with these settings compiles so often.
makes()
{
  cases=$((cases + 1))
  count=$1
  shift
  : >"$dir/made"
  make -s BUILD="$dir/build" CC="$dir/cc" "$@" "$dir/build/obj/core/crc.o" >"$dir/log" 2>&1 ||
    fail "make $*: $(cat "$dir/log")"
  [ "$(grep -c made "$dir/made")" = "$count" ] || fail "make $* compiled $(grep -c made "$dir/made") times, not $count"
}
makes 1 NVCC= CFLAGS=-O1
makes 0 NVCC= CFLAGS=-O1
makes 1 NVCC= CFLAGS=-O0
makes 1 NVCC=nvcc CFLAGS=-O0
makes 0 NVCC=nvcc CFLAGS=-O0
makes 1 NVCC= CFLAGS=-O0

finish
