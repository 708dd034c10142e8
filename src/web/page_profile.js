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
const frames = { names: [], modules: [], files: [], owners: [], kinds: [],
  ids: new Map() };
const sets = { labels: [], ids: new Map() };

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

  /* The numbers of a message, by field; there are no more of use. */
  numbers(end) {
    const all = [0, 0, 0, 0, 0, 0];
    this.each(end, (field, n, stop) => {
      if (stop === undefined && field in all) all[field] = n;
    });
    return all;
  }

  /* Appends to LIST the number N, or those of a message: most are short. */
  list(list, n, stop) {
    const { bytes } = this;
    if (stop === undefined) list.push(n);
    else this.spend(stop - this.at);
    while (this.at < stop) {
      const byte = bytes[this.at], next = bytes[this.at + 1];
      if (byte < 128) {
        list.push(byte);
        this.at++;
      } else if (next < 128) {
        list.push(byte & 127 | next << 7);
        this.at += 2;
      } else {
        list.push(this.int());
      }
    }
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

/*
 * The fields of Profile by number: messages and what is as long, and numbers.
 * Samples come before what they refer to, and so are left for later.
 */
const MESSAGES = {
  1: (raw, wire, n, end) => raw.types.push(wire.numbers(end)),
  2: (raw, wire, n, end) => raw.samples.push(wire.at, end),
  3: (raw, wire, n, end) => keep(raw.mappings, wire.numbers(end)),
  4: readLocation,
  5: (raw, wire, n, end) => keep(raw.functions, wire.numbers(end)),
  6: (raw, wire, n, end) => raw.strings.push(wire.text(end)),
  11: (raw, wire, n, end) => { [, raw.periodType] = wire.numbers(end); },
  13: (raw, wire, n, end) => wire.list(raw.comments, n, end),
};
const NUMBERS = {
  9: (raw, wire, n) => { raw.time = n / 1e6; },
  10: (raw, wire, n) => { raw.duration = n; },
  12: (raw, wire, n) => { raw.period = n; },
  13: MESSAGES[13],
  14: (raw, wire, n) => { raw.best = n; },
};

function keep(map, numbers) {
  map.set(numbers[1], numbers);
}

function readLocation(raw, wire, unused, end) {
  const numbers = [0, 0, 0, 0], functions = [];
  wire.each(end, (field, n, stop) => {
    if (field === 4 && stop) functions.push(wire.numbers(stop)[1]);
    else if (field in numbers) numbers[field] = n;
  });
  raw.locations.push({ numbers, functions });
}

/* The profile in BYTES, which may be compressed. */
async function readProfile(bytes) {
  const wire = new Wire(await unpack(bytes));
  if (wire.bytes.length > MAX_BYTES) throw tooLarge('256 MiB');
  const raw = {
    types: [], strings: [], comments: [], mappings: new Map(),
    functions: new Map(), locations: [], samples: [], known: [],
    isInlined: false, labels: new Map(), time: 0, duration: 0, period: 0,
    periodType: 0, best: 0,
  };
  wire.each(wire.bytes.length, (field, n, end) => {
    const read = (end === undefined ? NUMBERS : MESSAGES)[field];
    if (read) read(raw, wire, n, end);
  });
  return resolve(raw, wire, bytes);
}

function resolve(raw, wire, bytes) {
  const { time, duration, period } = raw;
  const string = (i) => raw.strings[i] || '';
  const types = raw.types.map((type) =>
    ({ name: string(type[1]), unit: string(type[2]) }));
  const best = types.findIndex((type) => type.name === string(raw.best));
  const profile = {
    types, bytes, time, duration, period, n: raw.samples.length / 2,
    comments: raw.comments.map((i) => {
      wire.spend(string(i).length);
      return string(i);
    }),
    isSpace: string(raw.periodType) === 'space',
    best: best < 0 ? types.length - 1 : best,
    values: [], sets: [], stacks: [],
  };
  for (const { numbers, functions } of raw.locations) {
    const ids = locationFrames(raw, wire, numbers, functions, string);
    raw.known[numbers[1]] = ids.length === 1 ? ids[0] : ids;
    raw.isInlined ||= ids.length > 1;
  }
  for (let i = 0; i < raw.samples.length; i += 2) {
    wire.at = raw.samples[i];
    readSample(raw, wire, raw.samples[i + 1], profile, string);
  }
  if (types.length === 0 || types.length > MAX_TYPES
    || profile.values.length !== profile.n * types.length) throw damaged();
  return profile;
}

/* A sample, its frames leaf first. */
function readSample({ known, isInlined, labels }, wire, end, profile, string) {
  const stack = [];
  let set = '', depth = 0;
  wire.each(end, (field, n, stop) => {
    if (field === 3 && stop) set += wire.numbers(stop) + ';';
    else if (field === 1) wire.list(stack, n, stop);
    else if (field === 2) wire.list(profile.values, n, stop);
  });
  for (let k = 0; k < stack.length; k++) {
    stack[k] = known[stack[k]];
    if (stack[k] === undefined) throw damaged();
    depth += stack[k].length || 1;
  }
  if (depth > MAX_FRAMES) {
    throw new Complaint(`A stack has more than ${MAX_FRAMES} frames.`);
  }
  wire.spend(depth);
  if (!labels.has(set)) labels.set(set, setId(set, wire, string));
  profile.stacks.push(isInlined ? stack.flat() : stack);
  profile.sets.push(labels.get(set));
}

/* The id of a set of labels: "key,str,num,unit;" of each, as numbers. */
function setId(text, wire, string) {
  const all = text.split(';').slice(0, -1);
  if (all.length > MAX_LABELS) throw damaged();
  const pairs = all.map((label) => {
    const [, key, str, n, unit] = label.split(',').map(Number);
    return [string(key), str ? string(str) : n + string(unit)];
  }).sort();
  const id = JSON.stringify(pairs);
  wire.spend(id.length);
  if (!sets.ids.has(id)) {
    sets.ids.set(id, sets.labels.length);
    sets.labels.push(new Map(pairs));
  }
  return sets.ids.get(id);
}

/* Inlined functions come before the one that they are inlined into. */
function locationFrames(raw, wire, [, , id, address], functions, string) {
  const [, , start, , offset, file] = raw.mappings.get(id)
    || [0, 0, 0, 0, 0, 0];
  const module = string(file).replace(/ \(deleted\)$/, '').split('/').pop();
  if (functions.length === 0) {
    const at = BigInt.asUintN(64, BigInt(address - start + offset));
    wire.spend(module.length);
    return [frameId(`${module}+0x${at.toString(16)}`, module, '')];
  }
  return functions.map((one) => {
    const [, , name, system, source] = raw.functions.get(one) || [];
    const said = string(name) || string(system) || '?';
    wire.spend(said.length + module.length);
    return frameId(said, module, string(source));
  });
}

function frameId(name, module, file) {
  const key = `${module}\n${name}`;
  let id = frames.ids.get(key);
  if (id === undefined) {
    id = frames.names.length;
    frames.ids.set(key, id);
    frames.names.push(name);
    frames.modules.push(module);
    frames.files.push(file);
    frames.kinds.push(undefined);
    frames.owners.push(ownerFor(name, module));
  }
  return id;
}

async function unpack(bytes) {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  if (!window.DecompressionStream) {
    throw new Complaint('This browser cannot unpack gzip (it has no '
      + 'DecompressionStream): use one from 2024 or later, or format=svg.');
  }
  const parts = [];
  let n = 0;
  try {
    const reader = new window.Response(bytes).body
      .pipeThrough(new DecompressionStream('gzip')).getReader();
    for (let part; !(part = await reader.read()).done;) {
      parts.push(part.value);
      n += part.value.length;
      if (n > MAX_BYTES) break;
    }
  } catch {
    throw damaged();
  }
  if (n > MAX_BYTES) throw tooLarge('256 MiB');
  const all = new Uint8Array(n);
  for (const part of parts.reverse()) all.set(part, n -= part.length);
  return all;
}

function fromBase64(text) {
  try {
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
    const binary = atob(text.trim()), bytes = new Uint8Array(binary.length);
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
