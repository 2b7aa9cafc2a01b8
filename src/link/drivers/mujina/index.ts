import type { ControlKey, ControlValue, Identity } from "../../../contract/readings.ts";
import { toggle } from "../../controls.ts";
import type { Driver, Question, Reading, Rig, Signs } from "../../driver.ts";
import type { Link } from "../../link.ts";
import { Notes, TolerantReader } from "../../tolerant-reader.ts";
import type { HttpTransport } from "../../transports/http.ts";
import { parseReply } from "../../transports/json.ts";
import { garbled } from "../../transports/limits.ts";
import { OfferedControls } from "../shared/offered-controls.ts";
import { devicesOf, identityOf, poolsOf, readingsOf } from "./readings.ts";

const apiPort = 7785;
const path = "/api/v0/miner";

/** Mujina, an open program for mining boards: one document over HTTP, without a login. Source: Mujina's API document. */
export const mujina: Driver = {
  id: "mujina",
  name: "Mujina",
  evidence: {
    readings: "never tried; built from Mujina's API document",
    controls: "never tried; built from Mujina's API document",
  },
  ports: [apiPort],
  recognise: (signs) => recognise(signs),
  connect: (link) => new MujinaRig(link),
};

const isMiner = (miner: TolerantReader): boolean =>
  miner.isList("boards") && miner.isList("sources") && miner.has("uptime_secs");

/** Its document is asked for only where the address has a port. */
function recognise({ root, pages, port }: Signs): Partial<Identity> | Question | undefined {
  if (root === null || port === undefined) return undefined;
  if (!Object.hasOwn(pages, path)) return { page: path };
  const parsed = parseReply(pages[path]?.body ?? "");
  if ("problem" in parsed) return undefined;
  const miner = new TolerantReader(parsed.value, new Notes(), "");
  return isMiner(miner) ? identityOf(miner) : undefined;
}

class MujinaRig implements Rig {
  readonly quick = true;
  readonly pools = {};
  readonly #http: HttpTransport;
  readonly #offered = new OfferedControls();

  constructor(link: Link) {
    this.#http = link.httpOn(apiPort);
  }

  async read(signal: AbortSignal): Promise<Reading> {
    const notes = new Notes();
    const reply = await this.#http.getJson(path, signal);
    notes.addAll(reply.notes);
    const miner = new TolerantReader(reply.value, notes, "");
    if (!isMiner(miner)) throw garbled(this.#http.at, "this is not the state of Mujina");
    const readings = readingsOf(miner);
    return {
      identity: identityOf(miner),
      readings: { ...readings, notes: notes.list() },
      pools: poolsOf(miner),
      devices: devicesOf(miner, readings.boards),
      controls: this.#offered.offer([
        {
          control: toggle("mining", readings.mining, { lasting: false, restartsMining: false, seconds: 10 }),
          set: async (on, short) => {
            await this.#http.send({ method: "PATCH", path, body: { paused: on !== true } }, short);
            return on === true ? "Mujina resumes mining" : "Mujina pauses mining";
          },
        },
      ]),
      poolActions: [],
      software: null,
      logInterval: null,
      workUtility: null,
    };
  }

  set(key: ControlKey, value: ControlValue, signal: AbortSignal): Promise<string> {
    return this.#offered.set(this, key, value, signal);
  }

  close(): void {
    this.#http.close();
  }
}
