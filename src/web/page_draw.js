/*
 * What of a scene is in the window, as boxes, and boxes as pixels or as SVG.
 *
 * A scene is one tree, or two that share their root: callers above, callees
 * below.  The canvas is as large as what is seen of it; what is drawn depends
 * on pixels, not on stacks: children come widest first, so that the first one
 * that is too narrow ends its siblings.
 */

const ROW = 18, MIN = 0.5, TEXT = 6;
const FONT = '12px ui-monospace, "DejaVu Sans Mono", Menlo, monospace';
const HUES = [212, 28, 140, 270, 52, 186, 340, 96, 240, 12, 164, 310];
const STEPS = 5;

/* Colours by index: three shades of each owner, then those of differences. */
const OTHER = 3 * HUES.length, NOISE = OTHER + 1, SAME = OTHER + 2;
const MORE = OTHER + 3, LESS = MORE + STEPS, MATCH = LESS + STEPS;

function makePalette(isDark, isForced) {
  const colours = [], hsl = (h, s, l) => `hsl(${h} ${s}% ${l}%)`;
  for (const hue of HUES) {
    for (const l of isDark ? [27, 30, 24] : [82, 86, 78]) {
      colours.push(hsl(hue, isDark ? 42 : 66, l));
    }
  }
  colours.push(hsl(220, 5, isDark ? 30 : 84), hsl(220, 4, isDark ? 33 : 80),
    isDark ? '#262a33' : '#eef0f3');
  for (const hue of [8, 212]) {
    for (let i = 1; i <= STEPS; i++) {
      colours.push(isDark ? hsl(hue, 62, 16 + 4 * i)
        : hsl(hue, 88, 94 - 5 * i));
    }
  }
  colours.push(hsl(300, isDark ? 55 : 80, isDark ? 30 : 84));
  const text = isForced ? 'CanvasText' : isDark ? '#f2f4f8' : '#14161b';
  return {
    fills: isForced ? colours.map((_, i) => (i === MATCH ? 'Highlight'
      : 'Canvas')) : colours,
    text, line: isForced ? text : isDark ? '#ff8df6' : '#93008a', isForced,
  };
}

/* What of SCENE is in the window; the box of NODE -1 is of narrow siblings. */
function layOut(scene, view) {
  const boxes = [], scale = view.width / (view.to - view.from);
  const below = view.top + view.height;
  for (const part of scene.parts) {
    const { tree } = part, { x, width, first, order } = tree, open = [0];
    const put = (node, from, w, depth) => {
      const y = yOf(scene, part, depth) - view.top;
      if (y <= -ROW || y >= view.height) return;
      boxes.push({ tree, node, x: from, y, w });
    };
    if (part === scene.parts[0]) {
      put(0, -view.from * scale, width[0] * scale, 0);
    }
    while (open.length > 0) {
      const node = open.pop(), depth = tree.depth[node] + 1;
      tree.open(node);
      for (let k = first[node]; k < first[node + 1]; k++) {
        const child = order[k], w = width[child] * scale;
        const from = (x[child] - view.from) * scale;
        if (w < MIN) {
          const last = order[first[node + 1] - 1];
          const rest = (x[last] + width[last] - x[child]) * scale;
          if (rest >= 1) put(-1, from, rest, depth);
          break;
        }
        if (from >= view.width || from + w <= 0) continue;
        put(child, from, w, depth);
        if (part.isUp || yOf(scene, part, depth) < below) open.push(child);
      }
    }
  }
  return boxes;
}

function yOf(scene, part, depth) {
  return (scene.origin + (part.isUp ? -depth : depth)) * ROW;
}

function colourOf(scene, { tree, node }, match) {
  const frame = tree.frame[node];
  if (match && match[frame]) return MATCH;
  if (node < 0) return OTHER;
  if (scene.scale === 0) {
    return node === 0 ? OTHER
      : ownerColour(tree.ownerOf(node, scene.isSplit), frame % 3);
  }
  const by = scene.changeOf(tree, node);
  if (by === 0) return SAME;
  if (tree.isNoise(node)) return NOISE;
  const share = Math.min(1, Math.abs(by) / scene.scale);
  const step = Math.min(STEPS - 1, Math.floor(Math.sqrt(share) * STEPS));
  return (by > 0 ? MORE : LESS) + step;
}

function ownerColour(owner, shade) {
  const colour = OWNERS.colours[owner];
  return colour === undefined ? OTHER : 3 * colour + shade;
}

/* The boxes by colour, so that each colour is set once. */
function byColour(scene, boxes, match) {
  const groups = Array.from({ length: MATCH + 1 }, () => []);
  for (const box of boxes) groups[colourOf(scene, box, match)].push(box);
  return groups;
}

/* New and gone frames of a difference. */
function fate({ tree, node }) {
  if (!tree.before || tree.after[node] === tree.before[node]) return '';
  if (tree.before[node] === 0) return 'new';
  return tree.after[node] === 0 ? 'gone' : '';
}

function paint(context, scene, boxes, palette, view) {
  context.clearRect(0, 0, view.width, view.height);
  byColour(scene, boxes, view.match).forEach((group, colour) => {
    context.fillStyle = palette.fills[colour];
    for (const { x, y, w } of group) {
      context.fillRect(x, y, w > 2 ? w - 1 : w, ROW - 1);
    }
    if (colour === MATCH || palette.isForced) {
      context.strokeStyle = palette.line;
      context.beginPath();
      group.forEach((box) => outline(context, box));
      context.stroke();
    }
  });
  if (scene.scale !== 0) paintFates(context, boxes, palette);
  context.font = FONT;
  context.textBaseline = 'middle';
  context.fillStyle = palette.text;
  for (const box of boxes) {
    const { x, text } = inside(box, view);
    if (text) context.fillText(text, x + TEXT / 2, box.y + ROW / 2);
  }
}

function outline(context, { x, y, w }) {
  if (w >= 3) context.rect(x + 0.5, y + 0.5, w - 2, ROW - 2);
}

/* New frames are outlined, gone ones hatched. */
function paintFates(context, boxes, palette) {
  context.strokeStyle = palette.text;
  context.globalAlpha = 0.4;
  context.beginPath();
  for (const box of boxes) {
    const { x, y, w } = box, is = w < 3 ? '' : fate(box);
    if (is === 'new') outline(context, box);
    if (is !== 'gone') continue;
    for (let k = Math.max(x, x % 12 - 12); k < x + w - 6 && k < 8000; k += 12) {
      context.moveTo(k, y + ROW - 1);
      context.lineTo(k + 6, y);
    }
  }
  context.stroke();
  context.globalAlpha = 1;
}

/* What of a box is in the window, and as much of its name as has room. */
function inside({ tree, node, x, w }, view) {
  const left = Math.max(0, x), width = Math.min(view.width, x + w) - left;
  const room = Math.floor((width - TEXT) / view.char);
  const name = node < 0 ? '' : tree.name(node);
  return { x: left, w: width, text: room < 3 ? '' : name.length <= room ? name
    : name.slice(0, room - 2) + '..' };
}

function escapeXml(text) {
  return text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
}

/* The view as a picture, with what hovering says as titles. */
function toSvg(scene, boxes, palette, view, say) {
  const label = (x, y, text) => `<text x="${x}" y="${y}" `
    + `fill="${palette.text}">${escapeXml(text)}</text>`;
  const out = [`<svg xmlns="http://www.w3.org/2000/svg" width="${view.width}" `
    + `height="${view.height + 24}" font-family="monospace" font-size="12">`
    + `<title>${escapeXml(document.title)}</title>`
    + `<rect width="100%" height="100%" fill="${view.ground}"/>`
    + `${label(4, 16, view.heading)}<g transform="translate(0,24)">`];
  for (const box of boxes) {
    const { x, w, text } = inside(box, view), { y, tree, node } = box;
    const colour = palette.fills[colourOf(scene, box, view.match)];
    const wide = Math.max(w - 0.5, 0.3).toFixed(1);
    out.push(`<g><title>${node < 0 ? '' : escapeXml(say(tree, node))}</title>`
      + `<rect x="${x.toFixed(1)}" y="${y}" width="${wide}" `
      + `height="${ROW - 1}" fill="${colour}"/>`
      + `${text && label((x + 3).toFixed(1), y + 13, text)}</g>`);
  }
  return `${out.join('\n')}</g></svg>\n`;
}

/* The node of a scene at a point of the window, or null. */
function nodeAt(scene, view, px, py) {
  const value = view.from + px / view.width * (view.to - view.from);
  const row = Math.floor((py + view.top) / ROW) - scene.origin;
  for (const part of scene.parts) {
    const depth = part.isUp ? -row : row, { tree } = part;
    let node = depth >= 0 && value >= 0 && value < tree.width[0] ? 0 : -1;
    while (node >= 0 && tree.depth[node] < depth) {
      node = childAt(tree, node, value);
    }
    if (node >= 0) return { part, node };
  }
  return null;
}

function childAt(tree, node, value) {
  tree.open(node);
  for (let k = tree.first[node]; k < tree.first[node + 1]; k++) {
    const child = tree.order[k];
    if (value < tree.x[child] + tree.width[child]) return child;
  }
  return -1;
}
