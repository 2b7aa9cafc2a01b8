import { useState } from "preact/hooks";
import type { SectionState } from "../../../contract/settings.ts";
import { call, request } from "../../api.ts";
import { t } from "../../language.ts";
import { Loading, useLoaded } from "../../parts/load.tsx";
import { Qr } from "../../parts/qr.tsx";
import { isObject } from "../../parts/schema-form/schema.ts";
import { ShownOnce } from "../../parts/shown-once.tsx";
import { useSending } from "../../parts/use-form.ts";
import { randomKey } from "../../random-key.ts";
import { link } from "../../route.ts";
import { stateOf, Unset } from "./section.tsx";

/** All interfaces of this machine. */
const everywhere = "0.0.0.0";

/** Opens the service to other devices, with a key created here. */
export function AccessStep() {
  // Kept only here, while the section is loaded again.
  const [key, setKey] = useState<string | null>(null);
  if (key !== null) return <WithKey ownKey={key} />;
  return (
    <>
      <Unset section="http">{(sections) => <Allow http={stateOf(sections, "http")} allowed={setKey} />}</Unset>
      <Addresses />
      <p>
        <a href={link("settings?tab=users")}>{t.start.users}</a>
      </p>
    </>
  );
}

function Allow({ http, allowed }: { http: SectionState; allowed: (key: string) => void }) {
  const { busy, problem, send } = useSending();
  const allow = () =>
    send(async () => {
      const key = randomKey();
      const written = isObject(http.value) ? http.value : {};
      await call("saveSettings", { section: "http", value: { ...written, host: everywhere, key } });
      // From now on, this page needs the key too.
      await request("POST", "api/session", { key });
      allowed(key);
    });
  return (
    <p>
      <button type="button" class="button primary" disabled={busy} onClick={() => void allow()}>
        {t.start.allow}
      </button>
      <span class="field-problem" role="alert">
        {problem}
      </span>
    </p>
  );
}

function WithKey({ ownKey }: { ownKey: string }) {
  const [isRestarted, setRestarted] = useState(false);
  const { busy, problem, send } = useSending();
  const restart = () =>
    send(async () => {
      await call("reloadSettings", {});
      await isBack();
      setRestarted(true);
    });
  return (
    <>
      <p>{t.start.keyOnce}</p>
      <ShownOnce label={t.start.key} text={ownKey} />
      {isRestarted ? (
        <>
          <Addresses />
          <figure class="start-qr">
            <Qr text={ownKey} label={t.start.scanKey} />
            <figcaption>{t.start.scanKey}</figcaption>
          </figure>
        </>
      ) : (
        <p>
          {t.start.restartText}{" "}
          <button type="button" class="button primary" disabled={busy} onClick={() => void restart()}>
            {busy ? t.start.restarting : t.start.restart}
          </button>
        </p>
      )}
      <p class="field-problem" role="alert">
        {problem}
      </p>
    </>
  );
}

/** ms between two attempts, and their number: a start takes a second or two, more on a small computer. */
const retryMs = 500;
const mostTries = 60;

/** Resolves once the service has gone down and answers again. */
async function isBack(): Promise<void> {
  let wasAway = false;
  for (let tries = 1; ; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, retryMs));
    try {
      await request("GET", "health");
      // A restart may fit between two attempts.
      if (wasAway || tries > 4) return;
    } catch (error) {
      wasAway = true;
      if (tries === mostTries) throw error;
    }
  }
}

/** Where other devices open the service, each as a QR code. */
function Addresses() {
  const loaded = useLoaded((signal) => call("testSettings", { section: "http" }, { signal }), []);
  return (
    <Loading from={loaded}>
      {({ findings }) => {
        const urls = findings.flatMap(({ url }) => (url === undefined ? [] : [url]));
        if (urls.length === 0) return <p class="hint">{t.start.noAddress}</p>;
        return (
          <>
            {urls.map((url) => (
              <figure key={url} class="start-qr">
                <Qr text={url} label={url} />
                <figcaption>
                  {t.start.scanAddress}: <a href={url}>{url}</a>
                </figcaption>
              </figure>
            ))}
          </>
        );
      }}
    </Loading>
  );
}
