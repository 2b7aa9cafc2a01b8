import { useState } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso";
import type { z } from "zod";
import type { ReadyMadeRule, RuleInfo } from "../../../contract/rules.ts";
import { isHere } from "../../../contract/site-numbers.ts";
import { call } from "../../api.ts";
import { t } from "../../language.ts";
import { AtSite, atSiteText } from "../../parts/at-site.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Loading, useLoaded, useReloadOn, Waiting } from "../../parts/load.tsx";
import { say } from "../../parts/messages.tsx";
import { Card, Page } from "../../parts/page.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { link } from "../../route.ts";
import { may } from "../../session.ts";
import { SiteCopies } from "./copies.tsx";
import { Owner, readOnlyText } from "./owned.tsx";
import { EnabledSwitch, LastRun } from "./parts.tsx";
import { RuleEditor } from "./rule-editor.tsx";
import { RuleState } from "./rule-list.tsx";
import { RunDialog } from "./run-dialog.tsx";
import { Runs } from "./runs.tsx";
import { readyMadeWords } from "./words.ts";
import "./rules.css";
import { Try } from "./try.tsx";

type ReadyMade = z.infer<typeof ReadyMadeRule>;

/** One rule: its runs, its settings, and a trial over the past; or a new one. */
export default function RulePage() {
  const { params } = useRoute();
  const id = params.id ?? "";
  // Loaded again for each id, because a rule that was just added is missing from the previous list.
  const list = useLoaded(async (signal) => ({ of: id, ...(await call("listRules", {}, { signal })) }), [id]);
  useReloadOn(["rule", "site"], list.reload);
  return (
    <Loading from={list}>
      {({ of, rules, readyMade }, known) => {
        if (id === "new") return <NewRule readyMade={readyMade} />;
        const rule = rules.find((each) => String(each.id) === id || each.key === id);
        if (rule === undefined && of !== id) return <Waiting />;
        return rule === undefined ? (
          <EmptyState known={known} icon="search" title={t.rules.gone} text={t.rules.goneText} heading="h1">
            <a class="button" href={link("rules")}>
              {t.rules.back}
            </a>
          </EmptyState>
        ) : (
          <Rule key={rule.id} rule={rule} rules={rules} readyMade={readyMade} onChanged={list.reload} />
        );
      }}
    </Loading>
  );
}

function NewRule({ readyMade }: { readyMade: readonly ReadyMade[] }) {
  const { query } = useRoute();
  const { route } = useLocation();
  const use = readyMade.find(({ key }) => key === query.use);
  const words = use && readyMadeWords(use);
  return (
    <Page limited title={words === undefined ? t.rules.newRule : words.name} lead={words?.description}>
      <Card>
        <RuleEditor
          key={use?.key ?? ""}
          rule={null}
          readyMade={use}
          readOnly={null}
          onSave={async (settings) => {
            // The service validates it, and reports mistakes for each field.
            const added = await call("addRule", settings as Parameters<typeof call<"addRule">>[1]);
            say(t.rules.added);
            route(link(`rules/${added.id}`));
          }}
        />
      </Card>
    </Page>
  );
}

const parts = ["runs", "settings", "try"] as const;

function Rule({
  rule,
  rules,
  readyMade,
  onChanged,
}: {
  rule: RuleInfo;
  rules: readonly RuleInfo[];
  readyMade: readonly ReadyMade[];
  onChanged: () => void;
}) {
  const { query } = useRoute();
  const { route } = useLocation();
  const [asks, setAsks] = useState<"run" | "delete" | null>(null);
  const shown = parts.filter((part) => part !== "try" || (isHere(rule.id) && may("tryRule")));
  const part = shown.find((each) => each === query.part) ?? "runs";
  const isOwn = rule.owner === "store" && isHere(rule.id);
  const readOnly = atSiteText(rule.id) ?? readOnlyText(rule, may("changeRule"));
  const address = `rules/${rule.id}`;
  return (
    <Page
      limited
      title={rule.name}
      lead={
        <span class="rule-facts">
          <RuleState rule={rule} />
          <LastRun run={rule.lastRun} />
          <Owner {...rule} />
          <AtSite id={rule.id} />
        </span>
      }
      actions={
        <>
          <EnabledSwitch
            name={rule.name}
            enabled={rule.enabled}
            mayChange={readOnly === null}
            change={(enabled) => call("changeRule", { id: String(rule.id), enabled })}
            onChanged={onChanged}
          />
          {rule.manual && rule.enabled && may("startBulkAction") ? (
            <button type="button" class="button" onClick={() => setAsks("run")}>
              <Icon name="start" /> {t.rules.runNow}
            </button>
          ) : null}
          {isOwn && may("deleteRule") ? (
            <button type="button" class="button" onClick={() => setAsks("delete")}>
              <Icon name="trash" /> {t.rules.remove}
            </button>
          ) : null}
        </>
      }
    >
      <SiteCopies of={rule} all={rules} path="rules" />
      <Tabs
        name={rule.name}
        tabs={shown.map((key) => ({ key, label: t.rules.parts[key] }))}
        chosen={part}
        hrefOf={(key) => link(key === "runs" ? address : `${address}?part=${key}`)}
      />
      {part === "runs" ? <RuleRuns id={rule.id} /> : null}
      {part === "settings" ? (
        <Card>
          <RuleEditor
            rule={rule}
            readyMade={readyMade.find(({ key }) => key === rule.use)}
            readOnly={readOnly}
            onSave={async (patch) => {
              await call("changeRule", { ...patch, id: String(rule.id) });
              say(t.rules.saved);
              onChanged();
            }}
          />
        </Card>
      ) : null}
      {part === "try" ? (
        <Card>
          <Try id={rule.id} />
        </Card>
      ) : null}
      {asks === "run" ? <RunDialog rule={rule} onClose={() => setAsks(null)} /> : null}
      {asks === "delete" ? (
        <Confirm
          title={t.rules.removeRule({ name: rule.name })}
          text={t.rules.removeRuleText}
          verb={t.rules.remove}
          dangerous
          onConfirm={async () => {
            await call("deleteRule", { id: String(rule.id) });
            say(t.rules.removed);
            route(link("rules"));
          }}
          onClose={() => setAsks(null)}
        />
      ) : null}
    </Page>
  );
}

function RuleRuns({ id }: { id: number }) {
  const runs = useLoaded((signal) => call("listRuleRuns", { id: String(id) }, { signal }), [id]);
  useReloadOn(["rule"], runs.reload);
  return <Loading from={runs}>{(reply, known) => <Runs runs={reply.runs} known={known} />}</Loading>;
}
