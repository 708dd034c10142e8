/*
 * Where profiles come from and go to: files, live refresh, saving.
 */

/* Refreshing; totals: the last sixty, by type. */
const live = { timer: 0, failures: 0, totals: [], isBusy: false };

/* Longer times a timer takes for none. */
const MAX_WAIT = 3600;

/* The page as it came, but for its profiles: savedPage() puts some in. */
let source = '';

const PROFILE = (id, data) => '<script type="application/octet-stream" '
  + `id="${id}">${data}`;

/* The profiles in BYTES: of a page, "<!", there may be two, the base first. */
async function profilesIn(bytes) {
  if (bytes[0] !== 0x3c || bytes[1] !== 0x21) return [await readProfile(bytes)];
  const html = UTF8.decode(bytes);
  const blocks = ['base', 'profile'].map((id) =>
    html.split(PROFILE(id, ''))[1]).filter(Boolean);
  if (blocks.length === 0) throw damaged();
  return Promise.all(blocks.map((block) =>
    readProfile(fromBase64(block.split('<', 1)[0]))));
}

function setTitle(title) {
  document.title = title;
  write('title', title);
}

/* What is asked for last is shown, whatever comes last. */
async function openFiles(files) {
  const turn = ++page.turn, all = [];
  try {
    for (const file of files) {
      all.push(...await profilesIn(new Uint8Array(await file.arrayBuffer())));
    }
    if (turn !== page.turn || all.length === 0) return;
    if (all.length > 2) throw new Complaint('Open one profile, or two.');
    if (all.length > 1 && all[0].time > all[1].time) all.reverse();
    $('live').value = '0';
    setTitle([...files].map((file) => file.name).join(', '));
    setProfiles(all.pop(), all[0] || null);
  } catch (error) {
    complain(error);
  }
}

/* The profile anew; for how many seconds the server does not want the next. */
async function refresh() {
  if (live.isBusy || document.hidden) return 0;
  const { turn } = page, url = new URL(location.href);
  Object.assign(url, { hash: '', username: '', password: '' });
  url.searchParams.set('format', 'pprof');
  url.searchParams.delete('base');
  if (page.keys.includes('server')) url.searchParams.set('owners', '1');
  live.isBusy = true;
  let wait = 0;
  try {
    const answer = await fetch(url, { cache: 'no-store' });
    if (!answer.ok) throw await refusal(answer);
    const bytes = new Uint8Array(await answer.arrayBuffer());
    const profile = await readProfile(bytes);
    if (turn === page.turn) {
      setTitle(page.title);
      addTotals(profile);
      setProfiles(profile, page.base);
      live.failures = 0;
    }
  } catch (error) {
    wait = failed(error);
  }
  live.isBusy = false;
  return wait;
}

/*
 * Snapshots to compare with, for who looks: a page from a file, or of a time,
 * has none.
 */
async function listSnapshots() {
  const { href, pathname, search } = location;
  if (!/^http/.test(href) || !/\/(heap|allocs|pools)$/.test(pathname)
    || /[?&]seconds=/.test(search)) return;
  const url = new URL('snapshots?format=json&top=64', href);
  Object.assign(url, { username: '', password: '' });
  const answer = await fetch(url, { cache: 'no-store' });
  if (!answer.ok) return;
  const { snapshots } = await answer.json();
  $('shot').length = 1;
  $('shot').append(...snapshots.map(({ id, time, reason, held }) =>
    make('option', { value: id },
      `${time}, ${reason}, ${show(held, 'bytes')}`)));
  $('kept').hidden = !snapshots.length;
}

/* The server compares: this page, with a base. */
function compareWith(id) {
  const url = new URL(location.href);
  url.searchParams.set('base', id);
  location.assign(url);
}

/* 429 is no failure: the server says when to come back. */
async function refusal(answer) {
  const { status, headers } = answer;
  const said = /^text\/plain/.test(headers.get('Content-Type'))
    && (await answer.text()).trim().slice(0, 400);
  const error = new Complaint(said || `The server answered ${status}.`);
  error.wait = status === 429 ? Number(headers.get('Retry-After')) || 5 : 0;
  return error;
}

/* Three failures end it. */
function failed(error) {
  complain(error instanceof Complaint ? error
    : new Complaint(`The server did not answer: ${error.message}.`));
  if (!error.wait && ++live.failures >= 3) $('live').value = '0';
  return error.wait || 0;
}

/* Refreshes as often as the control says, at first after WAIT seconds. */
function setLive(wait) {
  const seconds = $('live').value;
  clearTimeout(live.timer);
  if (seconds === '0') return;
  live.timer = setTimeout(() => refresh().then(setLive),
    1000 * Math.min(Math.max(wait, seconds), MAX_WAIT));
}

function addTotals({ types, values }) {
  const totals = {};
  values.forEach((value, i) => {
    const { name } = types[i % types.length];
    totals[name] = (totals[name] || 0) + value;
  });
  live.totals = [...live.totals, totals].slice(-60);
}

/* A line of the totals so far. */
function showLine() {
  const all = live.totals.map((totals) => totals[typeNow().name] || 0);
  const most = Math.max(...all, 1);
  $('line').setAttribute('points', all.map((value, i) =>
    [i * 2, 19 - 18 * value / most]));
}

function download(name, type, ...parts) {
  const href = URL.createObjectURL(new Blob(parts, { type }));
  make('a', { download: name, href }).click();
  setTimeout(() => URL.revokeObjectURL(href), 10000);
}

/* The page with the profiles that it shows now. */
function savedPage() {
  const block = (id, profile) => (profile
    ? `${PROFILE(id, toBase64(profile.bytes))}</` + 'script>\n' : '');
  const html = source.replace(/<title>[^<]*/, () =>
    `<title>${escapeXml(document.title)}`).replace('<script>', (tag) =>
    block('profile', page.profile) + block('base', page.base) + tag);
  return `<!DOCTYPE html>\n${html}`;
}

function pictureOf() {
  const view = { ...page.view, top: 0, height: page.scene.height * ROW,
    ground: getComputedStyle(document.body).backgroundColor,
    heading: $('sum').textContent };
  return toSvg(page.scene, layOut(page.scene, view), page.palette, view,
    describe);
}

const SAVES = {
  'pb.gz': ['application/octet-stream', () => page.profile.bytes],
  html: ['text/html', savedPage],
  svg: ['image/svg+xml', () => page.scene && pictureOf()],
};

function save(kind) {
  if (!page.profile) return;
  const time = new Date(page.profile.time || Date.now()).toISOString();
  const [type, data] = SAVES[kind], bytes = data();
  const as = kind === 'pb.gz' && page.profile.isText ? 'txt' : kind;
  const name = `profile-${time.slice(0, 19).replace(/:/g, '')}.${as}`;
  if (bytes) download(name, type, bytes);
}
