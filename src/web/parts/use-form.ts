import { useState } from "preact/hooks";
import { type Mistake, Problem } from "../api.ts";
import { isMistakeOf } from "./field.tsx";
import { problemText } from "./messages.tsx";

/** A form that is being sent: what was wrong with it, and whether an answer is awaited. */
export interface FormState {
  /** The mistake in the field of a path. */
  readonly wrong: (path: string) => string | undefined;
  /** What was wrong beside the fields that have asked before: for the form's end. */
  readonly wrongElsewhere: () => string | null;
  readonly busy: boolean;
  /** Sends what the form holds; a refusal becomes its mistakes. */
  readonly submit: (event: SubmitEvent) => void;
}

interface Refusal {
  readonly mistakes: readonly Mistake[];
  readonly problem: string | null;
}

const none: Refusal = { mistakes: [], problem: null };

export function useForm(send: (form: FormData) => Promise<unknown>): FormState {
  const [{ mistakes, problem }, setRefusal] = useState(none);
  const [busy, setBusy] = useState(false);
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const form = event.currentTarget;
    if (!(form instanceof HTMLFormElement)) return;
    setRefusal(none);
    setBusy(true);
    send(new FormData(form))
      .catch((error: unknown) =>
        setRefusal({ mistakes: error instanceof Problem ? error.mistakes : [], problem: problemText(error) }),
      )
      .finally(() => setBusy(false));
  };
  const atFields = new Set<Mistake>();
  return {
    wrong: (path) => {
      const found = mistakes.filter(isMistakeOf(path));
      for (const mistake of found) atFields.add(mistake);
      return found[0]?.message;
    },
    wrongElsewhere: () => {
      const others = mistakes.filter((mistake) => !atFields.has(mistake));
      return mistakes.length === 0 ? problem : others.map(({ path, message }) => `${path}: ${message}`).join(" · ");
    },
    busy,
    submit,
  };
}

/** A field of a form, without blanks around it. */
export const fieldText = (form: FormData, name: string): string => String(form.get(name) ?? "").trim();
