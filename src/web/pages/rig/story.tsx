import { useState } from "preact/hooks";
import type { Command, MinerDetail } from "../../../contract/resources.ts";
import { isStoryAction } from "../../../contract/story.ts";
import { call } from "../../api.ts";
import { dateTime } from "../../format.ts";
import { t } from "../../language.ts";
import { actionText, actorText } from "../../parts/command-list.tsx";
import { CommandStateMark } from "../../parts/command-state.tsx";
import { None } from "../../parts/empty-state.tsx";
import { Field } from "../../parts/field.tsx";
import { FormProblem } from "../../parts/form-problem.tsx";
import { type Known, Waiting } from "../../parts/load.tsx";
import { useNotifications } from "../../parts/notifications.ts";
import { Card } from "../../parts/page.tsx";
import { Age, Mark, SeverityMark } from "../../parts/status.tsx";
import { useForm } from "../../parts/use-form.ts";
import { may } from "../../session.ts";
import { type Happening, storyOf } from "./story.ts";

const firstLines = 30;

interface StoryProps {
  readonly miner: MinerDetail;
  /** Newest first. */
  readonly commands: readonly Command[];
  readonly known: Known;
}

/** The timeline of a rig. */
export function Story({ miner, commands, known }: StoryProps) {
  const [lines, setLines] = useState(firstLines);
  const notifications = useNotifications();
  if (notifications === undefined)
    return (
      <Card title={t.story.title}>
        <Waiting />
      </Card>
    );
  const story = storyOf(miner, commands, notifications);
  return (
    <Card title={t.story.title}>
      {may("addMinerNote") ? <NoteForm id={miner.id} /> : null}
      {story.length === 0 ? (
        <None known={known}>{t.story.nothing}</None>
      ) : (
        <ol class="story">
          {story.slice(0, lines).map((each) => (
            <li key={keyOf(each)}>
              <time dateTime={new Date(each.time).toISOString()}>{dateTime(each.time)}</time>
              <span>
                <Line happening={each} />
              </span>
            </li>
          ))}
        </ol>
      )}
      {story.length > lines ? (
        <button type="button" class="button" onClick={() => setLines(lines + firstLines)}>
          {t.commands.more}
        </button>
      ) : null}
    </Card>
  );
}

/** A note of a person; the event of it brings it into the line of time. */
function NoteForm({ id }: { id: number }) {
  const form = useForm(async (filled, element) => {
    await call("addMinerNote", { id, note: String(filled.get("note") ?? "").trim() });
    element.reset();
  });
  return (
    <form onSubmit={form.submit}>
      <Field label={t.story.note} problem={form.wrong("note")}>
        {(control) => (
          <span class="row">
            <input {...control} name="note" dir="auto" required maxLength={500} />
            <button type="submit" class="button" disabled={form.busy}>
              {t.story.add}
            </button>
          </span>
        )}
      </Field>
      <FormProblem of={form} />
    </form>
  );
}

const keyOf = (each: Happening): string => {
  if (each.kind === "command") return `command ${each.command.id}`;
  return each.kind === "alarm" ? `alarm ${each.notification.id} ${each.over}` : "mining";
};

function Line({ happening }: { happening: Happening }) {
  if (happening.kind === "mining")
    return (
      <>
        <Mark tone="good">{t.rig.since}</Mark> <Age time={happening.time} />
      </>
    );
  if (happening.kind === "command") {
    const { command } = happening;
    return (
      <>
        <bdi>{actionText(command)}</bdi> · <bdi>{command.cause?.key ?? actorText(command.actor)}</bdi>{" "}
        {isStoryAction(command.action) && command.state === "done" ? null : <CommandStateMark state={command.state} />}
      </>
    );
  }
  const { title, message, severity } = happening.notification;
  return (
    <>
      {happening.over ? <Mark tone="off">{t.rig.over}</Mark> : <SeverityMark severity={severity} />}{" "}
      <strong dir="auto">{title ?? message}</strong>
      {happening.over || title === null ? null : <span dir="auto"> {message}</span>}
    </>
  );
}
