/*
 * A tree of frames as columns: node 0 is the root, a parent comes before its
 * children, so that a loop from the end adds up totals.  The children of a
 * node are known once it is open: the widest first, and x says where each
 * begins, in the unit of the values: few nodes are ever drawn, so that few are
 * ever sorted.
 */

class Tree {
  /* SIZE: there are never more nodes, so that some slots stay free. */
  constructor(frame, size, isUp) {
    const column = (n) => new Int32Array(n);
    Object.assign(this, { n: 0, height: 1, isUp, parent: column(size),
      frame: column(size), depth: column(size), last: column(size),
      next: column(size), slots: column(2 ** Math.ceil(Math.log2(1.04 * size))),
    });
    this.add(0, frame, 0);
  }

  add(parent, frame, depth) {
    const node = this.n++;
    this.parent[node] = parent;
    this.frame[node] = frame;
    this.depth[node] = depth;
    this.next[node] = this.last[parent];
    this.last[parent] = node;
    if (depth >= this.height) this.height = depth + 1;
    return node;
  }

  /* The child of PARENT that is FRAME, by a hash table of nodes. */
  child(parent, frame) {
    const { slots } = this, mask = slots.length - 1;
    let at = Math.imul(Math.imul(parent, 0x9e3779b1) ^ frame, 0x85ebca6b);
    for (at ^= at >>> 15; slots[at & mask] > 0; at++) {
      const node = slots[at & mask];
      if (this.parent[node] === parent && this.frame[node] === frame) {
        return node;
      }
    }
    slots[at & mask] = this.n;
    return this.add(parent, frame, this.depth[parent] + 1);
  }

  /* The sums M of the LEAVES, a node and its row each, add up to the root's. */
  finish(m, leaves, which) {
    const { n } = this;
    for (const [name, column] of Object.entries(this)) {
      if (column.subarray) this[name] = column.subarray(0, n);
    }
    this.slots = null;
    for (const name of SUMS) {
      const column = this[name] = new Float64Array(n), values = m[name];
      for (const { node, row } of leaves) column[node] += values[row];
    }
    const { parent, after, before, seen, variance } = this;
    const width = this.width = m.isDifference ? this.widths(which) : after;
    for (let i = n - 1; i > 0; i--) {
      const up = parent[i];
      if (width !== after) width[up] += width[i];
      after[up] += after[i];
      before[up] += before[i];
      seen[up] += seen[i];
      variance[up] += variance[i];
    }
    this.x = new Float64Array(n);
    this.placed = Array(n);
    return this;
  }

  widths(which) {
    const [a, b] = [this.after, this.before].map((one) => one.map(Math.abs));
    return which === 'after' ? a : which === 'before' ? b
      : a.map((width, i) => Math.max(width, b[i]));
  }

  childrenOf(node) {
    const all = [];
    for (let i = this.last[node]; i > 0; i = this.next[i]) all.push(i);
    return all;
  }

  /* The children of NODE, whose own place is known, widest first. */
  open(node) {
    return (this.placed[node] ??= this.place(node));
  }

  place(node) {
    const { width, x } = this, all = this.childrenOf(node);
    let at = x[node];
    all.sort((p, q) => width[q] - width[p] || p - q);
    for (const i of all) {
      x[i] = at;
      at += width[i];
    }
    return all;
  }

  /* Opens what is above NODE. */
  reach(node) {
    if (node === 0) return;
    this.reach(this.parent[node]);
    this.open(this.parent[node]);
  }

  /* That of the innermost frame that has one; split: of the outermost. */
  ownerOf(node, isSplit) {
    const { frame, parent, depth } = this;
    let i = node;
    while (i > 0 && (isSplit ? depth[i] > 1 : !frames.owners[frame[i]])) {
      i = parent[i];
    }
    return frames.owners[frame[i]];
  }

  /* The hash of the names on the way to NODE: links find it by that. */
  hash(node) {
    return node ? mixAll(this.hash(this.parent[node]), this.frame[node]) : 1;
  }

  /* The node of a HASH; the root: there is none. */
  find(hash) {
    const found = [1];
    for (let i = 1; i < this.n && hash > 0; i++) {
      found.push(mixAll(found[this.parent[i]], this.frame[i]));
      if (found[i] === hash) return i;
    }
    return 0;
  }

  name(node) {
    return frames.names[this.frame[node]];
  }

  /* What NODE has with what it calls or, isSelf, without. */
  sum(node, isSelf) {
    const sum = new Sum().add(this, node), rest = new Sum();
    for (const child of isSelf ? this.childrenOf(node) : []) {
      rest.add(this, child);
    }
    for (const name of SUMS) sum[name] -= rest[name];
    return sum;
  }
}

function mix(hash, other) {
  return Math.imul(hash ^ other, 0x9e3779b1) >>> 0;
}

/* A link finds what is behind folded frames, however many they are. */
function mixAll(hash, frame) {
  return (folds.get(frame) || [frame]).reduce((all, one) => {
    hashes[one] ??= hashOf(one);
    return mix(all, hashes[one]);
  }, hash);
}

/* of names, which stay */
const hashes = [];

function hashOf(frame) {
  const text = `${frames.modules[frame]}\n${frames.names[frame]}`;
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  }
  return hash;
}

/* As jpp_tree_owner(): a module, or a part of nginx; '': its caller's. */
const PARTS = new RegExp('^(?:(?:server|location|connection of) '
  + '|configuration|connection slots|open file cache|resolver)');

function ownerFor(name, module) {
  return module !== '[nginx]' ? module : PARTS.test(name) ? name : '';
}

/* The frame that shows label KEY of LABELS; it is an owner. */
function labelFrame(labels, key) {
  const of = key === 'location' && labels.get('server');
  const name = labels.has(key) ? `${key} ${labels.get(key)}`
    + (of ? ` of ${of}` : '') : `no ${key}`;
  const id = frameId(name, '', '');
  frames.owners[id] = name;
  frames.places[id] = of && labels.get('place');
  return id;
}

/*
 * Frames that so many of the stacks have in common are one, if there are some.
 * Stacks count, not their values: a single one with most of the value is what
 * is looked for.
 */
const COMMON = 0.9, MIN_COMMON = 3;

/* Places of the configuration are no such frames. */
const PLACE = /^(?:server|location|connection|upstream) /;

/* What a frame stands for, outermost first. */
const folds = new Map();

/*
 * Marks those of STACKS whose outermost frames are those of almost all: the
 * tree has one frame in place of FOLDED ones, but never of the innermost one,
 * nor of places of nginx's configuration.
 */
function foldCommon(stacks, m, isWanted) {
  const weight = (all) => all.reduce((sum, { row }) =>
    sum + (m.after[row] || m.before[row] ? 1 : 0), 0);
  let common = stacks, n = 0;
  for (const one of stacks) one.folded = 0;
  for (const all = weight(stacks); isWanted && all; n++) {
    const by = new Map();
    for (const one of common) {
      const frame = one.stack.at(-1 - n), isLeaf = one.stack.length <= n + 1;
      if (isLeaf || PLACE.test(frames.names[frame])) continue;
      have(by, frame, () => []).push(one);
    }
    const most = [...by.values()].find((some) => weight(some) >= COMMON * all);
    if (!most) break;
    common = most;
  }
  if (n < MIN_COMMON) return;
  const frame = frameId(`${n} frames in common`, '', '');
  folds.set(frame, common[0].stack.slice(-n).reverse());
  for (const one of common) Object.assign(one, { folded: n, fold: frame });
}

/*
 * The tree of STACKS by the sums M: from the root on or, by CALLERS, from the
 * leaf on; with the name of a PIVOT from the outermost frame of that name, so
 * that recursion counts once.
 */
function growTree(stacks, m, choice, isUp, isCallers, pivot) {
  const { names } = frames, step = isCallers ? 1 : -1, leaves = [];
  const tree = new Tree(pivot ? names.indexOf(pivot) : frameId('all', '', ''),
    stacks.reduce((sum, { stack }) => sum + stack.length + 1, 1), isUp);
  for (const { row, root, stack, folded, fold } of stacks) {
    const at = pivot ? stack.findLastIndex((frame) => names[frame] === pivot)
      : isCallers ? -1 : stack.length - folded;
    if (at < 0 && pivot) continue;
    let node = root === undefined ? 0 : tree.child(0, root);
    if (folded) node = tree.child(node, fold);
    for (let k = at + step; k >= 0 && k < stack.length; k += step) {
      node = tree.child(node, stack[k]);
    }
    leaves.push({ node, row });
  }
  return tree.finish(m, leaves, choice.width);
}

/* The value in frames that match, those in others of them not counted twice. */
function matched(tree, match) {
  const isIn = [];
  return tree.after.reduce((sum, value, i) => {
    const isAbove = i > 0 && isIn[tree.parent[i]];
    isIn.push(isAbove || match[tree.frame[i]]);
    return isIn[i] && !isAbove ? sum + value : sum;
  }, 0);
}
