import type { Operation } from "../contract/operations.ts";
import { Session, SessionBody } from "../contract/session.ts";
import { mqttHealth } from "./health.ts";
import type { Json } from "./openapi-schema-walk.ts";
import { problemResponse, reference } from "./openapi-schemas.ts";
import { marked, sessionDescription } from "./openapi-text.ts";
import { sessionPath } from "./paths.ts";
import { sessionOperations } from "./session-routes.ts";

const page = (operationId: string, summary: string, type: string, schema: Json, more: Json = {}): Json => ({
  get: {
    operationId,
    tags: ["service"],
    summary: marked(summary),
    "x-rigbridge-addition": true,
    responses: {
      200: { description: "The requested document", content: { [type]: { schema } } },
      default: problemResponse("Any error"),
    },
    ...more,
  },
});

const sessionEntry = (operationId: string, { summary }: Operation, rest: Json): Json => ({
  operationId,
  tags: ["service"],
  summary: marked(summary),
  description: sessionDescription,
  "x-rigbridge-addition": true,
  ...rest,
});

/** Of a service whose store in PostgreSQL others of its site share. */
const shared = {
  role: { type: "string", enum: ["active", "standby"] },
  epoch: {
    type: ["integer", "null"],
    format: "int64",
    minimum: 1,
    maximum: 9_007_199_254_740_991,
    description: "rises whenever another service becomes the active one; null at one that waits without the database",
  },
  since: { type: "string", format: "date-time", description: "since when it is active, or waits" },
} as const;

/** Paths of the server itself, which are not operations. */
export const pages: Json = {
  "/health": page(
    "health",
    "Health check; requires no key",
    "application/json",
    {
      type: "object",
      properties: {
        status: { type: "string", enum: ["ok"] },
        version: { type: "string" },
        mqtt: mqttHealth,
        ...shared,
      },
      required: ["status", "version"],
    },
    { security: [] },
  ),
  "/health/active": page(
    "healthActive",
    "Health check for load balancers; 503 unless this service may act. Requires no key",
    "application/json",
    {
      type: "object",
      properties: { status: { type: "string", enum: ["ok"] }, version: { type: "string" }, ...shared },
      required: ["status", "version"],
    },
    { security: [] },
  ),
  "/metrics": page(
    "metrics",
    "Prometheus metrics, in base units",
    "text/plain",
    { type: "string" },
    {
      parameters: [{ $ref: "#/components/parameters/user_id" }],
    },
  ),
  "/api/hooks/{name}": {
    post: {
      operationId: "receiveHook",
      tags: ["service"],
      summary: marked(
        "A web hook that comes in, for rules; its secret stands in the header X-Hook-Secret instead of a key",
      ),
      "x-rigbridge-addition": true,
      security: [],
      parameters: [
        { name: "name", in: "path", required: true, schema: { type: "string" }, description: "name of the web hook" },
        { name: "X-Hook-Secret", in: "header", required: true, schema: { type: "string" }, description: "its secret" },
      ],
      requestBody: {
        description: "JSON of up to 4 kB, which rules may use; any other text is taken as a text",
        content: { "application/json": { schema: {} } },
      },
      responses: {
        204: { description: "Taken" },
        default: problemResponse("Any error"),
      },
    },
  },
  [sessionPath]: {
    get: sessionEntry("getSession", sessionOperations.getSession, {
      parameters: [{ $ref: "#/components/parameters/user_id" }],
      responses: {
        200: { description: "The caller", content: { "application/json": { schema: reference(Session) } } },
        default: problemResponse("Any error"),
      },
    }),
    post: sessionEntry("openSession", sessionOperations.openSession, {
      security: [],
      requestBody: { required: true, content: { "application/json": { schema: reference(SessionBody) } } },
      responses: {
        201: {
          description: "The session is open",
          headers: { "Set-Cookie": { schema: { type: "string" }, description: "the session's cookie" } },
          content: { "application/json": { schema: reference(Session) } },
        },
        default: problemResponse("Any error"),
      },
    }),
    delete: sessionEntry("closeSession", sessionOperations.closeSession, {
      security: [],
      responses: { 204: { description: "There is no session" }, default: problemResponse("Any error") },
    }),
  },
  "/openapi.json": page(
    "openApi",
    "This document; requires no key",
    "application/json",
    { type: "object" },
    { security: [] },
  ),
};
