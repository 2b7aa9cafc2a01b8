import type { overview as source } from "../en/overview.ts";

export const overview: typeof source = {
  title: "Übersicht",
  hashrate: "Hashrate",
  power: "Leistung",
  efficiency: "Effizienz",
  profit: "Gewinn pro Tag",
};
