/* The map of the rooms nearby, drawn: the present room in the middle, the others at their places. */
"use strict";

const CELL = { width: 104, height: 56 };
const BOX = { width: 94, height: 38 };

function drawn(tag, attributes, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

/* A name on one or two lines that fit into a box. */
function lines(name) {
  if (name.length <= 13) return [name];
  const middle = name.length / 2;
  const gaps = [...name].flatMap((letter, i) => (letter === " " ? [i] : []));
  const gap = gaps.sort((a, b) => Math.abs(a - middle) - Math.abs(b - middle))[0];
  const both = gap === undefined ? [name] : [name.slice(0, gap), name.slice(gap + 1)];
  return both.map((line) => (line.length > 15 ? `${line.slice(0, 14)}…` : line));
}

/* Draw rooms: the first is the present one; `ways` are the commands to the rooms beside, by number.
 * `go(command)` is called when one of these is clicked. */
function drawMap(root, rooms, ways, go) {
  const here = rooms[0];
  const columns = rooms.map(({ x }) => x);
  const rows = rooms.map(({ y }) => y);
  const [left, top] = [Math.min(...columns), Math.min(...rows)];
  const wide = (Math.max(...columns) - left + 1) * CELL.width;
  const high = (Math.max(...rows) - top + 1) * CELL.height;
  const centre = ({ x, y }) => [(x - left + 0.5) * CELL.width, (y - top + 0.5) * CELL.height];
  const byId = new Map(rooms.map((room) => [room.id, room]));
  root.setAttribute("viewBox", `0 0 ${wide} ${high}`);
  root.setAttribute(
    "aria-label",
    `You are in ${here.name}. Beside it: ${here.to.map((id) => byId.get(id).name).join(", ") || "nothing"}.`,
  );
  const exits = rooms.flatMap((room) =>
    room.to.map((id) => {
      const [[x1, y1], [x2, y2]] = [centre(room), centre(byId.get(id))];
      return drawn("line", { x1, y1, x2, y2 });
    }),
  );
  const boxes = rooms.map((room) => {
    const [x, y] = centre(room);
    const way = ways.get(room.id);
    const text = lines(room.name);
    const box = drawn(
      "g",
      { class: room === here ? "here" : way ? "beside" : "far" },
      drawn("rect", {
        x: x - BOX.width / 2,
        y: y - BOX.height / 2,
        width: BOX.width,
        height: BOX.height,
        rx: 5,
      }),
      drawn(
        "text",
        { "text-anchor": "middle" },
        ...text.map((line, i) =>
          drawn("tspan", { x, y: y + 4 + (i - (text.length - 1) / 2) * 13 }, line),
        ),
      ),
      drawn("title", {}, way ? `${room.name}: ${way}` : room.name),
    );
    if (way) box.addEventListener("click", () => go(way));
    return box;
  });
  root.replaceChildren(...exits, ...boxes);
}
