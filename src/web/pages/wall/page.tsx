import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import type { Group } from "../../../contract/resources.ts";
import { call } from "../../api.ts";
import { now } from "../../clock.ts";
import { ago, counted, hashrate, number, power, temperature } from "../../format.ts";
import { t } from "../../language.ts";
import { connection, openAlarms, rigs } from "../../live.ts";
import { Icon } from "../../parts/icon.tsx";
import { Loading, useLoaded } from "../../parts/load.tsx";
import { usePageTitle } from "../../parts/page.tsx";
import { usePageQuery } from "../../query.ts";
import { link } from "../../route.ts";
import { may } from "../../session.ts";
import { gap, roomFor, type Subject, subjects, tileHeight, tilesOf, tileWidth, type WallTile } from "./tiles.ts";
import "./wall.css";

/** ms per screen of tiles. */
const screenMs = 15_000;
/** ms between two counts: nobody reads a wall more often. */
const countMs = 2_000;

const sizes = {
  "--wall-tile-width": `${tileWidth}px`,
  "--wall-tile-height": `${tileHeight}px`,
  "--wall-gap": `${gap}px`,
};

/** The farm on a wall: a large tile for each group or place, one screen after the other. */
export default function Wall() {
  usePageTitle(t.wall.title);
  const { get, hrefWith } = usePageQuery();
  const { route } = useLocation();
  const by = subjects.find((each) => each === get("by")) ?? "group";
  const groups = useLoaded(
    (signal) => (may("listGroups") ? call("listGroups", {}, { signal }) : Promise.resolve([])),
    [],
  );
  const tiles = useTiles(by, groups.value);
  const { place, room } = useRoom();
  const [at, setAt] = useState(0);
  const screens = Math.max(1, Math.ceil(tiles.length / room));
  const screen = at % screens;
  useEffect(() => {
    if (screens < 2) return;
    const timer = setInterval(() => setAt((last) => last + 1), screenMs);
    return () => clearInterval(timer);
  }, [screens, at]);
  const { live, since } = connection.value;
  return (
    <div class="wall">
      <header class="wall-head">
        <h1>{t.wall.title}</h1>
        {live ? null : (
          <p class="wall-away" role="status">
            <Icon name="unplugged" /> {t.shell.away({ age: ago(since, now.value) })}
          </p>
        )}
        <Alarms />
        <label>
          <span class="visually-hidden">{t.wall.by}</span>
          <select
            value={by}
            // The key stays in the address, so that the screen can restart.
            onChange={({ currentTarget }) => route(`${hrefWith({ by: currentTarget.value })}${location.hash}`, true)}
          >
            {subjects.map((each) => (
              <option key={each} value={each}>
                {t.wall.subjects[each]}
              </option>
            ))}
          </select>
        </label>
        {screens < 2 ? null : (
          <span class="row">
            <button
              type="button"
              class="button small"
              aria-label={t.wall.previous}
              onClick={() => setAt(screen + screens - 1)}
            >
              ‹
            </button>
            <span>{t.wall.screen({ screen: number(screen + 1), screens: number(screens) })}</span>
            <button type="button" class="button small" aria-label={t.wall.next} onClick={() => setAt(screen + 1)}>
              ›
            </button>
          </span>
        )}
        <button type="button" class="button small" onClick={() => void toggleWhole()}>
          {t.wall.whole}
        </button>
        <a class="button small" href={link("")}>
          {t.wall.leave}
        </a>
      </header>
      {by === "group" && groups.value === undefined ? <Loading from={groups}>{() => null}</Loading> : null}
      <ul class="wall-tiles" ref={place} style={sizes}>
        {tiles.slice(screen * room, (screen + 1) * room).map((tile) => (
          <Tile key={tile.name} tile={tile} by={by} />
        ))}
      </ul>
    </div>
  );
}

async function toggleWhole(): Promise<void> {
  if (document.fullscreenElement !== null) await document.exitFullscreen();
  else await document.documentElement.requestFullscreen().catch(() => undefined);
}

/** Counted at intervals, however often a rig changes. */
function useTiles(by: Subject, groups: readonly Group[] | undefined): readonly WallTile[] {
  const [tiles, setTiles] = useState<readonly WallTile[]>([]);
  const { loaded } = rigs.value;
  useEffect(() => {
    // Without the groups, every rig would appear ungrouped.
    if (by === "group" && groups === undefined) return;
    const count = () => {
      if (document.visibilityState === "visible") setTiles(tilesOf(rigs.peek().byId.values(), by, groups ?? []));
    };
    count();
    const timer = setInterval(count, countMs);
    return () => clearInterval(timer);
  }, [by, groups, loaded]);
  return tiles;
}

/** The number of tiles that fit on the screen. */
function useRoom() {
  const place = useRef<HTMLUListElement>(null);
  const [room, setRoom] = useState(1);
  useLayoutEffect(() => {
    const measure = () => {
      const top = place.current?.getBoundingClientRect().top ?? 0;
      setRoom(roomFor(place.current?.clientWidth ?? innerWidth, innerHeight - top));
    };
    measure();
    addEventListener("resize", measure);
    return () => removeEventListener("resize", measure);
  }, []);
  return { place, room };
}

function Alarms() {
  if (!may("listNotifications")) return null;
  return (
    <p class="wall-alarms">
      <Icon name="bell" /> {t.menu.alarms}: {number(openAlarms.value?.length)}
    </p>
  );
}

function Tile({ tile: { name, sums, hottest, failing }, by }: { tile: WallTile; by: Subject }) {
  const { mining, inRepair } = sums;
  const [main] = sums.hashrates;
  const tone = failing > 0 ? "bad" : sums.alarms > 0 ? "warning" : mining > 0 ? "good" : "off";
  const [status] = sums.byStatus.keys();
  return (
    <li class={`wall-tile ${tone}`}>
      <h2>{name === "" ? t.wall.without[by] : <bdi>{name}</bdi>}</h2>
      <p class="wall-mining">
        {by === "rig" && status !== undefined
          ? t.status[status]
          : t.wall.mining({ mining: number(mining), rigs: number(sums.count) })}
        {inRepair === 0 ? null : (
          <small> · {by === "rig" ? t.repair.title : counted(inRepair, t.repair.leftOut)}</small>
        )}
      </p>
      <dl>
        <div>
          <dt>{t.overview.hashrate}</dt>
          <dd>{hashrate(main?.hashrate, main?.algorithm)}</dd>
        </div>
        <div>
          <dt>{t.overview.power}</dt>
          <dd>{power(sums.power.value)}</dd>
        </div>
        <div>
          <dt>{t.wall.hottest}</dt>
          <dd>{temperature(hottest)}</dd>
        </div>
        {by === "rig" ? null : (
          <div>
            <dt>{t.wall.failing}</dt>
            <dd>{number(failing)}</dd>
          </div>
        )}
      </dl>
    </li>
  );
}
