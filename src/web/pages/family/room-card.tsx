import { useState } from "preact/hooks";
import type { Room } from "../../../contract/resources.ts";
import type { Input } from "../../../contract/service.ts";
import { call } from "../../api.ts";
import { clockTime, counted, energy, money, power, temperature } from "../../format.ts";
import { t } from "../../language.ts";
import { Icon, type IconName } from "../../parts/icon.tsx";
import { problemText } from "../../parts/messages.tsx";
import { Slider } from "../../parts/slider.tsx";
import { Age } from "../../parts/status.tsx";
import { may } from "../../session.ts";
import { RoomMaximum } from "./room-maximum.tsx";

const icons: Record<Room["kind"], IconName> = { target: "heat", power: "power", surplus: "sun" };

/** A room or a surplus with its one slider, its switch, and what it used today. */
export function RoomCard({ room, replace }: { room: Room; replace: (room: Room) => void }) {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const change = async (body: Omit<Input<"changeRoom">, "key">) => {
    setBusy(true);
    setProblem(null);
    try {
      replace(await call("changeRoom", { key: room.key, ...body }));
    } catch (error) {
      setProblem(problemText(error));
    }
    setBusy(false);
  };
  const { control } = room;
  return (
    <section class={`card room ${room.on === true ? "is-on" : ""}`} aria-label={room.name}>
      <header class="room-head">
        <Icon name={icons[room.kind]} />
        <h2>
          <bdi>{room.name}</bdi>
        </h2>
        {may("changeRoom") ? (
          <button
            type="button"
            role="switch"
            class="switch-button"
            aria-checked={room.on === true}
            aria-label={t.family.switch(room.name)}
            disabled={busy || room.on === null}
            onClick={() => void change({ on: room.on !== true })}
          >
            <span class="knob" />
          </button>
        ) : null}
      </header>
      <p class="room-figure">{room.kind === "surplus" ? <Surplus room={room} /> : <RoomTemperature room={room} />}</p>
      <p class="room-state" role="status">
        {busy || room.changing ? t.family.changing : stateOf(room)}
      </p>
      {control === null ? (
        room.kind === "surplus" ? null : (
          <p class="hint">{t.family.noControl}</p>
        )
      ) : (
        <div class="room-control">
          <span class="room-control-name">{room.kind === "target" ? t.family.target : t.family.power}</span>
          <Slider
            label={`${room.name}: ${room.kind === "target" ? t.family.target : t.family.power}`}
            value={control.value}
            min={control.min}
            max={control.max}
            {...(control.step === null ? {} : { step: control.step })}
            unit={control.unit}
            format={(value) => (control.unit === "°C" ? temperature(value, 1) : power(value))}
            {...(control.options === null
              ? {}
              : {
                  marks: control.options.map((value) => ({ value, label: value === 0 ? t.shell.off : power(value) })),
                })}
            marksOnly={control.step === null}
            disabled={busy || !may("changeRoom")}
            onCommit={(value) => void change(control.unit === "°C" ? { target: value } : { power: value })}
          />
        </div>
      )}
      <p class="field-problem" role="alert" dir="auto">
        {problem}
      </p>
      <Today room={room} />
      <RoomMaximum room={room} busy={busy} change={(max) => change({ max })} />
    </section>
  );
}

function RoomTemperature({ room }: { room: Room }) {
  if (room.temperature === null) {
    if (room.kind === "power") return <span class="big">{power(room.power)}</span>;
    return (
      <>
        <span class="big">–</span> <small>{t.family.noTemperature}</small>
      </>
    );
  }
  return (
    <>
      <span class="big">{temperature(room.temperature, 1)}</span>
      {room.temperatureAt === null ? null : (
        <small>
          <Age time={room.temperatureAt} />
        </small>
      )}
    </>
  );
}

const Surplus = ({ room }: { room: Room }) => (
  <>
    <span class="big">{power(room.surplus)}</span>{" "}
    <small>
      {room.surplus === null ? t.family.noSurplus : t.family.surplus}
      {room.surplusAt === null ? null : (
        <>
          {", "}
          <Age time={room.surplusAt} />
        </>
      )}
    </small>
  </>
);

/** What the rigs of a room do, in a few words. */
function stateOf({ on, power: watts, heldBy, kind }: Room): string {
  const what =
    on === null
      ? t.family.unknown
      : !on
        ? t.shell.off
        : watts === null
          ? t.shell.on
          : watts > 0
            ? t.family.draws(power(watts))
            : kind === "target"
              ? t.family.warm
              : t.family.waits;
  if (heldBy === null) return what;
  const who =
    heldBy.until === null ? t.family.held(heldBy.what) : t.family.heldUntil(heldBy.what, clockTime(heldBy.until));
  return `${what} · ${who}`;
}

const Today = ({ room: { today, miners } }: { room: Room }) => (
  <dl class="room-today">
    <div>
      <dt>{t.family.today}</dt>
      <dd>{energy(today.energy)}</dd>
    </div>
    <div>
      <dt>{t.family.cost}</dt>
      <dd>{money(today.cost, today.currency)}</dd>
    </div>
    <div>
      <dt>{t.family.revenue}</dt>
      <dd>{money(today.revenue, today.currency)}</dd>
    </div>
    <div>
      <dt>{t.menu.rigs}</dt>
      <dd>{counted(miners.length, { other: "#" })}</dd>
    </div>
  </dl>
);
