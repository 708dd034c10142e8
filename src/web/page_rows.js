/*
 * Rows: what views add up.  A row is a stack under one set of labels, of the
 * profile, of the base, or of both: then it is the same memory, and what is in
 * both is no doubt of their difference.  Different processes have different
 * labels (pid), so that their rows never meet.
 */

/* Of PROFILE and BASE, which may be null; a and b: the samples, or -1. */
function makeRows(profile, base) {
  const known = new Map(), keyOf = ({ stack, set }) => `${set} ${stack}`;
  const rows = profile.stacks.map((stack, a) =>
    ({ stack, set: profile.sets[a], a, b: -1 }));
  if (!base) return rows;
  for (const row of rows) have(known, keyOf(row), () => []).push(row);
  base.stacks.forEach((stack, b) => {
    const row = { stack, set: base.sets[b], a: -1, b };
    const same = known.get(keyOf(row))?.shift();
    if (same) same.b = b;
    else rows.push(row);
  });
  return rows;
}

const NOTHING = [0, 0, 0];

/*
 * What the values of the type NAME rest on: for each sample its value, things
 * seen, and their doubt, which jpp_error.c derives the variance from.  A sample
 * of time is a count: its doubt is all of it.  What was counted has none.
 */
function evidence(profile, name) {
  if (!profile) return () => NOTHING;
  const { types, values, period, isSpace } = profile;
  const column = (wanted) => {
    const t = types.findIndex((type) => type.name === wanted);
    return (i) => (t < 0 ? 0 : values[i * types.length + t]);
  };
  const [kind] = name.split('_'), value = column(name);
  const samples = column('samples');
  const objects = column(`${kind}_objects`), space = column(`${kind}_space`);
  return (i) => (i < 0 ? NOTHING : isSpace && period > 1
    ? sampled(value(i), objects(i), space(i), period)
    : [value(i), samples(i), samples(i)]);
}

/*
 * An object is seen with the probability p = 1 - exp(-size / period), so that
 * n = objects * p were.  OBJECTS is rounded, BYTES is not: with n known, u =
 * size / period follows from bytes = n * size / p, and p once more from that.
 */
function sampled(value, objects, bytes, period) {
  if (!objects || !(bytes / objects > 0)) return [value, 0, 0];
  const p = -Math.expm1(-bytes / objects / period);
  const n = Math.max(1, Math.round(Math.abs(objects) * p));
  const each = Math.abs(bytes) / period / n;
  let u = each;
  for (let i = 0; i < 6 && each > 1; i++) {
    u -= (u + each * Math.expm1(-u)) / (1 - each * Math.exp(-u));
  }
  const sign = Math.sign(objects);
  return [value, sign * n, sign * n * (each > 1 ? Math.exp(-u) : 1)];
}

/* What rows, or nodes of a tree, add up to: both have such columns. */
class Sum {
  after = 0;
  before = 0;
  seen = 0;
  variance = 0;

  add(columns, i) {
    this.after += columns.after[i];
    this.before += columns.before[i];
    this.seen += columns.seen[i];
    this.variance += columns.variance[i];
    return this;
  }

  get change() {
    return this.after - this.before;
  }

  get isNoise() {
    return Math.abs(this.change) < 2 * Math.sqrt(this.variance);
  }
}

const SUMS = Object.keys(new Sum());

/* Of each row: value after and before, samples seen, variance of a change. */
function measure({ rows, profile, base }, name) {
  const m = { after: [], before: [], seen: [], variance: [],
    isDifference: Boolean(base) };
  const evidenceOf = evidence(profile, name), ofBase = evidence(base, name);
  for (const { a, b } of rows) {
    const [after, n, unsure] = evidenceOf(a);
    const [before, m0, unsure0] = ofBase(b);
    const seen = Math.max(1, Math.abs(n - m0));
    m.after.push(after);
    m.before.push(before);
    m.seen.push(Math.abs(a < 0 ? m0 : n));
    m.variance.push(((after - before) / seen) ** 2
      * Math.min(seen, Math.abs(unsure - unsure0)));
    m.isDifference ||= after < 0;
  }
  return m;
}

/* The stacks that a view shows, with their row, labels and owner. */
function chooseStacks(rows, choice) {
  const chosen = [];
  rows.forEach(({ set, stack: all }, row) => {
    const shown = choice.sets[set] && framesOf(all, choice);
    if (!shown) return;
    const { stack, owner } = shown, root = choice.roots[set];
    chosen.push({ row, root, stack, owner: frames.owners[root] || owner });
  });
  return chosen;
}

/*
 * The frames of a STACK that a view shows, and the owner: that of the
 * innermost one that does more than pass memory on, and has one.
 */
function framesOf(stack, { focus, ignore, hide, from, skip, ofMemory }) {
  if (ignore && stack.some((frame) => ignore[frame])) return null;
  if (focus && !stack.some((frame) => focus[frame])) return null;
  let shown = from
    ? stack.slice(0, stack.findLastIndex((frame) => from[frame]) + 1) : stack;
  if (from && shown.length === 0) return null;
  const lead = ofMemory ? leadOf(shown) : 0;
  let k = lead;
  while (k < shown.length && !frames.owners[shown[k]]) k++;
  const owner = frames.owners[shown[k]] || '';
  if (skip && lead > 0) shown = shown.slice(lead);
  if (hide) shown = shown.filter((frame) => !hide[frame]);
  return { stack: shown, owner };
}

/* As jpp_wrappers_skip(): a stack of nothing else keeps its outermost one. */
function leadOf(stack) {
  let from = 0;
  for (let k = 0; k < stack.length; k++) {
    const kind = frames.kinds[stack[k]];
    if (kind === 0 || (kind === UNNAMED && from === 0)) break;
    if (kind === PASSES) from = k + 1;
  }
  return Math.min(from, Math.max(0, stack.length - 1));
}
