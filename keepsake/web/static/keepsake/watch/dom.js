/* Elements, made in one call. Texts only ever go in as text nodes: what players wrote stays words. */

const SVG = "http://www.w3.org/2000/svg";

/** An HTML element; `options` are its attributes, and `on`: listeners, `vars`: CSS properties. */
export function el(tag, options = {}, ...children) {
  return filled(document.createElement(tag), options, children);
}

/** The same for a drawing. */
export function svg(tag, options = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), options, children);
}

function filled(node, { on = {}, vars = {}, ...attributes }, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    node.setAttribute(name, value === true ? "" : value);
  }
  // By the object model: the page's policy refuses the attribute "style".
  for (const [name, value] of Object.entries(vars)) node.style.setProperty(name, value);
  for (const [name, listener] of Object.entries(on)) node.addEventListener(name, listener);
  node.append(...given(children));
  return node;
}

function given(children) {
  return children.flat(Infinity).filter((child) => child !== null && child !== undefined);
}

/** Put a text in, if it is another one: what has not changed keeps its selection. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Set an attribute, or take it away when the value is null. */
export function setAttribute(node, name, value) {
  if (value === null) node.removeAttribute(name);
  else if (node.getAttribute(name) !== value) node.setAttribute(name, value);
}

/** Replace all that is in a node. */
export function fill(node, ...children) {
  node.replaceChildren(...given(children));
  return node;
}

/** The one element with that id. */
export function byId(id) {
  return document.getElementById(id);
}

/** Tell it to whoever listens instead of looking; the same once more is told once more. */
export function announce(words) {
  const said = byId("said");
  said.textContent = words && said.textContent === words ? `${words}\u00a0` : words;
}

/** Call `work` at most once in `pause` milliseconds, and once more after the last time asked. */
export function throttled(work, pause) {
  let due = null;
  let last = 0;
  return () => {
    if (due !== null) return;
    due = setTimeout(() => {
      due = null;
      last = Date.now();
      work();
    }, Math.max(0, last + pause - Date.now()));
  };
}
