import { useId, useRef, useState } from "preact/hooks";
import type { Control, ControlValue } from "../../../contract/readings.ts";
import type { Command, MinerDetail } from "../../../contract/resources.ts";
import { isPending } from "../../commands.ts";
import { wordText } from "../../driver-words.ts";
import { duration, number, power } from "../../format.ts";
import { t } from "../../language.ts";
import { CommandResult } from "../../parts/command-state.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { useFocusBack } from "../../parts/focus.ts";
import { Icon, type IconName } from "../../parts/icon.tsx";
import { problemText, sayProblem } from "../../parts/messages.tsx";
import { Slider } from "../../parts/slider.tsx";
import { isWaiting, sendLater, Undo } from "../../parts/undo.tsx";
import { type Choice, choicesOf, stopsMining, wantedBy } from "./control-command.ts";

interface ControlProps {
  readonly rig: Pick<MinerDetail, "id" | "name">;
  readonly control: Control;
  /** The newest command about this control. */
  readonly command: Command | undefined;
  /** Sends the value to the rig; resolves with its answer. */
  readonly send: (value: ControlValue) => Promise<unknown>;
}

/** One control of a rig, built only from the rig's own description: a new driver needs no change here. */
export function ControlRow({ rig, control, command, send }: ControlProps) {
  const id = useId();
  const [sending, setSending] = useState<{ readonly value: ControlValue } | null>(null);
  const [problem, setProblem] = useState<{ readonly text: string; readonly after: number } | null>(null);
  const newest = useRef(0);
  newest.current = command?.id ?? 0;
  const { key, kind, value } = control;
  const name = controlName(key);
  const isSent = sending !== null || (command !== undefined && isPending(command.state));
  const undoKey = `rig ${rig.id} ${key}`;
  const isBusy = isSent || isWaiting(undoKey);
  const asked = sending?.value ?? (isSent && command !== undefined ? wantedBy(command, key) : undefined);
  const wanted = asked === undefined ? undefined : asValue(asked, control);
  const row = useRef<HTMLLIElement>(null);
  useFocusBack(row, isBusy);
  const sendNow = (next: ControlValue): Promise<void> => {
    setSending({ value: next });
    setProblem(null);
    return send(next)
      .then(() => undefined)
      .catch((error: unknown) => {
        // Sent with a delay: another page may be shown by now.
        if (row.current === null) sayProblem(error);
        else setProblem({ text: problemText(error), after: newest.current });
      })
      .finally(() => setSending(null));
  };
  const give = (next: ControlValue): void =>
    stopsMining(control, next) ? sendLater(undoKey, rig.name, () => sendNow(next)) : void sendNow(next);
  // A later command has a result of its own.
  const shown = problem !== null && (command?.id ?? 0) <= problem.after;
  return (
    <li ref={row} class="control" aria-busy={isBusy}>
      <div class="control-head">
        <h3 id={id}>{name}</h3>
        {kind === "trigger" ? null : (
          <span class="control-reported">
            {t.rig.reports} <strong dir="auto">{valueText(control, value)}</strong>
          </span>
        )}
      </div>
      <ControlInput control={control} name={name} wanted={wanted} isBusy={isBusy} labelledBy={id} send={give} />
      <Undo of={undoKey} />
      <p class="hint">{effectText(control)}</p>
      <p class="control-state" role="status">
        {wanted !== undefined && kind !== "trigger" ? (
          <>
            {t.rig.wanted} <strong dir="auto">{valueText(control, wanted)}</strong>{" "}
          </>
        ) : null}
        {shown ? (
          <span class="status bad">
            <Icon name="warning" /> <span dir="auto">{problem.text}</span>
          </span>
        ) : command === undefined || (sending !== null && !isPending(command.state)) ? (
          sending === null ? null : (
            t.rig.sending
          )
        ) : (
          <CommandResult command={command} />
        )}
      </p>
    </li>
  );
}

interface InputProps {
  readonly control: Control;
  readonly name: string;
  readonly labelledBy: string;
  /** The value that was sent and is not confirmed yet. */
  readonly wanted: ControlValue | undefined;
  readonly isBusy: boolean;
  readonly send: (value: ControlValue) => void;
}

function ControlInput(props: InputProps) {
  const { control } = props;
  if (control.kind === "switch") return <SwitchInput {...props} />;
  if (control.kind === "trigger") return <TriggerInput {...props} />;
  if (control.kind === "choice") return <ChoiceInput {...props} choices={choicesOf(control)} />;
  return <RangeInput {...props} />;
}

/** Start or stop, whichever changes something; other switches have two buttons, with the reported one pressed. */
function SwitchInput({ control, labelledBy, isBusy, send }: InputProps) {
  const isMining = control.key === "mining";
  const button = (on: boolean, icon: IconName | null, label: string) => (
    <button
      type="button"
      class="button"
      aria-pressed={isMining ? undefined : control.value === on}
      disabled={isBusy}
      onClick={() => (control.value === on ? undefined : send(on))}
    >
      {icon === null ? null : <Icon name={icon} />} {label}
    </button>
  );
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would need a legend beside the heading
    <div class="row" role="group" aria-labelledby={labelledBy}>
      {isMining && control.value === true
        ? null
        : button(true, isMining ? "start" : null, isMining ? t.rig.start : t.rig.switchOn)}
      {isMining && control.value === false
        ? null
        : button(false, isMining ? "stop" : null, isMining ? t.rig.stop : t.rig.switchOff)}
    </div>
  );
}

const triggerIcons: Readonly<Record<string, IconName>> = { reboot: "power", restart: "restart", locate: "locate" };

/** Asks first if it stops the rig for a while. */
function TriggerInput({ control, name, isBusy, send }: InputProps) {
  const [asks, setAsks] = useState(false);
  return (
    <div class="row">
      <button
        type="button"
        class="button"
        disabled={isBusy}
        onClick={() => (control.restartsMining ? setAsks(true) : send(true))}
      >
        <Icon name={triggerIcons[control.key] ?? "start"} /> {name}
      </button>
      {asks ? (
        <Confirm
          title={name}
          text={<p class="sentence">{effectText(control)}</p>}
          verb={name}
          onConfirm={async () => send(true)}
          onClose={() => setAsks(false)}
        />
      ) : null}
    </div>
  );
}

/** A few words are buttons, many are a list; powers are a slider limited to them. */
function ChoiceInput({ control, name, labelledBy, wanted, isBusy, send, choices }: InputProps & { choices: Choice[] }) {
  const present = wanted ?? control.value;
  const isPresent = (choice: Choice) => choice.value === present || choice.watts === present;
  if (control.key === "power_target" && choices.every(({ watts }) => watts !== null))
    return (
      <Slider
        label={name}
        value={choices.find(isPresent)?.watts ?? null}
        min={control.min ?? 0}
        max={control.max ?? 0}
        marks={choices.map((choice) => ({
          value: choice.watts ?? 0,
          label: choice.watts === 0 ? t.shell.off : choiceText(choice),
        }))}
        marksOnly
        disabled={isBusy}
        onCommit={(watts) => send(choices.find((choice) => choice.watts === watts)?.value ?? watts)}
      />
    );
  if (choices.length <= 4)
    return (
      // biome-ignore lint/a11y/useSemanticElements: a fieldset would need a legend beside the heading
      <div class="row" role="group" aria-labelledby={labelledBy}>
        {choices.map((choice) => (
          <button
            key={choice.value}
            type="button"
            class="button"
            aria-pressed={choice.value === control.value || choice.watts === control.value}
            disabled={isBusy}
            onClick={() => send(choice.value)}
          >
            <span dir="auto">{choiceText(choice)}</span>
          </button>
        ))}
      </div>
    );
  return (
    <select
      aria-labelledby={labelledBy}
      value={choices.find(isPresent)?.value ?? ""}
      disabled={isBusy}
      onChange={({ currentTarget }) => send(currentTarget.value)}
    >
      {choices.some(isPresent) ? null : <option value="">–</option>}
      {choices.map((choice) => (
        <option key={choice.value} value={choice.value}>
          {choiceText(choice)}
        </option>
      ))}
    </select>
  );
}

/** A slider, with a button for each word that the control accepts besides numbers. */
function RangeInput({ control, name, wanted, isBusy, send }: InputProps) {
  const present = wanted ?? control.value;
  const { min, max, step, unit } = control;
  return (
    <div class="stack">
      <Slider
        label={name}
        value={typeof present === "number" ? present : null}
        min={min ?? 0}
        max={max ?? 100}
        step={step ?? 1}
        unit={unit ?? ""}
        disabled={isBusy}
        onCommit={send}
      />
      {control.options === null ? null : (
        <div class="row">
          {choicesOf(control).map((choice) => (
            <button
              key={choice.value}
              type="button"
              class="button"
              aria-pressed={choice.value === control.value}
              disabled={isBusy}
              onClick={() => send(choice.value)}
            >
              {wordText(choice.value)}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}

const choiceText = ({ value, watts }: Choice): string =>
  watts === null || value.includes(String(watts)) ? wordText(value) : `${wordText(value)} · ${power(watts)}`;

/** The name of a control: boards by their slot, an unknown one by its key. */
export function controlName(key: string): string {
  const slot = /^board_(\d+)$/.exec(key)?.[1];
  if (slot !== undefined) return t.rig.board({ slot: number(Number(slot)) });
  return Object.entries(t.rig.control).find(([each]) => each === key)?.[1] ?? key;
}

/** A value of a control for display. */
export function valueText({ key, unit, options }: Control, value: ControlValue | null): string {
  if (value === null) return "–";
  if (typeof value === "boolean")
    return key === "mining" ? (value ? t.rig.isOn : t.rig.isOff) : value ? t.shell.on : t.shell.off;
  if (typeof value === "string") return wordText(value);
  if (key === "power_target" && value === 0) return t.shell.off;
  const label = choicesOf({ options }).find(({ watts }) => watts === value)?.value;
  const text = unit === "W" ? power(value) : `${number(value, 3)} ${unit ?? ""}`.trim();
  return label === undefined || label.includes(String(value)) ? text : `${label} (${text})`;
}

/** Values of commands that arrived as text. */
const asValue = (value: ControlValue, { kind }: Control): ControlValue => {
  if (kind === "switch" && typeof value === "string") return value === "true";
  return kind === "range" && typeof value === "string" && value !== "" && Number.isFinite(Number(value))
    ? Number(value)
    : value;
};

/** "Restarts mining · stays after a restart of the rig · takes about 2 min". */
export const effectText = ({ key, restartsMining, lasting, seconds, kind }: Control): string =>
  [
    restartsMining && key !== "mining" ? t.rig.restartsMining : "",
    lasting && kind !== "trigger" ? t.rig.lasting : "",
    seconds >= 10 ? t.rig.takes({ time: duration(seconds) }) : "",
  ]
    .filter((text) => text !== "")
    .join(" · ");
