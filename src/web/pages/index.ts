import type { ComponentType } from "preact";
import type { CallName } from "../../contract/service.ts";
import type { IconName } from "../parts/icon.tsx";

/** A page: its path below the dashboard's address, what its user must be allowed to call, and its place in the menu. */
export interface PageEntry {
  /** With `:id` for a part that varies. */
  readonly path: string;
  readonly load: () => Promise<{ readonly default: ComponentType }>;
  /** Without this right the page does not exist. */
  readonly needs: CallName;
  readonly menu?: { readonly name: MenuName; readonly icon: IconName };
}

export type MenuName =
  | "overview"
  | "rigs"
  | "alarms"
  | "rules"
  | "pools"
  | "money"
  | "activity"
  | "hosts"
  | "add"
  | "settings"
  | "family";

/** All pages, in the order of the menu. */
export const pages: readonly PageEntry[] = [
  {
    path: "",
    load: () => import("./overview/page.tsx"),
    needs: "getSummary",
    menu: { name: "overview", icon: "home" },
  },
  { path: "rigs/:id", load: () => import("./rig/page.tsx"), needs: "getMiner" },
  {
    path: "pools",
    load: () => import("./pools/page.tsx"),
    needs: "listPools",
    menu: { name: "pools", icon: "pools" },
  },
  {
    path: "activity",
    load: () => import("./activity/page.tsx"),
    needs: "listCommands",
    menu: { name: "activity", icon: "activity" },
  },
];
