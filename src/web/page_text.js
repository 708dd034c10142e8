/*
 * Profiles that are text: folded stacks, or addresses with counts, as jemalloc,
 * jeprof and format=text have them.
 */

const HEAD = /^heap(?:_v2\/| profile: .* @ heap_v2\/)(\d+)$/m;
const COUNTS = /^ *(?:t\*: )?(\d+): (\d+) \[(\d+): (\d+)\](?: @(.*))?$/;
const MAP = /^([\da-f]+)-([\da-f]+) r-x. ([\da-f]+) \S+ \d+ *(.*)$/;
const HEAP_TYPES = ['alloc_objects', 'alloc_space', 'inuse_objects',
  'inuse_space'].map((name) =>
  ({ name, unit: name.endsWith('space') ? 'bytes' : 'count' }));

/* The profile in BYTES, or null: they are no text of a profile. */
function readText(bytes) {
  if (bytes[0] < 32) return null;
  const text = UTF8.decode(bytes), head = HEAD.exec(text);
  const lines = text.trimEnd().split('\n'), wire = new Wire(bytes);
  const isHeap = head?.index === 0;
  const profile = { bytes, isText: true, time: 0, duration: 0, comments: [],
    period: isHeap ? Number(head[1]) : 0, isSpace: isHeap, best: -1,
    types: isHeap ? HEAP_TYPES : [{ name: 'value', unit: '' }],
    values: [], sets: [], stacks: [] };
  const set = setOf([], wire), frame = (name, module) => {
    wire.spend(name.length + module.length + 1);
    return frameId(name.slice(0, MAX_TEXT).replace(UNSEEN, '\ufffd'), module,
      '');
  };
  const add = (stack, values) => {
    if (stack.length > MAX_FRAMES) throw tooDeep();
    profile.stacks.push(stack);
    profile.values.push(...values);
    profile.sets.push(set);
  };
  return (isHeap ? readHeap : readFolded)(lines, profile, frame, add);
}

/* "root;...;leaf value"; all lines are that. */
function readFolded(lines, profile, frame, add) {
  for (const line of lines) {
    const [, stack, value] = /^(.+) (-?\d+)$/.exec(line) || [];
    if (!stack) return null;
    add(stack.split(';').reverse().map((name) => frame(name, '')),
      [Number(value)]);
  }
  return profile;
}

/* An object that is seen stands for as many as readers of it estimate. */
function estimated(n, bytes, period) {
  const all = n > 0 && period > 1 ? -1 / Math.expm1(-bytes / n / period) : 1;
  return [Math.round(n * all), Math.round(bytes * all)];
}

/* Short addresses are no frames: jemalloc's dumps have numbers of owners. */
function readHeap(lines, profile, frame, add) {
  const hex = (text) => Number(`0x${text}`);
  const maps = lines.map((line) => MAP.exec(line)).filter(Boolean).map(
    ([, start, end, from, path]) => ({ start: hex(start), end: hex(end),
      from: hex(from), module: path.split('/').pop() }));
  const named = (text) => {
    const at = Number(text) - 1;
    const map = maps.find(({ start, end }) => start <= at && at < end);
    if (!map) return frame(text, '');
    const place = (at - map.start + map.from).toString(16);
    return frame(`${map.module}+0x${place}`, map.module);
  };
  const known = new Map();
  let stack = null;
  for (const line of lines) {
    if (line === 'MAPPED_LIBRARIES:') return profile;
    if (line[0] === '@') stack = line.slice(1);
    const [, n, bytes, allN, allBytes, after] = COUNTS.exec(line) || [];
    const all = after ?? stack;
    if (n === undefined || all === null) continue;
    add(all.trim().split(' ').filter((at) => at.length > 6)
      .map((at) => have(known, at, () => named(at))),
    [...estimated(+allN, +allBytes, profile.period),
      ...estimated(+n, +bytes, profile.period)]);
    stack = null;
  }
  throw damaged();
}
