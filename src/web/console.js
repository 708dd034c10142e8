/*
 * The page renews itself from the server that made it: one place says how
 * things look.  What it fetches is parsed without being run
 * (XMLHttpRequest's document), and only texts, attributes and elements that
 * differ are touched, so that focus, scroll and selection stay.
 */

'use strict';

const EVERY = 5000;

/* parts of the page that are renewed */
const LIVE = ['verdict', 'facts', 'largest', 'findings', 'workers', 'time',
  'failures', 'forms'];

const $ = (id) => document.getElementById(id);
const here = new URL('.', location.href).href;
const state = { timer: 0, misses: 0, isPaused: false, seen: now() };

function now() {
  return new Date().toLocaleTimeString();
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
  for (const id of ids) {
    const fresh = page.getElementById(id);
    if ($(id) && fresh) renew($(id), fresh);
  }
}

function say(text) {
  $('live').firstChild.data = text;
}

async function tick() {
  try {
    const page = await fetchPage(here);
    state.misses = 0;
    state.seen = now();
    renewAll(page, LIVE);
    say(`live, ${state.seen} `);
  } catch (error) {
    state.misses++;
    say(`not live since ${state.seen}: ${error.message} `);
  }
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
    say(state.isPaused ? 'paused ' : 'live ');
    goOn();
  } }, 'Pause');
  $('live').replaceChildren('live ', button);
  document.addEventListener('visibilitychange', goOn);
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

/* A row of format=top: value, unit, share, ..., what it is mostly, and where */
const ROW = /^ *(\S+ \S+) +([\d.]+)% +\d+ +\S+ \S+  +(.*?)  +(\S.*)$/;

async function fetchText(address) {
  const answer = await fetch(address);
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
  return text;
}

async function showOwners() {
  const box = $('owners');
  try {
    const text = await fetchText($('pools').href);
    const rows = text.split('\n').map((line) => ROW.exec(line)).filter(Boolean);
    if (rows.length === 0) {
      box.replaceChildren(make('pre', {}, text));
      return;
    }
    box.replaceChildren(make('table', { className: 'owners' },
      make('thead', {}, make('tr', {}, ...['where', 'share', 'bytes', 'of all',
        'mostly'].map((name) => make('th', { scope: 'col' }, name)))),
      make('tbody', {}, ...rows.map(ownerRow))));
  } catch (error) {
    box.replaceChildren(make('p', { className: 'bad' }, error.message));
  }
}

function ownerRow([, bytes, share, mostly, where]) {
  const cell = (name, text) => {
    const td = make('td', { className: 'n' }, text);
    td.dataset.l = name;
    return td;
  };
  return make('tr', {}, make('th', { scope: 'row' }, where),
    make('td', { className: 'm' }, bar(share)), cell('bytes', bytes),
    cell('of all', `${share} %`), cell('mostly', mostly));
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
  return svg('svg', { class: 'bar', role: 'img', 'aria-label': `${share} %` },
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
startLive();
if ($('pools')) showOwners();
if ($('heap')) showPicture();
if ($('acts')) $('acts').addEventListener('submit', act);
if (location.search) history.replaceState(null, '', here);
