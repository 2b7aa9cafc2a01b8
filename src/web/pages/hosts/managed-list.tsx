import { useEffect, useMemo, useState } from "preact/hooks";
import type { Command, ManagedMiner } from "../../../contract/resources.ts";
import { call } from "../../api.ts";
import { useCommands } from "../../commands.ts";
import { t } from "../../language.ts";
import { CommandResult } from "../../parts/command-state.tsx";
import { Icon } from "../../parts/icon.tsx";
import { minerName, ProgramState } from "../../parts/program-state.tsx";
import { useButton } from "../../parts/use-form.ts";
import { link } from "../../route.ts";
import { may } from "../../session.ts";

interface ManagedListProps {
  readonly miners: readonly ManagedMiner[];
  readonly software: ReadonlyMap<string, string>;
  readonly onChanged: () => void;
}

/** The programs of a host, each with its state and buttons to start and stop it. */
export function ManagedList({ miners, software, onChanged }: ManagedListProps) {
  // Only commands sent from this page are shown, with the host's answer.
  const [since] = useState(() => Date.now());
  const filter = useMemo(() => ({ since }), [since]);
  const { value: list } = useCommands(miners.length === 0 ? null : filter);
  if (miners.length === 0) return null;
  return (
    <ul class="programs">
      {miners.map((miner) => (
        <ManagedEntry
          key={miner.id}
          miner={miner}
          program={software.get(miner.softwareType) ?? miner.softwareType}
          command={list?.find(({ minerId }) => minerId === miner.id)}
          onChanged={onChanged}
        />
      ))}
    </ul>
  );
}

interface ManagedEntryProps {
  readonly miner: ManagedMiner;
  readonly program: string;
  readonly command: Command | undefined;
  readonly onChanged: () => void;
}

const none = new Set(["", "Unspecified"]);

function ManagedEntry({ miner, program, command, onChanged }: ManagedEntryProps) {
  const { busy, send } = useButton();
  const name = minerName(miner, program);
  useEffect(onChanged, [command?.state]);
  const button = (action: "start" | "stop" | "restart") => (
    <button
      type="button"
      class="button"
      disabled={busy}
      onClick={() => send(() => call("minerAction", { id: miner.id, action })).then(onChanged)}
    >
      <Icon name={action} /> {t.hosts.actions[action]}
      <span class="visually-hidden">: {name}</span>
    </button>
  );
  const algorithms = [miner.algorithm, miner.dualAlgorithm].filter((each) => !none.has(each)).join(" + ");
  return (
    <li>
      <div class="program-main">
        <p class="program-head">
          <a href={link(`hosts/miners/${miner.id}`)}>
            <bdi>{name}</bdi>
          </a>
          <ProgramState status={miner.status} />
        </p>
        <p class="hint">
          <bdi>{program === "" ? t.hosts.noSoftware : program}</bdi>
          {algorithms === "" ? null : (
            <>
              {" · "}
              <bdi>{algorithms}</bdi>
            </>
          )}
          {miner.switching === null ? null : ` · ${t.hosts.modes[miner.switching.mode]}`}
        </p>
        {miner.note === null ? null : (
          <p class="program-note" dir="auto">
            {miner.note}
          </p>
        )}
        {command === undefined ? null : (
          <p class="hint" role="status">
            {t.hosts.sent} <CommandResult command={command} />
          </p>
        )}
      </div>
      {may("minerAction") ? (
        <div class="row">
          {miner.running === true ? null : button("start")}
          {miner.running === false ? null : button("stop")}
          {miner.running === false ? null : button("restart")}
        </div>
      ) : null}
    </li>
  );
}
