/*
 * The state, and what a change of it redoes: load (a profile), grow (trees or
 * tables), draw (boxes).
 */

const $ = (id) => document.getElementById(id);
const VIEWS = ['flame', 'callers', 'both', 'table', 'owners'];
const DEFAULTS = { v: 'flame', t: '', z: '', p: '', s: '', f: '', x: '',
  h: '', r: '', g: '', k: '', i: '', d: 'both', e: '', o: '', l: '' };

/* What the fragment says: see readState() for its letters. */
let state = { ...DEFAULTS };

const page = { now: null, base: null, rows: null, m: null, scene: null,
  palette: null, view: { from: 0, to: 1, top: 0, width: 0, height: 0,
    char: 7.2, match: null }, at: null, sort: { column: 0, isUp: false },
  shown: 200, clicked: { name: '', time: -1e9 }, timings: {} };

/*
 * v view, t type, z zoom, p pivot, s search, f focus, x ignore, h hide, r show
 * from, g split by, k skip allocators, i turned round, d width, e relative, o
 * self, l labels: "worker=0,1;origin=master".
 */
function readState() {
  const said = new URLSearchParams(location.hash.slice(1));
  state = { ...DEFAULTS };
  for (const [key, value] of said) if (key in state) state[key] = value;
  if (!VIEWS.includes(state.v)) state.v = DEFAULTS.v;
}

function writeState(isStep) {
  const said = new URLSearchParams();
  for (const key of Object.keys(DEFAULTS)) {
    if (state[key] !== DEFAULTS[key]) said.set(key, state[key]);
  }
  const hash = `#${said}`;
  if (hash === (location.hash || '#')) return;
  history[isStep ? 'pushState' : 'replaceState'](null, '', hash);
}

/* Changes the state; it is a step that the browser's Back undoes. */
function change(changes) {
  Object.assign(state, changes);
  writeState(true);
  grow();
}

function complain(error) {
  if (!(error instanceof Complaint)) console.error(error);
  $('say').textContent = error instanceof Complaint ? error.message
    : `The page failed: ${error.message}.`;
}

/*
 * A regular expression as a flag for each frame; null: there is none.  Only one
 * with a capital letter minds them.
 */
function flagsOf(said) {
  if (said === '') return null;
  let test;
  try {
    test = new RegExp(said,
      /[A-Z]/.test(said.replace(/\\./g, '')) ? '' : 'i');
  } catch {
    throw new Complaint(`Not a regular expression: ${said}`);
  }
  return Uint8Array.from(frames.names, (name) => (test.test(name) ? 1 : 0));
}

/* The time that malloc() takes is its own. */
function isMemory() {
  return page.now.types.some((type) => type.unit === 'bytes');
}

function isSkipping() {
  return isMemory() && (state.k === ''
    ? state.v === 'callers' || state.v === 'owners' : state.k === '1');
}

function choiceOf() {
  const wanted = new Map(state.l.split(';').filter(Boolean).map((part) => {
    const [key, values] = part.split('=');
    return [key, values.split(',').map(decodeURIComponent)];
  }));
  const isWanted = (labels) => [...wanted].every(([key, values]) =>
    values.includes(labels.get(key) || ''));
  return {
    sets: Uint8Array.from(sets.labels, (set) => (isWanted(set) ? 1 : 0)),
    focus: flagsOf(state.f), ignore: flagsOf(state.x), hide: flagsOf(state.h),
    from: flagsOf(state.r), split: state.g, skip: isSkipping(),
    width: state.d,
  };
}

function typeIndex() {
  const i = page.now.types.findIndex((type) => type.name === state.t);
  return i < 0 ? page.now.best : i;
}

/* Shows the profile NOW against BASE, or null. */
function setProfiles(now, base) {
  page.now = now;
  page.base = base;
  page.rows = makeRows(now, base);
  showChoices();
  grow();
}

function isTable() {
  return state.v === 'table' || state.v === 'owners';
}

function grow() {
  const begun = performance.now();
  $('say').textContent = '';
  try {
    const t = typeIndex();
    page.choice = choiceOf();
    page.m = measure(page.rows, t);
    page.unit = page.now.types[t].unit;
    page.owners = ownersOf(page.rows, page.m,
      { ...page.choice, skip: isMemory() });
    giveColours(page.owners);
    page.scene = isTable() ? null : makeScene();
    giveColours(OWNERS.names.map((_, owner) => ({ owner })));
    page.timings.grow = performance.now() - begun;
  } catch (error) {
    complain(error);
    return;
  }
  showState();
  search();
  if (isTable()) showTable();
  else rescale();
}

function makeScene() {
  const { rows, m, choice } = page;
  const pivot = frames.names.indexOf(state.p);
  const plant = (kind, p) => growTree(rows, m, choice, kind, p);
  const scene = { parts: [], origin: 0, scale: 0, changeOf: null };
  if (state.v === 'both' && pivot >= 0) {
    scene.parts = [{ tree: plant('flame', pivot), isUp: false },
      { tree: plant('callers', pivot), isUp: true }];
    scene.origin = scene.parts[1].tree.height - 1;
  } else {
    const isUp = state.i === '1';
    scene.parts = [{ tree: plant(state.v === 'callers' ? 'callers' : 'flame',
      -1), isUp }];
    if (isUp) scene.origin = scene.parts[0].tree.height - 1;
  }
  const { tree } = scene.parts[0];
  scene.height = scene.origin + (scene.parts[0].isUp ? 1 : tree.height);
  if (m.before || m.isSigned) addScale(scene, tree);
  return scene;
}

/* How much a change is: of the total, of each total, with callees or not. */
function addScale(scene, tree) {
  const ratio = state.e === '1' && tree.before && tree.before[0] !== 0
    ? tree.after[0] / tree.before[0] : 1;
  scene.changeOf = (one, node) => {
    const value = one.change(node, state.o === '1');
    return ratio === 1 ? value
      : value - (ratio - 1) * (state.o === '1'
        ? one.self(node, one.before) : one.before[node]);
  };
  scene.scale = 1;
  for (let i = 1; i < tree.n; i++) {
    scene.scale = Math.max(scene.scale, Math.abs(tree.change(i)));
  }
}

/* The zoom as the state has it, in the trees that there are now. */
function rescale() {
  const { tree } = page.scene.parts[0];
  const node = state.z === '' ? 0 : tree.find(parseInt(state.z, 16));
  page.at = { part: page.scene.parts[0], node };
  zoomTo(tree, node);
  draw();
}

function zoomTo(tree, node) {
  page.view.from = tree.x[node];
  page.view.to = tree.x[node] + (tree.width[node] || 1);
}

function draw() {
  if (!page.scene) return;
  const begun = performance.now(), { view } = page;
  const canvas = $('canvas'), graph = $('graph'), ratio = devicePixelRatio;
  view.width = graph.clientWidth;
  view.height = Math.min(graph.clientHeight, innerHeight);
  if (canvas.width !== Math.round(view.width * ratio)
      || canvas.height !== Math.round(view.height * ratio)) {
    canvas.width = Math.round(view.width * ratio);
    canvas.height = Math.round(view.height * ratio);
    canvas.style.height = `${view.height}px`;
  }
  const rest = Math.max(0, page.scene.height * ROW - view.height);
  canvas.style.marginBottom = `${rest}px`;
  view.top = graph.scrollTop;
  const context = canvas.getContext('2d');
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.font = FONT;
  view.char = context.measureText('m').width;
  page.boxes = layOut(page.scene, view);
  paint(context, page.scene, page.boxes, page.palette, view);
  mark();
  page.timings.draw = performance.now() - begun;
}

/* The outline of the frame that the keyboard is at. */
function mark() {
  const { at, view, scene } = page, box = $('mark');
  const { tree } = at.part, scale = view.width / (view.to - view.from);
  const x = Math.max(0, (tree.x[at.node] - view.from) * scale);
  const end = (tree.x[at.node] + tree.width[at.node] - view.from) * scale;
  box.style.left = `${x}px`;
  box.style.top = `${yOf(scene, at.part, tree.depth[at.node])}px`;
  box.style.width = `${Math.max(2, Math.min(view.width, end) - x - 1)}px`;
}

function describe(tree, node) {
  const { unit, m } = page, root = page.scene.parts[0].tree;
  const value = tree.after[node], up = Math.max(0, tree.parent[node]);
  const span = page.view.to - page.view.from;
  const parts = [`${frames.names[tree.frame[node]]}: ${show(value, unit)}`,
    `${percent(tree.width[node], root.width[0])} of all`];
  if (span < root.width[0]) {
    parts.push(`${percent(tree.width[node], span)} of the zoom`);
  }
  parts.push(`${percent(tree.width[node], tree.width[up])} of its caller`);
  if (tree.before) {
    const less = tree.change(node);
    parts.push(`${less > 0 ? '+' : ''}${show(less, unit)} since `
      + `${show(tree.before[node], unit)}`
      + (less !== 0 && tree.isNoise(node) ? ' (noise)' : ''));
  }
  parts.push(doubt(tree.change(node), tree.seen[node], tree.variance[node],
    m.isExact));
  return parts.join(', ');
}

function search() {
  const { view, scene, m, unit } = page;
  let text = '';
  try {
    view.match = flagsOf(state.s);
    page.matches = [];
    if (view.match && scene) {
      const { tree } = scene.parts[0], sum = matched(tree, view.match);
      for (let i = 0; i < tree.n; i++) {
        if (view.match[tree.frame[i]]) page.matches.push(i);
      }
      page.matches.sort((p, q) => tree.x[p] - tree.x[q] || p - q);
      text = `${page.matches.length.toLocaleString('en')} frames, `
        + `${show(sum, unit)}, ${percent(sum, tree.after[0])}`;
    }
  } catch (error) {
    text = error.message;
  }
  $('found').textContent = text;
  return m;
}

function showTable() {
  const { rows, m, choice, unit, view } = page, isOwners = state.v === 'owners';
  const c = { v: state.v, unit, isExact: m.isExact,
    total: m.after.reduce((sum, value) => sum + value, 0) };
  let entries = isOwners ? page.owners : functionsOf(rows, m, choice);
  if (!isOwners && view.match) {
    entries = entries.filter((entry) => view.match[entry.frame]);
  }
  const label = isOwners ? (entry) => swatch(entry.owner)
    : (entry) => make('button', { className: 'name', onclick: () => change({
      v: 'both', p: frames.names[entry.frame], z: '' }),
    title: frames.modules[entry.frame] }, frames.names[entry.frame]);
  const columns = columnsOf(c, m.before !== null);
  $('table').replaceChildren(...makeTable(entries, columns, page.sort, label, {
    heading: isOwners ? 'owner' : 'function', rows: page.shown,
    sort: (column) => {
      const isUp = page.sort.column === column && !page.sort.isUp;
      page.sort = { column, isUp };
      showTable();
    },
    more: () => {
      page.shown += 200;
      showTable();
    },
  }));
}

function swatch(owner) {
  const colour = OWNERS.colours[owner];
  const box = make('i', { className: 'swatch', ariaHidden: 'true' });
  box.style.background = page.palette.fills[colour === undefined ? OTHER
    : 3 * colour];
  return make('span', {}, box, ownerName(owner));
}

/* What the profile has to choose from: types, labels, keys to split by. */
function showChoices() {
  const { now, base } = page;
  fill($('t'), now.types.map((type) => [type.name, type.name]));
  const keys = new Map();
  for (const set of sets.labels) {
    for (const [key, value] of set) {
      if (!keys.has(key)) keys.set(key, new Set());
      keys.get(key).add(value);
    }
  }
  fill($('g'), [['', 'nothing'], ...[...keys.keys()].map((k) => [k, k])]);
  $('labels').replaceChildren(...[...keys].map(([key, values]) =>
    labelMenu(key, [...values].sort((p, q) => p - q || (p < q ? -1 : 1)))));
  $('diff').hidden = !base;
  $('k').disabled = !isMemory();
  $('about').textContent = now.comments.join('\n');
}

function labelMenu(key, values) {
  const boxes = values.slice(0, 256).map((value) => make('label', {},
    make('input', { type: 'checkbox', value, name: key,
      onchange: chooseLabels }), ` ${value}`));
  return make('details', { className: 'choice', name: 'choice' },
    make('summary', {}, key), make('div', {}, ...boxes));
}

function fill(select, options) {
  select.replaceChildren(...options.map(([value, text]) =>
    make('option', { value }, text)));
}

/* The controls as the state is. */
function showState() {
  const { now, m } = page, total = new Sum();
  for (let i = 0; i < page.rows.n; i++) total.add(m, i);
  for (const button of $('views').children) {
    button.ariaPressed = String(button.value === state.v);
  }
  $('t').value = now.types[typeIndex()].name;
  $('s').value = document.activeElement === $('s') ? $('s').value : state.s;
  $('g').value = state.g;
  $('d').value = state.d;
  $('k').checked = isSkipping();
  $('i').checked = state.i === '1';
  $('e').checked = state.e === '1';
  $('o').checked = state.o === '1';
  const labels = new URLSearchParams(state.l.replaceAll(';', '&'));
  for (const box of $('labels').querySelectorAll('input')) {
    const said = labels.get(box.name);
    box.checked = said !== null && said.split(',').includes(box.value);
  }
  $('graph').hidden = isTable();
  $('table').hidden = !isTable();
  $('status').hidden = isTable();
  showSum(total);
  showLegend();
  showChips();
}

function showSum(total) {
  const { now, base, m, unit } = page, { types, time } = now;
  const when = time ? `${new Date(time).toISOString().slice(0, 19)}Z, ` : '';
  const by = base ? `, ${total.change > 0 ? '+' : ''}`
    + `${show(total.change, unit)} since ${show(total.before, unit)}` : '';
  const asked = now.comments.find((text) => /^workers \d/.test(text));
  $('sum').textContent = now.n === 0 ? 'The profile has no samples.'
    : `${when}${types[typeIndex()].name} ${show(total.after, unit)}${by}, `
    + `${page.rows.n.toLocaleString('en')} stacks, `
    + doubt(total.change, total.seen, total.variance, m.isExact)
    + (asked ? `, ${asked}` : '');
}

function showLegend() {
  const isDifference = page.m.before !== null || page.m.isSigned;
  const words = [[MORE + 3, 'more'], [LESS + 3, 'less'], [SAME, 'the same'],
    [NOISE, 'noise: below two standard errors']];
  const items = isDifference ? words.map(([colour, text]) => {
    const box = make('i', { className: 'swatch' });
    box.style.background = page.palette.fills[colour];
    return make('li', {}, box, text);
  }) : page.owners.slice(0, 14).map(({ owner, cum }) =>
    make('li', {}, swatch(owner), ` ${show(cum.after, page.unit)}`));
  if (page.base) items.push(make('li', {}, 'outlined: new, hatched: gone'));
  $('legend').replaceChildren(...items);
}

const CHIPS = { p: 'both of', f: 'focus', x: 'ignore', h: 'hide',
  r: 'show from', z: 'zoom' };

function showChips() {
  const set = Object.keys(CHIPS).filter((key) => state[key] !== ''
    && (key !== 'p' || state.v === 'both'));
  $('chips').replaceChildren(...set.map((key) => make('button', {
    onclick: () => change({ [key]: '' }),
  }, `${CHIPS[key]} ${key === 'z' ? '' : state[key].slice(0, 80)} \u00d7`)));
  if (state.v === 'both' && frames.names.indexOf(state.p) < 0) {
    $('chips').append('Choose a function: b on a frame, a double click, or '
      + 'a row of the table.');
  }
}
