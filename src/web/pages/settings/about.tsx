import { t } from "../../language.ts";
import { Icon } from "../../parts/icon.tsx";
import { useLoaded } from "../../parts/load.tsx";
import { Card } from "../../parts/page.tsx";
import { Mark } from "../../parts/status.tsx";
import { link } from "../../route.ts";
import { may, session } from "../../session.ts";
import { type Health, health, mqttWord } from "./health.ts";

const project = "https://github.com/rigbridge/rigbridge";
const guides = ["dashboard", "devices", "rules", "notifications", "heating", "money", "agent", "operations"] as const;

/** Version and health of this service, and its documentation. */
export function About() {
  const who = session.value;
  const { value, problem } = useLoaded(health, []);
  return (
    <div class="cards settings-cards">
      <Card title="Rigbridge">
        <dl class="settings-facts">
          <div>
            <dt>{t.settings.version}</dt>
            <dd>{who?.version}</dd>
          </div>
          <div>
            <dt>{t.settings.health}</dt>
            <dd>
              <HealthNow value={value} problem={problem} />
            </dd>
          </div>
        </dl>
        {who?.demo === true ? (
          <>
            <p>{t.settings.demo}</p>
            {may("addMiner") ? (
              <a class="button" href={link("add")}>
                {t.shell.addRigs}
              </a>
            ) : null}
          </>
        ) : null}
      </Card>
      <Card title={t.settings.documentation}>
        <p class="hint">{t.settings.documentationText}</p>
        <ul class="guides">
          {guides.map((guide) => (
            <li key={guide}>
              <a href={`${project}/blob/main/docs/${guide}.md`} target="_blank" rel="noreferrer">
                {t.settings.guides[guide]}
              </a>
            </li>
          ))}
        </ul>
        <p>
          <a class="button" href={link("docs")} target="_blank" rel="noreferrer">
            <Icon name="next" /> {t.settings.apiDocs}
          </a>
        </p>
      </Card>
    </div>
  );
}

function HealthNow({ value, problem }: { value: Health | undefined; problem: string | null }) {
  if (problem !== null) return <span class="status bad">{problem}</span>;
  if (value === undefined) return <>{t.shell.loading}</>;
  const { status, mqtt } = value;
  return (
    <Mark tone={status === "ok" && (mqtt?.state ?? "connected") === "connected" ? "good" : "warning"}>
      <span>
        {status === "ok" ? t.settings.answers : status}
        {mqtt === undefined ? null : ` · MQTT: ${mqttWord(mqtt.state)}`}
        {mqtt === undefined || mqtt.detail === null ? null : <span dir="auto"> ({mqtt.detail})</span>}
      </span>
    </Mark>
  );
}
