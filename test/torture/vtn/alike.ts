import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { startVtn } from "../../../src/simulator/index.ts";
import { idOf, type Login, type OpenLeadr, tokenOf } from "./openleadr.ts";

/** Written in as many ways as the standard allows. */
const eventOf = (programId: string, priority: number | null) => ({
  objectType: "EVENT",
  programID: programId,
  eventName: `Priority ${priority}`,
  priority,
  targets: ["texas"],
  payloadDescriptors: [{ objectType: "EVENT_PAYLOAD_DESCRIPTOR", payloadType: "DISPATCH_SETPOINT", units: "KW" }],
  intervalPeriod: { start: "2100-07-01T12:00:00.5+02:00", duration: "P1DT2H", randomizeStart: "PT90S" },
  intervals: [
    { id: 0, payloads: [{ type: "DISPATCH_SETPOINT", values: [2] }] },
    {
      id: 1,
      intervalPeriod: { start: "2100-07-03T12:00:00Z", duration: "PT0.5H" },
      payloads: [{ type: "SIMPLE", values: [1] }],
    },
  ],
});

const Answer = z.record(z.string(), z.unknown());

/** Of an answer what two servers must have in common: not ids of requests, nor fractions of the time of a change. */
async function shown(url: string, path: string, login: Login | null, body?: URLSearchParams): Promise<unknown> {
  const authorization = login === null ? {} : { authorization: `Bearer ${await tokenOf(url, login)}` };
  const answer = await fetch(url + path, {
    headers: authorization,
    ...(body === undefined ? {} : { method: "POST", body }),
  });
  const heads = ["content-type", "www-authenticate"].map((name) => answer.headers.get(name));
  const json: unknown = await answer.json();
  if (Array.isArray(json)) return { status: answer.status, heads, list: json.map(comparable) };
  const { type, title, status, error, ...others } = Answer.parse(json);
  return { status: answer.status, heads, problem: { type, title, status, error }, others: Object.keys(others).sort() };
}

const comparable = (object: unknown): unknown => {
  const { createdDateTime, modificationDateTime, ...others } = Answer.parse(object);
  const times = [createdDateTime, modificationDateTime].map((time) => String(time).replace(/\.\d+/, ""));
  return { ...others, times };
};

/** What the simulator's VTN answers otherwise than another, a line each: lists, and refusals. */
export async function differencesOf(vtn: OpenLeadr, programId: string): Promise<string[]> {
  const added = [];
  for (const priority of [null, 7, 3]) {
    const posted = eventOf(programId, priority);
    const answer = Answer.parse(await vtn.ask("POST", "/events", posted));
    const { id, createdDateTime, modificationDateTime } = answer;
    added.push({ ...posted, id, createdDateTime, modificationDateTime });
  }
  const simulated = await startVtn({ login: vtn.ven });
  simulated.events = added;
  try {
    const wrong = { grant_type: "client_credentials", client_id: "rigbridge", client_secret: "wrong" };
    const compared: readonly [path: string, login: Login | null, body?: URLSearchParams][] = [
      ["/events?skip=0&limit=50", vtn.ven],
      ["/events?skip=1&limit=1", vtn.ven],
      ["/events?skip=3&limit=50", vtn.ven],
      ["/events?skip=0&limit=51", vtn.ven],
      ["/events", null],
      ["/nothing", vtn.ven],
      ["/auth/token", null, new URLSearchParams(wrong)],
    ];
    const lines: string[] = [];
    for (const [path, login, body] of compared) {
      const [one, other] = [await shown(vtn.url, path, login, body), await shown(simulated.url, path, login, body)];
      if (!isDeepStrictEqual(one, other))
        lines.push(`${path}: ${JSON.stringify(one)}, and the simulator ${JSON.stringify(other)}`);
    }
    return lines;
  } finally {
    await simulated.close();
    for (const each of added) await vtn.ask("DELETE", `/events/${idOf(each)}`);
  }
}
