import { useEffect, useState } from "preact/hooks";
import { t } from "../language.ts";
import { Notice } from "../parts/notice.tsx";
import { usePageTitle } from "../parts/page.tsx";
import { Failed } from "./failed.tsx";

/** ms between two checks whether the service is back. */
const retryMs = 2_000;
/** The page that was reloaded because of missing files, so that it is not reloaded repeatedly. */
const storageKey = "rigbridge.reloaded";

/** Its files are loaded. */
export const hasLoaded = (): void => sessionStorage.removeItem(storageKey);

/** Whether the service is offline, or answers and serves the present files of the dashboard. */
async function stateOf(signal: AbortSignal): Promise<"away" | "there" | "without files"> {
  const read = (address: string) =>
    fetch(address, { cache: "no-store", signal, headers: { accept: "text/html,*/*" } }).then(
      async (answer) => (answer.ok ? await answer.text() : null),
      () => null,
    );
  const html = await read(document.baseURI);
  if (html === null) return "away";
  const script = /<script[^>]* src="([^"]+)"/.exec(html)?.[1];
  const isThere = script !== undefined && (await read(new URL(script, document.baseURI).href)) !== null;
  return isThere ? "there" : "without files";
}

/**
 * Replaces a page whose files could not be loaded. The browser remembers a failure until the whole dashboard is
 * reloaded, which happens as soon as the service answers; such a page has nothing to lose.
 */
export function NotLoaded({ error }: { error: unknown }) {
  const [isAway, setAway] = useState(false);
  const [isUseless, setUseless] = useState(false);
  usePageTitle(isUseless ? t.failed.title : t.shell.noAnswer);
  useEffect(() => {
    const ending = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const tryAgain = async () => {
      const state = await stateOf(ending.signal).catch(() => "away");
      if (ending.signal.aborted) return;
      if (state === "away") {
        setAway(true);
        timer = setTimeout(tryAgain, retryMs);
      } else if (state === "without files" || sessionStorage.getItem(storageKey) === location.pathname)
        setUseless(true);
      else {
        sessionStorage.setItem(storageKey, location.pathname);
        location.reload();
      }
    };
    void tryAgain();
    return () => {
      ending.abort();
      clearTimeout(timer);
    };
  }, []);
  if (isUseless) return <Failed error={error} />;
  if (!isAway)
    return (
      <p class="loading" role="status">
        {t.shell.loading}
      </p>
    );
  return <Notice icon="unplugged" title={t.shell.noAnswer} text={t.failed.away} heading="h1" />;
}
