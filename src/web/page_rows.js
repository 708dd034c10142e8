/*
 * Rows: what views add up.  A row is a stack under one set of labels, of the
 * profile, of the base, or of both: then it is the same memory, and what is in
 * both is no doubt of their difference.  Different processes have different
 * labels (pid), so that their rows never meet.
 */

/* The rows of the profile NOW and of BASE, which may be null: their indices. */
function makeRows(now, base) {
  const a = now.sets.map((set, i) => i), b = now.sets.map(() => -1);
  const known = new Map();
  for (let i = 0; base && i < now.n; i++) {
    have(known, `${now.sets[i]} ${now.stacks[i]}`, () => []).push(i);
  }
  for (let k = 0; base && k < base.n; k++) {
    const same = known.get(`${base.sets[k]} ${base.stacks[k]}`)?.shift();
    if (same !== undefined) {
      b[same] = k;
    } else {
      a.push(-1);
      b.push(k);
    }
  }
  return { now, base, a, b };
}

/*
 * What the values of the type NAME rest on: for each sample its value, things
 * seen, and their doubt, which jpp_error.c derives the variance from.  A sample
 * of time is a count: its doubt is all of it.  What was counted has none.
 */
function evidence(profile, name) {
  if (!profile) return null;
  const { types, values, period, isSpace } = profile;
  const column = (wanted) => {
    const t = types.findIndex((type) => type.name === wanted);
    return (i) => (t < 0 ? 0 : values[i * types.length + t]);
  };
  const [kind] = name.split('_'), value = column(name);
  const samples = column('samples');
  const objects = column(`${kind}_objects`), space = column(`${kind}_space`);
  return (i) => [value(i), ...isSpace && period > 1
    ? sampled(objects(i), space(i), period) : [samples(i), samples(i)]];
}

/*
 * An object is seen with the probability p = 1 - exp(-size / period), so that
 * n = objects * p were.  OBJECTS is rounded, BYTES is not: with n known, u =
 * size / period follows from bytes = n * size / p, and p once more from that.
 */
function sampled(objects, bytes, period) {
  if (!objects || !(bytes / objects > 0)) return [0, 0];
  const p = -Math.expm1(-bytes / objects / period);
  const n = Math.max(1, Math.round(Math.abs(objects) * p));
  const each = Math.abs(bytes) / period / n;
  let u = each;
  for (let i = 0; i < 6 && each > 1; i++) {
    u -= (u + each * Math.expm1(-u)) / (1 - each * Math.exp(-u));
  }
  const sign = Math.sign(objects);
  return [sign * n, sign * n * (each > 1 ? Math.exp(-u) : 1)];
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
function measure(rows, name) {
  const m = { after: [], before: [], seen: [], variance: [],
    isDifference: Boolean(rows.base) };
  const ofNow = evidence(rows.now, name), ofBase = evidence(rows.base, name);
  const none = [0, 0, 0];
  rows.a.forEach((a, i) => {
    const b = rows.b[i];
    const [after, n, unsure] = a < 0 ? none : ofNow(a);
    const [before, m0, unsure0] = b < 0 ? none : ofBase(b);
    const seen = Math.max(1, Math.abs(n - m0));
    m.after.push(after);
    m.before.push(before);
    m.seen.push(Math.abs(a < 0 ? m0 : n));
    m.variance.push(((after - before) / seen) ** 2
      * Math.min(seen, Math.abs(unsure - unsure0)));
    m.isDifference ||= after < 0;
  });
  return m;
}

/* The stacks that a view shows, with their row, labels and owner. */
function chooseStacks({ now, base, a, b }, choice) {
  const chosen = [];
  a.forEach((i, row) => {
    const profile = i < 0 ? base : now, k = i < 0 ? b[row] : i;
    const set = profile.sets[k];
    const shown = choice.sets[set] && framesOf(profile.stacks[k], choice);
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

/* As jpp_passing_skip(): a stack of nothing else keeps its outermost one. */
function leadOf(stack) {
  let from = 0;
  for (let k = 0; k < stack.length; k++) {
    const kind = frames.kinds[stack[k]];
    if (kind === 0 || (kind === UNNAMED && from === 0)) break;
    if (kind === PASSES) from = k + 1;
  }
  return Math.min(from, Math.max(0, stack.length - 1));
}
