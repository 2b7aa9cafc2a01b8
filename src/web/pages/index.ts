import type { ComponentType } from "preact";
import type { CallName } from "../../contract/service.ts";
import { loadAllTexts } from "../language.ts";
import { loadOtherOperations } from "../other-operations.ts";
import type { IconName } from "../parts/icon.tsx";

/** A page: its path relative to the dashboard's address, the right that it requires, and its place in the menu. */
export interface PageEntry {
  /** With `:id` for a variable part. */
  readonly path: string;
  readonly load: () => Promise<{ readonly default: ComponentType }>;
  /** Without this right the page does not exist. */
  readonly needs: CallName;
  readonly menu?: {
    readonly name: MenuName;
    readonly icon: IconName;
    /** It has a place in the menu only where there are other sites. */
    readonly onlyWithSites?: true;
  };
}

export type MenuName =
  | "overview"
  | "rigs"
  | "alarms"
  | "rules"
  | "pools"
  | "money"
  | "curtailment"
  | "activity"
  | "hosts"
  | "sites"
  | "places"
  | "add"
  | "settings"
  | "family";

/** The page at a path relative to the dashboard's address. */
export function pageAt(path: string): PageEntry | undefined {
  const parts = path.split("/");
  const fits = (page: string): boolean => {
    const own = page.split("/");
    return own.length === parts.length && own.every((part, index) => part.startsWith(":") || part === parts[index]);
  };
  return pages.find((page) => fits(page.path));
}

const entries: readonly PageEntry[] = [
  {
    path: "",
    load: () => import("./overview/page.tsx"),
    needs: "getSummary",
    menu: { name: "overview", icon: "home" },
  },
  {
    path: "family",
    load: () => import("./family/page.tsx"),
    needs: "listRooms",
    menu: { name: "family", icon: "family" },
  },
  {
    path: "rigs",
    load: () => import("./rigs/page.tsx"),
    needs: "listMiners",
    menu: { name: "rigs", icon: "rigs" },
  },
  { path: "wall", load: () => import("./wall/page.tsx"), needs: "listMiners" },
  { path: "compare", load: () => import("./compare/page.tsx"), needs: "getHistory" },
  { path: "rigs/:id", load: () => import("./rig/page.tsx"), needs: "getMiner" },
  {
    path: "alarms",
    load: () => import("./alarms/page.tsx"),
    needs: "listNotifications",
    menu: { name: "alarms", icon: "bell" },
  },
  {
    path: "places",
    load: () => import("./places/page.tsx"),
    needs: "listPlaces",
    menu: { name: "places", icon: "cards" },
  },
  { path: "places/:id", load: () => import("./places/place-page.tsx"), needs: "listPlaces" },
  {
    path: "rules",
    load: () => import("./rules/page.tsx"),
    needs: "listRules",
    menu: { name: "rules", icon: "rules" },
  },
  { path: "rules/:id", load: () => import("./rules/rule-page.tsx"), needs: "listRules" },
  { path: "rules/schedules/:id", load: () => import("./rules/schedule-page.tsx"), needs: "listSchedules" },
  { path: "rules/templates/:id", load: () => import("./rules/template-page.tsx"), needs: "listManagedTemplates" },
  {
    path: "pools",
    load: () => import("./pools/page.tsx"),
    needs: "listPools",
    menu: { name: "pools", icon: "pools" },
  },
  { path: "money", load: () => import("./money/page.tsx"), needs: "getMoney", menu: { name: "money", icon: "money" } },
  {
    path: "curtailment",
    load: () => import("./curtailment/page.tsx"),
    needs: "listCurtailments",
    menu: { name: "curtailment", icon: "power" },
  },
  { path: "curtailment/:id", load: () => import("./curtailment/report-page.tsx"), needs: "getCurtailmentReport" },
  {
    path: "activity",
    load: () => import("./activity/page.tsx"),
    needs: "listCommands",
    menu: { name: "activity", icon: "activity" },
  },
  { path: "hosts", load: () => import("./hosts/page.tsx"), needs: "listHosts", menu: { name: "hosts", icon: "hosts" } },
  { path: "hosts/several", load: () => import("./hosts/several-page.tsx"), needs: "saveManagedMiner" },
  { path: "hosts/miners/:id", load: () => import("./hosts/miner-page.tsx"), needs: "listManagedMiners" },
  {
    path: "sites",
    load: () => import("./sites/page.tsx"),
    needs: "listSites",
    menu: { name: "sites", icon: "rack", onlyWithSites: true },
  },
  { path: "start", load: () => import("./start/page.tsx"), needs: "addMiner" },
  { path: "add", load: () => import("./add/page.tsx"), needs: "addMiner", menu: { name: "add", icon: "add" } },
  {
    path: "settings",
    load: () => import("./settings/page.tsx"),
    needs: "listMiners",
    menu: { name: "settings", icon: "settings" },
  },
  { path: "settings/service/:id", load: () => import("./settings/section-page.tsx"), needs: "listSettings" },
  { path: "settings/channels/:id", load: () => import("./settings/channel-page.tsx"), needs: "addChannel" },
];

/**
 * All pages, in the order of the menu. The texts and operations of the first one are there; the others load theirs beside
 * their code.
 */
export const pages = entries.map((page): PageEntry => {
  const load = () => Promise.all([page.load(), loadAllTexts(), loadOtherOperations()]).then(([loaded]) => loaded);
  return page.path === "" ? page : { ...page, load };
});
