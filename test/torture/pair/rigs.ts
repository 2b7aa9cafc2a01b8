import { type Farm, startFarm } from "../../../src/simulator/index.ts";
import { type Relay, startRelay } from "../../relay.ts";

/** What a rig was told, by the percentage of its fan that tells commands apart. */
export interface Told {
  readonly value: number;
  /** Epoch ms. */
  readonly at: number;
  /** The address of the service. */
  readonly from: string;
}

/** A rig that counts. */
export interface CountingRig {
  readonly address: string;
  readonly told: readonly Told[];
  longestGap(): Gap;
}

/** The time between two reads. */
export interface Gap {
  readonly ms: number;
  /** Epoch ms of its end. */
  readonly at: number;
}

export interface CountingRigs {
  readonly rigs: readonly CountingRig[];
  close(): Promise<void>;
}

const fan = /PATCH [\s\S]*?"(?:manualFanSpeed|fanspeed)":(\d+)/;
const read = /GET \/api\/system\/info/;

/** Bitaxes behind relays that see every byte of the services. */
export async function startCountingRigs(count: number): Promise<CountingRigs> {
  const farm: Farm = await startFarm({ rigs: Array.from({ length: count }, () => ({ kind: "axeos", warm: true })) });
  const relays: Relay[] = [];
  const rigs: CountingRig[] = [];
  for (const { address } of farm.rigs) {
    const { hostname, port } = new URL(`http://${address}`);
    const told: Told[] = [];
    let lastRead = Date.now();
    let longest: Gap = { ms: 0, at: lastRead };
    const gapNow = (): Gap => ({ ms: Date.now() - lastRead, at: Date.now() });
    const longestNow = (): Gap => [longest, gapNow()].reduce((one, other) => (other.ms > one.ms ? other : one));
    const relay = await startRelay({ host: hostname, port: Number(port || 80) }, (client, behind) => {
      let text = "";
      client.on("data", (part) => {
        text += part;
        if (read.test(text)) {
          longest = longestNow();
          lastRead = Date.now();
          text = "";
        }
        for (let match = fan.exec(text); match !== null; match = fan.exec(text)) {
          told.push({ value: Number(match[1]), at: Date.now(), from: client.remoteAddress ?? "" });
          text = text.slice(match.index + match[0].length);
        }
        behind.write(part);
      });
      client.on("end", () => behind.end());
      behind.pipe(client);
    });
    relays.push(relay);
    rigs.push({
      address: `127.0.0.1:${relay.port}`,
      told,
      longestGap: longestNow,
    });
  }
  return {
    rigs,
    close: async () => {
      for (const relay of relays) await relay.close();
      await farm.close();
    },
  };
}
