import { useEffect, useErrorBoundary, useMemo, useRef, useState } from "preact/hooks";
import { LocationProvider, lazy, Route, Router, useLocation } from "preact-iso";
import { Problem } from "./api.ts";
import { t } from "./language.ts";
import { rigs, startLive, stopLive } from "./live.ts";
import { loadAhead } from "./load-ahead.ts";
import { Failed } from "./pages/failed.tsx";
import { pages } from "./pages/index.ts";
import { NotFound } from "./pages/not-found.tsx";
import { hasLoaded, NotLoaded } from "./pages/not-loaded.tsx";
import { SignIn } from "./pages/sign-in.tsx";
import { SignOut } from "./pages/sign-out.tsx";
import { CutText } from "./parts/cut-text.tsx";
import { Messages } from "./parts/messages.tsx";
import { Notice } from "./parts/notice.tsx";
import { usePreparing } from "./parts/ready.ts";
import { UndoBar } from "./parts/undo.tsx";
import { link } from "./route.ts";
import { isLeaving, loadSession, may, session } from "./session.ts";
import { Shell } from "./shell.tsx";

const routes = pages.map(({ load, ...page }) => ({
  ...page,
  load,
  component: lazy(() =>
    load().then(
      (loaded) => {
        hasLoaded();
        return loaded;
      },
      // `lazy` would wait forever for a file that cannot be loaded.
      (error: unknown) => ({ default: () => <NotLoaded error={error} /> }),
    ),
  ),
}));

/**
 * The whole dashboard: the sign-in, or the pages that its user may see. `asked`: resolves once `loadSession` knows the
 * user.
 */
export function App({ asked }: { asked: Promise<void> }) {
  const [problem, setProblem] = useState<string | null>(null);
  const show = (answer: Promise<void>) => {
    setProblem(null);
    answer.catch((error: unknown) => setProblem(error instanceof Problem ? error.message : String(error)));
  };
  useEffect(() => show(asked), []);
  const who = session.value;
  usePreparing(who === undefined && problem === null);
  const isSignedIn = who != null && !isLeaving.value;
  useEffect(() => {
    if (isSignedIn) void startLive();
    else stopLive();
  }, [isSignedIn]);
  const isLoaded = isSignedIn && rigs.value.loaded;
  useEffect(() => {
    if (isLoaded) void loadAhead(routes.filter(({ needs }) => may(needs)));
  }, [isLoaded]);

  if (isLeaving.value) return <SignOut />;
  if (problem !== null)
    return (
      <main class="alone">
        <Notice icon="unplugged" title={t.shell.noAnswer} text={problem} heading="h1">
          <button type="button" class="button primary" onClick={() => show(loadSession())}>
            {t.shell.again}
          </button>
        </Notice>
      </main>
    );
  if (who === undefined) return <p class="starting">{t.shell.loading}</p>;
  if (who === null) return <SignIn />;
  return (
    <LocationProvider>
      <Shell>
        <Pages />
      </Shell>
      <Messages>
        <UndoBar />
      </Messages>
      <CutText />
    </LocationProvider>
  );
}

/**
 * The page of the address. After each change of the address, preact-iso's router keeps the tree that it replaced until
 * it renders with another `wasPush`; that tree keeps every row that has since left a list from being freed. So it
 * renders twice, the second time with nothing to keep; not before the new page is loaded, because until then the kept
 * tree is displayed.
 */
function Pages() {
  const location = useLocation();
  const [settled, setSettled] = useState(location.url);
  const loading = useRef(false);
  useEffect(() => {
    if (!loading.current) setSettled(location.url);
  }, [location.url]);
  const isNew = settled !== location.url;
  const value = useMemo(() => ({ ...location, wasPush: isNew }), [location, isNew]);
  const { path } = location;
  const [failed, setFailed] = useState<{ readonly path: string; readonly error: unknown } | null>(null);
  useErrorBoundary((error) => {
    setFailed({ path, error });
    reportError(error);
  });
  if (failed?.path === path) return <Failed error={failed.error} />;
  return (
    <LocationProvider.ctx.Provider value={value}>
      <Router
        onLoadStart={() => {
          loading.current = true;
        }}
        onLoadEnd={(url) => {
          loading.current = false;
          setSettled(url);
        }}
      >
        {routes
          .filter(({ needs }) => may(needs))
          .map(({ path: page, component }) => (
            <Route key={page} path={link(page)} component={component} />
          ))}
        <Route default component={NotFound} />
      </Router>
    </LocationProvider.ctx.Provider>
  );
}
