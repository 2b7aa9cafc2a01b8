import { useState } from "preact/hooks";
import { type Mistake, Problem } from "../api.ts";
import { problemText } from "./messages.tsx";

/** A form that is being sent: what was wrong with it, and whether an answer is awaited. */
export interface FormState {
  readonly mistakes: readonly Mistake[];
  readonly problem: string | null;
  readonly busy: boolean;
  /** Sends what the form holds; a refusal becomes its mistakes. */
  readonly submit: (event: SubmitEvent) => void;
}

export function useForm(send: (form: FormData) => Promise<unknown>): FormState {
  const [state, setState] = useState<Omit<FormState, "submit">>({ mistakes: [], problem: null, busy: false });
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const form = event.currentTarget;
    if (!(form instanceof HTMLFormElement)) return;
    setState({ mistakes: [], problem: null, busy: true });
    send(new FormData(form))
      .then(() => setState({ mistakes: [], problem: null, busy: false }))
      .catch((error: unknown) =>
        setState({
          mistakes: error instanceof Problem ? error.mistakes : [],
          problem: problemText(error),
          busy: false,
        }),
      );
  };
  return { ...state, submit };
}

/** A field of a form, without blanks around it. */
export const fieldText = (form: FormData, name: string): string => String(form.get(name) ?? "").trim();
