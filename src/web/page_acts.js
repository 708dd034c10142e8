/*
 * What people do: controls, mouse, keys, files, live refresh, saving.
 */

const live = { timer: 0, failures: 0, totals: [], isBusy: false };

/* The page as it came, around its profile, to be saved again. */
const SOURCE = document.documentElement.outerHTML;

function blockOf(html, id) {
  const tag = `<script type="application/octet-stream" id="${id}">`;
  const from = html.indexOf(tag);
  if (from < 0) return null;
  return html.slice(from + tag.length, html.indexOf('</', from));
}

/* The profiles in BYTES: of a page there may be two, the base first. */
async function profilesIn(bytes) {
  const start = new TextDecoder().decode(bytes.subarray(0, 64));
  if (!/^\s*<!doctype html/i.test(start)) return [await readProfile(bytes)];
  const html = new TextDecoder().decode(bytes);
  const blocks = [blockOf(html, 'base'), blockOf(html, 'profile')];
  const all = blocks.filter((block) => block !== null)
    .map((block) => readProfile(fromBase64(block)));
  if (all.length === 0) throw damaged();
  return Promise.all(all);
}

async function openFiles(files) {
  try {
    const all = [];
    for (const file of [...files].slice(0, 2)) {
      all.push(...await profilesIn(new Uint8Array(await file.arrayBuffer())));
    }
    if (all.length > 1 && all[0].time > all[1].time) all.reverse();
    setProfiles(all[all.length - 1], all.length > 1 ? all[0] : null);
  } catch (error) {
    complain(error);
  }
}

async function refresh() {
  if (live.isBusy || document.hidden) return;
  live.isBusy = true;
  const url = new URL(location.href);
  url.hash = '';
  url.searchParams.set('format', 'pprof');
  try {
    const answer = await fetch(url, { cache: 'no-store' });
    if (!answer.ok) throw await refusal(answer);
    const bytes = new Uint8Array(await answer.arrayBuffer());
    setProfiles(await readProfile(bytes), page.base);
    live.failures = 0;
    addTotal();
  } catch (error) {
    stopAfterFailures(error);
  }
  live.isBusy = false;
}

/* 429 is no failure: the server says when to come back. */
async function refusal(answer) {
  const error = new Complaint((await answer.text()).trim().slice(0, 400)
    || `The server answered ${answer.status}.`);
  error.wait = answer.status === 429
    ? Number(answer.headers.get('Retry-After')) || 5 : 0;
  return error;
}

function stopAfterFailures(error) {
  complain(error instanceof Complaint ? error
    : new Complaint(`The server did not answer: ${error.message}.`));
  if (error.wait) {
    setLive($('live').value, error.wait);
  } else if (++live.failures >= 3) {
    $('live').value = '0';
    setLive('0');
  }
}

function setLive(seconds, wait) {
  clearTimeout(live.timer);
  if (seconds === '0') return;
  live.timer = setTimeout(async () => {
    await refresh();
    if ($('live').value !== '0') setLive($('live').value);
  }, 1000 * Math.max(wait || 0, seconds));
}

/* A line of the totals so far. */
function addTotal() {
  const { after } = page.m;
  live.totals.push(after.reduce((sum, value) => sum + value, 0));
  const all = live.totals.slice(-60), most = Math.max(...all, 1);
  const points = all.map((value, i) => `${i * 2},${19 - 18 * value / most}`);
  const line = document.createElementNS('http://www.w3.org/2000/svg',
    'polyline');
  line.setAttribute('points', points.join(' '));
  $('line').replaceChildren(line);
}

function download(name, type, ...parts) {
  const link = make('a', { download: name,
    href: URL.createObjectURL(new Blob(parts, { type })) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

/* Each block of the page gets the profile that is shown now. */
function savedPage() {
  const block = (id, profile) => (profile
    ? `<script type="application/octet-stream" id="${id}">`
      + `${toBase64(profile.bytes)}</` + 'script>\n' : '');
  return `<!DOCTYPE html>\n${SOURCE.slice(0, SOURCE.indexOf('<script '))}`
    + block('profile', page.now) + block('base', page.base)
    + SOURCE.slice(SOURCE.indexOf('<script>'));
}

const SAVES = {
  pb: (name) => download(`${name}.pb.gz`, 'application/octet-stream',
    page.now.bytes),
  html: (name) => download(`${name}.html`, 'text/html', savedPage()),
  svg: (name) => page.scene && download(`${name}.svg`, 'image/svg+xml',
    pictureOf()),
};

function pictureOf() {
  const height = page.scene.height * ROW;
  const view = { ...page.view, top: 0, height,
    ground: getComputedStyle(document.body).backgroundColor,
    heading: $('sum').textContent };
  return toSvg(page.scene, layOut(page.scene, view), page.palette, view,
    describe);
}

function save(kind) {
  const time = new Date(page.now.time || Date.now()).toISOString();
  if (SAVES[kind]) SAVES[kind](`profile-${time.slice(0, 19)}`
    .replace(/[-:]/g, (c) => (c === ':' ? '' : c)));
}

function chooseLabels() {
  const chosen = new Map();
  for (const box of $('labels').querySelectorAll('input:checked')) {
    const value = encodeURIComponent(box.value);
    chosen.set(box.name, [...(chosen.get(box.name) || []), value]);
  }
  change({ l: [...chosen].map(([k, all]) => `${k}=${all}`).join(';') });
}

function zoom(at) {
  const { tree } = at.part, isRoot = at.node === 0;
  change({ z: isRoot ? '' : tree.hash[at.node].toString(16) });
}

/* The keyboard goes to NODE, and says what it is. */
function goTo(part, node) {
  page.at = { part, node };
  const { tree } = part, { view, scene } = page;
  if (tree.x[node] < view.from
      || tree.x[node] + tree.width[node] > view.to) zoomTo(tree, node);
  const y = yOf(scene, part, tree.depth[node]), graph = $('graph');
  if (y < graph.scrollTop) graph.scrollTop = y;
  if (y + ROW > graph.scrollTop + view.height) {
    graph.scrollTop = y + ROW - view.height;
  }
  draw();
  $('status').textContent = describe(tree, node);
}

function sibling(tree, node, step) {
  const up = tree.parent[node];
  if (up < 0) return node;
  const k = tree.order.indexOf(node, tree.first[up]) + step;
  return k >= tree.first[up] && k < tree.first[up + 1] ? tree.order[k] : node;
}

function move(key) {
  const { part, node } = page.at, { tree } = part;
  const isDown = (key === 'ArrowDown') !== part.isUp;
  if (key === 'ArrowLeft') goTo(part, sibling(tree, node, -1));
  else if (key === 'ArrowRight') goTo(part, sibling(tree, node, 1));
  else if (isDown && tree.first[node] < tree.first[node + 1]) {
    goTo(part, tree.order[tree.first[node]]);
  } else if (!isDown && node > 0) goTo(part, tree.parent[node]);
  else if (!isDown && page.scene.parts.length > 1) {
    const other = page.scene.parts.find((one) => one !== part);
    goTo(other, other.tree.first[1] > 0 ? other.tree.order[0] : 0);
  }
}

function nextMatch(step) {
  const { matches, at, scene } = page, n = matches ? matches.length : 0;
  if (n === 0 || !scene) return;
  const i = matches.indexOf(at.node);
  goTo(scene.parts[0], matches[i < 0 ? 0 : (i + step + n) % n]);
}

const nameOf = (at) => frames.names[at.part.tree.frame[at.node]];
const exactly = (at) =>
  `^${nameOf(at).replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}$`;

function stackOf({ part: { tree }, node }) {
  const names = [];
  for (let i = node; i > 0; i = tree.parent[i]) {
    names.push(frames.names[tree.frame[i]]);
  }
  return names.join('\n');
}

const either = (a, b) => (a === '' ? b : `${a}|${b}`);

const MENU = {
  'Zoom here': zoom,
  'Both: callers and callees': (at) => change({ v: 'both', p: nameOf(at),
    z: '' }),
  'Focus on it': (at) => change({ f: exactly(at), z: '' }),
  'Ignore stacks with it': (at) => change({ x: either(state.x, exactly(at)),
    z: '' }),
  'Hide it': (at) => change({ h: either(state.h, exactly(at)), z: '' }),
  'Show from here': (at) => change({ r: exactly(at), z: '' }),
  'Copy its name': (at) => navigator.clipboard.writeText(nameOf(at)),
  'Copy its stack': (at) => navigator.clipboard.writeText(stackOf(at)),
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

const flip = (key, isOn) => change({ [key]: isOn ? '1' : '' });

const KEYS = {
  '/': () => $('s').focus(),
  '0': () => change({ ...DEFAULTS, v: state.v, t: state.t }),
  '?': () => $('keys').showModal(),
  i: () => flip('i', state.i === ''),
  k: () => change({ k: isSkipping() ? '0' : '1' }),
  n: () => nextMatch(1),
  N: () => nextMatch(-1),
  r: () => refresh(),
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
  const { key, target } = event;
  const isFind = key === 'f' && (event.ctrlKey || event.metaKey);
  if (isFind) $('s').focus();
  if ((event.ctrlKey || event.metaKey || event.altKey) && !isFind) return;
  if (!isFind && /INPUT|SELECT/.test(target.tagName)) return;
  if (!$('menu').hidden) return void menuKey(event);
  const isGraph = target === $('graph');
  if (isGraph && key.startsWith('Arrow')) move(key);
  else if (isGraph && GRAPH_KEYS[key]) GRAPH_KEYS[key]();
  else if (/^[1-5]$/.test(key)) change({ v: VIEWS[key - 1], z: '' });
  else if (KEYS[key]) KEYS[key]();
  else if (!isFind) return;
  event.preventDefault();
}

function menuKey(event) {
  const items = [...$('menu').children];
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (event.key === 'Escape' || event.key === 'Tab') closeMenu();
  if (!step) return;
  const i = items.indexOf(document.activeElement) + step;
  items[(i + items.length) % items.length].focus();
  event.preventDefault();
}

function pointed(event) {
  const box = $('graph').getBoundingClientRect();
  return page.scene && nodeAt(page.scene, page.view, event.clientX - box.left,
    event.clientY - box.top);
}

function zoomAt(event) {
  if (!(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  const { view, scene } = page, { width } = scene.parts[0].tree;
  const share = (event.clientX - $('graph').getBoundingClientRect().left)
    / view.width;
  const value = view.from + share * (view.to - view.from);
  const span = Math.min(width[0], (view.to - view.from)
    * Math.exp(event.deltaY / 300));
  moveWindow(value - share * span, Math.max(span, width[0] / 1e7));
}

function moveWindow(from, span) {
  const most = page.scene.parts[0].tree.width[0];
  page.view.from = Math.max(0, Math.min(from, most - span));
  page.view.to = page.view.from + span;
  requestAnimationFrame(draw);
}

let drag = null;

function onPointer(event) {
  const { view } = page, span = view.to - view.from;
  if (event.type === 'pointerdown' && event.button === 0) {
    drag = { x: event.clientX, from: view.from, isMoved: false };
  } else if (event.type === 'pointerup') {
    if (drag && !drag.isMoved) clicked(event);
    drag = null;
  } else if (drag && event.buttons === 1) {
    const by = event.clientX - drag.x;
    drag.isMoved = drag.isMoved || Math.abs(by) > 4;
    if (drag.isMoved) moveWindow(drag.from - by / view.width * span, span);
  } else {
    const at = pointed(event);
    if (at) $('status').textContent = describe(at.part.tree, at.node);
  }
}

/* The first click of two has zoomed already: its frame is what counts. */
function clicked(event) {
  const at = pointed(event), { name, time } = page.clicked;
  if (!at || event.button !== 0) return;
  page.clicked = { name: nameOf(at), time: event.timeStamp };
  if (event.timeStamp - time < 300) change({ v: 'both', p: name, z: '' });
  else zoom(at);
}

function listen(id, type, act) {
  $(id).addEventListener(type, act);
}

function setTheme(theme) {
  const root = document.documentElement;
  if (theme) root.dataset.theme = theme;
  else delete root.dataset.theme;
  const isDark = theme ? theme === 'dark'
    : matchMedia('(prefers-color-scheme: dark)').matches;
  page.palette = makePalette(isDark,
    matchMedia('(forced-colors: active)').matches);
  if (page.rows) grow();
}

/* Storage may be forbidden, as to a page from a file. */
function remembered(theme) {
  try {
    if (theme !== undefined) localStorage.setItem('theme', theme);
    return localStorage.getItem('theme') || '';
  } catch {
    return theme || '';
  }
}

function listenToControls() {
  $('views').append(...VIEWS.map((value, i) => make('button', { value,
    title: `key ${i + 1}`, onclick: () => change({ v: value, z: '' }),
  }, value[0].toUpperCase() + value.slice(1))));
  for (const key of ['t', 'g', 'd']) {
    listen(key, 'change', () => change({ [key]: $(key).value, z: '' }));
  }
  for (const key of ['i', 'e', 'o']) {
    listen(key, 'change', () => flip(key, $(key).checked));
  }
  listen('k', 'change', () => change({ k: $('k').checked ? '1' : '0' }));
  listen('s', 'input', () => change({ s: $('s').value }));
  listen('open', 'click', () => $('file').click());
  listen('file', 'change', () => openFiles($('file').files)
    .then(() => { $('file').value = ''; }));
  listen('keep', 'click', () => setProfiles(page.now, page.now));
  listen('drop', 'click', () => setProfiles(page.now, null));
  listen('live', 'change', () => setLive($('live').value));
  listen('save', 'change', () => {
    save($('save').value);
    $('save').value = '';
  });
  listen('theme', 'change', () => setTheme(remembered($('theme').value)));
  listen('help', 'click', () => $('keys').showModal());
  listen('close', 'click', () => $('keys').close());
}

function listenToGraph() {
  for (const type of ['pointerdown', 'pointermove', 'pointerup']) {
    listen('graph', type, onPointer);
  }
  listen('graph', 'scroll', () => requestAnimationFrame(draw));
  listen('graph', 'wheel', zoomAt);
  listen('graph', 'contextmenu', (event) => {
    const at = pointed(event);
    if (!at) return;
    event.preventDefault();
    openMenu(at, event.clientX, event.clientY);
  });
  addEventListener('keydown', onKey);
  addEventListener('pointerdown', (event) => {
    if (!$('menu').contains(event.target)) closeMenu();
  });
  addEventListener('dragover', (event) => event.preventDefault());
  addEventListener('drop', (event) => {
    event.preventDefault();
    openFiles(event.dataTransfer.files);
  });
  addEventListener('popstate', () => {
    readState();
    if (page.rows) grow();
  });
  new ResizeObserver(() => requestAnimationFrame(draw)).observe($('graph'));
  for (const query of ['(prefers-color-scheme: dark)',
    '(forced-colors: active)']) {
    matchMedia(query).addEventListener('change',
      () => setTheme($('theme').value));
  }
}

async function main() {
  try {
    $('title').textContent = document.title.trim() || 'Profile';
    $('theme').value = remembered();
    setTheme($('theme').value);
    listenToControls();
    listenToGraph();
    readState();
    const canFetch = location.protocol.startsWith('http')
      && !/[?&]seconds=/.test(location.search);
    $('live').disabled = !canFetch;
    const base = $('base'), begun = performance.now();
    const read = (block) => readProfile(fromBase64(block.textContent));
    setProfiles(await read($('profile')), base ? await read(base) : null);
    page.timings.load = performance.now() - begun;
  } catch (error) {
    complain(error);
  }
}

main();
