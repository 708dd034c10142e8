'use strict';

/*
 * The way of the data:
 *
 *   base64 of the page, a file, an answer --page_profile.js--> a profile
 *   a profile, or two --page_rows.js--> rows: a stack, its labels, its values
 *   the rows that are chosen --page_tree.js--> a tree in typed arrays
 *   what of it is in the window --page_draw.js--> boxes on a canvas, or an SVG
 *   the same rows --page_table.js--> tables of functions and of owners
 *
 * page.js has the state, which lies in the address behind the #, and redoes
 * what a change of it needs.  page_acts.js has what people do.
 *
 * Names are foreign: they become text of nodes and of the canvas, never HTML.
 */

const MAX_BYTES = 256 << 20;
const MAX_FRAMES = 4096;

/* What people are to read; whatever else is thrown is a fault of ours. */
class Complaint extends Error {}

/* Functions, and label sets, of all profiles, each once. */
const frames = { names: [], modules: [], passes: [], owners: [], hashes: [],
  ids: new Map() };
const sets = { labels: [], ids: new Map() };

/* What could hide or turn round a name. */
const UNSEEN = new RegExp('[\\u0000-\\u001f\\u007f-\\u009f\\u200b-\\u200f'
  + '\\u2028-\\u202e\\u2060-\\u2069\\ufeff]', 'g');

class List {
  constructor(Type) {
    this.items = new Type(4096);
    this.n = 0;
  }

  push(item) {
    if (this.n === this.items.length) {
      const grown = new this.items.constructor(2 * this.n);
      grown.set(this.items);
      this.items = grown;
    }
    this.items[this.n++] = item;
  }

  done() {
    return this.items.slice(0, this.n);
  }
}

class Wire {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  /* A varint of 64 bits, signed, in parts of 28, 28 and 8 bits. */
  int() {
    const bytes = this.bytes;
    let byte = bytes[this.at++];
    if (byte < 128) return byte;
    let low = byte & 127, high = 0, top = 0;
    for (let shift = 7; !(byte < 128); shift += 7) {
      byte = bytes[this.at++];
      if (byte === undefined || shift > 63) throw damaged();
      if (shift < 28) low |= (byte & 127) << shift;
      else if (shift < 56) high |= (byte & 127) << (shift - 28);
      else top |= (byte & 127) << (shift - 56);
    }
    top &= 255;
    if (top < 128) return low + high * 2 ** 28 + top * 2 ** 56;
    return -(0xfffffff - low + (0xfffffff - high) * 2 ** 28
             + (255 - top) * 2 ** 56 + 1);
  }

  /* Calls VISIT(field, number, end) for each; END is that of a message. */
  each(end, visit) {
    while (this.at < end) {
      const key = this.int();
      let number = 0, stop;
      switch (key & 7) {
        case 0: number = this.int(); break;
        case 1: this.at += 8; continue;
        case 2: stop = this.int() + this.at; break;
        case 5: this.at += 4; continue;
        default: throw damaged();
      }
      if (this.at > end || stop > end || stop < this.at) throw damaged();
      visit(Math.floor(key / 8), number, stop);
      if (stop !== undefined) this.at = stop;
    }
    if (this.at > end) throw damaged();
  }

  /* The numbers of a message, by field. */
  numbers(end) {
    const all = [0, 0, 0, 0, 0, 0];
    this.each(end, (field, number, stop) => {
      if (stop === undefined) all[field] = number;
    });
    return all;
  }

  text(end) {
    return new TextDecoder().decode(this.bytes.subarray(this.at, end));
  }
}

function damaged() {
  return new Complaint('This is no profile, or it is cut or damaged: fetch it '
    + 'again.');
}

/* The fields of the message Profile, by number. */
const FIELDS = {
  1: (raw, wire, n, end) => raw.types.push(wire.numbers(end)),
  2: readSample,
  3: (raw, wire, n, end) => keep(raw.mappings, wire.numbers(end)),
  4: readLocation,
  5: (raw, wire, n, end) => keep(raw.functions, wire.numbers(end)),
  6: (raw, wire, n, end) => raw.strings.push(wire.text(end)),
  9: (raw, wire, n) => { raw.time = n / 1e6; },
  10: (raw, wire, n) => { raw.duration = n / 1e9; },
  11: (raw, wire, n, end) => { raw.periodType = wire.numbers(end); },
  12: (raw, wire, n) => { raw.period = n; },
  13: (raw, wire, n, end) => {
    if (wire.at === end) return;
    do raw.comments.push(end === undefined ? n : wire.int());
    while (wire.at < end);
  },
  14: (raw, wire, n) => { raw.best = n; },
};

function keep(map, numbers) {
  map.set(numbers[1], numbers);
}

/* Ids of locations become indices, in order of appearance. */
function locationIndex(raw, id) {
  let i = raw.index[id];
  if (i === undefined) i = raw.index[id] = raw.nLocations++;
  return i;
}

function readSample(raw, wire, unused, end) {
  const from = raw.path.n;
  let labels = '';
  wire.each(end, (field, number, stop) => {
    if (field === 3) {
      labels += wire.numbers(stop) + ';';
    } else if (field === 1 || field === 2) {
      const isPacked = stop !== undefined;
      if (isPacked && wire.at === stop) return;
      do {
        const n = isPacked ? wire.int() : number;
        if (field === 1) raw.path.push(locationIndex(raw, n));
        else raw.values.push(n);
      } while (wire.at < stop);
    }
  });
  if (raw.path.n - from > MAX_FRAMES) {
    throw new Complaint(`A stack has more than ${MAX_FRAMES} frames.`);
  }
  raw.starts.push(from);
  raw.sets.push(labels);
}

function readLocation(raw, wire, unused, end) {
  const location = { id: 0, mapping: 0, address: 0, functions: [] };
  wire.each(end, (field, number, stop) => {
    if (field === 1) location.id = number;
    else if (field === 2) location.mapping = number;
    else if (field === 3) location.address = number;
    else if (field === 4) location.functions.push(wire.numbers(stop)[1]);
  });
  raw.locations[locationIndex(raw, location.id)] = location;
}

/* The profile in BYTES, which may be compressed. */
async function readProfile(bytes) {
  const wire = new Wire(await unpack(bytes));
  const raw = {
    types: [], strings: [], comments: [], mappings: new Map(),
    functions: new Map(), locations: [], index: [], nLocations: 0,
    path: new List(Uint32Array), starts: new List(Uint32Array),
    values: new List(Float64Array), sets: [],
    time: 0, duration: 0, period: 0, periodType: [0, 0, 0], best: 0,
  };
  wire.each(wire.bytes.length, (field, number, end) => {
    if (FIELDS[field]) FIELDS[field](raw, wire, number, end);
  });
  return resolve(raw, bytes);
}

function resolve(raw, bytes) {
  const string = (i) => raw.strings[i] || '';
  const types = raw.types.map((type) =>
    ({ name: string(type[1]), unit: string(type[2]) }));
  const n = raw.starts.n;
  if (types.length === 0 || raw.values.n !== n * types.length) throw damaged();
  const profile = {
    types, n, bytes, time: raw.time, duration: raw.duration,
    period: raw.period, comments: raw.comments.map(string),
    isSpace: string(raw.periodType[1]) === 'space',
    best: types.findIndex((type) => type.name === string(raw.best)),
    values: raw.values.done(), sets: resolveSets(raw.sets, string),
  };
  if (profile.best < 0) profile.best = types.length - 1;
  resolvePaths(profile, raw, string);
  return profile;
}

function resolveSets(texts, string) {
  const known = new Map();
  return Uint32Array.from(texts, (text) => {
    let id = known.get(text);
    if (id === undefined) {
      id = setId(text.split(';').slice(0, -1).map((label) => {
        const [, key, str, num, unit] = label.split(',').map(Number);
        return [string(key), str ? string(str) : num + string(unit)];
      }));
      known.set(text, id);
    }
    return id;
  });
}

function setId(pairs) {
  pairs.sort();
  const key = JSON.stringify(pairs);
  let id = sets.ids.get(key);
  if (id === undefined) {
    id = sets.labels.length;
    sets.ids.set(key, id);
    sets.labels.push(new Map(pairs));
  }
  return id;
}

function resolvePaths(profile, raw, string) {
  const known = raw.locations.map((one) => locationFrames(raw, one, string));
  const single = Int32Array.from(known, (ids) =>
    (ids && ids.length === 1 ? ids[0] : -1));
  const path = new List(Uint32Array), starts = new Uint32Array(profile.n + 1);
  const from = raw.starts.done();
  for (let i = 0; i < profile.n; i++) {
    const end = i + 1 < profile.n ? from[i + 1] : raw.path.n;
    starts[i] = path.n;
    for (let k = from[i]; k < end; k++) {
      const location = raw.path.items[k];
      if (single[location] >= 0) path.push(single[location]);
      else if (!known[location]) throw damaged();
      else known[location].forEach((id) => path.push(id));
    }
  }
  starts[profile.n] = path.n;
  profile.starts = starts;
  profile.path = path.done();
}

/* Inlined functions come before the one that they are inlined into. */
function locationFrames(raw, location, string) {
  const mapping = raw.mappings.get(location.mapping) || [];
  const module = string(mapping[5]).replace(/ \(deleted\)$/, '')
    .replace(/.*\//, '');
  if (location.functions.length === 0) {
    const offset = location.address - (mapping[2] || 0) + (mapping[4] || 0);
    return [frameId(`${module}+0x${offset.toString(16)}`, module, '')];
  }
  return location.functions.map((id) => {
    const fn = raw.functions.get(id) || [];
    return frameId(string(fn[2]) || string(fn[3]) || '?', module,
      string(fn[4]));
  });
}

function frameId(name, module, file) {
  const key = `${module}\n${name}`;
  let id = frames.ids.get(key);
  if (id === undefined) {
    id = frames.names.length;
    frames.ids.set(key, id);
    frames.names.push(name.replace(UNSEEN, '\ufffd'));
    frames.modules.push(module.replace(UNSEEN, '\ufffd'));
    frames.passes.push(passing(name, file));
    frames.owners.push(ownerFor(name, module));
    frames.hashes.push(hashText(key));
  }
  return id;
}

async function unpack(bytes) {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  if (!window.DecompressionStream) {
    throw new Complaint('This browser cannot unpack gzip (it has no '
      + 'DecompressionStream): use one from 2023 or later, or format=svg.');
  }
  const unpacked = new List(Uint8Array);
  try {
    const reader = new Blob([bytes]).stream()
      .pipeThrough(new DecompressionStream('gzip')).getReader();
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return unpacked.items.subarray(0, unpacked.n);
      append(unpacked, value);
    }
  } catch (error) {
    throw error instanceof Complaint ? error : damaged();
  }
}

function append(list, bytes) {
  const n = list.n + bytes.length;
  if (n > MAX_BYTES) {
    throw new Complaint('The profile has more than 256 MiB: select fewer '
      + 'workers, or use go tool pprof.');
  }
  if (n > list.items.length) {
    const grown = new Uint8Array(2 * n);
    grown.set(list.items.subarray(0, list.n));
    list.items = grown;
  }
  list.items.set(bytes, list.n);
  list.n = n;
}

function fromBase64(text) {
  let binary;
  try {
    binary = atob(text.trim());
  } catch {
    throw damaged();
  }
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

function toBase64(bytes) {
  let binary = '';
  for (let i = 0; i < bytes.length; i += 4096) {
    binary += String.fromCharCode(...bytes.subarray(i, i + 4096));
  }
  return btoa(binary);
}
