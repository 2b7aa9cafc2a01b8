import type { overview as source } from "../en/overview.ts";

export const overview: typeof source = {
  title: "نمای کلی",
  hashrate: "نرخ هش",
  power: "توان",
  efficiency: "بازده",
  profit: "سود روزانه",
};
