import { useState } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso";
import type { MinerDetail } from "../../../contract/resources.ts";
import { call } from "../../api.ts";
import { t } from "../../language.ts";
import { Confirm } from "../../parts/dialog.tsx";
import { Icon } from "../../parts/icon.tsx";
import { say } from "../../parts/messages.tsx";
import { Card } from "../../parts/page.tsx";
import { listAddress } from "./steps.tsx";

/** Deletes the rig after confirmation, and returns to the list. */
export function DeleteRig({ miner }: { miner: MinerDetail }) {
  const [asks, setAsks] = useState(false);
  const { route } = useLocation();
  const { query } = useRoute();
  return (
    <Card title={t.rig.remove}>
      <p class="hint">{t.rig.removeText}</p>
      <p class="rig-remove">
        <button type="button" class="button danger" onClick={() => setAsks(true)}>
          <Icon name="trash" /> {t.rig.remove}
        </button>
      </p>
      {asks ? (
        <Confirm
          title={t.rig.remove}
          text={
            <>
              <bdi>{miner.name}</bdi>: {t.rig.removeAsk}
            </>
          }
          verb={t.shell.delete}
          dangerous
          onConfirm={async () => {
            const { message } = await call("deleteMiner", { id: miner.id });
            say(message);
            route(listAddress(query));
          }}
          onClose={() => setAsks(false)}
        />
      ) : null}
    </Card>
  );
}
