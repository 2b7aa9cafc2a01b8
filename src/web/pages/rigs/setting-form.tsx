import { useState } from "preact/hooks";
import type { Control } from "../../../contract/readings.ts";
import { call } from "../../api.ts";
import { number } from "../../format.ts";
import { t } from "../../language.ts";
import type { Row } from "../../live.ts";
import { None } from "../../parts/empty-state.tsx";
import { Field } from "../../parts/field.tsx";
import { Loading, useLoaded } from "../../parts/load.tsx";
import { controlText } from "./action-text.ts";
import type { SetParameters } from "./bulk-kinds.ts";
import { named } from "./part-text.ts";
import { type Setting, settingsOf } from "./settings.ts";

/** Rigs of the same model and algorithm usually have the same controls: one of each is queried. */
const mostAsked = 12;

function samplesOf(rows: readonly Row[]): Row[] {
  const samples = new Map<string, Row>();
  for (const row of rows) {
    const kind = `${row.model ?? ""}\n${row.algorithm ?? ""}`;
    const before = samples.get(kind);
    if (before === undefined || (before.status === "Disconnected" && row.status !== "Disconnected"))
      samples.set(kind, row);
  }
  return [...samples.values()].slice(0, mostAsked);
}

/** Chooses a control that the selected rigs have, and its new value. */
export function SettingForm({ rows, fill }: { rows: readonly Row[]; fill: SetParameters }) {
  const loaded = useLoaded(async (signal) => {
    const samples = samplesOf(rows);
    const controls = await Promise.all(
      samples.map(async ({ id }): Promise<readonly Control[]> => (await call("getMiner", { id }, { signal })).controls),
    );
    return { settings: settingsOf(controls), models: samples.length };
  }, []);
  const [key, setKey] = useState("");
  const choose = (chosen: string) => {
    setKey(chosen);
    fill(null);
  };
  return (
    <Loading from={loaded}>
      {({ settings, models }, known) => {
        const setting = settings.find((each) => each.key === key);
        return settings.length === 0 ? (
          <None known={known}>{t.rigs.noSettings}</None>
        ) : (
          <>
            <Field
              label={t.rigs.setting}
              hint={
                setting === undefined || models === 1 || setting.models === models
                  ? undefined
                  : t.rigs.settingOf({ some: number(setting.models), all: number(models) })
              }
            >
              {(control) => (
                <select {...control} value={key} onChange={({ currentTarget }) => choose(currentTarget.value)}>
                  <option value="" />
                  {settings.map((each) => (
                    <option key={each.key} value={each.key}>
                      {controlText(each.key)}
                    </option>
                  ))}
                </select>
              )}
            </Field>
            {setting === undefined ? null : <ValueField key={key} setting={setting} fill={fill} />}
          </>
        );
      }}
    </Loading>
  );
}

function ValueField({ setting, fill }: { setting: Setting; fill: SetParameters }) {
  const { key, kind, min, max, step, unit, options, lasting, restartsMining } = setting;
  const set = (value: string) => fill(value.trim() === "" ? null : { property: key, value: value.trim() });
  // Some accept words besides numbers, such as "auto".
  const limits = { type: "number", min: min ?? undefined, max: max ?? undefined, step: step ?? "any" } as const;
  const range =
    min === null || max === null ? null : t.rigs.range({ min: number(min, 2), max: `${number(max, 2)} ${unit ?? ""}` });
  const hints = [
    kind === "range" ? range : null,
    lasting ? t.rigs.lasting : t.rigs.notLasting,
    restartsMining ? t.rigs.restartsMining : null,
  ];
  return (
    <Field label={t.rigs.value} hint={hints.filter((hint) => hint !== null).join(" · ")}>
      {(control) =>
        kind === "range" ? (
          <input
            {...control}
            {...(options.length === 0 ? limits : { type: "text" })}
            required
            onInput={({ currentTarget }) => set(currentTarget.checkValidity() ? currentTarget.value : "")}
          />
        ) : (
          <select {...control} onChange={({ currentTarget }) => set(currentTarget.value)}>
            <option value="" />
            {(kind === "switch" ? ["true", "false"] : options).map((value) => (
              <option key={value} value={value}>
                {kind === "switch" ? (value === "true" ? t.shell.on : t.shell.off) : named(t.rig.words, value)}
              </option>
            ))}
          </select>
        )
      }
    </Field>
  );
}
