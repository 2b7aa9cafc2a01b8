import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { call } from "../../api.ts";
import { counted } from "../../format.ts";
import { withHints } from "../../hints.ts";
import { t } from "../../language.ts";
import { Loading, useLoaded } from "../../parts/load.tsx";
import { problemText } from "../../parts/messages.tsx";
import { Card, Page } from "../../parts/page.tsx";
import { SchemaForm } from "../../parts/schema-form/form.tsx";
import type { Json } from "../../parts/schema-form/schema.ts";
import { useUnsaved } from "../../parts/unsaved.tsx";
import { patiently } from "../../patiently.ts";
import { whyNotSoftware } from "./host-choices.ts";
import { HostPicker } from "./host-picker.tsx";
import { bodyOf, type Catalogue, forAllCards, poolOf, withChoices } from "./miner-data.ts";
import { Select, Text } from "./miner-fields.tsx";
import { minerWords } from "./miner-words.ts";
import { Parameters, ProgramFields, type ProgramValues } from "./program-fields.tsx";
import { readCatalogue } from "./read-catalogue.ts";
import { hostMark, type Turn, turnsOf, type WhenPresent, whenPresent } from "./recipe.ts";
import { type Outcome, SeveralProgress, SeveralResults } from "./several-results.tsx";
import "./hosts.css";

/** One managed miner for many hosts: chosen once, checked by the service for each, then set up one after the other. */
export default function Several() {
  const loaded = useLoaded(readCatalogue, []);
  return (
    <Page limited title={t.hosts.several.title} lead={t.hosts.several.lead}>
      <Loading from={loaded}>{(catalogue) => <RecipeForm catalogue={catalogue} />}</Loading>
    </Page>
  );
}

interface Fields extends ProgramValues {
  readonly name: string;
  /** "": the group of each host. */
  readonly groupId: string;
  readonly whenPresent: WhenPresent;
  /** Also on hosts where it could not run yet. */
  readonly evenIdle: boolean;
  readonly parameters: string;
  readonly extras: Json;
}

const blank: Fields = {
  name: "",
  groupId: "",
  whenPresent: "leave",
  evenIdle: false,
  softwareType: "",
  algorithm: "",
  dualAlgorithm: "",
  pool: "",
  softwareAutoDownload: true,
  softwarePath: "",
  parameters: "",
  extras: {},
};

type Body = Parameters<typeof call<"saveManagedMiner">>[1];

/** What the service is asked for one host; the preview asks the same with `dryRun`. */
function bodyFor({ replaces, hostId, name }: Turn, fields: Fields): Body {
  const { name: _, groupId, whenPresent: __, evenIdle, parameters, pool, extras, ...program } = fields;
  // The service checks what the schema describes.
  return {
    ...program,
    ...poolOf(pool),
    ...bodyOf(extras),
    id: replaces ?? 0,
    hostId,
    description: name,
    commandLineParams: parameters,
    groupId: groupId === "" ? null : Number(groupId),
  } as Body;
}

/** Requests under way at once while the preview is made. */
const checkedAtOnce = 4;

function RecipeForm({ catalogue }: { catalogue: Catalogue }) {
  const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set());
  const [fields, setFields] = useState(blank);
  const [outcomes, setOutcomes] = useState<readonly Outcome[] | null>(null);
  const [doing, setDoing] = useState<"checking" | "setting up" | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const stops = useRef(false);
  // What nobody sees any more does not go on.
  useEffect(
    () => () => {
      stops.current = true;
    },
    [],
  );
  const schemas = useLoaded(() => withHints(import("virtual:schemas")), []);
  const schema = useMemo(
    () => (schemas.value === undefined ? null : withChoices(forAllCards(schemas.value.managedMiner), catalogue)),
    [schemas.value, catalogue],
  );
  const words = useMemo(() => minerWords(catalogue), [catalogue]);
  const busy = doing !== null;
  const isOver = outcomes?.some(({ state }) => state === "done" || state === "failed") === true;
  const guard = useUnsaved(busy || (chosen.size > 0 && !isOver));
  /** What was previewed is no longer what is asked for. */
  const changed = () => {
    setOutcomes(null);
    setProblem(null);
  };
  const set = (changes: Partial<Fields>) => {
    setFields({ ...fields, ...changes });
    changed();
  };
  const report = (outcome: Outcome) =>
    setOutcomes((list) => list?.map((each) => (each.turn.hostId === outcome.turn.hostId ? outcome : each)) ?? null);

  const check = async (): Promise<void> => {
    setDoing("checking");
    setProblem(null);
    try {
      const hosts = catalogue.hosts.filter(({ id }) => chosen.has(id));
      const turns = turnsOf(fields, hosts, await call("listManagedMiners", {}));
      const waiting = [...turns.entries()];
      const found: Outcome[] = [];
      const work = async (): Promise<void> => {
        for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
          const [index, turn] = next;
          found[index] = await checked(turn, fields, catalogue);
        }
      };
      await Promise.all(Array.from({ length: checkedAtOnce }, work));
      setOutcomes(found);
    } catch (error) {
      setProblem(problemText(error));
    }
    setDoing(null);
  };

  const setUp = async (): Promise<void> => {
    const meant = (outcomes ?? []).filter(({ state }) => state === "possible");
    stops.current = false;
    setDoing("setting up");
    for (const outcome of meant) report({ ...outcome, state: "waiting", why: "" });
    for (const { turn } of meant) {
      const blankOutcome = { turn, why: "", minerId: null };
      if (stops.current) {
        report({ ...blankOutcome, state: "stopped" });
        continue;
      }
      report({ ...blankOutcome, state: "working" });
      try {
        const { id, note } = await patiently(() => call("saveManagedMiner", bodyFor(turn, fields)));
        report({ turn, state: "done", why: note ?? "", minerId: id });
      } catch (error) {
        report({ ...blankOutcome, state: "failed", why: problemText(error) });
      }
    }
    setDoing(null);
  };

  const possible = outcomes?.filter(({ state }) => state === "possible").length ?? 0;
  const left = outcomes?.filter(({ state }) => state === "left").length ?? 0;
  const { several } = t.hosts;
  return (
    <>
      <Card title={t.menu.hosts}>
        <HostPicker
          hosts={catalogue.hosts}
          chosen={chosen}
          disabled={busy}
          onChange={(ids) => {
            setChosen(ids);
            changed();
          }}
        />
      </Card>
      <Card title={t.hosts.miner}>
        <fieldset class="miner-form miner-recipe" disabled={busy}>
          <div class="miner-fields">
            <Text
              label={several.names}
              hint={several.namesHint({ mark: hostMark })}
              value={fields.name}
              maxLength={200}
              problem={undefined}
              onChange={(name) => set({ name })}
            />
            <ProgramFields values={fields} catalogue={catalogue} limits={null} wrong={() => undefined} onChange={set} />
            {catalogue.groups.length === 0 ? null : (
              <Select
                label={t.hosts.group}
                none={several.groupOfHost}
                value={fields.groupId}
                options={[
                  { id: "0", name: t.hosts.noGroup },
                  ...catalogue.groups.map(({ id, name }) => ({ id: String(id), name })),
                ]}
                problem={undefined}
                onChange={(groupId) => set({ groupId })}
              />
            )}
            <Parameters
              value={fields.parameters}
              hint={t.hosts.parametersNew}
              problem={undefined}
              onChange={(parameters) => set({ parameters })}
            />
            <Select
              label={several.present}
              value={fields.whenPresent}
              options={whenPresent.map((id) => ({ id, name: several.when[id] }))}
              problem={undefined}
              onChange={(id) => set({ whenPresent: whenPresent.find((each) => each === id) ?? "leave" })}
            />
          </div>
          {schema === null ? null : (
            <>
              <SchemaForm
                schema={schema}
                value={fields.extras}
                onValue={(extras) => set({ extras })}
                words={words}
                mistakes={[]}
              />
              <p class="hint">{several.allCards}</p>
            </>
          )}
          <label class="switch">
            <input
              type="checkbox"
              checked={fields.evenIdle}
              onChange={({ currentTarget }) => set({ evenIdle: currentTarget.checked })}
            />
            {several.evenIdle}
          </label>
        </fieldset>
      </Card>
      <Card title={isOver || doing === "setting up" ? several.result : t.rigs.rehearse}>
        <div class="row">
          {doing === "setting up" ? (
            <button
              type="button"
              class="button"
              onClick={() => {
                stops.current = true;
              }}
            >
              {several.stop}
            </button>
          ) : (
            <>
              <button
                type="button"
                class="button"
                disabled={busy || chosen.size === 0 || fields.softwareType === ""}
                onClick={() => void check()}
              >
                {doing === "checking" ? t.rigs.rehearsing : t.rigs.rehearse}
              </button>
              {possible === 0 ? null : (
                <button type="button" class="button primary" disabled={busy} onClick={() => void setUp()}>
                  {counted(possible, several.setUp)}
                </button>
              )}
            </>
          )}
        </div>
        {outcomes === null ? <p class="hint">{several.first}</p> : null}
        <p class="field-problem" role="alert">
          {problem}
        </p>
        {outcomes === null ? null : (
          <>
            {isOver || doing === "setting up" ? (
              <SeveralProgress outcomes={outcomes} />
            ) : (
              <p role="status" class="row">
                {possible === 0 ? null : <span class="status good">{counted(possible, several.would)}</span>}
                {left === 0 ? null : <span class="status warning">{counted(left, several.leftOut)}</span>}
              </p>
            )}
            <SeveralResults outcomes={outcomes} />
          </>
        )}
      </Card>
      {guard}
    </>
  );
}

/** What the service would do for one host. It checks as when it saves, also with the host's agent. */
async function checked(turn: Turn, fields: Fields, { hosts }: Catalogue): Promise<Outcome> {
  const limits = hosts.find(({ id }) => id === turn.hostId)?.limits ?? null;
  const hindrance =
    turn.hindrance === null ? whyNotSoftware(limits, fields.softwareType) : t.hosts.several.why[turn.hindrance];
  if (hindrance !== null) return { turn, state: "left", why: hindrance, minerId: null };
  try {
    const { note } = await patiently(() => call("saveManagedMiner", { ...bodyFor(turn, fields), dryRun: true }));
    const state = note === null || fields.evenIdle ? "possible" : "left";
    return { turn, state, why: note ?? "", minerId: null };
  } catch (error) {
    return { turn, state: "left", why: problemText(error), minerId: null };
  }
}
