# bench/ranks_model.awk - fits the time of a step on several GPUs to rows of engine-ranks.csv and
# predicts others (bench/ranks_model.sh has the formula).  Input: those rows, and those of
# partition-cpu.csv as a check.  Output: ranks-model.csv; to the file `parameters` its parameters.
#
# Variables: host = GPUs of a host; and for more hosts than one net_us, net_gbytes.

function stop(what)
{
  print "ranks_model: " what >"/dev/stderr"
  stopped = 1
  exit 2
}

# cut[1..3] : p ranks as bricks with the least surface, the longest edge first.
function cut_of(p, cut,   a, b, least)
{
  for (a = 1; a * a * a <= p; a++)
    for (b = a; p % a == 0 && b * b <= p / a; b++)
      if (p / a % b == 0 && (!least || a + b + p / a / b < least)) {
        least = a + b + p / a / b
        cut[1] = a
        cut[2] = b
        cut[3] = p / a / b
      }
}

# How far a brick with these edges, one reach wider on so many sides, has more volume than without.
function shell(edge, sides)
{
  return (edge[1] + REACH * sides[1]) * (edge[2] + REACH * sides[2]) * \
    (edge[3] + REACH * sides[3]) - edge[1] * edge[2] * edge[3]
}

# What decides the time of a step of point k, a "strong" or "weak" melt of cells^3 on p ranks:
# x[k, 1..terms], and beyond hosts.  A rank's sides are its own, its host's or another host's; of a
# host's ranks those count that have most of the last.
function describe(k, kind, cells, p, imbalance,   cut, of, edge, own, near, all, d, n, away)
{
  cut_of(p, cut)
  cut_of(p < host ? p : host, of)
  n = 1
  for (d = 1; d <= 3; d++) {
    edge[d] = cells * (4 / DENSITY) ^ (1 / 3) / (kind == "strong" ? cut[d] : 1)
    n *= edge[d]
    all[d] = 2
    own[d] = cut[d] == 1 ? 2 : 0
    near[d] = of[d] == cut[d] ? 2 : of[d] > 1
  }
  atoms[k] = DENSITY * n
  ghosts[k] = DENSITY * shell(edge, all)
  carried[k] = DENSITY * (shell(edge, all) - shell(edge, own))
  away = DENSITY * (shell(edge, all) - shell(edge, near))
  distant[k] = p > host ? away : 0
  hosts[k] = p > host ? p / host : 1
  ranks[k] = p
  x[k, 1] = 1
  x[k, 2] = atoms[k] * imbalance
  x[k, 3] = ghosts[k]
  x[k, 4] = p > 1
  x[k, 5] = p > 1 ? carried[k] : 0
}

# The time of a step of point k by parameters q [us].
function model(k, q,   t, sum, hops)
{
  for (t = 1; t <= terms; t++) sum += q[t] * x[k, t]
  if (hosts[k] == 1) return sum
  for (hops = 0; 2 ^ hops < hosts[k]; hops++);
  return sum + net_us * (1 + (SENT + ALL * hops) / EVERY) + distant[k] * BYTES / (1000 * net_gbytes)
}

# q[1..terms] : the terms of the set alone, with the least squares of relative errors over rows that
# are not of the place left out.  Returns the sum of squares, or -1 where a parameter is negative or
# rows do not tell terms apart.
function fit_some(set, left, q,   a, t, u, r, n, on, f, size, sum, error)
{
  for (t = 1; t <= terms; t++) {
    q[t] = 0
    if (int(set / 2 ^ (t - 1)) % 2) on[++n] = t
  }
  for (t = 1; t <= n; t++) { # columns of one size: ghosts are many, and steps one
    size[t] = 0
    for (r = 1; r <= rows; r++) if (place[r] != left) size[t] += (x[r, on[t]] / us[r]) ^ 2
    if (size[t] == 0) return -1
    size[t] = sqrt(size[t])
  }
  for (t = 1; t <= n; t++)
    for (u = 1; u <= n + 1; u++) {
      sum = 0
      for (r = 1; r <= rows; r++)
        if (place[r] != left)
          sum += x[r, on[t]] / us[r] / size[t] * (u > n ? 1 : x[r, on[u]] / us[r] / size[u])
      a[t, u] = sum
    }
  for (t = 1; t <= n; t++) { # a is symmetric and positive: no exchange of lines
    if (a[t, t] < 1e-10) return -1
    for (r = 1; r <= n; r++) {
      if (r == t) continue
      f = a[r, t] / a[t, t]
      for (u = t; u <= n + 1; u++) a[r, u] -= f * a[t, u]
    }
  }
  for (t = 1; t <= n; t++) {
    q[on[t]] = a[t, n + 1] / a[t, t] / size[t]
    if (q[on[t]] < 0) return -1
  }
  for (r = 1; r <= rows; r++) if (place[r] != left) error += (model(r, q) / us[r] - 1) ^ 2
  return error + 0
}

# Row v of fitted : no parameter negative, without the rows of one place.
function fit(v, left,   set, error, best, q, t)
{
  best = -1
  for (set = 1; set < 2 ^ terms; set++) {
    error = fit_some(set, left, q)
    if (error < 0 || (best >= 0 && error >= best)) continue
    best = error
    for (t = 1; t <= terms; t++) fitted[v, t] = q[t]
  }
}

# The model's time of point k with fit v.
function predict(k, v,   t, q)
{
  for (t = 1; t <= terms; t++) q[t] = fitted[v, t]
  return model(k, q)
}

# A line of ranks-model.csv.  one: the same on one GPU; measured, measured_one: "" if not measured.
function tell(k, kind, cells, basis, one, measured, measured_one,   v, t, least, most, left, error)
{
  t = predict(k, 0)
  least = most = t
  for (v = 1; v <= places; v++) {
    left = predict(k, v)
    if (left < least) least = left
    if (left > most) most = left
  }
  if (measured != "") {
    error = sprintf("%.2f", 100 * (t / measured - 1))
    left = sprintf("%.2f", 100 * (predict(k, place[k]) / measured - 1))
  } else
    error = left = ""
  print lead, kind, cells, ranks[k], hosts[k], basis, sprintf("%.0f", atoms[k] * ranks[k]),
    sprintf("%.0f", atoms[k]), sprintf("%.0f", ghosts[k]), sprintf("%.0f", carried[k]),
    sprintf("%.0f", distant[k]), sprintf("%.2f", t), sprintf("%.2f", least), sprintf("%.2f", most),
    measured == "" ? "" : sprintf("%.2f", measured), error, left,
    sprintf("%.3f", worth(kind, ranks[k], one, t)),
    measured_one == "" ? "" : sprintf("%.3f", worth(kind, ranks[k], measured_one, measured))
}

# How many GPUs' work that is, where one GPU takes so long for all atoms, or for those of each.
function worth(kind, p, one, t) { return (kind == "weak" ? p : 1) * one / t }

function parameter(name, value, unit, basis, least, most)
{
  print lead, name, value, unit, basis, least, most >parameters
}

function tell_parameters(   t, v, least, most)
{
  print "date,commit,machine,parameter,value,unit,basis,least,most" >parameters
  for (t = 1; t <= terms; t++) {
    least = most = fitted[0, t]
    for (v = 1; v <= places; v++) {
      if (fitted[v, t] < least) least = fitted[v, t]
      if (fitted[v, t] > most) most = fitted[v, t]
    }
    parameter(name[t], sprintf("%.5g", scale[t] * fitted[0, t]), unit[t], "fitted",
      sprintf("%.5g", scale[t] * least), sprintf("%.5g", scale[t] * most))
  }
  parameter("atoms a GPU for half the rate on a full host", atoms_for(0.5), "", "model")
  parameter("atoms a GPU for 80 % of the rate there", atoms_for(0.8), "", "model")
  parameter("network latency", net_us, "us", "assumed")
  parameter("network bandwidth", net_gbytes, "GB/s a GPU", "assumed")
  parameter("GPUs of a host", host, "", "assumed")
  parameter("exchanges of all with all a rebuild", ALL, "", "counted")
  parameter("bytes a ghost and step", BYTES, "", "counted")
  if (counted) parameter("ghosts: model over counted", sprintf("%.3f", 1 + worst), "", "counted")
}

# Atoms a GPU from which on that part of one GPU's rate is left on each of a host full of them; `any` where it is so for the
# fewest.
function atoms_for(part,   low, high, cells, one)
{
  low = 1
  high = 2000
  while (high / low > 1.001) {
    cells = sqrt(low * high)
    describe(-1, "weak", cells, 1, 1)
    one = predict(-1, 0)
    describe(-1, "weak", cells, host, 1)
    if (one < part * predict(-1, 0)) low = cells
    else high = cells
  }
  return low == 1 ? "any" : sprintf("%.2g", 4 * high * high * high)
}

# A number of this line by the name of its column.
function of(column)
{
  if (!(column in at)) stop(FILENAME ": no column " column)
  return $at[column]
}

# All rows that are fitted have the same there.
function same(column)
{
  if (column in common && common[column] != of(column))
    stop(sprintf("%s: rows of %s %s and %s: a model is of one", FILENAME, column, common[column],
      of(column)))
  common[column] = of(column)
}

BEGIN {
  FS = OFS = ","
  DENSITY = 0.8442 # of inputs/in.lj, whose lists reach so far and last for so many steps
  REACH = 2.8
  EVERY = 20
  # Of a step: a position, four floats.  Of a rebuild: messages of movers and of names of ghosts,
  # and exchanges of all with all (signals 1, migration 2, borders 2, lists 1).
  BYTES = 16
  SENT = 2
  ALL = 6
  terms = split("step,atom,ghost,step on several,ghost of another GPU", name, ",")
  split("us,ns,ns,us,ns", unit, ",")
  for (t = 1; t <= terms; t++) scale[t] = unit[t] == "ns" ? 1000 : 1
}
FNR == 1 {
  delete at
  for (c = 1; c <= NF; c++) at[$c] = c
  next
}
"ghosts_percent" in at {
  if (of("density") != "even" || of("atoms") < 262144 || of("cut") == "bisection") next
  if (of("ranks") !~ /^(1|2|4|8|16|32|64)$/) next
  describe(0, "strong", (of("atoms") / 4) ^ (1 / 3), of("ranks"), 1)
  d = ghosts[0] / atoms[0] / (of("ghosts_percent") / 100) - 1
  counted++
  if (d * d > worst * worst) worst = d
  next
}
of("backend") == "gpu" && of("case") ~ /^(strong|weak) [1-9][0-9]*$/ {
  same("machine")
  same("precision")
  same("list")
  if (of("ranks") > 1) same("carrier")
  if (of("ranks") !~ /^[1-9][0-9]*$/ || !(of("m_atom_steps_per_s") > 0))
    stop(sprintf("%s:%d: expected ranks and a rate", FILENAME, FNR))
  lead = of("date") "," of("commit") "," of("machine")
  split(of("case"), word, " ")
  kind_of[++rows] = word[1]
  cells_of[rows] = word[2]
  describe(rows, word[1], word[2], of("ranks"), of("imbalance") == "" ? 1 : of("imbalance"))
  us[rows] = of("atoms") / of("m_atom_steps_per_s")
  if ((atoms[rows] * ranks[rows] / of("atoms") - 1) ^ 2 > 1e-10)
    stop(sprintf("%s:%d: %d atoms are not those of %s", FILENAME, FNR, of("atoms"), of("case")))
  if (ranks[rows] > most_ranks) most_ranks = ranks[rows]
  if (ranks[rows] == 1) one_us[cells_of[rows]] = us[rows]
  key = sprintf("%.0f %d %.0f", atoms[rows], ranks[rows], ghosts[rows])
  if (!(key in number)) {
    number[key] = ++places
    if (ranks[rows] > 1) several++
    else ones++
  }
  place[rows] = number[key]
}
END {
  if (stopped) exit 2
  if (ones < 3 || several < 3)
    stop(sprintf("%d parameters need rows of at least 3 sizes on one GPU and 3 of several GPUs: " \
      "there are %d and %d", terms, ones, several))
  for (v = 0; v <= places; v++) fit(v, v) # no row has place 0: the fit to all
  tell_parameters()
  print "date,commit,machine,kind,cells,ranks,hosts,basis,atoms,atoms_a_rank,ghosts_a_rank," \
    "of_other_ranks,of_other_hosts,us_per_step,least,most,measured,error_percent," \
    "left_out_percent,times_one,measured_times_one"
  for (r = 1; r <= rows; r++) {
    describe(0, kind_of[r], cells_of[r], 1, 1)
    tell(r, kind_of[r], cells_of[r], "fitted", predict(0, 0), us[r], one_us[cells_of[r]])
  }
  n = split("strong 64,strong 128,strong 256,weak 64,weak 128", wanted, ",")
  for (r = 1; r <= n; r++) {
    split(wanted[r], word, " ")
    describe(0, word[1], word[2], 1, 1)
    one = predict(0, 0)
    for (p = 1; p <= 512; p *= 2) {
      describe(-1, word[1], word[2], p, 1)
      basis = p <= most_ranks ? "model" : p <= host ? "extrapolated" : "assumed network"
      tell(-1, word[1], word[2], basis, one, "", "")
    }
  }
}
