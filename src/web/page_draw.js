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
  const colours = [];
  const hsl = (h, s, l) => `hsl(${h}, ${s}%, ${l}%)`;
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
  return {
    fills: isForced ? colours.map((_, i) => (i === MATCH ? 'Highlight'
      : 'Canvas')) : colours,
    text: isForced ? 'CanvasText' : isDark ? '#f2f4f8' : '#14161b',
    line: isForced ? 'CanvasText' : isDark ? '#ff8df6' : '#93008a',
    edge: isForced ? 'CanvasText' : isDark ? '#f2f4f8' : '#14161b',
    isForced,
  };
}

/* Boxes of SCENE between the values FROM and TO, WIDTH pixels wide. */
function layOut(scene, view) {
  const boxes = { n: 0, x: [], y: [], w: [], node: [], part: [], rest: [] };
  scene.parts.forEach((part, index) => {
    layOutPart(scene, part, index, view, boxes);
  });
  return boxes;
}

function layOutPart(scene, part, index, view, boxes) {
  const { tree } = part, { x, width, first, order, depth } = tree;
  const scale = view.width / (view.to - view.from), stack = [0];
  while (stack.length > 0) {
    const node = stack.pop(), y = yOf(scene, part, depth[node]) - view.top;
    const left = (x[node] - view.from) * scale;
    if (y > -ROW && y < view.height && (node !== 0 || index === 0)) {
      put(boxes, left, y, width[node] * scale, node, index);
    }
    for (let k = first[node]; k < first[node + 1]; k++) {
      const child = order[k], wide = width[child] * scale;
      const from = (x[child] - view.from) * scale;
      if (wide < MIN) {
        const last = order[first[node + 1] - 1];
        const end = (x[last] + width[last] - view.from) * scale;
        const next = yOf(scene, part, depth[child]) - view.top;
        boxes.rest.push(from, next, end - from);
        break;
      }
      if (from < view.width && from + wide > 0) stack.push(child);
    }
  }
}

function put(boxes, x, y, w, node, part) {
  const i = boxes.n++;
  boxes.x[i] = x;
  boxes.y[i] = y;
  boxes.w[i] = w;
  boxes.node[i] = node;
  boxes.part[i] = part;
}

function yOf(scene, part, depth) {
  return (scene.origin + (part.isUp ? -depth : depth)) * ROW;
}

function colourOf(scene, tree, node, match) {
  if (match && match[tree.frame[node]]) return MATCH;
  if (scene.scale === 0) {
    const owner = tree.owner[node];
    if (owner < 0) return OTHER;
    const colour = OWNERS.colours[owner];
    return colour === undefined ? OTHER
      : 3 * colour + (frames.hashes[tree.frame[node]] >>> 8) % 3;
  }
  const by = scene.changeOf(tree, node);
  if (by === 0) return SAME;
  if (tree.isNoise(node)) return NOISE;
  const share = Math.min(1, Math.abs(by) / scene.scale);
  const step = Math.min(STEPS - 1, Math.floor(Math.sqrt(share) * STEPS));
  return (by > 0 ? MORE : LESS) + step;
}

/* Indices of boxes by colour, so that each colour is set once. */
function byColour(scene, boxes, match) {
  const groups = Array.from({ length: MATCH + 1 }, () => []);
  for (let i = 0; i < boxes.n; i++) {
    const { tree } = scene.parts[boxes.part[i]];
    groups[colourOf(scene, tree, boxes.node[i], match)].push(i);
  }
  return groups;
}

/* New and gone frames of a difference. */
function fate(tree, node) {
  if (!tree.before || tree.after[node] === tree.before[node]) return '';
  if (tree.before[node] === 0) return 'new';
  return tree.after[node] === 0 ? 'gone' : '';
}

function paint(context, scene, boxes, palette, view) {
  context.clearRect(0, 0, view.width, view.height);
  context.fillStyle = palette.fills[OTHER];
  for (let i = 0; i < boxes.rest.length; i += 3) {
    const w = boxes.rest[i + 2];
    if (w >= 1) {
      context.fillRect(boxes.rest[i], boxes.rest[i + 1], w - 0.5, ROW - 1);
    }
  }
  byColour(scene, boxes, view.match).forEach((group, colour) => {
    context.fillStyle = palette.fills[colour];
    for (const i of group) {
      const w = boxes.w[i];
      context.fillRect(boxes.x[i], boxes.y[i], w > 2 ? w - 1 : w, ROW - 1);
    }
    if (colour === MATCH || palette.isForced) {
      outline(context, boxes, group, palette.line);
    }
  });
  if (scene.scale !== 0) paintFates(context, scene, boxes, palette);
  paintNames(context, scene, boxes, palette, view);
}

function outline(context, boxes, group, line) {
  context.strokeStyle = line;
  context.beginPath();
  for (const i of group) {
    if (boxes.w[i] < 3) continue;
    context.rect(boxes.x[i] + 0.5, boxes.y[i] + 0.5, boxes.w[i] - 2, ROW - 2);
  }
  context.stroke();
}

function paintFates(context, scene, boxes, palette) {
  context.strokeStyle = palette.edge;
  context.globalAlpha = 0.4;
  context.beginPath();
  for (let i = 0; i < boxes.n; i++) {
    const { tree } = scene.parts[boxes.part[i]], w = boxes.w[i];
    const is = w < 3 ? '' : fate(tree, boxes.node[i]);
    const x = boxes.x[i], y = boxes.y[i];
    if (is === 'new') context.rect(x + 0.5, y + 0.5, w - 2, ROW - 2);
    if (is !== 'gone') continue;
    for (let k = Math.max(x, x % 12 - 12); k < x + w - 6 && k < 8000; k += 12) {
      context.moveTo(k, y + ROW - 1);
      context.lineTo(k + 6, y);
    }
  }
  context.stroke();
  context.globalAlpha = 1;
}

function paintNames(context, scene, boxes, palette, view) {
  context.font = FONT;
  context.textBaseline = 'middle';
  context.fillStyle = palette.text;
  const char = view.char;
  for (let i = 0; i < boxes.n; i++) {
    const x = Math.max(0, boxes.x[i]);
    const end = Math.min(view.width, boxes.x[i] + boxes.w[i]);
    const text = nameIn(scene, boxes, i, end - x, char);
    if (text) context.fillText(text, x + TEXT / 2, boxes.y[i] + ROW / 2);
  }
}

/* As much of the name of box I as W pixels have room for. */
function nameIn(scene, boxes, i, w, char) {
  const room = Math.floor((w - TEXT) / char);
  if (room < 3) return '';
  const { tree } = scene.parts[boxes.part[i]];
  const name = frames.names[tree.frame[boxes.node[i]]];
  return name.length <= room ? name : name.slice(0, room - 2) + '..';
}

function escapeXml(text) {
  return text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
}

/* The view as a picture, with what hovering says as titles. */
function toSvg(scene, boxes, palette, view, say) {
  const height = view.height + 24;
  const out = [`<svg xmlns="http://www.w3.org/2000/svg" width="${view.width}" `
    + `height="${height}" font-family="monospace" font-size="12">`
    + `<title>${escapeXml(document.title)}</title>`
    + `<rect width="100%" height="100%" fill="${view.ground}"/>`
    + `<text x="4" y="16" fill="${palette.text}">${escapeXml(view.heading)}`
    + '</text><g transform="translate(0,24)">'];
  byColour(scene, boxes, view.match).forEach((group, colour) => {
    if (group.length === 0) return;
    out.push(`<g fill="${palette.fills[colour]}">`);
    for (const i of group) {
      const x = Math.max(0, boxes.x[i]);
      const w = Math.min(view.width, boxes.x[i] + boxes.w[i]) - x;
      const { tree } = scene.parts[boxes.part[i]];
      const text = nameIn(scene, boxes, i, w, view.char);
      out.push(`<g><title>${escapeXml(say(tree, boxes.node[i]))}</title>`
        + `<rect x="${x.toFixed(1)}" y="${boxes.y[i]}" `
        + `width="${Math.max(w - 0.5, 0.3).toFixed(1)}" height="${ROW - 1}"/>`
        + (text ? `<text x="${(x + 3).toFixed(1)}" y="${boxes.y[i] + 13}" `
          + `fill="${palette.text}">${escapeXml(text)}</text>` : '') + '</g>');
    }
    out.push('</g>');
  });
  return out.join('\n') + '</g></svg>\n';
}

/* The node of a scene at a point of the window, or null. */
function nodeAt(scene, view, px, py) {
  const value = view.from + px / view.width * (view.to - view.from);
  const row = Math.floor((py + view.top) / ROW) - scene.origin;
  for (const part of scene.parts) {
    const depth = part.isUp ? -row : row, { tree } = part;
    if (depth < 0) continue;
    let node = value >= 0 && value < tree.width[0] ? 0 : -1;
    while (node >= 0 && tree.depth[node] < depth) {
      node = childAt(tree, node, value);
    }
    if (node >= 0) return { part, node };
  }
  return null;
}

function childAt(tree, node, value) {
  for (let k = tree.first[node]; k < tree.first[node + 1]; k++) {
    const child = tree.order[k];
    if (value < tree.x[child] + tree.width[child]) return child;
  }
  return -1;
}
