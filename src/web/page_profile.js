'use strict';

/*
 * The way of the data:
 *
 *   base64 of the page, a file, an answer --page_profile.js--> a profile
 *   a profile, or two --page_rows.js--> rows: a stack, its labels, its values
 *   the stacks that are chosen --page_tree.js--> a tree
 *   what of it is in the window --page_draw.js--> boxes on a canvas, or an SVG
 *   the same stacks --page_table.js--> tables of functions and of owners
 *
 * page.js has the state, which lies in the address behind the #, and redoes
 * what a change of it needs.  page_files.js has files, refresh and saving,
 * page_acts.js the rest of what people do.
 *
 * Names are foreign: they become text of nodes and of the canvas, never HTML.
 */

/*
 * What a profile may have.  Its items are fields, bytes of lists, frames and
 * letters, each as often as it is said: few bytes may stand for many.
 */
const MAX_BYTES = 256 << 20, MAX_FRAMES = 4096, MAX_ITEMS = 2 ** 25;
const MAX_TYPES = 64, MAX_LABELS = 64, MAX_TEXT = 1 << 14;
const UTF8 = new TextDecoder();

/* What people are to read; whatever else is thrown is a fault of ours. */
class Complaint extends Error {}

/* Functions, and label sets, of all profiles, each once: ids are indices. */
const frames = { names: [], modules: [], owners: [], kinds: [], places: [],
  ids: new Map() };
const sets = { labels: [], ids: new Map() };

/* Functions that only pass memory on, and those that may: see leadOf(). */
const PASSES = 1, UNNAMED = 2;

/* What MAP has for KEY; FIRST says what it has at first. */
function have(map, key, first) {
  return map.get(key) ?? map.set(key, first()).get(key);
}

/* What could hide or turn round a name. */
const UNSEEN = /[\p{C}\u2028\u2029]/gu;

/* The bytes that a field of a wire type has, but for 2, which says it. */
const SIZES = { 0: 0, 1: 8, 5: 4 };

/* Bytes of protobuf; AT is where the next number is. */
class Wire {
  constructor(bytes) {
    Object.assign(this, { bytes, at: 0, left: MAX_ITEMS });
  }

  /* N items more. */
  spend(n) {
    this.left -= n;
    if (this.left < 0) throw tooLarge('32 million frames and values');
  }

  /* A varint of 64 bits, signed, in parts of 28 and 36. */
  int() {
    let byte = this.bytes[this.at++], high = 0;
    if (byte < 128) return byte;
    let low = byte & 127;
    for (let shift = 7; !(byte < 128); shift += 7) {
      byte = this.bytes[this.at++];
      if (byte === undefined || shift > 63) throw damaged();
      if (shift < 28) low |= (byte & 127) << shift;
      else high += (byte & 127) * 2 ** (shift - 28);
    }
    return (high < 2 ** 35 ? high : high - 2 ** 36) * 2 ** 28 + low;
  }

  /* Calls VISIT(field, number, stop) for each; STOP is that of a message. */
  each(end, visit) {
    while (this.at < end) {
      const key = this.int(), kind = key & 7;
      const n = kind === 0 || kind === 2 ? this.int() : 0;
      const stop = this.at + (kind === 2 ? n : SIZES[kind]);
      if (!(stop >= this.at && stop <= end)) throw damaged();
      this.spend(1);
      if (kind === 2) visit(Math.floor(key / 8), n, stop);
      if (kind === 0) visit(Math.floor(key / 8), n);
      if (this.at > stop) throw damaged();
      this.at = stop;
    }
  }

  /* The numbers of a message by field; VISIT is called for its messages. */
  numbers(end, visit) {
    const all = [0, 0, 0, 0, 0, 0];
    this.each(end, (field, n, stop) => {
      if (stop) visit?.(field, stop);
      else if (field < 6) all[field] = n;
    });
    return all;
  }

  /* Appends to LIST the number N, or those of a message. */
  list(list, n, stop) {
    if (stop === undefined) list.push(n);
    else this.spend(stop - this.at);
    while (this.at < stop) list.push(this.int());
  }

  text(end) {
    const cut = Math.min(end, this.at + MAX_TEXT);
    return UTF8.decode(this.bytes.subarray(this.at, cut))
      .replace(UNSEEN, '\ufffd');
  }
}

function damaged() {
  return new Complaint('This is no profile, or it is cut or damaged: fetch it '
    + 'again.');
}

function tooLarge(than) {
  return new Complaint(`The profile has more than ${than}: select fewer `
    + 'workers, or use go tool pprof.');
}

function tooDeep() {
  return new Complaint(`A stack has more than ${MAX_FRAMES} frames.`);
}

/*
 * The profile in BYTES, which may be compressed.  What messages say refers to
 * later ones, so that at first only their places are taken down, by field.
 */
async function readProfile(bytes) {
  const wire = new Wire(await unpack(bytes)), all = wire.bytes.length;
  if (all > MAX_BYTES) throw tooLarge('256 MiB');
  const text = readText(wire.bytes);
  if (text) return text;
  const places = [...Array(12)].map(() => []), comments = [];
  const numbers = [...Array(15)].map(() => 0);
  wire.each(all, (field, n, end) => {
    if (field === 13) wire.list(comments, n, end);
    else if (end) places[field]?.push({ at: wire.at, end });
    else if (field < 15) numbers[field] = n;
  });
  const read = (field, take) => places[field].map(({ at, end }) => {
    wire.at = at;
    return take(end);
  });
  const strings = read(6, (end) => wire.text(end));
  return resolve(wire, bytes, read, numbers, comments,
    (i) => strings[i] || '');
}

function resolve(wire, bytes, read, numbers, comments, string) {
  const types = read(1, (end) => {
    const [, name, unit] = wire.numbers(end);
    return { name: string(name), unit: string(unit) };
  });
  const profile = {
    types, bytes, time: numbers[9] / 1e6, duration: numbers[10],
    period: numbers[12], best: types.findIndex(({ name }) =>
      name === string(numbers[14])),
    isSpace: read(11, (end) => string(wire.numbers(end)[1])).at(-1) === 'space',
    comments: comments.map((i) => {
      wire.spend(string(i).length);
      return string(i);
    }),
    values: [], sets: [], stacks: [],
  };
  const known = readLocations(wire, read, string), labels = new Map();
  read(2, (end) => readSample(wire, end, profile, known, (set) =>
    have(labels, set, () => setId(set, wire, string))));
  if (types.length === 0 || types.length > MAX_TYPES
    || profile.values.length !== profile.stacks.length * types.length) {
    throw damaged();
  }
  return profile;
}

/* A sample, its frames leaf first. */
function readSample(wire, end, profile, known, idOf) {
  const stack = [];
  let set = '', depth = 0;
  wire.each(end, (field, n, stop) => {
    if (field === 1) wire.list(stack, n, stop);
    else if (field === 2) wire.list(profile.values, n, stop);
    else if (field === 3 && stop) set += wire.numbers(stop) + ';';
  });
  for (let k = 0; k < stack.length; k++) {
    stack[k] = known[stack[k]];
    if (stack[k] === undefined) throw damaged();
    depth += stack[k].length || 1;
  }
  if (depth > MAX_FRAMES) throw tooDeep();
  wire.spend(depth);
  profile.sets.push(idOf(set));
  profile.stacks.push(depth > stack.length ? stack.flat() : stack);
}

/* The id of a set of labels: "key,str,num,unit;" of each, as numbers. */
function setId(text, wire, string) {
  const all = text.split(';').slice(0, -1);
  if (all.length > MAX_LABELS) throw damaged();
  const pairs = all.map((label) => {
    const [, key, str, n, unit] = label.split(',').map(Number);
    return [string(key),
      str ? string(str) : `${n} ${string(unit)}`.trim()];
  }).sort();
  return setOf(pairs, wire);
}

function setOf(pairs, wire) {
  const id = JSON.stringify(pairs);
  wire.spend(id.length);
  return have(sets.ids, id, () => sets.labels.push(new Map(pairs)) - 1);
}

/*
 * The frame of each location or, where functions are inlined, its frames: they
 * come before the one that they are inlined into.
 */
function readLocations(wire, read, string) {
  const byId = (field) => new Map(read(field, (end) => wire.numbers(end))
    .map((numbers) => [numbers[1], numbers]));
  const mappings = byId(3), functions = byId(5), known = [];
  for (const one of mappings.values()) {
    one[5] = string(one[5]).replace(/ \(deleted\)$/, '').split('/').pop();
  }
  read(4, (end) => {
    const all = [], location = wire.numbers(end, (field, stop) => {
      if (field === 4) all.push(wire.numbers(stop)[1]);
    });
    const mapping = mappings.get(location[2]) || [0, 0, 0, 0, 0, ''];
    const module = mapping[5];
    const frame = (name, source) => {
      wire.spend(name.length + module.length);
      return frameId(name, module, source);
    };
    const ids = all.map((one) => {
      const it = functions.get(one) || [];
      return frame(string(it[2]) || string(it[3]) || '?', string(it[4]));
    });
    const place = location[3] - mapping[2] + mapping[4];
    const at = place < 0 ? place + 2 ** 64 : place;
    if (ids.length === 0) ids.push(frame(`${module}+0x${at.toString(16)}`, ''));
    known[location[1]] = ids.length === 1 ? ids[0] : ids;
  });
  return known;
}

/* SOURCE is its file, or what the server says about it. */
function frameId(name, module, source) {
  return have(have(frames.ids, module, () => new Map()), name, () => {
    frames.modules.push(module);
    frames.kinds.push(/^passes memory on/.test(source) ? PASSES
      : /^0x|\+0x/.test(name) ? UNNAMED : 0);
    frames.owners.push(ownerFor(name, module));
    return frames.names.push(name) - 1;
  });
}

async function unpack(bytes) {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  if (!window.DecompressionStream) {
    throw new Complaint('This browser cannot unpack gzip: use one from 2024 or '
      + 'later, or format=svg.');
  }
  const parts = [];
  let n = 0;
  try {
    const reader = new window.Response(bytes).body
      .pipeThrough(new DecompressionStream('gzip')).getReader();
    for (let part; n <= MAX_BYTES && !(part = await reader.read()).done;) {
      parts.push(part.value);
      n += part.value.length;
    }
  } catch {
    throw damaged();
  }
  const all = new Uint8Array(n);
  for (const part of parts.reverse()) all.set(part, n -= part.length);
  return all;
}

function fromBase64(text) {
  try {
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
    const binary = atob(text), bytes = new Uint8Array(binary.length);
    for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
    return bytes;
  } catch {
    throw damaged();
  }
}

function toBase64(bytes) {
  let binary = '';
  for (let i = 0; i < bytes.length; i += 4096) {
    binary += String.fromCharCode(...bytes.subarray(i, i + 4096));
  }
  return btoa(binary);
}
