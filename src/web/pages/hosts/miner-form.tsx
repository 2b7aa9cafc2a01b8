import { useMemo, useState } from "preact/hooks";
import type { ManagedMiner } from "../../../contract/resources.ts";
import { call } from "../../api.ts";
import { withHints } from "../../hints.ts";
import { t } from "../../language.ts";
import { useLoaded } from "../../parts/load.tsx";
import { MistakeList, SchemaForm } from "../../parts/schema-form/form.tsx";
import type { Json } from "../../parts/schema-form/schema.ts";
import { useDirty, useUnsaved } from "../../parts/unsaved.tsx";
import { useForm } from "../../parts/use-form.ts";
import { presetFiles } from "./host-choices.ts";
import { bodyOf, type Catalogue, extrasOf, poolOf, poolRef, withChoices, without } from "./miner-data.ts";
import { Select, Text } from "./miner-fields.tsx";
import { minerWords } from "./miner-words.ts";
import { filesAfter, Parameters, ProgramFields } from "./program-fields.tsx";

interface MinerFormProps {
  readonly miner: ManagedMiner;
  readonly isNew: boolean;
  readonly catalogue: Catalogue;
  readonly onSaved: (miner: ManagedMiner) => void;
}

/** "Unspecified" is the documented API's value for no second algorithm. */
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

/** The program of a managed miner, its algorithm and pool, and its settings. */
export function MinerForm({ miner, isNew, catalogue, onSaved }: MinerFormProps) {
  const limitsOf = (hostId: string) => catalogue.hosts.find(({ id }) => String(id) === hostId)?.limits ?? null;
  const first = isNew ? { ...miner, ...presetFiles(limitsOf(String(miner.hostId)), "") } : miner;
  const [fields, setFields] = useState(() => fieldsOf(first));
  // They may hold a password, so the stored value is never sent to the page.
  const [parameters, setParameters] = useState("");
  const [clears, setClears] = useState(false);
  const schemas = useLoaded(() => withHints(import("virtual:schemas")), []);
  const limits = limitsOf(fields.hostId);
  const lacksGpuSettings = limits?.permissions.gpuSettings === false && miner.gpuSettings.length === 0;
  const schema = useMemo(
    () =>
      schemas.value === undefined
        ? null
        : withChoices(
            lacksGpuSettings ? without(schemas.value.managedMiner, "gpuSettings") : schemas.value.managedMiner,
            catalogue,
          ),
    [schemas.value, catalogue, lacksGpuSettings],
  );
  const words = useMemo(() => minerWords(catalogue), [catalogue]);
  const { dirty: differs, keep } = useDirty(JSON.stringify(fields), JSON.stringify(fieldsOf(first)));
  const dirty = differs || parameters !== "" || clears;
  const set = (changes: Partial<typeof fields>) => setFields({ ...fields, ...changes });

  const { mistakes, problem, wrong, busy, submit } = useForm(async () => {
    const { hostId, groupId, pool, extras, ...rest } = fields;
    const body = {
      ...rest,
      ...poolOf(pool),
      ...bodyOf(extras),
      id: miner.id,
      hostId: Number(hostId),
      // 0 may also mean the group of the host; it is sent only if chosen.
      ...(groupId === String(miner.groupId) ? {} : { groupId: Number(groupId) }),
      ...(parameters !== "" || clears ? { commandLineParams: clears ? "" : parameters } : {}),
    };
    // The service validates the data against the schema.
    const next = await call("saveManagedMiner", body as Parameters<typeof call<"saveManagedMiner">>[1]);
    setParameters("");
    setClears(false);
    setFields(fieldsOf(next));
    keep(JSON.stringify(fieldsOf(next)));
    onSaved(next);
  });
  const guard = useUnsaved(dirty && !busy);
  return (
    <form class="miner-form" onSubmit={submit} noValidate>
      <div class="miner-fields">
        <Select
          label={t.hosts.host}
          value={fields.hostId}
          options={catalogue.hosts.map(({ id, name }) => ({ id: String(id), name }))}
          problem={wrong("hostId")}
          onChange={(hostId) =>
            set({
              hostId,
              ...filesAfter(fields, limits, { softwareType: fields.softwareType, limits: limitsOf(hostId) }),
            })
          }
        />
        <Text
          label={t.hosts.description}
          hint={t.hosts.descriptionHint}
          value={fields.description}
          maxLength={200}
          problem={wrong("description")}
          onChange={(description) => set({ description })}
        />
        <ProgramFields values={fields} catalogue={catalogue} limits={limits} wrong={wrong} onChange={set} />
        {catalogue.groups.length === 0 ? null : (
          <Select
            label={t.hosts.group}
            none={t.hosts.noGroup}
            noneValue="0"
            value={fields.groupId}
            options={catalogue.groups.map(({ id, name }) => ({ id: String(id), name }))}
            problem={wrong("groupId")}
            onChange={(groupId) => set({ groupId })}
          />
        )}
        <Parameters
          value={parameters}
          hint={isNew ? t.hosts.parametersNew : t.hosts.parametersHint}
          disabled={clears}
          problem={wrong("commandLineParams")}
          onChange={setParameters}
        >
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
        </Parameters>
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
      {lacksGpuSettings ? <p class="hint">{t.hosts.noGpuSettings}</p> : null}
      {mistakes.length > 1 ? <MistakeList mistakes={mistakes} words={words} /> : null}
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
