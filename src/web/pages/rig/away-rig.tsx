import type { Group, MinerDetail } from "../../../contract/resources.ts";
import { siteOf } from "../../../contract/site-numbers.ts";
import { dateTime } from "../../format.ts";
import { t } from "../../language.ts";
import { type Row, sites } from "../../live.ts";
import { Card, Page } from "../../parts/page.tsx";
import { Status } from "../../parts/status.tsx";
import { cellOf } from "../rigs/columns.tsx";
import { groupTree } from "../rigs/groups.ts";
import { Facts } from "./facts.tsx";
import { Identity } from "./identity.tsx";

const shown = ["hashrate", "power", "temperature", "pool", "coin", "profit"] as const;

interface AwayRigProps {
  readonly row: Row;
  /** ISO. */
  readonly since: string;
  readonly miner: MinerDetail;
  /** Null until loaded. */
  readonly groups: readonly Group[] | null;
}

/** A rig whose site cannot be reached: what its row last said, and since when. Nothing can be asked or commanded. */
export function AwayRig({ row, since, miner, groups }: AwayRigProps) {
  const site = sites.value.find(({ id }) => id === siteOf(row.id));
  const tree = groupTree(groups ?? []);
  return (
    <Page
      title={row.name}
      lead={t.sites.rigAway({ name: site?.name ?? "", time: dateTime(since) })}
      actions={
        site === undefined || site.url === null ? undefined : (
          <a class="button" href={site.url} target="_blank" rel="noreferrer">
            {t.sites.open}
          </a>
        )
      }
    >
      <Card title={t.sites.lastKnown}>
        <Facts
          list={[
            [t.rigs.columns.status, <Status key="status" status={row.status} reason={row.reason} />],
            ...shown.map((key) => [t.rigs.columns[key], cellOf(key, row, tree)] as const),
          ]}
        />
      </Card>
      <Identity miner={miner} groups={groups} />
    </Page>
  );
}
