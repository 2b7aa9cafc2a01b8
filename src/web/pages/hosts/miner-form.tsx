import { useMemo, useState } from "preact/hooks";
import type { ManagedMiner } from "../../../contract/resources.ts";
import { call, type Mistake, Problem } from "../../api.ts";
import { t } from "../../language.ts";
import { Field, mistakeOf } from "../../parts/field.tsx";
import { useLoaded } from "../../parts/load.tsx";
import { problemText } from "../../parts/messages.tsx";
import { MistakeList, SchemaForm } from "../../parts/schema-form/form.tsx";
import type { Json } from "../../parts/schema-form/schema.ts";
import { useDirty, useUnsaved } from "../../parts/unsaved.tsx";
import { bodyOf, type Catalogue, extrasOf, poolOf, poolRef, withChoices } from "./miner-data.ts";
import { Select, Text } from "./miner-fields.tsx";
import { minerWords } from "./miner-words.ts";

interface MinerFormProps {
  readonly miner: ManagedMiner;
  readonly isNew: boolean;
  readonly catalogue: Catalogue;
  readonly onSaved: (miner: ManagedMiner) => void;
}

/** "Unspecified" is what the documented API answers for no second algorithm. */
const plain = (algorithm: string): string => (algorithm === "Unspecified" ? "" : algorithm);

const fieldsOf = (miner: ManagedMiner) => ({
  description: miner.description,
  hostId: String(miner.hostId),
  groupId: String(miner.groupId),
  softwareType: miner.softwareType,
  algorithm: plain(miner.algorithm),
  dualAlgorithm: plain(miner.dualAlgorithm),
  pool: poolRef(miner),
  softwareAutoDownload: miner.softwareAutoDownload,
  softwarePath: miner.softwarePath,
  extras: extrasOf(miner) as Json,
});

/** The program of a managed miner, what it mines where, and how. */
export function MinerForm({ miner, isNew, catalogue, onSaved }: MinerFormProps) {
  const [fields, setFields] = useState(() => fieldsOf(miner));
  // They may hold a password: what is stored never comes to the page.
  const [parameters, setParameters] = useState("");
  const [clears, setClears] = useState(false);
  const [mistakes, setMistakes] = useState<readonly Mistake[]>([]);
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const schemas = useLoaded(() => import("virtual:schemas"), []);
  const schema = useMemo(
    () => (schemas.value === undefined ? null : withChoices(schemas.value.managedMiner, catalogue)),
    [schemas.value, catalogue],
  );
  const words = useMemo(() => minerWords(catalogue), [catalogue]);
  const { dirty: differs, keep } = useDirty(JSON.stringify(fields), JSON.stringify(fieldsOf(miner)));
  const dirty = differs || parameters !== "" || clears;
  const guard = useUnsaved(dirty && !busy);
  const set = (changes: Partial<typeof fields>) => setFields({ ...fields, ...changes });
  const problemOf = (path: string) => mistakeOf(mistakes, path);

  const software = catalogue.software.find(({ id }) => id === fields.softwareType);
  const mined = software?.algorithms ?? [];
  const algorithms = catalogue.algorithms.filter(({ id }) => mined.length === 0 || mined.includes(id));
  const seconds = software?.dualAlgorithms?.[fields.algorithm] ?? [];

  const save = async (event: SubmitEvent) => {
    event.preventDefault();
    setBusy(true);
    setMistakes([]);
    setProblem(null);
    const { hostId, groupId, pool, extras, ...rest } = fields;
    const body = {
      ...rest,
      ...poolOf(pool),
      ...bodyOf(extras),
      id: miner.id,
      hostId: Number(hostId),
      // 0 may also stand for the group of the host; it is sent only when it was chosen.
      ...(groupId === String(miner.groupId) ? {} : { groupId: Number(groupId) }),
      ...(parameters !== "" || clears ? { commandLineParams: clears ? "" : parameters } : {}),
    };
    try {
      // The service checks what the schema describes.
      const next = await call("saveManagedMiner", body as Parameters<typeof call<"saveManagedMiner">>[1]);
      setParameters("");
      setClears(false);
      setFields(fieldsOf(next));
      keep(JSON.stringify(fieldsOf(next)));
      onSaved(next);
    } catch (error) {
      setMistakes(error instanceof Problem ? error.mistakes : []);
      setProblem(problemText(error));
    }
    setBusy(false);
  };
  return (
    <form class="miner-form" onSubmit={save} noValidate>
      <div class="miner-fields">
        <Select
          label={t.hosts.host}
          value={fields.hostId}
          options={catalogue.hosts.map(({ id, name }) => ({ id: String(id), name }))}
          problem={problemOf("hostId")}
          onChange={(hostId) => set({ hostId })}
        />
        <Text
          label={t.hosts.description}
          hint={t.hosts.descriptionHint}
          value={fields.description}
          maxLength={200}
          problem={problemOf("description")}
          onChange={(description) => set({ description })}
        />
        <Select
          label={t.hosts.software}
          none={t.hosts.choose}
          value={fields.softwareType}
          options={catalogue.software}
          problem={problemOf("softwareType")}
          onChange={(softwareType) => set({ softwareType, algorithm: "", dualAlgorithm: "" })}
        />
        <Select
          label={t.hosts.algorithm}
          none={t.hosts.ofPool}
          value={fields.algorithm}
          options={algorithms}
          problem={problemOf("algorithm")}
          onChange={(algorithm) => set({ algorithm, dualAlgorithm: "" })}
        />
        {seconds.length === 0 && fields.dualAlgorithm === "" ? null : (
          <Select
            label={t.hosts.second}
            none={t.shell.none}
            value={fields.dualAlgorithm}
            options={catalogue.algorithms.filter(({ id }) => seconds.includes(id))}
            problem={problemOf("dualAlgorithm")}
            onChange={(dualAlgorithm) => set({ dualAlgorithm })}
          />
        )}
        <Select
          label={t.hosts.pool}
          none={t.shell.none}
          value={fields.pool}
          options={catalogue.pools}
          problem={problemOf("poolId")}
          onChange={(pool) => set({ pool })}
        />
        <Select
          label={t.hosts.files}
          value={fields.softwareAutoDownload ? "download" : "path"}
          options={[
            { id: "download", name: t.hosts.download },
            { id: "path", name: t.hosts.installed },
          ]}
          problem={problemOf("softwareAutoDownload")}
          onChange={(files) => set({ softwareAutoDownload: files === "download" })}
        />
        {fields.softwareAutoDownload ? null : (
          <Text
            label={t.hosts.path}
            value={fields.softwarePath}
            maxLength={1000}
            ltr
            problem={problemOf("softwarePath")}
            onChange={(softwarePath) => set({ softwarePath })}
          />
        )}
        {catalogue.groups.length === 0 ? null : (
          <Select
            label={t.hosts.group}
            none={t.hosts.noGroup}
            noneValue="0"
            value={fields.groupId}
            options={catalogue.groups.map(({ id, name }) => ({ id: String(id), name }))}
            problem={problemOf("groupId")}
            onChange={(groupId) => set({ groupId })}
          />
        )}
        <div>
          <Field
            label={t.hosts.parameters}
            hint={isNew ? t.hosts.parametersNew : t.hosts.parametersHint}
            problem={problemOf("commandLineParams")}
          >
            {(control) => (
              <input
                {...control}
                type="password"
                autocomplete="off"
                maxLength={4000}
                dir="ltr"
                disabled={clears}
                value={parameters}
                onInput={({ currentTarget }) => setParameters(currentTarget.value)}
              />
            )}
          </Field>
          {isNew ? null : (
            <label class="switch">
              <input
                type="checkbox"
                checked={clears}
                onChange={({ currentTarget }) => setClears(currentTarget.checked)}
              />
              {t.hosts.noParameters}
            </label>
          )}
        </div>
      </div>
      {schema === null ? null : (
        <SchemaForm
          schema={schema}
          value={fields.extras}
          onValue={(extras) => set({ extras })}
          words={words}
          mistakes={mistakes}
        />
      )}
      {mistakes.length > 1 ? <MistakeList mistakes={mistakes} /> : null}
      <p class="field-problem" role="alert">
        {mistakes.length > 1 ? null : problem}
      </p>
      <div>
        <button type="submit" class="button primary" disabled={busy || (!dirty && !isNew)}>
          {isNew ? t.hosts.addMiner : t.shell.save}
        </button>
      </div>
      {guard}
    </form>
  );
}
