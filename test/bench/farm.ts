import { z } from "zod";
import { type Farm, farmOf, farmToken, type SimulatedRig, startFarm } from "../../src/simulator/index.ts";
import { answering } from "./child.ts";

/** The simulator as a process of its own: many rigs behind one listener a port, each with an address of its own. */

export const FarmSettings = z.object({
  count: z.int(),
  /** The kinds take turns. */
  kinds: z.array(z.enum(["cgminer", "axeos", "xmrig"])),
  /** Free ones, one for each kind. */
  ports: z.array(z.int()),
  /** Of every ten rigs so many take connections and never answer. */
  silentOfTen: z.int(),
  /** The count of accepted shares is the clock's time when the reply is made: ms since this. */
  stampedSince: z.number().nullable(),
  /** A board is switched off or on again before each reply. */
  switching: z.boolean(),
});
export type FarmSettings = z.infer<typeof FarmSettings>;

let farm: Farm | null = null;

answering({
  start: async (input) => {
    const settings = FarmSettings.parse(input);
    const { count, kinds } = settings;
    const ports = Object.fromEntries(kinds.map((kind, index) => [kind, settings.ports[index] ?? 0]));
    const mix = Object.fromEntries(kinds.map((kind) => [kind, 1]));
    const { rigs } = farmOf(count, mix, { ports });
    // Away from the addresses that a simulated farm usually has.
    const specs = rigs.map((spec) => ({ ...spec, host: (spec.host ?? "").replace(/^127\.1\./, "127.104.") }));
    farm = await startFarm({ rigs: specs, oneListener: true });
    for (const [index, rig] of farm.rigs.entries()) {
      if (index % 10 < settings.silentOfTen) rig.fault = "silent";
      if (settings.stampedSince !== null) stamp(rig, settings.stampedSince);
      if (settings.switching) switchBefore(rig);
    }
    return farm.rigs.map(({ address, kind }) => ({ address, kind, token: kind === "xmrig" ? farmToken : null }));
  },
  /** All that came whole. */
  requests: () => farm?.rigs.reduce((sum, { requests }) => sum + requests.count, 0),
});

function stamp({ model }: SimulatedRig, since: number): void {
  Object.defineProperty(model, "shares", { get: () => ({ accepted: Date.now() - since, rejected: 0 }) });
}

/** Every request advances the model first. */
function switchBefore({ model }: SimulatedRig): void {
  const advance = model.advance.bind(model);
  model.advance = () => {
    advance();
    if (!model.boardsOff.delete(0)) model.boardsOff.add(0);
  };
}
