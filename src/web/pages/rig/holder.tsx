import type { MinerDetail } from "../../../contract/resources.ts";
import { dateTime } from "../../format.ts";
import { t } from "../../language.ts";
import { Icon } from "../../parts/icon.tsx";

/** What controls the power of a rig now, and until when. */
export function Holder({ power: { heldBy } }: { power: MinerDetail["power"] }) {
  if (heldBy === null) return null;
  const { what, until } = heldBy;
  return (
    <p class="holder">
      <Icon name="info" />
      <span>
        {t.rig.heldBy} <bdi>{what}</bdi>
        {until === null ? null : ` ${t.rig.heldUntil({ time: dateTime(until) })}`}
      </span>
    </p>
  );
}
