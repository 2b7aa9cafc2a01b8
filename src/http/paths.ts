import { agentPath } from "../contract/agent.ts";
import { type Operation, operations } from "../contract/operations.ts";

/** The health check. */
export const healthPath = "/health";
export const metricsPath = "/metrics";
export const openApiPath = "/openapi.json";
export const docsPath = "/docs";
/** Requested by the documentation page. */
export const docsDocumentPath = `${docsPath}/json`;
export const docsFilePath = `${docsPath}/static/:file`;

/** A web hook that comes in, with a secret of its own instead of a key. */
export const hookPath = "/api/hooks/:name";

/** The session of a browser. */
export const sessionPath = "/api/session";

/** The dashboard; for other programs than browsers, a redirect to the documentation. */
export const rootPath = "/";

/** Pages without secrets, which require no key. */
const openPages = [rootPath, healthPath, openApiPath, docsPath, docsDocumentPath, docsFilePath].map(segmentsOf);

const known = [
  ...Object.values(operations).flatMap((operation) =>
    pathsOf(operation).map((path) => ({
      methods: operation.method === "GET" ? ["GET", "HEAD"] : [operation.method],
      segments: segmentsOf(path),
    })),
  ),
  ...[...openPages, segmentsOf(metricsPath)].map((segments) => ({ methods: ["GET", "HEAD"], segments })),
  { methods: ["GET", "HEAD", "POST", "DELETE"], segments: segmentsOf(sessionPath) },
  { methods: ["POST"], segments: segmentsOf(hookPath) },
  { methods: ["GET"], segments: segmentsOf(agentPath) },
];

/** The paths of an operation. */
export function pathsOf({ path, alias }: Operation): readonly string[] {
  return alias === undefined ? [path] : [path, alias];
}

/** The methods of a path; none if it is unknown. */
export function methodsAt(path: string): readonly string[] {
  const asked = segmentsOf(path.toLowerCase());
  const methods = known.filter(({ segments }) => isAt(segments, asked)).flatMap((route) => route.methods);
  return methods.length === 0 ? [] : [...new Set(methods), "OPTIONS"];
}

/** Whether a path requires no key. */
export const isOpen = (path: string): boolean => isAtOne(openPages, path);

/** The name of the web hook that a path is for, undefined for any other path. */
export function hookIn(path: string): string | undefined {
  const segments = segmentsOf(path);
  return isAt(segmentsOf(hookPath), segmentsOf(path.toLowerCase())) ? segments.at(-1) : undefined;
}

const sessions = [segmentsOf(sessionPath)];

/** Whether a path is that of a browser's session. */
export const isSession = (path: string): boolean => isAtOne(sessions, path);

const ofAgents = [segmentsOf(agentPath)];

/** Whether a path takes the WebSocket of a host's agent. */
export const isOfAgents = (path: string): boolean => isAtOne(ofAgents, path);

const streams = Object.values(operations).flatMap(({ kind, path }) => (kind === "stream" ? [segmentsOf(path)] : []));

/** Whether a path is a stream. */
export const isStream = (path: string): boolean => isAtOne(streams, path);

/** Like the router, ignores case and a trailing slash. Runs with every request. */
function isAtOne(routes: readonly (readonly string[])[], path: string): boolean {
  const asked = segmentsOf(path.toLowerCase());
  return routes.some((route) => isAt(route, asked));
}

function isAt(route: readonly string[], segments: readonly string[]): boolean {
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
