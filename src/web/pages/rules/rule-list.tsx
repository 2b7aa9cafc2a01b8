import { useState } from "preact/hooks";
import type { RuleInfo, RuleList as RuleListReply } from "../../../contract/rules.ts";
import { isHere } from "../../../contract/site-numbers.ts";
import { call } from "../../api.ts";
import { counted, dateTime } from "../../format.ts";
import { t } from "../../language.ts";
import { AtSite } from "../../parts/at-site.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Loading, useLoaded, useReloadOn } from "../../parts/load.tsx";
import { Card } from "../../parts/page.tsx";
import { AtSites, once } from "../../parts/site-copies.tsx";
import { Mark } from "../../parts/status.tsx";
import { link } from "../../route.ts";
import { may } from "../../session.ts";
import { filledIn } from "./definition.ts";
import { Centres, Owner } from "./owned.tsx";
import { EnabledSwitch, LastRun } from "./parts.tsx";
import { RunDialog } from "./run-dialog.tsx";
import { ruleSentence } from "./sentence/index.ts";
import { namesOf, readyMadeWords } from "./words.ts";

/** All rules with their present state, and ready-made ones to start from. */
export function RuleList() {
  const list = useLoaded((signal) => call("listRules", {}, { signal }), []);
  useReloadOn(["rule", "site"], list.reload);
  const [running, setRunning] = useState<RuleInfo | null>(null);
  return (
    <Loading from={list}>
      {({ rules, readyMade }, known) => (
        <>
          <Centres of={rules} onReleased={list.reload} />
          {rules.length === 0 ? (
            <EmptyState known={known} icon="rules" title={t.rules.noRules} text={t.rules.noRulesText} />
          ) : (
            <ul class="rule-list">
              {once(rules).map((rule) => (
                <RuleEntry
                  key={rule.id}
                  rule={rule}
                  sentence={sentenceOf(rule, rules, readyMade)}
                  onRun={() => setRunning(rule)}
                  onChanged={list.reload}
                />
              ))}
            </ul>
          )}
          {may("addRule") ? <ReadyMade rules={rules} readyMade={readyMade} /> : null}
          {running === null ? null : (
            <RunDialog
              rule={running}
              onClose={() => {
                setRunning(null);
                list.reload();
              }}
            />
          )}
        </>
      )}
    </Loading>
  );
}

const sentenceOf = (rule: RuleInfo, rules: readonly RuleInfo[], readyMade: RuleListReply["readyMade"]): string =>
  ruleSentence(filledIn(rule.definition, readyMade.find(({ key }) => key === rule.use)?.definition), namesOf(rules));

interface RuleEntryProps {
  readonly rule: RuleInfo;
  readonly sentence: string;
  readonly onRun: () => void;
  readonly onChanged: () => void;
}

function RuleEntry({ rule, sentence, onRun, onChanged }: RuleEntryProps) {
  return (
    <li class={rule.enabled ? "rule" : "rule off"}>
      <div class="rule-main">
        <p class="rule-head">
          <a href={link(`rules/${rule.id}`)}>
            <bdi>{rule.name}</bdi>
          </a>
          {rule.manual ? <span class="tag">{t.rules.byHand}</span> : null}
          {rule.definition.safety === true ? <span class="tag">{t.rules.isSafety}</span> : null}
          {rule.use === null ? null : <span class="tag">{t.rules.ofReadyMade({ name: rule.use })}</span>}
        </p>
        <p class="rule-summary">{sentence}</p>
        <p class="rule-facts">
          <RuleState rule={rule} />
          <LastRun run={rule.lastRun} />
          {rule.nextTime === null || rule.nextTime === undefined ? null : (
            <span>
              {t.rules.next}: <time dateTime={rule.nextTime}>{dateTime(rule.nextTime)}</time>
            </span>
          )}
          <AtSites sites={rule.sites} />
          <Owner {...rule} />
          <AtSite id={rule.id} />
        </p>
      </div>
      <div class="rule-actions">
        {rule.manual && rule.enabled && may("startBulkAction") ? (
          <button type="button" class="button" onClick={onRun}>
            <Icon name="start" /> {t.rules.runNow}
          </button>
        ) : null}
        <EnabledSwitch
          name={rule.name}
          enabled={rule.enabled}
          mayChange={rule.owner === "store" && isHere(rule.id) && may("changeRule")}
          change={(enabled) => call("changeRule", { id: String(rule.id), enabled })}
          onChanged={onChanged}
        />
      </div>
    </li>
  );
}

/** The present state of a rule. */
export function RuleState({ rule }: { rule: Pick<RuleInfo, "enabled" | "problem" | "firing" | "pending" | "held"> }) {
  if (!rule.enabled) return <span>{t.rules.isOff}</span>;
  if (rule.problem !== null)
    return (
      <span class="status bad">
        <Icon name="warning" /> <span dir="auto">{rule.problem}</span>
      </span>
    );
  if (rule.firing === 0 && rule.pending === 0) return <span>{t.rules.quiet}</span>;
  return (
    <>
      {rule.firing === 0 ? null : <Mark tone="warning">{counted(rule.firing, t.rules.firing)}</Mark>}
      {rule.pending === 0 ? null : <span>{counted(rule.pending, t.rules.pending)}</span>}
      {rule.held === 0 ? null : <span>{counted(rule.held, t.rules.held)}</span>}
    </>
  );
}

/** Rules to start from. */
function ReadyMade({ rules, readyMade }: RuleListReply) {
  const used = new Set(rules.map(({ use }) => use));
  if (readyMade.length === 0) return null;
  return (
    <Card title={t.rules.readyMade}>
      <p class="hint">{t.rules.readyMadeText}</p>
      <ul class="ready-made">
        {readyMade
          .map((each) => ({ key: each.key, ...readyMadeWords(each) }))
          .map(({ key, name, description, lang }) => (
            <li key={key}>
              <div lang={lang} dir="auto">
                <strong>{name}</strong>
                <p class="hint">{description}</p>
              </div>
              <span class="row">
                {used.has(key) ? <span class="tag">{t.rules.isUsed}</span> : null}
                <a
                  class="button small"
                  href={link(`rules/new?use=${encodeURIComponent(key)}`)}
                  aria-label={`${t.rules.use}: ${name}`}
                >
                  {t.rules.use}
                </a>
              </span>
            </li>
          ))}
      </ul>
    </Card>
  );
}
