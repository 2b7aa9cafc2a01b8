import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { inputOf } from "../contract/decode.ts";
import type { Operation } from "../contract/operations.ts";
import type { MiningService } from "../contract/service.ts";
import { Session, SessionBody } from "../contract/session.ts";
import type { Admission } from "./admission.ts";
import { sendDone, sendRead } from "./answers.ts";
import { readJson, skipBody } from "./body.ts";
import { callerOf } from "./caller.ts";
import type { Admitted } from "./credentials.ts";
import type { HttpLimits } from "./limits.ts";
import type { LoginCodes } from "./login-codes.ts";
import { sessionPath } from "./paths.ts";
import { endOf, type Sessions } from "./sessions.ts";

interface Serving {
  readonly service: MiningService;
  readonly sessions: Sessions;
  readonly codes: LoginCodes;
  readonly login: Admission["login"];
  readonly version: string;
  readonly limits: HttpLimits;
}

/** Longest body that opens a session, in bytes. */
const loginBytes = 4_096;

/** Decoded and described like operations of the contract, but only here: other front ends have no browsers. */
const common = {
  kind: "call",
  path: sessionPath,
  access: { privilege: "view", scope: "visible" },
  scope: "own",
} as const;
const extension = { ...common, reply: Session, extension: true } as const;
export const sessionOperations = {
  getSession: { ...extension, method: "GET", summary: "Who the caller is, and which operations they may call" },
  openSession: { ...extension, method: "POST", summary: "Opens the session of a browser", body: SessionBody },
  closeSession: { ...extension, method: "DELETE", summary: "Ends the session of a browser, and takes its cookie away" },
} as const satisfies Record<string, Operation>;

/** GET, POST and DELETE /api/session. */
export function addSessionRoutes(app: FastifyInstance, serving: Serving): void {
  const { service, sessions, codes, login, version, limits } = serving;
  const decodeRead = inputOf(sessionOperations.getSession);
  const decodeLogin = inputOf(sessionOperations.openSession);

  const sessionOf = async (admitted: Admitted, userId?: number): Promise<Session> => {
    const { session, holder, isOwner, centre } = admitted;
    return {
      ...(await service.about(callerOf(admitted, userId))),
      by: session !== undefined ? "session" : holder !== undefined || isOwner || centre !== undefined ? "key" : "none",
      expiresUtc: session === undefined ? null : new Date(endOf(session)).toISOString(),
      version,
    };
  };

  /** Ends the session of a browser that logs out, or that logs in again and would forget its earlier cookie. */
  const endSession = async (request: FastifyRequest): Promise<void> => {
    const digest = sessions.digestIn(request);
    if (digest !== undefined) await sessions.end(digest);
  };

  app.route({
    method: ["GET", "HEAD"],
    url: sessionPath,
    handler: async (request, reply) => {
      const { userId } = decodeRead({ params: {}, query: request.queryText, body: undefined });
      return sendRead(request, reply, await sessionOf(request.admitted, userId));
    },
  });
  app.route({
    method: "POST",
    url: sessionPath,
    handler: async (request, reply) => {
      const body = await readJson(reply.raw, { ...limits, body: loginBytes }, request.chargeForBody);
      const { input } = decodeLogin({ params: {}, query: request.queryText, body });
      const given = SessionBody.parse(input).key;
      const key = codes.redeem(given) ?? given;
      const admitted = login(request, reply, key);
      await endSession(request);
      const { id, session } = await sessions.open(admitted.holder?.id ?? null, key);
      reply.header("set-cookie", sessions.cookie(request, id));
      return sendDone(reply, 201, await sessionOf({ ...admitted, session }));
    },
  });
  app.route({
    method: "DELETE",
    url: sessionPath,
    handler: async (request, reply): Promise<FastifyReply> => {
      await skipBody(reply.raw, limits, request.chargeForBody);
      await endSession(request);
      return reply.header("set-cookie", sessions.cookie(request, null)).code(204).send();
    },
  });
}
