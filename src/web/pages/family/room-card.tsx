import { useRef } from "preact/hooks";
import type { Room } from "../../../contract/resources.ts";
import type { Input } from "../../../contract/service.ts";
import { call } from "../../api.ts";
import { counted, energy, money, power, temperature } from "../../format.ts";
import { t } from "../../language.ts";
import { Icon, type IconName } from "../../parts/icon.tsx";
import { sayProblem } from "../../parts/messages.tsx";
import { type Mark, Slider } from "../../parts/slider.tsx";
import { Age } from "../../parts/status.tsx";
import { isWaiting, sendLater, Undo } from "../../parts/undo.tsx";
import { useSending } from "../../parts/use-form.ts";
import { may } from "../../session.ts";
import { RoomMaximum } from "./room-maximum.tsx";
import { stateOf } from "./room-state.ts";
import { Surplus, SurplusBar, SurplusLimit } from "./surplus.tsx";

const icons: Record<Room["kind"], IconName> = { target: "heat", power: "power", surplus: "sun" };

/** A room or a surplus with its slider, its switch, and today's energy. */
export function RoomCard({ room, replace }: { room: Room; replace: (room: Room) => void }) {
  const place = useRef<HTMLElement>(null);
  const { busy, problem, send } = useSending();
  const undoKey = `room ${room.key}`;
  const waits = isWaiting(undoKey);
  const change = (body: Omit<Input<"changeRoom">, "key">) =>
    send(async () => {
      const sent = call("changeRoom", { key: room.key, ...body }, { keepalive: true });
      replace(
        await sent.catch((error: unknown) => {
          // Sent with a delay: another page may be shown by now.
          if (place.current === null) sayProblem(error);
          throw error;
        }),
      );
    });
  const stop = (body: Omit<Input<"changeRoom">, "key">) => sendLater(undoKey, room.name, () => change(body));
  const { control, kind } = room;
  const controlName = kind === "target" ? t.family.target : kind === "surplus" ? t.family.share : t.family.power;
  return (
    <section ref={place} class={`card room ${room.on === true ? "is-on" : ""}`} aria-label={room.name}>
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
            aria-label={t.family.switch({ room: room.name })}
            disabled={busy || waits || room.on === null}
            onClick={() => (room.on === true ? stop({ on: false }) : void change({ on: true }))}
          >
            <span class="knob" />
          </button>
        ) : null}
      </header>
      <p class="room-figure">{kind === "surplus" ? <Surplus room={room} /> : <RoomTemperature room={room} />}</p>
      {kind === "surplus" ? <SurplusBar room={room} /> : null}
      <Undo of={undoKey} />
      <p class="room-state" role="status">
        {busy || room.changing ? t.family.changing : stateOf(room)}
      </p>
      {kind !== "power" && room.on === true && room.heldBy !== null && may("changeRoom") ? (
        <p>
          <button type="button" class="button small" disabled={busy} onClick={() => void change({ on: true })}>
            {kind === "surplus" ? t.family.followAgain : t.family.heatAgain}{" "}
            <span class="visually-hidden">{room.name}</span>
          </button>
        </p>
      ) : null}
      {control === null ? (
        <p class="hint">{t.family.noControl}</p>
      ) : (
        <div class="room-control">
          <span class="room-control-name">{controlName}</span>
          <Slider
            label={`${room.name}: ${controlName}`}
            value={control.value}
            min={control.min}
            max={control.max}
            {...(control.step === null ? {} : { step: control.step })}
            unit={control.unit}
            format={(value) => (control.unit === "°C" ? temperature(value, 1) : power(value))}
            marks={marksOf(room)}
            marksOnly={control.step === null}
            disabled={busy || waits || !may("changeRoom")}
            onCommit={(value) => {
              const watts = kind === "surplus" ? limit(room, value) : value;
              if (kind === "target") void change({ target: value });
              else if (watts === 0) stop({ power: 0 });
              else void change({ power: watts });
            }}
          />
          {kind === "surplus" ? <SurplusLimit room={room} /> : null}
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

/** The possible powers of its rigs, if there are few; the ends of the scale for a share of the sun. */
function marksOf({ control, kind }: Room): Mark[] {
  if (control === null) return [];
  const ends = kind === "surplus" && control.min === 0 && control.max > 0 ? [0, control.max] : [];
  return (control.options ?? ends).map((value) => ({
    value,
    label: value === 0 ? t.shell.off : kind === "surplus" && value === control.max ? t.family.all : power(value),
  }));
}

/** Rounds a power between off and the lowest to the nearer of the two, because no rig could run at it. */
const limit = ({ lowest }: Room, watts: number): number =>
  lowest === null || watts >= lowest ? watts : watts < lowest / 2 ? 0 : lowest;

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
