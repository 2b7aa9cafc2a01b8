import { useState } from "preact/hooks";
import { energy, money, number } from "../../format.ts";
import { t } from "../../language.ts";
import { None } from "../../parts/empty-state.tsx";
import type { Known } from "../../parts/load.tsx";
import { Scroll } from "../../parts/scroll.tsx";
import { link } from "../../route.ts";
import type { Line } from "./report.ts";

/** Initially shown lines: of 10,000 rigs, the best and the worst matter. */
const pageLength = 100;

interface ReportTableProps {
  readonly lines: readonly Line[];
  readonly currency: string;
  readonly of: "miner" | "group" | "coin" | "algorithm";
  readonly known: Known;
}

/** Energy and earnings of each rig, group, coin or algorithm. */
export function ReportTable({ lines, currency, of, known }: ReportTableProps) {
  const [worstFirst, setWorstFirst] = useState(false);
  const [shown, setShown] = useState(pageLength);
  if (lines.length === 0) return <None known={known}>{t.money.nothing}</None>;
  const ordered = worstFirst ? [...lines].reverse() : lines;
  const nameOf = ({ id, name }: Line) => {
    const text = <bdi>{name === "" ? t.shell.unknown : name}</bdi>;
    if (id === null || (of !== "miner" && of !== "group")) return text;
    return (
      <a class="clamped" href={link(of === "miner" ? `rigs/${id}` : `rigs?group=${id}`)}>
        {text}
      </a>
    );
  };
  return (
    <>
      <Scroll name={t.money.by}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t.money.subjects[of]}</th>
              <th scope="col" class="number">
                {t.money.energy}
              </th>
              <th scope="col" class="number">
                {t.money.cost}
              </th>
              <th scope="col" class="number">
                {t.money.revenue}
              </th>
              <th scope="col" class="number" aria-sort={worstFirst ? "ascending" : "descending"}>
                <button type="button" class="button small quiet" onClick={() => setWorstFirst(!worstFirst)}>
                  {t.money.profit} {worstFirst ? "↑" : "↓"}
                </button>
              </th>
            </tr>
          </thead>
          <tbody>
            {ordered.slice(0, shown).map((line) => (
              <tr key={`${line.id} ${line.name}`}>
                <th scope="row" class="name">
                  {nameOf(line)}
                </th>
                <td class="number">{energy(line.energy)}</td>
                <td class="number">{money(line.cost, currency)}</td>
                <td class="number">{money(line.revenue, currency)}</td>
                <td class="number">
                  <span class={line.profit !== null && line.profit < 0 ? "loss" : undefined}>
                    {money(line.profit, currency)}
                  </span>
                  {line.incomplete ? <abbr title={t.money.incomplete}> *</abbr> : null}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      {ordered.some(({ incomplete }) => incomplete) ? <p class="hint">* {t.money.incomplete}</p> : null}
      {ordered.length > shown ? (
        <button type="button" class="button" onClick={() => setShown(shown + pageLength)}>
          {t.money.showMore({ count: number(ordered.length - shown) })}
        </button>
      ) : null}
    </>
  );
}
