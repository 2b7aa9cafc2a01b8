import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { useLocation } from "preact-iso";
import { now } from "./clock.ts";
import { ago, counted, number } from "./format.ts";
import { t } from "./language.ts";
import { connection, openAlarms, rigs } from "./live.ts";
import { ReloadButton } from "./pages/failed.tsx";
import { pages } from "./pages/index.ts";
import { DisplayFields } from "./parts/display-fields.tsx";
import { Icon } from "./parts/icon.tsx";
import { useCurrentInView } from "./parts/in-view.ts";
import { base, link } from "./route.ts";
import { may, session, signOut } from "./session.ts";

/** The frame of every page: menu, alarms, who is signed in, and whether the service answers. */
export function Shell({ children }: { children: ComponentChildren }) {
  const { path } = useLocation();
  const main = useRef<HTMLElement>(null);
  const first = useRef(true);
  // A new page begins at its top, for the eye and for the screen reader, before it may scroll elsewhere itself. The link to
  // the next of many keeps the focus.
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
      <Menu path={path} />
      <main id="main" ref={main} tabIndex={-1}>
        <Banners />
        {children}
      </main>
    </div>
  );
}

function Menu({ path }: { path: string }) {
  const here = path.slice(base.length).split("/")[0] ?? "";
  return (
    <nav ref={useCurrentInView<HTMLElement>(here)} class="menu" aria-label={t.shell.menu}>
      <ul>
        {pages.map(({ path: page, needs, menu }) =>
          menu === undefined || !may(needs) ? null : (
            <li key={page}>
              <a href={link(page)} aria-current={here === page ? "page" : undefined}>
                <Icon name={menu.icon} />
                <span>{t.menu[menu.name]}</span>
              </a>
            </li>
          ),
        )}
      </ul>
    </nav>
  );
}

/** How many alarms are open; a dash until they are known. */
function AlarmPill() {
  if (!may("listNotifications")) return null;
  const open = openAlarms.value;
  const { loaded } = rigs.value;
  const critical = open.some(({ severity }) => severity === "critical");
  return (
    <a
      class={`pill ${open.length === 0 ? "quiet" : critical ? "critical" : "warning"}`}
      href={link("alarms")}
      aria-label={loaded ? counted(open.length, t.shell.alarms) : t.menu.alarms}
    >
      <Icon name="bell" /> <span>{number(loaded ? open.length : null)}</span>
    </a>
  );
}

function UserMenu() {
  const { user, by } = session.value ?? {};
  return (
    <>
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
        {by === "session" ? (
          <button type="button" class="button" onClick={signOut}>
            <Icon name="leave" /> {t.shell.signOut}
          </button>
        ) : null}
        <p class="version">Rigbridge {session.value?.version}</p>
      </div>
    </>
  );
}

/** Of the service when the page was opened, which the page's own files are of. */
let firstVersion: string | undefined;

/** What the user should know on every page. */
function Banners() {
  const { live, since, problem } = connection.value;
  const who = session.value;
  firstVersion ??= who?.version;
  // Before the first answer there is nothing to be old, only why there is none.
  const trouble = rigs.value.loaded ? t.shell.away(ago(since, now.value)) : problem;
  return (
    <>
      {live || trouble === null ? null : (
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
            <a class="button small" href={link("add")}>
              {t.shell.addRigs}
            </a>
          ) : null}
        </p>
      ) : null}
    </>
  );
}
