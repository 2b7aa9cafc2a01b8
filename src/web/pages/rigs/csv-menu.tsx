import { counted } from "../../format.ts";
import { t } from "../../language.ts";
import type { Row } from "../../live.ts";
import { Icon } from "../../parts/icon.tsx";
import { say } from "../../parts/messages.tsx";
import { csvOfRigs } from "./csv.ts";
import type { GroupTree } from "./groups.ts";

/** Exports the filtered list for a spreadsheet. */
export function CsvMenu({ rows, tree }: { rows: readonly Row[]; tree: GroupTree }) {
  const text = () => csvOfRigs(rows, tree.nameOf);
  const copy = async () => {
    const copied = await copyText(text());
    if (copied) say(counted(rows.length, t.rigs.copied));
    else say(t.rigs.notCopied, "bad");
  };
  return (
    <>
      <button type="button" class="button" popovertarget="rigs-csv" disabled={rows.length === 0}>
        <Icon name="download" /> {t.rigs.csv}
      </button>
      <div id="rigs-csv" popover="auto" class="popover menu-popover">
        <button type="button" class="button quiet" popovertarget="rigs-csv" onClick={() => void copy()}>
          {t.rigs.copyCsv}
        </button>
        <button type="button" class="button quiet" popovertarget="rigs-csv" onClick={() => download(text())}>
          {t.rigs.downloadCsv}
        </button>
      </div>
    </>
  );
}

/** Browsers offer the clipboard only over HTTPS or on localhost; the older way also works on a LAN. */
async function copyText(text: string): Promise<boolean> {
  if (window.isSecureContext) {
    const isCopied = await navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
    if (isCopied) return true;
  }
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "visually-hidden";
  document.body.append(area);
  area.select();
  const isCopied = document.execCommand("copy");
  area.remove();
  return isCopied;
}

function download(text: string): void {
  // The byte order mark tells spreadsheets that it is UTF-8.
  const address = URL.createObjectURL(new Blob(["\ufeff", text], { type: "text/csv;charset=utf-8" }));
  const anchor = document.createElement("a");
  anchor.href = address;
  anchor.download = "rigs.csv";
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
