import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { type Mistake, Problem } from "../api.ts";
import { isMistakeOf } from "./field.tsx";
import { problemText, sayProblem } from "./messages.tsx";

/** A submission to the service: whether its answer is pending, and what was refused. */
export interface Sending {
  readonly busy: boolean;
  /** Mistakes in the last refusal. */
  readonly mistakes: readonly Mistake[];
  /** The last refusal in one sentence; null after a success. */
  readonly problem: string | null;
  /** Sends, and never rejects. */
  readonly send: (work: () => Promise<unknown>) => Promise<void>;
  /** Clears the refusal, or sets the page's own. */
  readonly setProblem: (problem: string | null) => void;
}

interface Refusal {
  readonly mistakes: readonly Mistake[];
  readonly problem: string | null;
}

const none: Refusal = { mistakes: [], problem: null };

/** For submissions without a form. The page shows `problem`. */
export function useSending(): Sending {
  const [{ mistakes, problem }, setRefusal] = useState(none);
  const [busy, setBusy] = useState(false);
  const send = async (work: () => Promise<unknown>): Promise<void> => {
    setRefusal(none);
    setBusy(true);
    try {
      await work();
    } catch (error) {
      setRefusal({ mistakes: error instanceof Problem ? error.mistakes : [], problem: problemText(error) });
    }
    setBusy(false);
  };
  return { busy, mistakes, problem, send, setProblem: (text) => setRefusal({ mistakes: [], problem: text }) };
}

/** For a button whose refusal is shown at the edge of the page. */
export function useButton(): Pick<Sending, "busy" | "send"> {
  const { busy, send } = useSending();
  return { busy, send: (work) => send(() => work().catch(sayProblem)) };
}

/** A form that can be submitted. */
export interface FormState extends Pick<Sending, "busy" | "mistakes" | "problem"> {
  /** The mistake in the field of a path. */
  readonly wrong: (path: string) => string | undefined;
  /** Mistakes without a field among those rendered before: for the end of the form. */
  readonly wrongElsewhere: () => string | null;
  /** Sends the form. The first field with a mistake then gets the focus. */
  readonly submit: (event: SubmitEvent) => void;
}

export function useForm(send: (data: FormData, form: HTMLFormElement) => Promise<unknown>): FormState {
  const { mistakes, problem, ...sending } = useSending();
  const sent = useRef<HTMLFormElement | null>(null);
  // A layout effect: an ordinary one starts some frames later, and would take the focus from where the user is typing
  // by then.
  useLayoutEffect(() => sent.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus(), [mistakes]);
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const form = event.currentTarget;
    if (!(form instanceof HTMLFormElement)) return;
    sent.current = form;
    void sending.send(() => send(new FormData(form), form));
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
      return mistakes.length === 0
        ? problem
        : others.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`)).join(" · ");
    },
    busy: sending.busy,
    mistakes,
    problem,
    submit,
  };
}

/** The trimmed text of a form field. */
export const fieldText = (form: FormData, name: string): string => String(form.get(name) ?? "").trim();
