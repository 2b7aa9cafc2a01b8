import { type Operation, operations } from "../contract/operations.ts";

/** Where the server says that it is up. */
export const healthPath = "/health";
export const metricsPath = "/metrics";
export const openApiPath = "/openapi.json";
export const docsPath = "/docs";
/** What the page of the documentation asks for. */
export const docsDocumentPath = `${docsPath}/json`;
export const docsFilePath = `${docsPath}/static/:file`;

/** Leads to the documentation. */
export const rootPath = "/";

/** Pages that hold no secret: open to everybody who may connect. */
const openPages = [rootPath, healthPath, openApiPath, docsPath, docsDocumentPath, docsFilePath].map(segmentsOf);

const known = [
  ...Object.values(operations).flatMap((operation) =>
    pathsOf(operation).map((path) => ({
      methods: operation.method === "GET" ? ["GET", "HEAD"] : [operation.method],
      segments: segmentsOf(path),
    })),
  ),
  ...[...openPages, segmentsOf(metricsPath)].map((segments) => ({ methods: ["GET", "HEAD"], segments })),
];

/** Where an operation is. */
export function pathsOf({ path, alias }: Operation): readonly string[] {
  return alias === undefined ? [path] : [path, alias];
}

/** The methods of a path, empty for a path that is not known. */
export function methodsAt(path: string): readonly string[] {
  const methods = known.filter(({ segments }) => isAt(segments, path)).flatMap((route) => route.methods);
  return methods.length === 0 ? [] : [...new Set(methods), "OPTIONS"];
}

/** Needs no key. */
export const isOpen = (path: string): boolean => openPages.some((segments) => isAt(segments, path));

const streams = Object.values(operations).flatMap(({ kind, path }) => (kind === "stream" ? [segmentsOf(path)] : []));

/** Goes on for as long as the client wants. */
export const isStream = (path: string): boolean => streams.some((segments) => isAt(segments, path));

/** As the router does, tolerant of case and a last slash. */
function isAt(route: readonly string[], path: string): boolean {
  const segments = segmentsOf(path.toLowerCase());
  return (
    route.length === segments.length &&
    route.every((wanted, at) => (wanted.startsWith(":") ? segments[at] !== "" : wanted === segments[at]))
  );
}

function segmentsOf(path: string): readonly string[] {
  return path.replace(/\/$/, "").split("/");
}

/** The path of a request target, without host, query and fragment. */
export const pathOf = (target: string): string =>
  target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, "").split(/[?#]/, 1)[0] || "/";
