import type { HostGpu } from "../../contract/agent.ts";

/** One card of the host; `slot` is its PCI address, such as 0000:0a:00.0. */
export interface Card extends Omit<HostGpu, "id" | "vendorId" | "pciBusId"> {
  readonly slot: string;
}

type Figure = Exclude<keyof Card, "slot" | "name" | "vendor" | "lost">;

/** A card without readings. */
export const unreadCard = (identity: Pick<Card, "slot" | "name" | "vendor">): Card => ({
  ...identity,
  ...noFigures,
  lost: false,
});

const noFigures: Readonly<Record<Figure, null>> = {
  activity: null,
  clock: null,
  memoryClock: null,
  voltage: null,
  powertune: null,
  fanRpm: null,
  fanPercent: null,
  temperature: null,
  memoryTemperature: null,
  power: null,
  powerLimit: null,
  memory: null,
};

/** A card that was read before but does not answer now; its memory size is kept. */
export const withoutFigures = (card: Card, lost: boolean): Card => ({
  ...card,
  ...noFigures,
  memory: card.memory,
  lost,
});

const pciAddress = /^([0-9a-f]{4,8}):([0-9a-f]{1,2}):([0-9a-f]{1,2})\.([0-7])$/i;

/** A PCI address in one spelling: nvidia-smi writes 00000000:0A:00.0 for 0000:0a:00.0. */
export function slotOf(text: string): string | null {
  const [, domain = "", bus = "", device = "", part = ""] = pciAddress.exec(text.trim()) ?? [];
  if (bus === "") return null;
  return `${hex(domain, 4)}:${hex(bus, 2)}:${hex(device, 2)}.${part}`;
}

const hex = (digits: string, width: number) => Number.parseInt(digits, 16).toString(16).padStart(width, "0");

/** Number of the PCI bus of a slot in the spelling of `slotOf`. */
export const busOf = (slot: string): number => Number.parseInt(slot.split(":")[1] ?? "0", 16);

/** Maximum cards of one host. */
const mostCards = 64;

/** The cards as the host reports them: in the order of their PCI addresses, counted as a whole and within each maker. */
export function numbered(cards: readonly Card[]): HostGpu[] {
  const counts: Record<HostGpu["vendor"], number> = { nvidia: 0, amd: 0, intel: 0 };
  return [...cards]
    .sort((a, b) => (a.slot < b.slot ? -1 : 1))
    .slice(0, mostCards)
    .map(({ slot, ...card }, id) => {
      const vendorId = counts[card.vendor];
      counts[card.vendor] += 1;
      return { ...card, id, vendorId, pciBusId: busOf(slot) };
    });
}
