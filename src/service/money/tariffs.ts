import type { ElectricitySettings, PriceSourceSettings } from "../../config/money.ts";
import type { GroupSettings } from "../../config/schema.ts";
import { formatAddress, parseAddress } from "../../link/address.ts";
import type { Store } from "../../store/index.ts";
import { walkGroups } from "../nested-groups.ts";
import type { Sections } from "../settings/live-settings.ts";
import { PriceCurve, type Tariff, tariffOf } from "./tariff.ts";

/** A source of prices in the configuration, and the curve that it fills. */
export interface PriceFeed {
  readonly settings: PriceSourceSettings;
  readonly curve: PriceCurve;
}

export interface TariffsContext {
  /** Groups and miners are those of the configuration file. */
  readonly settings: Sections<"electricity" | "display" | "groups" | "miners">;
  readonly store: Pick<Store, "miners" | "groups">;
  /** Money of the display currency per unit of another; null if it is unknown. */
  readonly rateOf: (currency: string) => number | null;
}

/**
 * The electricity price of each miner: its own, otherwise that of the innermost group with a price, otherwise the
 * general one.
 */
export class Tariffs {
  readonly #context: TariffsContext;
  #general: Tariff | undefined;
  /** By the key of the file's group in the store. */
  readonly #ofGroups = new Map<string, Tariff>();
  /** By canonical address, which identifies a miner of the file. */
  readonly #ofMiners = new Map<string, Tariff>();
  readonly #feeds = new Map<string, PriceFeed>();

  constructor(context: TariffsContext) {
    this.#context = context;
    this.renew();
  }

  /** Applies the prices of the settings; an unchanged source keeps its prices. */
  renew(): void {
    const { settings, rateOf } = this.#context;
    const before = new Map(this.#feeds);
    for (const map of [this.#ofGroups, this.#ofMiners, this.#feeds]) map.clear();
    const curveOf = (source: PriceSourceSettings): PriceCurve => this.#curveOf(source, before);
    const context = { timeZone: settings.display.timeZone, rateOf, curveOf };
    const tariff = (own: ElectricitySettings | undefined) => own && tariffOf(own, context);
    this.#general = tariff(settings.electricity);
    for (const { group, above } of walkGroups<GroupSettings>(settings.groups)) {
      const own = tariff(group.electricity);
      if (own !== undefined) this.#ofGroups.set(JSON.stringify([...above, group].map(({ name }) => name)), own);
    }
    for (const { address, electricity } of settings.miners) {
      const own = tariff(electricity);
      if (own !== undefined) this.#ofMiners.set(formatAddress(parseAddress(address)), own);
    }
  }

  /** The sources to query. */
  get feeds(): readonly PriceFeed[] {
    return [...this.#feeds.values()];
  }

  /** Undefined if no price is set for it. */
  ofMiner(minerId: number): Tariff | undefined {
    if (this.#ofMiners.size === 0 && this.#ofGroups.size === 0) return this.#general;
    const miner = this.#context.store.miners.get(minerId);
    const own = miner?.owner === "file" ? this.#ofMiners.get(miner.address) : undefined;
    return own ?? this.ofGroup(miner?.groupId ?? 0);
  }

  /** 0: the general tariff. */
  ofGroup(groupId: number): Tariff | undefined {
    const { groups } = this.#context.store;
    const seen = new Set<number>();
    for (let group = groups.get(groupId); group !== undefined && !seen.has(group.id); ) {
      seen.add(group.id);
      const own = group.owner === "file" && !group.disabled ? this.#ofGroups.get(group.key ?? "") : undefined;
      if (own !== undefined) return own;
      group = groups.get(group.parentId);
    }
    return this.#general;
  }

  /** Whether a price may change while the service runs. */
  get changes(): boolean {
    return this.#all().some((tariff) => tariff.curve !== null || tariff.at(0).until !== Number.POSITIVE_INFINITY);
  }

  /** Identifies the prices at a moment: equal texts mean that every miner pays the same price as before. */
  stateAt(time: number): string {
    return this.#all()
      .map((tariff) => String(tariff.at(time).price))
      .join(" ");
  }

  #all(): Tariff[] {
    const general = this.#general === undefined ? [] : [this.#general];
    return [...general, ...this.#ofGroups.values(), ...this.#ofMiners.values()];
  }

  /** Groups and miners with the same source share its prices. */
  #curveOf(settings: PriceSourceSettings, before: ReadonlyMap<string, PriceFeed>): PriceCurve {
    const key = JSON.stringify(settings);
    const known = this.#feeds.get(key) ?? before.get(key);
    if (known !== undefined) {
      this.#feeds.set(key, known);
      return known.curve;
    }
    const curve = new PriceCurve(settings.topic ?? (settings.url === undefined ? settings.type : hostOf(settings.url)));
    this.#feeds.set(key, { settings, curve });
    return curve;
  }
}

const hostOf = (url: string): string => new URL(url).host;
