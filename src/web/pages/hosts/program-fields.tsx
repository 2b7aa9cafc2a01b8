import type { ComponentChildren } from "preact";
import { t } from "../../language.ts";
import { Field } from "../../parts/field.tsx";
import { FilesFields } from "./files-fields.tsx";
import { type HostLimits, presetFiles, whyNotDownload, whyNotSoftware } from "./host-choices.ts";
import type { Catalogue } from "./miner-data.ts";
import { Select } from "./miner-fields.tsx";

/** What a managed miner runs, and what it mines where. */
export interface ProgramValues {
  readonly softwareType: string;
  readonly algorithm: string;
  readonly dualAlgorithm: string;
  /** By `poolRef`. */
  readonly pool: string;
  readonly softwareAutoDownload: boolean;
  readonly softwarePath: string;
}

interface ProgramFieldsProps {
  readonly values: ProgramValues;
  readonly catalogue: Catalogue;
  /** Of its host; null: not known, or for several hosts. */
  readonly limits: HostLimits | null;
  readonly wrong: (path: string) => string | undefined;
  readonly onChange: (changes: Partial<ProgramValues>) => void;
}

/** Where the files come from after another choice of host or program, unless somebody has given a path. */
export function filesAfter(
  { softwareType, softwareAutoDownload, softwarePath }: ProgramValues,
  limits: HostLimits | null,
  next: { readonly softwareType: string; readonly limits: HostLimits | null },
): Partial<ProgramValues> {
  const isPreset = softwarePath === presetFiles(limits, softwareType).softwarePath;
  const works = softwareAutoDownload && whyNotDownload(next.limits, next.softwareType) === null;
  return works || (!isPreset && softwarePath !== "") ? {} : presetFiles(next.limits, next.softwareType);
}

export function ProgramFields({ values, catalogue, limits, wrong, onChange }: ProgramFieldsProps) {
  const { softwareType, algorithm, dualAlgorithm, pool, softwareAutoDownload, softwarePath } = values;
  const software = catalogue.software.find(({ id }) => id === softwareType);
  const mined = software?.algorithms ?? [];
  const algorithms = catalogue.algorithms.filter(({ id }) => mined.length === 0 || mined.includes(id));
  const seconds = software?.dualAlgorithms?.[algorithm] ?? [];
  return (
    <>
      <Select
        label={t.hosts.software}
        none={t.hosts.choose}
        value={softwareType}
        options={catalogue.software.map(({ id, name }) => ({ id, name, whyNot: whyNotSoftware(limits, id) }))}
        problem={wrong("softwareType")}
        onChange={(chosen) =>
          onChange({
            softwareType: chosen,
            algorithm: "",
            dualAlgorithm: "",
            ...filesAfter(values, limits, { softwareType: chosen, limits }),
          })
        }
      />
      <Select
        label={t.hosts.algorithm}
        none={t.hosts.ofPool}
        value={algorithm}
        options={algorithms}
        problem={wrong("algorithm")}
        onChange={(chosen) => onChange({ algorithm: chosen, dualAlgorithm: "" })}
      />
      {seconds.length === 0 && dualAlgorithm === "" ? null : (
        <Select
          label={t.hosts.second}
          none={t.shell.none}
          value={dualAlgorithm}
          options={catalogue.algorithms.filter(({ id }) => seconds.includes(id))}
          problem={wrong("dualAlgorithm")}
          onChange={(chosen) => onChange({ dualAlgorithm: chosen })}
        />
      )}
      <Select
        label={t.hosts.pool}
        none={t.shell.none}
        value={pool}
        options={catalogue.pools}
        problem={wrong("poolId")}
        onChange={(chosen) => onChange({ pool: chosen })}
      />
      <FilesFields
        limits={limits}
        software={softwareType}
        downloads={softwareAutoDownload}
        path={softwarePath}
        problemOf={wrong}
        onChange={onChange}
      />
    </>
  );
}

interface ParametersProps {
  readonly value: string;
  readonly hint: string;
  readonly disabled?: boolean;
  readonly problem: string | undefined;
  readonly onChange: (value: string) => void;
  readonly children?: ComponentChildren;
}

/** They may hold a password, so they are not shown. */
export const Parameters = ({ value, hint, disabled = false, problem, onChange, children }: ParametersProps) => (
  <div>
    <Field label={t.hosts.parameters} hint={hint} problem={problem}>
      {(control) => (
        <input
          {...control}
          type="password"
          autocomplete="off"
          maxLength={4000}
          dir="ltr"
          disabled={disabled}
          value={value}
          onInput={({ currentTarget }) => onChange(currentTarget.value)}
        />
      )}
    </Field>
    {children}
  </div>
);
