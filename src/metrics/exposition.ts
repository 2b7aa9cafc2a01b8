/** A metric of the Prometheus text format 0.0.4, in base units. */
export interface Metric {
  readonly name: string;
  readonly type: "gauge" | "counter";
  readonly help: string;
}

/** Null is unknown and has no sample. */
export type Value = number | boolean | null;

/** The HELP and TYPE lines of a metric. */
export const heading = ({ name, type, help }: Metric): string =>
  `# HELP ${name} ${help.replace(/[\\\n]/g, escaped)}\n# TYPE ${name} ${type}\n`;

export type Labels = Readonly<Record<string, string>>;

/** A metric with its samples. */
export interface Family {
  readonly metric: Metric;
  readonly samples: readonly (readonly [labels: Labels, value: Value])[];
}

export const familyText = ({ metric, samples }: Family): string =>
  heading(metric) + samples.map(([labels, value]) => sample(metric.name, labelText(labels), value)).join("");

/** One sample line; `labels` as made by `labelText`. */
export const sample = (name: string, labels: string, value: Value): string =>
  value === null ? "" : `${name}${labels === "" ? "" : `{${labels}}`} ${Number(value)}\n`;

export const labelText = (labels: Labels): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}="${value.replace(/[\\"\n]/g, escaped)}"`)
    .join(",");

const escaped = (character: string): string => (character === "\n" ? "\\n" : `\\${character}`);
