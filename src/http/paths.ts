import { agentPath } from "../contract/agent.ts";
import { fixedFormsOf, type Operation, operations } from "../contract/operations.ts";
import { sitePath } from "../contract/site-connection.ts";

/** The health check. */
export const healthPath = "/health";
/** The health check for load balancers: 200 only where commands are taken. */
export const activePath = "/health/active";
export const metricsPath = "/metrics";
export const openApiPath = "/openapi.json";
export const docsPath = "/docs";
/** Requested by the documentation page. */
export const docsDocumentPath = `${docsPath}/json`;
export const docsFilePath = `${docsPath}/static/:file`;

/** An incoming web hook, with its own secret instead of a key. */
export const hookPath = "/api/hooks/:name";

/** The Model Context Protocol. */
export const mcpPath = "/mcp";

/** The session of a browser. */
export const sessionPath = "/api/session";

/** The dashboard; for programs other than browsers, a redirect to the documentation. */
export const rootPath = "/";

/** Pages without secrets, which require no key. */
const openPages = [rootPath, healthPath, activePath, openApiPath, docsPath, docsDocumentPath, docsFilePath].map(
  segmentsOf,
);

const known = [
  ...Object.values(operations).flatMap((operation) =>
    allPathsOf(operation).map((path) => ({
      methods: operation.method === "GET" ? ["GET", "HEAD"] : [operation.method],
      segments: segmentsOf(path),
    })),
  ),
  ...[...openPages, segmentsOf(metricsPath)].map((segments) => ({ methods: ["GET", "HEAD"], segments })),
  { methods: ["GET", "HEAD", "POST", "DELETE"], segments: segmentsOf(sessionPath) },
  { methods: ["POST"], segments: segmentsOf(hookPath) },
  { methods: ["POST"], segments: segmentsOf(mcpPath) },
  { methods: ["GET"], segments: segmentsOf(agentPath) },
  { methods: ["GET"], segments: segmentsOf(sitePath) },
];

/** The paths of an operation. */
export function pathsOf({ path, alias }: Operation): readonly string[] {
  return alias === undefined ? [path] : [path, alias];
}

/** These, and those that imply a part of its query. */
function allPathsOf(operation: Operation): readonly string[] {
  return [...pathsOf(operation), ...fixedFormsOf(operation).map(({ path }) => path)];
}

/** The methods of a path; none if it is unknown. */
export function methodsAt(path: string): readonly string[] {
  const asked = segmentsOf(path.toLowerCase());
  const routes = known.filter(({ segments }) => isAt(segments, asked));
  const literal = routes.filter(({ segments }) => isLiteral(segments));
  const methods = (literal.length === 0 ? routes : literal).flatMap((route) => route.methods);
  return methods.length === 0 ? [] : [...new Set(methods), "OPTIONS"];
}

const isLiteral = (segments: readonly string[]): boolean => !segments.some((segment) => segment.startsWith(":"));

/**
 * The methods that a path does not have although a path with a parameter that matches it does: PATCH at
 * /api/schedules/upcoming is not for a schedule with the key `upcoming`.
 */
export const absentMethods: readonly { readonly url: string; readonly method: readonly string[] }[] = known
  .filter(({ segments }) => isLiteral(segments))
  .map(({ segments }) => {
    const url = segments.join("/");
    const matching = known.filter((route) => isAt(route.segments, segments)).flatMap(({ methods }) => methods);
    return { url, method: [...new Set(matching)].filter((each) => !methodsAt(url).includes(each)) };
  })
  .filter(({ url, method }, index, all) => method.length > 0 && all.findIndex((each) => each.url === url) === index);

/** Whether a path requires no key. */
export const isOpen = (path: string): boolean => isAtOne(openPages, path);

/** The name of the web hook in a path; undefined for any other path. */
export function hookIn(path: string): string | undefined {
  const segments = segmentsOf(path);
  return isAt(segmentsOf(hookPath), segmentsOf(path.toLowerCase())) ? segments.at(-1) : undefined;
}

const sessions = [segmentsOf(sessionPath)];

/** Whether a path is that of a browser's session. */
export const isSession = (path: string): boolean => isAtOne(sessions, path);

const ofAgents = [segmentsOf(agentPath)];

/** Whether a path is for the WebSocket of a host's agent. */
export const isOfAgents = (path: string): boolean => isAtOne(ofAgents, path);

const ofSites = [segmentsOf(sitePath)];

/** Whether a path is for the WebSocket of a site. */
export const isOfSites = (path: string): boolean => isAtOne(ofSites, path);

const streams = Object.values<Operation>(operations).flatMap((operation) =>
  operation.kind === "stream" ? allPathsOf(operation).map(segmentsOf) : [],
);

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
