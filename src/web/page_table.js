/*
 * Numbers for people, and the tables of functions and of owners.
 */

const UNITS = {
  bytes: [1024, ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']],
  nanoseconds: [1000, ['ns', 'us', 'ms', 's']],
};

function show(value, unit) {
  const [base, names] = UNITS[unit] || [1, ['']];
  let n = Math.abs(value), i = 0;
  while (base > 1 && n >= base && i + 1 < names.length) {
    n /= base;
    i++;
  }
  const text = i > 0 ? n.toFixed(1) : count(n);
  return `${value < 0 ? '-' : ''}${text} ${names[i]}`.trim();
}

/* A whole number; toLocaleString() takes ten milliseconds at first. */
function count(n) {
  return String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, ',');
}

function percent(value, total) {
  return total ? `${(100 * value / total).toFixed(1)} %` : '-';
}

/* What the sum of VALUE rests on: "1,312 samples, +- 2.8 %". */
function doubt(value, seen, variance, isExact) {
  if (isExact) return 'exact';
  const error = value ? 100 * Math.sqrt(variance) / Math.abs(value) : 0;
  const n = Math.round(seen), isSure = error < 0.05;
  return `${count(n)} sample${n === 1 ? '' : 's'}, `
    + (isSure ? 'exact' : `+- ${error.toFixed(error < 9.95 ? 1 : 0)} %`)
    + (n < 10 && !isSure ? ', few samples' : '');
}

class Sum {
  constructor() {
    this.after = this.before = this.seen = this.variance = 0;
  }

  add(m, i) {
    this.after += m.after[i];
    if (m.before) this.before += m.before[i];
    this.seen += m.seen[i];
    this.variance += m.variance[i];
  }

  get change() {
    return this.after - this.before;
  }

  get isNoise() {
    return Math.abs(this.change) < 2 * Math.sqrt(this.variance);
  }
}

/* What each function has itself (flat) and with what it calls (cum). */
function functionsOf(stacks, m) {
  const all = new Map();
  for (const { stack, row } of stacks) {
    stack.forEach((frame, k) => {
      if (!all.has(frame)) {
        all.set(frame, { frame, flat: new Sum(), cum: new Sum(), row: -1 });
      }
      const entry = all.get(frame);
      if (k === 0) entry.flat.add(m, row);
      if (entry.row !== row) entry.cum.add(m, row);
      entry.row = row;
    });
  }
  return [...all.values()];
}

/* The sum of each owner, the largest first. */
function ownersOf(stacks, m) {
  const all = new Map();
  for (const { owner, row } of stacks) {
    if (!all.has(owner)) all.set(owner, { owner, cum: new Sum() });
    all.get(owner).cum.add(m, row);
  }
  return [...all.values()].sort((p, q) =>
    Math.abs(q.cum.after) - Math.abs(p.cum.after));
}

/* Owners keep the colour that they got first; the largest choose first. */
function giveColours(owners) {
  const { colours } = OWNERS;
  for (const owner of owners) {
    const n = Object.keys(colours).length;
    if (owner >= 0 && n < HUES.length) colours[owner] ??= n;
  }
}

function ownerName(owner) {
  return owner < 0 ? 'other' : OWNERS.names[owner];
}

/* Columns: a heading, a number to sort by, its text.  C is the context. */
function columnsOf(c, isDifference) {
  const value = (name, of) => ({ name, of, text: (e) => amount(of(e)) });
  const share = (name, of) => ({ name, of,
    text: (e) => percent(of(e), c.total) });
  const flat = (e) => e.flat.change, cum = (e) => e.cum.change;
  const rests = { name: 'rests on', of: (e) => e.cum.seen,
    text: (e) => doubt(cum(e), e.cum.seen, e.cum.variance, c.isExact)
      + (isDifference && cum(e) && e.cum.isNoise ? ', noise' : '') };
  if (isDifference) {
    return [...c.isOwners ? [] : [value('flat', flat)],
      value('before', (e) => e.cum.before), value('after', (e) => e.cum.after),
      value('change', cum), rests];
  }
  return c.isOwners ? [value('value', cum), share('%', cum), rests]
    : [value('flat', flat), share('flat %', flat), value('cum', cum),
      share('cum %', cum), rests];
}

function make(tag, props, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(props || {})) {
    if (key in element) element[key] = value;
    else element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

/* Other NODES in PARENT; what of them has the focus keeps it, by its place. */
function replace(parent, nodes) {
  const items = () => [...parent.querySelectorAll('button')];
  const i = items().indexOf(document.activeElement);
  parent.replaceChildren(...nodes);
  if (i >= 0) (items()[i] || $(isTable() ? 'table' : 'graph')).focus();
}

/* The table of ENTRIES; LABEL makes the first cell of one. */
function makeTable(entries, columns, sort, label, act) {
  const column = columns[Math.min(sort.column, columns.length - 1)];
  const sign = sort.isUp ? 1 : -1;
  entries.sort((p, q) => sign * (Math.abs(column.of(p))
    - Math.abs(column.of(q))));
  const head = columns.map((one, i) => make('th', { scope: 'col',
    ariaSort: one !== column ? 'none' : sort.isUp ? 'ascending'
      : 'descending' }, make('button', { onclick: () => act.sort(i) },
    one.name)));
  const body = entries.slice(0, act.rows).map((entry) => make('tr', {},
    ...columns.map((one) => make('td', { title: String(one.of(entry)) },
      one.text(entry))), make('th', { scope: 'row' }, label(entry))));
  const table = make('table', {}, make('thead', {}, make('tr', {}, ...head,
    make('th', { scope: 'col' }, act.heading))), make('tbody', {}, ...body));
  const rest = entries.length - body.length;
  const more = rest > 0 ? [make('button', { onclick: act.more },
    `${count(rest)} more`)] : [];
  return [table, ...more];
}
