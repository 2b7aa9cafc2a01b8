import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Command } from "../../contract/resources.ts";
import { call } from "../api.ts";
import { wordText } from "../driver-words.ts";
import { dateTime, power } from "../format.ts";
import { language, t } from "../language.ts";
import { link } from "../route.ts";
import { may } from "../session.ts";
import "./command-list.css";
import { CommandStateMark } from "./command-state.tsx";
import { EmptyState } from "./empty-state.tsx";
import type { Known } from "./load.tsx";
import { say } from "./messages.tsx";
import { Scroll } from "./scroll.tsx";
import { Age } from "./status.tsx";
import { useButton } from "./use-form.ts";

interface CommandListProps {
  readonly commands: readonly Command[];
  readonly known: Known;
  /** Hides the rig's column on a rig's own page. */
  readonly ofOneRig?: boolean;
  /** Addresses of a filter by a rig or an actor. */
  readonly hrefOf?: ((filter: { readonly miner: string } | { readonly actor: string }) => string) | undefined;
}

const firstRows = 100;

/** One command in a table of them. */
export function CommandRow({
  command,
  ofOneRig = false,
  hrefOf,
}: Omit<CommandListProps, "commands" | "known"> & { readonly command: Command }) {
  return (
    <tr>
      <td class="command-when">
        <span title={dateTime(command.time)}>
          <Age time={command.time} />
        </span>
      </td>
      {ofOneRig ? null : (
        <th scope="row" class="command-rig">
          <Linked className="clamped" href={command.minerId === 0 ? undefined : link(`rigs/${command.minerId}`)}>
            <bdi>{command.minerName}</bdi>
          </Linked>
        </th>
      )}
      <td class="command-action">
        <bdi>{actionText(command)}</bdi>
      </td>
      <td class="command-who">
        {isOfItself(command) ? null : (
          <Linked href={hrefOf?.({ actor: command.actor })}>
            <bdi>{actorText(command.actor)}</bdi>
          </Linked>
        )}
        <Cause cause={command.cause} />
      </td>
      <td class="command-result">
        <CommandStateMark state={command.state} />
        {command.message === "" ? null : <small dir="auto">{command.message}</small>}
        <Cancel command={command} />
      </td>
    </tr>
  );
}

/** Whether no person sent it: its cause names the rule or schedule. */
const isOfItself = ({ cause }: Command): boolean => cause?.kind === "rule" || cause?.kind === "schedule";

/** A user's name, or the familiar name of a front end; "mqtt for anna" is "MQTT for anna". */
export function actorText(actor: string): string {
  const [, frontEnd = "", rest = ""] =
    /^(http|mqtt|node-red|homebridge|service|command line)( for .*)?$/.exec(actor) ?? [];
  const name = Object.entries(t.commands.actors).find(([each]) => each === frontEnd)?.[1];
  return name === undefined ? actor : name + rest;
}

/** Commands: time, caller, action, cause, and the rig's own answer. */
export function CommandList({ commands, known, ofOneRig = false, hrefOf }: CommandListProps) {
  const [rows, setRows] = useState(firstRows);
  if (commands.length === 0)
    return <EmptyState known={known} icon="activity" title={t.commands.empty} text={t.commands.emptyText} />;
  const columns = [
    t.commands.when,
    ...(ofOneRig ? [] : [t.commands.rig]),
    t.commands.action,
    t.commands.who,
    t.commands.result,
  ];
  return (
    <>
      <Scroll name={t.commands.title}>
        <table class={ofOneRig ? "commands of-one-rig" : "commands"}>
          <thead>
            <tr>
              {columns.map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {commands.slice(0, rows).map((command) => (
              <CommandRow key={command.id} command={command} ofOneRig={ofOneRig} hrefOf={hrefOf} />
            ))}
          </tbody>
        </table>
      </Scroll>
      {commands.length > rows ? (
        <p class="row">
          <button type="button" class="button" onClick={() => setRows(rows + firstRows)}>
            {t.commands.more}
          </button>
        </p>
      ) : null}
    </>
  );
}

interface LinkedProps {
  readonly href: string | undefined;
  readonly className?: string;
  readonly children: ComponentChildren;
}

/** Text, as a link if there is a page for it. */
const Linked = ({ href, className, children }: LinkedProps) =>
  href === undefined ? (
    <span class={className}>{children}</span>
  ) : (
    <a class={className} href={href}>
      {children}
    </a>
  );

/** The page of a cause, at the run in question. */
function hrefOfCause({ kind, key, id, run }: NonNullable<Command["cause"]>): string | undefined {
  if (kind === "bulk") return may("listBulkActions") ? link(`activity?tab=bulk&job=${run}`) : undefined;
  if (kind === "template")
    return may("listManagedTemplates") && id !== undefined ? link(`rules/templates/${id}`) : undefined;
  const which = id ?? encodeURIComponent(key);
  if (kind === "schedule") return may("listSchedules") ? link(`rules/schedules/${which}?run=${run}`) : undefined;
  return may("listRules") ? link(`rules/${which}?run=${run}`) : undefined;
}

function Cause({ cause }: { cause: Command["cause"] }) {
  if (cause === null || cause === undefined) return null;
  return (
    <small>
      {t.commands.cause[cause.kind]}{" "}
      <Linked href={hrefOfCause(cause)}>
        <bdi>{cause.key}</bdi>
      </Linked>
    </small>
  );
}

/** "Set fan to 60", "Restart", with the parameters. */
export function actionText({ action, parameters }: Pick<Command, "action" | "parameters">): string {
  const name = Object.entries(t.commands.actions).find(([each]) => each === action)?.[1] ?? action;
  if (action === "set") {
    const property = String(parameters.property ?? "");
    const label = Object.entries(t.rig.control).find(([each]) => each === property)?.[1] ?? property;
    // Only English writes nouns from labels in lower case inside a sentence.
    const named = language === "en" ? label.toLowerCase() : label;
    return t.commands.setTo({ property: named, value: wordText(String(parameters.value ?? "")) });
  }
  const { room, from, to } = parameters;
  if (action === "firmware") return t.commands.firmware({ from: String(from ?? ""), to: String(to ?? "") });
  if (room !== undefined && from !== undefined && to !== undefined)
    return `${name}: ${t.commands.fromTo({ room: String(room), from: limitText(from), to: limitText(to) })}`;
  const values = Object.values(parameters).map(String).join(", ");
  return values === "" ? name : `${name}: ${values}`;
}

const limitText = (watts: string | number | boolean): string =>
  typeof watts === "number" ? power(watts) : t.commands.none;

function Cancel({ command }: { command: Command }) {
  const { busy, send } = useButton();
  if (command.state !== "queued" || !may("cancelCommand")) return null;
  return (
    <button
      type="button"
      class="button small"
      disabled={busy}
      onClick={() => send(async () => say((await call("cancelCommand", { id: command.id })).message))}
    >
      {t.shell.cancel}
    </button>
  );
}
