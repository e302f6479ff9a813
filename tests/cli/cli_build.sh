#!/bin/sh
# tests/cli/cli_build.sh MINIMD - objects are made again when what they were made with changes, and only then.
. tests/cli/cli.sh

for tool in make gcc; do
  if ! command -v $tool >/dev/null 2>&1; then
    echo "0 cases, 0 failures ($tool is not installed)"
    exit 0
  fi
done

# The makes below are no part of the one that may run this script: its job server's pipe is closed here.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES

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

# A line for each file, the whole command with V=1, nothing with -s.
prints_of() { cases=$((cases + 1)); rm -rf "$dir/build/obj/core"; make BUILD="$dir/build" NVCC= CFLAGS=-O0 "$@" "$dir/build/obj/core/crc.o" >"$dir/log" 2>&1; }
prints_of
[ "$(grep -c . "$dir/log")" = 1 ] && grep -q '^  CC .*core/crc\.o$' "$dir/log" || fail "not a line: $(cat "$dir/log")"
prints_of V=1
grep -q 'gcc .*-c -o .*crc\.o' "$dir/log" || fail "V=1: $(cat "$dir/log")"
prints_of -s
[ -s "$dir/log" ] && fail "-s: $(cat "$dir/log")"

# Packages: a machine on which `have` are installed and `offered` can be.
mkdir "$dir/bin"
cat >"$dir/bin/dpkg-query" <<'END'
#!/bin/sh
for package; do :; done
case " $(cat "$PLACE/have") " in *" $package "*) echo 'install ok installed' ;; esac
END
cat >"$dir/bin/apt-get" <<'END'
#!/bin/sh
[ "$1" = install ] || exit 0
for package; do
  case $package in -* | install) continue ;; esac
  case " $(cat "$PLACE/offered") " in *" $package "*) ;; *) exit 100 ;; esac
  echo "$(cat "$PLACE/have") $package" >"$PLACE/have"
done
END
printf '#!/bin/sh\ncat "$PLACE/user"\n' >"$dir/bin/id"
printf '#!/bin/sh\nexit 1\n' >"$dir/bin/sudo"
chmod +x "$dir"/bin/*
# deps CODE USER HAVE OFFERED - with a and b needed, x and y optional.
deps()
{
  cases=$((cases + 1))
  echo "$2" >"$dir/user"
  echo "$3" >"$dir/have"
  echo "$4" >"$dir/offered"
  PLACE="$dir" PATH="$dir/bin:$PATH" sh tests/deps.sh a b -- x y >"$dir/out" 2>"$dir/err"
  got=$?
  [ $got = "$1" ] || fail "deps: exit $got instead of $1 with '$3' of '$4': $(cat "$dir/err")"
}
deps 0 0 'a b x y' ''
[ -s "$dir/err" ] && fail "deps: nothing is missing: $(cat "$dir/err")"
deps 0 0 'a' 'b x y'
grep -q 'a b x y' "$dir/have" || fail "deps installed only $(cat "$dir/have")"
deps 0 0 'a b' 'y'
grep -q 'a b y' "$dir/have" || fail "deps: x kept y from being installed"
says 'without optional packages.* install -y x$'
deps 0 1000 'a b y' 'x'
says 'without optional packages.* x$'
deps 1 1000 'b x' 'a y'
says 'packages are missing.* install -y a$'
deps 1 0 'b x y' ''
says 'packages are missing.* a$'

finish
