#!/bin/sh
# tests/cli/cli_ranks_frames.sh MINIMD - boxes that single and mixed precision divide into frames, on several ranks: the bytes of one.
. tests/cli/cli.sh
. tests/cli/ranks.sh
where="--backend $backend --threads 1 --quiet --format csv"
[ "$backend" = cpu ] || where="$where --share-gpu"
minimd=$(realpath "$minimd")

# alike WHAT RANKS ARGS... : thermo lines, trajectory and checkpoint on so many ranks are those of one.
alike()
{
  what=$1
  counts=$2
  shift 2
  run_in one 1 "$@" --dump d.lammpstrj --checkpoint c
  for n in $counts; do
    rm -rf "$dir/parts"
    run_in parts $n "$@" --dump d.lammpstrj --checkpoint c
    for file in out d.lammpstrj c; do
      same "$dir/one/$file" "$dir/parts/$file" "$what on $n ranks"
    done
  done
}
exact="$where --list full --deterministic --steps 30 --thermo 10 --dump-every 10"
# 2 frames of 117 sigma each, whose border is that of 2 bricks, and 3 whose borders are those of 3; hot, so that atoms cross them.
hot='--set system.temperature=6 --set run.dt=0.003'
for precision in single mixed; do
  alike "2 frames, $precision precision" '2 3 4' $exact $hot --precision $precision --cells 3,3,140
  alike "3 frames, $precision precision" '2 3' $exact $hot --precision $precision --cells 290,3,3 --cut bricks
done
for cut in curve bricks bisection; do
  alike "2 frames cut by $cut" 4 $exact $hot --precision single --cells 3,3,140 --cut $cut --order row
done
alike '4 frames in creation order' 3 $exact $hot --precision mixed --cells 2,380,2 --order none
alike '2 frames along a Morton curve' 3 $exact $hot --precision single --cells 140,3,3 --order morton --rebuild check --skin 0.1
# Long in two axes, frames of 59 sigma: a short cutoff makes them so.
alike '2 x 2 frames' '2 3 4' $exact --precision single --cells 70,2,70 --set lj.cutoff=1.2 --skin 0.2 --steps 10

# Two species; embedded atoms, whose slopes go to ghosts of all frames.
salt='species=({name="A";mass=2;fraction=0.8;},{name="B";fraction=0.2;})'
pairs='lj.pairs=({types=["A","B"];epsilon=1.5;sigma=0.8;cutoff=2;})'
alike 'two species in frames' 3 $exact --precision mixed --cells 3,3,140 --set "$salt" --set "$pairs" --steps 10
"$minimd" potential -o "$dir/Cu.eam.alloy" || fail 'minimd potential'
cp inputs/in.eam "$dir/in.eam"
alike 'copper in frames' 3 -i "$dir/in.eam" $exact --precision single --cells 2,2,140 --steps 10 --cut bricks

# A checkpoint of 2 ranks goes on with 1 and 3: the run that never stopped.
run_in two 2 $exact $hot --precision single --cells 3,3,140 --dump d.lammpstrj --checkpoint c
run_in whole 1 $exact $hot --precision single --cells 3,3,140 --dump d.lammpstrj --steps 60
tail -n 3 "$dir/whole/out" >"$dir/last"
for n in 1 3; do
  rm -rf "$dir/on$n"
  cp -r "$dir/two" "$dir/on$n"
  run_in on$n $n --restart c --steps 60 --format csv --quiet
  tail -n 3 "$dir/on$n/out" | cmp -s - "$dir/last" || fail "$n ranks do not go on with a checkpoint of 2 ranks and 2 frames"
  same "$dir/whole/d.lammpstrj" "$dir/on$n/d.lammpstrj" "a trajectory in 2 frames gone on with on $n ranks"
  same "$dir/on1/c" "$dir/on$n/c" "checkpoints of 2 frames gone on with, $n ranks"
done

# Half lists, and full ones that are not deterministic: the same within rounding.
loose="$where --cells 3,3,140 --steps 20 --thermo 10"
for list in full 'half --newton on' 'half --newton off'; do
  for precision in single mixed; do
    run_in one 1 $loose --precision $precision --list $list
    run_in parts 3 $loose --precision $precision --list $list
    near "$dir/one/out" "$dir/parts/out" 1e-6 "3 ranks, 2 frames, $list lists, $precision precision"
  done
done

# Lists by tiles: each of 2 ranks has a frame, whose positions stay as they are; of 3 ranks one has atoms of both.
for precision in single mixed; do
  [ "$backend" = gpu ] || break
  run_in one 1 $loose --precision $precision --list tile
  for n in 2 3; do
    run_in parts $n $loose --precision $precision --list tile
    near "$dir/one/out" "$dir/parts/out" 1e-6 "$n ranks, 2 frames, lists by tiles, $precision precision"
  done
done

finish
