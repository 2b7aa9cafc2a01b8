import type { ComponentChildren, ComponentType } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { alarmCountText } from "./alarm-count.ts";
import { now } from "./clock.ts";
import { ago, number } from "./format.ts";
import { loadAllTexts, t } from "./language.ts";
import { connection, openAlarms, rigs, urgentAlarms } from "./live.ts";
import { ReloadButton } from "./pages/failed.tsx";
import { pages } from "./pages/index.ts";
import { DisplayFields } from "./parts/display-fields.tsx";
import { Icon } from "./parts/icon.tsx";
import { hasBar } from "./parts/narrow.ts";
import { Later, OneByOne } from "./parts/one-by-one.tsx";
import { sendAndSignOut } from "./parts/undo.tsx";
import { base, link } from "./route.ts";
import { may, session } from "./session.ts";

/** The frame of every page: menu, alarms, the user, and whether the service answers. */
export function Shell({ children }: { children: ComponentChildren }) {
  const { path } = useLocation();
  const main = useRef<HTMLElement>(null);
  const first = useRef(true);
  // A new page starts at its top, for the eye and for the screen reader, before it may scroll elsewhere itself. The
  // link to the next rig keeps the focus.
  useLayoutEffect(() => {
    const isStep = document.activeElement?.closest("[data-keeps-focus]") != null;
    if (!first.current && !isStep) main.current?.focus({ preventScroll: true });
    if (!first.current) scrollTo(0, 0);
    first.current = false;
  }, [path]);
  return (
    <div class={connection.value.live ? "shell" : "shell away"}>
      <a
        class="skip"
        href={`${path}#main`}
        onClick={(event) => {
          event.preventDefault();
          main.current?.focus();
        }}
      >
        {t.shell.skip}
      </a>
      <header class="top">
        <a class="brand" href={link("")}>
          <Icon name="logo" /> <span>Rigbridge</span>
        </a>
        <div class="top-right">
          <AlarmPill />
          <UserMenu />
        </div>
      </header>
      <nav class="menu" aria-label={t.shell.menu}>
        <Later>
          <Menu path={path} />
        </Later>
      </nav>
      <main id="main" ref={main} tabIndex={-1}>
        <Banners />
        {children}
      </main>
    </div>
  );
}

/** Entries that a phone of 320 px has room for. */
const mostInBar = 5;

/** All pages; as a bar, the first ones and a sheet with the rest. */
function Menu({ path }: { path: string }) {
  const here = path.slice(base.length).split("/")[0] ?? "";
  const entries = pages.flatMap((page) =>
    page.menu !== undefined && may(page.needs) && (page.menu.onlyWithSites !== true || hasSites())
      ? [{ ...page.menu, path: page.path }]
      : [],
  );
  const count = hasBar.value && entries.length > mostInBar ? mostInBar - 1 : entries.length;
  const [shown, others] = [entries.slice(0, count), entries.slice(count)];
  const sheet = useRef<HTMLUListElement>(null);
  const entry = ({ path: page, icon, name }: (typeof entries)[number]) => (
    <li key={page}>
      <a
        href={link(page)}
        aria-current={here === page ? "page" : undefined}
        onClick={() => sheet.current?.hidePopover()}
      >
        <Icon name={icon} />
        <span>{t.menu[name]}</span>
      </a>
    </li>
  );
  return (
    <ul>
      {shown.map(entry)}
      {others.length === 0 ? null : (
        <li>
          <OneByOne>
            <button
              type="button"
              popovertarget="more-pages"
              aria-current={others.some((each) => each.path === here) ? "true" : undefined}
            >
              <Icon name="menu" />
              <span>{t.shell.more}</span>
            </button>
            <ul ref={sheet} id="more-pages" popover="auto" class="popover">
              {others.map(entry)}
            </ul>
          </OneByOne>
        </li>
      )}
    </ul>
  );
}

/** The number of open alarms; a dash until it is loaded. */
function AlarmPill() {
  if (!may("listNotifications")) return null;
  const open = openAlarms.value;
  const urgent = urgentAlarms.value ?? [];
  const critical = urgent.some(({ severity }) => severity === "critical");
  return (
    <a
      class={`pill ${urgent.length === 0 ? "quiet" : critical ? "critical" : "warning"}`}
      href={link("alarms")}
      aria-label={open === undefined ? t.menu.alarms : alarmCountText(open)}
    >
      <Icon name="bell" /> <span>{number(open?.length)}</span>
    </a>
  );
}

function UserMenu() {
  const { user, by } = session.value ?? {};
  return (
    <OneByOne>
      <button type="button" class="button quiet" popovertarget="user-menu">
        <Icon name="person" />
        <span class="visually-hidden">{t.shell.account}: </span>
        <span class="wide-only">
          <bdi>{user?.name ?? t.shell.owner}</bdi>
        </span>
      </button>
      <div id="user-menu" popover="auto" class="popover">
        <p class="popover-title">
          <bdi>{user?.name ?? t.shell.owner}</bdi>{" "}
          <small>{user === undefined ? "" : t.privilege[user.privilege]}</small>
        </p>
        <DisplayFields />
        {may("listMiners") ? (
          <a class="button" href={link("wall")}>
            {t.wall.title}
          </a>
        ) : null}
        {by === "session" ? (
          <button type="button" class="button" onClick={sendAndSignOut}>
            <Icon name="leave" /> {t.shell.signOut}
          </button>
        ) : null}
        <p class="version">Rigbridge {session.value?.version}</p>
      </div>
    </OneByOne>
  );
}

/** The service's version when the page was opened, to which the page's own files belong. */
let firstVersion: string | undefined;

/** Asks once what stays of the demo, when it leaves while the page is open. */
function useDemoLeft(): ComponentType | null {
  const wasDemo = useRef(false);
  const [DemoLeft, setDemoLeft] = useState<ComponentType | null>(null);
  const isDemo = session.value?.demo === true;
  useEffect(() => {
    if (wasDemo.current && !isDemo)
      void Promise.all([import("./parts/demo-left.tsx"), loadAllTexts()]).then(
        ([{ default: loaded }]) => setDemoLeft(() => loaded),
        () => undefined,
      );
    wasDemo.current = isDemo;
  }, [isDemo]);
  return DemoLeft;
}

const hasSites = (): boolean => (session.value?.sites ?? 0) > 0;

/** Says which sites cannot be reached; loaded where there are other sites. */
function useSitesAway(): ComponentType | null {
  const [SitesAway, setSitesAway] = useState<ComponentType | null>(null);
  const isCentre = hasSites();
  useEffect(() => {
    if (isCentre)
      void Promise.all([import("./pages/sites/away.tsx"), loadAllTexts()]).then(
        ([{ default: loaded }]) => setSitesAway(() => loaded),
        () => undefined,
      );
  }, [isCentre]);
  return SitesAway;
}

/** Notices for every page. */
function Banners() {
  const { live, since, problem } = connection.value;
  const who = session.value;
  const DemoLeft = useDemoLeft();
  const SitesAway = useSitesAway();
  firstVersion ??= who?.version;
  // Before the first answer no data can be outdated; only the reason is shown.
  const trouble = live ? null : rigs.value.loaded ? t.shell.away({ age: ago(since, now.value) }) : problem;
  return (
    <>
      {DemoLeft === null ? null : <DemoLeft />}
      {SitesAway === null ? null : <SitesAway />}
      {trouble === null ? null : (
        <p class="banner bad" role="status">
          <Icon name="unplugged" /> <span>{trouble}</span>
        </p>
      )}
      {who != null && who.version !== firstVersion ? (
        <p class="banner" role="status">
          <Icon name="info" /> <span>{t.failed.updated}</span> <ReloadButton />
        </p>
      ) : null}
      {who?.demo === true ? (
        <p class="banner">
          <Icon name="info" /> <span>{t.shell.demo}</span>{" "}
          {may("addMiner") ? (
            <a class="button small" href={link("start")}>
              {t.start.open}
            </a>
          ) : null}
        </p>
      ) : null}
    </>
  );
}
