import { number } from "../../format.ts";
import { t } from "../../language.ts";
import { Scroll } from "../../parts/scroll.tsx";
import { Mark, type Tone } from "../../parts/status.tsx";
import { link } from "../../route.ts";
import type { Turn } from "./recipe.ts";

/** How it stands with one host: a preview, then what came of it. */
export interface Outcome {
  readonly turn: Turn;
  readonly state: "possible" | "left" | "waiting" | "working" | "done" | "failed" | "stopped";
  /** Why it is left out, has failed, or would not run yet; "" if there is nothing to say. */
  readonly why: string;
  /** The managed miner that was set up. */
  readonly minerId: number | null;
}

const tones: Readonly<Record<Outcome["state"], Tone>> = {
  possible: "good",
  left: "warning",
  waiting: "off",
  working: "busy",
  done: "good",
  failed: "bad",
  stopped: "off",
};

function stateText({ state, turn }: Outcome): string {
  const { created, replaced, wouldCreate, wouldReplace, state: words } = t.hosts.several;
  if (state === "possible") return turn.replaces === null ? wouldCreate : wouldReplace;
  if (state === "done") return turn.replaces === null ? created : replaced;
  return words[state];
}

/** What would happen on each host, or has. */
export const SeveralResults = ({ outcomes }: { outcomes: readonly Outcome[] }) => (
  <Scroll name={t.hosts.several.result}>
    <table>
      <thead>
        <tr>
          <th scope="col">{t.hosts.host}</th>
          <th scope="col">{t.hosts.miner}</th>
          <th scope="col">{t.hosts.several.result}</th>
        </tr>
      </thead>
      <tbody>
        {outcomes.map((outcome) => {
          const { turn, why, minerId } = outcome;
          const name = turn.name === "" ? t.hosts.several.ofProgram : turn.name;
          const id = minerId ?? turn.replaces;
          return (
            <tr key={turn.hostId}>
              <th scope="row">
                <bdi>{turn.host}</bdi>
              </th>
              <td>
                {id === null ? (
                  <bdi>{name}</bdi>
                ) : (
                  <a href={link(`hosts/miners/${id}`)}>
                    <bdi>{name}</bdi>
                  </a>
                )}
              </td>
              <td class="several-result">
                <Mark tone={tones[outcome.state]}>{stateText(outcome)}</Mark>
                {why === "" ? null : (
                  <small class="several-why" dir="auto">
                    {why}
                  </small>
                )}
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  </Scroll>
);

/** How many are through. */
export function SeveralProgress({ outcomes }: { outcomes: readonly Outcome[] }) {
  const meant = outcomes.filter(({ state }) => state !== "left");
  const done = meant.filter(({ state }) => state === "done" || state === "failed" || state === "stopped").length;
  return (
    <>
      <progress max={Math.max(1, meant.length)} value={done} aria-label={t.hosts.several.title} />
      <p class="hint" role="status">
        {t.activity.doneOf({
          done: number(meant.filter(({ state }) => state === "done").length),
          total: number(meant.length),
        })}
      </p>
    </>
  );
}
