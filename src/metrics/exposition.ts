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

/** One sample line; `labels` as made by `labelText`. */
export const sample = (name: string, labels: string, value: Value): string =>
  value === null ? "" : `${name}${labels === "" ? "" : `{${labels}}`} ${Number(value)}\n`;

export const labelText = (labels: Readonly<Record<string, string>>): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}="${value.replace(/[\\"\n]/g, escaped)}"`)
    .join(",");

const escaped = (character: string): string => (character === "\n" ? "\\n" : `\\${character}`);
