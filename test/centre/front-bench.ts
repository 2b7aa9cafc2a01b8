import { pino } from "pino";
import { HttpSettings } from "../../src/config/schema.ts";
import { numberAt } from "../../src/contract/site-numbers.ts";
import { startHttpServer } from "../../src/http/index.ts";
import { onTestFinished } from "../finished.ts";
import { until } from "../until.ts";
import { owner, startCentre, startSite } from "./centre-bench.ts";

export const ownersKey = "key-of-the-owner-at-the-centre";

/**
 * A centre with a rig `Garage` of its own and the site Cabin, whose rigs are `Heater`, in the group Attic, and `Spare`; all
 * front ends are built over it as they are over a service.
 */
export async function startCabin() {
  const rig = { kind: "axeos", warm: true, restartSeconds: 0 } as const;
  const cabin = await startSite("Cabin", { config: { groups: [{ name: "Attic", room: true }] }, rigs: [rig, rig] });
  const ids = (await cabin.bench.service.listMinerRows({ view: "list" }, owner)).miners.map(({ id }) => id);
  const [heaterThere = 0, spareThere = 0] = ids;
  await cabin.bench.service.changeMiner({ id: heaterThere, name: "Heater", group: "Attic" }, owner);
  await cabin.bench.service.changeMiner({ id: spareThere, name: "Spare" }, owner);
  const running = await startCentre([cabin], { own: { rigs: [{ kind: "cgminer", warm: true }] } });
  const garage = await running.own.add(running.own.rig(0).address, { name: "Garage" });
  const { centre } = running;
  const rows = async () => (await centre.listMinerRows({ view: "list" }, owner)).miners;
  await until(async () => (await rows()).some(({ name }) => name === "Garage"), "the centre's own rig");
  const settings = HttpSettings.parse({ port: 0, key: ownersKey, mcp: true });
  const log = pino({ level: "silent" });
  const server = await startHttpServer({ service: centre, settings, log, version: "1.2.3" });
  onTestFinished(() => server.close());
  const uidOf = async (id: number): Promise<string> => (await centre.getMiner({ id }, owner)).uid ?? "";
  return {
    ...running,
    cabin,
    url: server.url,
    rows,
    uidOf,
    garage,
    heater: numberAt(1, heaterThere),
    spare: numberAt(1, spareThere),
    /** The actions in the log of the site, oldest first. */
    doneThere: async () =>
      (await cabin.bench.service.listCommands({}, owner)).commandList
        .map(({ action, minerId, state }) => `${action} ${minerId} ${state}`)
        .toReversed(),
    heaterThere,
    spareThere,
  };
}
