import type { overview as source } from "../en/overview.ts";

export const overview: typeof source = {
  title: "Översikt",
  hashrate: "Hashhastighet",
  power: "Effekt",
  efficiency: "Verkningsgrad",
  profit: "Vinst per dag",
};
