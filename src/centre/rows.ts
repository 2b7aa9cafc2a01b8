import { invalid } from "../contract/problems.ts";
import type { Group } from "../contract/resources.ts";
import type { MinerRow, RowColumn } from "../contract/rows.ts";
import { numberAt, numberThere, siteOf } from "../contract/site-numbers.ts";
import type { Events } from "../service/events/events.ts";
import type { ListedRows } from "../service/miners/miner-rows.ts";
import { RowCache, selectionOf } from "../service/miners/row-cache.ts";
import { withInnerGroups } from "../service/nested-groups.ts";
import type { Access } from "../service/users/access.ts";
import type { Site } from "./site.ts";
import { groupNameAt } from "./translate.ts";

/** The rows of all sites under the numbers of the centre. A value is taken from the site's row when it is read. */
export class CentreRows implements ListedRows {
  readonly cache: RowCache;
  readonly #sites: ReadonlyMap<number, Site>;

  constructor(sites: ReadonlyMap<number, Site>, events: Events) {
    this.#sites = sites;
    this.cache = new RowCache({
      markOf: (id) => events.markOf(id),
      movedAt: (id) => events.movedAt(id),
      now: () => performance.now(),
      values: (id, names) => this.#values(id, names),
    });
  }

  visible(access: Access): number[] {
    const ids: number[] = [];
    for (const { id: site, rows } of this.#sites.values())
      for (const row of rows.values())
        if (access.all || access.seesGroup(numberAt(site, row.group))) ids.push(numberAt(site, row.id));
    return ids;
  }

  sees(id: number, access: Access): boolean {
    const row = this.#rowOf(id);
    return row !== undefined && (access.all || access.seesGroup(numberAt(siteOf(id), row.group)));
  }

  inGroup(group: number | string, access: Access): ReadonlySet<number> {
    const all = this.groups();
    const found = all.find(({ id, name }) => id === group || name === group)?.id ?? (group === 0 ? 0 : undefined);
    if (found === undefined || !access.seesGroup(found)) throw invalid("group", `there is no group ${group}`);
    const inner = found === 0 ? new Set([0]) : withInnerGroups([found], all);
    const ids = new Set<number>();
    for (const { id: site, rows } of this.#sites.values())
      for (const row of rows.values()) if (inner.has(numberAt(site, row.group))) ids.add(numberAt(site, row.id));
    return ids;
  }

  hasTag(id: number, tag: string): boolean {
    return this.#rowOf(id)?.tags.includes(tag) === true;
  }

  nesting(): unknown {
    return this.groups().map(({ id, parentId }) => [id, parentId]);
  }

  /** Reads rows that have changed, so that a list knows of the change, although they may be as before when it is asked for. */
  note(ids: readonly number[]): void {
    const { watched } = selectionOf(undefined);
    for (const id of ids) this.cache.of(id).changedAt(watched);
  }

  /** The groups of all sites; a site is itself a group, which contains its groups. */
  groups(): Group[] {
    return Array.from(this.#sites.values()).flatMap((site) => groupsOf(site));
  }

  #rowOf(id: number): MinerRow | undefined {
    return this.#sites.get(siteOf(id))?.rows.get(numberThere(id));
  }

  #values(id: number, names: readonly RowColumn[]): unknown[] {
    const site = this.#sites.get(siteOf(id));
    const row = site?.rows.get(numberThere(id));
    return names.map((name) => {
      if (name === "id") return id;
      if (name === "group") return numberAt(siteOf(id), row?.group ?? 0);
      if (name === "place") return row?.place == null ? null : numberAt(siteOf(id), row.place);
      if (name === "siteUnreachable") return site?.unreachableSince ?? undefined;
      if (name === "readAt") return row?.readAt ?? site?.unreachableSince ?? null;
      return row?.[name] ?? null;
    });
  }
}

/** The groups of a site at the centre. */
export function groupsOf(site: Pick<Site, "id" | "name" | "groups">): Group[] {
  if (site.id === 0) return [...site.groups];
  return [
    { id: numberAt(site.id, 0), name: site.name, parentId: 0 },
    ...site.groups.map((group) => ({
      ...group,
      id: numberAt(site.id, group.id),
      name: groupNameAt(site, group.name),
      parentId: numberAt(site.id, group.parentId),
    })),
  ];
}
