import type { ControlKey, ControlValue } from "../../../contract/readings.ts";
import type { Command, MinerDetail } from "../../../contract/resources.ts";
import { call } from "../../api.ts";
import { now } from "../../clock.ts";
import { t } from "../../language.ts";
import { None } from "../../parts/empty-state.tsx";
import type { Known } from "../../parts/load.tsx";
import { OneByOne } from "../../parts/one-by-one.tsx";
import { Card } from "../../parts/page.tsx";
import { may } from "../../session.ts";
import { ControlRow, controlName, valueText } from "./control.tsx";
import { actionFor, controlsOf, latestFor } from "./control-command.ts";
import { Holder } from "./holder.tsx";

/** The most used controls come first, then the rig's order. */
const order: readonly string[] = ["mining", "power_target", "mode", "throttle", "power_limit", "fan"];
const rank = (key: ControlKey): number => {
  const place = order.indexOf(key);
  return place >= 0 ? place : key.startsWith("board_") ? order.length + 1 : order.length;
};

/** The controls that this rig offers now; for read-only users, their values. */
export function Controls({ miner, commands, known, reload }: ControlsProps) {
  const controls = controlsOf(miner).sort((one, other) => rank(one.key) - rank(other.key));
  const triggers = controls.filter(({ kind }) => kind === "trigger");
  const settings = controls.filter(({ kind }) => kind !== "trigger");
  if (controls.length === 0)
    return (
      <Card title={t.rig.controls}>
        <None known={known}>{t.rig.noControls}</None>
      </Card>
    );
  if (!may("minerAction"))
    return settings.length === 0 ? null : (
      <Card title={t.rig.settingsNow}>
        <dl class="facts">
          {settings.map((control) => (
            <div key={control.key}>
              <dt>{controlName(control.key)}</dt>
              <dd dir="auto">{valueText(control, control.value)}</dd>
            </div>
          ))}
        </dl>
      </Card>
    );
  const send = (key: ControlKey) => async (value: ControlValue) => {
    await call("minerAction", { id: miner.id, ...actionFor(key, value) }, { keepalive: true });
    reload();
  };
  const row = (control: (typeof controls)[number]) => (
    <ControlRow
      key={control.key}
      control={control}
      command={latestFor(commands, control.key, now.value)}
      rig={miner}
      send={send(control.key)}
    />
  );
  return (
    <Card title={t.rig.controls}>
      <Holder power={miner.power} />
      <ul class="controls">
        <OneByOne>{settings.map(row)}</OneByOne>
      </ul>
      {triggers.length === 0 ? null : <ul class="controls triggers">{triggers.map(row)}</ul>}
    </Card>
  );
}

interface ControlsProps {
  readonly miner: MinerDetail;
  /** Newest first. */
  readonly commands: readonly Command[];
  readonly known: Known;
  readonly reload: () => void;
}
