/*
 * The state, and what a change of it redoes: load (a profile), grow (trees or
 * tables), search, draw (boxes).
 */

const $ = (id) => document.getElementById(id);
const write = (id, text) => { $(id).textContent = text; };
const redraw = () => requestAnimationFrame(draw);

/* What is there of PARTS, as text. */
const listed = (...parts) => parts.filter(Boolean).join(', ');

const VIEWS = ['flame', 'callers', 'both', 'table', 'owners'];

/* The values of a label that have a box: an nginx of 1,024 workers. */
const MAX_VALUES = 2048;

/*
 * v view, t type, z zoom, p pivot, s search, f focus, x ignore, h hide, r show
 * from, g split by, k skip allocators, i turned round, d width, e relative, o
 * self, c frames in common, too, l labels: "worker=0,1;origin=master".
 */
const DEFAULTS = { v: 'flame', t: '', z: '', p: '', s: '', f: '', x: '',
  h: '', r: '', g: '', k: '', i: '0', d: 'both', e: '0', o: '0', c: '0',
  l: '' };

/* What the fragment says. */
let state = { ...DEFAULTS };

/*
 * The window of the graph; origin: the row of the root, which it shows first;
 * span: where a hand has moved it, in parts of all.
 */
const VIEW = { from: 0, to: 1, top: 0, origin: 0, width: 0, height: 0,
  char: 7.2, match: null, span: null };

const MAP_SIZE = { width: 160, height: 60 };

/* What is shown; turn: how often what is shown was chosen anew. */
const page = { first: null, profile: null, base: null, rows: null, stacks: null,
  m: null, scene: null, palette: null, boxes: [], matches: [], at: null,
  map: { is: false, of: [], canvas: make('canvas', {}) },
  keys: [], choices: '', shown: 200, turn: 0, view: VIEW,
  sort: { column: 0, isUp: false }, clicked: '', took: 0 };

function readState() {
  state = { ...DEFAULTS };
  for (const [key, value] of new URLSearchParams(location.hash.slice(1))) {
    if (Object.hasOwn(state, key)) state[key] = value;
  }
  if (!VIEWS.includes(state.v)) state.v = DEFAULTS.v;
}

/* Writes the changed state behind the #, HOW as a step for Back or as none. */
function setState(changes, how) {
  Object.assign(state, changes);
  const changed = new URLSearchParams(Object.entries(state).filter(
    ([key, value]) => value !== DEFAULTS[key]));
  const hash = `#${changed}`;
  if (hash !== (location.hash || '#')) history[how](null, '', hash);
}

function change(changes) {
  setState(changes, 'pushState');
  page.view.span = null;
  grow();
}

function complain(error) {
  if (!(error instanceof Complaint)) console.error(error);
  write('say', error instanceof Complaint ? error.message
    : `The page failed: ${error.message}.`);
}

/*
 * A regular expression as a flag for each frame; null: there is none.  Only one
 * with a capital letter, or of a whole name, minds them.
 */
function flagsOf(said) {
  if (said === '') return null;
  try {
    const test = new RegExp(said,
      /[A-Z]|^\^.*\$$/.test(said.replace(/\\./g, '')) ? '' : 'i');
    return frames.names.map((name) => test.test(name));
  } catch {
    throw new Complaint(`Not a regular expression: ${said}`);
  }
}

/* The time that malloc() takes is its own. */
function isMemory() {
  return page.profile.types.some((type) => type.unit === 'bytes');
}

function isSkipping() {
  return isMemory() && (state.k === '' ? state.v === 'callers'
    || state.v === 'owners' : state.k === '1');
}

/* The flags of a filter; one that is none filters nothing, and says so. */
function filterOf(key) {
  try {
    return flagsOf(state[key]);
  } catch (error) {
    complain(error);
    return null;
  }
}

/* Of the values that are chosen of a label, any will do. */
function choiceOf() {
  const chosen = new URLSearchParams(state.l), wanted = [...chosen.keys()];
  const split = state.v !== 'both' && page.keys.includes(state.g) && state.g;
  return {
    sets: sets.labels.map((labels) => wanted.every((key) =>
      chosen.getAll(key).includes(labels.get(key) || ''))),
    roots: split ? sets.labels.map((labels) => labelFrame(labels, split)) : [],
    focus: filterOf('f'), ignore: filterOf('x'), hide: filterOf('h'),
    from: filterOf('r'), skip: isSkipping(), ofMemory: isMemory(),
    width: page.base ? state.d : 'both',
  };
}

function typeNow() {
  const { types, best } = page.profile;
  return types.find((type) => type.name === state.t) || types.at(best);
}

function amount(value) {
  return show(value, typeNow().unit);
}

/* Shows PROFILE, if there is one, against BASE, or null. */
function setProfiles(profile, base) {
  if (!profile) return;
  Object.assign(page, { profile, base, rows: makeRows(profile, base) });
  showChoices();
  grow();
  const { scene, at } = page;
  if (scene) write('status', describe(at.tree, at.node));
}

function isBoth() {
  return state.v === 'both' && frames.names.includes(state.p);
}

function isTable() {
  return state.v === 'table' || state.v === 'owners';
}

function grow() {
  if (!page.rows) return;
  write('say', '');
  try {
    const choice = page.choice = choiceOf();
    page.m = measure(page, typeNow().name);
    page.stacks = chooseStacks(page.rows, choice);
    page.owners = ownersOf(page.stacks, page.m);
    giveColours(page.owners.map((one) => one.owner));
    page.scene = isTable() ? null : makeScene();
    giveColours(new Set(frames.owners));
  } catch (error) {
    complain(error);
    return;
  }
  showState();
  if (page.scene) rescale();
  find();
}

function makeScene() {
  const { stacks, m, choice, base } = page, isUp = state.i === '1';
  foldCommon(stacks, m, state.v === 'flame' && state.c === '0'
    && !state.r);
  const plant = (...how) => growTree(stacks, m, choice, ...how);
  const trees = isBoth()
    ? [plant(false, false, state.p), plant(true, true, state.p)]
    : [plant(isUp, state.v === 'callers', '')];
  const [tree] = trees, origin = isUp || isBoth() ? trees.at(-1).height - 1 : 0;
  const scene = { trees, origin, base, scale: 0, isSplit: choice.roots.length,
    height: origin + (tree.isUp ? 1 : tree.height) };
  if (m.isDifference) addScale(scene, tree);
  return scene;
}

/*
 * How much a change is: of the total, of each total, with callees or not.  The
 * scale of colours is what there was before: a change of 7 % is pale.
 */
function addScale(scene, tree) {
  const { before: [before], after: [after] } = tree;
  const growth = state.e === '1' && before ? after / before - 1 : 0;
  scene.changeOf = (one, node) => {
    const sum = one.sum(node, state.o === '1');
    return sum.change - growth * sum.before;
  };
  scene.scale = Math.abs(before) || tree.after.reduce((most, value, i) =>
    Math.max(most, i && Math.abs(value - tree.before[i])), 1);
}

/*
 * The zoom as the state, or a hand, has it, in the trees that there are now;
 * the keyboard stays at its frame.
 */
function rescale() {
  const { at, view, scene: { trees: [tree] } } = page, [all] = tree.width;
  const node = tree.find(parseInt(state.z, 16));
  const same = at && at.tree.isUp === tree.isUp && at.node
    && tree.find(at.tree.hash(at.node));
  page.at = { tree, node: same || node };
  tree.reach(page.at.node);
  if (!view.span) zoomTo(tree, node);
  else [view.from, view.to] = view.span.map((share) => share * all);
}

function zoomTo(tree, node) {
  tree.reach(node);
  page.view.span = null;
  page.view.from = tree.x[node];
  page.view.to = tree.x[node] + (tree.width[node] || 1);
}

function draw() {
  const { view, scene, palette } = page;
  if (!scene) return;
  const ratio = devicePixelRatio;
  const canvas = $('canvas'), graph = $('graph');
  view.width = graph.clientWidth;
  view.height = Math.min(graph.clientHeight, innerHeight);
  const width = Math.round(view.width * ratio);
  const height = Math.round(view.height * ratio);
  if (canvas.width !== width || canvas.height !== height) {
    Object.assign(canvas, { width, height });
    canvas.style.height = `${view.height}px`;
  }
  canvas.style.marginBottom =
    `${Math.max(0, scene.height * ROW - view.height)}px`;
  if (view.origin !== scene.origin) {
    view.origin = scene.origin;
    graph.scrollTop = scene.origin * ROW - view.height / 2;
  }
  view.top = graph.scrollTop;
  const context = canvas.getContext('2d');
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.font = FONT;
  view.char = context.measureText('m').width;
  view.value = saidOf;
  page.boxes = layOut(scene, view);
  paint(context, scene, page.boxes, palette, view);
  mark();
  drawMap(context);
}

/*
 * A map in the corner, unless the window shows all: the scene, or of its height
 * four times that of the window, painted once; and where the window is in it.
 */
function drawMap(context) {
  const { view, scene, palette, map } = page, { width, height } = MAP_SIZE;
  const [all] = scene.trees[0].width, span = view.to - view.from;
  const rows = scene.height * ROW, high = Math.min(rows, 4 * view.height);
  const top = Math.min(Math.max(0, view.top - high / 2), rows - high);
  const of = [scene, palette, top, high], scale = height / high;
  map.is = span < all || rows > view.height;
  if (!map.is) return;
  if (of.some((what, i) => what !== map.of[i])) {
    Object.assign(map.canvas, MAP_SIZE);
    const own = map.canvas.getContext('2d');
    /* of the view's shape: another would make painting slower everywhere */
    const whole = { ...view, from: 0, to: all, top, width, height: high,
      char: Infinity, match: null };
    own.setTransform(1, 0, 0, scale, 0, 0);
    paint(own, scene, layOut(scene, whole), palette, whole);
    map.of = of;
  }
  const x = view.width - width - 16, y = view.height - height - 8;
  context.clearRect(x, y, width, height);
  context.drawImage(map.canvas, x, y);
  context.strokeStyle = palette.text;
  context.strokeRect(x - 0.5, y - 0.5, width + 1, height + 1);
  context.strokeStyle = palette.line;
  context.strokeRect(x + view.from / all * width, y + (view.top - top) * scale,
    span / all * width, Math.min(view.height, high) * scale);
}

/* The outline of the frame that the keyboard is at. */
function mark() {
  const { at: { tree, node }, view, scene } = page, { style } = $('mark');
  const scale = view.width / (view.to - view.from);
  const x = Math.max(0, (tree.x[node] - view.from) * scale);
  const end = (tree.x[node] + tree.width[node] - view.from) * scale;
  style.left = `${x}px`;
  style.top = `${yOf(scene, tree, tree.depth[node])}px`;
  style.width = `${Math.max(2, Math.min(view.width, end) - x - 1)}px`;
}

/* What a frame shows beside its name: "+5.2 MiB (+10 %)". */
function saidOf(tree, node) {
  const sum = tree.sum(node), { change: by, before } = sum;
  if (!page.m.isDifference) return amount(sum.after);
  const sign = by > 0 ? '+' : '', share = Math.round(100 * by / before);
  return `${sign}${amount(by)}${before ? ` (${sign}${share} %)` : ''}`;
}

/* The change of a sum, with its sign, and what it is a change of. */
function since({ change: by, before }) {
  return `${by > 0 ? '+' : ''}${amount(by)} since ${amount(before)}`;
}

function describe(tree, node) {
  const { view, scene, base } = page, { width, parent } = tree;
  const [all] = scene.trees[0].width, span = view.to - view.from;
  const share = (total, what) => percent(width[node], total) + ' of ' + what;
  const sum = tree.sum(node);
  return listed(`${tree.name(node)}: ${amount(sum.after)}`,
    frames.places[tree.frame[node]], share(all, 'all'),
    span < all && share(span, 'the zoom'),
    share(width[parent[node]], 'its caller'),
    base && since(sum), base && sum.change && sum.isNoise && 'noise',
    doubt(sum));
}

/* Marks what matches, in the graph or in the table. */
function find() {
  if (!page.rows) return;
  const { view, scene } = page;
  let text = '';
  page.matches = [];
  try {
    view.match = flagsOf(state.s);
    if (view.match && scene) {
      const [tree] = scene.trees, sum = matched(tree, view.match);
      page.matches = [...tree.frame.keys()].filter((i) =>
        view.match[tree.frame[i]]);
      text = listed(`${count(page.matches.length)} frames`, amount(sum),
        percent(sum, tree.after[0]));
    }
  } catch (error) {
    text = error.message;
  }
  write('found', text);
  if (scene) draw();
  else showTable();
}

function showTable() {
  const { stacks, m, view, owners, base } = page;
  const isOwners = state.v === 'owners';
  const entries = isOwners ? owners : functionsOf(stacks, m).filter(
    ({ frame }) => view.match?.[frame] ?? true);
  const total = m.after.reduce((sum, value) => sum + value, 0);
  replace($('table'), makeTable(entries, columnsOf(total, isOwners, base),
    isOwners ? 'owner' : 'function', isOwners ? ownerLabel : frameLabel));
}

function ownerLabel({ owner }) {
  return swatch(ownerColour(owner, 0), ownerName(owner));
}

function frameLabel({ frame }) {
  const name = frames.names[frame];
  return make('button', { className: 'name', title: frames.modules[frame],
    onclick: () => change({ v: 'both', p: name, z: '' }) }, name);
}

function swatch(colour, text) {
  const box = make('i', {});
  box.style.background = page.palette.fills[colour];
  return make('span', {}, box, text);
}

/*
 * What the profile has to choose from: types, labels, keys to split by.  Who
 * has a menu open keeps it as long as the choices are the same.
 */
function showChoices() {
  const { profile, base } = page, values = new Map();
  for (const set of sets.labels) {
    for (const [key, value] of set) {
      have(values, key, () => new Set()).add(value);
    }
  }
  $('diff').hidden = !base;
  $('k').disabled = !isMemory();
  write('about', profile.comments.join('\n'));
  const types = profile.types.map((type) => type.name);
  const labels = [...values].map(([key, set]) => [key, [...set].sort(
    (p, q) => parseFloat(p) - parseFloat(q) || (p < q ? -1 : 1))]);
  const choices = JSON.stringify([types, labels]);
  if (choices === page.choices) return;
  Object.assign(page, { choices, keys: [...values.keys()] });
  fill($('t'), types.map((name) => [name, name]));
  fill($('g'), [['', 'nothing'], ...page.keys.map((key) => [key, key])]);
  $('labels').replaceChildren(...labels.slice(0, MAX_LABELS).map(labelMenu));
  $('filter').hidden = labels.length === 0;
}

function labelMenu([key, values]) {
  const rest = values.length - MAX_VALUES;
  const boxes = values.slice(0, MAX_VALUES).map((value) => make('label', {},
    make('input', { type: 'checkbox', value, name: key,
      onchange: chooseLabels }), ` ${value}`));
  return make('details', { className: 'choice', name: 'label' },
    make('summary', {}, key), make('div', {}, ...boxes,
      rest > 0 ? `${count(rest)} more` : ''));
}

function fill(select, options) {
  select.replaceChildren(...options.map(([value, text]) =>
    make('option', { value }, text)));
}

/* The controls as the state is: boxes are checked, others have values. */
function showState() {
  const labels = new URLSearchParams(state.l);
  for (const button of $('views').children) {
    button.ariaPressed = state.v === button.value;
  }
  for (const key of CONTROLS) {
    const control = $(key);
    control.value = state[key];
    control.checked = state[key] === '1';
  }
  $('t').value = typeNow().name;
  $('k').checked = isSkipping();
  for (const box of $('labels').querySelectorAll('input')) {
    box.checked = labels.has(box.name, box.value);
  }
  const [to, from] = isTable() ? ['table', 'graph'] : ['graph', 'table'];
  const isLeft = $(from).contains(document.activeElement);
  $(to).hidden = false;
  $(from).hidden = true;
  $('status').hidden = isTable();
  if (isLeft) $(to).focus();
  showLine();
  showSum();
  showLegend();
  showChips();
}

function showSum() {
  const { profile, base, m } = page, total = new Sum(), type = typeNow();
  m.after.forEach((_, i) => total.add(m, i));
  write('sum', m.after.length === 0 ? 'The profile has no samples.' : listed(
    profile.time && `${new Date(profile.time).toISOString().slice(0, 19)}Z`,
    `${type.name} ${amount(total.after)}` + (profile.duration < 1e6 ? ''
      : ` in ${show(profile.duration, 'nanoseconds')}`),
    base && since(total), base && !base.types.some(({ name }) =>
      name === type.name) && 'which the baseline lacks',
    `${count(m.after.length)} stacks`, doubt(total),
    profile.comments.find((text) => /^workers \d/.test(text)),
  ));
}

/* The owners that are in the graph and have nothing themselves. */
function mereCallers() {
  const isThere = [];
  for (const { frame } of page.scene ? page.scene.trees : []) {
    for (const one of frame) isThere[one] = true;
  }
  const there = new Set(frames.owners.filter((_, i) => isThere[i]));
  for (const { owner } of page.owners) there.delete(owner);
  return [...OWNERS.keys()].filter((owner) => there.has(owner));
}

/* The steps of a difference, of which a step of more is told its end. */
function shades() {
  const { scene } = page, steps = [...Array(STEPS).keys()];
  const most = (i) => amount(scene.scale * ((i + 1) / STEPS) ** 2);
  return [[MORE + 3, 'more'], ...scene ? steps.map((i) =>
    [MORE + i, i < STEPS - 1 ? `below ${most(i)}` : 'above']) : [],
  [LESS + 3, 'less, same scale'], [SAME, 'unchanged'],
  [NOISE, 'noise: below two standard errors']];
}

function showLegend() {
  const { m, owners, base } = page;
  const items = m.isDifference ? shades()
    : [...owners.slice(0, 14).map(({ owner, cum }) => [ownerColour(owner, 0),
      `${ownerName(owner)} ${amount(cum.after)}`]),
    ...mereCallers().map((owner) => [ownerColour(owner, 0), owner])];
  const nodes = items.map((item) => swatch(...item));
  if (base) nodes.push('outlined: new, hatched: gone');
  $('legend').replaceChildren(...nodes.map((node) => make('li', {}, node)));
}

const CHIPS = { p: 'both of', f: 'focus', x: 'ignore', h: 'hide',
  r: 'show from', c: 'all frames', z: 'zoom' };

function showChips() {
  const set = Object.keys(CHIPS).filter((key) => state[key] !== DEFAULTS[key]
    && (key !== 'p' || state.v === 'both'));
  replace($('chips'), [...set.map((key) => make('button', {
    onclick: () => change({ [key]: DEFAULTS[key] }),
  }, `${CHIPS[key]} ${/[cz]/.test(key) ? '' : state[key].slice(0, 80)} `
    + '\u00d7')),
  state.v === 'both' && !isBoth() ? 'Choose a function: b on a frame, a double '
    + 'click, or a row of the table.' : '']);
}
