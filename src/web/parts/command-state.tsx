import type { Command, CommandState } from "../../contract/resources.ts";
import { t } from "../language.ts";
import { Age, Mark, type Tone } from "./status.tsx";

const tones: Record<CommandState, Tone> = {
  queued: "off",
  sent: "busy",
  done: "good",
  failed: "bad",
  unknown: "warning",
};

/** The state of a command by word and colour. */
export const CommandStateMark = ({ state }: { state: CommandState }) => (
  <Mark tone={tones[state]}>{t.commands.state[state]}</Mark>
);

/** The command, and the rig's own answer. */
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
