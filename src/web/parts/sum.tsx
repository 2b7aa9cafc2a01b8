import type { ComponentChildren } from "preact";
import { type KnownOf, type LoadedSum, uncounted } from "../../contract/known-of.ts";
import { t } from "../language.ts";
import { Tile } from "./page.tsx";

interface SumProps<S extends LoadedSum> {
  readonly sum: S;
  readonly format: (value: number | null) => string;
  /** Describes what the sum leaves out, for this number. */
  readonly leavesOut: (count: number) => string;
}

interface SumTileProps extends SumProps<LoadedSum> {
  readonly name: string;
  /** Shown before the text about what is left out. */
  readonly notes?: readonly (string | null)[];
  /** Whether a loss is marked. */
  readonly marksLoss?: boolean;
}

/** A tile of a sum, with what it leaves out. */
export function SumTile({ name, sum, format, leavesOut, notes = [], marksLoss = false }: SumTileProps) {
  if (sum === "loading") return <Tile name={name} value={<span role="status">{t.shell.loading}</span>} />;
  const left = uncounted(sum);
  const lines = [...notes, left > 0 ? leavesOut(left) : null].filter((line) => line !== null);
  return (
    <Tile
      name={name}
      value={format(sum.value)}
      note={lines.length === 0 ? null : linesIn(lines)}
      {...(marksLoss && sum.value !== null && sum.value < 0 ? { tone: "bad" as const } : {})}
    />
  );
}

const linesIn = (lines: readonly string[]): ComponentChildren =>
  lines.map((line, index) => (
    <>
      {index === 0 ? null : <br />}
      {line}
    </>
  ));

/** A sum in a line or a table, with what it leaves out. */
export const SumText = ({ sum, format, leavesOut }: SumProps<KnownOf>) => (
  <>
    {format(sum.value)}
    {sum.value === null || uncounted(sum) === 0 ? null : <small> ({leavesOut(uncounted(sum))})</small>}
  </>
);
