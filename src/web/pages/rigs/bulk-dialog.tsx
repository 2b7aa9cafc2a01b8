import { useMemo, useState } from "preact/hooks";
import type { BulkPreview } from "../../../contract/bulk-preview.ts";
import type { Notification } from "../../../contract/resources.ts";
import type { Input } from "../../../contract/service.ts";
import { call } from "../../api.ts";
import { counted, duration, money, power } from "../../format.ts";
import { t } from "../../language.ts";
import { openAlarms, type Row, rigs } from "../../live.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { None } from "../../parts/empty-state.tsx";
import { Knowing } from "../../parts/load.tsx";
import { say } from "../../parts/messages.tsx";
import { useSending } from "../../parts/use-form.ts";
import { may } from "../../session.ts";
import { handle } from "../alarms/handle.ts";
import { GroupForm, PlaceForm, PoolForm, TagForm, TemplateForm } from "./bulk-forms.tsx";
import { type BulkName, type BulkParameters, kindOf, type SetParameters } from "./bulk-kinds.ts";
import type { GroupTree } from "./groups.ts";
import { type JobResult, type OwnWork, rehearse, startJob, startOwnJob } from "./jobs.ts";
import { Pace, type PaceValue } from "./pace.tsx";
import { Results } from "./results-dialog.tsx";
import { SettingForm } from "./setting-form.tsx";

type Alarms = ReadonlyMap<number, readonly Notification[]>;

interface BulkDialogProps {
  readonly name: BulkName;
  readonly selected: readonly Row[];
  readonly tree: GroupTree;
  readonly onClose: () => void;
}

/** Actions without parameters. */
const complete: ReadonlySet<BulkName> = new Set(["restart", "reboot", "stop", "start", "acknowledge", "delete"]);

/** Asks for the parameters of an action, shows a preview, and starts it. The button shows the number of rigs. */
export function BulkDialog({ name, selected, tree, onClose }: BulkDialogProps) {
  // The rigs at the time of opening: the action affects exactly the confirmed ones.
  const [rows] = useState(selected);
  const ids = useMemo(() => rows.map(({ id }) => id), [rows]);
  const [parameters, setParameters] = useState<BulkParameters | null>(complete.has(name) ? {} : null);
  const [pace, setPace] = useState<PaceValue>({ parallel: 16, delay: 0, order: "listed" });
  const { busy, problem, send, setProblem } = useSending();
  const [doing, setDoing] = useState<"rehearsing" | "starting" | null>(null);
  const [rehearsal, setRehearsal] = useState<RehearsalOf | null>(null);
  const { isDangerous = false } = kindOf(name);
  const hasBulk = may("startBulkAction");
  const isPaced = isServiceAction(name) && hasBulk;
  const isKnown = openAlarms.value !== undefined;
  const alarms = useMemo(() => (name === "acknowledge" ? unseenAlarms(ids) : null), [ids, isKnown]);
  const count = alarms === null ? ids.length : [...alarms.values()].flat().length;

  const fill: SetParameters = (filled) => {
    setParameters(filled);
    setRehearsal(null);
    setProblem(null);
  };
  const sending = (what: "rehearsing" | "starting", action: (filled: BulkParameters) => Promise<void>) => () => {
    if (parameters === null) return;
    setDoing(what);
    void send(() => action(parameters));
  };
  const check = sending("rehearsing", async (filled) => {
    if (isServiceAction(name)) setRehearsal(await rehearse(name, filled, ids, pace));
  });
  const start = sending("starting", async (filled) => {
    if (isServiceAction(name) && hasBulk) await startJob(name, filled, ids, pace);
    else if (alarms !== null && may("notificationsAction")) {
      await handle("ack", [...alarms.values()].flat());
      say(counted(count, t.rigs.acknowledged));
    } else startOwn(name, filled, rows, alarms, tree);
    onClose();
  });
  return (
    <Dialog
      title={t.rigs.action[name]}
      onClose={onClose}
      actions={
        <>
          <button type="button" class="button" onClick={onClose}>
            {t.shell.cancel}
          </button>
          {isPaced ? (
            <button type="button" class="button" disabled={parameters === null || busy} onClick={check}>
              {busy && doing === "rehearsing" ? t.rigs.rehearsing : t.rigs.rehearse}
            </button>
          ) : null}
          <button
            type="button"
            class={`button ${isDangerous ? "danger" : "primary"}`}
            disabled={parameters === null || busy || count === 0}
            aria-busy={busy && doing === "starting"}
            onClick={start}
          >
            {counted(count, t.rigs.verb[name])}
          </button>
        </>
      }
    >
      <p>{t.rigs.about[name]}</p>
      {name === "restart" && hasBulk ? (
        <label class="switch">
          <input
            type="checkbox"
            checked={parameters?.orReboot === true}
            onChange={({ currentTarget }) => fill(currentTarget.checked ? { orReboot: true } : {})}
          />
          {t.rigs.orReboot}
        </label>
      ) : null}
      {name === "change_pool" ? <PoolForm fill={fill} /> : null}
      {name === "apply_template" ? <TemplateForm fill={fill} /> : null}
      {name === "set" ? <SettingForm rows={rows} fill={fill} /> : null}
      {name === "tag" ? <TagForm fill={fill} /> : null}
      {name === "group" ? <GroupForm tree={tree} fill={fill} /> : null}
      {name === "place" ? <PlaceForm tree={tree} fill={fill} /> : null}
      {name === "acknowledge" && count === 0 ? (
        <Knowing value={openAlarms.value}>{(_, known) => <None known={known}>{t.rigs.noAlarms}</None>}</Knowing>
      ) : null}
      {isPaced && ids.length > 1 ? (
        <Pace
          value={pace}
          change={(part) => {
            setPace((before) => ({ ...before, ...part }));
            setRehearsal(null);
          }}
        />
      ) : null}
      {rehearsal === null ? null : <Rehearsal {...rehearsal} />}
      <p class="field-problem" role="alert">
        {problem}
      </p>
    </Dialog>
  );
}

type ServiceAction = Exclude<BulkName, "acknowledge" | "tag" | "group" | "place" | "delete">;
const isServiceAction = (name: BulkName): name is ServiceAction => kindOf(name).isAction === true;

interface RehearsalOf {
  readonly results: readonly JobResult[];
  readonly preview: BulkPreview | null;
}

function Rehearsal({ results, preview }: RehearsalOf) {
  const possible = results.filter(({ state }) => state === "possible").length;
  const refused = results.length - possible;
  const explained = results.filter(({ state, message }) => state !== "possible" || message !== "");
  return (
    <section class="rehearsal" role="status">
      <p>
        {possible === 0 ? null : <span class="status good">{counted(possible, t.rigs.wouldAccept)}</span>}{" "}
        {refused === 0 ? null : <span class="status warning">{counted(refused, t.rigs.wouldRefuse)}</span>}
      </p>
      {preview === null || possible === 0 ? null : <Preview {...preview} />}
      {explained.length === 0 ? null : <Results results={explained} dryRun />}
    </section>
  );
}

/** What the action would change, in the order and at the pace of the dialog. */
function Preview({ power: { now, after, unknown }, seconds, revenueLost, currency, leftOut }: BulkPreview) {
  const times = seconds && {
    half: duration(seconds.half),
    most: duration(seconds.most),
    all: duration(seconds.all),
  };
  return (
    <ul class="preview">
      <li>{t.rigs.powerChange({ now: power(now), after: power(after) })}</li>
      {unknown === 0 ? null : <li>{counted(unknown, t.rigs.changeUnknown)}</li>}
      {times === null ? null : <li>{t.rigs.changeTimes(times)}</li>}
      {revenueLost === null ? null : <li>{t.rigs.revenueLost({ amount: money(revenueLost, currency) })}</li>}
      {leftOut.map(({ message, miners }) => (
        <li key={message}>{t.rigs.leftOutRow({ rigs: counted(miners, t.rigs.wouldRefuse), why: message })}</li>
      ))}
    </ul>
  );
}

/** Unacknowledged alarms of these rigs, by rig. */
function unseenAlarms(ids: readonly number[]): Alarms {
  const wanted = new Set(ids);
  const alarms = new Map<number, Notification[]>();
  for (const alarm of openAlarms.value ?? []) {
    const { minerId, isAcknowledged } = alarm;
    if (minerId !== null && wanted.has(minerId) && !isAcknowledged)
      alarms.set(minerId, [...(alarms.get(minerId) ?? []), alarm]);
  }
  return alarms;
}

/** Calls the service rig by rig, for actions without a bulk operation. */
function startOwn(
  name: BulkName,
  parameters: BulkParameters,
  rows: readonly Row[],
  alarms: Alarms | null,
  tree: GroupTree,
): void {
  const ids = alarms === null ? rows.map(({ id }) => id) : [...alarms.keys()];
  const { tag = "", group = 0, place = 0 } = parameters;
  const tags = new Map(rows.map((row) => [row.id, row.tags]));
  const each = async (id: number): Promise<string> => {
    if (isServiceAction(name)) return (await call("minerAction", { id, action: name, ...parameters })).message;
    if (alarms !== null) {
      const open = alarms.get(id) ?? [];
      for (const alarm of open) await call("notificationAction", { id: alarm.id, action: "ack" });
      return counted(open.length, t.rigs.acknowledged);
    }
    if (name === "tag") {
      const before = tags.get(id) ?? [];
      if (!before.includes(String(tag))) await call("changeMiner", { id, tags: [...before, String(tag)] });
      return t.rigs.tagged({ tag: String(tag) });
    }
    if (name === "place") {
      await call("changeMiner", { id, ...placementIn(String(place)) });
      return placedText(Number(place), tree);
    }
    if (name === "delete") return (await call("deleteMiner", { id })).message;
    await call("changeMiner", { id, group: Number(group) });
    return t.rigs.moved({ group: tree.nameOf(Number(group)) ?? t.rigs.noGroup });
  };
  // The list of jobs shows groups and places by name.
  const shown =
    name === "group"
      ? { group: tree.nameOf(Number(group)) ?? t.rigs.noGroup }
      : name === "place"
        ? { place: tree.places.get(Number(place))?.path ?? t.places.nowhere }
        : parameters;
  const undoing = name === "tag" || name === "group" || name === "place" ? wayBack(name, String(tag), rows, tree) : {};
  startOwnJob(name, shown, ids, { each, cancelled: t.rigs.notSent, ...undoing });
}

const placedText = (id: number, { places }: GroupTree): string =>
  t.places.moved({ place: places.get(id)?.path ?? t.places.nowhere });

/** A place with a position in it: "12", or "12 2 3" for row 2 and column 3; place 0 is none. */
function placementIn(text: string): Pick<Input<"changeMiner">, "placeId" | "position"> {
  const [place = 0, row, column] = text.split(" ").map(Number);
  return {
    placeId: place === 0 ? null : place,
    ...(row === undefined || column === undefined ? {} : { position: { row, column } }),
  };
}

/** As `placementIn` reads it; null: unknown. */
function placementOf({ place, position }: Row): string | null {
  if (place === undefined) return null;
  return [place ?? 0, ...(position == null ? [] : [position.row, position.column])].join(" ");
}

/** What rigs had before they got a tag or moved, and how they get it back. */
function wayBack(
  name: "tag" | "group" | "place",
  tag: string,
  rows: readonly Row[],
  tree: GroupTree,
): Required<Pick<OwnWork, "before" | "giveBack">> {
  const byId = new Map(rows.map((row) => [row.id, row]));
  if (name === "group")
    return {
      before: (id) => byId.get(id)?.group.toString() ?? null,
      giveBack: async (id, group) => {
        await call("changeMiner", { id, group: Number(group) });
        return t.rigs.moved({ group: tree.nameOf(Number(group)) ?? t.rigs.noGroup });
      },
    };
  if (name === "place")
    return {
      before: (id) => {
        const row = rigs.value.byId.get(id);
        return row === undefined ? null : placementOf(row);
      },
      giveBack: async (id, before) => {
        const placement = placementIn(before);
        await call("changeMiner", { id, ...placement });
        return placedText(placement.placeId ?? 0, tree);
      },
    };
  return {
    before: (id) => (byId.get(id)?.tags.includes(tag) === true ? tag : ""),
    giveBack: async (id) => {
      const tags = rigs.value.byId.get(id)?.tags ?? byId.get(id)?.tags ?? [];
      await call("changeMiner", { id, tags: tags.filter((each) => each !== tag) });
      return t.rigs.untagged({ tag });
    },
  };
}
