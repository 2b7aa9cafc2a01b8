import { t } from "../../language.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { Icon } from "../../parts/icon.tsx";
import { type ColumnKey, columnKeys, usualColumns } from "./column-keys.ts";

interface ColumnsProps {
  readonly chosen: readonly ColumnKey[];
  readonly change: (columns: readonly ColumnKey[]) => void;
  readonly onClose: () => void;
}

/** The shown columns and their order. The name is always shown. */
export function ColumnsDialog({ chosen, change, onClose }: ColumnsProps) {
  const others = columnKeys.filter((key) => !chosen.includes(key));
  const move = (key: ColumnKey, by: -1 | 1) => {
    const place = chosen.indexOf(key);
    const moved = chosen.filter((each) => each !== key);
    moved.splice(Math.max(0, place + by), 0, key);
    change(moved);
  };
  return (
    <Dialog
      title={t.rigs.chooseColumns}
      onClose={onClose}
      actions={
        <>
          <button type="button" class="button" onClick={() => change(usualColumns)}>
            {t.rigs.usualColumns}
          </button>
          <button type="button" class="button primary" onClick={onClose}>
            {t.shell.close}
          </button>
        </>
      }
    >
      <p class="hint">{t.rigs.columnsHint}</p>
      <ul class="column-choice">
        {[...chosen, ...others].map((key) => {
          const place = chosen.indexOf(key);
          return (
            <li key={key}>
              <label class="value">
                <input
                  type="checkbox"
                  checked={place >= 0}
                  disabled={key === "name"}
                  onChange={() => change(place >= 0 ? chosen.filter((each) => each !== key) : [...chosen, key])}
                />
                {t.rigs.columns[key]}
              </label>
              {place < 0 ? null : (
                <>
                  <button
                    type="button"
                    class="button quiet"
                    aria-label={t.rigs.moveUp({ column: t.rigs.columns[key] })}
                    disabled={place === 0}
                    onClick={() => move(key, -1)}
                  >
                    <Icon name="up" />
                  </button>
                  <button
                    type="button"
                    class="button quiet"
                    aria-label={t.rigs.moveDown({ column: t.rigs.columns[key] })}
                    disabled={place === chosen.length - 1}
                    onClick={() => move(key, 1)}
                  >
                    <Icon name="down" />
                  </button>
                </>
              )}
            </li>
          );
        })}
      </ul>
    </Dialog>
  );
}
