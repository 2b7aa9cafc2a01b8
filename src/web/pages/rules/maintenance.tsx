import { useState } from "preact/hooks";
import type { MaintenanceWindow } from "../../../contract/rules.ts";
import { isHere } from "../../../contract/site-numbers.ts";
import { call } from "../../api.ts";
import { counted, dateTime } from "../../format.ts";
import { t } from "../../language.ts";
import { sites } from "../../live.ts";
import { AtSite } from "../../parts/at-site.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { Field } from "../../parts/field.tsx";
import { FormDialog } from "../../parts/form-dialog.tsx";
import { Loading, useLoaded, useReloadOn } from "../../parts/load.tsx";
import { say } from "../../parts/messages.tsx";
import { NumberInput } from "../../parts/schema-form/fields/number.tsx";
import { TextInput } from "../../parts/schema-form/fields/text.tsx";
import { TimeInput } from "../../parts/schema-form/fields/time.tsx";
import { Control } from "../../parts/schema-form/leaf.tsx";
import type { Json } from "../../parts/schema-form/schema.ts";
import { AtSites, once } from "../../parts/site-copies.tsx";
import { Mark } from "../../parts/status.tsx";
import { may } from "../../session.ts";
import { Centres, Owner } from "./owned.tsx";
import { directoryOf, readReferences } from "./references.ts";
import { labelOf } from "./words.ts";

interface MaintenanceProps {
  /** Whether a new window is being entered. */
  readonly adds: boolean;
  readonly onAdded: () => void;
}

/** The maintenance windows, with adding and ending. */
export function Maintenance({ adds, onAdded }: MaintenanceProps) {
  const list = useLoaded((signal) => call("listMaintenance", {}, { signal }), []);
  useReloadOn(["rule", "site"], list.reload);
  const [ends, setEnds] = useState<MaintenanceWindow | null>(null);
  return (
    <>
      <Loading from={list}>
        {(windows, known) =>
          windows.length === 0 ? (
            <EmptyState known={known} icon="clock" title={t.rules.noWindows} text={t.rules.noWindowsText} />
          ) : (
            <>
              <Centres of={windows} onReleased={list.reload} />
              <ul class="rule-list">
                {once(windows).map((window) => (
                  <WindowEntry key={window.id} window={window} onEnd={() => setEnds(window)} />
                ))}
              </ul>
            </>
          )
        }
      </Loading>
      {adds ? (
        <AddWindow
          onClose={() => {
            onAdded();
            list.reload();
          }}
        />
      ) : null}
      {ends === null ? null : (
        <Confirm
          title={t.rules.window.endTitle({ name: ends.name })}
          text={t.rules.window.endText}
          verb={ends.active ? t.rules.window.end : t.rules.window.cancel}
          onConfirm={async () => {
            await call("deleteMaintenance", { id: ends.id });
            say(t.rules.window.ended);
            list.reload();
          }}
          onClose={() => setEnds(null)}
        />
      )}
    </>
  );
}

const places = ["groups", "miners", "racks", "sites"] as const;
const references = { groups: "group", miners: "miner", racks: "rack", sites: "site" } as const;

function WindowEntry({ window, onEnd }: { window: MaintenanceWindow; onEnd: () => void }) {
  const { id, name, owner, from, until, active, miners, definition } = window;
  const verb = active ? t.rules.window.end : t.rules.window.cancel;
  const where = places.flatMap((place) => {
    const names = definition[place];
    return Array.isArray(names) ? [`${labelOf(place)}: ${names.join(", ")}`] : [];
  });
  return (
    <li class="rule">
      <div class="rule-main">
        <p class="rule-head">
          <strong>
            <bdi>{name}</bdi>
          </strong>
          <span class="tag">{counted(miners, t.rules.window.covers)}</span>
        </p>
        {where.length === 0 ? null : (
          <p class="rule-summary" dir="auto">
            {where.join(" · ")}
          </p>
        )}
        <p class="rule-facts">
          <Mark tone={active ? "warning" : "off"}>{active ? t.rules.active : t.rules.planned}</Mark>
          <span>
            {from === null ? null : <time dateTime={from}>{dateTime(from)} </time>}
            {t.rules.window.until} <time dateTime={until}>{dateTime(until)}</time>
          </span>
          <AtSites sites={window.sites} />
          <Owner {...window} />
          <AtSite id={id} />
        </p>
      </div>
      {owner === "store" && isHere(id) && may("deleteMaintenance") ? (
        <div class="rule-actions">
          <button type="button" class="button" aria-label={`${verb}: ${name}`} onClick={onEnd}>
            {verb}
          </button>
        </div>
      ) : null}
    </li>
  );
}

const hourMs = 3_600_000;

type Places = Readonly<Partial<Record<(typeof places)[number], Json>>>;

function AddWindow({ onClose }: { onClose: () => void }) {
  const known = useLoaded(readReferences, []);
  const [name, setName] = useState("");
  const [hours, setHours] = useState<Json>(2);
  const [from, setFrom] = useState<Json>(undefined);
  const [where, setWhere] = useState<Places>({});
  const [runsAt, setRunsAt] = useState<Json>(undefined);
  const add = async () => {
    const begins = typeof from === "string" ? Date.parse(from) : Date.now();
    const named = places.flatMap((place) => {
      const some = where[place];
      return Array.isArray(some) && some.length > 0 ? [[place, some.map(String)]] : [];
    });
    await call("addMaintenance", {
      name,
      ...(typeof from === "string" ? { from } : {}),
      until: typeof hours === "number" ? new Date(begins + hours * hourMs).toISOString() : String(hours ?? ""),
      ...Object.fromEntries(named),
      ...(Array.isArray(runsAt) && runsAt.length > 0 ? { runsAt: runsAt.map(String) } : {}),
    });
    say(t.rules.window.begun);
    onClose();
  };
  return (
    <FormDialog title={t.rules.newWindow} verb={t.rules.newWindow} onSubmit={add} onClose={onClose}>
      {(wrong) => (
        <>
          <Field label={t.rules.window.name} problem={wrong("name")}>
            {(attributes) => (
              <TextInput attributes={attributes} value={name} onValue={(text) => setName(String(text))} />
            )}
          </Field>
          <Field label={t.rules.window.hours} hint={t.rules.window.hoursHint} problem={wrong("until")}>
            {(attributes) => <NumberInput attributes={attributes} value={hours} onValue={setHours} />}
          </Field>
          <label class="switch">
            <input
              type="checkbox"
              checked={from !== undefined}
              onChange={({ currentTarget }) => setFrom(currentTarget.checked ? new Date().toISOString() : undefined)}
            />
            {t.rules.window.later}
          </label>
          {from === undefined ? null : (
            <Field label={t.rules.window.from} problem={wrong("from")}>
              {(attributes) => <TimeInput attributes={attributes} value={from} onValue={setFrom} />}
            </Field>
          )}
          {sites.value.length === 0 ? null : (
            <Field label={labelOf("runsAt")} problem={wrong("runsAt")}>
              {(attributes) => (
                <Control
                  attributes={attributes}
                  name="runsAt"
                  label={labelOf("runsAt")}
                  shape={{ kind: "names", of: "runsAt" }}
                  value={runsAt}
                  unit={null}
                  suggestions={[]}
                  directory={directoryOf(known.value ?? {}, "runsAt", {})}
                  onValue={setRunsAt}
                />
              )}
            </Field>
          )}
          <p class="hint">{t.rules.window.all}</p>
          {places.map((place) => (
            <Field key={place} label={t.rules.window[place]} problem={wrong(place)}>
              {(attributes) => (
                <Control
                  attributes={attributes}
                  name={place}
                  label={t.rules.window[place]}
                  shape={{ kind: "names", of: references[place] }}
                  value={where[place]}
                  unit={null}
                  suggestions={[]}
                  directory={directoryOf(known.value ?? {}, references[place], {})}
                  onValue={(next) => setWhere({ ...where, [place]: next })}
                />
              )}
            </Field>
          ))}
        </>
      )}
    </FormDialog>
  );
}
