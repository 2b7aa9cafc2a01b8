import { test } from "@jest/globals";
import fc from "fast-check";
import { braiins } from "../../../src/link/drivers/braiins/index.ts";
import type { Credentials, Link } from "../../../src/link/link.ts";
import type { HttpCall } from "../../../src/link/transports/http.ts";
import { type BraiinsSpec, startFarm } from "../../../src/simulator/index.ts";
import { ask } from "../../simulator/ask.ts";
import { linkOf } from "../link-double.ts";
import { deadline } from "../rigs.ts";
import { expectContractReads } from "./contract-reads.ts";

/** What a healthy rig answers to each question. */
type Answers = ReadonlyMap<string, unknown>;

const odd = fc.constantFrom<unknown>(
  ...[null, true, "", "nan", "-1", "\u202e\u0000x", -1, 0, 1e308, 2 ** 63, 255, 1.5],
  ...[[], {}, [null], [[]], [{}], { __proto__: null }],
);

/** One thing in an answer is replaced, at any depth. */
function changed(value: unknown, path: readonly number[], by: unknown): unknown {
  const [first, ...rest] = path;
  if (first === undefined || typeof value !== "object" || value === null) return by;
  const entries = Object.entries(value);
  if (entries.length === 0) return by;
  const at = first % entries.length;
  const next = entries.map(([key, each], index) => [key, index === at ? changed(each, rest, by) : each]);
  return Array.isArray(value) ? next.map(([, each]) => each) : Object.fromEntries(next);
}

const keyOf = ({ method, path, body }: HttpCall): string =>
  path === "/graphql" ? `${path} ${JSON.stringify(body).includes("login(") ? "login" : "query"}` : `${method} ${path}`;

/** Everything that the driver asks of a healthy rig, as it was answered. */
async function recorded(spec: Pick<BraiinsSpec, "generation">, credentials: Credentials): Promise<Answers> {
  const farm = await startFarm({ rigs: [{ kind: "braiins", warm: true, ...spec }], clock: () => 1.8e12 });
  const answers = new Map<string, unknown>();
  try {
    const [simulated] = farm.rigs;
    if (simulated === undefined) throw new Error("no rig");
    const link = linkOf({
      credentials,
      rpc: {
        send: async (command, parameter) => {
          const reply = await ask(simulated, JSON.stringify({ command, parameter }));
          const value: unknown = JSON.parse(reply.replace("\0", ""));
          answers.set(`rpc ${command}`, value);
          return { value, notes: [] };
        },
      },
      http: {
        call: async (call) => {
          const init = {
            method: call.method,
            headers: { ...call.headers },
            ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
          };
          const reply = await fetch(`http://${simulated.address}${call.path}`, init);
          const headers = Object.fromEntries(reply.headers);
          const body = await reply.text();
          answers.set(keyOf(call), { status: reply.status, headers, body });
          return { status: reply.status, headers, body, notes: [] };
        },
      },
    });
    await braiins.connect(link).read(deadline());
  } finally {
    await farm.close();
  }
  return answers;
}

interface Change {
  readonly answer: number;
  readonly path: readonly number[];
  readonly by: unknown;
}

function linkSaying(answers: Answers, changes: readonly Change[], credentials: Credentials): Link {
  const keys = [...answers.keys()];
  const said = (key: string): unknown => {
    const value = answers.get(key);
    const mine = changes.filter(({ answer }) => keys[answer % keys.length] === key);
    return mine.reduce((now, { path, by }) => bodyChanged(now, path, by), value);
  };
  return linkOf({
    credentials,
    rpc: {
      ask: async () => ({ value: null, notes: [] }),
      send: async (command) => ({ value: said(`rpc ${command}`), notes: [] }),
    },
    http: {
      getJson: async () => ({ value: null, notes: [] }),
      send: async () => ({ status: 200, headers: {}, body: "", notes: [] }),
      call: async (call) => ({ status: 404, headers: {}, body: "", notes: [], ...Object(said(keyOf(call))) }),
    },
  });
}

/** Of an HTTP answer the JSON in its body is changed. */
function bodyChanged(value: unknown, path: readonly number[], by: unknown): unknown {
  if (typeof value !== "object" || value === null || !("body" in value)) return changed(value, path, by);
  const body = String(value.body);
  if (!/^[[{tf]/.test(body)) return value;
  return { ...value, body: JSON.stringify(changed(JSON.parse(body), path, by)) ?? "null" };
}

test.each<[string, Pick<BraiinsSpec, "generation">, Credentials]>([
  ["BOSer with a login", { generation: "boser" }, { password: "" }],
  ["BOSminer with a login", { generation: "bosminer" }, { password: "" }],
  ["BOSer without one", { generation: "boser" }, {}],
])("whatever %s answers, a read fits the contract or fails as documented", async (_, spec, credentials) => {
  const answers = await recorded(spec, credentials);
  const path = fc.array(fc.nat(40), { maxLength: 8 });
  const change = fc.record({ answer: fc.nat(30), path, by: odd });
  const changes = fc.array(change, { minLength: 1, maxLength: 3 });
  await expectContractReads(changes, (made) => braiins.connect(linkSaying(answers, made, credentials)), 400);
});
