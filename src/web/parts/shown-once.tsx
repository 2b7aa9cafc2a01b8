import { useId, useRef, useState } from "preact/hooks";
import { t } from "../language.ts";
import { Icon } from "./icon.tsx";
import "./shown-once.css";

/** A text to copy, such as a new key, which cannot be shown again after closing. */
export function ShownOnce({ label, text }: { label: string; text: string }) {
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  const [copied, setCopied] = useState<boolean | null>(null);
  const copy = async () => {
    field.current?.select();
    try {
      // Browsers offer this only over HTTPS and on localhost.
      await navigator.clipboard.writeText(text);
      setCopied(true);
    } catch {
      setCopied(false);
    }
  };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <span class="shown-once">
        <input
          ref={field}
          id={id}
          class="mono"
          dir="ltr"
          readOnly
          value={text}
          onFocus={({ currentTarget }) => currentTarget.select()}
        />
        <button type="button" class="button" onClick={() => void copy()}>
          <Icon name={copied === true ? "check" : "copy"} /> {t.settings.copy}
        </button>
      </span>
      <p class="hint" role="status">
        {copied === null ? "" : copied ? t.settings.copied : t.settings.selected}
      </p>
    </div>
  );
}
