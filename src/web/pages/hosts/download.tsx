import { useState } from "preact/hooks";
import { call } from "../../api.ts";
import { scaled } from "../../format.ts";
import { t } from "../../language.ts";
import { useFresh } from "../../parts/fresh.ts";
import { useLoaded } from "../../parts/load.tsx";
import { say } from "../../parts/messages.tsx";
import { Card } from "../../parts/page.tsx";
import { useSending } from "../../parts/use-form.ts";
import { may } from "../../session.ts";

/** The download of the program: its progress, and the confirmation of a checksum that is not published. */
export function Download({ id }: { id: number }) {
  const { value, reload } = useLoaded((signal) => call("getManagedMinerDownload", { id }, { signal }), [id]);
  useFresh(reload);
  const [compared, setCompared] = useState(false);
  const { busy, problem, send } = useSending();
  // An installed program has no download.
  if (value === undefined || value.state === "none") return null;
  const { state, url, bytes, sha256 } = value;
  const confirm = (sha256: string) =>
    send(async () => say((await call("confirmManagedMinerDownload", { id, sha256 })).message)).then(reload);
  return (
    <Card title={t.hosts.downloadTitle}>
      <div class="download">
        <p class={`status ${state === "done" ? "good" : state === "confirming" ? "warning" : "busy"}`}>
          <span class="dot" aria-hidden="true" />
          {t.hosts.downloadState[state]}
        </p>
        <dl class="host-facts">
          {url === null ? null : (
            <div class="wide">
              <dt>{t.hosts.address}</dt>
              <dd>
                <bdi>{url}</bdi>
              </dd>
            </div>
          )}
          {bytes === null ? null : (
            <div>
              <dt>{t.hosts.size}</dt>
              <dd>{scaled(bytes, "B")}</dd>
            </div>
          )}
          {sha256 === null ? null : (
            <div class="wide">
              <dt>SHA-256</dt>
              <dd>
                <code dir="ltr">{sha256}</code>
              </dd>
            </div>
          )}
        </dl>
        {state === "confirming" && sha256 !== null && may("confirmManagedMinerDownload") ? (
          <>
            <p>{t.hosts.compare}</p>
            <label class="switch">
              <input
                type="checkbox"
                checked={compared}
                onChange={({ currentTarget }) => setCompared(currentTarget.checked)}
              />
              {t.hosts.compared}
            </label>
            <p>
              <button type="button" class="button primary" disabled={!compared || busy} onClick={() => confirm(sha256)}>
                {t.hosts.confirm}
              </button>
            </p>
            <p class="field-problem" role="alert">
              {problem}
            </p>
          </>
        ) : null}
      </div>
    </Card>
  );
}
