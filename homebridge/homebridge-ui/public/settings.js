/** Settings as the plugin reads them: paths in them, and removing empty values. */

/** `rigs[0].address` of ["rigs", 0, "address"]. */
export const textOf = (path) =>
  path.reduce(
    (before, step) => (typeof step === "number" ? `${before}[${step}]` : before ? `${before}.${step}` : step),
    "",
  );

export const partsOf = (text) =>
  [...text.matchAll(/\[(\d+)\]|[^.[\]]+/g)].map(([word, index]) => (index === undefined ? word : Number(index)));

export const valueAt = (value, path) => path.reduce((inside, step) => inside?.[step], value);

/** Sets the value at a path, replacing values of the wrong kind around it; undefined removes it. */
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

/** The list of rigs, including entries that are not rigs. */
export const rigsIn = ({ rigs }) => (Array.isArray(rigs) ? rigs : []);

export const isRig = (value) => isLike(value, {});

/** The part of a JSON schema that describes a path. */
export const schemaAt = (schema, path) =>
  path.reduce((node, step) => (typeof step === "number" ? node?.items : node?.properties?.[step]), schema);

/** What a checkbox adds to a rig stays although it is empty, so that its missing fields are reported. */
const added = ["heating", "supply"];

/** The settings without empty values and empty rigs, and a translation of their paths to those of the page. */
export function cleaned(block) {
  const rigs = rigsIn(block).map((rig, place) => ({ rig: withoutEmpty(rig), place }));
  const kept = rigs.filter(({ rig }) => rig !== undefined);
  const listed = kept.length === 0 ? undefined : kept.map(({ rig }) => rig);
  // The child bridge belongs to Homebridge.
  const { _bridge, ...own } = block;
  const config = withoutEmpty(Array.isArray(block.rigs) ? { ...own, rigs: listed } : own) ?? {};
  if (_bridge !== undefined) config._bridge = _bridge;
  const onPage = (path) => path.replace(/\brigs\[(\d+)\]/g, (_, index) => `rigs[${kept[index]?.place ?? index}]`);
  return { config, onPage };
}

function withoutEmpty(value) {
  if (typeof value === "string") return value === "" ? undefined : value;
  if (Array.isArray(value)) return value.map(withoutEmpty).filter((each) => each !== undefined);
  if (!isObject(value)) return value ?? undefined;
  const entries = Object.entries(value)
    .map(([key, each]) => [key, withoutEmpty(each) ?? (added.includes(key) && isRig(each) ? {} : undefined)])
    .filter(([, each]) => each !== undefined);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}
