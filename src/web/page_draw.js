/*
 * What of a scene is in the window, as boxes, and boxes as pixels or as SVG.
 *
 * A scene is one tree, or two that share their root: callees below, callers
 * above.  The canvas is as large as what is seen of it; what is drawn depends
 * on pixels, not on stacks: children come widest first, so that the first one
 * that is too narrow ends its siblings.
 */

const ROW = 18, MIN = 0.5, TEXT = 6;
const FONT = '12px ui-monospace, "DejaVu Sans Mono", Menlo, monospace';
const HUES = [210, 30, 140, 270, 50, 190, 340, 100, 240, 10, 160, 310];
const STEPS = 5;

/* Colours by index: three shades of each owner, then those of differences. */
const OTHER = 3 * HUES.length, NOISE = OTHER + 1, SAME = OTHER + 2;
const MORE = OTHER + 3, LESS = MORE + STEPS, MATCH = LESS + STEPS;

/* The hues of owners, by number: they keep what they got first. */
const OWNERS = new Map();

function makePalette(isDark, isForced) {
  const hsl = (hue, full, light, darkFull, dark) => (isDark
    ? `hsl(${hue} ${darkFull}% ${dark}%)` : `hsl(${hue} ${full}% ${light}%)`);
  const fills = [
    ...HUES.flatMap((hue) => [82, 86, 78].map((light) =>
      hsl(hue, 66, light, 42, 0.75 * light - 34))),
    hsl(220, 5, 84, 5, 30), hsl(220, 4, 80, 4, 33), hsl(220, 17, 94, 15, 17),
    ...[8, 212].flatMap((hue) => [1, 2, 3, 4, 5].map((i) =>
      hsl(hue, 88, 94 - 5 * i, 62, 16 + 4 * i))),
    hsl(300, 80, 84, 55, 30)];
  return isForced ? { isForced, text: 'CanvasText', line: 'CanvasText',
    fills: fills.map((_, i) => (i === MATCH ? 'Highlight' : 'Canvas')) }
    : { fills, text: isDark ? '#f2f4f8' : '#14161b',
      line: isDark ? '#ff8df6' : '#93008a' };
}

/* What of SCENE is in the window; the box of NODE -1 is of narrow siblings. */
function layOut(scene, view) {
  const boxes = [], scale = view.width / (view.to - view.from);
  for (const tree of scene.trees) {
    const { x, width, depth } = tree, open = [0];
    const rowOf = (row) => yOf(scene, tree, row) - view.top;
    const put = (node, from, y, w) => {
      if (y <= -ROW || y >= view.height) return;
      boxes.push({ tree, node, x: (from - view.from) * scale, y, w });
    };
    if (tree === scene.trees[0]) put(0, 0, rowOf(0), width[0] * scale);
    while (open.length > 0) {
      const parent = open.pop(), children = tree.open(parent);
      const y = rowOf(depth[parent] + 1);
      for (const node of children) {
        const from = x[node], w = width[node] * scale;
        if (w < MIN) {
          const last = children.at(-1);
          const rest = (x[last] + width[last] - from) * scale;
          if (rest >= 1) put(-1, from, y, rest);
          break;
        }
        if (from >= view.to || from + width[node] <= view.from) continue;
        put(node, from, y, w);
        if (tree.isUp || y < view.height) open.push(node);
      }
    }
  }
  return boxes;
}

function yOf(scene, tree, row) {
  return (scene.origin + (tree.isUp ? -row : row)) * ROW;
}

function colourOf(scene, { tree, node }, match) {
  const frame = tree.frame[node];
  if (match?.[frame]) return MATCH;
  if (node < 0) return OTHER;
  if (scene.scale === 0) {
    return node ? ownerColour(tree.ownerOf(node, scene.isSplit), frame % 3)
      : OTHER;
  }
  const by = scene.changeOf(tree, node);
  if (by === 0) return SAME;
  if (tree.sum(node).isNoise) return NOISE;
  const share = Math.min(1, Math.abs(by) / scene.scale);
  return (by > 0 ? MORE : LESS)
    + Math.min(STEPS - 1, Math.floor(Math.sqrt(share) * STEPS));
}

function ownerColour(owner, shade) {
  const hue = OWNERS.get(owner);
  return hue === undefined ? OTHER : 3 * hue + shade;
}

/* New and gone frames of a difference. */
function fate({ tree, node }) {
  const { change: by, before, after } = tree.sum(node);
  return by && !before ? 'new' : by && !after ? 'gone' : '';
}

/* By colour, so that each is set once. */
function paint(context, scene, boxes, palette, view) {
  const groups = palette.fills.map(() => []);
  for (const box of boxes) groups[colourOf(scene, box, view.match)].push(box);
  context.clearRect(0, 0, view.width, view.height);
  groups.forEach((group, colour) => {
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
  if (scene.base) paintFates(context, boxes, palette);
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

/*
 * What of a box is in the window, and as much of its name as has room, with
 * the value behind it if that has.
 */
function inside({ tree, node, x, w }, view) {
  const left = Math.max(0, x), width = Math.min(view.width, x + w) - left;
  const room = Math.floor((width - TEXT) / view.char);
  const name = node < 0 ? '' : tree.name(node);
  if (room < 3) return { x: left, text: '' };
  if (name.length > room) return { x: left, text: name.slice(0, room - 2)
    + '..' };
  const value = node < 0 || room < name.length + 5 ? ''
    : `  ${view.value(tree, node)}`;
  return { x: left, text: name + (name.length + value.length <= room ? value
    : '') };
}

function escapeXml(text) {
  return text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
}

/* The view as a picture, with what hovering says as titles. */
function toSvg(scene, boxes, palette, view, say) {
  const text = (x, y, said) =>
    `<text x="${x}" y="${y}">${escapeXml(said)}</text>`;
  const frame = (box) => `<svg x="${box.x}" y="${box.y + 24}" `
    + `width="${box.w}" height="${ROW}"><title>`
    + `${box.node < 0 ? '' : escapeXml(say(box.tree, box.node))}</title>`
    + '<rect width="100%" height="17" '
    + `fill="${palette.fills[colourOf(scene, box, view.match)]}"/>`
    + `${text(3, 13, inside(box, view).text)}</svg>`;
  return '<svg xmlns="http://www.w3.org/2000/svg" '
    + `width="${view.width}" height="${view.height + 24}" `
    + `fill="${palette.text}" style="font:12px monospace;`
    + `background:${view.ground}">`
    + `<title>${escapeXml(document.title)}</title>`
    + `${[text(4, 16, view.heading), ...boxes.map(frame)].join('\n')}</svg>\n`;
}

/* The box at a point of the window, if it is a frame's. */
function boxAt(boxes, px, py) {
  return boxes.find(({ node, x, y, w }) => node >= 0 && px >= x && px < x + w
    && py >= y && py < y + ROW);
}
