/*
 * A tree of frames in typed arrays.  Node 0 is the root; a parent comes before
 * its children, so that a loop from the end adds up totals.  The children of a
 * node are order[first[node]] to order[first[node + 1]], the widest first, and
 * x says where a node begins, in the unit of the values.
 */

const OWNERS = { names: [], ids: new Map(), colours: [] };
const COLUMNS = {
  frame: Uint32Array, parent: Int32Array, depth: Uint16Array,
  after: Float64Array, before: Float64Array, seen: Float32Array,
  variance: Float32Array,
};

class Tree {
  constructor(frame, isDifference) {
    this.n = 0;
    this.isDifference = isDifference;
    this.slots = new Int32Array(8192).fill(-1);
    for (const name of Object.keys(COLUMNS)) {
      if (name !== 'before' || isDifference) {
        this[name] = new COLUMNS[name](4096);
      }
    }
    this.add(-1, frame, 0);
  }

  add(parent, frame, depth) {
    if (this.n === this.frame.length) this.resize(2 * this.n);
    const node = this.n++;
    this.frame[node] = frame;
    this.parent[node] = parent;
    this.depth[node] = depth;
    return node;
  }

  resize(size) {
    for (const name of Object.keys(COLUMNS)) {
      if (!this[name]) continue;
      const column = new COLUMNS[name](size);
      column.set(this[name].subarray(0, Math.min(this.n, size)));
      this[name] = column;
    }
  }

  slotOf(parent, frame) {
    const mask = this.slots.length - 1;
    let at = Math.imul(Math.imul(parent, 0x9e3779b1) ^ frame, 0x85ebca6b);
    for (at = (at ^ at >>> 15) & mask; ; at = at + 1 & mask) {
      const node = this.slots[at];
      if (node < 0 || (this.parent[node] === parent
          && this.frame[node] === frame)) return at;
    }
  }

  child(parent, frame) {
    const at = this.slotOf(parent, frame);
    if (this.slots[at] >= 0) return this.slots[at];
    const node = this.add(parent, frame, this.depth[parent] + 1);
    this.slots[at] = node;
    if (2 * this.n > this.slots.length) this.rehash();
    return node;
  }

  rehash() {
    this.slots = new Int32Array(2 * this.slots.length).fill(-1);
    for (let node = 1; node < this.n; node++) {
      this.slots[this.slotOf(this.parent[node], this.frame[node])] = node;
    }
  }

  /* What the nodes have themselves becomes what they have with their own. */
  finish(width) {
    this.slots = null;
    this.resize(this.n);
    this.width = this.widths(width);
    const { n, parent } = this;
    const sums = [this.after, this.before, this.seen, this.variance];
    if (this.width !== this.after) sums.push(this.width);
    for (const sum of sums.filter(Boolean)) {
      for (let i = n - 1; i > 0; i--) sum[parent[i]] += sum[i];
    }
    this.sortChildren();
    this.place();
    this.describe();
    return this;
  }

  widths(which) {
    const { after, before, n } = this;
    if (!before && !after.some((value) => value < 0)) return after;
    const width = new Float64Array(n);
    for (let i = 0; i < n; i++) {
      const a = Math.abs(after[i]), b = before ? Math.abs(before[i]) : 0;
      width[i] = which === 'after' ? a : which === 'before' ? b
        : Math.max(a, b);
    }
    return width;
  }

  sortChildren() {
    const { n, parent, width } = this;
    const first = new Int32Array(n + 2), order = new Int32Array(n);
    for (let i = 1; i < n; i++) first[parent[i] + 2]++;
    for (let i = 1; i <= n; i++) first[i + 1] += first[i];
    for (let i = 1; i < n; i++) order[first[parent[i] + 1]++] = i;
    for (let i = 0; i < n; i++) {
      const from = first[i], end = first[i + 1];
      if (end - from > 32) {
        order.subarray(from, end).sort((p, q) => width[q] - width[p] || p - q);
      } else {
        for (let k = from + 1; k < end; k++) insert(order, width, from, k);
      }
    }
    this.first = first;
    this.order = order;
  }

  place() {
    const { n, first, order, width } = this, x = new Float64Array(n);
    for (let i = 0; i < n; i++) {
      for (let k = first[i], at = x[i]; k < first[i + 1]; k++) {
        x[order[k]] = at;
        at += width[order[k]];
      }
    }
    this.x = x;
  }

  /* Owners, the hashes that links find nodes by, and the depth. */
  describe() {
    const { n, frame, parent, depth } = this;
    this.owner = new Int16Array(n);
    this.hash = new Uint32Array(n);
    this.height = 1;
    for (let i = 0; i < n; i++) {
      const up = parent[i], own = frames.owners[frame[i]];
      this.owner[i] = own >= 0 || i === 0 ? own : this.owner[up];
      this.hash[i] = i === 0 ? 1
        : Math.imul(this.hash[up] ^ frames.hashes[frame[i]], 0x9e3779b1) >>> 0;
      if (depth[i] >= this.height) this.height = depth[i] + 1;
    }
  }

  find(hash) {
    return Math.max(0, this.hash.indexOf(hash));
  }

  /* What NODE has itself, in COLUMN. */
  self(node, column) {
    let value = column[node];
    for (let k = this.first[node]; k < this.first[node + 1]; k++) {
      value -= column[this.order[k]];
    }
    return value;
  }

  change(node, isSelf) {
    const of = (column) =>
      (isSelf ? this.self(node, column) : column[node]);
    return of(this.after) - (this.before ? of(this.before) : 0);
  }

  isNoise(node) {
    return Math.abs(this.change(node)) < 2 * Math.sqrt(this.variance[node]);
  }
}

function insert(order, width, from, k) {
  const node = order[k];
  for (; k > from && width[order[k - 1]] < width[node]; k--) {
    order[k] = order[k - 1];
  }
  order[k] = node;
}

/* A link finds a node by the names on the way to it. */
function hashText(text) {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  }
  return hash;
}

/* As jpp_tree_owner(): a module, or a part of nginx; -1: its caller's. */
const PARTS = new RegExp('^(?:(?:server|location|connection of) '
  + '|configuration|connection slots|open file cache|resolver)');

function ownerFor(name, module) {
  if (module !== '[nginx]') return module === '' ? -1 : ownerId(module);
  return PARTS.test(name) ? ownerId(name) : -1;
}

function ownerId(name) {
  if (!OWNERS.ids.has(name)) {
    OWNERS.ids.set(name, OWNERS.names.length);
    OWNERS.names.push(name);
  }
  return OWNERS.ids.get(name);
}

/* The frame that shows label KEY of a set. */
function labelFrame(set, key) {
  const value = sets.labels[set].get(key);
  return frameId(value === undefined ? `no ${key}` : `${key} ${value}`, '',
    '');
}

/*
 * The tree of the chosen ROWS by the sums M.  Its KIND is flame (from the root
 * on) or callers (from the leaf on); with a PIVOT it begins at the outermost
 * frame that is the pivot, so that recursion counts once.
 */
function growTree(rows, m, choice, kind, pivot) {
  const isUp = kind === 'callers', out = new Uint32Array(MAX_FRAMES + 1);
  const root = pivot >= 0 ? pivot : frameId('all', '', '');
  const tree = new Tree(root, m.before !== null);
  for (let i = 0; i < rows.n; i++) {
    const n = choose(rows, i, choice, out);
    if (n < 0) continue;
    const start = pivot >= 0 ? out.subarray(0, n).lastIndexOf(pivot) : -1;
    if (pivot >= 0 && start < 0) continue;
    let node = 0;
    if (choice.split && pivot < 0) {
      node = tree.child(0, labelFrame(setOf(rows, i), choice.split));
    }
    if (isUp) {
      for (let k = start + 1; k < n; k++) node = tree.child(node, out[k]);
    } else {
      const from = pivot >= 0 ? start : n;
      for (let k = from - 1; k >= 0; k--) node = tree.child(node, out[k]);
    }
    tree.after[node] += m.after[i];
    if (m.before) tree.before[node] += m.before[i];
    tree.seen[node] += m.seen[i];
    tree.variance[node] += m.variance[i];
  }
  return tree.finish(choice.width);
}

function setOf(rows, i) {
  return rows.a[i] >= 0 ? rows.now.sets[rows.a[i]]
    : rows.base.sets[rows.b[i]];
}

/* The value in frames that match, those in others of them not counted twice. */
function matched(tree, match) {
  const isIn = new Uint8Array(tree.n);
  let sum = 0;
  for (let i = 0; i < tree.n; i++) {
    const isAbove = i > 0 && isIn[tree.parent[i]];
    isIn[i] = isAbove || match[tree.frame[i]] ? 1 : 0;
    if (isIn[i] && !isAbove) sum += tree.after[i];
  }
  return sum;
}
