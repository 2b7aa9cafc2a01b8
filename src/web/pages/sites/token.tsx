import { useState } from "preact/hooks";
import type { Site } from "../../../contract/sites.ts";
import { call } from "../../api.ts";
import { t } from "../../language.ts";
import { Confirm, Dialog } from "../../parts/dialog.tsx";
import { say } from "../../parts/messages.tsx";
import { ShownOnce } from "../../parts/shown-once.tsx";
import { useSending } from "../../parts/use-form.ts";
import { base } from "../../route.ts";

interface Props {
  readonly site: Site;
  readonly onChanged: () => void;
}

/** The section of the site's configuration, with the address of this service as this browser reaches it. */
const lineFor = (token: string): string => {
  const url = `${location.origin}${base}`.replace(/\/$/, "");
  return `centre: { url: ${JSON.stringify(url)}, token: ${JSON.stringify(token)} }`;
};

/** Whether this browser reaches the service at an address that sites cannot use. */
const isLoopback = (): boolean => /^(localhost|127\.[\d.]+|\[::1\])$/.test(location.hostname);

/** Makes and revokes the token of a site that connects by itself. */
export function Token({ site, onChanged }: Props) {
  const [asked, setAsked] = useState<"make" | "revoke" | null>(null);
  const close = () => setAsked(null);
  return (
    <>
      <button type="button" class="button" onClick={() => setAsked("make")}>
        {site.admitted === true ? t.sites.makeAnother : t.sites.makeToken}
      </button>
      {site.admitted === true ? (
        <button type="button" class="button quiet" onClick={() => setAsked("revoke")}>
          {t.sites.revoke}
        </button>
      ) : null}
      {asked === "make" ? <TokenDialog site={site} onChanged={onChanged} onClose={close} /> : null}
      {asked === "revoke" ? (
        <Confirm
          title={t.sites.revokeTitle({ name: site.name })}
          text={t.sites.revokeText}
          verb={t.sites.revoke}
          dangerous
          onConfirm={async () => {
            say((await call("revokeSite", { id: site.id })).message);
            onChanged();
          }}
          onClose={close}
        />
      ) : null}
    </>
  );
}

/** The token exists only in this dialog, until it closes. */
function TokenDialog({ site, onChanged, onClose }: Props & { readonly onClose: () => void }) {
  const [token, setToken] = useState<string | null>(null);
  // That of the start: with the new token, the site has one.
  const [hadToken] = useState(site.admitted === true);
  const { busy, problem, send } = useSending();
  const make = () =>
    send(async () => {
      setToken((await call("admitSite", { id: site.id })).token);
      onChanged();
    });
  return (
    <Dialog
      title={t.sites.tokenTitle({ name: site.name })}
      onClose={onClose}
      actions={
        token === null ? (
          <>
            <button type="button" class="button" onClick={onClose}>
              {t.sites.later}
            </button>
            <button type="button" class="button primary" disabled={busy} onClick={make}>
              {t.sites.makeToken}
            </button>
          </>
        ) : (
          <button type="button" class="button primary" onClick={onClose}>
            {t.sites.done}
          </button>
        )
      }
    >
      <p>{token === null ? t.sites.tokenText : t.sites.tokenOnce}</p>
      {token === null && hadToken ? <p class="banner warning">{t.sites.tokenAgain}</p> : null}
      {token === null ? null : <ShownOnce label={t.sites.lines} text={lineFor(token)} />}
      {token !== null && isLoopback() ? <p class="banner warning">{t.sites.loopback}</p> : null}
      <p class="field-problem" role="alert">
        {problem}
      </p>
    </Dialog>
  );
}
