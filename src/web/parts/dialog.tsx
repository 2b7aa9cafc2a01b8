import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { t } from "../language.ts";
import { Icon } from "./icon.tsx";
import { useSending } from "./use-form.ts";

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  /** Buttons at the end of the dialog. */
  readonly actions?: ComponentChildren;
  readonly wide?: boolean;
}

/** A native modal dialog, open as long as it is rendered. */
export function Dialog({ title, onClose, children, actions, wide = false }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    const opener = document.activeElement;
    element.current?.showModal();
    // Browsers restore the focus only if a dialog is closed before it is removed.
    return () => {
      if (opener instanceof HTMLElement && document.activeElement === document.body) opener.focus();
    };
  }, []);
  return (
    <dialog ref={element} class={wide ? "dialog wide" : "dialog"} onClose={onClose} aria-labelledby={titleId}>
      <header>
        <h2 id={titleId}>
          <bdi>{title}</bdi>
        </h2>
        <button type="button" class="button quiet" aria-label={t.shell.close} onClick={() => element.current?.close()}>
          <Icon name="close" />
        </button>
      </header>
      <div class="dialog-body">{children}</div>
      {actions === undefined ? null : <footer>{actions}</footer>}
    </dialog>
  );
}

interface ConfirmProps {
  readonly title: string;
  readonly text: ComponentChildren;
  /** The verb of the button: "Delete", "Stop 20 rigs". */
  readonly verb: string;
  readonly dangerous?: boolean;
  /** Closes the dialog when it resolves; a failure is shown in the dialog. */
  readonly onConfirm: () => Promise<unknown>;
  readonly onClose: () => void;
}

/** Asks before an action that cannot be undone. */
export function Confirm({ title, text, verb, dangerous = false, onConfirm, onClose }: ConfirmProps) {
  const { busy, problem, send } = useSending();
  const confirm = () => send(() => onConfirm().then(onClose));
  return (
    <Dialog
      title={title}
      onClose={onClose}
      actions={
        <>
          <button type="button" class="button" onClick={onClose}>
            {t.shell.cancel}
          </button>
          <button type="button" class={`button ${dangerous ? "danger" : "primary"}`} disabled={busy} onClick={confirm}>
            {verb}
          </button>
        </>
      }
    >
      <div>{text}</div>
      <p class="field-problem" role="alert">
        {problem}
      </p>
    </Dialog>
  );
}
