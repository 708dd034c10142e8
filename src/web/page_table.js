/*
 * Numbers for people, and the tables of functions and of owners.
 */

const UNITS = {
  bytes: [1024, 'B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'],
  nanoseconds: [1000, 'ns', 'us', 'ms', 's'],
};

function show(value, unit) {
  const [base, ...names] = UNITS[unit] || [1, ''];
  let n = Math.abs(value), i = 0;
  for (; n >= base && i < names.length - 1; i++) n /= base;
  return `${value < 0 ? '-' : ''}${i > 0 ? n.toFixed(1) : count(n)} ${names[i]}`
    .trim();
}

/* A whole number; toLocaleString() takes ten milliseconds at first. */
function count(n) {
  return String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, ',');
}

function percent(value, total) {
  return total ? `${(100 * value / total).toFixed(1)} %` : '-';
}

/* What the change of a sum rests on: "1,312 samples, +- 2.8 %". */
function doubt({ change: by, seen, variance }) {
  const error = by ? 100 * Math.sqrt(variance) / Math.abs(by) : 0;
  const n = Math.round(seen), isSure = error < 0.05;
  return listed(seen && `${count(n)} sample${n === 1 ? '' : 's'}`,
    isSure ? 'exact' : `+- ${error.toFixed(error < 9.95 ? 1 : 0)} %`,
    n < 10 && !isSure && 'few samples');
}

/* What each function has itself (flat) and with what it calls (cum). */
function functionsOf(stacks, m) {
  const all = [];
  for (const { stack, row } of stacks) {
    stack.forEach((frame, k) => {
      const entry = all[frame] ??=
        { frame, flat: new Sum(), cum: new Sum(), row: -1 };
      if (k === 0) entry.flat.add(m, row);
      if (entry.row !== row) entry.cum.add(m, row);
      entry.row = row;
    });
  }
  return Object.values(all);
}

/* The sum of each owner, the largest first. */
function ownersOf(stacks, m) {
  const all = new Map();
  for (const { owner, row } of stacks) {
    have(all, owner, () => ({ owner, cum: new Sum() })).cum.add(m, row);
  }
  return [...all.values()].sort((p, q) =>
    Math.abs(q.cum.after) - Math.abs(p.cum.after));
}

/* Owners keep the colour that they got first; the largest choose first. */
function giveColours(owners) {
  for (const owner of owners) {
    if (owner && OWNERS.size < HUES.length) {
      have(OWNERS, owner, () => OWNERS.size);
    }
  }
}

function ownerName(owner) {
  return owner || 'other';
}

/* Columns: a heading, a number to sort by, its text. */
function columnsOf(total, isOwners, isDifference) {
  const flat = (e) => e.flat.change, cum = (e) => e.cum.change;
  const value = (name, of) => [name, of, (e) => amount(of(e))];
  const share = (name, of) => [name, of, (e) => percent(of(e), total)];
  const rests = ['rests on', (e) => e.cum.seen, (e) => doubt(e.cum)
    + (isDifference && cum(e) && e.cum.isNoise ? ', noise' : '')];
  return isDifference ? [...isOwners ? [] : [value('flat', flat)],
    value('before', (e) => e.cum.before), value('after', (e) => e.cum.after),
    value('change', cum), rests]
    : isOwners ? [value('value', cum), share('%', cum), rests]
      : [value('flat', flat), share('flat %', flat), value('cum', cum),
        share('cum %', cum), rests];
}

function make(tag, props, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(props)) {
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
function makeTable(entries, columns, heading, label) {
  const { sort, shown } = page, sign = sort.isUp ? 1 : -1;
  const at = Math.min(sort.column, columns.length - 1), [, of] = columns[at];
  const act = (changes) => {
    Object.assign(page, changes);
    showTable();
  };
  entries.sort((p, q) => sign * (Math.abs(of(p)) - Math.abs(of(q))));
  const head = columns.map(([name], column) => make('th', { scope: 'col',
    ariaSort: column !== at ? 'none' : sort.isUp ? 'ascending' : 'descending',
  }, make('button', { onclick: () => act({ sort: { column,
    isUp: sort.column === column && !sort.isUp } }) }, name)));
  const body = entries.slice(0, shown).map((entry) => make('tr', {},
    ...columns.map(([, number, text]) => make('td',
      { title: String(number(entry)) }, text(entry))),
    make('th', { scope: 'row' }, label(entry))));
  const rest = entries.length - body.length;
  return [make('table', {}, make('thead', {}, make('tr', {}, ...head,
    make('th', { scope: 'col' }, heading))), make('tbody', {}, ...body)),
  rest > 0 ? make('button', { onclick: () => act({ shown: shown + 200 }) },
    `${count(rest)} more`) : ''];
}
