import { useState } from "preact/hooks";
import { call } from "../../api.ts";
import { t } from "../../language.ts";
import { Field } from "../../parts/field.tsx";
import { useLoaded } from "../../parts/load.tsx";
import { say } from "../../parts/messages.tsx";
import { useForm } from "../../parts/use-form.ts";
import { useSectionTest } from "../settings/section-test.tsx";
import { SaveOrTest, Unset } from "./section.tsx";

/** The broker: one found on the network, or any address. */
export const BrokerStep = () => <Unset section="mqtt">{(_, reload) => <BrokerForm saved={reload} />}</Unset>;

function BrokerForm({ saved }: { saved: () => void }) {
  const [url, setUrl] = useState("mqtt://");
  const [username, setUsername] = useState("");
  const [password, setPassword] = useState("");
  const test = useSectionTest("mqtt");
  const value = {
    url: /^\w+:\/\//.test(url.trim()) ? url.trim() : `mqtt://${url.trim()}`,
    ...(username.trim() === "" ? {} : { username: username.trim() }),
    ...(password === "" ? {} : { password }),
  };
  const form = useForm(async () => {
    await call("saveSettings", { section: "mqtt", value });
    say(t.start.saved);
    saved();
  });
  return (
    <form class="add-form" onSubmit={form.submit} noValidate>
      <FoundBrokers choose={setUrl} />
      <Field label={t.start.address} hint="mqtt://192.168.1.2:1883" problem={form.wrong("mqtt.url")}>
        {(control) => (
          <input
            {...control}
            dir="ltr"
            spellcheck={false}
            autocomplete="off"
            value={url}
            maxLength={500}
            onInput={({ currentTarget }) => setUrl(currentTarget.value)}
          />
        )}
      </Field>
      <Field label={t.start.username} problem={form.wrong("mqtt.username")}>
        {(control) => (
          <input
            {...control}
            autocomplete="off"
            value={username}
            maxLength={200}
            onInput={({ currentTarget }) => setUsername(currentTarget.value)}
          />
        )}
      </Field>
      <Field label={t.start.password} problem={form.wrong("mqtt.password")}>
        {(control) => (
          <input
            {...control}
            type="password"
            autocomplete="new-password"
            value={password}
            maxLength={1000}
            onInput={({ currentTarget }) => setPassword(currentTarget.value)}
          />
        )}
      </Field>
      <SaveOrTest form={form} test={test} value={value} />
    </form>
  );
}

/** Brokers that announce themselves, and Home Assistant instances, most of which have one. */
function FoundBrokers({ choose }: { choose: (url: string) => void }) {
  const { value, problem } = useLoaded((signal) => call("findBrokers", {}, { signal }), []);
  if (problem !== null) return null;
  return (
    <div role="status">
      {value === undefined ? (
        <p class="hint">{t.start.searching}</p>
      ) : value.brokers.length === 0 ? (
        <p class="hint">{t.start.noneFound}</p>
      ) : (
        <>
          <p class="hint">{t.start.found}</p>
          <ul class="start-found">
            {value.brokers.map(({ name, url }) => (
              <li key={url}>
                <button type="button" class="button" onClick={() => choose(url)}>
                  <bdi>{name}</bdi> <small dir="ltr">{url}</small>
                </button>
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}
