/* tests/hostile/failing_ranks.h - what suites of failing ranks start from. */
#ifndef FAILING_RANKS_H
#define FAILING_RANKS_H

#define SMALL "--backend cpu --threads 1 --quiet --list full --deterministic "
/* Files in braces are of the test's folder, made by these lines. */
static const char *const setup[] = {
    "convert --cells 4 --to data -o {a.data}",
    "convert --cells 4 --to xyz -o {a.xyz}",
    SMALL "--cells 4 --steps 3 --checkpoint {saved}",
    "pack --particles 200 --occupancy 0.3 --seed 5 --quiet --threads 1 -o {spheres.xyz}",
};

#endif
