import { useMemo, useState } from "preact/hooks";
import type { BulkJob } from "../../../contract/resources.ts";
import type { OwnedRun } from "../../../contract/rules.ts";
import { call } from "../../api.ts";
import { mostCommands, useCommands } from "../../commands.ts";
import { counted, dateTime, number } from "../../format.ts";
import { t } from "../../language.ts";
import { rigs } from "../../live.ts";
import { actionText, actorText, CommandRow } from "../../parts/command-list.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { JobMark } from "../../parts/job-state.tsx";
import { type Known, Loading, useLoaded, useReloadOn } from "../../parts/load.tsx";
import { Card } from "../../parts/page.tsx";
import { Scroll } from "../../parts/scroll.tsx";
import { Age } from "../../parts/status.tsx";
import { type PageQuery, usePageQuery } from "../../query.ts";
import { link } from "../../route.ts";
import { may } from "../../session.ts";
import { Outcome, saidOf } from "../rules/parts.tsx";
import { type Entry, feedOf } from "./entries.ts";
import { FeedFilters } from "./feed-filters.tsx";
import { entryFilters, filterFrom, filterNames } from "./filters.ts";

const firstRows = 100;
/** ms between two reads of the runs: a thousand of them are a megabyte. */
const runsRestMs = 5_000;

/** Commands, runs of rules and schedules, and actions for many rigs, filtered by the address. */
export function Feed() {
  const query = usePageQuery();
  const address = filterNames.map((name) => query.get(name)).join("\n");
  const filter = useMemo(() => filterFrom(query.get, Date.now()), [address]);
  const commands = useCommands(filter);
  const { miner, since } = filter;
  const runs = useLoaded(
    async (signal) => (may("listRuns") ? (await call("listRuns", { miner, since }, { signal })).runs : []),
    [miner, since],
  );
  const jobs = useLoaded(
    async (signal) => (may("listBulkActions") ? await call("listBulkActions", {}, { signal }) : []),
    [],
  );
  useReloadOn(["rule"], runs.reload, runsRestMs);
  useReloadOn(["command"], jobs.reload);
  const loaded = useMemo(
    () =>
      commands.value === undefined || runs.value === undefined || jobs.value === undefined
        ? undefined
        : { commands: commands.value, runs: runs.value, jobs: jobs.value },
    [commands.value, runs.value, jobs.value],
  );
  const reload = () => {
    for (const each of [commands, runs, jobs]) each.reload();
  };
  const problem = commands.problem ?? runs.problem ?? jobs.problem;
  return (
    <Card>
      <FeedFilters actors={loaded?.commands.map(({ actor }) => actor) ?? []} runs={loaded?.runs ?? []} />
      <Loading from={{ value: loaded, problem, reload }}>
        {(lists, known) => {
          const { entries, isCut } = feedOf(lists, entryFilters(query.get, filter), mostCommands);
          return (
            <>
              <p class="visually-hidden" role="status">
                {counted(entries.length, t.activity.found)}
              </p>
              <Entries key={address} entries={entries} query={query} known={known} />
              {isCut ? <p class="hint">{t.activity.cut({ count: number(mostCommands) })}</p> : null}
            </>
          );
        }}
      </Loading>
    </Card>
  );
}

function Entries({ entries, query, known }: { entries: readonly Entry[]; query: PageQuery; known: Known }) {
  const [rows, setRows] = useState(firstRows);
  if (entries.length === 0) {
    const isFiltered = filterNames.some((name) => query.get(name) !== "");
    return isFiltered ? (
      <EmptyState known={known} icon="search" title={t.activity.nothing} />
    ) : (
      <EmptyState known={known} icon="activity" title={t.activity.empty} text={t.activity.emptyText} />
    );
  }
  const { when, rig, action, who, result } = t.commands;
  return (
    <>
      <Scroll name={t.activity.everything}>
        <table class="commands">
          <thead>
            <tr>
              {[when, rig, action, who, result].map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {entries.slice(0, rows).map((entry) => (
              <Row key={keyOf(entry)} entry={entry} query={query} />
            ))}
          </tbody>
        </table>
      </Scroll>
      {entries.length > rows ? (
        <p class="row">
          <button type="button" class="button" onClick={() => setRows(rows + firstRows)}>
            {t.commands.more}
          </button>
        </p>
      ) : null}
    </>
  );
}

const keyOf = (entry: Entry): string =>
  `${entry.kind} ${entry.kind === "command" ? entry.command.id : entry.kind === "run" ? entry.run.id : entry.job.id}`;

function Row({ entry, query }: { entry: Entry; query: PageQuery }) {
  if (entry.kind === "command")
    return <CommandRow command={entry.command} hrefOf={(change) => query.hrefWith({ ...change, tab: "" })} />;
  return entry.kind === "run" ? <RunRow run={entry.run} /> : <JobRow job={entry.job} query={query} />;
}

const When = ({ time }: { time: string }) => (
  <td class="command-when">
    <span title={dateTime(time)}>
      <Age time={time} />
    </span>
  </td>
);

/** Maximum actions of a run that the service lists. */
const listedActions = 200;

/** The number of rigs in a run, as far as its actions show. */
function rigsText(actions: OwnedRun["actions"]): string {
  const acted = new Set(actions.flatMap(({ minerId }) => minerId ?? []));
  return acted.size === 0 || actions.length >= listedActions ? t.activity.farm : counted(acted.size, t.activity.rigsOf);
}

function RunRow({ run }: { run: OwnedRun }) {
  const { id, time, kind, ownerId, name, minerId, outcome, actions } = run;
  const row = minerId === null ? undefined : rigs.value.byId.get(minerId);
  const path = kind === "rule" ? "rules" : "rules/schedules";
  return (
    <tr>
      <When time={time} />
      <th scope="row" class="command-rig">
        {minerId === null ? (
          rigsText(actions)
        ) : row === undefined ? (
          `#${minerId}`
        ) : (
          <a class="clamped" href={link(`rigs/${minerId}`)}>
            <bdi>{row.name}</bdi>
          </a>
        )}
      </th>
      <td>{t.activity.did[kind]}</td>
      <td class="command-who">
        <a href={link(`${path}/${ownerId}?trace=${id}`)}>
          <bdi>{name}</bdi>
        </a>
      </td>
      <td class="command-result">
        <Outcome outcome={outcome} />
        <small dir="auto">{saidOf(run)}</small>
      </td>
    </tr>
  );
}

function JobRow({ job, query }: { job: BulkJob; query: PageQuery }) {
  return (
    <tr>
      <When time={job.time} />
      <th scope="row" class="command-rig">
        {counted(job.total, t.activity.rigsOf)}
      </th>
      <td>
        <a
          href={query.hrefWith({
            ...Object.fromEntries(filterNames.map((name) => [name, ""])),
            tab: "bulk",
            job: String(job.id),
          })}
        >
          {t.commands.cause.bulk}: <bdi>{actionText(job)}</bdi>
        </a>
        {job.dryRun ? <small> {t.activity.dryRun}</small> : null}
      </td>
      <td class="command-who">
        <a href={query.hrefWith({ actor: job.actor, tab: "" })}>
          <bdi>{actorText(job.actor)}</bdi>
        </a>
      </td>
      <td class="command-result">
        <JobMark job={job} />
      </td>
    </tr>
  );
}
