/*
 * A tree of frames as columns: node 0 is the root, a parent comes before its
 * children, so that a loop from the end adds up totals.  The children of a
 * node are order[first[node]] to order[first[node + 1] - 1].  Once the node is
 * open they are the widest first, and x says where each begins, in the unit of
 * the values: few nodes are ever drawn, so that few are ever sorted.
 */

const OWNERS = { names: [], ids: new Map(), colours: [] };
const COLUMNS = { parent: Int32Array, frame: Int32Array, depth: Uint16Array,
  after: Float64Array, before: Float64Array, seen: Float32Array,
  variance: Float32Array };

class Tree {
  /* SIZE is how many nodes there may be: a guess. */
  constructor(frame, isDifference, size) {
    Object.assign(this, { n: 0, isDifference, height: 1, before: null,
      slots: new Int32Array(2 ** Math.ceil(Math.log2(size) + 1)) });
    this.resize(size);
    this.add(-1, frame, 0);
  }

  resize(size) {
    for (const [name, Type] of Object.entries(COLUMNS)) {
      if (name === 'before' && !this.isDifference) continue;
      const column = new Type(size);
      if (this.n > 0) column.set(this[name]);
      this[name] = column;
    }
  }

  add(parent, frame, depth) {
    const node = this.n;
    if (node === this.frame.length) this.resize(2 * node);
    this.parent[node] = parent;
    this.frame[node] = frame;
    this.depth[node] = depth;
    if (depth >= this.height) this.height = depth + 1;
    return this.n++;
  }

  /* The child of PARENT that is FRAME, by a hash table of nodes. */
  child(parent, frame) {
    const { slots } = this, mask = slots.length - 1;
    let at = Math.imul(Math.imul(parent, 0x9e3779b1) ^ frame, 0x85ebca6b);
    for (at ^= at >>> 15; ; at++) {
      const node = slots[at & mask];
      if (node === 0) break;
      if (this.parent[node] === parent && this.frame[node] === frame) {
        return node;
      }
    }
    const node = this.add(parent, frame, this.depth[parent] + 1);
    slots[at & mask] = node;
    if (1.5 * this.n > slots.length) this.rehash();
    return node;
  }

  rehash() {
    const { n, parent, frame } = this;
    this.slots = new Int32Array(2 * this.slots.length);
    for (this.n = 1; this.n < n;) this.child(parent[this.n], frame[this.n]);
  }

  /* What the nodes have themselves becomes what they have with their own. */
  finish(which) {
    for (const name of Object.keys(COLUMNS)) {
      if (this[name]) this[name] = this[name].subarray(0, this.n);
    }
    this.slots = null;
    const { n, parent, after, before, seen, variance } = this;
    const width = this.width = this.widths(which);
    for (let i = n - 1; i > 0; i--) {
      const up = parent[i];
      if (width !== after) width[up] += width[i];
      after[up] += after[i];
      if (before) before[up] += before[i];
      seen[up] += seen[i];
      variance[up] += variance[i];
    }
    const first = this.first = new Int32Array(n + 2);
    for (let i = 1; i < n; i++) first[parent[i] + 2]++;
    for (let i = 1; i <= n; i++) first[i + 1] += first[i];
    this.order = new Int32Array(n);
    for (let i = 1; i < n; i++) this.order[first[parent[i] + 1]++] = i;
    this.x = new Float64Array(n);
    this.isOpen = new Uint8Array(n);
    return this;
  }

  widths(which) {
    const { after, before } = this;
    if (!before && !after.some((value) => value < 0)) return after;
    const a = after.map(Math.abs), b = before ? before.map(Math.abs) : a;
    return which === 'after' ? a : which === 'before' ? b
      : a.map((width, i) => Math.max(width, b[i]));
  }

  /* Sorts and places the children of NODE, whose own place is known. */
  open(node) {
    if (this.isOpen[node]) return;
    this.isOpen[node] = 1;
    const { width, x, order } = this, end = this.first[node + 1];
    const from = this.first[node];
    if (end - from > 32) {
      order.subarray(from, end).sort((p, q) => width[q] - width[p] || p - q);
    } else {
      for (let k = from + 1; k < end; k++) insert(order, width, from, k);
    }
    for (let k = from, at = x[node]; k < end; k++) {
      x[order[k]] = at;
      at += width[order[k]];
    }
  }

  /* Opens what is above NODE. */
  place(node) {
    const up = this.parent[node];
    if (up < 0 || this.isOpen[up]) return;
    this.place(up);
    this.open(up);
  }

  /* That of the innermost frame that has one; split: of the outermost. */
  ownerOf(node, isSplit) {
    const { frame, parent, depth } = this;
    let i = node;
    while (i > 0 && (isSplit ? depth[i] > 1 : frames.owners[frame[i]] < 0)) {
      i = parent[i];
    }
    return frames.owners[frame[i]];
  }

  /* The hash of the names on the way to NODE: links find it by that. */
  hash(node) {
    return node === 0 ? 1 : Math.imul(this.hash(this.parent[node])
      ^ hashOf(this.frame[node]), 0x9e3779b1) >>> 0;
  }

  /* The node of a HASH; the root: there is none. */
  find(hash) {
    const hashes = [1], own = new Map();
    for (let i = 1; i < this.n && hash > 0; i++) {
      const frame = this.frame[i];
      if (!own.has(frame)) own.set(frame, hashOf(frame));
      hashes.push(Math.imul(hashes[this.parent[i]] ^ own.get(frame),
        0x9e3779b1) >>> 0);
      if (hashes[i] === hash) return i;
    }
    return 0;
  }

  name(node) {
    return frames.names[this.frame[node]];
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
      (!column ? 0 : isSelf ? this.self(node, column) : column[node]);
    return of(this.after) - of(this.before);
  }

  isNoise(node) {
    return Math.abs(this.change(node)) < 2 * Math.sqrt(this.variance[node]);
  }
}

function insert(order, width, from, last) {
  const node = order[last];
  let k = last;
  for (; k > from && width[order[k - 1]] < width[node]; k--) {
    order[k] = order[k - 1];
  }
  order[k] = node;
}

function hashOf(frame) {
  const text = `${frames.modules[frame]}\n${frames.names[frame]}`;
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

/* The frame that shows label KEY of a set; it is an owner. */
function labelFrame(set, key) {
  const value = sets.labels[set].get(key);
  const name = value === undefined ? `no ${key}` : `${key} ${value}`;
  const id = frameId(name, '', '');
  frames.owners[id] = ownerId(name);
  return id;
}

/*
 * The tree of STACKS by the sums M: from the root on or, by CALLERS, from the
 * leaf on; with the name of a PIVOT from the outermost frame of that name, so
 * that recursion counts once.
 */
function growTree(stacks, m, choice, isCallers, pivot) {
  const { names } = frames;
  const root = pivot ? names.indexOf(pivot) : frameId('all', '', '');
  const size = stacks.reduce((sum, one) => sum + one.stack.length, 8192) / 2;
  const tree = new Tree(root, m.before !== null, Math.ceil(size));
  for (const { row, set, stack } of stacks) {
    const at = pivot ? stack.findLastIndex((frame) => names[frame] === pivot)
      : -1;
    if (at < 0 && pivot) continue;
    let node = 0;
    if (choice.split) node = tree.child(0, labelFrame(set, choice.split));
    if (isCallers) {
      for (let k = at + 1; k < stack.length; k++) {
        node = tree.child(node, stack[k]);
      }
    } else {
      for (let k = (at < 0 ? stack.length : at) - 1; k >= 0; k--) {
        node = tree.child(node, stack[k]);
      }
    }
    tree.after[node] += m.after[row];
    if (m.before) tree.before[node] += m.before[row];
    tree.seen[node] += m.seen[row];
    tree.variance[node] += m.variance[row];
  }
  return tree.finish(choice.width);
}

/* The value in frames that match, those in others of them not counted twice. */
function matched(tree, match) {
  const isIn = [];
  let sum = 0;
  for (let i = 0; i < tree.n; i++) {
    const isAbove = i > 0 && isIn[tree.parent[i]];
    isIn.push(isAbove || match[tree.frame[i]]);
    if (isIn[i] && !isAbove) sum += tree.after[i];
  }
  return sum;
}
