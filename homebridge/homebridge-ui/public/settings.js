/** Settings as the plugin reads them: places in them, and what is left of them when nothing blank is kept. */

/** `rigs[0].address` of ["rigs", 0, "address"]. */
export const textOf = (path) =>
  path.reduce(
    (before, step) => (typeof step === "number" ? `${before}[${step}]` : before ? `${before}.${step}` : step),
    "",
  );

export const partsOf = (text) =>
  [...text.matchAll(/\[(\d+)\]|[^.[\]]+/g)].map(([word, index]) => (index === undefined ? word : Number(index)));

export const valueAt = (value, path) => path.reduce((inside, step) => inside?.[step], value);

/** Sets what stands at a path, in place of what cannot be around it; undefined removes it. */
export function setValue(settings, path, value) {
  const [last] = path.slice(-1);
  let inside = settings;
  for (const [place, step] of path.slice(0, -1).entries()) {
    const around = typeof path[place + 1] === "number" ? [] : {};
    if (!isLike(inside[step], around)) inside[step] = around;
    inside = inside[step];
  }
  if (value !== undefined) inside[last] = value;
  else if (Array.isArray(inside)) inside.splice(last, 1);
  else delete inside[last];
}

const isLike = (value, other) => isObject(value) && Array.isArray(value) === Array.isArray(other);

const isObject = (value) => typeof value === "object" && value !== null;

/** The rigs of settings, with what stands there and is none. */
export const rigsIn = ({ rigs }) => (Array.isArray(rigs) ? rigs : []);

export const isRig = (value) => isLike(value, {});

/** The node of a JSON schema that describes what stands at a path. */
export const schemaAt = (schema, path) =>
  path.reduce((node, step) => (typeof step === "number" ? node?.items : node?.properties?.[step]), schema);

/**
 * Without blanks, and without rigs of which nothing is filled in; and where on the page stands what the plugin then
 * calls by a path.
 */
export function cleaned(block) {
  const rigs = rigsIn(block).map((rig, place) => ({ rig: withoutBlanks(rig), place }));
  const kept = rigs.filter(({ rig }) => rig !== undefined);
  const listed = kept.length === 0 ? undefined : kept.map(({ rig }) => rig);
  // The child bridge is Homebridge's own.
  const { _bridge, ...ours } = block;
  const config = withoutBlanks(Array.isArray(block.rigs) ? { ...ours, rigs: listed } : ours) ?? {};
  if (_bridge !== undefined) config._bridge = _bridge;
  const onPage = (path) => path.replace(/\brigs\[(\d+)\]/g, (_, index) => `rigs[${kept[index]?.place ?? index}]`);
  return { config, onPage };
}

function withoutBlanks(value) {
  if (typeof value === "string") return value === "" ? undefined : value;
  if (Array.isArray(value)) return value.map(withoutBlanks).filter((each) => each !== undefined);
  if (!isObject(value)) return value ?? undefined;
  const entries = Object.entries(value)
    .map(([key, each]) => [key, withoutBlanks(each)])
    .filter(([, each]) => each !== undefined);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}
