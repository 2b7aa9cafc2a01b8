import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { z } from "zod";
import { startFarm } from "../../../src/simulator/index.ts";
import { freePort } from "../../free-port.ts";
import { until } from "../../until.ts";
import type { Installed } from "./installed.ts";
import { type HomeAssistant, type LogEntry, startHomeAssistant } from "./instance.ts";

const example = new URL("../../../examples/home-assistant/without-broker.yaml", import.meta.url);
const key = "a-key-for-home-assistant";
/** ms */
const patience = 60_000;

const Rig = z.looseObject({
  readings: z.looseObject({ mining: z.boolean().nullable(), power: z.number().nullable() }),
});

/** A service that can be ended and started again at the same port, over a configuration file in a folder. */
export interface Service {
  configure(config: object): Promise<void>;
  start(): Promise<void>;
  end(signal: NodeJS.Signals): Promise<void>;
}

/** A wrong is a sentence for people. */
export type Note = (point: string, measured: string, wrongs: readonly string[]) => void;

/**
 * The example for those who have no broker, in a Home Assistant without MQTT: it shows what the rig reads, its switch stops
 * and starts the rig, and a rig or service that is away is unavailable.
 */
export async function withoutBroker(
  here: Installed,
  serviceIn: (folder: string, port: number) => Service,
  ours: (log: readonly LogEntry[]) => readonly LogEntry[],
  note: Note,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "rigbridge-home-assistant-"));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const service = serviceIn(folder, port);
  const farm = await startFarm({ rigs: [{ kind: "axeos", warm: true }] });
  let home: HomeAssistant | null = null;
  try {
    await service.configure({
      miners: [{ address: farm.rigs[0]?.address, name: "Garage" }],
      users: [{ name: "home-assistant", key, privilege: "control" }],
      poll: { interval: 2 },
      store: { url: "rigbridge.db" },
    });
    await service.start();
    const text = await readFile(example, "utf8");
    const rig = /\/api\/miners\/\d+/.exec(text)?.[0] ?? "";
    const read = async () => {
      const answer = await fetch(url + rig, { headers: { "x-api-key": key } });
      return Rig.parse(await answer.json()).readings;
    };
    await until(async () => (await read()).mining === true, "the rig to be read", { timeoutMs: patience });
    home = await startHomeAssistant(here, {
      more: text.replaceAll("http://192.168.1.9:17790", url).replaceAll("scan_interval: 30", "scan_interval: 2"),
      files: { "secrets.yaml": stringify({ rigbridge_key: key }) },
    });
    await look(home, { farm, service, read }, ours, note);
  } finally {
    await home?.close();
    await service.end("SIGKILL");
    await farm.close();
    await rm(folder, { recursive: true, force: true });
  }
}

interface Scene {
  readonly farm: Awaited<ReturnType<typeof startFarm>>;
  readonly service: Service;
  readonly read: () => Promise<z.infer<typeof Rig>["readings"]>;
}

async function look(
  home: HomeAssistant,
  { farm, service, read }: Scene,
  ours: (log: readonly LogEntry[]) => readonly LogEntry[],
  note: Note,
): Promise<void> {
  const stateOf = async (entity: string) => (await home.states()).get(entity)?.state ?? "not there";
  /** Empty, or what it is instead. */
  const becomes = async (entity: string, is: (state: string) => boolean | Promise<boolean>): Promise<string[]> => {
    const holds = async () => is(await stateOf(entity));
    return until(holds, entity, { timeoutMs: patience }).then(
      () => [],
      async () => [`${entity} is ${await stateOf(entity)}`],
    );
  };
  const isNumber = (state: string): boolean => Number(state) > 0;
  // The rig was found a moment ago.
  const isCount = (state: string): boolean => Number(state) >= 0;
  const isAway = (state: string): boolean => state === "unavailable";
  const measured = ["hash_rate", "power", "temperature"].map((each) => `sensor.garage_${each}`);

  const shown = [
    ...(await becomes("sensor.garage_status", (state) => state === "Mining")),
    ...(await becomes("sensor.rigs_mining", (state) => state === "1")),
    ...(await becomes("switch.garage", (state) => state === "on")),
    ...(await becomes("sensor.garage_power", async (state) => Number(state) === (await read()).power)),
    ...(await becomes("sensor.garage_energy", isCount)),
    ...(await Promise.all(measured.map((each) => becomes(each, isNumber)))).flat(),
  ];
  note("without a broker: the example shows the rig", `${measured.length + 4} entities`, shown);
  note("without a broker: no warning, no error in the log", `${ours(home.log).length} entries`, [
    ...ours(home.log).map(({ level, logger, text }) => `${level} [${logger}] ${text}`),
  ]);

  const commanded: string[] = [];
  for (const [action, word, mining] of [
    ["switch.turn_off", "off", false],
    ["switch.turn_on", "on", true],
  ] as const) {
    const { status, text } = await home.call(action, { entity_id: "switch.garage" });
    if (status !== 200) commanded.push(`${action} answered ${status}: ${text}`);
    commanded.push(...(await becomes("switch.garage", (state) => state === word)));
    if ((await read()).mining !== mining)
      commanded.push(`after ${action} the rig's mining is ${(await read()).mining}`);
  }
  note("without a broker: the switch stops and starts the rig", "switch.turn_off, switch.turn_on", commanded);

  farm.rigs[0]?.powerOff();
  const off = (await Promise.all([...measured, "switch.garage"].map((each) => becomes(each, isAway)))).flat();
  note("without a broker: a rig that is off has no figures", "hash rate, power, temperature, switch", off);

  await service.end("SIGTERM");
  const away = await becomes("sensor.garage_status", isAway);
  await service.start();
  const back = await becomes("sensor.garage_status", (state) => !isAway(state) && state !== "unknown");
  note("without a broker: the service away, and back", "sensor.garage_status", [...away, ...back]);
}
