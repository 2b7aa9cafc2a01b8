import { useState } from "preact/hooks";
import type { Host } from "../../../contract/resources.ts";
import { call } from "../../api.ts";
import { t } from "../../language.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { ShownOnce } from "../../parts/shown-once.tsx";
import { useSending } from "../../parts/use-form.ts";
import { base } from "../../route.ts";
import { hostName } from "./host-name.ts";

/** The address of this service, as this browser reaches it. */
const serviceAddress = (): string => `${location.origin}${base}`.replace(/\/$/, "");

const agentCommand = (token: string): string =>
  `RIGBRIDGE_AGENT_TOKEN=${token} rigbridge agent --service ${serviceAddress()}`;

/** How to install the agent on a host, with its token or a placeholder. */
export const InstallSteps = ({ token }: { token: string | null }) => (
  <ol class="steps">
    <li>{t.hosts.steps.node}</li>
    <li>
      {t.hosts.steps.install} <code dir="ltr">npm install --global rigbridge</code>
    </li>
    <li>
      {t.hosts.steps.start}{" "}
      {token === null ? (
        <code dir="ltr">{agentCommand("…")}</code>
      ) : (
        <ShownOnce label={t.hosts.command} text={agentCommand(token)} />
      )}
    </li>
  </ol>
);

/** Creates the token of a host's agent. It exists only in this dialog, until it closes. */
export function TokenDialog({ host, onMade, onClose }: { host: Host; onMade: () => void; onClose: () => void }) {
  const [token, setToken] = useState<string | null>(null);
  const { busy, problem, send } = useSending();
  const make = () =>
    send(async () => {
      setToken((await call("addAgent", { hostId: host.id })).token);
      onMade();
    });
  return (
    <Dialog
      title={t.hosts.tokenTitle({ name: hostName(host) })}
      onClose={onClose}
      actions={
        token === null ? (
          <>
            <button type="button" class="button" onClick={onClose}>
              {t.hosts.later}
            </button>
            <button type="button" class="button primary" disabled={busy} onClick={make}>
              {t.hosts.makeToken}
            </button>
          </>
        ) : (
          <button type="button" class="button primary" onClick={onClose}>
            {t.hosts.done}
          </button>
        )
      }
    >
      {token === null ? <p>{t.hosts.tokenText}</p> : <p>{t.hosts.tokenOnce}</p>}
      {token === null ? null : <InstallSteps token={token} />}
      {token !== null && isLoopback() ? <p class="banner warning">{t.hosts.loopback}</p> : null}
      <p class="field-problem" role="alert">
        {problem}
      </p>
    </Dialog>
  );
}

/** Whether this browser reaches the service at an address that other hosts cannot use. */
const isLoopback = (): boolean => /^(localhost|127\.[\d.]+|\[::1\])$/.test(location.hostname);
