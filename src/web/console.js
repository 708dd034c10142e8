/*
 * The page renews itself from the server that made it: one place says how
 * things look.  What it fetches is parsed without being run
 * (XMLHttpRequest's document), and only texts, attributes and elements that
 * differ are touched, so that focus, scroll and selection stay.
 */

'use strict';

const EVERY = 5000;

/* milliseconds without an answer, after which the page says so */
const STALE = 6000;

/* parts of the page that are renewed */
const LIVE = ['about', 'verdict', 'tiles', 'largest', 'time', 'findings',
  'workers', 'failures', 'forms'];

const $ = (id) => document.getElementById(id);
const here = new URL('.', location.href).href;
const state = { timer: 0, misses: 0, isPaused: false, seen: Date.now(),
  why: '', sorted: 0, share: 1 };

function utc(ms) {
  return `${new Date(ms).toISOString().slice(11, 19)} UTC`;
}

function make(name, properties, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

/* The page as it is now; ADDRESS is its own. */
function fetchPage(address) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('GET', address);
    request.setRequestHeader('Accept', 'text/html');
    request.responseType = 'document';
    request.timeout = 60000;
    request.onload = () => {
      if (request.status === 200 && request.response) resolve(request.response);
      else reject(new Error(`the server answers ${request.status}`));
    };
    request.onerror = () => reject(new Error('the server is not reached'));
    request.ontimeout = () => reject(new Error('the server does not answer'));
    request.send();
  });
}

/* Makes OLD what NEW is; what a person has opened stays open. */
function renew(old, fresh) {
  if (old.nodeType !== fresh.nodeType || old.nodeName !== fresh.nodeName) {
    old.replaceWith(document.importNode(fresh, true));
    return;
  }
  if (old.nodeType === Node.TEXT_NODE) {
    if (old.data !== fresh.data) old.data = fresh.data;
    return;
  }
  for (const { name } of [...old.attributes]) {
    if (!fresh.hasAttribute(name) && name !== 'open') old.removeAttribute(name);
  }
  for (const { name, value } of fresh.attributes) {
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  while (old.childNodes.length > fresh.childNodes.length) {
    old.lastChild.remove();
  }
  [...fresh.childNodes].forEach((child, i) => {
    if (i < old.childNodes.length) renew(old.childNodes[i], child);
    else old.append(document.importNode(child, true));
  });
}

function renewAll(page, ids) {
  sortRows(page);
  for (const id of ids) {
    const fresh = page.getElementById(id);
    if ($(id) && fresh) renew($(id), fresh);
  }
  addSorts();
}

/* What the server said last, and how old that is. */
function say() {
  const age = Math.floor((Date.now() - state.seen) / 1000);
  const isStale = !state.isPaused && !document.hidden
      && Date.now() - state.seen > STALE;
  document.body.classList.toggle('stale', isStale);
  $('live').firstChild.data = state.isPaused ? `paused, ${utc(state.seen)} `
    : isStale ? `no answer for ${age} s${state.why} `
      : `live, ${utc(state.seen)} `;
}

async function tick() {
  try {
    const page = await fetchPage(here);
    state.misses = 0;
    state.seen = Date.now();
    state.why = '';
    renewAll(page, LIVE);
  } catch (error) {
    state.misses++;
    state.why = `: ${error.message}`;
  }
  say();
}

/* Longer and longer while the server does not answer. */
function plan() {
  clearTimeout(state.timer);
  if (state.isPaused || document.hidden) return;
  state.timer = setTimeout(goOn, EVERY * 2 ** Math.min(state.misses, 4));
}

/* Now, and then again: what is looked at once more is not old. */
async function goOn() {
  clearTimeout(state.timer);
  if (!state.isPaused && !document.hidden) await tick();
  plan();
}

function startLive() {
  const button = make('button', { type: 'button', onclick: () => {
    state.isPaused = !state.isPaused;
    button.textContent = state.isPaused ? 'Go on' : 'Pause';
    say();
    goOn();
  } }, 'Pause');
  $('live').replaceChildren('live ', button);
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden) state.seen = Date.now();
    goOn();
  });
  setInterval(say, 1000);
  say();
  plan();
}

/* A form's answer is this page, with the outcome. */
async function act(event) {
  event.preventDefault();
  const form = event.target, button = form.querySelector('button');
  const outcome = $('outcome');
  button.disabled = true;
  try {
    const answer = await fetch(form.action, { method: 'POST',
      headers: { Accept: 'text/html' },
      body: new URLSearchParams(new FormData(form)) });
    if (!answer.ok) throw new Error(await answer.text());
    renewAll(await fetchPage(answer.url), [...LIVE, 'outcome']);
    const fold = form.closest('details');
    if (fold) fold.open = false;
  } catch (error) {
    outcome.className = 'bad';
    outcome.textContent = error.message;
  }
  button.disabled = false;
  outcome.scrollIntoView({ block: 'nearest' });
}

/* The number in a cell, of whatever unit. */
function amount(row) {
  const [, number, unit] = /^[^\d-]*(-?[\d.,]+)(?: (\w*))?/
      .exec(row.cells[Math.abs(state.sorted) - 1]?.textContent || '') || [];
  const power = { KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, us: 1e3, ms: 1e6,
    s: 1e9, min: 6e10, h: 36e11, d: 864e11 };
  return number ? number.replaceAll(',', '') * (power[unit] || 1) : -1;
}

/* The workers of PAGE by the column that was chosen: largest first, then not */
function sortRows(page) {
  const body = page.querySelector('.workers tbody');
  if (!state.sorted || !body) return;
  body.append(...[...body.rows].sort((a, b) =>
    Math.sign(state.sorted) * (amount(b) - amount(a))));
}

function addSorts() {
  document.querySelectorAll('.workers thead th').forEach((th, i) => {
    if (th.firstElementChild) return;
    th.replaceChildren(make('button', { type: 'button', onclick: () => {
      state.sorted = state.sorted === i + 1 ? -i - 1 : i + 1;
      sortRows(document);
    } }, th.textContent));
  });
}

/* The values of a path of steps, by its heights. */
function heights(path) {
  const found = [];
  for (const [, what, n] of path.getAttribute('d').matchAll(
      /([hV])(\d+)/g)) {
    if (what === 'V') found.level = 200 - n;
    else for (let i = 0; i < +n; i++) found.push(found.level || 0);
  }
  return found.map((level) => level / 200);
}

function bytes(n) {
  const unit = n < 1024 ? 0 : Math.min(Math.floor(Math.log2(n) / 10), 4);
  const name = ['B', 'KiB', 'MiB', 'GiB', 'TiB'][unit];
  return `${(n / 1024 ** unit).toFixed(unit ? 1 : 0)} ${name}`;
}

/* What was held SHARE of the way through the picture. */
function readOut(share) {
  const svg = document.querySelector('.span'), out = $('readout');
  const at = (css) => {
    const all = heights(svg.querySelector(css));
    return bytes(all[Math.min(Math.floor(share * all.length), all.length - 1)]
                 * out.dataset.top);
  };
  const old = Math.round((1 - share) * out.dataset.seconds);
  out.textContent = `${utc(state.seen - old * 1000)}, ${old} s before: about `
      + `${at('.a')} allocated, ${at('.t')} RSS`;
  const cursor = document.querySelector('.cursor')
      || make('div', { className: 'cursor' });
  svg.parentNode.append(cursor);
  const left = svg.getBoundingClientRect().left
      - svg.parentNode.getBoundingClientRect().left;
  cursor.style.left = `${left + share * svg.clientWidth}px`;
}

function startTime() {
  document.addEventListener('keydown', ({ key, target }) => {
    const step = { ArrowLeft: -0.01, ArrowRight: 0.01 }[key];
    if (!step || !target.matches('.span')) return;
    state.share = Math.min(Math.max(state.share + step, 0), 1);
    readOut(state.share);
  });
  document.addEventListener('pointermove', (event) => {
    const svg = event.target.closest && event.target.closest('.span');
    if (!svg) return;
    const box = svg.getBoundingClientRect();
    readOut(Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1));
  });
}

/* An answer that takes SECONDS: the browser stays here until it comes. */
function startWaiting() {
  document.addEventListener('click', (event) => {
    const link = event.target.closest && event.target.closest('a[href]');
    const [, seconds] = /[?&]seconds=(\d+)/.exec(link?.href || '') || [];
    if (!seconds || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const bar = make('progress', { max: +seconds });
    const box = make('dialog', { id: 'busy', onclose: () => {
      window.stop();
      clearInterval(timer);
      box.remove();
    } }, make('p', {}, `Watching for ${seconds} s: ${link.textContent}. The `
      + 'answer opens here.'), bar, make('button', { type: 'button',
      onclick: () => box.close() }, 'Cancel'));
    bar.setAttribute('aria-label', 'time');
    const begun = Date.now();
    const timer = setInterval(() => {
      bar.value = (Date.now() - begun) / 1000;
    }, 200);
    document.body.append(box);
    box.showModal();
  });
  addEventListener('pageshow', () => { if ($('busy')) $('busy').close(); });
}

/* What costs a walk and a profile, once it is looked at. */
function startWhere() {
  const observer = new IntersectionObserver((entries) => {
    if (!entries.some((one) => one.isIntersecting)) return;
    observer.disconnect();
    if ($('ledger')) showLedger();
    if ($('heap')) showPicture();
  });
  observer.observe($('where'));
}

async function fetchText(address) {
  const answer = await fetch(address);
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
  return text;
}

/* The ledger: files are one row, and so is what is below a hundredth. */
async function showLedger() {
  const box = $('rows');
  try {
    const { total } = JSON.parse(await fetchText('memory?detail=ledger'));
    const all = total.ledger.pss;
    const rows = total.ledger.rows.filter((row) => row.bytes)
        .map((row) => ({ name: [row.what, row.name].filter(Boolean).join(' '),
          bytes: row.bytes, isFile: row.what === 'file' }));
    const small = ({ bytes: n, isFile }) => !isFile && n < all / 100;
    const fold = (test, name) => {
      const some = rows.filter(test);
      return some.length && make('details', {},
          make('summary', {}, `${name}, ${some.length} of them`),
          ledgerTable(some, all));
    };
    const sum = (test) => rows.filter(test)
        .reduce((n, row) => n + row.bytes, 0);
    const list = rows.filter((row) => !row.isFile && !small(row));
    list.push({ name: fold((row) => row.isFile, 'files'),
      bytes: sum((row) => row.isFile) },
    { name: fold(small, 'less than a hundredth'), bytes: sum(small) });
    box.replaceChildren(ledgerTable(list.filter((row) => row.name)
        .sort((a, b) => b.bytes - a.bytes), all));
  } catch (error) {
    box.replaceChildren(make('p', { className: 'bad' }, error.message));
  }
}

function ledgerTable(rows, all) {
  return make('table', { className: 'rows' }, make('tbody', {},
      ...rows.map((row) => make('tr', {},
          make('th', { scope: 'row' }, row.name),
          make('td', { className: 'm' }, bar(100 * row.bytes / all)),
          make('td', { className: 'n' }, bytes(row.bytes)),
          make('td', { className: 'n' },
              `${(100 * row.bytes / all).toFixed(1)} %`)))));
}

function bar(share) {
  const svg = (name, attributes, ...children) => {
    const element = document.createElementNS('http://www.w3.org/2000/svg',
      name);
    for (const key of Object.keys(attributes)) {
      element.setAttribute(key, attributes[key]);
    }
    element.append(...children);
    return element;
  };
  return svg('svg', { class: 'bar', 'aria-hidden': true },
    svg('rect', { class: 'a', width: `${share}%`, height: '100%' }));
}

async function showPicture() {
  const box = $('picture');
  try {
    const text = await fetchText($('heap').href);
    const url = URL.createObjectURL(new Blob([text],
      { type: 'image/svg+xml' }));
    box.replaceChildren(make('a', { href: 'heap?format=html' },
      make('img', { src: url, width: 960,
        alt: 'Flame graph of the heap: opens the page with all of it' })));
  } catch (error) {
    box.replaceChildren(make('p', { className: 'bad' }, error.message));
  }
}

/* The real address, and a button to copy. */
function showCommands() {
  for (const pre of document.querySelectorAll('#resources pre')) {
    pre.textContent = pre.textContent.replaceAll('${URL}', here);
    const button = make('button', { type: 'button', onclick: () =>
      copy(pre, button) }, 'copy');
    const box = make('div', { className: 'command' });
    pre.replaceWith(box);
    box.append(pre, button);
  }
  $('variable').hidden = true;
}

/* A page that did not come by https has no clipboard: then it is selected. */
async function copy(pre, button) {
  getSelection().selectAllChildren(pre);
  try {
    await navigator.clipboard.writeText(pre.textContent);
    button.textContent = 'copied';
  } catch {
    button.textContent = 'selected';
  }
  setTimeout(() => { button.textContent = 'copy'; }, 2000);
}

document.documentElement.classList.add('there');
showCommands();
addSorts();
startLive();
startTime();
startWaiting();
startWhere();
if ($('acts')) $('acts').addEventListener('submit', act);
if (location.search) history.replaceState(null, '', here);
