/*
 * What people do: controls, mouse, keys.
 */

/* The controls that are a letter of the state. */
const CONTROLS = ['t', 'g', 'd', 's', 'i', 'e', 'o', 'k'];

function chooseLabels() {
  const boxes = [...$('labels').querySelectorAll(':checked')];
  change({ l: String(new URLSearchParams(boxes.map(({ name, value }) =>
    [name, value]))) });
}

/* A frame that stands for several shows them. */
function zoom(at) {
  page.at = at;
  if (folds.has(at.tree.frame[at.node])) return void change({ c: '1' });
  change({ z: at.node === 0 ? '' : at.tree.hash(at.node).toString(16) });
}

/* The keyboard goes to NODE, and says what it is. */
function goTo(tree, node) {
  const { view, scene } = page, graph = $('graph'), { x, width } = tree;
  page.at = { tree, node };
  tree.reach(node);
  if (x[node] < view.from || x[node] + width[node] > view.to) {
    zoomTo(tree, node);
  }
  const y = yOf(scene, tree, tree.depth[node]);
  graph.scrollTop = Math.max(y + ROW - view.height,
    Math.min(y, graph.scrollTop));
  draw();
  write('status', describe(tree, node));
}

function move(key) {
  const { tree, node } = page.at, parent = tree.parent[node];
  const child = (one, from) => one.open(from)[0] || from;
  const siblings = node === 0 ? [0] : tree.open(parent);
  const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
  if (step) goTo(tree, siblings[siblings.indexOf(node) + step] ?? node);
  else if ((key === 'ArrowDown') !== tree.isUp) goTo(tree, child(tree, node));
  else if (node > 0) goTo(tree, parent);
  else {
    const other = page.scene.trees.find((one) => one !== tree);
    if (other) goTo(other, child(other, 0));
  }
}

/* Matches come from left to right. */
function nextMatch(step) {
  const { matches, at, scene } = page, n = matches.length;
  if (n === 0) return;
  const [tree] = scene.trees, { x } = tree;
  matches.forEach((node) => tree.reach(node));
  matches.sort((p, q) => x[p] - x[q] || p - q);
  const i = matches.indexOf(at.node);
  goTo(tree, matches[i < 0 ? 0 : (i + step + n) % n]);
}

const nameOf = ({ tree, node }) => tree.name(node);
const exactly = (at) =>
  `^${nameOf(at).replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}$`;

function stackOf({ tree, node }) {
  const names = [];
  for (let i = node; i > 0; i = tree.parent[i]) names.push(tree.name(i));
  return names.join('\n');
}

/* Filters by a name; OR: besides what is there. */
const filter = (key, or) => (at) => change({ z: '',
  [key]: or && state[key] ? `${state[key]}|${exactly(at)}` : exactly(at) });
const copy = (say) => (at) => navigator.clipboard.writeText(say(at));

const MENU = {
  'Zoom here': zoom,
  'Both: callers and callees': (at) => change({ v: 'both', p: nameOf(at),
    z: '' }),
  'Focus on it': filter('f'),
  'Ignore stacks with it': filter('x', true),
  'Hide it': filter('h', true),
  'Show from here': filter('r'),
  'Copy its name': copy(nameOf),
  'Copy its stack': copy(stackOf),
};

function openMenu(at, x, y) {
  const menu = $('menu');
  page.at = at;
  menu.replaceChildren(...Object.entries(MENU).map(([text, act]) =>
    make('button', { role: 'menuitem', onclick: () => {
      closeMenu();
      act(at);
    } }, text)));
  menu.hidden = false;
  menu.style.left = `${Math.min(x, innerWidth - menu.offsetWidth - 8)}px`;
  menu.style.top = `${Math.min(y, innerHeight - menu.offsetHeight - 8)}px`;
  menu.firstChild.focus();
}

function closeMenu() {
  if ($('menu').hidden) return;
  $('menu').hidden = true;
  $('graph').focus();
}

/* Closes the menus of controls, but for that of TARGET. */
function closeChoices(target) {
  for (const one of document.querySelectorAll('.choice[open]')) {
    if (target && one.contains(target)) continue;
    if (one.contains(document.activeElement)) one.firstElementChild.focus();
    one.open = false;
  }
}

const KEYS = {
  '/': () => $('s').focus(),
  '0': () => change({ ...DEFAULTS, v: state.v, t: state.t }),
  '?': () => $('keys').showModal(),
  i: () => $('i').click(),
  k: () => $('k').click(),
  n: () => nextMatch(1),
  N: () => nextMatch(-1),
  r: refresh,
};

const GRAPH_KEYS = {
  Enter: () => zoom(page.at),
  Escape: () => change({ z: '' }),
  b: () => MENU['Both: callers and callees'](page.at),
  m: () => {
    const box = $('mark').getBoundingClientRect();
    openMenu(page.at, box.left, box.bottom);
  },
};

function onKey(event) {
  const { key, target } = event, isCommand = event.ctrlKey || event.metaKey;
  const isGraph = page.scene && target === $('graph');
  if ($('keys').open) return;
  if (!$('menu').hidden) return void menuKey(event);
  if (key === 'Escape') closeChoices();
  if (isCommand && key === 'f') $('s').focus();
  else if (isCommand || event.altKey
    || /INPUT|SELECT/.test(target.tagName)) return;
  else if (isGraph && /^Arrow/.test(key)) move(key);
  else if (isGraph && GRAPH_KEYS[key]) GRAPH_KEYS[key]();
  else if (/^[1-5]$/.test(key)) change({ v: VIEWS[key - 1], z: '' });
  else if (KEYS[key]) KEYS[key]();
  else return;
  event.preventDefault();
}

function menuKey(event) {
  const items = [...$('menu').children];
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (event.key === 'Escape' || event.key === 'Tab') closeMenu();
  if (!step) return;
  items.at((items.indexOf(document.activeElement) + step) % items.length)
    .focus();
  event.preventDefault();
}

/* Where EVENT is in the graph, and what frame is there. */
function pointed({ clientX, clientY }) {
  const box = $('graph').getBoundingClientRect(), x = clientX - box.left;
  return { x, at: boxAt(page.boxes, x, clientY - box.top) };
}

function zoomAt(event) {
  if (!(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  const { view, scene } = page;
  if (!scene) return;
  const [all] = scene.trees[0].width;
  const share = pointed(event).x / view.width, now = view.to - view.from;
  const span = Math.min(all, now * Math.exp(event.deltaY / 300));
  moveWindow(view.from + share * (now - span), Math.max(span, all / 1e7));
}

function moveWindow(from, span) {
  const { view } = page, [all] = page.scene.trees[0].width;
  view.from = Math.max(0, Math.min(from, all - span));
  view.to = view.from + span;
  view.span = [view.from / all, view.to / all];
  redraw();
}

/* What the frame AT is, at the pointer; it is said below, too. */
function tell(at, { clientX, clientY }) {
  const tip = $('tip');
  tip.hidden = !at;
  if (!at) return;
  const said = describe(at.tree, at.node);
  write('status', said);
  write('tip', listed(said, frames.modules[at.tree.frame[at.node]])
    .replace(/, /g, '\n'));
  const over = clientY + tip.offsetHeight + 24 > innerHeight;
  tip.style.left =
    `${Math.min(clientX + 12, innerWidth - tip.offsetWidth - 8)}px`;
  tip.style.top =
    `${over ? clientY - tip.offsetHeight - 8 : clientY + 16}px`;
}

let drag = null;

const POINTER = {
  onpointerdown: (event) => {
    $('tip').hidden = true;
    drag = event.button === 0 && page.scene
      ? { x: event.clientX, from: page.view.from, isMoved: false } : null;
  },
  onpointercancel: () => { drag = null; },
  onpointermove: (event) => {
    const { view } = page, span = view.to - view.from;
    if (drag && event.buttons === 1) {
      const by = event.clientX - drag.x;
      drag.isMoved ||= Math.abs(by) > 4;
      if (drag.isMoved) moveWindow(drag.from - by / view.width * span, span);
      return;
    }
    tell(pointed(event).at, event);
  },
  onpointerleave: () => { $('tip').hidden = true; },
  onclick: clicked,
  onwheel: zoomAt,
  onscroll: redraw,
  oncontextmenu: (event) => {
    const { at } = pointed(event);
    if (!at) return;
    event.preventDefault();
    openMenu(at, event.clientX, event.clientY);
  },
};

/* The first click of two has zoomed already: its frame is what counts. */
function clicked(event) {
  const { at } = pointed(event);
  if (!at || drag?.isMoved) return;
  if (event.detail > 1) {
    change({ v: 'both', p: page.clicked, z: '' });
  } else {
    page.clicked = nameOf(at);
    zoom(at);
  }
}

const DARK = '(prefers-color-scheme: dark)', FORCED = '(forced-colors: active)';
const PAPER = 'print';

/* Sets the theme of the control, or that of the system; paper is light. */
function setTheme() {
  const is = (query) => matchMedia(query).matches;
  const theme = is(PAPER) ? 'light' : $('theme').value;
  document.documentElement.style.colorScheme = theme || 'light dark';
  page.palette = makePalette(theme ? theme === 'dark' : is(DARK), is(FORCED));
  if (page.rows) grow();
}

/* Storage may be forbidden, as to a page from a file. */
function remembered(theme) {
  try {
    if (theme !== undefined) localStorage.theme = theme;
    return localStorage.theme || '';
  } catch {
    return '';
  }
}

function onControl({ target }) {
  const { id, type } = target;
  const value = type === 'checkbox' ? `${+target.checked}` : target.value;
  if (id === 's') {
    setState({ s: value }, 'replaceState');
    find();
  } else change({ [id]: value, ...id === 'g' && { z: '' } });
}

/* What events of a control do, by its id; its type is that of the event. */
const CLICKS = {
  open: () => $('file').click(),
  keep: () => setProfiles(page.profile, page.profile),
  opened: () => setProfiles(page.profile, page.first),
  drop: () => setProfiles(page.profile, null),
  help: () => $('keys').showModal(),
  close: () => $('keys').close(),
};
const CHANGES = {
  file: (target) => openFiles(target.files).then(() => { target.value = ''; }),
  live: () => setLive(0),
  save: (target) => {
    save(target.value);
    target.value = '';
  },
  shot: (target) => compareWith(target.value),
  theme: (target) => {
    remembered(target.value);
    setTheme();
  },
};

function listenToControls() {
  $('views').append(...VIEWS.map((value) => make('button', { value,
    onclick: () => change({ v: value, z: '' }) }, value)));
  for (const key of CONTROLS) $(key).oninput = onControl;
  for (const [id, act] of Object.entries(CLICKS)) {
    $(id).onclick = () => {
      closeChoices();
      act();
    };
  }
  for (const [id, act] of Object.entries(CHANGES)) {
    $(id).onchange = () => act($(id));
  }
}

const WINDOW = {
  onkeydown: onKey,
  onpointerdown: ({ target }) => {
    if (!$('menu').contains(target)) closeMenu();
    closeChoices(target);
  },
  ondragover: (event) => event.preventDefault(),
  ondrop: (event) => {
    event.preventDefault();
    openFiles(event.dataTransfer.files);
  },
  onpopstate: () => {
    readState();
    if (page.rows) grow();
  },
};

function listenToEvents() {
  Object.assign(window, WINDOW);
  Object.assign($('graph'), POINTER);
  $('others').ontoggle = ({ target }) => {
    if (target.open) listSnapshots().catch(complain);
  };
  new ResizeObserver(redraw).observe($('graph'));
  for (const query of [DARK, FORCED, PAPER]) {
    matchMedia(query).onchange = setTheme;
  }
}

/* The profile of an element, which leaves the page. */
function profileOf(element) {
  element?.remove();
  return element?.textContent;
}

async function main() {
  const begun = performance.now();
  try {
    const [profile, base] = ['profile', 'base'].map((id) => profileOf($(id)));
    source = document.documentElement.outerHTML;
    page.title = document.title || 'Profile';
    setTitle(page.title);
    $('theme').value = remembered();
    setTheme();
    listenToControls();
    listenToEvents();
    readState();
    $('live').disabled = !/^http/.test(location.href)
      || /[?&]seconds=/.test(location.search);
    const read = (text) => readProfile(fromBase64(text));
    page.first = await read(profile);
    setProfiles(page.first, base ? await read(base) : null);
    page.took = performance.now() - begun;
  } catch (error) {
    complain(error);
  }
}

main();
