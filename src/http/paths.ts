import { operations } from "../contract/operations.ts";

/** Where the server says that it is up; open to everybody who may connect. */
export const healthPath = "/health";

const known = [...Object.values(operations), { method: "GET", path: healthPath }].map(({ method, path }) => ({
  methods: method === "GET" ? ["GET", "HEAD"] : [method],
  segments: segmentsOf(path),
}));

/** The methods of a path, empty for a path that is not known. As the router does, tolerant of case and a last slash. */
export function methodsAt(path: string): readonly string[] {
  const segments = segmentsOf(path.toLowerCase());
  const methods = known
    .filter((route) => route.segments.length === segments.length && route.segments.every(matches(segments)))
    .flatMap((route) => route.methods);
  return methods.length === 0 ? [] : [...new Set(methods), "OPTIONS"];
}

const matches = (segments: readonly string[]) => (wanted: string, at: number) =>
  wanted.startsWith(":") ? segments[at] !== "" : wanted === segments[at];

function segmentsOf(path: string): readonly string[] {
  return path.replace(/\/$/, "").split("/");
}

/** The path of a request target, without host, query and fragment. */
export const pathOf = (target: string): string =>
  target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, "").split(/[?#]/, 1)[0] || "/";
