#!/bin/sh
# tests/cli/cli_files.sh MINIMD - what accidents and attackers do to files: a trajectory replaced by
# another file, names that are commands, outputs over inputs, two runs at once, closed streams,
# signals.
. tests/cli/cli.sh
case $minimd in /*) ;; *) minimd=$PWD/$minimd ;; esac # it runs in other folders, too
partial=yes

run="--backend $backend --cells 4 --steps 3 --threads 1 --quiet"
spheres=$dir/spheres.xyz
expect 0 pack --particles 60 --radii inputs/radii.two --occupancy 0.1 --sweeps 1 -o "$spheres" --quiet

# A restart cuts nothing but the trajectory that its checkpoint saw.
for form in xyz lammpstrj dcd; do
  file=$dir/a.$form
  saved=$dir/a.$form.ckpt
  expect 0 $run --steps 6 --dump "$dir/whole.$form" --dump-every 1
  expect 0 $run --dump "$file" --dump-every 1 --checkpoint "$saved"
  cp "$saved" "$dir/kept"
  for other in shorter changed longer; do
    cp "$file" "$dir/other"
    case $other in
      shorter) truncate -s -1 "$dir/other" ;;
      changed) printf X | dd of="$dir/other" bs=1 seek=$(($(stat -c %s "$file") - 9)) conv=notrunc 2>/dev/null ;;
      longer) seq 1000000 >"$dir/other" ;;
    esac
    mv "$file" "$dir/mine"
    cp "$dir/other" "$file"
    expect 3 --restart "$dir/kept" --steps 6
    says 'another name begins anew'
    [ $other = shorter ] || says 'check sum [0-9a-f]{8}; expected [0-9a-f]{8}'
    same "$file" "$dir/other" "$other file in place of a trajectory"
    mv "$dir/mine" "$file"
  done
  echo garbage >>"$file" # what a killed run wrote behind its checkpoint
  expect 0 --restart "$dir/kept" --steps 6
  same "$file" "$dir/whole.$form" 'a trajectory gone on with'
done
stokes="stokes --backend $backend -i $spheres --rhs 2 --quiet"
expect 0 $stokes --steps 2 --trajectory "$dir/s.xyz" --checkpoint "$dir/s.ckpt"
mv "$dir/s.xyz" "$dir/mine"
seq 1000000 >"$dir/s.xyz"
cp "$dir/s.xyz" "$dir/other"
expect 3 stokes --restart "$dir/s.ckpt" --steps 4 --quiet
says 'check sum'
same "$dir/s.xyz" "$dir/other" 'a file in place of a trajectory'
mv "$dir/mine" "$dir/s.xyz"
expect 0 stokes --restart "$dir/s.ckpt" --steps 4 --quiet
[ "$(ls "$dir"/*.tmp 2>/dev/null)" = '' ] || fail 'temporary files are left'

# A name is a name, whatever it says to a shell or to gnuplot.
if command -v gnuplot >/dev/null 2>&1; then
  mkdir "$dir/plots"
  (
    cd "$dir/plots" || exit
    line='
'
    for name in '| touch pwned ' '< touch pwned' "it's" '"q"' '\n' "a${line}b" '$(touch pwned)' '`touch pwned`' \
      "'; system('touch pwned'); '" '%s%n' '-x'; do
      "$minimd" $run "--plot=$name.png" >/dev/null 2>../err || echo "exit $? for $name"
      [ -s "$name.png" ] || echo "no file $name.png"
      "$minimd" ordering --order hilbert --size 4 --quiet "--plot=./$name.svg" >/dev/null 2>../err || echo "exit $? for $name"
      [ -s "./$name.svg" ] || echo "no file $name.svg"
      "$minimd" $run "--trace=$name" >/dev/null 2>../err
      "$minimd" cachemodel "--trace=$name" --line-bytes 64 --capacity 8 --plot=p.png >/dev/null 2>../err ||
        echo "cachemodel: exit $? for $name"
      printf 'name = "%s"; kind = "cpu"; levels = ( { bytes = 32768; ways = 8; line = 64; } );\n' \
        "$(printf %s "$name" | tr -d '"\\\n')" >../machine
      "$minimd" cachemodel $run --order row --machine ../machine --plot=p.svg >/dev/null 2>../err ||
        echo "cachemodel: exit $? for a machine $name: $(cat ../err)"
      rm -f -- "$name.png" "$name.svg" "$name" p.png p.svg
    done
    ls
  ) >"$dir/out" 2>&1
  cases=$((cases + 44))
  [ ! -s "$dir/out" ] || fail "names: $(cat "$dir/out")"
fi

# Every file of a command is one of its own.
cp inputs/in.lj "$dir/in"
cp "$dir/in" "$dir/in.before"
ln "$dir/in" "$dir/hard"
ln -s in "$dir/soft"
mkdir "$dir/sub"
ln -s ../new.xyz "$dir/sub/new.xyz"
expect 0 $run --dump "$dir/atoms.xyz"
tail -n 258 "$dir/atoms.xyz" >"$dir/last.xyz"
cp "$dir/last.xyz" "$dir/last.before"
cp "$dir/in" "$dir/in.xyz"
cp "$dir/in" "$dir/in.png"
expect 0 $run --trace "$dir/trace"
clash()
{
  expect 2 "$@"
  says 'are one file'
}
for same in in hard soft ./in sub/../in; do
  clash $run -i "$dir/in" -o "$dir/$same"
done
(cd "$dir" && "$minimd" $run -i in -o "$dir/in" >out 2>err)
[ $? = 2 ] || fail 'a relative and an absolute name'
clash $run -i "$dir/in.xyz" --dump "$dir/in.xyz"
clash $run -i "$dir/in" --checkpoint "$dir/in"
clash $run -i "$dir/in" --trace "$dir/in"
clash $run -i "$dir/in.png" --plot "$dir/in.png"
atoms="--backend $backend --steps 3 --quiet --set system.read=$dir"
clash $atoms/last.xyz -o "$dir/last.xyz"
clash $atoms/last.xyz --dump "$dir/last.xyz"
clash $run --dump "$dir/new.xyz" --checkpoint "$dir/new.xyz"
clash $run --dump "$dir/new.xyz" --checkpoint "$dir/sub/new.xyz"
clash $run --dump "$dir/new.xyz" -o "$dir/sub/../new.xyz"
clash $run --dump "$dir/new.xyz" --trace "$dir/new.xyz"
clash $run --plot "$dir/new.png" -o "$dir/new.png"
clash $run --plot "$dir/new.png" --trace "$dir/new.png"
clash $run -o "$dir/new" --trace "$dir/new"
clash $run -o "$dir/new" --checkpoint "$dir/new"
clash $run -o "$dir/new.prev" --checkpoint "$dir/new"
clash $run -o "$dir/new.tmp" --checkpoint "$dir/new"
clash --restart "$dir/kept" --steps 6 -o "$dir/kept"
clash convert -i "$dir/in" -o "$dir/in"
clash cachemodel --trace "$dir/trace" --line-bytes 64 --capacity 8 -o "$dir/trace"
clash $stokes --steps 2 --trajectory "$spheres"
clash $stokes --steps 2 --checkpoint "$spheres"
clash $stokes --steps 2 -o "$spheres"
clash stokes --restart "$dir/s.ckpt" --steps 6 -o "$dir/s.xyz"
clash pack --particles 60 --radii inputs/radii.two --occupancy 0.1 -o "$dir/new" --contacts "$dir/new"
expect 0 gspmv --matrix mat1 --rows 2000 --vectors 1 --repeat 1 --quiet --write "$dir/m.mtx"
clash gspmv --matrix "$dir/m.mtx" --vectors 1 --repeat 1 --quiet --write "$dir/m.mtx"
clash compare -i "$dir/in" $run --order row -o "$dir/in"
clash spread --distribution "$dir/last.xyz" --mesh 8 -o "$dir/last.xyz"
same "$dir/in" "$dir/in.before" 'an input'
same "$dir/last.xyz" "$dir/last.before" 'an input'
[ -z "$(ls "$dir"/new* "$dir"/*.tmp 2>/dev/null)" ] || fail "a refused command writes $(ls "$dir"/new*)"
# What is no clash.
expect 0 $run -o /dev/null --trace /dev/null
expect 0 $run -o /dev/stdout
prints 'performance|atom-steps'
expect 0 --restart "$dir/kept" --steps 6 --dump "$dir/again.dcd" --checkpoint "$dir/kept"
cases=$((cases + 2))
"$minimd" $run -o /dev/stdout >"$dir/one" && grep -q atom-steps "$dir/one" || fail '-o /dev/stdout into a file'
"$minimd" $run -i /dev/stdin <"$dir/in" >/dev/null || fail 'standard input'
sed 's/8442/8/' "$dir/in" | "$minimd" $run -i /dev/stdin >/dev/null || fail 'a pipe as standard input'

# Nothing waits for a process that may never come.
mkfifo "$dir/pipe" "$dir/pipe.xyz" "$dir/pipe.png"
for words in "-i $dir/pipe" "-o $dir/pipe" "--dump $dir/pipe.xyz" "--trace $dir/pipe" "--checkpoint $dir/pipe" \
  "--restart $dir/pipe" "-i /dev/zero"; do
  expect 3 $run $words
done
expect 3 $atoms/pipe.xyz
expect 3 cachemodel --trace "$dir/pipe" --line-bytes 64 --capacity 8
expect 3 stokes -i "$dir/pipe" --steps 1
expect 3 gspmv --matrix "$dir/pipe.mtx"
expect 3 $stokes --steps 1 --trajectory "$dir/pipe"

# Modes and links of what is replaced stay; what lies under the temporary name is not written.
echo old >"$dir/behind"
chmod 640 "$dir/behind"
ln -s behind "$dir/link"
expect 0 $run -o "$dir/link"
[ -L "$dir/link" ] && [ "$(stat -c %a "$dir/behind")" = 640 ] && grep -q atom-steps "$dir/behind" ||
  fail "a link is replaced, or modes change: $(ls -l "$dir/behind")"
ln -s behind.ckpt "$dir/link.ckpt"
expect 0 $run --steps 30 --checkpoint "$dir/link.ckpt" --checkpoint-every 15 --rebuild 5
expect 0 --restart "$dir/behind.ckpt" --check
expect 0 --restart "$dir/behind.ckpt.prev" --check
[ -L "$dir/link.ckpt" ] || fail 'a link to a checkpoint is replaced'
truncate -s 3000 "$dir/behind.ckpt"
expect 3 --restart "$dir/link.ckpt"
says "restart .*behind.ckpt.prev \(step 15\)"
cp "$dir/in" "$dir/victim"
ln -s victim "$dir/res.tmp"
expect 3 $run -o "$dir/res"
says 'in the way'
rm "$dir/res.tmp"
ln "$dir/victim" "$dir/res.tmp"
expect 3 $run -o "$dir/res"
same "$dir/in" "$dir/victim" 'a file behind the temporary name'
rm "$dir/res.tmp"

# Streams that are closed are not given to a file.
cases=$((cases + 3))
"$minimd" $run --dump "$dir/closed.xyz" >&- 2>"$dir/err"
[ $? = 3 ] || fail 'closed standard output: exit code'
says 'standard output'
grep -q 'atom-steps' "$dir/closed.xyz" && fail 'the report is in the trajectory'
"$minimd" $run --dump "$dir/closed.xyz" -o "$dir/report" >&- 2>&- <&- || fail 'closed streams'
grep -q 'atom-steps' "$dir/report" || fail 'no report'
[ "$(grep -c Lattice "$dir/closed.xyz")" = 2 ] || fail 'frames of a trajectory with closed streams'

# A second run on the same trajectory or checkpoint is refused, before and after the first save.
long="$run --steps 100000000 --thermo 0"
for words in "--dump $dir/two.xyz" "--checkpoint $dir/two" "--checkpoint $dir/two --checkpoint-every 50"; do
  cases=$((cases + 1))
  rm -f "$dir/two" "$dir/two.prev"
  "$minimd" $long $words >"$dir/first.out" 2>"$dir/first.err" &
  pid=$!
  case $words in
    *every*) awaits [ -e "$dir/two.prev" ] ;;
    *dump*) awaits [ -s "$dir/two.xyz" ] ;;
    *) awaits [ -e "$dir/two.tmp" ] ;;
  esac
  for k in 1 2 3; do
    expect 3 $run $words
    says 'another process is writing it'
  done
  kill -0 $pid || fail "the first run ended: $(cat "$dir/first.err")"
  kill -KILL $pid
  wait $pid 2>/dev/null
  expect 0 $run $words
done 2>/dev/null
[ "$(ls "$dir"/two*)" = "$dir/two
$dir/two.prev
$dir/two.xyz" ] || fail "left: $(ls "$dir"/two*)"

# Signals end every command, in every phase, and leave no temporary file.  SIGHUP does not where it was ignored from the
# start, as nohup does.
hup='HUP 1'
sh -c 'kill -HUP $$' 2>/dev/null && hup='TERM 15'
: >"$dir/list"
stopped()
{
  signal=$1
  number=$2
  shift 2
  for wait in 0.01 0.05 0.2 0.7; do
    cases=$((cases + 1))
    rm -f "$dir/stop" "$dir/stop.trace"
    "$minimd" "$@" -o "$dir/stop" >/dev/null 2>"$dir/err" &
    pid=$!
    sleep $wait
    kill -$signal $pid
    # what a shell starts with & ignores SIGINT until main takes it: it may have been lost
    while [ $signal = INT ] && sleep 0.5 && readlink /proc/$pid/exe >/dev/null; do
      kill -INT $pid
    done
    wait $pid
    got=$?
    # before main the signal itself ends the process, which counts the same
    [ $got = $((128 + number)) ] || fail "SIG$signal after $wait s: exit $got: minimd $* : $(cat "$dir/err")"
    [ ! -e "$dir/stop.tmp" ] && [ ! -e "$dir/stop.trace.tmp" ] || fail "SIG$signal after $wait s leaves a temporary file: minimd $*"
  done 2>/dev/null
}
stopped TERM 15 --backend "$backend" --cells 30 --steps 1000000 --threads 1 --trace "$dir/stop.trace"
stopped INT 2 --backend "$backend" --cells 60 --steps 10000 --threads 1
stopped $hup --backend "$backend" --cells 30 --steps 1000000 --threads 1
stopped TERM 15 compare --backend "$backend" --cells 30 --steps 10000 --threads 1 --order row
stopped $hup pack --particles 20000 --occupancy 0.5 --threads 1
stopped TERM 15 stokes --backend "$backend" -i "$spheres" --steps 1000000 --quiet
stopped TERM 15 cachemodel -i inputs/in.lj --cells 60 --steps 10 --machine h200 --threads 1
stopped TERM 15 cachemodel --order hilbert --size 512 --stencil block:1 --line 8 --capacity 1000
cases=$((cases + 1))
"$minimd" $long --cells 40 -o "$dir/stop" >/dev/null 2>"$dir/err" & # a second one at once
pid=$!
sleep 1
kill -TERM $pid
kill -TERM $pid
wait $pid
[ $? = 143 ] || fail 'two signals: exit code'

# A run that blows up leaves a checkpoint of before.
for dt in 1 0.3 0.1 0.05; do
  rm -f "$dir/blown" "$dir/blown.prev"
  expect 0 $run --cells 5 --steps 5 --checkpoint "$dir/blown"
  cp "$dir/blown" "$dir/good"
  expect 5 --restart "$dir/blown" --dt $dt --steps 200 --checkpoint-every 2
  cmp -s "$dir/good" "$dir/blown" || cmp -s "$dir/good" "$dir/blown.prev" || fail "dt $dt: no checkpoint of before is left"
done
# The one before stays until a list build has seen the state of the present one.
rm -f "$dir/blown" "$dir/blown.prev"
expect 0 $run --rebuild 10 --steps 19 --checkpoint "$dir/blown" --checkpoint-every 2
expect 0 --restart "$dir/blown.prev" --set output.checkpoint= --steps 20 --format csv
prints '^8,'

# A limit on the size of files is an error of writing.
for words in "--dump $dir/big.xyz --dump-every 1" "--trace $dir/big.trace" "--checkpoint $dir/big"; do
  cases=$((cases + 1))
  (
    ulimit -f 8
    "$minimd" $run $words >/dev/null 2>"$dir/err"
  )
  [ $? = 3 ] || fail "a limit on the size of files: exit code: $words: $(cat "$dir/err")"
  says 'File too large'
done
[ -z "$(ls "$dir"/*.tmp 2>/dev/null)" ] || fail "temporary files: $(ls "$dir"/*.tmp)"

finish
