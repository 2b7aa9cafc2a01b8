import type { Command, CommandState } from "../../contract/resources.ts";
import { t } from "../language.ts";
import { Age } from "./status.tsx";

const tones: Record<CommandState, string> = {
  queued: "off",
  sent: "busy",
  done: "good",
  failed: "bad",
  unknown: "warning",
};

/** The state of a command by word and colour. */
export const CommandStateMark = ({ state }: { state: CommandState }) => (
  <span class={`status ${tones[state]}`}>
    <span class="dot" aria-hidden="true" />
    {t.commands.state[state]}
  </span>
);

/** What was sent, and what the rig answered in its own words. */
export const CommandResult = ({ command }: { command: Command }) => (
  <>
    <CommandStateMark state={command.state} /> <Age time={command.updated} />
    {command.message === "" ? null : (
      <>
        {" · "}
        <span dir="auto">{command.message}</span>
      </>
    )}
  </>
);
