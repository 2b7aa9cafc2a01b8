import { existsSync, globSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { type Running, running } from "../../cli/command.ts";
import { freePort } from "../../free-port.ts";
import { ownHost } from "../../own-host.ts";
import { type Line, startLine } from "../../store/line.ts";
import { main } from "../process.ts";
import { type Send, sender } from "../written.ts";
import type { Engine } from "./engine.ts";

/** A service of the pair, with lines of its own to the engine and to the other service. */
export interface Member {
  readonly url: string;
  /** From which it connects. */
  readonly host: string;
  readonly toEngine: Line;
  readonly toOther: Line;
  readonly send: Send;
  service: Running;
  start(): Promise<void>;
  /** Sets its clock, s from the right one; null if that cannot be done here. */
  readonly setClock: ((seconds: number) => void) | null;
  close(): Promise<void>;
}

export interface MemberOptions {
  readonly folder: string;
  readonly name: string;
  readonly port: number;
  readonly otherPort: number;
  readonly engine: Engine;
  /** The rest of its configuration. */
  readonly config: object;
}

const says = /is ready at http|this one waits to take its place|away; this service waits/;

/** Debian's package libfaketime. The steady clock stays right, as it does when a machine's clock is set. */
const [fakeTime = ""] = globSync("/usr/lib/*/faketime/libfaketime.so.1");
export const canSetClocks = existsSync(fakeTime);

export async function startMember({ folder, name, port, otherPort, engine, config }: MemberOptions): Promise<Member> {
  const toEngine = await startLine(engine.place);
  const toOther = await startLine({ host: "127.0.0.1", port: otherPort });
  const file = join(folder, `${name}.yaml`);
  const clock = join(folder, `${name}.clock`);
  const host = ownHost();
  const store = { url: toEngine.urlOf(engine.url()), site: "barn" };
  writeFileSync(file, JSON.stringify({ http: { port }, store, ...config }), { mode: 0o600 });
  const setClock = (seconds: number): void => writeFileSync(clock, seconds < 0 ? `${seconds}` : `+${seconds}`);
  setClock(0);
  const env = {
    NODE_OPTIONS: `--import=${new URL("own-network.preload.ts", import.meta.url).pathname}`,
    OWN_HOST: host,
    OTHER_PORT: String(otherPort),
    RELAY_PORT: String(toOther.port),
    ...(canSetClocks
      ? {
          LD_PRELOAD: fakeTime,
          FAKETIME_TIMESTAMP_FILE: clock,
          FAKETIME_CACHE_DURATION: "1",
          FAKETIME_DONT_FAKE_MONOTONIC: "1",
        }
      : {}),
  };
  const start = () => running(["serve", "--config", file], says, { cwd: folder, program: main, env });
  const pids: number[] = [];
  const startCounted = async (): Promise<Running> => {
    const service = await start();
    pids.push(service.pid);
    return service;
  };
  const url = `http://127.0.0.1:${port}`;
  const { send, close } = sender(url);
  const member: Member = {
    url,
    host,
    toEngine,
    toOther,
    send,
    service: await startCounted(),
    start: async () => {
      member.service = await startCounted();
    },
    setClock: canSetClocks ? setClock : null,
    close: async () => {
      member.service.signal("SIGKILL");
      await member.service.ended;
      close();
      await toEngine.close();
      await toOther.close();
      // What a killed process leaves of its clock.
      for (const pid of pids)
        for (const name of [`faketime_shm_${pid}`, `sem.faketime_sem_${pid}`])
          rmSync(`/dev/shm/${name}`, { force: true });
    },
  };
  return member;
}

const Active = z.object({ role: z.literal("active"), epoch: z.number() });

/** The epoch of a service that says that it may act; null if it does not. */
export async function activeEpoch({ send }: Member): Promise<number | null> {
  const answer = await send("GET", "/health/active", undefined, { timeoutMs: 2_000 });
  return answer?.status === 200 ? (Active.safeParse(answer.body).data?.epoch ?? null) : null;
}

export const twoPorts = async (): Promise<readonly [number, number]> => [await freePort(), await freePort()];
